"""C of all kinds around the same operations: checked right, or refused with a reason."""

from __future__ import annotations

import pytest

from loopwright.check.findings import Class
from loopwright.check.report import Answer
from loopwright.check.verify import Options, check_text
from loopwright.errors import BadInput, Crashed
from tests.check.support import QUICK
from tests.check.test_bad_input import check, text

IDENTITY = "static int id(int k) { int m = k; m++; return m - 1; }"
DUFF = (
    "i = 0; switch (N % 4) { case 0: do { A[i] = B[i]; i++; case 3: A[i] = B[i]; i++;"
    " case 2: A[i] = B[i]; i++; case 1: A[i] = B[i]; i++; } while (i < N); }"
)
VLA = (
    "int n = N, at[n]; for (i = 0; i < n; i++) at[i] = n - 1 - i;"
    " for (i = 0; i < n; i++) A[at[i]] = B[at[i]];"
)
COPY = "for (i = 0; i < N; i++) A[i] = B[i];"
STATIC = "static int c(void) { static int n; int k = n; return k; }"
LEFT, INSIDE = "left the segment before its end", "ended with status {} inside the segment"


@pytest.mark.parametrize(
    ("program", "functions"),
    [
        ("i = 0; again: A[i] = B[i]; if (++i < N) goto again;", ""),
        ("for (i = 0; i < N; i++) switch (i % 2) { case 0: A[i] = B[i]; break; default: A[i] = B[i]; }", ""),
        (DUFF, ""),
        ("i = 0; do A[i] = B[i]; while (++i < N);", ""),
        ("for (i = 0; i < N; i += 2) A[i] = B[i], A[i + 1] = B[i + 1];", ""),
        ("for (i = 0; i < N; A[i] = B[i], i++) ;", ""),
        ("void (*f[2])(int) = {one, two}; for (i = 0; i < N; i++) f[i % 2](i);",
         "static void one(int k) { A[k] = B[k]; } static void two(int k) { A[k] = B[k]; }"),
        ("for (i = 0; i < N; i++) next();", "static void next(void) { static int k; A[k] = B[k]; k++; }"),
        ("struct { int a, b; } s = {0, N}; for (; s.a < s.b; s.a++) A[s.a] = B[s.a];", ""),
        (VLA, ""),
        ("for (i = 0; i < N; i++) A[id(id(i))] = B[id(id(i) + 0)];", IDENTITY),
        ("for (i = 0; i < N; i++) i % 2 ? (A[i] = B[i]) : (A[i] = B[i]);", ""),
        ("for (i = 0; i < N; i++) if ((A[i] = B[i]) > 0) C[i] = 1;", ""),
        ("for (i = 0; i < N; i++) ({ A[i] = B[i]; });", ""),
        ("void g(int k) { A[k] = B[k]; } for (i = 0; i < N; i++) g(i);", ""),
        ("f(N);", "static void f(n) int n; { int k; for (k = 0; k < n; k++) A[k] = B[k]; }"),
        ("for (i = 0; i < N; i++) STEP(i);", "#define STEP(i) A[i] = B[i]"),
        ("FOR(i, N) X[i] = B[i];", "#define FOR(v, n) for (v = 0; \\\n    v < n; v++)\n#define X A"),
        ("TWO(0) TWO(2) TWO(4) TWO(6)", "#define ONE(k) A[k] = B[k];\n#define TWO(k) ONE(k) ONE((k) + 1)"),
        (f"for (int f = 0; f < 64; f++) close(f); {COPY}", "#include <unistd.h>"),
        (f"clearenv(); {COPY}", "int clearenv(void);"),
    ],
)  # fmt: skip
def test_programs_that_are_right(program: str, functions: str) -> None:
    assert check(text(program, functions=functions)).answer is Answer.VALID


def test_a_name_in_parentheses_is_read_and_no_cast() -> None:
    spec, program = ("for (i = 0; i < N; i++) A[i] = w - B[i] * C[i];".replace("w", w) for w in ("w", "(w)"))
    assert check(text(program, spec, functions="double w;")).answer is Answer.VALID


def test_subscripts_inside_calls_may_differ() -> None:
    """Statements and operations are matched up to subscripts, inside the arguments of calls too."""
    spec = "for (i = 0; i < N; i++) A[i] = MAX(A[i], (B[i]) - fabs(C[i]));"
    program = "for (i = 0; i < N; i++) A[N - 1 - i] = MAX(A[N - 1 - i], (B[N - 1 - i]) - fabs(C[N - i - 1]));"
    functions = "#include <math.h>\n#define MAX(a, b) ((a) > (b) ? (a) : (b))"
    assert check(text(program, spec, functions=functions)).answer is Answer.VALID
    wrong = program.replace("C[N - i - 1]", "C[i]")
    assert check(text(wrong, spec, functions=functions)).answer is Answer.VIOLATION


@pytest.mark.parametrize(
    ("program", "functions", "message"),
    [
        ("for (i = 0; i < N; i++) A[c()] = B[i];", "static int n; static int c(void) { return n++; }",
         "'c' in a subscript is not known to be free of side effects"),
        ("for (i = 0; i < N; i++) A[c()] = B[i];", STATIC,
         "'c' in a subscript is not known to be free of side effects"),
        ("for (i = 0; i < N; i++) A[rand() % N] = B[i];", "",
         "'rand' in a subscript is not known to be free of side effects"),
        ("for (i = 0; i < N; ) A[i] = B[i++];", "", "a subscript changes a variable"),
        ("{ double A[N]; for (i = 0; i < N; i++) A[i] = B[i]; }", "", "nothing here assigns to A"),
    ],
)  # fmt: skip
def test_programs_that_are_refused(program: str, functions: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        check(text(program, functions=functions))
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("program", "answer", "ending", "kinds"),
    [
        ("A[1] = B[0]; *(volatile int *)0 = 1;", Answer.CRASHED, "crashed (SIGSEGV)", [Class.WRONG_WRITE]),
        ("volatile int z = 0; A[0] = B[0]; z = 7 / z;", Answer.CRASHED, "crashed (SIGFPE)", []),
        ("A[1] = B[0]; exit(3);", Answer.CRASHED, INSIDE.format(3), [Class.WRONG_WRITE, Class.MISSING]),
        ("A[1] = B[0]; _Exit(0);", Answer.CRASHED, INSIDE.format(0), [Class.WRONG_WRITE]),
        (f"{COPY} exit(0);", Answer.VALID, LEFT, []),
        ("for (i = 0; i < 3; i++) A[i] = B[i]; return 0;", Answer.VIOLATION, LEFT, [Class.MISSING]),
    ],
)  # fmt: skip
def test_how_a_run_ends(program: str, answer: Answer, ending: str, kinds: list[Class]) -> None:
    """Crashes are no violations, and lose none of those found before."""
    report = check(text(program))
    assert (report.answer, report.ending) == (answer, ending)
    assert [finding.kind for finding in report.findings] == kinds


def test_a_status_that_is_not_zero_is_told() -> None:
    report = check(text().replace("return 0;", "return 7;"))
    assert report.answer is Answer.VALID
    assert report.notes == ("behind the segment, the program ended with status 7",)


def test_a_crash_before_the_segment() -> None:
    with pytest.raises(Crashed, match=r"crashed \(SIGABRT\) before the segment was entered"):
        check_text(text(before="abort();"), options=Options(tools=QUICK))
