"""Copies of several tiles to a cell are one write only where all of them write the same value."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.prove.legality.seen import ClaimedFlow
from loopwright.prove.legality.sources import joined_writes
from loopwright.transform.storage import HeldCell
from tests.legality.test_seen import program

TILES = """\
void f(int n, int m, double a[n], double b[n], double c[n])
{
#pragma scop
  for (int t = 0; t < m; t++) {
    for (int T = 0; 4 * T < n; T++)
      for (int i = 0; i <= 4; i++)
        if (4 * T + i < n)
          b[4 * T + i] = a[4 * T + i];
    for (int j = 0; j < n; j++)
      c[j] = b[j];
  }
#pragma endscop
}
"""


def joined(text: str, cell: str = "4T + i", time: str = "t") -> tuple[isl.Map, HeldCell] | None:
    """What the first statement writes, if it is claimed to hold the cell before the step."""
    after = program(text)
    copy = after.statements[0]
    context = copy.domain.get_ctx()
    maps = [
        isl.Map.read_from_str(context, f"[n, m] -> {{ {copy.name}[t, T, i] -> {target} }}")
        for target in (f"a[{cell}]", f"[{time}]")
    ]
    held = HeldCell(*(one.intersect_domain(copy.domain) for one in maps))
    found = joined_writes(after, copy, held, ClaimedFlow(after).entries)
    return None if found is None else (found[0].cells, found[1])


def test_tiles_that_overlap_write_one_value() -> None:
    found = joined(TILES)
    assert found is not None
    cells, held = found
    points = isl.Set("[n, m] -> { [p, t, q, c] : p = 0 and q = 0 and 0 <= t < m and 0 <= c < n }")
    assert cells.domain().is_equal(points)
    assert held.time.is_subset(isl.Map("[n, m] -> { [p, t, q, c] -> [t] }"))


@pytest.mark.parametrize("cell, time", [("4T", "t"), ("4T + i", "t + T"), ("i", "t")])
def test_values_that_depend_on_the_tile_are_not_joined(cell: str, time: str) -> None:
    found = joined(TILES, cell, time)
    assert found is None or found[0].dim(isl.dim_type.in_) > 4


def test_a_copy_that_reads_what_it_writes_is_not_joined() -> None:
    assert joined(TILES.replace("= a[4 * T + i];", "= a[4 * T + i] + b[i];")) is None
