"""[Grosser2015, algorithms 1 to 3]: converts each schedule dimension in turn, piece by piece, to loops.

Loop bounds from the constraints on the current dimension [Grosser2015, section 5.3].
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from loopwright.errors import BadInput, Code
from loopwright.generate.components import components, sort_pieces
from loopwright.generate.conditions import combined, constraint_test, piecewise_expression
from loopwright.generate.context import Executed, GenerationContext, restrict
from loopwright.generate.expressions import EvaluationPlace, linear, written
from loopwright.generate.grafts import Graft, hoistable_guard, independent, most_copies, nest, shared_enforced
from loopwright.generate.pieces import (
    isolate,
    parameter_contexts,
    refined_pieces,
    schedule_domain,
    split_endless,
    wanted_isolation,
)
from loopwright.generate.strides import Stride, align_shifts, detect_stride, scaled_iterator
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import TRUE, And, Compare, Expr, Max, Min, Relation, Test, Var
from loopwright.loops.nodes import For, Let, Node
from loopwright.loops.sums import LinearSum
from loopwright.model.annotations import Parallel, Unrolled
from loopwright.presburger.sets import (
    DIM,
    IN,
    eliminate_inner,
    has_lower_bound,
    has_upper_bound,
    local_domain,
    shared_constraints,
    substitution,
    value_map,
)


def generate_band(context: GenerationContext, executed: Executed) -> list[Graft]:
    """Generate a band from its first dimension on, for each context its loops need [Quillere2000]."""
    parts = parameter_contexts(context, executed)
    if len(parts) == 1:
        return next_level(context, executed)
    return [
        graft.guarded(part)
        for part in parts
        for graft in next_level(context.cut(len(parts)).assume(part, None), restrict(executed, part))
    ]


def next_level(context: GenerationContext, executed: Executed) -> list[Graft]:
    """Generate the dimensions of the band from the current one on [Grosser2015, algorithm 1]."""
    if context.innermost:
        return context.site.inner(context, executed)
    result: list[Graft] = []
    for component in components(context, executed):
        aligned, moved = align_shifts(context, component)
        grafts = _component(aligned, moved)
        if aligned is not context:
            grafts = [graft.without_dimension(context.level + 1) for graft in grafts]
        result.extend(grafts)
    return result


def _component(context: GenerationContext, executed: Executed) -> list[Graft]:
    level = context.level
    if not context.site.splits:
        value = _constant(executed, level)
        if value is not None:
            return _skip_constant(context, executed, value)
    exact = schedule_domain(executed)
    domain = local_domain(exact, level)
    wanted = wanted_isolation(context)
    parts = None if wanted is None else isolate(domain, eliminate_inner(exact, level), wanted, level)
    if parts is None:
        return _base(context, executed, domain)
    result: list[Graft] = []
    for part, where in (
        (parts.before, context),
        (parts.center, context.inside_isolation()),
        (parts.after, context),
        (parts.other, context),
    ):
        inside = restrict(executed, part)
        if inside:
            result.extend(_base(where, inside, part))
    return result


def _constant(executed: Executed, level: int) -> isl.Val | None:
    """The value of the current dimension if it is obviously the same constant everywhere."""
    values = [relation.plain_get_val_if_fixed(IN, level) for relation in executed]
    if all(value.is_int() and value.eq(values[0]) for value in values):
        return values[0]
    return None


def _skip_constant(context: GenerationContext, executed: Executed, value: isl.Val) -> list[Graft]:
    """A dimension that only numbers the statements of a sequence becomes no node."""
    free = tuple(relation.eliminate(IN, context.level, 1) for relation in executed)
    constant = isl.Aff.val_on_domain_space(context.space, value)
    return next_level(context.eliminate(constant).enter(), free)


def _base(context: GenerationContext, executed: Executed, domain: isl.Set) -> list[Graft]:
    """Pieces of `domain` in order, each made into a loop [Grosser2015, algorithm 2]."""
    inside, pieces = refined_pieces(context, executed, domain)
    pieces = split_endless(pieces, executed, context.level)
    made = [create(inside, executed, piece) for piece in sort_pieces(pieces, context.level)]
    copies = sum(most_copies(grafts) for grafts in made if grafts) if context.unrolls else 1
    result = (graft for grafts in made for graft in grafts)
    return [graft if graft.copies == copies else replace(graft, copies=copies) for graft in result]


@dataclass(frozen=True)
class DimensionPiece:
    """One piece of the current dimension, with everything that determines its loop.

    `bounds`  the constraints for loop bounds, an over-approximation of
    `domain`  what is executed, inner dimensions projected out;
    `value`   the only value the dimension has, where there is only one.
    """

    context: GenerationContext
    executed: Executed
    bounds: isl.BasicSet
    domain: isl.Set
    stride: Stride | None
    value: isl.PwAff | None


def create(context: GenerationContext, executed: Executed, bounds: isl.BasicSet) -> list[Graft]:
    """The part of the program that scans `bounds` at the current level [Grosser2015, algorithm 3]."""
    executed = restrict(executed, bounds.to_set())
    if not executed:
        return []
    level = context.level
    domain = eliminate_inner(schedule_domain(executed), level)
    bounds = bounds.intersect(shared_constraints(local_domain(domain.detect_equalities(), level)))
    stride = detect_stride(domain, level)
    value = _single_value(bounds, stride, context)
    piece = DimensionPiece(context, executed, bounds, domain, stride, value)
    if value is not None and value.n_piece() == 1:
        return _eliminated(piece, value.get_pieces()[0][1])
    scale = scaled_iterator(executed, stride) if stride is not None and value is None else None
    return _loop(piece) if scale is None else _scaled(piece, scale)


def _single_value(
    bounds: isl.BasicSet, stride: Stride | None, context: GenerationContext
) -> isl.PwAff | None:
    """The value of the current dimension as a function of the outer ones, if there is only one."""
    here = context.known.intersect(bounds.to_set())
    if stride is not None:
        here = here.intersect(stride.constraint())
    values = value_map(here, context.level)
    if not values.is_single_valued():
        return None
    # of two equal bounds, the upper one leaves fewer conditions to test
    value = values.as_pw_multi_aff() if values.plain_is_single_valued() else values.lexmax_pw_multi_aff()
    return value.gist(context.known).coalesce().get_at(0)


def _scaled(piece: DimensionPiece, scale: isl.MultiAff) -> list[Graft]:
    """The same piece with an iterator that counts the steps of the stride."""
    counted = tuple(relation.preimage_domain_multi_aff(scale) for relation in piece.executed)
    return create(piece.context.substitute(scale), counted, piece.bounds.preimage_multi_aff(scale))


def _eliminated(piece: DimensionPiece, value: isl.Aff) -> list[Graft]:
    """No loop: the value replaces the dimension in everything below."""
    context = piece.context
    plug = substitution(context.space, context.level, value)
    pending = piece.bounds.to_set().preimage_multi_aff(plug)
    inside = context.assume(None, pending).eliminate(value)
    executed = tuple(relation.preimage_domain_multi_aff(plug) for relation in piece.executed)
    children = next_level(inside.enter(), executed)
    if not children:
        return []
    guard = _pending_guard(inside, shared_enforced(children, context.level))
    return children if guard.plain_is_universe() else [child.guarded(guard) for child in children]


def _loop(piece: DimensionPiece) -> list[Graft]:
    """A for node, or for a single but piecewise value a `Let`.

    Of the constraints in `bounds` those on the current dimension are enforced by the loop, and so
    is the stride; the others are pending until the body shows which of them it enforces itself.
    """
    context, level, stride = piece.context, piece.context.level, piece.stride
    simpler = piece.bounds.to_set().gist(context.known).get_basic_sets()
    bounds = simpler[0] if len(simpler) == 1 else piece.bounds
    generated = bounds.drop_constraints_not_involving_dims(DIM, level, 1).to_set()
    if stride is not None:
        generated = generated.intersect(stride.constraint())
    pending = bounds.drop_constraints_involving_dims(DIM, level, 1).to_set()
    inside = context.assume(generated, pending)
    children = next_level(inside.enter(), piece.executed)
    if not children:
        return []
    enforced = shared_enforced(children, level)
    is_given = bool(_split(bounds, level)[0])
    guard = _loop_guard(piece, children, inside, generated, enforced, is_given=is_given)
    place = EvaluationPlace(context.names, context.generated.intersect(guard))
    body = nest(children, place.where(generated))
    node = _node(piece, bounds, body, place, most_copies(children))
    scanned = generated.eliminate(DIM, level, 1).remove_unknown_divs()
    return [Graft(node, guard, enforced.intersect(scanned))]


def _loop_guard(
    piece: DimensionPiece,
    children: list[Graft],
    inside: GenerationContext,
    generated: isl.Set,
    enforced: isl.Set,
    *,
    is_given: bool,
) -> isl.Set:
    """The guard of the loop: pending, hoisted and implied conditions together.

    `is_given`: the constraints of the loop bound it from below.
    """
    level = piece.context.level
    guard = _pending_guard(inside, enforced)
    guard = guard.intersect(hoistable_guard(children, inside.known, level))
    if not has_upper_bound(piece.domain, level) or (piece.stride is not None and not is_given):
        # the guard ensures some execution: an endless loop does not end where inner ones are empty,
        # and the least value of an empty loop need not be one of the stride
        guard = guard.intersect(_implied(piece.domain, level))
    if piece.value is not None:
        guard = guard.intersect(_implied(generated, level))
    elif piece.stride is not None:
        guard = guard.intersect(_implied(piece.stride.constraint(), level))
    return independent(guard, level).gist(piece.context.generated).coalesce()


def _pending_guard(context: GenerationContext, enforced: isl.Set) -> isl.Set:
    """The pending conditions that neither outer nor, depending on the options, inner nodes enforce."""
    guard = context.pending
    if guard.plain_is_universe():
        return guard
    guard = guard.gist(context.generated)
    return guard.gist(enforced) if context.options.nested_bounds else guard


def _implied(condition: isl.Set, level: int) -> isl.Set:
    """The implications of a condition on the current dimension for outer ones that no loop tests.

    [Grosser2015, example 5.6]
    """
    return condition.eliminate(DIM, level, 1).compute_divs()


def _node(
    piece: DimensionPiece, bounds: isl.BasicSet, body: Node, place: EvaluationPlace, copies: int
) -> Node:
    """The loop around `body`, evaluated at `place`, with its annotations."""
    context = piece.context
    name, dimension = place.names[context.level], context.dimension
    if piece.value is not None:
        return Let(name, piecewise_expression(piece.value, place), body, dimension)
    header = loop_header(
        bounds,
        piece.domain,
        piece.stride,
        place,
        context.level,
        single_upper_bound=context.options.single_upper_bound,
    )
    step = piece.stride.step if piece.stride else 1
    said = (Parallel(),) if context.site.unordered else context.said()
    unrolled = (Unrolled(copies),) if copies > 1 else ()
    return For(name, header.start, header.test, step, body, dimension, said + unrolled)


@dataclass(frozen=True)
class Header:
    """The head of a for loop."""

    start: Expr
    test: Test


def loop_header(
    bounds: isl.BasicSet,
    domain: isl.Set,
    stride: Stride | None,
    place: EvaluationPlace,
    level: int,
    *,
    single_upper_bound: bool,
) -> Header:
    """Start and test of the loop that scans `bounds` at `level`.

    `domain` is the set that the loop must cover; it gives a piecewise bound where `bounds`, an
    over-approximation, has none [Grosser2015, example 5.7].
    """
    lower, upper = _split(bounds, level)
    iterator = Var(place.names[level])
    if lower:
        starts = [written(_lower(constraint, stride, place, level)) for constraint in lower]
        start = combined(Max, starts, place)
    else:
        start = _extreme_start(domain, place, level)
    if not upper:
        return Header(start, _extreme_test(domain, iterator, place, level))
    if single_upper_bound:
        return Header(start, _at_most(iterator, [_upper(c, place, level) for c in upper], place))
    tests = tuple(dict.fromkeys(constraint_test(constraint, place) for constraint in upper))
    return Header(start, tests[0] if len(tests) == 1 else And(tests))


def _split(bounds: isl.BasicSet, level: int) -> tuple[list[isl.Constraint], list[isl.Constraint]]:
    """The constraints that bound dimension `level` from below and from above."""
    lower: list[isl.Constraint] = []
    upper: list[isl.Constraint] = []
    for constraint in bounds.get_constraints():
        if not constraint.involves_dims(DIM, level, 1) or constraint.is_div_constraint():
            continue
        if constraint.is_equality() or constraint.is_lower_bound(DIM, level):
            lower.append(constraint)
        if constraint.is_equality() or constraint.is_upper_bound(DIM, level):
            upper.append(constraint)
    return lower, upper


def _lower(
    constraint: isl.Constraint, stride: Stride | None, place: EvaluationPlace, level: int
) -> LinearSum:
    """h + v·i ≥ 0 with v > 0 gives i ≥ ⌈−h/v⌉, moved up to the stride."""
    bound = constraint.get_bound(DIM, level).ceil()
    if stride is not None:
        bound = stride.align_up(bound)
    return linear(bound.gist(place.known), place)


def _upper(constraint: isl.Constraint, place: EvaluationPlace, level: int) -> LinearSum:
    """h − v·i ≥ 0 with v > 0 gives i ≤ ⌊h/v⌋."""
    return linear(constraint.get_bound(DIM, level).floor().gist(place.known), place)


def _at_most(iterator: Var, bounds: list[LinearSum], place: EvaluationPlace) -> Test:
    """iterator ≤ min(bounds), written with `<` if that shortens every bound."""
    if all(bound.terms and bound.constant < 0 for bound in bounds):
        limits = (written(bound.plus_constant(1)) for bound in bounds)
        return Compare(Relation.LT, iterator, combined(Min, limits, place))
    return Compare(Relation.LE, iterator, combined(Min, map(written, bounds), place))


def _extreme_start(domain: isl.Set, place: EvaluationPlace, level: int) -> Expr:
    """The least value of dimension `level` in `domain` as a function of the outer ones."""
    local = eliminate_inner(domain, level)
    if not has_lower_bound(local, level):
        raise BadInput(
            Code.UNBOUNDED,
            f"schedule dimension {level} has no lower bound: there is no first iteration",
            hint="bound the dimension from below in the domain, or reverse its sign in the schedule",
        )
    least = value_map(local, level).lexmin_pw_multi_aff().get_at(0)
    return piecewise_expression(least, place)


def _extreme_test(domain: isl.Set, iterator: Var, place: EvaluationPlace, level: int) -> Test:
    """Up to the greatest value in `domain`, or without end if there is none."""
    local = eliminate_inner(domain, level)
    if not has_upper_bound(local, level):
        return TRUE
    greatest = value_map(local, level).lexmax_pw_multi_aff().get_at(0)
    return Compare(Relation.LE, iterator, piecewise_expression(greatest, place))
