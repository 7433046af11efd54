"""Hexagonal tiles that copy their cells into buffers, compute there, and copy back.

    for T
      for S, for R ..              phase 0, then the same for phase 1
        A_tile[c - o] = A[c]       for the cells c around the tile, where o is the least of them
        the rows of the tile, on A_tile
        A[c] = A_tile[c - o]       for the cells c of the tile

The order is that of `hexagon`, which is proved separately; here the storage changes, and the proof shows that
copies stage the arrays tile by tile.  Dependences are symmetric here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import unqualified
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Array, MemorySpace, Program, Statement
from loopwright.presburger.functions import involved
from loopwright.presburger.sets import PARAM, union
from loopwright.transform.library.accesses import affine_text
from loopwright.transform.library.hexagons import Hexagons, hexagon, hexagons_of
from loopwright.transform.library.loops import SizedLoop
from loopwright.transform.library.overlapping import (
    cell_test,
    global_cell,
    instances_where,
    iterator_type,
    operation_text,
    planned_tiles,
)
from loopwright.transform.library.stencils import Stencil, WrittenArray, stencil_of
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import Redundancy, replaced_text
from loopwright.transform.vectors import pieces


@dataclass(frozen=True)
class _TileStatement:
    """A statement of the new source, and `tile`, the points of its loops in a full tile.

    It computes `statement`, or copies the cells of `array` to the buffer or back.
    """

    text: str
    tile: tuple[str, ...]
    statement: str = ""
    array: str = ""
    loads: bool = False


@dataclass(frozen=True)
class _StagedTiles:
    stencil: Stencil
    shape: Hexagons

    @property
    def count(self) -> int:
        """K, the statements of a step."""
        return len(self.shape.times)

    @property
    def steps(self) -> int:
        """The number of steps of half a tile."""
        return self.shape.half // self.count

    @property
    def radii(self) -> tuple[int, ...]:
        return tuple(max(values) for values in zip(*self.stencil.radii.values(), strict=True))

    @property
    def period(self) -> int:
        """W"""
        shape, slope = self.shape, self.shape.slopes[0]
        return 2 * shape.width + (slope.forwards + slope.backwards) * (shape.half - 1)

    def start(self, phase: int) -> str:
        """The first step of a tile."""
        return f"{2 * self.steps} * {self.stencil.tiles[0]}{'' if phase else f' - {self.steps}'}"

    def row(self, phase: int, place: int) -> str:
        """a, of statement `place` in step t."""
        return f"({self.count} * ({self.stencil.loops[0]} - ({self.start(phase)})) + {place})"

    def origin(self, k: int, phase: int) -> str:
        """The least cell of a tile along loop k."""
        name, slope = self.stencil.tiles[k], self.shape.slopes[k - 1]
        if k > 1:
            return f"{self.shape.sizes[k - 2]} * {name} - {slope.backwards * (2 * self.shape.half - 1)}"
        return f"{self.period} * {name} + {self.begin(phase) - slope.backwards * (self.shape.half - 1)}"

    def begin(self, phase: int) -> int:
        shape = self.shape
        return (shape.width + shape.slopes[0].forwards * (shape.half - 1)) if phase else 0

    def last(self, phase: int) -> int:
        """The largest cell of tile 0 along the hexagonal loop."""
        shape = self.shape
        return self.begin(phase) + shape.width - 1 + shape.slopes[0].forwards * (shape.half - 1)

    def length(self, k: int) -> int:
        """The number of cells that a tile spans along loop k."""
        shape, slope = self.shape, self.shape.slopes[k - 1]
        if k > 1:
            return shape.sizes[k - 2] + slope.backwards * (2 * shape.half - 1)
        return shape.width + (slope.forwards + slope.backwards) * (shape.half - 1)

    def cell(self, written: WrittenArray, phase: int, offsets: Sequence[int] | None = None) -> str:
        """The cell x + offsets in the buffer."""
        text = written.buffer
        for k, radius in enumerate(self.radii, 1):
            more = radius + (0 if offsets is None else offsets[k - 1])
            text += f"[{self.stencil.loops[k]} - ({self.origin(k, phase)}) + {more}]"
        return text

    def loop(self, k: int, low: str, high: str) -> str:
        name = self.stencil.loops[k]
        return f"for ({iterator_type(self.stencil, k)} {name} = {low}; {name} <= {high}; {name}++) "

    def box(self, phase: int, *, around: bool) -> list[tuple[str, str]]:
        """The first and the last cell along each loop, of a tile or of all cells that it reads."""
        found: list[tuple[str, str]] = []
        for k, radius in enumerate(self.radii, 1):
            origin, more = self.origin(k, phase), radius if around else 0
            found.append((f"{origin} - {more}", f"{origin} + {self.length(k) - 1 + more}"))
        return found


def staged(plan: Plan, component: Component, sizes: Sequence[SizedLoop]) -> tuple[Plan, Component, Component]:
    """Return the plan with hexagonal tiles that compute in buffers, and the parts of the two phases."""
    stencil = stencil_of(plan, component, sizes)
    tiles = _StagedTiles(stencil, hexagons_of(plan, component, sizes))
    _check(tiles)
    ordered, _, _ = hexagon(plan, component, sizes)
    parts = list(_program(tiles))
    text = "".join(one if isinstance(one, str) else one.text for one in parts)
    described = [one for one in parts if isinstance(one, _TileStatement)]
    after = replaced_text(ordered.program, text, _buffers(tiles), len(described))
    pairs = list(zip(after.statements, described, strict=True))
    statements = tuple(_within_tiles(one, part) for one, part in pairs)
    after = replace(after, statements=statements)
    computes = {one.name: part.statement for one, part in pairs if part.statement}
    copied = {one.name: (part.array, part.loads) for one, part in pairs if part.array}
    planned, _, _ = planned_tiles(ordered, after, Redundancy(computes), copied)
    places = [position for one in after.statements for position, _ in pieces(one.schedule)]
    one, two = (Component.of(place for place in places if place[1] == phase) for phase in (0, 1))
    return planned, one, two


def _check(tiles: _StagedTiles) -> None:
    slope = tiles.shape.slopes[0]
    if slope.forwards != slope.backwards:
        message = "dependences reach farther to one side than to the other"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="staged", hint="leave 'staged' out")
    if tiles.shape.half % tiles.count:
        message = "half of a tile is not a whole number of steps"
        raise Misuse(Code.ARGUMENTS, message, argument="sizes", hint="give an even number of steps")
    for low, _ in tiles.stencil.bounds:
        if involved(low, PARAM):
            message = "the first step and the first cells are not numbers"
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint="leave 'staged' out")


def _program(tiles: _StagedTiles) -> Iterator[str | _TileStatement]:
    stencil, half = tiles.stencil, tiles.shape.half
    first, last = stencil.bounds[0]
    name, kind = stencil.tiles[0], iterator_type(stencil, 0)
    start = tiles.count * _number(first) // (2 * half)
    test = f"{2 * half} * {name} - {half} <= {tiles.count} * ({_text(stencil, last)}) + {tiles.count - 1}"
    yield f"for ({kind} {name} = {start}; {test}; {name}++) {{\n"
    for phase in (0, 1):
        yield from _tile(tiles, phase)
    yield "}\n"


def _tile(tiles: _StagedTiles, phase: int) -> Iterator[str | _TileStatement]:
    stencil = tiles.stencil
    for k, name in enumerate(stencil.tiles[1:], 1):
        low, high = stencil.bounds[k]
        size = tiles.shape.sizes[k - 2] if k > 1 else tiles.period
        last = size - 1 if k > 1 else tiles.last(phase)
        start = -((last - _number(low)) // size)
        head = f"for ({iterator_type(stencil, k)} {name} = {start}; "
        yield f"{head}{tiles.origin(k, phase)} <= {_text(stencil, high)}; {name}++)\n"
    yield "{\n"
    for one in stencil.written:
        yield _copy(tiles, one, phase, loads=True)
    first = tiles.start(phase)
    yield f"{tiles.loop(0, first, f'{first} + {2 * tiles.steps - 1}')}{{\n"
    for place, statement in enumerate(stencil.program.statements):
        yield _row(tiles, phase, place, statement)
    yield "}\n"
    for one in stencil.written:
        yield _copy(tiles, one, phase, loads=False)
    yield "}\n"


def _copy(tiles: _StagedTiles, written: WrittenArray, phase: int, *, loads: bool) -> _TileStatement:
    stencil, loops = tiles.stencil, tiles.stencil.loops
    box = tiles.box(phase, around=loads)
    cells = written.touched if loads else _written(stencil.program, written.array.name)
    sides = tiles.cell(written, phase), global_cell(stencil, written.array.name)
    left, right = sides if loads else sides[::-1]
    heads = "".join(tiles.loop(k, low, high) for k, (low, high) in enumerate(box, 1))
    tile = tuple(f"{low} <= {loops[k]} <= {high}" for k, (low, high) in enumerate(box, 1))
    text = f"{heads}{cell_test(stencil.program, cells, loops[1:])}{left} = {right};\n"
    return _TileStatement(text, tile, array=written.array.name, loads=loads)


def _row(tiles: _StagedTiles, phase: int, place: int, statement: Statement) -> _TileStatement:
    """The instances of a statement in a step, by the formulas of `hexagons`."""
    stencil, shape, row = tiles.stencil, tiles.shape, tiles.row(phase, place)
    name, slope, h = stencil.loops[1], shape.slopes[0], shape.half - 1
    left, right, w = slope.backwards, slope.forwards, shape.width
    cell = f"({name} - {tiles.period} * {stencil.tiles[1]} - {tiles.begin(phase)})"
    tests = [
        f"{cell} + {left} * {row} >= 0",
        f"{cell} <= {w - 1} + {right} * {row}",
        f"{cell} >= {-left * h} + {right} * ({row} - {shape.half})",
        f"{cell} <= {w - 1 + right * h} - {left} * ({row} - {shape.half})",
    ]
    box = tiles.box(phase, around=False)[:1]
    for k, (size, own) in enumerate(zip(shape.sizes, shape.slopes[1:], strict=True), 2):
        low = f"{size} * {stencil.tiles[k]} - {own.backwards} * {row}"
        box.append((low, f"{low} + {size - 1}"))
    heads = "".join(tiles.loop(k, low, high) for k, (low, high) in enumerate(box, 1))
    domain = cell_test(stencil.program, statement.domain, stencil.loops)
    operation = operation_text(stencil, statement, lambda one, offsets: tiles.cell(one, phase, offsets))
    inside = tuple(f"{low} <= {stencil.loops[k]} <= {high}" for k, (low, high) in enumerate(box, 1))
    time = f"0 <= {row} < {2 * shape.half}"
    text = f"{heads}{domain}if ({' && '.join(tests)}) {operation}\n"
    return _TileStatement(text, (time, *inside, *tests), statement=statement.name)


def _text(stencil: Stencil, bound: isl.Aff) -> str:
    return affine_text(stencil.program, bound, ())


def _number(bound: isl.Aff) -> int:
    return int(bound.get_constant_val().to_python())


def _written(program: Program, name: str) -> isl.Set:
    """The cells that the steps write."""
    found = [
        access.relation.intersect_domain(one.domain).range()
        for one in program.statements
        for access in one.writes
        if access.array == name
    ]
    return union(found).coalesce()


def _buffers(tiles: _StagedTiles) -> tuple[Array, ...]:
    found: list[Array] = []
    for one in tiles.stencil.written:
        extents = tuple(str(tiles.length(k) + 2 * radius) for k, radius in enumerate(tiles.radii, 1))
        kind = unqualified(tiles.stencil.program.file.declarations.resolved(str(one.array.element_type)))
        made = replace(one.array, element_type=kind, local=True, rows=(), observed=False, addressed=False)
        found.append(replace(made, name=one.buffer, extents=extents, space=MemorySpace.SHARED))
    return tuple(found)


def _within_tiles(statement: Statement, part: _TileStatement) -> Statement:
    """The statement with times only in its tile, which determines the full tiles."""
    tile = instances_where(statement, " && ".join(part.tile))
    return replace(statement, schedule=statement.schedule.intersect_domain(tile))
