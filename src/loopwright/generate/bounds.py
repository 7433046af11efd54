"""Loop bounds from the constraints on the current dimension [Grosser2015, section 5.3]."""

from __future__ import annotations

import islpy as isl

from loopwright.errors import BadInput, Code
from loopwright.generate.conditions import combined, constraint_test, piecewise_expression
from loopwright.generate.expressions import EvaluationPlace, LinearSum, linear
from loopwright.generate.strides import Stride
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import TRUE, And, Compare, Expr, Max, Min, Relation, Test, Var
from loopwright.presburger.sets import DIM, eliminate_inner, has_lower_bound, has_upper_bound, value_map


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

    `domain` is what the loop has to cover; it gives a piecewise bound where `bounds`, an
    over-approximation, has none [Grosser2015, example 5.7].
    """
    lower, upper = _split(bounds, level)
    iterator = Var(place.names[level])
    if lower:
        starts = [_lower(constraint, stride, place, level).expr() for constraint in lower]
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
    """iterator ≤ min(bounds), written with `<` where every bound is shorter then."""
    if all(bound.terms and bound.constant < 0 for bound in bounds):
        limits = (bound.plus_constant(1).expr() for bound in bounds)
        return Compare(Relation.LT, iterator, combined(Min, limits, place))
    return Compare(Relation.LE, iterator, combined(Min, (bound.expr() for bound in bounds), place))


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
