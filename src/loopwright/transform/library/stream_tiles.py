"""The formulas of streamed tiles: rows, columns, levels, validity and last writer of a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from loopwright.c.tokens import bracketed
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import GPU
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.sets import DIM
from loopwright.transform.library.accesses import affine_text
from loopwright.transform.library.stencils import Stencil, WrittenArray, bounds_of
from loopwright.transform.storage import unused_name

Cell = tuple[str, ...]
ROWS = 4
"""The rows kept per level: three, and for level 0 also the one loaded for the next step."""


@dataclass(frozen=True)
class ClaimedWrite:
    """The write of the statement called `key` at the iterators `at`, other iterators are unchanged."""

    key: str
    at: Mapping[str, str] = field(default_factory=dict)
    when: str = ""

    def also(self, when: str) -> ClaimedWrite:
        return replace(self, when=" && ".join(one for one in (self.when, when) if one))


@dataclass(frozen=True)
class StreamRole:
    """The role of a new statement: it computes an instance, holds a cell before a step, or neither.

    `valid` is the condition for that; elsewhere the value is unknown. `asked` is simpler and weaker.  `seen`
    are the writes that its reads see.
    """

    key: str
    statement: str = ""
    array: str = ""
    point: tuple[str, ...] = ()
    time: str = ""
    valid: str = ""
    asked: str = ""
    seen: tuple[tuple[ClaimedWrite, ...], ...] = ()
    number: int = -1
    """The pass; none for the rest."""


@dataclass(frozen=True)
class StreamTile:
    """The formulas of one of the two passes, in the iterators of its text."""

    stencil: Stencil
    number: int
    warps: int = 0
    """The number of warps that share a tile, in three dimensions; otherwise each warp has its own tile."""
    trimmed: bool = False
    """Whether tiles have no halos beyond the ends of loops, except the marching loop."""

    @property
    def program(self) -> Program:
        return self.stencil.program

    @property
    def steps(self) -> int:
        return self.stencil.sizes[0]

    @property
    def levels(self) -> int:
        """T."""
        return 2 * self.steps

    @property
    def rows(self) -> int:
        return self.stencil.sizes[1]

    @property
    def width(self) -> int:
        return self.stencil.sizes[-1]

    @property
    def loops(self) -> range:
        """The loops of a step: the marching loop, in three dimensions that of strips, columns."""
        return range(1, len(self.stencil.sizes))

    @property
    def is_solid(self) -> bool:
        """Whether there are three dimensions: several warps share a tile, and a lane has rows of a plane."""
        return len(self.stencil.sizes) == 4

    @property
    def strips(self) -> int:
        """The rows of a plane that a lane has, and the adjacent ones."""
        return self.own_strips + 2

    @property
    def own_strips(self) -> int:
        """The rows that only this lane has."""
        return self.stencil.sizes[2]

    @property
    def columns(self) -> int:
        """The columns of a tile, without its halos."""
        return GPU.lanes * self.width - 2 * self.levels

    def name(self, wanted: str) -> str:
        return unused_name(self.program, wanted)

    @cached_property
    def own(self) -> str:
        return self.name(f"{self.stencil.written[0].array.name}_own{self.number + 1}")

    @cached_property
    def names(self) -> dict[str, str]:
        return {one: self.name(one) for one in ("x", "r", "v", "c", "q", "p", "w")}

    @cached_property
    def ends(self) -> str:
        """The shared array: for each level, the first and last rows of every warp, in alternating buffers."""
        return self.name(f"{self.stencil.written[0].array.name}_ends{self.number + 1}")

    def end(self, key: str, turn: str, warp: str, level: str) -> str:
        """The first or the last row of a warp at a level, of one of the two buffers."""
        x, c, which = self.names["x"], self.names["c"], ("first", "last").index(key)
        place = f"2 * ({level})" if which == 0 else f"2 * ({level}) + {which}"
        return f"{self.ends}[{turn}][{warp}][{place}][{x}][{c} - 1]"

    def low(self, loop: int) -> str:
        return affine_text(self.program, self.stencil.bounds[loop][0], ())

    def high(self, loop: int) -> str:
        return affine_text(self.program, self.stencil.bounds[loop][1], ())

    def size(self, loop: int) -> int:
        """The size of a tile without its halos."""
        if loop == self.loops[-1]:
            return self.columns
        if self.warps and loop == 2:
            return self.warps * self.own_strips - 2 * self.levels
        return self.stencil.sizes[loop]

    def origin(self, loop: int) -> str:
        """The first own row or column of the tile."""
        tile = f"{self.size(loop)} * {self.stencil.tiles[loop]}"
        if self.is_trimmed(loop):
            tile = f"{tile} + {self.levels}"
        if loop == self.loops[-1] and self.indent:
            tile = f"{tile} - {self.indent}"
        return tile if self.low(loop) == "0" else f"{self.low(loop)} + {tile}"

    @property
    def indent(self) -> int:
        """The columns by which the tiles of one warp begin earlier, so that a lane copies its own at once."""
        low, halo = self.low(self.loops[-1]), self.levels
        if self.warps or not low.isdigit() or 2 * halo % self.width:
            return 0
        return (int(low) - halo) % self.width

    def is_trimmed(self, loop: int) -> bool:
        """Whether tiles have no halo beyond the ends of the loop: these cells belong to the tile."""
        return self.trimmed and loop > 1

    def is_first(self, loop: int) -> str:
        return f"{self.stencil.tiles[loop]} = 0"

    def is_last(self, loop: int) -> str:
        """The condition that a tile reaches the end of the loop."""
        return f"{self.origin(loop)} + {self.size(loop) + self.levels} > {self.high(loop)}"

    def exists(self, loop: int) -> str:
        """The condition that earlier tiles leave cells; there are cells for a halo at both ends."""
        more = f" + {self.levels}" if self.is_trimmed(loop) else ""
        return f"{self.origin(loop)}{more} <= {self.high(loop)}"

    @property
    def few(self) -> tuple[str, ...]:
        """The condition that one tile has all cells along one of the loops with trimmed tiles."""
        trimmed = [k for k in self.loops if self.is_trimmed(k)]
        tests = (f"{self.low(k)} + {self.size(k) + 2 * self.levels} > {self.high(k)}" for k in trimmed)
        return tuple(dict.fromkeys(tests))

    def place(self, level: str, column: str | int, back: int = 0, strip: str | int = "") -> tuple[str, ...]:
        """The cell of a lane in row ρ(r - back, level); in three dimensions in strip p of it, or `strip`."""
        less = "" if level == "0" else f" - ({level})"
        row = f"{self.origin(1)} + {self.names['r']} - {self.levels + 1 + back}{less}"
        strips, last = list[str](), self.origin(self.loops[-1])
        if self.warps:
            strip = self.names["p"] if strip == "" else strip
            warp = f"{self.own_strips} * {self.names['w']}"
            strips = [f"{self.origin(2)} + {warp} + {strip} - {self.levels + 1}"]
        return row, *strips, f"{last} + {self.width} * {self.names['x']} + {column} - {self.levels + 1}"

    def is_own(self) -> str:
        """The condition that a column, and a strip if warps share a tile, is outside the halos."""
        x, c, p, w = (self.names[one] for one in "xcpw")
        places = [(x, c, self.width, GPU.lanes, self.loops[-1])]
        if self.warps:
            places += [(w, p, self.own_strips, self.warps, 2)]
        halo, tests = self.levels, list[str]()
        for lane, cell, own, count, loop in places:
            place = f"{own} * {lane} + {cell} - 1"
            low, high = f"{halo} <= {place}", f"{place} <= {own * count - halo - 1}"
            if halo % own == 0:
                low, high = f"{halo // own} <= {lane}", f"{lane} <= {count - halo // own - 1}"
            if self.is_trimmed(loop):
                low = f"({low} || {self.is_first(loop).replace('=', '==')})"
                high = f"({high} || {self.is_last(loop)})"
            tests += [low, high]
        return " && ".join(tests)

    def touched_range(self, side: int, loop: int) -> tuple[str, str]:
        """The cells that the steps touch of the array of even levels, or of odd ones, along a loop."""
        cells = step_arrays(self.stencil)[1 - side].touched
        ends = bounds_of(only(cells, DIM, loop - 1).reset_tuple_id(), self.stencil.loops[loop])
        return affine_text(self.program, ends[0], ()), affine_text(self.program, ends[1], ())

    def inside(self, cell: Cell, side: int) -> str:
        """The condition that the steps may access a cell, of the array of even levels or of odd ones."""
        ends = [(*self.touched_range(side, k), text) for k, text in zip(self.loops, cell, strict=True)]
        return " && ".join(f"{low} <= {text} && {text} <= {high}" for low, high, text in ends)

    def written(self, statement: Statement, cell: Cell, along: int = 0) -> str:
        """The condition that the statement writes it, or that it may along one loop."""
        pairs = [(k, text) for k, text in zip(self.loops, cell, strict=True) if along in (0, k)]
        ends = [(*self.written_range(statement, k), text) for k, text in pairs]
        return " && ".join(f"{low} <= {text} && {text} <= {high}" for low, high, text in ends)

    def unwritten(self, statement: Statement, cell: Cell, loop: int) -> str:
        """The condition that the statement does not write it, for any position along the other loops."""
        low, high = self.written_range(statement, loop)
        return f"{cell[loop - 1]} < {low} || {cell[loop - 1]} > {high}"

    def unwritten_anywhere(self, statement: Statement, cell: Cell) -> str:
        """The condition that the statement does not write it, along any of the loops."""
        return " || ".join(self.unwritten(statement, cell, k) for k in self.loops)

    def written_range(self, statement: Statement, loop: int) -> tuple[str, str]:
        values = only(statement.domain, DIM, loop).reset_tuple_id()
        first, last = bounds_of(values, statement.iterators[loop])
        return affine_text(self.program, first, ()), affine_text(self.program, last, ())

    def near(self, cell: Cell, level: str) -> str:
        """The condition that a cell is near enough to the tile for its value at a level to be known."""
        margin, tests = f"{self.levels} - ({level})", list[str]()
        for k, text in zip(self.loops, cell, strict=True):
            low = f"{self.origin(k)} - ({margin}) <= {text}"
            high = f"{text} <= {self.origin(k)} + {self.size(k) - 1} + {margin}"
            if self.is_trimmed(k):
                low, high = f"({low} || {self.is_first(k)})", f"({high} || {self.is_last(k)})"
            tests += [low, high]
        return " && ".join(tests)

    def known(self, cell: Cell, level: str, side: int) -> str:
        return f"{self.near(cell, level)} && {self.inside(cell, side)}"

    @property
    def inner(self) -> str:
        """The condition that a tile is at no border except those along the march."""
        places = {k: (self.origin(k), self.size(k) - 1) for k in self.loops[1:]}
        low = {k: f"{place} - {self.levels}" for k, (place, _) in places.items()}
        high = {k: f"{place} + {size + self.levels}" for k, (place, size) in places.items()}
        return self._within(low, high)

    def at_border(self, statement: Statement) -> str:
        """Whether a tile needs cells that the statement does not write, at ends of loops other than rows."""
        tests: list[str] = []
        for k in self.loops[1:]:
            low, high = self.written_range(statement, k)
            tests += [f"{self.origin(k)} - {self.levels} < {low}"]
            tests += [f"{self.origin(k)} + {self.size(k) - 1 + self.levels} > {high}"]
        return " || ".join(tests)

    def kept(self, statement: Statement, cell: Cell) -> str:
        """The condition that a tile may load a cell that the statement does not write, or one next to it.

        A warp's own tile at a border loads all its cells, and none is further away than its length.
        """
        if self.warps:
            return self.unwritten_anywhere(statement, cell)
        tests = [self.unwritten(statement, cell, 1)]
        for k in self.loops[1:]:
            low, high = self.written_range(statement, k)
            reach = self.size(k) + 2 * self.levels - 2
            tests += [f"{cell[k - 1]} <= {low} + {reach} || {cell[k - 1]} >= {high} - {reach}"]
        return " || ".join(tests)

    @property
    def between(self) -> str:
        """The condition that a step of the march loads, computes and stores only rows away from borders."""
        row = f"{self.origin(1)} + {self.names['r']}"
        return self._within({1: f"{row} - {2 * self.levels + 1}"}, {1: f"{row} - {self.levels}"})

    def _within(self, low: Mapping[int, str], high: Mapping[int, str]) -> str:
        """The condition that the statements may write cells from `low` to `high`, along these loops."""
        tests: list[str] = []
        for one in self.program.statements:
            ends = {k: self.written_range(one, k) for k in self.loops}
            tests += [f"{ends[k][0]} <= {place}" for k, place in low.items()]
            tests += [f"{place} <= {ends[k][1]}" for k, place in high.items()]
        return " && ".join(dict.fromkeys(tests))

    @property
    def start(self) -> str:
        """The first step of the pass."""
        steps = f"{2 * self.steps} * {self.stencil.tiles[0]} + {self.number * self.steps}"
        return steps if self.low(0) == "0" else f"{self.low(0)} + {steps}"

    @property
    def last_step(self) -> str:
        return f"{self.start} + {self.steps - 1}"

    def time(self, side: int, step: str) -> str:
        """The step of P before which a level has the values of its array."""
        return f"{self.start} + {step} + {side}" if side else f"{self.start} + {step}"

    def kind(self, loop: int) -> str:
        types = self.program.statements[0].iterator_types
        return types[loop] if types else "int"

    def nest(self, names: Sequence[str], ends: Callable[[int], tuple[str, str]]) -> str:
        """Loops over cells, under these names, from the first to the last one along each loop."""
        places = [(k, name, *ends(k)) for k, name in zip(self.loops, names, strict=True)]
        return "".join(
            f"for ({self.kind(k)} {name} = {low}; {name} <= {high}; {name}++) "
            for k, name, low, high in places
        )

    def loop(self, name: str, first: int, last: int) -> str:
        used = self.names[name]
        return f"for ({self.kind(self.loops[-1])} {used} = {first}; {used} <= {last}; {used}++) "

    @property
    def strip_loop(self) -> str:
        """The loop over the strips of a lane; none in two dimensions."""
        return self.loop("p", 1, self.own_strips) if self.warps else ""

    @property
    def lanes(self) -> str:
        """The loops of the lanes of a tile."""
        warps = self.loop("w", 0, self.warps - 1) if self.warps else ""
        return warps + self.loop("x", 0, GPU.lanes - 1)

    def cell(self, level: str, row: str | int, place: str | int, lane: str = "", strip: str = "") -> str:
        strip = f"[{strip or self.names['p']}]" if self.warps else ""
        warp = f"[{self.names['w']}]" if self.warps else ""
        return f"{self.own}{warp}[{lane or self.names['x']}][{level}][{row}]{strip}[{place}]"

    def newest(self, side: int, step: str, cell: Cell, at: Mapping[str, str]) -> tuple[ClaimedWrite, ...]:
        """The writes of the newest row of level 2 * step + side."""
        statement, v = self.program.statements[1 - side], self.names["v"]
        here = {**at, v: step if side else f"{step} - 1"}
        above = "" if side else f"{step} >= 1"
        found = [] if side else [ClaimedWrite("load A", at, f"{step} = 0")]
        after = ""
        for k in reversed(self.loops):
            inside = self.written(statement, cell, k)
            edge = " && ".join(one for one in (f"!({inside})", after) if one)
            after = " && ".join(one for one in (inside, after) if one)
            if self.warps:
                continue
            if side:
                found += [ClaimedWrite(f"first edge B {k}", here, f"{step} = 0 && {edge}")]
            if self.steps > 1 or not side:
                found += [ClaimedWrite(f"edge {'AB'[side]} {k}", here, f"{step} >= 1 && {edge}")]
        if self.warps:
            if side:
                found += [ClaimedWrite("first edge B", here, f"{step} = 0 && !({after})")]
            if self.steps > 1 or not side:
                found += [ClaimedWrite(f"edge {'AB'[side]}", here, f"{step} >= 1 && !({after})")]
        return *found, ClaimedWrite(f"compute {'AB'[side]}", here, after).also(above)


def step_arrays(stencil: Stencil) -> tuple[WrittenArray, WrittenArray]:
    """The arrays of the first and the second statement."""
    names = {one.array.name: one for one in stencil.written}
    first, second = (names[one.writes[0].array] for one in stencil.program.statements)
    return first, second


def letter(side: int) -> str:
    """The letter of an array in keys: A for even levels, B for odd ones."""
    return "AB"[side]


def element(array: str, cell: Cell) -> str:
    return array + bracketed(cell)
