"""Loops without an end [Grosser2015, section 5.3] end where nothing is left for them to do."""

from __future__ import annotations

import islpy as isl

from loopwright.generate.site import Executed
from loopwright.presburger.sets import (
    DIM,
    basic_sets,
    disjoint_pieces,
    eliminate_inner,
    has_upper_bound,
    merge_overlapping,
    union,
)


def split_endless(pieces: list[isl.BasicSet], executed: Executed, level: int) -> list[isl.BasicSet]:
    """Disjoint pieces, those without an upper bound cut by the outer values for which instances have none."""
    cut = [part for piece in pieces for part in _cut(piece, executed, level)]
    return cut if len(cut) == len(pieces) else merge_overlapping(cut)


def _cut(piece: isl.BasicSet, executed: Executed, level: int) -> list[isl.BasicSet]:
    if has_upper_bound(piece.to_set(), level):
        return [piece]
    domain = union(relation.domain() for relation in executed).intersect(piece.to_set())
    parts = [part.to_set() for part in basic_sets(eliminate_inner(domain, level))]
    endless = [part for part in parts if not has_upper_bound(part, level)]
    if not endless or len(endless) == len(parts):
        return [piece]
    outer = union(endless).eliminate(DIM, level, 1).compute_divs()
    inside, outside = piece.to_set().intersect(outer), piece.to_set().subtract(outer)
    return [cut for side in (inside, outside) for cut in disjoint_pieces(side.coalesce(), level)]
