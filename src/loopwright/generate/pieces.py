"""[Grosser2015, algorithm 2], its first half: the pieces of a dimension, each to become one loop.

Regions of the dimension may be treated differently.  The options of a flat schedule name the points
at which dimension d is to be separated, `[t0, ..] -> separate[d]`, and so do `atomic` and `unroll` [sections
5.4 and 5.5].  A band may isolate a part from what is before, after and beside it [section 5.6];
`separation_class[[d] -> [k]]` is the older notation for this.

Two extensions look one level ahead [Quillere2000, sections 6 and 7].  The second separation cuts a piece
along the contexts in which each inner loop is not empty; the removal of minima and maxima cuts it along the
conditions under which one bound of an inner loop is the larger one.  A cut gives a loop new bounds, so the
levels are refined from the inside out; what the outermost loops need becomes conditions on the parameters.
"""

from __future__ import annotations

from itertools import combinations

import islpy as isl

from loopwright.generate.components import components
from loopwright.generate.context import Executed, GenerationContext, restrict
from loopwright.generate.separation import MANY_PIECES, separate, split_by_conditions, unroll
from loopwright.lazy_dataclass import dataclass
from loopwright.model.schedule import LoopType
from loopwright.presburger.sets import (
    DIM,
    after,
    basic_sets,
    before,
    disjoint_pieces,
    eliminate_inner,
    eliminate_unknown,
    has_one_value,
    has_upper_bound,
    local_domain,
    maps_of,
    merge_overlapping,
    shared_constraints,
    union,
)

_POSITIONAL = (LoopType.UNROLL, LoopType.SEPARATE, LoopType.ATOMIC)


def schedule_domain(executed: Executed) -> isl.Set:
    return union(relation.domain() for relation in executed)


def pieces_of(context: GenerationContext, executed: Executed, domain: isl.Set) -> list[isl.BasicSet]:
    """Disjoint pieces of `domain` by the loop types that apply to it."""
    parts = _parts_by_type(context, domain)
    pieces = [piece for kind, part in parts for piece in _split(context, executed, part, kind)]
    return merge_overlapping(pieces) if len(parts) > 1 else pieces


def _parts_by_type(context: GenerationContext, domain: isl.Set) -> list[tuple[LoopType, isl.Set]]:
    """`domain` cut along the regions that a flat schedule's options name."""
    if not context.site.options:
        return [(context.loop_type, domain)]
    parts: list[tuple[LoopType, isl.Set]] = []
    rest = domain
    for kind in _POSITIONAL:
        region = _region(context, kind.value, f"{kind.value}[{context.origins[context.level]}]")
        if region is None:
            continue
        chosen = rest.intersect(eliminate_unknown(region, context.level))
        if not chosen.is_empty():
            parts.append((kind, chosen.coalesce()))
            rest = rest.subtract(chosen)
    if not rest.is_empty():
        parts.append((context.loop_type, rest.coalesce()))
    return parts


def _split(
    context: GenerationContext, executed: Executed, domain: isl.Set, kind: LoopType
) -> list[isl.BasicSet]:
    match kind:
        case LoopType.UNROLL:
            exact = schedule_domain(executed).intersect(domain)
            return unroll(domain, exact, context.level, context.options.max_unroll)
        case LoopType.SEPARATE:
            return separate(domain, executed, context.level)
        case LoopType.ATOMIC:
            return [shared_constraints(domain)]
        case LoopType.DEFAULT:
            exact = eliminate_inner(schedule_domain(executed), context.level).intersect(domain)
            return disjoint_pieces(exact.coalesce(), context.level)


def options_by_name(options: isl.UnionMap | None) -> dict[str, isl.UnionMap]:
    """The options with the same target together: `separate`, `atomic`, `unroll`, `separation_class`."""
    found: dict[str, isl.UnionMap] = {}
    for one in maps_of(options) if options is not None else ():
        name = one.get_tuple_name(isl.dim_type.out)
        found[name] = found[name].union(one) if name in found else isl.UnionMap.from_map(one)
    return found


def _class_region(context: GenerationContext) -> isl.Set | None:
    """The schedule points that are in a separation class of the current dimension."""
    name = "separation_class"
    return _region(context, name, f"{name}[[{context.origins[context.level]}] -> [k]]")


def _region(context: GenerationContext, name: str, target: str) -> isl.Set | None:
    """What the options map to `target`, as a set over the iterators, with inner dimensions projected out."""
    options = context.site.options.get(name)
    if options is None or context.origins[context.level] is None:
        return None
    points = options.intersect_range(isl.UnionSet(f"{{ {target} }}", context=options.get_ctx())).domain()
    if points.is_empty():
        return None
    space = context.times.get_space().range().align_params(points.get_space())
    region = points.extract_set(space).preimage_multi_aff(context.times)
    return None if region.is_empty() else local_domain(region, context.level)


def wanted_isolation(context: GenerationContext) -> isl.Set | None:
    """The part to generate separately: the band's isolation option or an old separation class."""
    isolate_map = context.site.band.isolate
    if isolate_map is not None:  # in schedule dimensions
        return isolate_map.wrap().flatten().preimage_multi_aff(context.times)
    return _class_region(context)


@dataclass(frozen=True)
class IsolationParts:
    """`other` has the outer dimensions without a center: its order relative to the rest is free."""

    before: isl.Set
    center: isl.Set
    after: isl.Set
    other: isl.Set


def isolate(domain: isl.Set, exact: isl.Set, wanted: isl.Set, level: int) -> IsolationParts | None:
    """Split `domain` around the part of `wanted` inside it; None if there is no such part.

    `exact` is what `domain` approximates.
    """
    center = wanted.intersect(domain)
    if center.is_empty():
        return None
    contiguous = shared_constraints(local_domain(center, level)).to_set()
    center = contiguous.intersect(domain)
    first = before(center, level).intersect(domain).subtract(center)
    last = after(center, level).intersect(domain).subtract(center).subtract(first)
    other = domain.subtract(center).subtract(first).subtract(last)
    together = _together(last.intersect(exact), other.intersect(exact), exact, level)
    if together is not None:
        last, other = together.intersect(domain), isl.Set.empty(other.get_space())
    return IsolationParts(first.coalesce(), center.coalesce(), last.coalesce(), other.coalesce())


def _together(one: isl.Set, two: isl.Set, domain: isl.Set, level: int) -> isl.Set | None:
    """The constraints both share, if those a loop at `level` can have describe the two inside `domain`.

    This is so for the last, partial tile, and for the same tile where it is the only one.
    """
    both = one.union(two)
    shared = eliminate_unknown(shared_constraints(both).to_set(), level)
    return shared if shared.intersect(domain).is_subset(both) else None


def split_endless(pieces: list[isl.BasicSet], executed: Executed, level: int) -> list[isl.BasicSet]:
    """Disjoint pieces, those without an upper bound cut by the outer values for which instances have none."""
    cut = [part for piece in pieces for part in _cut(piece, executed, level)]
    return cut if len(cut) == len(pieces) else merge_overlapping(cut)


def _cut(piece: isl.BasicSet, executed: Executed, level: int) -> list[isl.BasicSet]:
    if has_upper_bound(piece.to_set(), level):
        return [piece]
    domain = schedule_domain(executed).intersect(piece.to_set())
    parts = [part.to_set() for part in basic_sets(eliminate_inner(domain, level))]
    endless = [part for part in parts if not has_upper_bound(part, level)]
    if not endless or len(endless) == len(parts):
        return [piece]
    outer = union(endless).eliminate(DIM, level, 1).compute_divs()
    inside, outside = piece.to_set().intersect(outer), piece.to_set().subtract(outer)
    return [cut for side in (inside, outside) for cut in disjoint_pieces(side.coalesce(), level)]


def refined_pieces(
    context: GenerationContext, executed: Executed, domain: isl.Set
) -> tuple[GenerationContext, list[isl.BasicSet]]:
    """The pieces of `domain`, cut by the conditions of the loops directly below the current level.

    Each comes with the context inside, which has fewer cuts left.
    """
    pieces = pieces_of(context, executed, domain)
    options = context.options
    if not (options.dead_loops or options.split_bounds) or context.enter().innermost:
        return context, pieces
    result: list[isl.BasicSet] = []
    for piece in pieces:
        if has_one_value(piece, context.level):  # no loop to split
            result.append(piece)
            continue
        inside = restrict(executed, piece.to_set())
        found: list[isl.Set] = []
        for new in conditions_at(context.enter(), inside, dead_loops=options.dead_loops):
            if not any(new.is_equal(old) for old in found):
                found.append(new)
        result.extend(split_by_conditions([piece], found, context.level, context.cuts))
    result = merge_overlapping(result)
    return context.cut(-(-len(result) // len(pieces)) if pieces else 1), result


def parameter_contexts(context: GenerationContext, executed: Executed) -> list[isl.Set]:
    """The parameter values cut by how the bounds of the outermost loops compare.

    An empty outermost loop costs one test in a run, so it is not cut for that.
    """
    whole = [context.known]
    if context.level > 0 or context.innermost or not context.options.split_bounds:
        return whole
    for condition in conditions_at(context, executed, dead_loops=False):
        if len(whole) > MANY_PIECES:
            break
        halves = [part for old in whole for part in (old.intersect(condition), old.subtract(condition))]
        whole = [part.coalesce() for part in halves if not part.is_empty()]
    return whole


def conditions_at(context: GenerationContext, executed: Executed, *, dead_loops: bool) -> list[isl.Set]:
    """The conditions on outer dimensions by which loops at the current level differ."""
    found: list[isl.Set] = []
    if not executed:
        return found
    for component in components(context, executed):
        domain = local_domain(schedule_domain(component), context.level)
        _, pieces = refined_pieces(context, component, domain)
        for piece in pieces:
            if dead_loops:
                found.append(piece.to_set().eliminate(DIM, context.level, 1).compute_divs())
            if context.options.split_bounds:
                found.extend(_bound_comparisons(piece.to_set().gist(context.known), context.level))
    return found


def _bound_comparisons(domain: isl.Set, level: int) -> list[isl.Set]:
    """{ outer : first bound ≥ second bound } for two lower or two upper bounds.

    a/p ≥ b/q implies ⌈a/p⌉ ≥ ⌈b/q⌉, and a/p < b/q implies ⌈a/p⌉ ≤ ⌈b/q⌉: compared as fractions, the
    bounds are cut as well, and without integer divisions.
    """
    lower: list[isl.Aff] = []
    upper: list[isl.Aff] = []
    for piece in basic_sets(domain):
        for constraint in piece.get_constraints():
            if not constraint.involves_dims(DIM, level, 1) or constraint.is_div_constraint():
                continue
            if constraint.is_equality():
                continue
            bound = constraint.get_bound(DIM, level)
            if constraint.is_lower_bound(DIM, level):
                lower.append(bound)
            else:
                upper.append(bound)
    return [first.ge_set(second) for bounds in (lower, upper) for first, second in combinations(bounds, 2)]
