"""`--race`: a race that is found refutes, and no answer is a yes if races were not looked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.check.program.segment import parse_input
from loopwright.check.run import execute
from loopwright.check.run.execute import Toolchain, with_races
from loopwright.check.run.report import Answer, Report
from loopwright.check.verify import CheckOptions, check_text
from loopwright.source import Source
from tests.check.support import QUICK
from tests.check.test_bad_input import text

PARALLEL = """\
#define N 400
double A[N], B[N], C[N];
int main(void) {
  /*@ polycheck start spec
  for (int i = 0; i < N; i++) A[i] = B[i];
  for (int i = 1; i < N; i++) C[i] = C[i-1] + A[i];
  */
#pragma omp parallel for
  for (int i = 0; i < N; i++) A[i] = B[i];
#ifdef RACE
#pragma omp parallel for
#endif
  for (int i = 1; i < N; i++) C[i] = C[i-1] + A[i];
  /*@ polycheck end */
  return 0;
}
"""

TOOLS = replace(QUICK, timeout=20.0)
RACING = replace(TOOLS, options=("-DRACE",))


@pytest.fixture(scope="module")
def sanitizer() -> None:
    report = check_text(PARALLEL, options=CheckOptions(tools=TOOLS, race=True))
    if report.answer is Answer.GAVE_UP:
        pytest.skip(f"ThreadSanitizer does not work here: {report.notes}")


@pytest.mark.usefixtures("sanitizer")
def test_openmp_without_races() -> None:
    report = check_text(PARALLEL, options=CheckOptions(tools=TOOLS, race=True))
    assert report.answer is Answer.VALID
    assert any("saw no data race" in note for note in report.notes)


@pytest.mark.usefixtures("sanitizer")
@pytest.mark.parametrize("answer", list(Answer))
def test_a_race_is_a_no_whatever_the_runs_showed(answer: Answer) -> None:
    report = replace(check_text(PARALLEL, options=CheckOptions(tools=TOOLS)), answer=answer)
    tools = replace(RACING, openmp=True)
    found = with_races(parse_input(Source("p.c", PARALLEL)), tools, report)
    assert found.answer is Answer.VIOLATION
    assert "data race at p.c:13" in found.notes


THREADS = (
    "#include <pthread.h>\nint at;\n"
    "static void *w(void *x) { int k; at = 1; for (k = 0; k < 4; k++) A[k] = B[k]; return x; }"
)
BOTH = "pthread_t t; pthread_create(&t, 0, w, 0); at = 2; for (i = 4; i < N; i++) A[i] = B[i];"
TEAMS = """\
#include <stdio.h>
#include <unistd.h>
double A[8], B[8];
int main(void) {{
  int x = 0;
  {before}
  /*@ polycheck start spec
  for (int i = 0; i < 8; i++) A[i] = B[i];
  */
{program}
  /*@ polycheck end */
  return 0;
}}
"""


def tasks(create: str, wait: str) -> str:
    """Two halves of a copy that assign the same variable, the first a task."""
    program = f"""\
#pragma omp parallel
#pragma omp single
{{
#pragma omp {create}
{{ for (int i = 0; i < 4; i++) A[i] = B[i]; x = 1; }}
#pragma omp {wait}
for (int i = 4; i < 8; i++) A[i] = B[i];
x = 2;
}}"""
    return TEAMS.format(before="", program=program)


COPY = "for (int i = 0; i < 8; i++) A[i] = B[i];"
PARALLEL_COPY = f"#pragma omp parallel for\n{COPY}"


@pytest.mark.usefixtures("sanitizer")
@pytest.mark.parametrize(
    ("program", "answer"),
    [
        (text(f"{BOTH} pthread_join(t, 0);", functions=THREADS), Answer.VIOLATION),
        (text(f"{BOTH} pthread_join(t, 0);".replace("at = 2;", ""), functions=THREADS), Answer.VALID),
        (text(), Answer.VALID),
        # what the program prints, or closes, hides nothing
        (TEAMS.format(before="", program=f"#pragma omp parallel\nx++;\nclose(2);{COPY}"), Answer.VIOLATION),
        (TEAMS.format(before="close(2);", program=f"#pragma omp parallel\nx++;\n{COPY}"), Answer.VIOLATION),
        (TEAMS.format(before="", program=f"#pragma omp parallel\nx++;\n{COPY}"
                      ' for (int i = 0; i < 9999; i++) fputs("noise", stderr);'), Answer.VIOLATION),
        # a team of one, and a team inside a team, in which every iteration has to run
        (TEAMS.format(before="", program=f"#pragma omp parallel if (x)\nx++;\n{COPY}"), Answer.VALID),
        (TEAMS.format(before="", program=f"#pragma omp parallel num_threads(1)\nx++;\n{COPY}"), Answer.VALID),
        (TEAMS.format(before="", program="#pragma omp parallel for\nfor (int j = 0; j < 2; j++) {\n"
                      "#pragma omp parallel for\nfor (int i = 0; i < 4; i++) { A[4 * j + i] = B[4 * j + i];"
                      " if (i == 3) x = 1; }}"), Answer.VIOLATION),
        # nothing that the team cannot do is taken for right
        (TEAMS.format(before="", program="#pragma omp parallel\n#pragma omp single\n#pragma omp taskloop\n"
                      f"{COPY}"), Answer.GAVE_UP),
        (tasks("task depend(out: A)", "taskwait"), Answer.GAVE_UP),
        # tasks are threads of their own that end before what waits for them
        (tasks("task", "taskwait"), Answer.VALID),
        (tasks("task", "taskyield"), Answer.VIOLATION),
        (tasks("task if (x)", "taskyield"), Answer.VALID),
        (tasks("task final(1)", "taskyield"), Answer.VIOLATION),
        (tasks("taskgroup\n#pragma omp task\n#pragma omp task", "taskyield"), Answer.VALID),
        (tasks("task\n#pragma omp task", "taskwait"), Answer.VIOLATION),
    ],
)  # fmt: skip
def test_programs_with_threads(program: str, answer: Answer) -> None:
    report = check_text(program, options=CheckOptions(tools=TOOLS, race=True))
    assert report.answer is answer, report.notes


@pytest.mark.parametrize(
    ("tools", "note"),
    [
        (replace(TOOLS, options=("-DRACE", "-Wl,--no-such-option")), "no race detection: "),
        (replace(RACING, timeout=0.0), "did not end in time under ThreadSanitizer"),
    ],
)
def test_races_that_were_not_looked_for(tools: Toolchain, note: str) -> None:
    """A search that could not run takes back a "valid", and leaves any other answer as it was."""
    report = check_text(PARALLEL, options=CheckOptions(tools=TOOLS))
    given = parse_input(Source("p.c", PARALLEL))
    expected = {Answer.VALID: Answer.GAVE_UP}
    for answer in Answer:
        found = with_races(given, replace(tools, openmp=True), replace(report, answer=answer))
        assert found.answer is expected.get(answer, answer)
        assert note in found.notes[-1]


def test_a_sanitizer_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "_OPTIONS", ("-fsanitize=no-such-thing",))
    report: Report = check_text(PARALLEL, options=CheckOptions(tools=TOOLS, race=True))
    assert (report.answer, report.exit_code) == (Answer.GAVE_UP, 3)
