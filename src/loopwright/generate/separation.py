"""Breaking a schedule dimension into pieces (002, 5.4; 003, 5.2)."""

from __future__ import annotations

import islpy as isl

from loopwright.generate.site import Executed
from loopwright.presburger.sets import basic_sets, disjoint_pieces, local_domain, merge_overlapping


def separate(domain: isl.Set, executed: Executed, level: int) -> list[isl.BasicSet]:
    """The common refinement of the statements' own domains inside `domain`."""
    parts: list[isl.Set] = []
    for relation in executed:
        own = local_domain(relation.domain(), level).intersect(domain)
        parts = refine(parts, own)
    pieces = [piece for part in parts for piece in disjoint_pieces(part.coalesce(), level)]
    return merge_overlapping(pieces) if len(pieces) > 1 else pieces


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
    pieces: list[isl.BasicSet], conditions: list[isl.Set], level: int
) -> list[isl.BasicSet]:
    """Each piece cut along conditions on the dimensions up to `level`."""
    for condition in conditions:
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
