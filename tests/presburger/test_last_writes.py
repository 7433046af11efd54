"""The last writes before reads, for sets with remainders in them."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest

from loopwright.presburger.last_writes import seen_writes

TIMES = isl.UnionMap("{ R[i] -> [i, 2, 0]; Z[i] -> [i, 0, 0]; W[i, j] -> [i, 1, j] }")
READS = isl.UnionMap("{ R[i] -> s[] : 0 <= i < 3 }")
BOUNDS: dict[str, Callable[[int, int, int], bool]] = {
    "j mod 4 = 0 and 0 <= j < 4 * floor(m / 4)": lambda m, _, j: j % 4 == 0 and 0 <= j < m // 4 * 4,
    "0 <= j < 4 * floor(m / 4)": lambda m, _, j: 0 <= j < m // 4 * 4,
    "j mod 3 = 1 and 0 <= j < 3 * floor((m + i) / 3)": lambda m, i, j: (
        j % 3 == 1 and 0 <= j < (m + i) // 3 * 3
    ),
    "j mod 4 = 0 and 0 <= j < m": lambda m, _, j: j % 4 == 0 and 0 <= j < m,
}


def _last(size: int, bound: str, *, is_set: bool) -> isl.UnionMap:
    """By running the loops."""
    found: dict[int, str] = {}
    last = ""
    for i in range(3):
        last = f"Z[{i}]" if is_set else last
        for j in range(20):
            last = f"W[{i}, {j}]" if BOUNDS[bound](size, i, j) else last
        found |= {i: last} if last else {}
    return isl.UnionMap(f"{{ {'; '.join(f'{write} -> R[{i}]' for i, write in found.items())} }}")


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("is_set", (True, False))
def test_the_last_write_is_the_last(bound: str, is_set: bool) -> None:
    first = "Z[i] -> s[] : 0 <= i < 3; " if is_set else ""
    writes = isl.UnionMap(f"[m] -> {{ {first}W[i, j] -> s[] : 0 <= i < 3 and {bound} }}")
    found = seen_writes(READS, writes, TIMES)
    for size in range(13):
        here = isl.Set(f"[m] -> {{ : m = {size} }}")
        seen = found.dependences.intersect_params(here).project_out_all_params()
        assert seen.is_equal(_last(size, bound, is_set=is_set))
        left = found.without.intersect_params(here).project_out_all_params().domain()
        assert left.is_equal(READS.domain().subtract(seen.range()))


MIXED = "{ W[i, j] -> [i, 0, -j]; Z[i, j] -> [2 * i + 1, -j, 1]; R[i, k] -> [4 * i + 1, 2 * k + 4 * i, 2] }"


def test_dimensions_that_are_constants_for_some_statements() -> None:
    """isl takes W[1, 0] for the last write, at [1, 0, 0], before Z[0, 0] at [1, 0, 1]."""
    reads = isl.UnionMap("[n] -> { R[i, k] -> s[i] : 0 <= i < n and 0 <= k <= i }")
    early = "W[i, j] -> s[j] : 0 <= i < n and 0 <= j < n"
    writes = isl.UnionMap(f"[n] -> {{ {early}; Z[i, j] -> s[4 * j] : 0 <= 2 * i < n and 0 <= 2 * j < n }}")
    found = seen_writes(reads, writes, isl.UnionMap(MIXED)).dependences
    first = found.intersect_range(isl.UnionSet("{ R[0, 0] }")).intersect_params(isl.Set("[n] -> { : n = 5 }"))
    assert first.domain().project_out_all_params().is_equal(isl.UnionSet("{ Z[0, 0] }"))


def test_where_isl_gives_up_the_definition_tells() -> None:
    """isl: "affine expression involves some of the domain dimensions"."""
    inside = "i mod 2 = 0 and i <= m and i <= n and 0 < j < i and 0 <= k < n - j"
    touched = f"[n, m] -> {{ W[i, j, k] -> s[] : {inside}; R[i, j, k] -> s[] : {inside} }}"
    times = isl.UnionMap("{ W[i, j, k] -> [i, j, k, 0]; R[i, j, k] -> [i, j, k, 1] }")
    cells = isl.UnionMap(touched)
    info = isl.UnionAccessInfo.from_sink(cells).set_must_source(cells).set_schedule_map(times)
    with pytest.raises(isl.Error, match="involves some of the domain dimensions"):
        info.compute_flow()  # where a later isl does not fail, neither test nor detour is needed
    found = seen_writes(cells, cells, times)
    inner = isl.UnionSet("{ R[i, j, k] }")
    own = found.dependences.intersect_range(inner)
    assert own.is_equal(isl.UnionMap(f"[n, m] -> {{ W[i, j, k] -> R[i, j, k] : {inside} }}"))
    first = found.without.domain().intersect_params(isl.Set("[n, m] -> { : n = 5 and m = 4 }"))
    assert first.project_out_all_params().is_equal(isl.UnionSet("{ W[2, 1, 0] }"))
