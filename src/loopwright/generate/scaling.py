"""Scaled iterators: a loop of stride s whose body only wants every s-th value counts by one.

A schedule gives a relative order, so that the iterator need not be the schedule dimension itself
[Grosser2015, section 4.2].  Where every statement has an equality
t = s·(its own iterators and parameters) + o,  putting  t = s·c + o  takes the division out of the body and
the step out of the loop:

    for (c = 0; c <= 2 * n; c += 2) S(c / 2);   -->   for (c = 0; c <= n; c += 1) S(c);
"""

from __future__ import annotations

import islpy as isl

from loopwright.generate.site import Executed
from loopwright.generate.strides import Stride
from loopwright.presburger.equalities import affine_hull
from loopwright.presburger.sets import DIV, IN, OUT, PARAM, substitution


def scaled_iterator(executed: Executed, stride: Stride) -> isl.MultiAff | None:
    """The substitution t = s·c + o, if every statement gains by it."""
    if not stride.offset.is_cst():
        return None
    offsets = [_step_offset(relation, stride) for relation in executed]
    if offsets[0] is None or None in offsets:
        return None
    space = stride.offset.get_domain_space()
    variable = isl.MultiAff.identity_on_domain_space(space).get_aff(stride.level)
    step = isl.Val.int_from_si(space.get_ctx(), stride.step)
    # the first statement's own offset makes the iterator its own as well
    offset = isl.Val.int_from_si(space.get_ctx(), offsets[0])
    return substitution(space, stride.level, variable.scale_val(step).add_constant_val(offset))


def _step_offset(relation: isl.Map, stride: Stride) -> int | None:
    """o if t appears as s·(...) + o with the statement's iterators, and never as it is."""
    offset: int | None = None
    for constraint in affine_hull(relation).get_constraints():
        own = constraint.get_coefficient_val(IN, stride.level).to_python()
        if own == 0 or not _involves_instance(constraint):
            continue
        if abs(own) != 1 or not _others_divisible(constraint, stride):
            return None
        offset = -own * constraint.get_constant_val().to_python()
    return offset


def _involves_instance(constraint: isl.Constraint) -> bool:
    return bool(constraint.involves_dims(OUT, 0, constraint.dim(OUT)))


def _others_divisible(constraint: isl.Constraint, stride: Stride) -> bool:
    """Whether all coefficients but that of t are multiples of the step."""
    return all(
        constraint.get_coefficient_val(kind, k).to_python() % stride.step == 0
        for kind in (PARAM, IN, OUT, DIV)
        for k in range(constraint.dim(kind))
        if (kind, k) != (IN, stride.level)
    )
