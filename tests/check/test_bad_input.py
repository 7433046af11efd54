"""What is not a violation is distinguished from one: bad input, crashes, runs that do not end."""

from __future__ import annotations

import importlib
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.check.run.execute import time_used
from loopwright.check.run.findings import ErrorClass
from loopwright.check.run.report import Answer, Report, as_text
from loopwright.check.verify import CheckOptions, check_text
from loopwright.cli.main import main
from loopwright.errors import BadInput, Crashed, GaveUp
from tests.check.support import QUICK

FRAME = """\
#include <stdlib.h>
#define N 8
double A[N], B[N], C[N];
int index_of[N] = {{7, 6, 5, 4, 3, 2, 1, 0}};
{functions}
int main(int argc, char **argv)
{{
  int i;
  {before}
  /*@ polycheck start spec
  {spec}
  */
  {program}
  /*@ polycheck end */
  return 0;
}}
"""
COPY = "for (i = 0; i < N; i++) A[i] = B[i];"


def text(program: str = COPY, spec: str = COPY, functions: str = "", before: str = "") -> str:
    return FRAME.format(program=program, spec=spec, functions=functions, before=before)


def check(source: str, **options: object) -> Report:
    return check_text(source, options=CheckOptions(tools=QUICK, **options))  # type: ignore[arg-type]


def refused(source: str) -> BadInput:
    with pytest.raises(BadInput) as caught:
        check(source)
    return caught.value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (text(spec="for (i = 0; i < N; i++) A[index_of[i]] = B[i];"), "this subscript is not affine"),
        (text(spec="for (i = 0; i < N; i++) A[i] = B[index_of[i]];"), "this subscript is not affine"),
        (text(spec="for (i = 0; i < N; i++) A[i] = B[index_of[i]] * B[i];"), "this subscript is not affine"),
        (text(spec="for (i = 0; i < N; i++) if (B[i] > 0) A[i] = B[i];"),
         "it depends on data whether this cell is touched"),
        (text(program="C[0] = 1;"), "nothing here assigns to A"),
        (text(program="free(&A[3]); A[0] = B[0];"), "'A' gets another name here, which cannot be followed"),
        (text(spec="w = B[0];", functions="double w;", program="w = B[0]; double *p = &w; *p = 3;"),
         "'w' gets another name here, which cannot be followed"),
        (text(program="for (i = 0; i < N; ) A[i++] = B[i];"), "a subscript changes a variable"),
        (text(program="undeclared = 1; A[0] = B[0];"), "the program does not compile"),
        (text(before="if (argc < 5) return 0;"), "the program never enters the segment"),
        (text(functions="#define STEP(i) A[i] = B ## i", program="double B0 = 0; STEP(0); A[1] = B[1];"),
         "macro STEP hides an assignment"),
        (text(functions="void f(double *x, double *y) { x[0] = y[0]; }", program="f(A, B); f(B, A);"),
         "'x' of f is once 'A' and here 'B'"),
        ("int main(void) { return 0; }\n", "there is no original in this file"),
        (text().replace("polycheck end", "polycheck"), "this segment does not end"),
        (text() + text(), "a second segment starts here"),
    ],
)  # fmt: skip
def test_bad_input(source: str, message: str) -> None:
    error = refused(source)
    assert error.message == message
    assert error.span is not None


def test_sizes_given_and_annotated() -> None:
    spec = "for (i = 0; i < M; i++) A[i] = B[i];"
    program = "for (i = 0; i < 4; i++) A[i] = B[i];"
    assert check(text(program, spec), defined={"M": 4}).answer is Answer.VALID
    annotated = text(f"/*@ polycheck size M = 4 */ {program}", spec)
    assert check(annotated).answer is Answer.VALID
    assert check(annotated.replace("M = 4", "M = 5")).answer is Answer.VIOLATION


def test_a_variable_is_no_size_to_define() -> None:
    spec = "for (i = 0; i < n; i++) A[i] = B[i];"
    program = text("for (i = n - 1; i >= 0; i--) A[i] = B[i];", spec, before="int n = 4;")
    with pytest.raises(BadInput, match="'n' is a variable of the program"):
        check(program, defined={"n": 3})
    assert check(program).answer is Answer.VALID


def test_sizes_that_the_operations_show() -> None:
    """[Bao2016, section 5]: M by the greatest subscript written, T by the number of writes."""
    spec = "for (int t = 0; t < T; t++) for (i = 1; i <= M; i++) A[i] = A[i] + t;"
    program = "for (int s = 0; s < 3; s++) for (i = 4; i >= 1; i--) A[i] = A[i] + s;"
    report = check(text(program, spec))
    assert report.answer is Answer.VALID
    assert dict(report.spec.sizes) == {"T": 3, "M": 4}
    assert report.notes[0].startswith("T = 3, M = 4 is inferred from the operations of the program")


def test_a_size_with_a_name_that_the_program_has_not() -> None:
    """`n / K` is one size, and the program has an `n`."""
    spec = "for (i = 0; i < n / K; i++) A[i] = B[i];"
    report = check(text("for (i = 0; i < n / 2; i++) A[i] = B[i];", spec, before="int n = 4;"))
    assert report.answer is Answer.VALID and len(dict(report.spec.sizes)) == 1


def test_an_unknown_size() -> None:
    spec = "for (int t = 0; t < T; t++) for (i = 0; i < 2 * K; i++) if (i < L) A[i] = B[t];"
    error = refused(text("for (i = 0; i < 3; i++) A[i] = B[0];", spec))
    assert "size T is not known: what the program writes does not determine" in error.message


def test_a_crash_keeps_what_was_found() -> None:
    program = "A[1] = B[0]; abort(); "
    report = check(text(program))
    assert (report.answer, report.exit_code) == (Answer.CRASHED, 4)
    assert report.ending == "crashed (SIGABRT)"
    assert report.findings[0].kind is ErrorClass.WRONG_WRITE


def test_a_write_far_outside() -> None:
    """The finding is on file before the write that kills the program."""
    report = check(text("for (i = 0; i < N; i++) A[i] = B[i]; A[-100000000] = B[0];"))
    assert report.answer is Answer.CRASHED
    assert [finding.kind for finding in report.findings] == [ErrorClass.OUTSIDE]


def test_writes_past_the_end_of_an_array_do_not_reach_the_checks() -> None:
    """They used to hit what had been found so far, and the name of the report."""
    spec = "for (i = 0; i < N; i++) A[i] = 0.0;"
    functions = "static void r(int k) { if (k < N + 400) { A[k] = 0.0; r(k + 1); } }"
    report = check(text("r(0);", spec, functions=functions))
    assert report.answer is Answer.VIOLATION
    assert [finding.kind for finding in report.findings] == [ErrorClass.OUTSIDE]


def test_a_program_without_end() -> None:
    tools = QUICK.__class__(timeout=0.5, fast=("-O0",), precise=("-O0",))
    program = text("for (;;) { for (i = 0; i < N; i++) A[i] = B[i]; }")
    report = check_text(program, options=CheckOptions(tools=tools))
    assert (report.answer, report.exit_code) == (Answer.CRASHED, 4)
    assert report.ending == "did not end in time"
    assert report.findings[0].kind is ErrorClass.DUPLICATE


def test_time_runs_out_before_the_segment() -> None:
    tools = QUICK.__class__(timeout=0.5)
    with pytest.raises(Crashed, match="before the segment"):
        check_text(text(before="for (;;) { }"), options=CheckOptions(tools=tools))


def test_leaving_the_segment_early() -> None:
    report = check(text("for (i = 0; i < N; i++) { A[i] = B[i]; if (i == 5) exit(0); }"))
    assert report.answer is Answer.VIOLATION
    assert report.ending == "left the segment before its end"
    assert [finding.kind for finding in report.findings] == [ErrorClass.MISSING]


def test_other_sizes_the_second_time() -> None:
    program = text(
        spec="for (i = 0; i < n; i++) A[i] = B[i];",
        program="for (i = 0; i < n; i++) A[i] = B[i];",
        before="for (int n = 4; n < 6; n++) {",
    )
    report = check(program.replace("return 0;\n}", "} return 0;\n}"))
    assert (report.answer, report.exit_code) == (Answer.GAVE_UP, 3)
    assert any("other problem sizes" in note for note in report.notes)


def test_entering_twice() -> None:
    program = text(before="for (int k = 0; k < 2; k++) {").replace("return 0;\n}", "} return 0;\n}")
    report = check(program)
    assert report.answer is Answer.VALID
    assert "the segment was entered 2 times" in report.notes


def test_every_class_of_violation() -> None:
    spec = "for (i = 1; i < N; i++) A[i] = A[i - 1] + B[i];"
    wrong = {
        "for (i = N - 1; i >= 1; i--) A[i] = A[i - 1] + B[i];": ErrorClass.TOO_SOON,
        "for (i = 1; i < N; i++) { A[i] = A[i - 1] + B[i]; A[i] = A[i - 1] + B[i]; }": ErrorClass.DUPLICATE,
        "for (i = 1; i < N - 1; i++) A[i] = A[i - 1] + B[i];": ErrorClass.MISSING,
        "for (i = 1; i < N; i++) A[i] = A[i - 1] + B[i / 2];": ErrorClass.WRONG_READ,
        "for (i = 1; i < N; i++) A[(i + 1) / 2] = A[i - 1] + B[i];": ErrorClass.WRONG_WRITE,
        "for (i = 1; i < N; i++) A[i] = A[i - 1] - B[i];": ErrorClass.NO_INSTANCE,
        "for (i = 1; i <= N; i++) A[i] = A[i - 1] + B[i];": ErrorClass.OUTSIDE,
    }
    for program, kind in wrong.items():
        report = check(text(program, spec, functions="double guard[4];"))
        assert report.answer is Answer.VIOLATION, program
        assert report.findings[0].kind is kind, program


def test_a_value_that_is_overwritten_too_soon() -> None:
    spec = "for (i = 0; i < N; i++) A[i] = B[i]; for (i = 0; i < N; i++) C[i] = A[i]; A[0] = 1;"
    program = "for (i = 0; i < N; i++) A[i] = B[i]; A[0] = 1; for (i = 0; i < N; i++) C[i] = A[i];"
    (finding,) = check(text(program, spec)).findings
    assert finding.kind is ErrorClass.OVERWRITTEN
    assert finding.found is not None and finding.found.statement == 2


def test_ten_reports_then_a_count() -> None:
    sites = "\n".join(f"  A[{k % 8}] = {k};" for k in range(12))
    report = check(text(sites))
    assert len(report.findings) == 10
    assert report.violations == 12


def test_the_values_of_iterators_are_compared() -> None:
    spec = "for (i = 0; i < N; i++) A[i] = 2 * i + B[i];"
    good = "for (i = 0; i < N; i++) A[N - 1 - i] = 2 * (N - 1 - i) + B[N - 1 - i];"
    bad = good.replace("2 * (N - 1 - i)", "2 * (N - i)")
    for algorithm in ("a", "codes"):
        assert check(text(good, spec), algorithm=algorithm).answer is Answer.VALID
        assert check(text(bad, spec), algorithm=algorithm).answer is Answer.VIOLATION


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", *words])
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


def test_exit_statuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def status(source: str, *words: str) -> int:
        path = tmp_path / "p.c"
        path.write_text(source)
        return _run(capsys, str(path), *words)[0]

    assert status(text()) == 0
    assert status(text("for (i = 1; i < N; i++) A[i] = B[i];")) == 1
    assert status(text("C[0] = 1;")) == 2
    assert status(text(), "--only-checks", "--algorithm", "codes") == 0
    assert status(text("A[0] = B[0]; if (A[0] > 1) A[1] = B[1];"), "--only-checks") == 3
    assert status(text(before="for (;;) { }"), "--timeout", "0.5") == 4
    assert status(text("A[0] = B[0]; abort();")) == 4
    assert status(text(), "-D", "N") == 2


def test_the_time_limit_holds_where_the_analysis_is_slow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """isl does not look up while it computes: the analysis is ended from outside, also where it waits."""
    path = tmp_path / "p.c"
    path.write_text(text())
    monkeypatch.setattr(importlib.import_module("loopwright.cli.check"), "LEAST", 0.5)
    verify = importlib.import_module("loopwright.check.verify")
    for work, words in (
        (lambda spec: sum(iter(int, 1)), ("--timeout", "0.5")),
        (lambda spec: time.sleep(3600), ("--wall-timeout", "0.5")),
    ):
        monkeypatch.setattr(verify, "writers", work)
        code, out, err = _run(capsys, str(path), *words, "--json")
        assert (code, json.loads(out)["verdict"]) == (3, "gave up")
        assert "limit" in err and "ran out" in err


def test_the_time_limit_is_processor_time() -> None:
    """A program that waits, as for other work of a busy machine, has as long as the clock allows."""
    tools = QUICK.__class__(timeout=1.0, fast=("-O0",), precise=("-O0",))
    waits = f"#include <unistd.h>\n{text(before='sleep(2);')}"
    assert check_text(waits, options=CheckOptions(tools=tools)).answer is Answer.VALID
    with pytest.raises(Crashed, match="before the segment"):
        long, brief = waits.replace("sleep(2)", "sleep(30)"), replace(tools, timeout=0.1)
        check_text(long, options=CheckOptions(tools=brief))


def test_a_segment_without_an_end_takes_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program ran and did not end: no second run is tried when the deadline has passed."""
    monkeypatch.setattr(QUICK.__class__, "is_late", True)
    tools = replace(QUICK, timeout=1.0)
    report = check_text(text("A[0] = B[0]; for (;;) { }"), options=CheckOptions(tools=tools))
    assert report.exit_code == 4
    assert as_text(report).startswith("p.c: the checked program did not end in time")
    assert report.algorithm == "codes"


def test_no_time_is_left() -> None:
    tools = replace(QUICK, deadline=time_used() - 1)
    with pytest.raises(GaveUp, match="the time limit ran out"):
        check_text(text(), options=CheckOptions(tools=tools))


def test_the_instrumented_program_stays_readable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.c"
    path.write_text(text())
    assert _run(capsys, str(path), "--keep", str(tmp_path / "kept"))[0] == 0
    kept = (tmp_path / "kept" / "delayed" / "program.c").read_text().splitlines()
    assert kept[:2] == ['#include "loopwright_check.h"', f'#line 1 "{path}"']
    changed = [new for old, new in zip(text().splitlines(), kept[2:], strict=True) if old != new]
    assert [line.strip() for line in changed if "A[i]" in line] == [
        "{ LW_FRONT_0 for (i = 0; i < N; i++) A[i] = B[i]; }"
    ]
    assert len(changed) == 3
    assert _run(capsys, str(path), "--keep", str(tmp_path / "kept"), "--one-by-one")[0] == 0
    kept = (tmp_path / "kept" / "delayed" / "program.c").read_text().splitlines()
    assert "  for (i = 0; i < N; i++) lw_site_0(i, i), A[i] = B[i];" in kept


def test_two_files_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original, program = tmp_path / "old.c", tmp_path / "new.c"
    region = f"#pragma scop\n{COPY}\n#pragma endscop\n".replace("N", "n")
    original.write_text(f"double A[9], B[9];\nvoid f(int n) {{ int i;\n{region}}}\n")
    program.write_text(
        "double A[9], B[9];\n"
        "static void f(int n) {\n"
        "  /*@ polycheck start */\n"
        "  for (int i = n - 1; i > 0; i--)\n"
        "    A[i] = B[i];\n"
        "  /*@ polycheck end */\n"
        "}\n"
        "int main(int argc, char **argv) { f(argc + 3); return 0; }\n"
    )
    log = tmp_path / "log.sarif"
    options = ("--spec", str(original), "--json", "--args", "x", "--sarif", str(log))
    code, out, _ = _run(capsys, str(program), *options)
    data = json.loads(out)
    assert (code, data["verdict"], data["sizes"]) == (1, "violation", {"n": 5})
    assert data["findings"][0]["class"] == "missing"
    (result,) = json.loads(log.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "LW106" and result["message"]["text"].startswith("missing: ")
