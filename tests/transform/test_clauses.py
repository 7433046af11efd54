"""The clauses of a file's own directives, one by one: `prove FILE` says what `prove OLD NEW` says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.errors import BadInput, Code, GaveUp, Illegal
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import PLAINLY
from loopwright.prove.verdict import Proved, Refuted
from loopwright.rewrite.directives import prove_directives
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.conftest import share

COPY = "for (i = 4; i < n; i++) a[i] = b[i];"
TWOS = COPY.replace("i++", "i += 2")
AHEAD = "for (i = 0; i < n - 4; i++) a[i] = a[i + 4];"
BACK = "for (i = 4; i < n; i++) a[i] = a[i - 4];"
BACK_TWOS = BACK.replace("i++", "i += 2")
DOWN = "for (i = n - 5; i >= 0; i -= 2) a[i] = a[i + 4];"
NEXT = "for (i = 1; i < n; i++) a[i] = a[i - 1];"
OWN = "for (i = 0; i < n; i++) { t = b[i]; a[i] = t * t; }"
SUM = "for (i = 0; i < n; i++) t += b[i];"
SUMS = "for (i = 0; i < n; i++) { t += b[i]; u *= 2; }"
NEST = "for (i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i - 1][j];"
FILL = NEST.replace("A[i - 1][j]", "b[j]")

YES, NO, OPEN = "proved", "no", "open"
TABLE = [
    ("simd safelen(4)", BACK, YES),
    ("simd safelen(5)", BACK, NO),
    ("simd safelen(2)", BACK_TWOS, YES),
    ("simd safelen(3)", BACK_TWOS, NO),
    ("simd safelen(2)", DOWN, YES),
    ("simd safelen(3)", DOWN, NO),
    ("simd safelen(4) simdlen(2)", BACK, YES),
    ("simd safelen(4) simdlen(8)", BACK, OPEN),
    ("simd safelen(1)", NEXT, YES),
    ("simd safelen(4) private(t)", "for (i = 4; i < n; i++) { t = a[i - 4]; a[i] = t; }", YES),
    ("simd safelen(5) private(t)", "for (i = 4; i < n; i++) { t = a[i - 4]; a[i] = t; }", NO),
    ("simd safelen(4) reduction(+: t)", "for (i = 4; i < n; i++) { a[i] = a[i - 4]; t += b[i]; }", YES),
    ("simd safelen(4) order(concurrent)", BACK, OPEN),
    ("simd safelen(4) collapse(2)", NEST, OPEN),
    ("simd safelen(0)", COPY, OPEN),
    ("simd safelen(n)", COPY, OPEN),
    ("parallel for simd safelen(4)", BACK, NO),
    ("parallel for safelen(4)", COPY, OPEN),
    ("simd simdlen(4)", BACK, NO),
    ("simd simdlen(1)", NEXT, OPEN),
    ("simd", NEXT, NO),
    ("simd", AHEAD, OPEN),
    ("simd linear(i)", COPY, YES),
    ("simd linear(i: 2)", TWOS, YES),
    ("simd linear(i: step(2))", TWOS, YES),
    ("simd linear(i: val, step(-2))", DOWN.replace("a[i + 4]", "b[i]"), YES),
    ("simd linear(i: 2)", COPY, OPEN),
    ("simd linear(i: step(3))", TWOS, OPEN),
    ("simd linear(t)", COPY, OPEN),
    ("parallel for linear(i)", COPY, OPEN),
    ("simd linear(i) safelen(5)", BACK, NO),
    ("simd aligned(a: 32)", COPY, OPEN),
    ("simd nontemporal(a, b)", COPY, YES),
    ("simd nontemporal(a)", NEXT, NO),
    ("parallel for nontemporal(a)", COPY, OPEN),
    ("parallel for order(concurrent)", COPY, YES),
    ("simd order(reproducible: concurrent)", COPY, YES),
    ("parallel for order(unconstrained: concurrent)", NEXT, NO),
    ("parallel for order(concurrent) ordered", COPY, OPEN),
    ("parallel for ordered", COPY, YES),
    ("parallel for ordered", NEXT, NO),
    ("parallel for ordered(1)", COPY, OPEN),
    ("parallel for collapse(2)", FILL, YES),
    ("parallel for collapse(2)", NEST, NO),
    ("parallel for collapse(3)", FILL, OPEN),
    ("parallel for schedule(static, 4)", COPY, YES),
    ("parallel for schedule(nonmonotonic: dynamic)", COPY, YES),
    ("parallel for simd schedule(simd: static, 4)", COPY, YES),
    ("parallel for schedule(static, 1) num_threads(2)", NEXT, NO),
    ("parallel for schedule(static, 40)", NEXT, OPEN),
    ("parallel for schedule(static, m)", COPY, OPEN),
    ("parallel for schedule(sometimes)", COPY, OPEN),
    ("parallel for num_threads(2 * 4)", COPY, YES),
    ("parallel for num_threads(m)", COPY, OPEN),
    ("parallel for num_threads(0)", COPY, OPEN),
    ("parallel for num_threads(1)", NEXT, OPEN),
    ("parallel for proc_bind(spread)", COPY, YES),
    ("parallel for proc_bind(near)", COPY, OPEN),
    ("parallel for if(n > 4)", COPY, YES),
    ("parallel for if(1)", NEXT, NO),
    ("parallel for if(parallel: 0)", NEXT, OPEN),
    ("parallel for if(n > 4)", NEXT, OPEN),
    ("parallel for if(1 / m)", COPY, OPEN),
    ("parallel for if(a[m] > 0)", COPY, OPEN),
    ("parallel for simd if(simd: n > 4)", COPY, YES),
    ("parallel for private(t) allocate(t)", OWN, YES),
    ("parallel for private(t) private(i)", OWN, YES),
    ("parallel for allocate(t)", OWN, OPEN),
    ("parallel for reduction(+: t) allocate(t)", SUM, YES),
    ("parallel for reduction(+: t) reduction(*: u)", SUMS, YES),
    ("parallel for reduction(task, +: t)", SUM, OPEN),
    ("parallel for lastprivate(conditional: t)", OWN, OPEN),
    ("parallel for copyin(t)", COPY, OPEN),
    ("parallel for shared(a) default(shared)", COPY, YES),
]  # fmt: skip


_HEAD = "void f(int n, int m, double A[restrict n][n], double *restrict a, double *restrict b, double *s) {"


def _text(loop: str, pragma: str = "", marks: tuple[str, str] = ("", "")) -> str:
    """A function with the loop; what it sums up is read after it."""
    after = "s[0] = t + u;" if "t +=" in loop else ""
    start, end = marks
    return f"{_HEAD}\nint i; double t = 0, u = 1;\n{start}{pragma}{loop}\n{end}{after}\n}}\n"


def _of_file(path: Path) -> str:
    try:
        prove_directives(Request(str(path)))
    except Illegal as refused:
        assert refused.code is Code.NOT_PARALLEL
        assert refused.witness
        return NO
    except (BadInput, GaveUp):
        return OPEN
    return YES


@pytest.mark.parametrize(("clauses", "loop", "expected"), share(TABLE, 2))
def test_a_clause_means_the_same_in_a_file_and_in_a_new_one(
    clauses: str, loop: str, expected: str, tmp_path: Path
) -> None:
    pragma, marks = f"#pragma omp {clauses}\n", ("#pragma scop\n", "#pragma endscop\n")
    texts = {"one": _text(loop, pragma), "old": _text(loop, "", marks), "new": _text(loop, pragma, marks)}
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    assert _of_file(tmp_path / "one.c") == expected
    options = replace(PLAINLY, allow_reassociation=True)
    match compare_files(tmp_path / "old.c", tmp_path / "new.c", options).verdict:
        case Proved():
            assert expected == YES
        case Refuted(witness=witness):
            assert expected == NO and witness
        case _:
            assert expected == OPEN


OVER_OTHERS = [
    ("simd safelen(2)", "reverse", "for (i = 0; i < n; i++) a[i] = b[i];", YES),
    ("parallel for schedule(static, 2)", "tile sizes(4)", COPY, YES),
    ("parallel for schedule(static, m)", "tile sizes(4)", COPY, OPEN),
    ("parallel for num_threads(m)", "reverse", COPY, OPEN),
    ("parallel for schedule(static, 40)", "tile sizes(2)", NEXT, OPEN),
    ("parallel for", "tile sizes(2)", NEXT, NO),
    ("simd linear(i)", "reverse", COPY, OPEN),
    ("parallel for safelen(4)", "reverse", COPY, OPEN),
    ("parallel for private(t) allocate(u)", "reverse", OWN, OPEN),
]


@pytest.mark.parametrize(("clauses", "below", "loop", "expected"), OVER_OTHERS)
def test_clauses_of_loops_that_other_directives_make(
    clauses: str, below: str, loop: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.c"
    path.write_text(_text(loop, f"#pragma omp {clauses}\n#pragma omp {below}\n"))
    assert _of_file(path) == expected


def test_loops_are_not_written_out_without_their_safelen(tmp_path: Path) -> None:
    path = tmp_path / "one.c"
    path.write_text(_text(BACK.replace("(i", "(int i"), "#pragma omp simd safelen(4)\n"))
    with pytest.raises(BadInput, match="'safelen' is not written"):
        transformed(Request(str(path), directives=True), silent)
