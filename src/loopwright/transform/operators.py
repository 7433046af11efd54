"""The four operators: realign, lift, affine, isplit [Namjoshi2016, sections 3.1 and 3.2].

Each is a function φ on schedule vectors, θ' = φ ∘ θ, written here with its formula; components
follow by P'(l) = φ(P(l)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from loopwright.errors import Code
from loopwright.presburger.dimensions import coordinates
from loopwright.presburger.named import parameter_values
from loopwright.presburger.points import values_text
from loopwright.presburger.sets import DIM
from loopwright.transform.directives import carried_through
from loopwright.transform.plan import Component, Plan, repositioned
from loopwright.transform.relations import IterationFunction
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import (
    Position,
    iteration_numbers,
    moved,
    padded,
    padded_position,
    pieces,
    rewritten,
)


def realign(plan: Plan, one: Component, two: Component, common: int) -> Plan:
    """Make `common` the number of loops that `one` and the component right after it share.

    With p1 = max P(l1), p2 = min P(l2):
        φ(p, j) = (p + p1 - p2 + I(n), j)   where p ⪰ p2
                  (p, j)                    otherwise
    """
    _check_adjacent(plan, one, two)
    ends = (("last statement of the first", one.last), ("first statement of the second", two.first))
    for which, at in ends:
        depth = plan.leaf(at).depth
        if not 0 <= common <= depth:
            raise Misuse(
                Code.LOOPS_DO_NOT_FIT,
                f"{common} common loops, but there are {depth} around the {which} component",
                argument="common",
                hint="affine(L, {[i] -> [i, 0]}) puts a loop of one iteration around L",
            )
    p1, p2 = one.last, two.first
    offset = tuple(a - b + (k == common) for k, (a, b) in enumerate(zip(p1, p2, strict=True)))
    return moved_from(plan, p2, lambda position: offset)


def _check_adjacent(plan: Plan, one: Component, two: Component) -> None:
    if set(one.positions) & set(two.positions):
        names = ", ".join(plan.statements_at(Component.of(set(one.positions) & set(two.positions))))
        hint = f"both hold {names}: use handles that hold nothing twice"
        raise Misuse(Code.NOT_NEIGHBOURS, "the two components overlap", argument="second", hint=hint)
    if two.first <= one.last:
        raise Misuse(
            Code.NOT_NEIGHBOURS,
            "the second component does not come after the first",
            argument="second",
            hint="name them in the order of the program",
        )
    between = [leaf.position for leaf in plan.leaves if one.last < leaf.position < two.first]
    if between:
        names = ", ".join(plan.statements_at(Component.of(between)))
        raise Misuse(
            Code.NOT_NEIGHBOURS,
            f"the components are not adjacent: {names} {'is' if ',' not in names else 'are'} between them",
            argument="second",
            hint="realign neighbours one after the other, from the first to the last",
        )


def moved_from(plan: Plan, start: Position, offset: Callable[[Position], Position]) -> Plan:
    """Add offset(p) to every position p ⪰ start; of a start that is shorter, to all that begin with it."""
    targets = {
        leaf.position: tuple(a + b for a, b in zip(leaf.position, offset(leaf.position), strict=True))
        for leaf in plan.leaves
        if leaf.position >= start
    }
    if not targets:
        return plan
    schedules = {}
    for statement in plan.program.statements:
        parts = [
            moved(piece, offset(position)) if position in targets else piece
            for position, piece in pieces(statement.schedule)
        ]
        schedules[statement.name] = _union(parts, statement.schedule)
    images: dict[Position, tuple[Position, ...]] = {old: (new,) for old, new in targets.items()}
    return repositioned(plan.rescheduled(schedules), images, {})


def exchanged(plan: Plan, one: Component, two: Component) -> Plan:
    """Swap two adjacent components in the body of loop n; the order inside each is kept.

    φ(p, j) = (p + d I(n), j)   where p ∈ P(l1), d the number of children l2 spans
              (p - e I(n), j)   where p ∈ P(l2), e the distance of their first children
              (p, j)            otherwise
    """
    _check_adjacent(plan, one, two)
    both = Component.of((*one.positions, *two.positions))
    loop = next((k for k, pair in enumerate(zip(one.last, two.first, strict=True)) if pair[0] != pair[1]), 0)
    if len({position[:loop] for position in both.positions}) > 1:
        raise Misuse(
            Code.NOT_NEIGHBOURS,
            "the components are not in the body of one loop",
            argument="second",
            hint="lift them to the same loop",
        )
    children = {position[: loop + 1] for position in both.positions}
    others = [leaf.position for leaf in plan.leaves if leaf.position not in both.positions]
    torn = Component.of(position for position in others if position[: loop + 1] in children)
    if torn.positions:
        raise Misuse(
            Code.NOT_NEIGHBOURS,
            f"the components share a loop with {', '.join(plan.statements_at(torn))}",
            argument="second",
            hint="lift the handles to that loop",
        )
    forwards, backwards = two.last[loop] - two.first[loop] + 1, two.first[loop] - one.first[loop]
    first, second = set(one.positions), set(two.positions)

    def offset(position: Position) -> Position:
        amount = 0
        if position in first:
            amount = forwards
        elif position in second:
            amount = -backwards
        return tuple(amount if k == loop else 0 for k in range(len(position)))

    return moved_from(plan, one.first, offset)


def _union(parts: list[isl.Map], like: isl.Map) -> isl.Map:
    """The union of the parts, not coalesced, so that each keeps its constant position."""
    result = isl.Map.empty(like.get_space())
    for part in parts:
        result = result.union(part)
    return result


def lift(plan: Plan, component: Component, loop: int) -> Component:
    """The `loop`-th loop around the component, 1 the outermost, with everything in it.

    P(l2) = {q : (q0, ..., q(n-1)) = (p0, ..., p(n-1)) for some p ∈ P(l1)}
    """
    depth = plan.depth(component)
    if not 0 <= loop <= depth:
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"loop {loop} of a component that has {depth} loops around it",
            argument="loop",
            hint=f"its loops are {', '.join(plan.leaf(component.first).loops) or 'none'}, counted from 1",
        )
    prefixes = {position[:loop] for position in component.positions}
    return Component.of(leaf.position for leaf in plan.leaves if leaf.position[:loop] in prefixes)


def affine(plan: Plan, component: Component, function: IterationFunction) -> Plan:
    """Give the component's statements new iterators, a function f: Z^a -> Z^b of the old ones.

        φ(p, j) = ((p0, ..., p(a-1), m, 0 ... 0, pa, ..., pM), f(j))   where p ∈ P(l)
                  ((p, 0 ... 0), (j, 0 ... 0))                         otherwise
    where m, 0 ... 0 are b - a entries and m = min qa over the q ∈ P(l) that agree with p before:
    the new loops take the place of l in the body of loop a, and l's statements stay together inside
    them, as in [Namjoshi2016, figure 4c].  (Its formula has pa, 0 ... 0, p(a+1), which puts two statements
    of one body in loops of their own; its text has 0 ... 0, pa, which mixes l with its neighbours.)

    f takes the first a iteration numbers; the rest are unchanged.  Entries that are zero for every
    statement are dropped from the end of the vectors.
    """
    taken, given = function.taken, function.given
    _check_function(plan, component, function)
    longer = plan.loops + given - taken
    inside = set(component.positions)
    images: dict[Position, tuple[Position, ...]] = {
        leaf.position: (
            _inserted(component, leaf.position, taken, given)
            if leaf.position in inside
            else padded_position(leaf.position, longer),
        )
        for leaf in plan.leaves
    }
    schedules = {}
    for statement in plan.program.statements:
        parts = [
            rewritten(piece, function.relation, images[position][0])
            if position in inside
            else padded(piece, longer)
            for position, piece in pieces(statement.schedule)
        ]
        schedules[statement.name] = _union(parts, padded(statement.schedule, longer))
    names = {
        leaf.position: function.loop_names(leaf.loops) for leaf in plan.leaves if leaf.position in inside
    }
    carried = replace(plan, directives=carried_through(plan.directives, inside, function))
    return trimmed(repositioned(carried.rescheduled(schedules), images, names))


def _inserted(component: Component, position: Position, taken: int, given: int) -> Position:
    if given == taken:
        return position
    place = min(q[taken] for q in component.positions if q[:taken] == position[:taken])
    return (*position[:taken], place, *(0,) * (given - taken - 1), *position[taken:])


def _check_function(plan: Plan, component: Component, function: IterationFunction) -> None:
    """f must be a total function on the component's iteration vectors, and lose no dimension."""
    if function.taken > plan.loops:
        raise Misuse(
            Code.MAP,
            f"the map takes {function.taken} iterators, but no statement has more than {plan.loops} loops "
            "around it",
            argument="function",
            hint=f"the loops of the component are {', '.join(plan.leaf(component.first).loops) or 'none'}",
        )
    if function.given < function.taken:
        raise Misuse(
            Code.MAP,
            f"the map takes {function.taken} iterators and gives only {function.given}",
            argument="function",
            hint="a loop is removed by giving it a constant value: {[i, j] -> [i, 0]}",
        )
    if not function.relation.is_single_valued():
        message = "the map gives several values for one iteration"
        raise Misuse(Code.MAP, message, argument="function", hint=function.ambiguity())
    for statement in plan.program.statements:
        for position, piece in pieces(statement.schedule):
            if position in component.positions:
                domain = statement.domain.intersect_params(plan.program.context)
                numbers = iteration_numbers(piece.intersect_domain(domain), function.taken).range()
                left_out = numbers.subtract(function.relation.domain())
                if not left_out.is_empty():
                    raise Misuse(
                        Code.MAP,
                        f"the map has no value for iteration {_example(left_out)} of {statement.name}",
                        argument="function",
                    )


def _example(points: isl.Set) -> str:
    """A point with the values of the parameters: [3, 0] (n = 4)."""
    point = points.sample_point()
    vector = ", ".join(map(str, coordinates(point)))
    values = values_text(parameter_values(point))
    return f"[{vector}]" + (f" ({values})" if values else "")


def trimmed(plan: Plan) -> Plan:
    """Drop the entries after those of the deepest statement: they are zero for all."""
    return with_length(plan, plan.loops)


def with_length(plan: Plan, loops: int) -> Plan:
    """The plan with vectors for so many loops."""
    schedules = {s.name: padded(s.schedule, loops) for s in plan.program.statements}
    images: dict[Position, tuple[Position, ...]] = {
        leaf.position: (padded_position(leaf.position, loops),) for leaf in plan.leaves
    }
    return repositioned(plan.rescheduled(schedules), images, {})


def isplit(
    plan: Plan, component: Component, predicate: isl.Set, common: int
) -> tuple[Plan, Component, Component]:
    """Split the component into the iterations where `predicate` holds and, after them, the others.

    With p_m = min P(l):
        φ(p, j) = (p, j)            where p ≺ p_m, or p ∈ P(l) and pred(j)
                  (p + k I(n), j)   otherwise
    and P'(l1) = P(l), P'(l2) = P(l) + k I(n).  [Namjoshi2016] has k = 1, which is right where all of l
    is one child of loop n; in general k is the number of children l spans, or l1 and l2 would
    mix.
    """
    _check_split(plan, component, predicate, common)
    span = component.last[common] - component.first[common] + 1
    step = tuple(span if k == common else 0 for k in range(plan.loops + 1))
    inside = set(component.positions)

    def down(position: Position) -> Position:
        return tuple(a + b for a, b in zip(position, step, strict=True))

    images: dict[Position, tuple[Position, ...]] = {
        leaf.position: (leaf.position, down(leaf.position))
        if leaf.position in inside
        else (down(leaf.position),)
        for leaf in plan.leaves
        if leaf.position >= component.first
    }
    schedules = {}
    for statement in plan.program.statements:
        parts: list[isl.Map] = []
        for position, piece in pieces(statement.schedule):
            if position in inside:
                where = iteration_numbers(piece, predicate.dim(DIM))
                holds = where.intersect_range(predicate).domain()
                parts.append(piece.intersect_domain(holds))
                parts.append(moved(piece.subtract_domain(holds), step))
            else:
                parts.append(moved(piece, step) if position in images else piece)
        schedules[statement.name] = _union(parts, statement.schedule)
    result = repositioned(plan.rescheduled(schedules), images, {})
    return result, component, Component.of(down(position) for position in component.positions)


def _check_split(plan: Plan, component: Component, predicate: isl.Set, common: int) -> None:
    count = predicate.dim(DIM)
    if count > plan.loops:
        raise Misuse(
            Code.MAP,
            f"the condition is on {count} iterators, but no statement has more than {plan.loops} loops "
            "around it",
            argument="condition",
            hint=f"the loops of the component are {', '.join(plan.leaf(component.first).loops) or 'none'}",
        )
    depth = plan.depth(component)
    if not 0 <= common <= depth:
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"{common} common loops, but the component has {depth} loops around it",
            argument="common",
        )
    if len({position[:common] for position in component.positions}) > 1:
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"the statements of the component do not share {common} loops now",
            argument="common",
            hint=f"they share {plan.common_loops(component)}",
        )
