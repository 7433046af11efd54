"""The nests of a plan as moves use them: their own loops, those over tiles, their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence
from loopwright.model.program import Access
from loopwright.optimise.model.machine import Machine
from loopwright.optimise.model.touches import WRITTEN_OUT
from loopwright.presburger.dimensions import split
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM, IN, OUT, PARAM, box
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import NAME
from loopwright.transform.script.operations import Pack, Parallelize, UnrollAndJam
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, nests
from loopwright.transform.vectors import iteration_numbers, pieces

Script: TypeAlias = tuple[Step, ...]

MANY = 1 << 30
"""The assumed trip count of a loop if it is not known."""


@dataclass(frozen=True)
class SearchContext:
    """The context of moves: the region as written, the machine, the sizes, and the dependences."""

    start: Plan
    machine: Machine
    sizes: Mapping[str, int]
    dependences: tuple[Dependence, ...]
    copies: bool = True
    """Whether there is time to prove tiles that are copied."""
    threads: int = 1


Phase: TypeAlias = Callable[[Plan, NamedNest, SearchContext], Iterator[Script]]
"""A function from a plan and one of its nests to other scripts of the whole region."""


def is_perfect(plan: Plan, nest: NamedNest) -> bool:
    """Whether all statements of the nest are in its innermost loop."""
    return all(plan.leaf(position).depth == len(nest.loops) for position in nest.component.positions)


def is_box(plan: Plan, component: Component) -> bool:
    """Whether all statements are in the same loops, none of whose bounds depends on another loop."""
    depths = {plan.leaf(position).depth for position in component.positions}
    points = plan.iterations(component, min(depths))
    return len(depths) == 1 and all(box(one).is_equal(one) for one in points)


def bounds_of(plan: Plan, component: Component, depth: int) -> Iterator[isl.Constraint]:
    """The bounds of the first loops around a component, except bounds by quotients."""
    for points in plan.iterations(component, depth):
        for part in points.remove_divs().get_basic_sets():
            yield from part.get_constraints()


def loops_in(bound: isl.Constraint) -> list[int]:
    """The loops, by their depth, that a bound depends on."""
    return [k for k in range(bound.space.dim(DIM)) if not bound.get_coefficient_val(DIM, k).is_zero()]


def is_single(nest: NamedNest) -> bool:
    """Whether the nest has one named statement and nothing else in its loops."""
    return len(nest.component.positions) == 1 and NAME.fullmatch(nest.handle) is not None


def own_loops(plan: Plan, nest: NamedNest) -> tuple[str, ...]:
    """The loops with no other statements, without those over tiles."""
    return tuple(
        name
        for k, name in enumerate(nest.loops)
        if not plan.sharing(nest.component, k).positions and not is_over_tiles(plan, nest.component, k)
    )


def is_tiled(plan: Plan, nest: NamedNest) -> bool:
    return any(is_over_tiles(plan, nest.component, k) for k in range(len(nest.loops)))


def is_over_tiles(plan: Plan, component: Component, loop: int) -> bool:
    """Whether the loop at this depth iterates over blocks of inner loops.

    The iteration numbers of inner loops determine its own, [i/s] of i, but not vice versa.
    """
    for position in component.positions:
        depth = plan.leaf(position).depth
        for points in plan.iterations(Component.of([position]), depth):
            inside = split(points.project_out(DIM, 0, loop), 1)
            if not inside.reverse().is_single_valued() or inside.is_single_valued():
                return False
    return True


def in_their_rows(plan: Plan, component: Component, loop: int) -> tuple[int, int]:
    """How many accesses are invariant or move along a row in the loop at this depth; and the total."""
    smooth = every = 0
    for statement in plan.program.statements:
        for position, piece in pieces(statement.schedule):
            if position not in component.positions:
                continue
            for access in statement.accesses:
                rank = access.relation.dim(OUT)
                every += 1
                rows = access.relation.project_out(OUT, rank - 1, 1) if rank else access.relation
                timed = piece.reverse().apply_range(rows).intersect_domain(piece.range())
                smooth += rank == 0 or bool(timed.eliminate(IN, 2 * loop + 1, 1).is_single_valued())
    return smooth, every


def moves_writes(plan: Plan, component: Component, loop: int) -> bool:
    """Whether iterations of the loop at this depth write different cells, for every statement."""
    for statement in plan.program.statements:
        for position, piece in pieces(statement.schedule):
            for access in statement.writes if position in component.positions else ():
                if not moves(piece, loop, access):
                    return False
    return True


def moves(piece: isl.Map, loop: int, access: Access) -> bool:
    """Whether iterations of the loop at this depth, in this piece of a schedule, access different cells."""
    timed = piece.reverse().apply_range(access.relation).intersect_domain(piece.range())
    return not timed.eliminate(IN, 2 * loop + 1, 1).is_single_valued()


def stays_in_row(piece: isl.Map, loop: int, access: Access) -> bool:
    """Whether iterations of the loop at this depth access the same row."""
    rank = access.relation.dim(OUT)
    return not moves(piece, loop, replace(access, relation=access.relation.project_out(OUT, rank - 1, 1)))


def outside(plan: Plan, nest: NamedNest, own: Sequence[str], setting: SearchContext) -> tuple[str, ...]:
    """The loops around the innermost one; compilers unroll short loops inside it."""
    long = [loop for loop in own if extent(plan, nest, loop, setting.sizes) > WRITTEN_OUT]
    return tuple(long[:-1]) if len(long) > 1 else tuple(own[:-1])


def extent(plan: Plan, nest: NamedNest, loop: str, sizes: Mapping[str, int]) -> int:
    """The number of values of the loop at these sizes."""
    depth = nest.loops.index(loop)
    found = 0
    for points in plan.iterations(nest.component, depth + 1):
        for k, name in enumerate(points.get_var_names_not_none(PARAM)):
            points = points.fix_val(PARAM, k, isl.Val(sizes[name])) if name in sizes else points
        if points.is_empty():  # such as the remainder of blocks, if the sizes are multiples of theirs
            continue
        high, low = points.dim_max_val(depth), points.dim_min_val(depth)
        if not high.is_int() or not low.is_int():
            return MANY
        found = max(found, int(high.to_python()) - int(low.to_python()) + 1)
    return found


def loops_after(plan: Plan, nest: NamedNest, *steps: Step) -> tuple[str, ...] | None:
    """The names of the loops of the nest after some steps; None if these do not apply."""
    after = attempted(plan, *steps)
    return None if after is None else after.leaf(after.component(nest.handle).first).loops


def script_of(plan: Plan) -> Script:
    return tuple(one.step for one in plan.history)


def tiles_copied(script: Script) -> int:
    """The number of nests with tiles in storage of their own."""
    return sum(isinstance(step.operation, Pack) and step.operation.written for step in script)


def is_shared(script: Script) -> bool:
    """Whether threads share the work."""
    return any(isinstance(step.operation, Parallelize) for step in script)


def written_out(script: Script) -> int:
    """The largest number of unrolled iterations in a nest: proof times are proportional to it."""
    jams = (step.operation for step in script if isinstance(step.operation, UnrollAndJam))
    return max((prod(one.number for one in jam.factors) for jam in jams), default=0)


def goes_backwards(plan: Plan, nest: NamedNest, dependences: Sequence[Dependence]) -> bool:
    """Whether a dependence inside a perfect nest has a negative distance along one of its loops."""
    depth = len(nest.loops)
    numbers = {
        one.name: iteration_numbers(piece, depth)
        for one in plan.program.statements
        for position, piece in pieces(one.schedule)
        if position in nest.component.positions
    }
    for one in dependences:
        if one.source in numbers and one.sink in numbers:
            pairs = one.relation.apply_domain(numbers[one.source]).apply_range(numbers[one.sink])
            apart = without_parameters(pairs.intersect_params(plan.program.context).deltas())
            if any(not apart.is_empty() and not _is_positive(apart, k) for k in range(depth)):
                return True
    return False


def _is_positive(apart: isl.Set, dimension: int) -> bool:
    least = apart.dim_min_val(dimension)
    return bool(least.is_int()) and bool(least.is_nonneg())


def is_written_out(plan: Plan, nest: NamedNest, loop: int | None = None) -> bool:
    """Whether a statement of the nest is unrolled already, along any loop or this one."""
    inside = set(nest.component.positions)
    unrolled = [one for one in plan.directives if one.kind is DirectiveKind.UNROLL]
    return any(inside & set(one.positions) for one in unrolled if loop in (None, one.loop))


def targets(plan: Plan) -> list[NamedNest]:
    """The nests that moves apply to, outer ones first, under names that a step can bind again."""
    found = sorted(nests(plan), key=lambda one: (-len(one.component.positions), one.component.first))
    return [replace(one, handle=_name(plan, one)) for one in found]


def _name(plan: Plan, nest: NamedNest) -> str:
    """The name of the nest, preferably a label or a statement's name rather than a line."""
    known = (name for name, component in plan.components.items() if component == nest.component)
    return next((name for name in known if NAME.fullmatch(name)), nest.handle)


def nest_of(plan: Plan, names: tuple[str, ...]) -> NamedNest | None:
    """The first nest of exactly these statements."""
    return next((one for one in targets(plan) if plan.statements_at(one.component) == names), None)


def part_with(plan: Plan, names: tuple[str, ...]) -> Plan:
    """The nests of the region that contain statements of these names and no others."""
    places = {one.name: {place[0] for place, _ in pieces(one.schedule)} for one in plan.program.statements}
    tops = {place for name in names for place in places[name]}
    while (more := {place for found in places.values() if found & tops for place in found}) != tops:
        tops = more
    statements = tuple(one for one in plan.program.statements if places[one.name] & tops)
    return replace(
        plan,
        program=replace(plan.program, statements=statements),
        leaves=tuple(leaf for leaf in plan.leaves if leaf.position[0] in tops),
        directives=tuple(one for one in plan.directives if {place[0] for place in one.positions} & tops),
    )
