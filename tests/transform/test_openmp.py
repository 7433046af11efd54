"""OpenMP's loop directives: the order that the specification says, legal or with a witness, or refused.

The orders are written here as loops of Python, from the equivalents that the specification and its examples
give; nothing of the code under test makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loopwright.errors import BadInput, Code, GaveUp, Illegal
from loopwright.progress import silent
from loopwright.rewrite.directives import directed_plans, prove_directives
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.c.support import instances

Order = Iterator[tuple[int, ...]]

NEST = "for (int i = {a}; i < n; i{s}) for (int j = 0; j < n; ++j) A[i][j] = 1;"
UP = NEST.format(a=1, s="++")
TWOS = NEST.format(a=0, s=" += 2")
DOWN = "for (int i = n - 1; i >= 2; --i) A[i][0] = 1;"


def _tiles(numbers: range, size: int) -> Iterator[range]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


def tile(n: int) -> Order:
    for a in _tiles(range(1, n), 2):
        for b in _tiles(range(n), 3):
            yield from ((i, j) for i in a for j in b)


def tile_of_steps(n: int) -> Order:
    for a in _tiles(range(0, n, 2), 2):
        yield from ((i, j) for i in a for j in range(n))


def stripe(n: int) -> Order:
    for o in range(2):
        for p in range(3):
            yield from ((i, j) for i in range(1, n)[o::2] for j in range(n)[p::3])


def stripe_down(n: int) -> Order:
    for o in range(3):
        yield from ((i,) for i in range(n - 1, 1, -1)[o::3])


def reversed_tile(n: int) -> Order:
    for a in _tiles(range(1, n)[::-1], 2):
        yield from ((i, j) for i in a for j in range(n))


def applied(n: int) -> Order:
    """tile sizes(2, 3) apply(grid: interchange, nothing) apply(intratile: reverse, nothing)"""
    for b in _tiles(range(n), 3):
        for a in _tiles(range(1, n), 2):
            yield from ((i, j) for i in a[::-1] for j in b)


def rotated(n: int) -> Order:
    yield from ((i, j, k) for k in range(n) for i in range(n) for j in range(n))


def reversed_strips(n: int) -> Order:
    for a in list(_tiles(range(1, n), 3))[::-1]:
        yield from ((i, j) for i in a for j in range(n))


def nested(n: int) -> Order:
    """tile over reverse over tile: grid loops of the inner tile are tiled."""
    grid = list(_tiles(range(1, n), 2))[::-1]
    for start in range(0, len(grid), 2):
        for a in grid[start : start + 2]:
            yield from ((i, j) for i in a for j in range(n))


ORDERS: dict[str, tuple[str, Callable[[int], Order]]] = {
    "#pragma omp tile sizes(2, 3)": (UP, tile),
    "#pragma omp tile sizes(010 / 4, \\\n (1 + 2 * 2) % 4 + 2)": (UP, tile),
    "#pragma omp tile sizes(2)": (TWOS, tile_of_steps),
    "#pragma omp stripe sizes(2, 3)": (UP, stripe),
    "#pragma omp stripe sizes(3)": (DOWN, stripe_down),
    "#pragma omp interchange": (UP, lambda n: ((i, j) for j in range(n) for i in range(1, n))),
    "#pragma omp reverse": (UP, lambda n: ((i, j) for i in range(1, n)[::-1] for j in range(n))),
    "#pragma omp unroll partial(3)": (UP, lambda n: ((i, j) for i in range(1, n) for j in range(n))),
    "#pragma omp unroll partial(2)": (DOWN, lambda n: ((i,) for i in range(n - 1, 1, -1))),
    "#pragma omp unroll": (UP, lambda n: ((i, j) for i in range(1, n) for j in range(n))),
    "#pragma omp split counts(1, omp_fill, 2)": (UP, lambda n: ((i, j) for i in range(1, n) for j in range(n))),
    "#pragma omp tile sizes(2)\n#pragma omp reverse": (UP, reversed_tile),
    "#pragma omp reverse\n#pragma omp unroll partial(3)": (UP, reversed_strips),
    "#pragma omp tile sizes(2)\n#pragma omp reverse\n_Pragma(\"omp tile sizes(2)\")": (UP, nested),
    "#pragma omp tile sizes(2, \\\n 3) apply(grid: interchange, nothing) apply(intratile(1): reverse)": (UP, applied),
    "#pragma omp reverse\n#pragma omp nothing": (
        "for (int i = -5; i <= n - 2; i += 3) B[i + 5] = 1;",
        lambda n: ((i,) for i in range(-5, n - 1, 3)[::-1]),
    ),
    "#pragma omp interchange permutation(3, 1, 2)": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; ++j) for (int k = 0; k < n; k++) A[i][j + k] = 1;",
        rotated,
    ),
}  # fmt: skip

SEVERAL: dict[str, Callable[[int], Iterator[tuple[str, int]]]] = {
    "#pragma omp fuse\n{ for (int i = 1; i < n; i++) A[i][0] = 1; for (int j = n; j > 0; j -= 2) B[j] = 1; }": (
        lambda n: _together([("S1", range(1, n)), ("S2", range(n, 0, -2))])
    ),
    "#pragma omp fuse looprange(2, 2)\n{ for (int i = 0; i < n; i++) A[i][0] = 1;\n"
    "for (int i = 0; i < n; i++) A[i][1] = 1; for (int i = 3; i < n; i++) A[i][2] = 1; }": (
        lambda n: iter(
            [*(("S1", i) for i in range(n)), *_together([("S2", range(n)), ("S3", range(3, n))])]
        )
    ),
    "#pragma omp fuse\n#pragma omp split counts(2, omp_fill)\nfor (int i = 0; i < n; i++) B[i] = 1;": (
        lambda n: _together([("S1", range(min(2, n))), ("S1", range(2, n))])
    ),
    "#pragma omp tile sizes(2) apply(intratile: reverse)\n#pragma omp fuse\n"
    "{ for (int i = 1; i < n; i++) A[i][0] = 1; for (int j = n; j > 0; j -= 2) B[j] = 1; }": (
        lambda n: iter(
            [
                one
                for k in range(0, n, 2)
                for number in reversed(range(k, min(k + 2, max(n - 1, (n + 1) // 2))))
                for one in _of_number([("S1", range(1, n)), ("S2", range(n, 0, -2))], number)
            ]
        )
    ),
    "#pragma omp split counts(omp_fill, 2) apply(split: reverse, nothing)\nfor (int i = 0; i < n; i++) B[i] = 1;": (
        lambda n: iter([("S1", i) for i in [*reversed(range(max(0, n - 2))), *range(max(0, n - 2), n)]])
    ),
}  # fmt: skip


def _together(loops: list[tuple[str, range]]) -> Iterator[tuple[str, int]]:
    for number in range(max(len(own) for _, own in loops)):
        yield from _of_number(loops, number)


def _of_number(loops: list[tuple[str, range]], number: int) -> Iterator[tuple[str, int]]:
    """The iterations of this number, in the order of the loops."""
    return ((name, own[number]) for name, own in loops if number < len(own))


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "k.c"
    head = "#define SIZE 4\nstatic void step(double *q, int x) { q[x] = q[x - 1] + 1; } "
    path.write_text(f"{head}void f(int n, int m, double A[n][n], double B[n]) {{\n{text}\n}}\n")
    return str(path)


@pytest.mark.parametrize("directive", ORDERS)
def test_the_order_is_what_the_specification_says(tmp_path: Path, directive: str) -> None:
    loops, expected = ORDERS[directive]
    (plan,) = directed_plans(Request(_file(tmp_path, f"{directive}\n{loops}"))).plans
    for n in (0, 1, 2, 5, 8):
        assert [point for _, point in instances(plan.program, {"n": n})] == list(expected(n)), n


@pytest.mark.parametrize("text", SEVERAL)
def test_loops_next_to_each_other(tmp_path: Path, text: str) -> None:
    (plan,) = directed_plans(Request(_file(tmp_path, text))).plans
    for n in (0, 1, 2, 5, 8):
        found = [(name, point[0]) for name, point in instances(plan.program, {"n": n})]
        assert found == list(SEVERAL[text](n)), n


WRONG = {
    "#pragma omp reverse\nfor (int i = 1; i < n; i++) B[i] = B[i-1];": Code.READ_TOO_EARLY,
    "#pragma omp stripe sizes(SIZE)\nfor (int i = 1; i < n; i++) B[i-1] = B[i];": Code.OVERWRITTEN_TOO_EARLY,
    "#pragma omp tile sizes(4, 4)\nfor (int i = 1; i < n; i++) for (int j = 0; j < n - 1; j++) "
    "A[i][j] = A[i-1][j+1];": Code.READ_TOO_EARLY,
    "#pragma omp parallel for\n#pragma omp tile sizes(4)\nfor (int i = 1; i < n; i++) B[i] = B[i-1];":
        Code.NOT_PARALLEL,
    "#pragma omp parallel for\n#pragma omp unroll partial(2)\nfor (int i = 1; i < n; i++)\n"
    "if (i % 2 == 0) B[i] = 1; else A[0][i] = B[i-1];": Code.NOT_PARALLEL,
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_directive_has_a_witness(tmp_path: Path, text: str) -> None:
    with pytest.raises(Illegal) as caught:
        prove_directives(Request(_file(tmp_path, text)))
    assert caught.value.code is WRONG[text]
    assert caught.value.span is not None
    assert caught.value.span.line == 3
    assert caught.value.witness


LOOP = "for (int i = 0; i < n; i++) B[i] = 1;"

REFUSED = {
    f"#pragma omp tile\n{LOOP}": "'tile' needs the clause 'sizes'",
    **{
        f"#pragma omp tile sizes({text})\n{LOOP}": f"'{text}' must be an integer constant >= 1"
        for text in ("m", "2 * m", "2 - 2", "4 / 0", "65536 * 65536", "2 - 3 + 4", "4 > 3", "2; int x = 3")
    },
    f"#pragma omp tile sizes(2) collapse(2)\n{LOOP}": "the clause 'collapse' of 'tile' is not understood",
    f"#pragma omp tile sizes(2) sizes(2)\n{LOOP}": "the clause 'sizes' is there twice",
    f"#pragma omp tile sizes(2, 2)\n{LOOP}": "'tile' needs 2 loops with nothing between them, not 1",
    f"#pragma omp tile sizes(2\n{LOOP}": "this parenthesis is not closed",
    f"#pragma omp tiles sizes(2)\n{LOOP}": "no directive of OpenMP is called 'tiles'",
    f"#pragma omp interchange permutation(1, 3)\n{LOOP}": "a permutation has each of 1, 2, ... once, and two of them at least",
    f"#pragma omp split counts(2, 3)\n{LOOP}": "exactly one of the counts must be omp_fill",
    f"#pragma omp split counts(-1, omp_fill)\n{LOOP}": "'-1' must not be negative",
    f"#pragma omp unroll full partial(2)\n{LOOP}": "'full' and 'partial' exclude each other",
    f"#pragma omp fuse\n{LOOP}": "'fuse' needs several loops",
    f"#pragma omp fuse looprange(2, 2)\n{{ {LOOP} {LOOP} }}": "there are 2 loops to fuse",
    f"#pragma omp fuse\n{{ {LOOP} B[0] = 1; }}": "only loops can be fused",
    f"#pragma omp tile sizes(2) apply(tiles: reverse)\n{LOOP}": "'apply' must name what 'tile' generates: grid, intratile",
    f"#pragma omp tile sizes(2) apply(reverse)\n{LOOP}": "'apply' must name what 'tile' generates: grid, intratile",
    f"#pragma omp reverse\n#pragma omp split counts(2, omp_fill)\n{LOOP}": "'reverse' needs one loop, and there are several after the directives below it",
    f"#pragma omp reverse\n#pragma omp fuse looprange(1, 2)\n{{ {LOOP} {LOOP} {LOOP} }}": "'reverse' needs one loop, and there are several after the directives below it",
    f"#pragma omp tile sizes(2)\n{{ {LOOP} {LOOP} }}": "a 'for' loop must follow this directive",
    f"#pragma omp fuse\n#pragma omp tile sizes(2)\n{{ {LOOP} {LOOP} }}": "a 'for' loop must follow this directive",
    "#pragma omp tile sizes(2)\nB[0] = 1;": "a 'for' loop must follow this directive",
    "#pragma omp interchange\nfor (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i][j] = 1;":
        "'interchange' needs bounds that do not depend on i",
    f"#define M _Pragma(\"omp reverse\")\n#pragma omp reverse\n{LOOP}": "a directive inside a macro cannot be read",
    f"#define tile reverse\n#pragma omp tile sizes(2)\n{LOOP}": "'tile' is a macro here",
    "#pragma omp reverse\nfor (int i = 0; i < n; i++) {\n#pragma omp critical\nB[i] = 1; }": "this directive does not apply to a loop",
    f"#pragma omp parallel\n{{\n#pragma omp reverse\n{LOOP} }}":
        "these loops are inside the statement of another directive: line 3: #pragma omp parallel",
    f"#pragma omp parallel private(B)\n{{\n#pragma omp for\n{LOOP} }}":
        "these loops are inside the statement of another directive: line 3: #pragma omp parallel private(B)",
    f"#pragma omp parallel for num_threads(m++)\n{LOOP}": "an expression of 'num_threads' must not change or call anything",
    "#pragma omp parallel for\nfor (int i = 0; i != m; i++) B[0] = i;":
        "this is about loops that can be read in other words only",
    "#pragma omp simd\nfor (int i = 1; i < n; i++) step(B, i);":
        "this is about loops that can be read in other words only",
    LOOP: "no loop of this file has an OpenMP directive",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_understood_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput) as caught:
        directed_plans(Request(_file(tmp_path, text)))
    assert caught.value.message == REFUSED[text]
    assert caught.value.code is Code.DIRECTIVE


_COUNTED = "#pragma omp reverse\nfor (i = 0; i < n; i++) B[i] = 1;"
LATE = [
    f"int i;\n{_COUNTED}\nB[0] = i;",
    f"int i;\n{_COUNTED.replace('reverse', 'parallel for')}\nB[0] = i;",
    f"int i;\n{_COUNTED.replace('reverse', 'tile sizes(4)')}\nif (n > 3) i = 2; B[0] = i;",
    f"static int i;\n{_COUNTED}",
    f"int i = 0; again: B[0] = i;\n{_COUNTED}\nif (n-- > 3) goto again;",
    f"int i = 0; for (int t = 0; t < 2; t++) {{ B[0] = i;\n{_COUNTED}\n}}",
    "int i, j;\n#pragma omp tile sizes(4, 4)\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1;\nB[0] = j;",
]
LOST = [
    f"int i;\n{_COUNTED}",
    f"int i;\n{_COUNTED}\ni = 3; B[0] = i;",
    f"int i; i = 2; B[0] = i;\n{_COUNTED}",
    f"int i;\n{_COUNTED}\nfor (i = 0; i < 4; i++) B[i] = i;",
]


@pytest.mark.parametrize("text", LATE)
def test_what_a_directive_leaves_in_an_iterator_is_not_read(tmp_path: Path, text: str) -> None:
    """A compiler leaves there what its loops do, or nothing."""
    with pytest.raises(BadInput) as caught:
        prove_directives(Request(_file(tmp_path, text)))
    assert "whose directive leaves another value in it" in caught.value.message


@pytest.mark.parametrize("text", LOST)
def test_what_a_directive_leaves_in_an_iterator_may_be_lost(tmp_path: Path, text: str) -> None:
    assert prove_directives(Request(_file(tmp_path, text))).directives == 1


def test_macros_in_directives_are_numbers(tmp_path: Path) -> None:
    text = f"#define FOUR (4)\n#pragma omp parallel for schedule(static, FOUR)\n#pragma omp tile sizes(FOUR)\n{LOOP}"
    assert prove_directives(Request(_file(tmp_path, text))).directives == 2


def test_a_last_value_that_no_iteration_sets_is_none(tmp_path: Path) -> None:
    """What is copied after the loop is that of the thread of the last iteration."""
    text = f"double s = 1;\n#pragma omp parallel for lastprivate(s)\n{LOOP}\nA[0][0] = s;"
    with pytest.raises(GaveUp, match="'s' has no value in a thread that has its own"):
        prove_directives(Request(_file(tmp_path, text)))


_BESIDE = (
    f"{{ A[0][0] += 1;\n#pragma omp for\n{LOOP} }}",
    f"{{\n#pragma omp for\n{LOOP} A[0][0] += 1; }}",
    f"{{\n#pragma omp for\n{LOOP}\n{LOOP} }}",
    f"{{ double t = B[0];\n#pragma omp for\n{LOOP} }}",
    f"for (int t = 0; t < m; t++) {{\n#pragma omp for\n{LOOP} A[0][0] += 1; }}",
    f"\n#pragma omp parallel\n{{\n#pragma omp for\n{LOOP} }}",
)
"""What stands in `parallel` besides a loop that the threads divide: each of them runs it."""


@pytest.mark.parametrize("text", _BESIDE)
def test_what_every_thread_runs_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="statement of another directive"):
        prove_directives(Request(_file(tmp_path, f"#pragma omp parallel\n{{ {text} }}")))


def test_directives_of_loops_that_threads_divide_are_not_obeyed(tmp_path: Path) -> None:
    """Each thread would run all of a `parallel for` in `parallel`."""
    text = "#pragma omp parallel\n{\n#pragma omp for\nfor (int i = 0; i < n; i++) L: B[i] += 1;\n}"
    with pytest.raises(BadInput, match="statement of another directive"):
        transformed(Request(_file(tmp_path, text), directives=True), silent)
    alone = text.replace("#pragma omp parallel", "")
    with pytest.raises(BadInput, match="which threads divide this loop is not known"):
        transformed(Request(_file(tmp_path, alone), directives=True), silent)


INDEPENDENT = (
    f"#pragma omp parallel\n{{ int k; for (int t = 0; t < m; t++) {{\n#pragma omp for\n{LOOP} }} }}",
    "#pragma omp parallel for\n#pragma omp unroll partial(2)\nfor (int i = 1; i < n; i++)\n"
    "if (i % 2 == 1) B[i] = 1; else A[0][i] = B[i-1];",
    f"#pragma omp parallel num_threads(m + 1)\n{{\n#pragma omp for\n{LOOP} }}",
    f"#pragma omp barrier\n#pragma omp parallel for\n{LOOP}",
    "double s = 0;\n#pragma omp parallel\n{\n#pragma omp for reduction(+: s)\n"
    "for (int i = 0; i < n; i++) s += B[i];\n}\nB[0] = s;",
)


@pytest.mark.parametrize("text", INDEPENDENT)
def test_iterations_that_may_run_at_the_same_time(tmp_path: Path, text: str) -> None:
    assert prove_directives(Request(_file(tmp_path, text))).directives


def test_the_loops_are_written_out_and_proved(tmp_path: Path) -> None:
    text = f"#pragma omp parallel for\n  #pragma omp tile sizes(SIZE)\n  {LOOP}"
    outcome = transformed(Request(_file(tmp_path, text), directives=True), silent)
    new = outcome.source.text
    assert "#pragma omp tile" not in new
    assert "#pragma omp parallel for" in new
    assert "for (int iT = 0;" in new
    assert any("new source" in proof.what for proof in outcome.regions[0].proofs)
