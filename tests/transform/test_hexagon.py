"""`hexagon`: two phases of tiles that are independent [Grosser2014]."""

from __future__ import annotations

from collections import Counter, defaultdict

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.presburger.dimensions import all_points
from loopwright.presburger.named import without_parameters
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from loopwright.transform import Plan, plan_of

HEAD = "void f(int m, int n, double a[n], double b[n], double c[n], double A[2][n][n])\n{\n#pragma scop\n"


def nest(label: str, text: str, low: int = 2, high: int = 2) -> str:
    return f"for (int i = {low}; i < n - {high}; i++)\n  {label}: {text}\n"


STEPS = {
    "jacobi": [("b[i] = a[i - 1] + a[i + 1];", 1, 1), ("a[i] = b[i - 1] + b[i + 1];", 1, 1)],
    "copied": [("b[i] = a[i - 1] + a[i + 1];", 1, 1), ("a[i] = b[i];", 1, 1)],
    "to the right": [("b[i] = a[i - 1] + a[i - 2];", 2, 0), ("a[i] = b[i - 1];", 1, 0)],
    "to the left": [("b[i] = a[i + 1] + a[i + 2];", 2, 2), ("a[i] = b[i + 1] + b[i];", 0, 1)],
    "seidel": [("a[i] = a[i - 1] + a[i + 1];", 1, 1)],
    "three": [("b[i] = a[i - 2] + a[i + 1];", 2, 2), ("c[i] = b[i];", 1, 2), ("a[i] = c[i + 2];", 1, 2)],
}


def planned(name: str, script: str) -> Plan:
    body = "".join(nest("PQR"[k], *step) for k, step in enumerate(STEPS[name]))
    (program,) = parse_c(
        Source("f.c", f"{HEAD}for (int t = 0; t < m; t++) {{\n{body}}}\n#pragma endscop\n}}\n")
    )
    return plan_of(program).transform(f"L = lift(P, 1)\n{script}")


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("jacobi", "t=2, i=3"),
        ("copied", "t=2, i=2"),
        ("to the right", "t=2, i=4"),
        ("to the left", "t=2, i=2"),
        ("three", "t=2, i=5"),
    ],
)
def test_tiles_of_both_phases_are_independent(name: str, sizes: str) -> None:
    plan = planned(name, f"(A, B) = hexagon(L, {sizes})\nparallel(A, iT)\nparallel(B, iT)\n")
    assert prove_plan(plan).proved
    rows = int(sizes[2]) * len(STEPS[name])
    tiles = instances_by_tile(plan, steps=3 * int(sizes[2]), cells=90)
    assert all(count == 1 for count in tiles[1].values())
    sizes_of_tiles = Counter(len(shape) for shape in tiles[0].values())
    largest = max(sizes_of_tiles)
    width = int(sizes.split("=")[2])
    full = {shape for shape in tiles[0].values() if len(shape) == largest}
    assert len(full) == 1 and sizes_of_tiles[largest] > 3
    (shape,) = full
    lengths = [sum(one[0] == row for one in shape) for row in range(rows)]
    growing = lengths[: rows // 2]
    assert lengths == growing + growing[::-1] and growing == sorted(growing) and growing[0] == width


def instances_by_tile(
    plan: Plan, steps: int, cells: int
) -> tuple[dict[tuple[int, ...], frozenset[tuple[int, int]]], Counter[tuple[str, int, int]]]:
    """The shape of each tile, from its first point on, and in how many tiles an instance is."""
    values = isl.Set(f"[m, n] -> {{ : m = {steps} and n = {cells} }}")
    tiles: dict[tuple[int, ...], set[tuple[int, int]]] = defaultdict(set)
    count: Counter[tuple[str, int, int]] = Counter()
    statements = plan.program.statements
    for k, one in enumerate(statements):
        timed = one.schedule.intersect_domain(one.domain).intersect_params(values)
        for vector in all_points(without_parameters(timed.range())):
            _, tile, phase, space, _, t, _, i, *_ = vector
            tiles[tile, phase, space].add((len(statements) * t + k, i))
            count[one.name, t, i] += 1
        expected = one.domain.intersect_params(values)
        assert expected.count_val().to_python() == sum(n for key, n in count.items() if key[0] == one.name)
    return {key: shape_of(points) for key, points in tiles.items()}, count


def shape_of(points: set[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """The points, counted from the first of the first row."""
    row, cell = min(points)
    return frozenset((one - row, two - cell) for one, two in points)


def test_phases_run_one_after_the_other() -> None:
    assert not prove_plan(planned("copied", "(A, B) = hexagon(L, t=2, i=1)\nreorder(A, B)\n")).proved


TWO = """\
for (int t = 0; t < m; t++)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      P: A[(t + 1) % 2][i][j] = A[t % 2][i - 1][j] + A[t % 2][i][j + 1];
"""


def test_classical_tiles_run_one_after_the_other() -> None:
    (program,) = parse_c(Source("f.c", f"{HEAD}{TWO}#pragma endscop\n}}\n"))
    script = "(A, B) = hexagon(P, t=2, i=1, j=8)\nparallel(P, iT)\n"
    plan = plan_of(program).transform(f"{script}parallel(P, j)\n")
    assert prove_plan(plan).proved
    assert plan.leaves[0].loops == ("tT", "iT", "jT", "t", "i", "j")
    assert not prove_plan(plan_of(program).transform(f"{script}parallel(P, jT)\n")).proved


@pytest.mark.parametrize(
    ("name", "script", "message"),
    [
        ("jacobi", "(A, B) = hexagon(L, i=4, t=3)", "named from the outside in"),
        ("jacobi", "(A, B) = hexagon(L, t=4)", "named from the outside in"),
        ("jacobi", "(A, B) = hexagon(P, t=4, i=4)", "has other statements in it"),
        ("three", "(A, B) = hexagon(L, t=3, i=9)", "9 times, which has no middle"),
        ("three", "(A, B) = hexagon(L, t=2, i=1)", "reach over 2"),
        ("jacobi", "shift(P, i, 1)\nskew(L, i, t, 40)\n(A, B) = hexagon(L, t=2, i=1)", "more than 16 cells"),
    ],
)
def test_what_has_no_hexagons(name: str, script: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        planned(name, script)
    assert message in caught.value.message


def test_a_step_that_reads_what_it_writes_has_none() -> None:
    with pytest.raises(BadInput, match="in one step"):
        planned("seidel", "(A, B) = hexagon(L, t=2, i=4)")
