"""Generates the source of a pass of streamed tiles, statement by statement, with the role of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.model.annotations import GPU
from loopwright.transform.library.overlapping import operation_text
from loopwright.transform.library.stencils import WrittenArray, offsets_of
from loopwright.transform.library.stream_tiles import (
    ROWS,
    Cell,
    ClaimedWrite,
    StreamRole,
    StreamTile,
    element,
    letter,
    step_arrays,
)

Line = tuple[str, StreamRole | None]


def pass_text(tile: StreamTile) -> Iterator[Line]:
    """The source of a tile, with the roles of its statements."""
    for k in tile.loops:
        name = tile.stencil.tiles[k]
        yield f"for ({tile.kind(k)} {name} = 0; {tile.exists(k)}; {name}++)\n", None
    everything = tile.loop("v", 0, tile.levels) + tile.loop("q", 0, ROWS - 1)
    everything += tile.loop("p", 0, tile.strips - 1) if tile.warps else ""
    everything += tile.loop("c", 0, tile.width + 1)
    yield (
        f"{{\n{tile.lanes}{everything}{tile.cell(tile.names['v'], tile.names['q'], tile.names['c'])} = 0;\n",
        StreamRole("clear"),
    )
    if tile.warps:
        yield from _cleared_ends(tile)
    yield f"{tile.loop('r', 0, tile.rows + 2 * tile.levels)}{{\n", None
    yield from _shared_step(tile) if tile.warps else _step(tile)
    yield "}\n}\n", None


def _step(tile: StreamTile) -> Iterator[Line]:
    """A step of the march of one warp."""
    steps = tile.loop("v", 0, tile.steps - 1)
    yield f"{tile.lanes}{steps}{{\n", None
    for side in (0, 1):
        yield from _beside(tile, side)
    yield f"}}\n{tile.lanes}{{\n", None
    yield from _next_rows(tile)
    yield from _ahead(tile, 0)
    yield f"{steps}{{\n", None
    for side in (1, 0):
        yield from _computed(tile, side)
        yield from _edges(tile, side)
    yield "}\n", None
    yield from _ahead(tile, 1)
    yield from _stores(tile)
    yield "}\n", None


def _cleared_ends(tile: StreamTile) -> Iterator[Line]:
    """Clear the values that no step has shared yet."""
    ends, subscripts = 2 * tile.levels - 1, "".join(f"[{tile.names[one]}]" for one in "qwvxc")
    places = tile.loop("q", 0, 1) + tile.loop("v", 0, ends) + tile.loop("c", 0, tile.width - 1)
    yield f"{tile.lanes}{places}{tile.ends}{subscripts} = 0;\n", StreamRole("clear")


def _shared_step(tile: StreamTile) -> Iterator[Line]:
    """A step of the march of warps that share a tile: they exchange rows through shared memory.

    The values that a step shares are read by other warps in the next one: there are two alternating buffers,
    and one barrier, after all shared writes and stores of a step.  Two levels share as soon as the second one
    is computed. The columns and rows beside those of a lane are copied level by level.  A row is loaded after
    the first two levels, into the registers of the oldest one.
    """
    steps = tile.loop("v", 0, tile.steps - 1)
    yield f"{tile.lanes}{{\n", None
    yield from _next_rows(tile)
    yield f"}}\n{steps}{{\n", None
    for side in (1, 0):
        yield f"{tile.lanes}{{\n{tile.strip_loop}{{\n", None
        yield from _beside(tile, 1 - side)
        yield f"}}\n{tile.loop('c', 1, tile.width)}{{\n", None
        yield from _taken(tile, 1 - side)
        yield f"}}\n}}\n{tile.lanes}{{\n", None
        yield from _computed(tile, side)
        yield from _edges(tile, side)
        if side:
            yield f"{tile.loop('c', 1, tile.width)}{{\n", None
            for given in (0, 1):
                yield from _given(tile, given)
            yield "}\n", None
        else:
            yield _freed(tile)
            yield from _ahead(tile, 0)
            yield from _stores(tile)
        yield "}\n", None
    yield "}\n", None


def _freed(tile: StreamTile) -> Line:
    """If nothing is loaded, put an unused row in its place, so that no row must be kept for that."""
    v, c = tile.names["v"], tile.names["c"]
    columns = tile.strip_loop + tile.loop("c", 1, tile.width)
    cell, seen = tile.place("0", c), (ClaimedWrite("last A"),)
    role = _held(tile, "free", 0, cell, seen, time=tile.start, valid="1 = 0")
    return f"if ({v} == 0) {columns}{tile.cell('0', 3, c)} = {tile.cell('0', 0, c)};\n", role


def _next_rows(tile: StreamTile) -> Iterator[Line]:
    """Move rows down; level 0 gets the loaded one."""
    steps = tile.loop("v", 0, tile.steps - 1)
    yield f"{steps}{tile.strip_loop}{tile.loop('c', 1, tile.width)}{{\n", None
    for side in (0, 1):
        yield from _moved(tile, side)
    yield "}\n", None
    yield from _loads(tile)


def _held(
    tile: StreamTile,
    key: str,
    side: int,
    cell: Cell,
    *seen: tuple[ClaimedWrite, ...],
    time: str,
    level: str = "",
    valid: str = "",
) -> StreamRole:
    """A copy of a cell of one of the arrays, where it is known at a level, or where `valid` holds."""
    array = tile.program.statements[1 - side].writes[0].array
    asked = tile.inside(cell, side) if level else valid
    valid = tile.known(cell, level, side) if level else valid
    key = f"{key} {letter(side)}"
    return StreamRole(key, array=array, point=cell, time=time, valid=valid, asked=asked, seen=seen)


def _held_middle(
    tile: StreamTile, key: str, side: int, cell: Cell, seen: tuple[ClaimedWrite, ...]
) -> StreamRole:
    """The middle rows of a level before it computes in a step of the march."""
    time = tile.time(side, tile.names["v"])
    return _held(tile, key, side, cell, seen, time=time, level=_level(tile, side))


def _level(tile: StreamTile, side: int) -> str:
    """The level that has an array after v steps."""
    return f"2 * {tile.names['v']}" + (" + 1" if side else "")


def _beside(tile: StreamTile, side: int) -> Iterator[Line]:
    """The columns beside those of a lane, of the newest row, which becomes the middle one.

    If warps share a tile, it is the middle one already.
    """
    v, x, r, c, width = (*(tile.names[one] for one in "vxrc"), tile.width)
    level = _level(tile, side)
    for key, place, other, by, move in (
        ("left", 0, width, GPU.lanes - 1, "- 1"),
        ("right", width + 1, 1, 1, "+ 1"),
    ):
        cell = tile.place(level, place, 1)
        here = {x: f"{x} {move}", c: str(other)}
        middle = (ClaimedWrite(f"middle {letter(side)}", here),)
        seen = middle if tile.warps else tile.newest(side, v, cell, {r: f"{r} - 1", **here})
        role = _held_middle(tile, key, side, cell, seen)
        lane = f"({x} + {by}) % {GPU.lanes}"
        old = tile.cell(level, 1 if tile.warps else 2, other, lane)
        yield f"{tile.cell(level, 1, place)} = {old};\n", role


def _given(tile: StreamTile, side: int) -> Iterator[Line]:
    """Share the first and last rows of a warp's newest plane with adjacent warps, for the next step."""
    c, p, w, r, v = (tile.names[one] for one in "cpwrv")
    level = _level(tile, side)
    for key, strip in (("first", 1), ("last", tile.own_strips)):
        cell = tile.place(level, c, 0, strip)
        seen = tile.newest(side, v, cell, {p: str(strip)})
        role = _held_middle(tile, f"give {key}", side, cell, seen)
        target = tile.end(key, f"{r} % 2", w, level)
        yield f"{target} = {tile.cell(level, 2, c, strip=str(strip))};\n", role


def _taken(tile: StreamTile, side: int) -> Iterator[Line]:
    """Take the rows adjacent to those of a warp in the middle plane."""
    c, w, r = (tile.names[one] for one in "cwr")
    level = _level(tile, side)
    for key, strip, by, move in (
        ("last", 0, tile.warps - 1, "- 1"),
        ("first", tile.own_strips + 1, 1, "+ 1"),
    ):
        cell = tile.place(level, c, 1, strip)
        seen = (ClaimedWrite(f"give {key} {letter(side)}", {w: f"{w} {move}", r: f"{r} - 1"}),)
        role = _held_middle(tile, f"take {key}", side, cell, seen)
        source = tile.end(key, f"({r} + 1) % 2", f"({w} + {by}) % {tile.warps}", level)
        yield f"{tile.cell(level, 1, c, strip=str(strip))} = {source};\n", role


def _moved(tile: StreamTile, side: int) -> Iterator[Line]:
    """Rows move down."""
    v, r, c = (tile.names[one] for one in "vrc")
    level = _level(tile, side)
    for row in (0, 1):
        cell = tile.place(level, c, 2 - row)
        before = {r: f"{r} - 1"}
        middle = ClaimedWrite(f"middle {letter(side)}", before)
        seen = tile.newest(side, v, cell, before) if row else (middle,)
        role = _held_middle(tile, "middle" if row else "last", side, cell, seen)
        yield f"{tile.cell(level, row, c)} = {tile.cell(level, row + 1, c)};\n", role


def _loads(tile: StreamTile) -> Iterator[Line]:
    """Level 0 is the row loaded in the previous step."""
    c, r = tile.names["c"], tile.names["r"]
    columns = tile.strip_loop + tile.loop("c", 1, tile.width)
    cell = tile.place("0", c)
    seen = (ClaimedWrite("ahead A", {r: f"{r} - 1", tile.names["v"]: "0"}),)
    role = _held(tile, "load", 0, cell, seen, time=tile.start, level="0")
    yield f"{columns}{tile.cell('0', 2, c)} = {tile.cell('0', 3, c)};\n", role


def _ahead(tile: StreamTile, side: int) -> Iterator[Line]:
    """A row for the next step of the march: of level 0, or cells that the first statement never writes."""
    c, (inner, outer) = tile.names["c"], step_arrays(tile.stencil)
    cell, source = tile.place(str(side), c, -1), inner.next if side else outer.source(tile.number)
    test, valid = tile.inside(cell, side), ""
    test = f"{tile.names['v']} == 0 && {test}" if tile.warps else test
    seen: list[tuple[ClaimedWrite, ...]] = []
    if side:
        # The values saved before all tiles, as claims, because finding them takes most of the proof time.
        seen = [(ClaimedWrite("keep", dict(zip(tile.stencil.loops[1:], cell, strict=True))),)]
        statement = tile.program.statements[0]
        test = f"{test} && ({tile.unwritten(statement, cell, 1)} || {tile.at_border(statement)})"
        valid = f"!({tile.written(statement, cell)})"
    role = _held(tile, "ahead", side, cell, *seen, time=tile.start, valid=valid)
    columns = tile.strip_loop + tile.loop("c", 1, tile.width)
    yield f"{columns}if ({test}) {tile.cell(str(side), 3, c)} = {element(source, cell)};\n", role


def _edges(tile: StreamTile, side: int) -> Iterator[Line]:
    """Cells that a statement never writes, from two levels below; for the first level, as loaded.

    They follow the computed cells, along one loop after the other; if warps share a tile, along all.
    """
    v, c, r = (tile.names[one] for one in "vcr")
    columns = tile.strip_loop + tile.loop("c", 1, tile.width)
    level, below = (f"2 * {v} + 1", f"2 * {v} - 1") if side else (f"2 * {v} + 2", f"2 * {v}")
    last = ClaimedWrite(f"last {letter(side)}", {v: f"{v} - 1"} if side else {})
    loaded = ClaimedWrite(f"ahead {letter(side)}", {r: f"{r} - 1"})
    cell, time = tile.place(level, c), f"{tile.start} + {v} + 1"
    if tile.warps:
        if side:
            yield _first_edges(tile, columns, time)
        if not side or tile.steps > 1:
            test = f"({tile.unwritten_anywhere(tile.program.statements[1 - side], cell)})"
            test = f"{v} >= 1 && {test}" if side else test
            role = _held(tile, "edge", side, cell, (last,), time=time, level=level)
            yield f"{columns}if ({test}) {tile.cell(level, 2, c)} = {tile.cell(below, 0, c)};\n", role
        return
    for k in tile.loops:
        unwritten = tile.unwritten(tile.program.statements[1 - side], cell, k)
        for key, test, old, seen in (
            ("first edge", f"{v} == 0 && ", tile.cell("1", 3, c), loaded),
            ("edge", f"{v} >= 1 && " if side else "", tile.cell(below, 0, c), last),
        ):
            if not side if key == "first edge" else side and tile.steps == 1:
                continue
            role = _held(tile, key, side, cell, (seen,), time=time, level=level)
            role = replace(role, key=f"{role.key} {k}")
            yield f"{columns}if ({test}({unwritten})) {tile.cell(level, 2, c)} = {old};\n", role


def _first_edges(tile: StreamTile, columns: str, time: str) -> Line:
    """Cells that the first statement never writes, from memory: few lanes need them, without registers."""
    v, c = tile.names["v"], tile.names["c"]
    cell = tile.place("1", c)
    unwritten = tile.unwritten_anywhere(tile.program.statements[0], cell)
    test = f"{v} == 0 && {tile.inside(cell, 1)} && ({unwritten})"
    kept = ClaimedWrite("keep", dict(zip(tile.stencil.loops[1:], cell, strict=True)))
    role = _held(tile, "first edge", 1, cell, (kept,), time=time, level="1")
    source = element(step_arrays(tile.stencil)[0].next, cell)
    return f"{columns}if ({test}) {tile.cell('1', 2, c)} = {source};\n", role


def _computed(tile: StreamTile, side: int) -> Iterator[Line]:
    """A statement on the cells of a lane, including those that it never writes."""
    v, c, statement = tile.names["v"], tile.names["c"], tile.program.statements[1 - side]
    below, level = (f"2 * {v}", f"2 * {v} + 1") if side else (f"2 * {v} + 1", f"2 * {v} + 2")
    cell = tile.place(level, c)
    offsets = [offsets_of(statement, access) for access in statement.reads]
    seen = [_read(tile, 1 - side, offset, cell) for offset in offsets]

    def in_registers(array: WrittenArray, offset: Sequence[int]) -> str:
        if array.array.name == statement.writes[0].array:
            return tile.cell(level, 2, c)
        strip = _moved_by(tile.names["p"], offset[1]) if tile.warps else ""
        return tile.cell(below, 1 + offset[0], _moved_by(c, offset[-1]), strip=strip)

    role = StreamRole(
        f"compute {letter(side)}",
        statement=statement.name,
        point=(f"{tile.start} + {v}", *cell),
        valid=f"{tile.near(cell, level)} && {tile.written(statement, cell)}",
        asked=tile.written(statement, cell),
        seen=tuple(seen),
    )
    text = operation_text(tile.stencil, statement, in_registers)
    columns = tile.strip_loop + tile.loop("c", 1, tile.width)
    yield f"{columns}{text}\n", role


def _read(tile: StreamTile, side: int, offset: tuple[int, ...], cell: Cell) -> tuple[ClaimedWrite, ...]:
    """The writes that a statement sees of the level below."""
    v, c, p, own = (*(tile.names[one] for one in "vcp"), letter(side))
    down, right = offset[0], offset[-1]
    if down < 0:
        return (ClaimedWrite(f"last {own}"),)
    if down > 0:
        return tile.newest(side, v, (f"{cell[0]} + 1", *cell[1:]), {})
    if not right:
        moved = {p: _moved_by(p, offset[1])} if tile.warps else {}
        middle = ClaimedWrite(f"middle {own}", moved)
        if not tile.warps or not offset[1]:
            return (middle,)
        end, key, test = (1, "last", ">") if offset[1] < 0 else (tile.own_strips, "first", "<")
        return middle.also(f"{p} {test} {end}"), ClaimedWrite(f"take {key} {own}", {}, f"{p} = {end}")
    end, key, test = (1, "left", ">") if right < 0 else (tile.width, "right", "<")
    inner = ClaimedWrite(f"middle {own}", {c: _moved_by(c, right)}, f"{c} {test} {end}")
    return inner, ClaimedWrite(f"{key} {own}", {}, f"{c} = {end}")


def _stores(tile: StreamTile) -> Iterator[Line]:
    """Store the last level, and the one before it if no steps are left."""
    inner, outer = step_arrays(tile.stencil)
    columns = tile.strip_loop + tile.loop("c", 1, tile.width)
    c, r = (tile.names[one] for one in "cr")
    cell = tile.place(str(tile.levels), c)
    test = f"{r} > {2 * tile.levels} && {tile.is_own()}"
    if tile.warps:
        test = f"{tile.names['v']} == {tile.steps - 1} && {test}"
    end = tile.time(0, str(tile.steps))
    target, _ = outer.target(tile.number)
    cells = tile.written(tile.program.statements[1], cell) if tile.number else tile.inside(cell, 0)
    seen = tile.newest(0, str(tile.steps), cell, {})
    role = StreamRole("store A", array=outer.array.name, point=cell, time=end, seen=(seen,))
    own = tile.cell(str(tile.levels), 2, c)
    yield f"{columns}if ({test} && {cells}) {element(target, cell)} = {own};\n", role
    if not inner.stored.is_empty():
        middle = ClaimedWrite("middle B", {tile.names["v"]: str(tile.steps - 1)})
        role = StreamRole("store B", array=inner.array.name, point=cell, time=end, seen=((middle,),))
        cells = tile.written(tile.program.statements[0], cell)
        own = tile.cell(str(tile.levels - 1), 1, c)
        yield (
            f"if ({end} == {tile.high(0)} + 1) {columns}if ({test} && {cells}) "
            f"{element(inner.array.name, cell)} = {own};\n",
            role,
        )


def _moved_by(name: str, distance: int) -> str:
    return f"{name} {'+' if distance > 0 else '-'} {abs(distance)}" if distance else name
