"""Programs whose operations look like the original's and mean something else: none of them is valid.

Two files each; what differs is in the preprocessor, the types, the constants or the functions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check_text
from loopwright.errors import BadInput, GaveUp
from tests.check.support import QUICK
from tests.conftest import share

FRAME = """\
#include <stdlib.h>
{pre}
#define N 8
{arrays}
{functions}
int main(void)
{{
  int i;
  {before}
#pragma scop
  {body}
#pragma endscop
  return 0;
}}
"""


def program(
    value: str = "B[i]",
    *,
    pre: str = "",
    arrays: str = "double A[N], B[N], C[N];",
    functions: str = "",
    before: str = "",
    body: str = "",
) -> str:
    body = body or f"for (i = 0; i < N; i++) A[i] = {value};"
    return FRAME.format(pre=pre, arrays=arrays, functions=functions, before=before, body=body)


def answer(folder: Path, old: str, new: str) -> str:
    """The answer in a word; what is refused is neither yes nor no."""
    original = folder / "old.c"
    original.write_text(old)
    try:
        report = check_text(new, original, CheckOptions(tools=QUICK), name=str(folder / "new.c"))
    except (GaveUp, BadInput) as failure:
        return type(failure).__name__
    return report.answer.name


W, F, PLUS = "W * B[i]", "F(B[i])", "static double F(double x) { return x + 1; }"
PREPROCESSOR = {
    "another size": (program(), program().replace("#define N 8", "#define N 6")),
    "value": (program(W, pre="#define W 2"), program(W, pre="#define W 3")),
    "body": (program(F, pre="#define F(x) ((x) + 1)"), program(F, pre="#define F(x) ((x) + 2)")),
    "parentheses": (
        program("F(B[i] + 1)", pre="#define F(x) ((x) * 2)"),
        program("F(B[i] + 1)", pre="#define F(x) (x * 2)"),
    ),
    "through another": (
        program(F, pre="#define G(x) (x)\n#define F(x) G(x)"),
        program(F, pre="#define G(x) (-(x))\n#define F(x) G(x)"),
    ),
    "redefined": (program(W, pre="#define W 2"), program(W, pre="#define W 2\n#undef W\n#define W 3")),
    "conditional": (
        program(W, pre="#define W 2"),
        program(W, pre="#ifdef NO\n#define W 2\n#else\n#define W 3\n#endif"),
    ),
    "predefined": (
        program(W, pre="#define W 2"),
        program(W, pre="#ifdef __STDC__\n#define W 3\n#else\n#define W 2\n#endif"),
    ),
    "digraphs": (program(W, pre="#define W 2"), program(W, pre="#define W 2\n%:undef W\n%:define W 3")),
    "continued lines": (
        program(W, pre="#define W 2"),
        program(W, pre="#define W 2\n#unde\\\nf W\n#defi\\\nne W 3"),
    ),
    "pushed and popped": (
        program(W, pre="#define W 2"),
        program(W, pre='#define W 3\n#pragma push_macro("W")\n#undef W\n#define W 2\n#pragma pop_macro("W")'),
    ),
    "a macro and a function": (
        program(F, pre="#define F(x) ((x) + 1)"),
        program(F, functions="static double F(double x) { return x + 2; }"),
    ),
    "a macro before a function": (
        program(F, functions=PLUS),
        program(F, functions=f"{PLUS}\n#define F(x) ((x) + 2)"),
    ),
    "a keyword": (program("(float)B[i]"), program("(float)B[i]", functions="#define float int")),
    "a library function": (
        program("fabs(B[i])", pre="#include <math.h>"),
        program("fabs(B[i])", pre="#include <math.h>\n#define fabs(x) (x)"),
    ),
    "from a header": (
        program("M_PI * B[i]", pre="#define M_PI 3"),
        program("M_PI * B[i]", pre="#include <math.h>"),
    ),
    "the name of an array": (program(), program(functions="#define B C")),
    "the line": (program("__LINE__ * B[i]"), program("__LINE__ * B[i]", pre="\n\n")),
    "a counter": (
        program("__COUNTER__ * B[i]"),
        program("__COUNTER__ * B[i]", functions="int more[__COUNTER__ + 1];"),
    ),
    "a size": (program("N * B[i]"), program("N * B[i]", functions="#undef N\n#define N 4 + 4")),
}
FLOATS = "float A[N], B[N], C[N];"
TYPES = {
    "of all arrays": (program("B[i] / 3"), program("B[i] / 3", arrays=FLOATS)),
    "of an array that is read": (
        program("B[i] / 3"),
        program("B[i] / 3", arrays="double A[N], C[N]; float B[N];"),
    ),
    "of integers": (program("B[i] / 3"), program("B[i] / 3", arrays="double A[N], C[N]; int B[N];")),
    "by typedef": (
        program(arrays="typedef double T; T A[N], B[N];"),
        program(arrays="typedef float T; T A[N], B[N];"),
    ),
    "by macro": (
        program(pre="#define T double", arrays="T A[N], B[N];"),
        program(pre="#define T float", arrays="T A[N], B[N];"),
    ),
    "of a scalar": (
        program("w / 2 * B[i]", functions="double w;"),
        program("w / 2 * B[i]", functions="int w;"),
    ),
    "unsigned": (
        program("(w - 3) / 2 * B[i]", functions="int w;"),
        program("(w - 3) / 2 * B[i]", functions="unsigned w;"),
    ),
    "of a cast": (
        program("(T)B[i]", functions="typedef float T;"),
        program("(T)B[i]", functions="typedef int T;"),
    ),
    "of a cast, in a block": (
        program("(T)B[i]", functions="typedef float T;"),
        program(
            body="for (i = 0; i < N; i++) { typedef int T; A[i] = (T)B[i]; }", functions="typedef float T;"
        ),
    ),
    "a size in bytes": (
        program("sizeof(T) * B[i]", functions="typedef float T;"),
        program("sizeof(T) * B[i]", functions="typedef double T;"),
    ),
    "volatile": (
        program("B[i] + B[i]"),
        program("B[i] + B[i]", arrays="double A[N], C[N]; volatile double B[N];"),
    ),
    "a bit-field": (
        program(body="for (i = 0; i < N; i++) s.a += B[i];", functions="struct { int a; } s;"),
        program(body="for (i = 0; i < N; i++) s.a += B[i];", functions="struct { int a : 3; } s;"),
    ),
    "_Bool": (
        program(body="for (i = 0; i < N; i++) w = B[i];", functions="int w;"),
        program(body="for (i = 0; i < N; i++) w = B[i];", functions="_Bool w;"),
    ),
    "an enumerator": (
        program("E * B[i]", functions="enum { E = 2 };"),
        program("E * B[i]", functions="enum { E = 3 };"),
    ),
    "for an iterator, floating": (
        program("i / 2 * B[i]"),
        program(body="for (i = 0; i < N; i++) { double x = i; A[i] = x / 2 * B[i]; }"),
    ),
    "for an iterator, unsigned": (
        program("(i - 5) / 2 * B[i]"),
        program(body="for (unsigned u = 0; u < N; u++) A[u] = (u - 5) / 2 * B[u];"),
    ),
    "for an iterator, narrower": (
        program(body="for (long k = 0; k < N; k++) A[k] = k * 1000000000 * B[k];"),
        program(body="for (int k = 0; k < N; k++) A[k] = k * 1000000000 * B[k];"),
    ),
}
G = "static double g(double x) {{ return {}; }} {}"
CALLS = {
    "another body": (program(F, functions=PLUS), program(F, functions=PLUS.replace("1", "2"))),
    "another callee": (
        program(F, functions=G.format("x", PLUS.replace("x +", "g(x) +"))),
        program(F, functions=G.format("-x", PLUS.replace("x +", "g(x) +"))),
    ),
    "another constant": (
        program(F, functions=f"const double k = 1; {PLUS.replace('1', 'k')}"),
        program(F, functions=f"const double k = 2; {PLUS.replace('1', 'k')}"),
    ),
    "a variable that changes": (
        program(F, functions=f"double k = 1; {PLUS.replace('1', 'k')}"),
        program(
            body="for (i = 0; i < N; i++) { A[i] = F(B[i]); k = 2; }",
            functions=f"double k = 1; {PLUS.replace('1', 'k')}",
        ),
    ),
    "another parameter": (
        program(F, functions=PLUS),
        program(F, functions=PLUS.replace("(double x)", "(float x)")),
    ),
    "another result": (
        program(F, functions=PLUS),
        program(F, functions=PLUS.replace("static double", "static int")),
    ),
    "a static": (
        program(F, functions=PLUS),
        program(F, functions="static double F(double x) { static int n; return x + n++; }"),
    ),
    "a pointer to a function": (
        program(F, functions=PLUS),
        program(F, functions=f"{PLUS.replace('F', 'H')} static double (*F)(double) = H;"),
    ),
    "one of its own": (
        program("sqrt(B[i])", pre="#include <math.h>"),
        program("sqrt(B[i])", functions="static double sqrt(double x) { return x; }"),
    ),
    "not declared": (program("sqrt(B[i])", pre="#include <math.h>"), program("sqrt(B[i])")),
    "inside a function": (
        program(F, functions=PLUS),
        program(
            body="double F(double x) { return x + 2; } for (i = 0; i < N; i++) A[i] = F(B[i]);",
            functions=PLUS,
        ),
    ),
}
SIZED = "for (i = 0; i < n; i++) A[i] = n * B[i];"
VALUES = {
    "a constant": (
        program("k * B[i]", functions="const double k = 2;"),
        program("k * B[i]", functions="const double k = 3;"),
    ),
    "a size that is hidden": (
        program(body=SIZED, before="int n = 8;"),
        program(body="for (i = 0; i < 8; i++) { int n = 3; A[i] = n * B[i]; }", before="int n = 8;"),
    ),
    "a size that changes": (
        program(body=SIZED, before="int n = 8;"),
        program(body="for (i = 0; i < 8; i++) { n = 3; A[i] = n * B[i]; }", before="int n = 8;"),
    ),
}
SHIFTED = "for (i = 0; i < N - 1; i++) A[i] = B[i + 1];"
BACKWARDS = "for (i = N - 2; i >= 0; i--) A[i] = B[i + 1];"
ONE_PLACE = 'double A[N]; extern double B[N] __attribute__((alias("A")));'
ONE_SYMBOL = 'double A[N]; extern double B[N] __asm__("A");'
UNION = "union { double a[N], b[N]; } u;\n#define A u.a\n#define B u.b\n"
MEMORY = {
    "an alias": (program(body=SHIFTED), program(body=BACKWARDS, arrays=ONE_PLACE)),
    "one symbol": (program(body=SHIFTED), program(body=BACKWARDS, arrays=ONE_SYMBOL)),
    "pointers": (program(body=SHIFTED), program(body=BACKWARDS, arrays="double R[N], *A = R, *B = R;")),
    "a union": (program(body=SHIFTED), program(body=BACKWARDS, arrays=UNION)),
}
COPY = "for (int j = 0; j < N; j++) A[j] = B[j];"
SUM, LOOP = "w = 0; for (i = 0; i < N; i++) w = w + B[i];", "for (int j = 0; j < N; j++) w = w + B[j];"


def _summed(clauses: str) -> tuple[str, str]:
    new = f"w = 0;\n#pragma omp parallel {clauses} num_threads(1)\n{LOOP}"
    return program(body=SUM, functions="double w;"), program(body=new, functions="double w;")


OPENMP = {
    "private": _summed("private(w)"),
    "firstprivate": _summed("firstprivate(w)"),
    "on a continued line": _summed("\\\n  firstprivate(w)"),
    "reduction": _summed("for reduction(+:w)"),
    "linear": _summed("for linear(w:1)"),
    "private array": (program(), program(body=f"#pragma omp parallel for private(A)\n{COPY}")),
    "threadprivate": (
        program(body=SUM, functions="double w;"),
        program(body=SUM, functions="double w;\n#pragma omp threadprivate(w)"),
    ),
    "target": (program(), program(body=f"#pragma omp target map(to: A)\n{COPY}")),
    "_Pragma": (program(), program(body=f'_Pragma("omp parallel for private(A)")\n{COPY}')),
    "digraph": (program(), program(body=f"%:pragma omp parallel for private(A)\n{COPY}")),
    "a task and a local array": (
        program(arrays="double B[N];", before="double A[N];"),
        program(arrays="double B[N];", before="double A[N];", body=f"#pragma omp task\n{{ {COPY} }}"),
    ),
}
RECURRENCE = "for (i = 1; i < N; i++) A[i] = A[i - 1] + B[i];"


def _promised(line: str) -> tuple[str, str]:
    return program(body=RECURRENCE), program(body=f"{line}\n{RECURRENCE}")


PROMISES = {
    "simd": _promised("#pragma omp simd"),
    "simd with a length": _promised("#pragma omp simd safelen(8)"),
    "simd for threads": _promised("#pragma omp parallel for simd"),
    "ivdep": _promised("#pragma GCC ivdep"),
    "assumed safety": _promised("#pragma clang loop vectorize(assume_safety)"),
    "options": (program(), program(pre='#pragma GCC optimize("fast-math")')),
    "options of a function": (
        program(F, functions=PLUS),
        program(F, functions=f'__attribute__((noinline, optimize("fast-math")))\n{PLUS}'),
    ),
    "rounding": (
        program("B[i] / 3"),
        program(
            pre="#include <fenv.h>", body="fesetround(FE_UPWARD); for (i = 0; i < N; i++) A[i] = B[i] / 3;"
        ),
    ),
    "an unknown function": (
        program(),
        program(functions="void g(double *);", body="for (i = 0; i < N; i++) { A[i] = B[i]; g(A); }"),
    ),
}
WRONG = {
    f"{kind}: {name}": pair
    for kind, table in (
        ("macro", PREPROCESSOR),
        ("type", TYPES),
        ("function", CALLS),
        ("value", VALUES),
        ("memory", MEMORY),
        ("OpenMP", OPENMP),
        ("promise", PROMISES),
    )
    for name, pair in table.items()
}
RIGHT = {
    "a macro that is undefined first": (
        program(F, pre="#undef F\n#define F(x) ((x) > 1 ? (x) : 1)"),
        program(F, pre="#undef F\n#define F(x) ((x) > 1 ? (x) : 1)"),
    ),
    "macros with other parameters": (
        program(F, pre="#define F(x) ((x) + 1)"),
        program(F, pre="\n#define F(y) ((y) + 1)"),
    ),
    "functions with other spaces": (
        program(F, functions=PLUS),
        program(F, functions=f"/* the same */\n{PLUS.replace(' ', '  ')}"),
    ),
    "wider iterators": (
        program("i / 2 * B[i]"),
        program(body="for (long k = 0; k < N; k++) A[k] = k / 2 * B[k];"),
    ),
    "a size in a value": (program(body=SIZED, before="int n = 8;"),) * 2,
    "threads": (program(), program(body=f"#pragma omp parallel for shared(A) schedule(static)\n{COPY}")),
    "pragmas that say nothing": (
        program(),
        program(pre="#pragma once", body=f"#pragma GCC unroll 4\n{COPY}"),
    ),
    "attributes that say nothing": (program(F, functions=f"__attribute__((noinline, aligned(16)))\n{PLUS}"),)
    * 2,
    "longer arrays": (program(), program(arrays="double A[N + 2], B[2 * N];")),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_only_looks_the_same_is_not_valid(name: str, tmp_path: Path) -> None:
    assert answer(tmp_path, *WRONG[name]) in ("GaveUp", "BadInput", Answer.VIOLATION.name)


@pytest.mark.parametrize("name", RIGHT)
def test_what_means_the_same_is_valid(name: str, tmp_path: Path) -> None:
    assert answer(tmp_path, *RIGHT[name]) == Answer.VALID.name


REFUSED_ALONE = {"macro: the line", "macro: a counter", "function: a variable that changes"}
"""Originals of which not enough is known to compare them with anything."""


@pytest.mark.parametrize("name", share(sorted(WRONG.keys() - REFUSED_ALONE), 3))
def test_each_original_is_a_reordering_of_itself(name: str, tmp_path: Path) -> None:
    """So it is the difference that is refused."""
    original, _ = WRONG[name]
    assert answer(tmp_path, original, original) == Answer.VALID.name


@pytest.mark.parametrize("body", ["A[i] = READ(i);", "A[i] = READ(i) + C[i];"])
def test_an_array_that_only_a_macro_reads(tmp_path: Path, body: str) -> None:
    """What the macro reads is not followed: no yes, and no failure either."""
    text = program(pre="#define READ(x) B[x]", body=f"for (i = 0; i < N; i++) {body}")
    backwards = text.replace("i = 0; i < N; i++", "i = N - 1; i >= 0; i--")
    assert answer(tmp_path, text, backwards) == "GAVE_UP"
