"""Overlapped tiles: several steps of a stencil in each tile, which computes what it needs of its neighbours.

    overlap(L, t=4, i=32, j=64)

A tile of T steps and X cells copies its cells and a halo into buffers, computes the steps there, each on a
smaller part, and stores its own cells.  With r_s the radius of statement s, instance (t, x) of s runs in the
tile of origin (t0, x0) if

    x0 - m  <=  x  <  x0 + X + m,     m = (T - 1 - (t - t0)) sum r  +  sum of r_s' for s' after s

So cells near borders are computed by several tiles: the order is a relation of instances and times, not a
function.  Tiles of the same steps are independent, since they load from an array and store to another; the
tiles of the next steps load from that one and store to the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from loopwright.c.declarations import unqualified
from loopwright.errors import Code, InternalError
from loopwright.model.dependences import value_based_flow
from loopwright.model.program import Access, Array, MemorySpace, Program, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.named import parameter_names
from loopwright.presburger.sets import DIM, DIV, IN, OUT, PARAM, basic_sets, box, union
from loopwright.transform.library.accesses import variable_called
from loopwright.transform.library.affine_text import affine_text
from loopwright.transform.library.loops import SizedLoop
from loopwright.transform.plan import Component, Plan, plan_of
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import HeldCell, Redundancy, replaced_text, unused_name
from loopwright.transform.vectors import entry, pieces

_NO_STENCIL = "let each statement of the step write one cell, and read cells at constant distances"


@dataclass(frozen=True, eq=False)
class _Written:
    """An array that the steps write: a box of the cells touched, those loaded, those stored at the end."""

    array: Array
    touched: isl.Set
    carried: bool
    """Whether a step reads what an earlier one wrote; otherwise a tile loads values from before alone."""
    loaded: isl.Set
    stored: isl.Set
    buffer: str
    next: str

    def source(self, number: int) -> str:
        """Where the first and the second tiles of a pair load from."""
        return self.next if self.carried and number else self.array.name

    def target(self, number: int) -> tuple[str, isl.Set]:
        """Where they store to, and which cells: the second array has all that is loaded from it."""
        if self.carried and not number:
            return self.next, self.touched
        return self.array.name, self.stored


@dataclass(frozen=True, eq=False)
class _Stencil:
    """The region as one loop over steps, each some statements on the same loops."""

    plan: Plan
    sizes: tuple[int, ...]
    """Of a tile: steps, then cells along each loop."""
    written: tuple[_Written, ...]

    @property
    def program(self) -> Program:
        return self.plan.program

    @property
    def loops(self) -> tuple[str, ...]:
        return self.program.statements[0].iterators

    @cached_property
    def tiles(self) -> tuple[str, ...]:
        """The loops over tiles: of time, then of each loop inside."""
        return tuple(unused_name(self.program, f"{name}T") for name in self.loops)

    @cached_property
    def radii(self) -> dict[str, tuple[int, ...]]:
        """Of each statement, the farthest that it reads of what the steps write, along each loop."""
        names = {one.array.name for one in self.written}
        found: dict[str, tuple[int, ...]] = {}
        for one in self.program.statements:
            offsets = [_offsets(one, access) for access in one.reads if access.array in names]
            found[one.name] = tuple(
                max((abs(offset[k]) for offset in offsets), default=0) for k in range(one.depth - 1)
            )
        return found

    @cached_property
    def step(self) -> tuple[int, ...]:
        """The sum of the radii: what one step needs around its cells."""
        return tuple(sum(values) for values in zip(*self.radii.values(), strict=True))

    @cached_property
    def halo(self) -> tuple[int, ...]:
        return tuple(self.sizes[0] * one for one in self.step)

    @cached_property
    def bounds(self) -> tuple[tuple[isl.Aff, isl.Aff], ...]:
        """The first and the last value: of the steps, then of the cells along each loop."""
        times = union([only(one.domain, DIM, 0).reset_tuple_id() for one in self.program.statements])
        found = [_bounds(times, self.loops[0])]
        for k, name in enumerate(self.loops[1:]):
            cells = union([only(one.touched, DIM, k).reset_tuple_id() for one in self.written])
            found.append(_bounds(cells, name))
        return tuple(found)


@dataclass(frozen=True)
class _Role:
    """What a statement of the new text does: compute `statement`, or hold what cells of `array` held."""

    statement: str = ""
    array: str = ""
    step: int = 0
    """Cells as they are before the first step of the pair of tiles, plus this number."""
    reads: bool = True


def overlap(
    plan: Plan, component: Component, sizes: Sequence[SizedLoop]
) -> tuple[Plan, Component, Component]:
    """The plan with overlapped tiles; all that is in the tiles, and the copies in them."""
    stencil = _stencil(plan, component, sizes)
    texts: list[str] = []
    roles: list[_Role] = []
    for number in (0, 1):
        for text, role in _tile(stencil, number):
            texts.append(text)
            roles += [] if role is None else [role]
    first, last = (affine_text(plan.program, one, ()) for one in stencil.bounds[0])
    kind, name, pair = _type(stencil, 0), stencil.tiles[0], 2 * stencil.sizes[0]
    head = f"for ({kind} {name} = 0; {first} + {pair} * {name} <= {last}; {name}++)"
    after = replaced_text(plan.program, f"{head} {{\n{''.join(texts)}}}\n", _storage(stencil))
    if len(after.statements) != len(roles):
        raise InternalError(Code.INTERNAL, "overlapped tiles were read as other statements")
    return _planned(stencil, after, roles)


def _stencil(plan: Plan, component: Component, sizes: Sequence[SizedLoop]) -> _Stencil:
    program = plan.program
    if plan.history and any(one.program is not plan.original for one in plan.history):
        message = "the order or the storage has been changed before"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint="let 'overlap' come first")
    if set(plan.statements_at(component)) != {one.name for one in program.statements}:
        message = "the component is not the whole region"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint="name the loop over steps")
    loops = program.statements[0].iterators
    given = {one.loop: one.size for one in sizes}
    same = all(one.iterators == loops for one in program.statements) and plan.common_loops(component) >= 1
    if len(loops) < 2 or not same or sorted(given) != list(range(len(loops))):
        message = f"tiles need a size for each loop, {', '.join(loops)}, and all statements these loops"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="sizes", hint="make all nests as deep")
    names = dict.fromkeys(access.array for one in program.statements for access in one.writes)
    found = _Stencil(plan, tuple(given[k] for k in range(len(loops))), ())
    for one in program.statements:
        for access in one.accesses:
            if access.array in names:
                offsets = _offsets(one, access)
                if access.is_write and (any(offsets) or len(one.writes) != 1):
                    raise _no_stencil(one, access)
    return replace(found, written=tuple(_written(plan, name) for name in names))


def _offsets(statement: Statement, access: Access) -> tuple[int, ...]:
    """o of the cell x + o, where the instance is (t, x)."""
    relation = access.relation.intersect_domain(statement.domain)
    if not access.must or not relation.is_single_valued() or relation.dim(OUT) != statement.depth - 1:
        raise _no_stencil(statement, access)
    found: list[int] = []
    for k in range(relation.dim(OUT)):
        distance = isl.PwMultiAff.from_map(relation).get_pw_aff(k)
        own = isl.Aff.var_on_domain(isl.LocalSpace.from_space(statement.domain.get_space()), DIM, k + 1)
        values = isl.Map.from_pw_aff(distance.sub(isl.PwAff.from_aff(own))).range()
        value = values.plain_get_val_if_fixed(DIM, 0)
        if not value.is_int():
            raise _no_stencil(statement, access)
        found.append(int(value.to_python()))
    return tuple(found)


def _no_stencil(statement: Statement, access: Access) -> Misuse:
    message = f"{statement.name} is no step of a stencil: it touches {' '.join(access.place.text.split())}"
    return Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=_NO_STENCIL)


def _written(plan: Plan, name: str) -> _Written:
    program, array = plan.program, variable_called(plan, name)
    statements = [
        replace(one, accesses=tuple(access for access in one.accesses if access.array == name))
        for one in program.statements
    ]
    part = replace(program, statements=tuple(one for one in statements if one.accesses))
    flow, before = value_based_flow(part)
    carried = any(_crosses(one) for one in _maps(flow))
    touched = [_cells(one, access) for one in part.statements for access in one.accesses]
    written = [_cells(one, access) for one in part.statements for access in one.writes]
    edges = [one.range() for one in _maps(before)]
    empty = isl.Set.empty(touched[0].get_space())
    everything = box(union(touched))
    return _Written(
        array,
        everything,
        carried,
        everything if carried else union([empty, *edges]).coalesce(),
        empty if program.is_dead_after(array) and not carried else union(written).coalesce(),
        unused_name(program, f"{name}_tile"),
        unused_name(program, f"{name}_next"),
    )


def _cells(statement: Statement, access: Access) -> isl.Set:
    return access.relation.intersect_domain(statement.domain).range()


def _maps(relation: isl.UnionMap) -> list[isl.Map]:
    found: list[isl.Map] = []
    relation.foreach_map(found.append)
    return [one for one in found if not one.is_empty()]


def _crosses(flow: isl.Map) -> bool:
    """Whether a value is read in another step than it is written in."""
    return not flow.subtract(flow.equate(IN, 0, OUT, 0)).is_empty()


def _bounds(values: isl.Set, name: str) -> tuple[isl.Aff, isl.Aff]:
    """Affine bounds of a set of numbers."""
    lows: list[isl.Aff] = []
    highs: list[isl.Aff] = []
    for constraint in values.coalesce().simple_hull().get_constraints():
        factor = constraint.get_coefficient_val(DIM, 0)
        if constraint.is_div_constraint() or not (factor.is_one() or factor.is_negone()):
            continue
        bound = constraint.get_bound(DIM, 0)
        if not bound.dim(DIV):
            (lows if factor.is_one() else highs).append(bound)
    if not lows or not highs:
        raise Misuse(Code.LOOPS_DO_NOT_FIT, f"the values of {name} have no affine bounds", argument="target")
    return min(lows, key=_weight), min(highs, key=_weight)


def _weight(bound: isl.Aff) -> int:
    return sum(not bound.get_coefficient_val(PARAM, k).is_zero() for k in range(bound.dim(PARAM)))


def _tile(stencil: _Stencil, number: int) -> Iterator[tuple[str, _Role | None]]:
    """The text of a tile, with what its statements are."""
    program, steps = stencil.program, stencil.sizes[0]
    first, last = (affine_text(program, one, ()) for one in stencil.bounds[0])
    start = f"{first} + {2 * steps} * {stencil.tiles[0]} + {number * steps}"
    for k, name in enumerate(stencil.tiles[1:], 1):
        high = affine_text(program, stencil.bounds[k][1], ())
        yield f"for ({_type(stencil, k)} {name} = 0; {_origin(stencil, k)} <= {high}; {name}++)\n", None
    yield "{\n", None
    for one in stencil.written:
        if not one.loaded.is_empty():
            copy = f"{_cell(stencil, one)} = {_global(stencil, one.source(number))};"
            role = _Role(array=one.array.name, step=number * steps)
            test = _test(program, one.loaded, stencil.loops[1:])
            yield f"{_box(stencil, stencil.halo)}{test}{copy}\n", role
    time = stencil.loops[0]
    yield f"for ({_type(stencil, 0)} {time} = {start}; {time} <= {start} + {steps - 1}; {time}++) {{\n", None
    margin = [f"{one} * ({start} + {steps - 1} - {time})" for one in stencil.step]
    for place, statement in enumerate(program.statements):
        after = [stencil.radii[later.name] for later in program.statements[place + 1 :]]
        more = [sum(one[k] for one in after) for k in range(len(stencil.step))]
        box = _box(stencil, [f"{one} + {two}" for one, two in zip(margin, more, strict=True)])
        test = _test(program, statement.domain, stencil.loops)
        yield f"{box}{test}{_operation(stencil, statement)}\n", _Role(statement=statement.name)
    yield "}\n", None
    for one in stencil.written:
        if one.stored.is_empty():
            continue
        target, cells = one.target(number)
        text = f"{_global(stencil, target)} = {_cell(stencil, one)};"
        ends = "" if one.carried else f"if ({start} <= {last} && {last} < {start} + {steps}) "
        role = _Role(array=one.array.name, step=(number + 1) * steps, reads=False)
        test = _test(program, cells, stencil.loops[1:])
        yield f"{ends}{_box(stencil, [0] * len(stencil.step))}{test}{text}\n", role
    yield "}\n", None


def _type(stencil: _Stencil, loop: int) -> str:
    types = stencil.program.statements[0].iterator_types
    return types[loop] if types else "int"


def _origin(stencil: _Stencil, k: int) -> str:
    """The first own cell of a tile along loop k."""
    low = affine_text(stencil.program, stencil.bounds[k][0], ())
    tile = f"{stencil.sizes[k]} * {stencil.tiles[k]}"
    return tile if low == "0" else f"({low} + {tile})"


def _box(stencil: _Stencil, margin: Sequence[str | int]) -> str:
    """Loops over the own cells of a tile, and `margin` more on both sides."""
    heads: list[str] = []
    for k, more in enumerate(margin, 1):
        name, origin = stencil.loops[k], _origin(stencil, k)
        last = f"{origin} + {stencil.sizes[k] - 1}"
        low, high = (origin, last) if more == 0 else (f"{origin} - ({more})", f"{last} + ({more})")
        heads.append(f"for ({_type(stencil, k)} {name} = {low}; {name} <= {high}; {name}++) ")
    return "".join(heads)


def _test(program: Program, points: isl.Set, names: Sequence[str]) -> str:
    """`if (...)`: that names are those of a point."""
    conditions: list[str] = []
    for basic in basic_sets(points):
        if basic.dim(DIV):
            message = "the cells that the steps touch have gaps"
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=_NO_STENCIL)
        tests = [
            f"{affine_text(program, one.get_aff(), names)} {'==' if one.is_equality() else '>='} 0"
            for one in basic.get_constraints()
        ]
        conditions.append(" && ".join(tests) or "1")
    return f"if ({' || '.join(f'({one})' for one in conditions)}) "


def _cell(stencil: _Stencil, written: _Written, offsets: Sequence[int] | None = None) -> str:
    """The cell x + offsets in the buffer."""
    text = written.buffer
    for k, halo in enumerate(stencil.halo, 1):
        more = halo + (0 if offsets is None else offsets[k - 1])
        constant = "" if more == 0 else f" {'+' if more > 0 else '-'} {abs(more)}"
        text += f"[{stencil.loops[k]} - {_origin(stencil, k)}{constant}]"
    return text


def _global(stencil: _Stencil, name: str) -> str:
    return name + "".join(f"[{one}]" for one in stencil.loops[1:])


def _operation(stencil: _Stencil, statement: Statement) -> str:
    """The text of a statement, its cells those of the buffers."""
    body = statement.body
    text = body.place.source.text
    written = {one.array.name: one for one in stencil.written}
    edits = {
        (access.place.start, access.place.end): _cell(
            stencil, written[access.array], _offsets(statement, access)
        )
        for access in statement.accesses
        if access.array in written
    }
    done: list[str] = []
    position = body.place.start
    for (start, end), new in sorted(edits.items()):
        done += [text[position:start], new]
        position = end
    return "".join([*done, text[position : body.place.end], body.terminator])


def _storage(stencil: _Stencil) -> tuple[Array, ...]:
    """The buffers of a tile, and the second arrays."""
    found: list[Array] = []
    for one in stencil.written:
        sizes = [
            str(size + 2 * halo) for size, halo in zip(stencil.sizes[1:], stencil.halo, strict=True)
        ]
        kind = unqualified(stencil.program.file.declarations.resolved(str(one.array.element_type)))
        made = replace(one.array, element_type=kind, local=True, rows=(), observed=False, addressed=False)
        found.append(
            replace(made, name=one.buffer, extents=tuple(sizes), space=MemorySpace.SHARED)
        )
        if one.carried:
            found.append(replace(made, name=one.next, space=MemorySpace.HEAP))
    return tuple(found)


def _planned(
    stencil: _Stencil, after: Program, roles: Sequence[_Role]
) -> tuple[Plan, Component, Component]:
    plan = stencil.plan
    fresh = plan_of(after)
    pairs = list(zip(after.statements, roles, strict=True))
    places = {
        statement.name: [position for position, _ in pieces(statement.schedule)] for statement, _ in pairs
    }
    held = {
        statement.name: _held(stencil, statement, role) for statement, role in pairs if not role.statement
    }
    computes = {statement.name: role.statement for statement, role in pairs if role.statement}
    components = {one.name: fresh.components[one.name] for one in after.statements}
    for handle, component in plan.components.items():
        old = set(plan.statements_at(component))
        new = [place for name, mine in computes.items() if mine in old for place in places[name]]
        if handle in components or handle.startswith("@"):
            continue
        components[handle] = Component.of(new)
        for number in (0, 1):
            own = [place for place in new if place[1] == number]
            components[f"{handle}_{number + 1}"] = Component.of(own)
    everything = Component.of(leaf.position for leaf in fresh.leaves)
    copies = Component.of(place for name in held for place in places[name])
    stored = plan.stored(after, Redundancy(computes, held))
    return replace(stored, leaves=fresh.leaves, components=components), everything, copies


def _held(stencil: _Stencil, copy: Statement, role: _Role) -> HeldCell:
    """The cell that a copy is of, before the step that its tile begins with, or the next one."""
    access = next(one for one in copy.accesses if one.is_write is not role.reads)
    length = stencil.program.statements[0].schedule.dim(OUT)
    position = stencil.plan.leaves[0].position[0]
    first = stencil.bounds[0][0]
    space = copy.domain.get_space().align_params(first.get_domain_space().params())
    time = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), DIM, 0)
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
