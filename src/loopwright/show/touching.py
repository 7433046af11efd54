"""Which cells the instances of a picture touch, and which of them depend on each other directly.

Of the dependences only those to the nearest instance are kept: a read depends on the last write of its
cell, a write on the last write and on the reads since.  All others follow from these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import DependenceKind
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import all_points
from loopwright.show.small import Coordinates, Instance, Window, drawn_domain, fixed

Cell = tuple[int, Coordinates]
"""The number of an array, and the subscripts."""


@dataclass(frozen=True)
class DirectDependence:
    kind: DependenceKind
    source: Instance
    sink: Instance
    array: int


@dataclass(frozen=True)
class TouchedCells:
    """Reads and writes by instance, each cell once and in the order of the text."""

    reads: Mapping[Instance, tuple[Cell, ...]]
    writes: Mapping[Instance, tuple[Cell, ...]]
    unknown: tuple[str, ...]
    """Arrays of which any cell may be touched somewhere."""

    def dependences(self, order: Sequence[Instance]) -> Iterator[DirectDependence]:
        """Between instances that run in this order, each pair once for each kind and array."""
        written: dict[Cell, Instance] = {}
        read: dict[Cell, list[Instance]] = {}
        seen: set[DirectDependence] = set()
        for one in order:
            for found in (*self._of_reads(one, written), *self._of_writes(one, written, read)):
                if found not in seen:
                    seen.add(found)
                    yield found
            for cell in self.reads.get(one, ()):
                read.setdefault(cell, []).append(one)
            for cell in self.writes.get(one, ()):
                written[cell] = one
                read[cell] = []

    def _of_reads(self, one: Instance, written: Mapping[Cell, Instance]) -> Iterator[DirectDependence]:
        for cell in self.reads.get(one, ()):
            if cell in written:
                yield DirectDependence(DependenceKind.FLOW, written[cell], one, cell[0])

    def _of_writes(
        self, one: Instance, written: Mapping[Cell, Instance], read: Mapping[Cell, Sequence[Instance]]
    ) -> Iterator[DirectDependence]:
        for cell in self.writes.get(one, ()):
            for reader in read.get(cell, ()):
                yield DirectDependence(DependenceKind.ANTI, reader, one, cell[0])
            if cell in written:
                yield DirectDependence(DependenceKind.OUTPUT, written[cell], one, cell[0])


def touched_cells(program: Program, statements: Sequence[Statement], window: Window) -> TouchedCells:
    """What the drawn instances touch; an access that may be to any cell is left out, and named."""
    numbers = {array.name: k for k, array in enumerate(program.arrays)}
    reads: dict[Instance, dict[Cell, None]] = {}
    writes: dict[Instance, dict[Cell, None]] = {}
    unknown: dict[str, None] = {}
    for statement in statements:
        for access in statement.accesses:
            pairs = _pairs(access, statement, window)
            if pairs is None:
                unknown[access.array] = None
                continue
            side = writes if access.is_write else reads
            for at, cell in pairs:
                side.setdefault((statement.name, at), {})[numbers[access.array], cell] = None
    return TouchedCells(
        {one: tuple(cells) for one, cells in reads.items()},
        {one: tuple(cells) for one, cells in writes.items()},
        tuple(unknown),
    )


def _pairs(
    access: Access, statement: Statement, window: Window
) -> list[tuple[Coordinates, Coordinates]] | None:
    """Instances and cells; None where there is no end of cells, or they depend on data."""
    pairs = fixed(access.relation, window.parameters).intersect_domain(drawn_domain(statement, window))
    points = pairs.wrap()
    if not access.must or not points.is_bounded():
        return None
    return [(one[: statement.depth], one[statement.depth :]) for one in sorted(all_points(points))]
