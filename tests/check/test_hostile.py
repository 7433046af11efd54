"""C of all kinds around the same operations: checked right, or refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.check.run.findings import ErrorClass
from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check_file, check_text
from loopwright.errors import BadInput, Crashed, GaveUp
from tests.check.support import QUICK
from tests.check.test_bad_input import check, text

WRONG_WRITE = ErrorClass.WRONG_WRITE

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
        ("f(N);", "static void f(n) int n; { int k; for (k = 0; k < n; k++) A[k] = B[k]; }"),
        ("for (i = 0; i < N; i++) STEP(i);", "#define STEP(i) A[i] = B[i]"),
        ("FOR(i, N) X[i] = B[i];", "#define FOR(v, n) for (v = 0; \\\n    v < n; v++)\n#define X A"),
        ("TWO(0) TWO(2) TWO(4) TWO(6)", "#define ONE(k) A[k] = B[k];\n#define TWO(k) ONE(k) ONE((k) + 1)"),
        (f"for (int f = 0; f < 64; f++) close(f); {COPY}", "#include <unistd.h>"),
        (f"clearenv(); {COPY}", "int clearenv(void);"),
        ("double *p = A + N; for (i = -N; i < 0; i++) p[i] = B[i + N];", ""),
        ("const double *q = B; for (i = 0; i < N; i++) A[i] = q[i];", ""),
        ("f(A, B);", "static void f(double *restrict x, const double *restrict y) { int k;"
         " for (k = 0; k < N; k++) x[k] = y[k]; }"),
        ("for (i = 0; i < N; i++) { __builtin_prefetch(&B[i]); A[i] = B[i]; }", ""),
        (f'{COPY} FENCE; __asm__ volatile ("" ::: "memory");',
         '#define FENCE __asm__ volatile ("" ::: "memory")'),
        (f"{COPY} memcpy(C, A, sizeof A);", "#include <string.h>"),
        ("if (!setjmp(env)) { for (i = 0; i < 4; i++) A[i] = B[i]; longjmp(env, 1); }"
         " for (i = 4; i < N; i++) A[i] = B[i];", "#include <setjmp.h>\nstatic jmp_buf env;"),
        ("volatile int k; for (k = 0; k < N; k++) A[k] = B[k];", ""),
        ("pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0);",
         "#include <pthread.h>\n"
         "static void *w(void *x) { int k; for (k = 0; k < N; k++) A[k] = B[k]; return x; }"),
    ],
)  # fmt: skip
def test_programs_that_are_right(program: str, functions: str) -> None:
    assert check(text(program, functions=functions)).answer is Answer.VALID


CHAIN = "for (i = 0; i < N; i++) { C[i] = B[i]; A[i] = C[i]; }"


@pytest.mark.parametrize(
    ("program", "spec", "is_valid"),
    [
        ("A[i] = C[i] = B[i];", CHAIN, True),
        ("A[i] = (C[i] = B[i]);", CHAIN.replace("A[i] = C[i]", "A[i] = B[i]"), True),
        ("A[i] = C[i] += B[i];", CHAIN.replace("C[i] = B", "C[i] += B"), True),
        ("A[i] = w = C[i] = B[i];", CHAIN.replace("A[i] = C[i]", "w = C[i]; A[i] = w"), True),
        ("A[i] = F[i] = B[i];", CHAIN.replace("C[i]", "F[i]"), True),
        ("A[i] = C[N - 1 - i] = B[i];", CHAIN, False),
        ("C[i] = A[i] = B[i];", CHAIN, True),
        ("A[i] = C[i]++;", CHAIN.replace("C[i] = B[i]", "C[i]++"), False),
        ("A[i] = F[i] = B[i];", "for (i = 0; i < N; i++) { F[i] = B[i]; A[i] = B[i]; }", False),
    ],
)
def test_assignments_of_assignments(program: str, spec: str, is_valid: bool) -> None:
    """`a = c = b` is c = b, then a = c; or a = b, if c is of the type of a (F holds float).

    The other order of the two has other operations, and computes the same.
    """
    source = text(f"for (i = 0; i < N; i++) {program}", spec, functions="double w; float F[N];")
    assert check(source).answer is (Answer.VALID if is_valid else Answer.VIOLATION)


@pytest.mark.parametrize(
    ("program", "functions", "before"),
    [
        ("p[2] = 0;", "", "double *p = A;"),
        ("g[2] = 0;", "double *g = A;", ""),
        ("g[2] = 0;", "double *g;", "g = A;"),
        ("f();", "double *g = A + 1; static void f(void) { *g = 0; }", ""),
        ("raise(10);", "#include <signal.h>\nstatic void h(int s) { A[2] = 0; }", "signal(10, h);"),
        ("double *p = A, **pp = &p; (*pp)[2] = 0;", "", ""),
        ("double (*q)[4] = (double (*)[4])A; q[1][1] = 3;", "", ""),
        ("B[3] = 7;", "", ""),
        ("double *p = B; p[3] = 7;", "", ""),
    ],
)
def test_a_write_too_many(program: str, functions: str, before: str) -> None:
    """By whatever name, wherever that was given."""
    report = check(text(f"{COPY} {program}", functions=functions, before=before))
    assert report.answer is Answer.VIOLATION
    assert report.findings[0].kind is ErrorClass.NO_INSTANCE


UNKNOWN = "'A' is written through a pointer that is not followed"


@pytest.mark.parametrize(
    ("program", "functions", "before"),
    [
        ("s.d[2] = 0;", "struct { double *d; } s;", "s.d = A;"),
        ("s->d[2]++;", "struct t { double *d; } t, *s = &t;", "t.d = A;"),
        ("*p = 0;", "double *p; static void set(double **x) { *x = A; }", "set(&p);"),
        ("ps[1][2] = 0;", "double *ps[2];", "ps[1] = A;"),
        ("*(double *)strtoul(q, 0, 16) = 1;", "#include <stdio.h>",
         'char q[40]; sprintf(q, "%p", (void *)&A[1]);'),
        ("memset(g, 0, 8);",
         "#include <string.h>\ndouble *g; static void set(double **x) { *x = A; }", "set(&g);"),
        ("extra[away / (int)sizeof *extra] = 1;", "double extra[4]; long away;",
         "away = (char *)&A[3] - (char *)extra;"),
    ],
)  # fmt: skip
def test_pointers_that_cannot_be_followed(program: str, functions: str, before: str) -> None:
    """Where they point is seen when the program runs."""
    for order in (f"{COPY} {program}", f"{program} {COPY}"):
        with pytest.raises(BadInput) as caught:
            check(text(order, functions=functions, before=before))
        assert caught.value.message == UNKNOWN


def test_pointers_that_point_elsewhere_do_not_matter() -> None:
    program = (
        "char *c = malloc(9); c[0] = 1; *c += 2; c[1]++; --*c; int *w = malloc(4 * N), *p = w;"
        " for (i = 0; i < N; i++) *p++ = i; for (i = 0; i < N; i++) A[w[i]] = B[w[i]];"
    )
    assert check(text(program)).answer is Answer.VALID
    assert check(text(COPY, functions="double *g;", before="g = A; *g = 3;")).answer is Answer.VALID


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
        ("double *A = __builtin_alloca(64); for (i = 0; i < N; i++) A[i] = B[i];", "",
         "nothing here assigns to A"),
        (f"memset(B, 0, sizeof B); {COPY}", "#include <string.h>",
         "'B' gets another name here, which cannot be followed"),
        (f"{COPY} memcpy(A, C, sizeof A);", "#include <string.h>",
         "'A' gets another name here, which cannot be followed"),
        (f'{COPY} __asm__ volatile ("nop" : "=m"(A[2]));', "",
         "what assembler code changes is not known"),
        (f"{COPY} ZERO;", '#define ZERO asm("nop")', "macro ZERO hides assembler code"),
        (f"{COPY} struct v *s = (struct v *)A; s->y = 1;", "struct v { double x, y; };",
         "'s' gets another name here, which cannot be followed"),
        (f"{COPY} struct v *s = (struct v *)A; s[0].y = 1;", "struct v { double x, y; };",
         "'s' points into 'A', but not to elements of its type"),
        ("float *f = (float *)A; for (i = 0; i < N; i++) f[2 * i] = B[i];", "",
         "'f' points into 'A', but not to elements of its type"),
        (f"{COPY} union {{ double *d; long *l; }} u; u.d = A; u.l[2] = 0;", "",
         "'A' gets another name here, which cannot be followed"),
        (f"{COPY} *at(2) = 0;", "static double *at(int k) { return &A[k]; }",
         "'A' gets another name here, which cannot be followed"),
        (f"{COPY} other();", "void other(void);", "the program cannot be linked: nothing defines 'other'"),
    ],
)  # fmt: skip
def test_programs_that_are_refused(program: str, functions: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        check(text(program, functions=functions))
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("program", "answer", "ending", "kinds"),
    [
        ("A[1] = B[0]; *(volatile int *)0 = 1;", Answer.CRASHED, "crashed (SIGSEGV)", [WRONG_WRITE]),
        ("A[0] = B[0]; int raise(int); raise(8);", Answer.CRASHED, "crashed (SIGFPE)", []),
        ("A[1] = B[0]; exit(3);", Answer.CRASHED, INSIDE.format(3), [WRONG_WRITE, ErrorClass.MISSING]),
        ("A[1] = B[0]; _Exit(0);", Answer.CRASHED, INSIDE.format(0), [WRONG_WRITE]),
        (f"{COPY} exit(0);", Answer.GAVE_UP, LEFT, []),
        (f"{COPY} return 0;", Answer.GAVE_UP, LEFT, []),
        ("for (i = 0; i < 3; i++) A[i] = B[i]; return 0;", Answer.VIOLATION, LEFT, [ErrorClass.MISSING]),
    ],
)  # fmt: skip
def test_how_a_run_ends(program: str, answer: Answer, ending: str, kinds: list[ErrorClass]) -> None:
    """Crashes are no violations, and lose none of those found before."""
    report = check(text(program))
    assert (report.answer, report.ending) == (answer, ending)
    assert [finding.kind for finding in report.findings] == kinds


def test_an_operation_that_must_stand_alone_is_not_instrumented() -> None:
    program = "for (i = 0; i < N; i++) {\n#pragma omp atomic write\nA[i] = B[i]; }"
    with pytest.raises(GaveUp, match="cannot be recorded in one piece"):
        check(text(program))


def test_a_status_that_is_not_zero_is_reported() -> None:
    report = check(text().replace("return 0;", "return 7;"))
    assert report.answer is Answer.VALID
    assert report.notes == ("after the segment, the program ended with status 7",)


def test_functions_that_are_not_in_the_file_are_no_yes(tmp_path: Path) -> None:
    """Functions of headers are not instrumented."""
    (tmp_path / "other.h").write_text("static void other(void) { A[2] = 0; }\n")
    source = text(f"{COPY} other();", functions=f'#include "{tmp_path}/other.h"')
    with pytest.raises(GaveUp, match="'other' is not defined in this file"):
        check(source)
    assert check(text(f"{COPY} i = abs(-3);")).notes == ()


def test_functions_that_run_at_another_time() -> None:
    """No call of the program shows when they run, and what they write then."""
    late = "#include <stdlib.h>\nstatic void late(void) { A[0] = 7; }"
    with pytest.raises(GaveUp, match="'atexit' is not defined in this file"):
        check(text(f"{COPY} atexit(late);", functions=late))
    early = "__attribute__((constructor)) static void early(void) { B[0] = 7; }"
    with pytest.raises(GaveUp, match="constructor"):
        check(text(COPY, functions=early))


def test_a_crash_before_the_segment() -> None:
    with pytest.raises(Crashed, match=r"crashed \(SIGABRT\) before the segment was entered"):
        check_text(text(before="abort();"), options=CheckOptions(tools=QUICK))


def test_values_in_arrays_of_its_own_are_followed_by_terms_alone() -> None:
    program = "double t[N]; for (i = 0; i < N; i++) t[i] = B[i]; for (i = 0; i < N; i++) A[i] = t[i];"
    report = check_text(text(program), options=CheckOptions(algorithm="a", tools=QUICK))
    assert report.answer is Answer.GAVE_UP and not report.findings
    assert "values are kept in t, which the original lacks" in report.notes[-1]
    assert check(text(program)).algorithm == "terms"


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("\ufeff" + text(COPY))
    assert check_file(tmp_path / "p.c", options=CheckOptions(tools=QUICK)).answer is Answer.VALID
