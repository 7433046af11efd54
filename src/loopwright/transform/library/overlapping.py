"""Overlapped tiles: each tile computes several steps of a stencil, and the values it needs of its neighbours.

    overlap(L, t=4, i=32, j=64)

A tile of T steps and X cells copies its cells and a halo into buffers, computes the steps there, each on a
smaller part, and stores its own cells.  With r_s the radius of statement s, instance (t, x) of s executes in
the tile of origin (t0, x0) if

    x0 - m  <=  x  <  x0 + X + m,     m = (T - 1 - (t - t0)) sum r  +  sum of r_s' for s' after s

So cells near borders are computed by several tiles: the order is a relation of instances and times, not a
function.  With `whole`, every step computes as many cells as the first, so that the loops of a tile have
constant trip counts: no stored value depends on values outside these bounds.  Tiles of the same steps are
independent, since they load from an array and store to another; the tiles of the next steps load from that
one and store to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import unqualified
from loopwright.c.tokens import bracketed
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Array, MemorySpace, Program, Statement
from loopwright.presburger.functions import coordinate
from loopwright.presburger.named import parameter_names, points_where
from loopwright.presburger.sets import DIV, OUT, PARAM, basic_sets
from loopwright.transform.library.accesses import affine_text
from loopwright.transform.library.loops import SizedLoop
from loopwright.transform.library.stencils import NO_STENCIL, Stencil, WrittenArray, offsets_of, stencil_of
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import HeldCell, Redundancy, replaced_text
from loopwright.transform.vectors import entry, pieces


@dataclass(frozen=True)
class _Role:
    """The role of a new statement: compute `statement`, or copy cells of `array`."""

    statement: str = ""
    array: str = ""
    bounds: str = ""
    """The condition on instances that compute a value, in the iterators of the source; all, if empty."""
    step: int = 0
    """Copied cells have their values before the first step of the pair of tiles plus this number."""
    reads: bool = True


def overlap(
    plan: Plan, component: Component, sizes: Sequence[SizedLoop], *, whole: bool = False
) -> tuple[Plan, Component, Component]:
    """Return the plan with overlapped tiles, everything in the tiles, and the copies in them."""
    stencil = stencil_of(plan, component, sizes)
    texts: list[str] = []
    roles: list[_Role] = []
    for number in (0, 1):
        for text, role in _tile(stencil, number, whole=whole):
            texts.append(text)
            roles += [] if role is None else [role]
    first, last = (affine_text(plan.program, one, ()) for one in stencil.bounds[0])
    kind, name, pair = iterator_type(stencil, 0), stencil.tiles[0], 2 * stencil.sizes[0]
    head = f"for ({kind} {name} = 0; {first} + {pair} * {name} <= {last}; {name}++)"
    text = f"{head} {{\n{''.join(texts)}}}\n"
    after = replaced_text(plan.program, text, _storage(stencil), len(roles))
    return _planned(stencil, after, roles)


def _tile(stencil: Stencil, number: int, *, whole: bool) -> Iterator[tuple[str, _Role | None]]:
    """The source of a tile, with the roles of its statements."""
    program, steps = stencil.program, stencil.sizes[0]
    first, last = (affine_text(program, one, ()) for one in stencil.bounds[0])
    start = f"{first} + {2 * steps} * {stencil.tiles[0]} + {number * steps}"
    for k, name in enumerate(stencil.tiles[1:], 1):
        high = affine_text(program, stencil.bounds[k][1], ())
        kind = iterator_type(stencil, k)
        yield f"for ({kind} {name} = 0; {_origin(stencil, k)} <= {high}; {name}++)\n", None
    yield "{\n", None
    for one in stencil.written:
        if not one.loaded.is_empty():
            copy = f"{_cell(stencil, one)} = {global_cell(stencil, one.source(number))};"
            role = _Role(array=one.array.name, step=number * steps)
            test = cell_test(program, one.loaded, stencil.loops[1:])
            yield f"{_box(stencil, stencil.halo)}{test}{copy}\n", role
    time, kind = stencil.loops[0], iterator_type(stencil, 0)
    yield f"for ({kind} {time} = {start}; {time} <= {start} + {steps - 1}; {time}++) {{\n", None
    margin = [f"{one} * ({start} + {steps - 1} - {time})" for one in stencil.step]
    for place, statement in enumerate(program.statements):
        after = [stencil.radii[later.name] for later in program.statements[place + 1 :]]
        more = [sum(one[k] for one in after) for k in range(len(stencil.step))]
        needed = [f"{one} + {two}" for one, two in zip(margin, more, strict=True)]
        most = [steps * one - one + two for one, two in zip(stencil.step, more, strict=True)]
        box = _box(stencil, most if whole else needed)
        test = cell_test(program, statement.domain, stencil.loops)
        role = _Role(statement=statement.name, bounds=_bounds(stencil, needed) if whole else "")
        text = operation_text(stencil, statement, lambda one, offsets: _cell(stencil, one, offsets))
        yield f"{box}{test}{text}\n", role
    yield "}\n", None
    for one in stencil.written:
        if one.stored.is_empty():
            continue
        target, cells = one.target(number)
        text = f"{global_cell(stencil, target)} = {_cell(stencil, one)};"
        ends = "" if one.carried else f"if ({start} <= {last} && {last} < {start} + {steps}) "
        role = _Role(array=one.array.name, step=(number + 1) * steps, reads=False)
        test = cell_test(program, cells, stencil.loops[1:])
        yield f"{ends}{_box(stencil, [0] * len(stencil.step))}{test}{text}\n", role
    yield "}\n", None


def iterator_type(stencil: Stencil, loop: int) -> str:
    types = stencil.program.statements[0].iterator_types
    return types[loop] if types else "int"


def _origin(stencil: Stencil, k: int) -> str:
    """The first own cell of a tile along loop k."""
    low = affine_text(stencil.program, stencil.bounds[k][0], ())
    tile = f"{stencil.sizes[k]} * {stencil.tiles[k]}"
    return tile if low == "0" else f"({low} + {tile})"


def _box(stencil: Stencil, margin: Sequence[str | int]) -> str:
    """Loops over the own cells of a tile, and a `margin` on both sides."""
    heads: list[str] = []
    for k, more in enumerate(margin, 1):
        name, origin = stencil.loops[k], _origin(stencil, k)
        last = f"{origin} + {stencil.sizes[k] - 1}"
        low, high = (origin, last) if more == 0 else (f"{origin} - ({more})", f"{last} + ({more})")
        heads.append(f"for ({iterator_type(stencil, k)} {name} = {low}; {name} <= {high}; {name}++) ")
    return "".join(heads)


def _bounds(stencil: Stencil, margin: Sequence[str]) -> str:
    """The same as a condition."""
    tests: list[str] = []
    for k, more in enumerate(margin, 1):
        name, origin = stencil.loops[k], _origin(stencil, k)
        tests.append(f"{origin} - ({more}) <= {name} <= {origin} + {stencil.sizes[k] - 1} + {more}")
    return " && ".join(tests)


def cell_test(program: Program, points: isl.Set, names: Sequence[str]) -> str:
    """`if (...)`, a test that the names equal the coordinates of a point."""
    conditions: list[str] = []
    for basic in basic_sets(points):
        if basic.dim(DIV):
            message = "the cells that the steps touch have gaps"
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=NO_STENCIL)
        tests = [
            f"{affine_text(program, one.get_aff(), names)} {'==' if one.is_equality() else '>='} 0"
            for one in basic.get_constraints()
        ]
        conditions.append(" && ".join(tests) or "1")
    return f"if ({' || '.join(f'({one})' for one in conditions)}) "


def _cell(stencil: Stencil, written: WrittenArray, offsets: Sequence[int] | None = None) -> str:
    """The cell x + offsets in the buffer."""
    text = written.buffer
    for k, halo in enumerate(stencil.halo, 1):
        more = halo + (0 if offsets is None else offsets[k - 1])
        constant = "" if more == 0 else f" {'+' if more > 0 else '-'} {abs(more)}"
        text += f"[{stencil.loops[k]} - {_origin(stencil, k)}{constant}]"
    return text


def global_cell(stencil: Stencil, name: str) -> str:
    return name + bracketed(stencil.loops[1:])


def operation_text(
    stencil: Stencil, statement: Statement, cell: Callable[[WrittenArray, Sequence[int]], str]
) -> str:
    """The text of a statement with the cells of the buffers."""
    body = statement.body
    written = {one.array.name: one for one in stencil.written}
    edits = {
        (access.place.start, access.place.end): cell(written[access.array], offsets_of(statement, access))
        for access in statement.accesses
        if access.array in written
    }
    return body.place.edited((*place, new) for place, new in sorted(edits.items())) + body.terminator


def _storage(stencil: Stencil) -> tuple[Array, ...]:
    """The buffers of a tile, and the second arrays."""
    found: list[Array] = []
    for one in stencil.written:
        sizes = [str(size + 2 * halo) for size, halo in zip(stencil.sizes[1:], stencil.halo, strict=True)]
        kind = unqualified(stencil.program.file.declarations.resolved(str(one.array.element_type)))
        made = replace(one.array, element_type=kind, local=True, rows=(), observed=False, addressed=False)
        found.append(replace(made, name=one.buffer, extents=tuple(sizes), space=MemorySpace.SHARED))
        if one.carried:
            name = one.next
            ends = [last.add_constant_val(isl.Val(1)) for _, last in stencil.bounds[1:]]
            extents = tuple(affine_text(stencil.program, one, ()) for one in ends)
            found.append(replace(made, name=name, extents=extents, space=MemorySpace.HEAP))
    return tuple(found)


def _planned(stencil: Stencil, after: Program, roles: Sequence[_Role]) -> tuple[Plan, Component, Component]:
    pairs = list(zip(after.statements, roles, strict=True))
    held = {
        statement.name: _held(stencil, statement, role) for statement, role in pairs if not role.statement
    }
    computes = {statement.name: role.statement for statement, role in pairs if role.statement}
    counting = {
        one.name: instances_where(one, role.bounds).intersect(one.domain)
        for one, role in pairs
        if role.bounds
    }
    copied = {one.name: (role.array, role.reads) for one, role in pairs if role.array}
    return planned_tiles(stencil.plan, after, Redundancy(computes, held, counting), copied)


def planned_tiles(
    plan: Plan, after: Program, redundancy: Redundancy, copied: Mapping[str, tuple[str, bool]]
) -> tuple[Plan, Component, Component]:
    """The plan with the source of two kinds of tiles, everything in it, and the copies in them.

    A label `S` names both texts of its statement, `S_1` and `S_2` each of them; `copied` has the array of a
    copy, and whether it loads: `A_load_1`, `A_store_1` and so on name the copies.
    """
    fresh = Plan.of(after)
    places = {
        statement.name: [position for position, _ in pieces(statement.schedule)]
        for statement in after.statements
    }
    components = {one.name: fresh.components[one.name] for one in after.statements}
    for handle, component in plan.components.items():
        old = set(plan.statements_at(component))
        computing = [name for name, mine in redundancy.computes.items() if mine in old]
        new = [place for name in computing for place in places[name]]
        if handle in components or handle.startswith("@"):
            continue
        components[handle] = Component.of(new)
        for number in (0, 1):
            own = [place for place in new if place[1] == number]
            components[f"{handle}_{number + 1}"] = Component.of(own)
    for statement, (array, loads) in copied.items():
        name = f"{array}_{'load' if loads else 'store'}_{places[statement][0][1] + 1}"
        components.setdefault(name, Component.of(places[statement]))
    everything = Component.of(leaf.position for leaf in fresh.leaves)
    copying = (one.name for one in after.statements if one.name not in redundancy.computes)
    copies = Component.of(place for name in copying for place in places[name])
    stored = plan.stored(after, redundancy)
    return replace(stored, leaves=fresh.leaves, components=components), everything, copies


def instances_where(statement: Statement, condition: str) -> isl.Set:
    """The points of a statement's space that satisfy a condition."""
    names = parameter_names(statement.domain.get_space())
    return points_where(names, statement.name, statement.iterators, condition)


def _held(stencil: Stencil, copy: Statement, role: _Role) -> HeldCell:
    """The copied cell, with its time: before the first step of its tile, or the next one."""
    access = next(one for one in copy.accesses if one.is_write is not role.reads)
    length = stencil.program.statements[0].schedule.dim(OUT)
    position = stencil.plan.leaves[0].position[0]
    first = stencil.bounds[0][0]
    space = copy.domain.get_space().align_params(first.get_domain_space().params())
    time = coordinate(space, 0)
    time = time.scale_val(isl.Val(2 * stencil.sizes[0])).add_constant_val(isl.Val(role.step))
    time = time.add_constant_val(first.get_constant_val())
    for k, name in enumerate(parameter_names(first.get_domain_space())):
        place = space.find_dim_by_name(PARAM, name)
        time = time.add_coefficient_val(PARAM, place, first.get_coefficient_val(PARAM, k))
    when = isl.Map.from_aff(time).insert_dims(OUT, 0, entry(0)).add_dims(OUT, length - entry(0) - 1)
    for k in range(length):
        if k != entry(0):
            when = when.fix_val(OUT, k, isl.Val({0: position, entry(0) + 1: -1}.get(k, 0)))
    return HeldCell(access.relation.set_tuple_name(OUT, role.array), when)
