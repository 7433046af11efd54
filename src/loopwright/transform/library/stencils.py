"""Recognises stencils: a loop over steps of statements in the same loops that read at constant distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import islpy as isl

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import value_based_flow, with_accesses
from loopwright.model.program import Access, Array, Program, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import DIM, DIV, IN, OUT, box, nonempty_maps, union
from loopwright.transform.library.accesses import variable_called
from loopwright.transform.library.boxes import parameter_count
from loopwright.transform.library.loops import SizedLoop
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import unused_name

NO_STENCIL = "let each statement of the step write one cell, and read cells at constant distances"
TWO_ARRAYS = "use two arrays: a step of two statements, b from a and then a from b, in place of a[t % 2]"


@dataclass(frozen=True, eq=False)
class WrittenArray:
    """An array that the steps write: a box of the cells touched, those loaded, those stored at the end."""

    array: Array
    touched: isl.Set
    carried: bool
    """Whether a step reads a value written in an earlier one; otherwise a tile loads only earlier values."""
    loaded: isl.Set
    stored: isl.Set
    buffer: str
    next: str

    def source(self, number: int) -> str:
        """The arrays that the first and the second tiles of a pair load from."""
        return self.next if self.carried and number else self.array.name

    def target(self, number: int) -> tuple[str, isl.Set]:
        """The arrays and cells that they store: the second array holds all cells that are loaded from it."""
        if self.carried and not number:
            return self.next, self.touched
        return self.array.name, self.stored


@dataclass(frozen=True, eq=False)
class Stencil:
    """The region as one loop over steps, each with statements in the same loops."""

    plan: Plan
    sizes: tuple[int, ...]
    """The sizes of a tile: steps, then cells along each loop."""
    written: tuple[WrittenArray, ...]

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
        """For each statement, the largest distance along each loop at which it reads written arrays."""
        names = {one.array.name for one in self.written}
        found: dict[str, tuple[int, ...]] = {}
        for one in self.program.statements:
            offsets = [offsets_of(one, access) for access in one.reads if access.array in names]
            found[one.name] = tuple(
                max((abs(offset[k]) for offset in offsets), default=0) for k in range(one.depth - 1)
            )
        return found

    @cached_property
    def step(self) -> tuple[int, ...]:
        """The sum of the radii: the halo of one step."""
        return tuple(sum(values) for values in zip(*self.radii.values(), strict=True))

    @cached_property
    def halo(self) -> tuple[int, ...]:
        return tuple(self.sizes[0] * one for one in self.step)

    @cached_property
    def bounds(self) -> tuple[tuple[isl.Aff, isl.Aff], ...]:
        """The first and the last value: of the steps, then of the cells along each loop."""
        times = union([only(one.domain, DIM, 0).reset_tuple_id() for one in self.program.statements])
        found = [bounds_of(times, self.loops[0])]
        for k, name in enumerate(self.loops[1:]):
            cells = union([only(one.touched, DIM, k).reset_tuple_id() for one in self.written])
            found.append(bounds_of(cells, name))
        return tuple(found)


def stencil_of(plan: Plan, component: Component, sizes: Sequence[SizedLoop]) -> Stencil:
    program = plan.program
    if plan.history and any(one.program is not plan.original for one in plan.history):
        message = "an earlier operation changed the order or the storage"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint="tile first")
    if plan.directives:
        message = "loops that the tiles replace are marked already"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint="mark loops of the tiles")
    if set(plan.statements_at(component)) != {one.name for one in program.statements}:
        message = "the component is not the whole region"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint="name the loop over steps")
    loops = program.statements[0].iterators
    given = {one.loop: one.size for one in sizes}
    same = all(one.iterators == loops for one in program.statements) and plan.common_loops(component) >= 1
    if len(loops) < 2 or not same or sorted(given) != list(range(len(loops))):
        message = f"tiles need a size for each loop, {', '.join(loops)}, and all statements these loops"
        missing = ", ".join(loops[k] for k in range(len(loops)) if k not in given)
        hint = f"give sizes of {missing} as well" if same and missing else "make all nests as deep"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="sizes", hint=hint)
    names = dict.fromkeys(access.array for one in program.statements for access in one.writes)
    found = Stencil(plan, tuple(given[k] for k in range(len(loops))), ())
    for one in program.statements:
        for access in one.accesses:
            if access.array in names:
                offsets = offsets_of(one, access)
                if access.is_write and (any(offsets) or len(one.writes) != 1):
                    raise _nostencil_of(one, access)
    return replace(found, written=tuple(_written(plan, name) for name in names))


def offsets_of(statement: Statement, access: Access) -> tuple[int, ...]:
    """o of the cell x + o, where the instance is (t, x)."""
    relation = access.relation.intersect_domain(statement.domain)
    if not access.must or not relation.is_single_valued() or relation.dim(OUT) != statement.depth - 1:
        raise _nostencil_of(statement, access)
    found: list[int] = []
    for k in range(relation.dim(OUT)):
        distance = isl.PwMultiAff.from_map(relation).get_pw_aff(k)
        own = coordinate(statement.domain.get_space(), k + 1)
        values = isl.Map.from_pw_aff(distance.sub(isl.PwAff.from_aff(own))).range()
        value = values.plain_get_val_if_fixed(DIM, 0)
        if not value.is_int():
            raise _nostencil_of(statement, access)
        found.append(int(value.to_python()))
    return tuple(found)


def _nostencil_of(statement: Statement, access: Access) -> Misuse:
    message = f"{statement.name} is not a step of a stencil: it touches {' '.join(access.place.text.split())}"
    hint = TWO_ARRAYS if "%" in access.place.text else NO_STENCIL
    return Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=hint)


def _written(plan: Plan, name: str) -> WrittenArray:
    program, array = plan.program, variable_called(plan, name, sized=False)
    part = with_accesses(program, lambda _, access: access.array == name)
    flow, before = value_based_flow(part)
    carried = any(_crosses(one) for one in nonempty_maps(flow))
    touched = [_cells(one, access) for one in part.statements for access in one.accesses]
    written = [_cells(one, access) for one in part.statements for access in one.writes]
    edges = [one.range() for one in nonempty_maps(before)]
    empty = isl.Set.empty(touched[0].get_space())
    everything = box(union(touched))
    return WrittenArray(
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


def _crosses(flow: isl.Map) -> bool:
    """Whether a value is read in another step than it is written in."""
    return not flow.subtract(flow.equate(IN, 0, OUT, 0)).is_empty()


def bounds_of(values: isl.Set, name: str) -> tuple[isl.Aff, isl.Aff]:
    """Affine bounds of a set of numbers."""
    lows: list[isl.Aff] = []
    highs: list[isl.Aff] = []
    for constraint in values.compute_divs().coalesce().simple_hull().get_constraints():
        factor = constraint.get_coefficient_val(DIM, 0)
        if constraint.is_div_constraint() or not (factor.is_one() or factor.is_negone()):
            continue
        bound = constraint.get_bound(DIM, 0)
        if not bound.dim(DIV):
            (lows if factor.is_one() else highs).append(bound)
    if not lows or not highs:
        message = f"the bounds of {name} are not plain sums of sizes"
        hint = "a bound without a division, such as n in place of m / 2, is one"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=hint)
    return min(lows, key=parameter_count), min(highs, key=parameter_count)
