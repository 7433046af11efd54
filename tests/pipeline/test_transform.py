"""`loopwright transform`: what is written where, what is said, and how it ends."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.emit.region import Loops, new_source
from loopwright.loops.nodes import EMPTY, Node
from loopwright.rewrite import targets
from loopwright.source import Source
from tests.pipeline.support import file, result, run, wrapped

Captured = pytest.CaptureFixture[str]

STENCIL = wrapped(
    "  for (i = 1; i < n; i++)\n    for (j = 1; j < n - 1; j++)\n      L: A[i][j] = A[i - 1][j + 1];"
)
PLAIN = wrapped("  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      L: A[i][j] = 0;")


def test_the_new_file_goes_to_standard_output_and_the_proofs_to_standard_error(
    tmp_path: Path, capsys: Captured
) -> None:
    script = file(tmp_path, "interchange(L, i, j)\n", "s.lw")
    assert run("transform", file(tmp_path, PLAIN), script) == 0
    shown = capsys.readouterr()
    assert "  for (j = 0; j < n; j++)\n    for (i = 0; i < n; i++)\n      L: A[i][j] = 0;\n" in shown.out
    for what in ("the model matches the source", "every dependence is preserved",
                 "the loops execute the schedule", "the new source executes the schedule"):
        assert f"proved: {what}" in shown.err
    assert "taken on trust:" not in shown.err  # subscripts, iterators and types are shown by the file


def test_without_a_script_the_order_stays(tmp_path: Path) -> None:
    assert result(tmp_path, PLAIN).source.text == PLAIN


def test_an_illegal_script_is_refused_with_an_explanation(tmp_path: Path, capsys: Captured) -> None:
    code, script = file(tmp_path, STENCIL), file(tmp_path, "# swap\ninterchange(L, i, j)\n", "s.lw")
    out = tmp_path / "out.c"
    assert run("transform", code, script, "-o", str(out)) == 1
    shown = capsys.readouterr()
    assert f"{script}:2:1: error: a value is read before it is written" in shown.err
    assert "interchange(L, i, j)" in shown.err and "as written:" in shown.err and "transformed:" in shown.err
    assert "n = 4" in shown.err
    assert not out.exists() and shown.out == ""
    assert Path(code).read_text() == STENCIL


def test_the_explanation_as_json(tmp_path: Path, capsys: Captured) -> None:
    script = file(tmp_path, "interchange(L, i, j)\n", "s.lw")
    assert run("transform", file(tmp_path, STENCIL), script, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "wrong" and found["code"] is None
    (diagnostic,) = found["diagnostics"]
    assert diagnostic["line"] == 1 and diagnostic["details"]["violations"][0]["kind"] == "flow"


def test_two_instances_at_one_time_are_an_illegal_script(tmp_path: Path, capsys: Captured) -> None:
    script = file(tmp_path, "affine(L, {[i, j] -> [i, 0]})\n", "s.lw")
    assert run("transform", file(tmp_path, PLAIN), script) == 1
    assert "not one-to-one: two instances have the same time" in capsys.readouterr().err


def test_what_cannot_be_decided_is_neither_yes_nor_no(tmp_path: Path, capsys: Captured) -> None:
    text = wrapped("  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      L: a[i * j] = a[j];")
    assert run("transform", file(tmp_path, text), file(tmp_path, "reverse(L, j)\n", "s.lw")) == 3
    assert "may be" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("interchange(M, i, j)\n", "no loop component is called M"),
        ("interchange(L)\n", "takes"),
        ("affine(L, {[i, j, k] -> [i, j, k]})\n", ""),
        ("frobnicate(L)\n", "no operation is called frobnicate"),
        ("interchange(L, i, j\n", "never closed"),
    ],
)
def test_bad_scripts(tmp_path: Path, capsys: Captured, script: str, message: str) -> None:
    path = file(tmp_path, script, "s.lw")
    assert run("transform", file(tmp_path, PLAIN), path) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"{path}:1:") and message in shown and "^" in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { return 0; }\n", "there is no region"),
        ("#pragma scop\nfor (;;) {}\n", "does not end"),
        ("#pragma scop\nthis is not C !!\n#pragma endscop\n", "not C"),
        (wrapped("  for (i = 0; i < n; i++)\n#define X\n    a[i] = 0;"), "'#define' inside a region"),
    ],
)
def test_bad_files(tmp_path: Path, capsys: Captured, text: str, message: str) -> None:
    assert run("transform", file(tmp_path, text)) == 2
    assert message in capsys.readouterr().err


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert run("transform", str(tmp_path / "none.c")) == 2
    assert run("transform", file(tmp_path, PLAIN), str(tmp_path / "none.lw")) == 2
    assert run("transform", file(tmp_path, PLAIN), "-o", str(tmp_path / "none" / "out.c")) == 2


def test_in_place_replaces_the_file_and_keeps_its_mode(tmp_path: Path) -> None:
    code = file(tmp_path, PLAIN)
    os.chmod(code, 0o640)
    assert run("transform", code, file(tmp_path, "interchange(L, i, j)\n", "s.lw"), "--in-place") == 0
    assert "for (j = 0; j < n; j++)\n    for (i = 0;" in Path(code).read_text()
    assert stat.S_IMODE(os.stat(code).st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["k.c", "s.lw"]


def test_in_place_leaves_the_file_alone_when_the_answer_is_no(tmp_path: Path) -> None:
    code = file(tmp_path, STENCIL)
    assert run("transform", code, file(tmp_path, "interchange(L, i, j)\n", "s.lw"), "--in-place") == 1
    assert Path(code).read_text() == STENCIL and sorted(os.listdir(tmp_path)) == ["k.c", "s.lw"]


def test_the_input_is_not_an_output(tmp_path: Path, capsys: Captured) -> None:
    code = file(tmp_path, PLAIN)
    assert run("transform", code, "-o", code) == 2
    assert "--in-place" in capsys.readouterr().err and Path(code).read_text() == PLAIN


def test_the_region_after_each_operation(tmp_path: Path, capsys: Captured) -> None:
    script = file(tmp_path, "interchange(L, i, j)\nreverse(L, i)\n", "s.lw")
    assert run("transform", file(tmp_path, PLAIN), script, "--step", "-o", str(tmp_path / "o.c")) == 0
    shown = capsys.readouterr().err
    first, second = shown.index("after interchange(L, i, j)"), shown.index("after reverse(L, i)")
    assert "L: A[i][j] = 0;" in shown[first:second] and "for (i = n - 1; i >= 0; i--)" in shown[second:]


def test_a_script_reaches_the_region_its_labels_are_in(tmp_path: Path) -> None:
    other = PLAIN.replace("void f", "void g").replace("L:", "M:")
    outcome = result(tmp_path, PLAIN + other, "interchange(M, i, j)\n")
    assert [region.kept for region in outcome.regions] == [True, False]
    assert outcome.source.text.startswith(PLAIN), "a region no operation names keeps its text"
    assert "for (j = 0; j < n; j++)\n    for (i = 0;" in outcome.source.text[len(PLAIN) :]


def test_a_region_that_is_kept_is_said_to_be(tmp_path: Path, capsys: Captured) -> None:
    two = PLAIN + PLAIN.replace("void f", "void g").replace("L:", "M:")
    assert run("transform", file(tmp_path, two), file(tmp_path, "reverse(M, i)\n", "s.lw")) == 0
    assert "k.c:5: region of 1 statement: kept as it is, no operation names it" in capsys.readouterr().err


def test_a_script_without_operations_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    assert result(tmp_path, PLAIN, "# nothing yet\n").source.text == PLAIN


def test_a_script_that_means_several_regions_is_refused(tmp_path: Path, capsys: Captured) -> None:
    code = file(tmp_path, PLAIN + PLAIN.replace("void f", "void g"))
    assert run("transform", code, file(tmp_path, "interchange(L, i, j)\n", "s.lw")) == 2
    assert "belongs to several regions" in capsys.readouterr().err


def test_without_a_proof_a_message_says_so(tmp_path: Path, capsys: Captured) -> None:
    script = file(tmp_path, "interchange(L, i, j)\n", "s.lw")
    assert run("transform", file(tmp_path, STENCIL), script, "--no-prove") == 0
    shown = capsys.readouterr()
    assert "not proved" in shown.err and "proved:" not in shown.err and "for (j = 1;" in shown.out


def test_a_time_limit(tmp_path: Path, capsys: Captured) -> None:
    assert run("transform", file(tmp_path, PLAIN), "--timeout", "0.001") == 3
    assert "limit of 0.01 s" in capsys.readouterr().err


def _empty(schedule: object) -> Node:
    return EMPTY


def test_loops_that_are_wrong_are_never_written(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "generate", _empty)
    out = tmp_path / "out.c"
    assert run("transform", file(tmp_path, PLAIN), "-o", str(out)) == 4
    assert "never executed" in capsys.readouterr().err and not out.exists()


def test_a_text_that_is_wrong_is_never_written(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misprinted(regions: Sequence[Loops], *, openmp: bool = False) -> Source:
        new = new_source(regions, openmp=openmp)
        return replace(new, text=new.text.replace("A[i][j]", "A[j][i]"))

    monkeypatch.setattr(targets, "new_source", misprinted)
    out = tmp_path / "out.c"
    assert run("transform", file(tmp_path, PLAIN), "-o", str(out)) == 4
    assert "does not do what S1(" in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize("script", ["", "\n", "# nothing yet\n"])
def test_an_empty_script_file_is_a_script(tmp_path: Path, capsys: Captured, script: str) -> None:
    assert run("transform", file(tmp_path, PLAIN), file(tmp_path, script, "s.lw")) == 0
    assert capsys.readouterr().out == PLAIN


def test_the_json_has_statements_loops_and_proofs(tmp_path: Path, capsys: Captured) -> None:
    body = (
        "  for (i = 0; i < n; i++) {\n    double t = a[i];\n    L: b[i] = t;\n  }\n"
        "  for (j = 0; j < 2; j++)\n    M: a[j] = 0;"
    )
    script = file(tmp_path, "parallel(L, i)\nunroll(M, j)\n", "s.lw")
    code = file(tmp_path, wrapped(body))
    assert run("transform", code, script, "--openmp", "--step", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    (region,) = found["regions"]
    assert [(one["name"], one["label"], one["line"], one["copies"]) for one in region["statements"]] == [
        ("S1", None, 6, 1),
        ("S2", "L", 7, 1),
        ("S3", "M", 10, 2),
    ]
    assert region["statements"][0]["text"] == "t = a[i];"
    (loop,) = region["loops"]
    assert (loop["iterator"], loop["depth"], loop["statements"]) == ("i", 0, ["S1", "S2"])
    assert loop["parallel"] and not loop["vector"] and loop["unrolled"] == 1
    assert {"what", "obligations"} == set(region["proofs"][0]) and region["assumptions"]
    assert [step["operation"] for step in found["steps"]] == ["parallel(L, i)", "unroll(M, j)"]
    assert found["verdict"] == "proved" and "#pragma omp parallel for\n" in found["code"]


def test_machines_are_told_what_is_unrolled(tmp_path: Path) -> None:
    """The strips of j have four copies of the statement; where there are no strips, there is one."""
    body = "  for (i = 0; i < n; i++)\n    for (j = 0; j < m; j++)\n      L: a[j] += b[i];"
    (region,) = result(tmp_path, wrapped(body), "unroll(L, j, 4)\n").regions
    assert [(loop.depth, loop.unrolled) for loop in region.loops] == [(0, 1), (1, 4), (0, 1), (1, 1)]
