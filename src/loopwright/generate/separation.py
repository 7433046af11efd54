"""Breaks a schedule dimension into pieces: separation and unrolling.

[Grosser2015, sections 5.4 and 5.5], [Quillere2000, section 5.2].
"""

from __future__ import annotations

import islpy as isl

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.generate.context import Executed
from loopwright.generate.strides import Stride, detect_stride
from loopwright.presburger.functions import involved
from loopwright.presburger.named import whole
from loopwright.presburger.sets import (
    DIM,
    DIV,
    IN,
    OUT,
    basic_sets,
    disjoint_pieces,
    eliminate_inner,
    eliminate_unknown,
    local_domain,
    merge_overlapping,
    shared_constraints,
)

MANY_PIECES = 6
"""Cutting stops at this many pieces of a loop: beyond that, a minimum costs less than another copy."""


def separate(domain: isl.Set, executed: Executed, level: int) -> list[isl.BasicSet]:
    """The common refinement of the statements' own domains inside `domain`."""
    parts: list[isl.Set] = []
    for relation in executed:
        parts = refine(parts, explicit_bounds(relation, level).intersect(domain))
    pieces = [piece for part in parts for piece in disjoint_pieces(part.coalesce(), level)]
    return merge_overlapping(pieces) if len(pieces) > 1 else pieces


def explicit_bounds(relation: isl.Map, level: int) -> isl.Set:
    """The domain that the constraints on dimensions up to `level` describe by themselves.

    Bounds that follow only from those of inner loops would cut off a first or last iteration in
    which an inner loop is empty: they would copy the code for this alone.
    """
    relation = relation.drop_constraints_involving_dims(OUT, 0, relation.dim(OUT))
    inner = relation.dim(IN) - level - 1
    if inner:
        relation = relation.drop_constraints_involving_dims(IN, level + 1, inner)
    return eliminate_unknown(relation.domain(), level).coalesce()


def refine(parts: list[isl.Set], new: isl.Set) -> list[isl.Set]:
    """Disjoint parts of the old union and `new`, each inside or outside of every one of them."""
    result: list[isl.Set] = []
    rest = new
    for part in parts:
        shared = part.intersect(new)
        if shared.is_empty():
            result.append(part)
            continue
        rest = rest.subtract(part)
        only = part.subtract(new)
        result.extend(piece for piece in (only, shared) if not piece.is_empty())
    if not rest.is_empty():
        result.append(rest)
    return result


def split_by_conditions(
    pieces: list[isl.BasicSet], conditions: list[isl.Set], level: int, most: int
) -> list[isl.BasicSet]:
    """Each piece cut along conditions on the dimensions up to `level`, while they stay few."""
    for condition in conditions:
        if len(pieces) > min(MANY_PIECES, most - 1):
            break
        cut: list[isl.BasicSet] = []
        for piece in pieces:
            inside = piece.to_set().intersect(condition)
            outside = piece.to_set().subtract(condition)
            if inside.is_empty() or outside.is_empty():
                cut.append(piece)
                continue
            for side in (inside, outside):
                cut.extend(disjoint_pieces(side.coalesce(), level))
        pieces = merge_overlapping(cut)
    return [piece for whole in pieces for piece in basic_sets(whole.to_set())]


def unroll(domain: isl.Set, exact: isl.Set, level: int, limit: int) -> list[isl.BasicSet]:
    """Slices `i = ⌈lower bound⌉ + t` that cover `domain`, for t = 0 .. n−1; those that overlap are one.

    `exact` is the schedule domain before divisions were removed: it has the strides.
    """
    if exact.is_empty():
        return []
    stride = detect_stride(exact, level)
    step = stride.step if stride else 1
    best = _best_lower_bound(domain, exact, stride, level)
    if best is None:
        return _unroll_pieces(domain, exact, level, limit)
    start, count = best
    if count > limit:
        raise GaveUp(
            Code.SIZE,
            f"unrolling schedule dimension {level} takes {count} copies of its body",
            hint=f"the limit is {limit}; unroll a dimension with fewer iterations",
        )
    variable = isl.Aff.var_on_domain(start.get_domain_local_space(), DIM, level)
    slices = []
    for index in range(count):
        value = start.add_constant_val(whole(index * step))
        piece = domain.intersect(variable.eq_set(value))
        if not piece.is_empty():
            slices.append(shared_constraints(piece))
    return merge_overlapping(slices)


def _unroll_pieces(domain: isl.Set, exact: isl.Set, level: int, limit: int) -> list[isl.BasicSet]:
    """Each disjoint piece from a lower bound of its own; an error if there is only one."""
    pieces = disjoint_pieces(domain, level)
    if len(pieces) < 2:
        raise BadInput(
            Code.UNBOUNDED,
            f"schedule dimension {level} cannot be unrolled: its number of iterations has no constant bound",
            hint="unroll only dimensions with a constant number of iterations, such as the points of a tile",
        )
    parts = [piece.to_set() for piece in pieces]
    cuts = [cut for part in parts for cut in unroll(part, exact.intersect(part), level, limit)]
    return merge_overlapping(cuts)


def _best_lower_bound(
    domain: isl.Set, exact: isl.Set, stride: Stride | None, level: int
) -> tuple[isl.Aff, int] | None:
    """The lower bound from which the fewest steps reach every point [Grosser2015, example 5.12].

    A division in it occurs in every slice, and counts as much as another slice.
    """
    step = stride.step if stride else 1
    best: tuple[int, int, isl.Aff] | None = None
    outer = eliminate_inner(exact, level - 1)  # a bound does not involve the dimension or inner ones
    for bound in _lower_bounds(domain, level):
        start = (stride.align_up(bound) if stride else bound).gist(outer)
        variable = isl.Aff.var_on_domain(start.get_domain_local_space(), DIM, level)
        distance = variable.sub(start)
        scale = distance.get_denominator_val()
        reach = exact.max_val(distance.scale_val(scale))
        if not reach.is_rat():
            continue
        slices = reach.div(scale).floor().to_python() // step + 1
        cost = slices * (1 + len(involved(start, DIV)))
        if best is None or cost < best[0]:
            best = (cost, slices, start)
    return None if best is None else (best[2], best[1])


def _lower_bounds(domain: isl.Set, level: int) -> list[isl.Aff]:
    """⌈−h/v⌉ for the constraints h + v·i ≥ 0 shared, up to a constant, by all of `domain`."""
    hull = local_domain(domain.simple_hull().to_set(), level).simple_hull()
    return [
        constraint.get_bound(DIM, level).ceil()
        for constraint in hull.get_constraints()
        if constraint.involves_dims(DIM, level, 1)
        and not constraint.is_div_constraint()
        and (constraint.is_equality() or constraint.is_lower_bound(DIM, level))
    ]
