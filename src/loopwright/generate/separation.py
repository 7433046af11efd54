"""Breaking a schedule dimension into pieces [Grosser2015, section 5.4], [Quillere2000, section 5.2]."""

from __future__ import annotations

import islpy as isl

from loopwright.generate.site import Executed
from loopwright.presburger.sets import (
    IN,
    OUT,
    basic_sets,
    disjoint_pieces,
    eliminate_unknown,
    merge_overlapping,
)

MANY_PIECES = 6
"""Cutting stops at this many pieces of a loop: a minimum costs less than another copy then."""


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
    which an inner loop is empty: a copy of the code for nothing but that.
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
