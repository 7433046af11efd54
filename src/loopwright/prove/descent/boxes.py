"""A few simple constraints that a dependence satisfies: where they suffice, a question is asked with them.

    { O[o] -> P[p] : l_k <= p_k - o_k <= u_k for every k }

What holds of all pairs in the box holds of the dependence, which is a part of it.  A dependence of a stencil
has some thirty constraints, its box two for each dimension.
"""

from __future__ import annotations

import islpy as isl

from loopwright.presburger.sets import IN, OUT


def box_around(relation: isl.BasicMap) -> isl.Map | None:
    """The box, if all distances are bounded by numbers; None otherwise."""
    depth = relation.dim(IN)
    if depth != relation.dim(OUT):
        return None
    pairs = isl.Map.from_basic_map(relation).wrap()
    local = isl.LocalSpace.from_space(pairs.get_space())
    found = isl.Set.universe(pairs.get_space())
    for k in range(depth):
        source, sink = (isl.Aff.var_on_domain(local, isl.dim_type.set, place) for place in (k, depth + k))
        distance = sink.sub(source)
        least, most = pairs.min_val(distance), pairs.max_val(distance)
        if not least.is_int() or not most.is_int():
            return None
        found = found.intersect(distance.ge_set(isl.Aff.val_on_domain(local, least)))
        found = found.intersect(distance.le_set(isl.Aff.val_on_domain(local, most)))
    return found.unwrap()
