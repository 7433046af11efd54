"""Streamed tiles: the lanes of a warp march along a loop of a stencil, with several steps in registers.

    stream(L, t=4, i=48, j=4)

A step has two statements, each a star of radius 1 on the array that the other one writes.  Level 0 is the
loaded values, level k the result of the k-th statement after that; a tile computes T = 2 t levels.  Along j
each of 32 lanes has W columns.  In step r of the march row ρ(r + 1, 0) is loaded and level k computes the row

    ρ(r, k)  =  top - T - 1 + r - k,      column  =  left - T + W x + c - 1  of lane x, c in 1..W

so level k needs the last three rows of level k - 1: own[x][level][2] is the newest one, and before each step
rows move down, own[x][level][0] = own[x][level][1] and so on.  The columns 0 and W + 1 of the middle row come
from the adjacent lanes.  Every cell is computed; those that a statement never writes then get back the values
of the level two below.  Cells that are more than T - k away from the tile at level k are computed from
unknown values, on which no stored value depends.  Steps that do not fill two passes come last, unchanged.

    stream(L, t=2, i=64, j=4, k=2, warps=16)

In three dimensions planes take the place of rows, and several warps share a tile: a lane has W columns of j
rows of a plane, its strips, own[w][x][level][q][p] is strip p, and strips adjacent to those of a warp are
read from their warps through shared memory.

The source around passes of streamed tiles has saved values and the steps that do not fill a pass.

Two passes alternate, from an array to a second one and back; after an odd number of them the second one is
copied back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from loopwright.c.declarations import unqualified
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import GPU
from loopwright.model.program import Array, MemorySpace, Program, Statement
from loopwright.presburger.named import values_where
from loopwright.presburger.sets import OUT
from loopwright.transform.library.accesses import affine_text
from loopwright.transform.library.loops import SizedLoop
from loopwright.transform.library.stencils import NO_STENCIL, Stencil, offsets_of, stencil_of
from loopwright.transform.library.stream_text import Line, pass_text
from loopwright.transform.library.stream_tiles import (
    ROWS,
    ClaimedWrite,
    StreamRole,
    StreamTile,
    element,
    step_arrays,
)
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import HeldCell, Redundancy, SeenWrite, replaced_text
from loopwright.transform.vectors import entry, pieces


def streamed_text(stencil: Stencil, passes: Sequence[StreamTile]) -> Iterator[Line]:
    first = passes[0]
    inner, _ = step_arrays(stencil)
    point, statement = stencil.loops[1:], stencil.program.statements[0]
    heads = first.nest(point, partial(first.touched_range, 1))
    tests = [" <= ".join(first.written_range(statement, k)) for k in (0, *first.loops)]
    if first.few:
        yield f"if ({' || '.join(first.few)}) {{\n", None
        yield from _rest(first, "all", first.low(0))
        yield "} else {\n", None
    yield f"if ({' && '.join(tests)}) {{\n", None
    kept = first.kept(statement, point)
    yield (
        f"{heads}if ({kept}) {element(inner.next, point)} = {element(inner.array.name, point)};\n",
        StreamRole("keep", array=inner.array.name, point=point, time=first.low(0)),
    )
    name = stencil.tiles[0]
    yield f"for ({first.kind(0)} {name} = 0; {first.last_step} <= {first.high(0)}; {name}++) {{\n", None
    for one in passes:
        if one.number:
            yield f"if ({one.last_step} <= {one.high(0)}) {{\n", None
        for text, role in pass_text(one):
            yield text, None if role is None else replace(role, number=one.number)
    yield "} else {\n", None
    yield _back(first)
    yield "}\n}\n}\n", None
    start, last, steps = first.low(0), first.high(0), first.steps
    yield from _rest(first, "rest", f"{start} + {steps} * (({last} - ({start}) + 1) / {steps})")
    if first.few:
        yield "}\n", None


def _back(tile: StreamTile) -> Line:
    """Copy back the result of the last pass after an odd number of passes."""
    _, outer = step_arrays(tile.stencil)
    statement = tile.program.statements[1]
    heads = tile.nest(statement.iterators[1:], partial(tile.written_range, statement))
    point, array = statement.iterators[1:], outer.array.name
    role = StreamRole("back", array=array, point=point, time=tile.time(0, str(tile.steps)))
    return f"{heads}{element(array, point)} = {element(outer.next, point)};\n", role


def _rest(tile: StreamTile, key: str, begin: str) -> Iterator[Line]:
    """The unchanged steps from one on: those that do not fill a pass, or all."""
    program, time = tile.program, tile.stencil.loops[0]
    yield f"for ({tile.kind(0)} {time} = {begin}; {time} <= {tile.high(0)}; {time}++) {{\n", None
    for one in program.statements:
        heads = tile.nest(one.iterators[1:], partial(tile.written_range, one))
        text = one.body.place.text + one.body.terminator
        yield f"{heads}{text}\n", StreamRole(f"{key} {one.name}", statement=one.name, point=one.iterators)
    yield "}\n", None


FETCHED = 2
"""The rows or planes that kernels with `prefetch` fetch into the cache before the one that they load."""


def stream(
    plan: Plan,
    component: Component,
    sizes: Sequence[SizedLoop],
    *,
    warps: int = 0,
    fetched: int = 0,
    trimmed: bool = False,
) -> tuple[Plan, Component, Component, Component]:
    """The plan with streamed tiles: everything in them, the march, and what clears registers before."""
    stencil = stencil_of(plan, component, sizes)
    passes = [StreamTile(stencil, number, warps, trimmed) for number in (0, 1)]
    _check(passes[0])
    texts: list[str] = []
    roles: list[StreamRole] = []
    for text, role in streamed_text(stencil, passes):
        texts.append(text)
        roles += [] if role is None else [role]
    after = replaced_text(plan.program, "".join(texts), _storage(stencil, passes), len(roles))
    made, *parts = _planned(stencil, passes, after, roles)
    return replace(made, fetched=fetched), parts[0], parts[1], parts[2]


def _misuse(message: str, hint: str = NO_STENCIL, argument: str = "target") -> Misuse:
    return Misuse(Code.LOOPS_DO_NOT_FIT, message, argument=argument, hint=hint)


def _check(tile: StreamTile) -> None:
    """Two statements on two or three loops, each a star of radius 1 on the array of the other."""
    stencil = tile.stencil
    statements = stencil.program.statements
    names = [one.writes[0].array for one in statements]
    if len(stencil.sizes) not in (3, 4) or len(statements) != 2 or len(set(names)) != 2:
        message = "tiles are streamed of two statements in two or three loops inside of the steps"
        raise _misuse(message, "let a step write a second array from the first one, then the first one back")
    for one, array in zip(statements, reversed(names), strict=True):
        for access in one.reads:
            if access.array not in names:
                raise _misuse(f"{one.name} reads {access.array}, which is not an array of the steps")
            if access.array != array or sum(map(abs, offsets_of(one, access))) > 1:
                shown = " ".join(access.place.text.split())
                hint = "let it read cells that differ by 1 along one loop; 'overlap' takes other distances"
                raise _misuse(f"{one.name} reads {shown}, which no lane has when it is needed", hint)
    if any(one.carried is not (one.array.name == names[1]) for one in stencil.written):
        raise _misuse("a step begins with another array than the one that the step before ends with")
    resolved = stencil.program.file.declarations.resolved
    if len({unqualified(resolved(str(one.array.element_type))) for one in stencil.written}) != 1:
        raise _misuse("the arrays of the steps have elements of several types")
    if tile.columns < 1:
        lanes = f"{GPU.lanes} lanes of {tile.width} columns"
        message = f"{lanes} have no more than the halo of {tile.levels} half steps"
        raise _misuse(message, "take fewer steps or more columns", "sizes")
    _check_warps(tile)


def _check_warps(tile: StreamTile) -> None:
    if tile.trimmed and not tile.warps:
        raise _misuse("tiles that several warps share are trimmed", "leave 'trimmed' out", "trimmed")
    if tile.is_solid and not tile.warps:
        raise _misuse("a tile of three dimensions has more than one warp", "give 'warps'", "sizes")
    if not tile.warps:
        return
    if not tile.is_solid:
        raise _misuse("several warps share tiles of three dimensions", "leave 'warps' out", "sizes")
    most = GPU.most_threads // GPU.lanes
    if not 2 <= tile.warps <= most:
        raise _misuse(f"{tile.warps} warps, where a block has 2 to {most}", "change 'warps'", "sizes")
    ends = (tile.levels, tile.warps * tile.own_strips - tile.levels - 1)
    if tile.size(2) < 1 or len({row // tile.own_strips for row in ends}) == 1:
        rows = f"{tile.warps} warps of {tile.own_strips} rows"
        message = f"{rows} have no more than one warp's beside the halo of {tile.levels} half steps"
        raise _misuse(message, "take fewer steps, more warps or more rows", "sizes")


def _storage(stencil: Stencil, passes: Sequence[StreamTile]) -> tuple[Array, ...]:
    """The registers of the lanes, and second arrays."""
    program, found = stencil.program, []
    ends = [last.add_constant_val(isl.Val(1)) for _, last in stencil.bounds[1:]]
    extents = tuple(affine_text(program, one, ()) for one in ends)
    for one in stencil.written:
        kind = unqualified(program.file.declarations.resolved(str(one.array.element_type)))
        made = replace(one.array, element_type=kind, local=True, rows=(), observed=False, addressed=False)
        found.append(replace(made, name=one.next, extents=extents, space=MemorySpace.HEAP))
    for tile in passes:
        strips = (tile.strips,) if tile.warps else ()
        warps = (tile.warps,) if tile.warps else ()
        if warps:
            sizes = (2, tile.warps, 2 * tile.levels, GPU.lanes, tile.width)
            extents = tuple(map(str, sizes))
            found.append(replace(made, name=tile.ends, extents=extents, space=MemorySpace.SHARED))
        sizes = (*warps, GPU.lanes, tile.levels + 1, ROWS, *strips, tile.width + 2)
        found.append(replace(made, name=tile.own, extents=tuple(map(str, sizes)), space=MemorySpace.PRIVATE))
    return tuple(found)


def _planned(
    stencil: Stencil, passes: Sequence[StreamTile], after: Program, roles: Sequence[StreamRole]
) -> tuple[Plan, Component, Component, Component]:
    plan, fresh = stencil.plan, Plan.of(after)
    pairs = list(zip(after.statements, roles, strict=True))
    places = {one.name: [position for position, _ in pieces(one.schedule)] for one, _ in pairs}
    in_tiles = {one.name: (one, role.key) for one, role in pairs if role.number >= 0}
    cleared = [one.name for one, role in pairs if role.key == "clear"]

    def component(names: Iterable[str]) -> Component:
        return Component.of(place for name in names for place in places[name])

    components = {one.name: fresh.components[one.name] for one in after.statements}
    for handle, before in plan.components.items():
        if handle in components or handle.startswith("@"):
            continue
        old = set(plan.statements_at(before))
        own = [one.name for one, role in pairs if role.statement in old]
        components[handle] = component(name for name in own if name in in_tiles)
        components[f"{handle}_rest"] = component(name for name in own if name not in in_tiles)
    for handle, key in (("Kept", "keep"), ("Back", "back")):
        components[handle] = component(one.name for one, role in pairs if role.key == key)
    marching = [name for name in in_tiles if name not in cleared]
    parts = component(in_tiles), component(marching), component(cleared)
    claims = _StreamClaims(stencil, pairs)
    stored = replace(plan.stored(after, claims.redundancy()), leaves=fresh.leaves, components=components)
    if passes[0].warps:
        # One version for all tiles: border tests are short, and more code costs registers and proof time.
        return stored, *parts
    inner, between = passes[0].inner, passes[0].between
    apart = {name: claims.within(one, inner) for name, (one, _) in in_tiles.items()}
    along = {
        name: one.domain if key == "clear" else claims.within(one, between)
        for name, (one, key) in in_tiles.items()
    }
    return replace(stored, apart=(apart,), along=along), *parts


@dataclass(frozen=True)
class _StreamClaims:
    """The claims about the new program, for its proof."""

    stencil: Stencil
    pairs: list[tuple[Statement, StreamRole]]

    def redundancy(self) -> Redundancy:
        computes = {one.name: role.statement for one, role in self.pairs if role.statement}
        held = {one.name: self._held(one, role) for one, role in self.pairs if role.array}
        idle = frozenset(one.name for one, role in self.pairs if role.key == "clear")
        seen: dict[tuple[str, int], tuple[SeenWrite, ...]] = {}
        keys = {(role.number, role.key): one for one, role in self.pairs}
        for one, role in self.pairs:
            numbers = [k for k, access in enumerate(one.accesses) if not access.is_write]
            for k, sources in zip(numbers, role.seen, strict=False):
                if sources:
                    writers = [keys[-1 if each.key == "keep" else role.number, each.key] for each in sources]
                    seen[one.name, k] = tuple(map(partial(self._seen, one), writers, sources))
        computing = [(one, role) for one, role in self.pairs if role.statement]
        named = {one.name: self._instance(one, role) for one, role in computing}
        valid = {one.name: self.within(one, role.valid) for one, role in self.pairs if role.valid}
        asked = {one.name: self.within(one, role.asked) for one, role in computing if role.asked}
        return Redundancy(computes, held, valid, asked, named, idle, seen)

    def _seen(self, reader: Statement, writer: Statement, source: ClaimedWrite) -> SeenWrite:
        target = [source.at.get(name, name) for name in writer.iterators]
        return SeenWrite(writer.name, self._formula(reader, source.when, writer.name, target))

    def _instance(self, new: Statement, role: StreamRole) -> isl.Map:
        """The instance of P that an instance computes, if any."""
        return self._formula(new, "", role.statement, role.point)

    def _held(self, copy: Statement, role: StreamRole) -> HeldCell:
        """The copied cell, with its time: before a step of P."""
        length = self.stencil.program.statements[0].schedule.dim(OUT)
        vector = ["0"] * length
        vector[0] = str(self.stencil.plan.leaves[0].position[0])
        vector[entry(0)], vector[entry(0) + 1] = role.time, "-1"
        cell = self._formula(copy, role.asked, role.array, role.point)
        return HeldCell(cell, self._formula(copy, role.asked, "", vector))

    def within(self, statement: Statement, condition: str) -> isl.Set:
        """The instances of a statement within it."""
        return self._formula(statement, condition, "", ()).domain()

    def _formula(self, statement: Statement, valid: str, target: str, values: Sequence[str]) -> isl.Map:
        """{ S[i] -> target[values] : valid }, on the instances of the statement."""
        parameters, value = self.stencil.program.params, (target, values)
        found = values_where(parameters, statement.name, statement.iterators, value, valid)
        found = found.align_params(statement.domain.get_space().params())
        return found.intersect_domain(statement.domain).set_tuple_id(
            isl.dim_type.in_, statement.domain.get_tuple_id()
        )
