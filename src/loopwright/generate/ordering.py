"""Strongly connected components in order, and the order of disjoint pieces of a dimension.

Papers: 002, section 5.7; 003, section 5.3; 000, appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import islpy as isl

from loopwright.presburger.sets import DIM, basic_sets, before, shared_constraints, union


def sorted_components(count: int, precedes: Callable[[int, int], bool]) -> list[list[int]]:
    """The strongly connected components of 0 .. count−1 in topological order.

    Tarjan's algorithm, which asks for an edge only where the answer can matter: an edge is a
    question to isl.  Unrelated components keep the order of their numbers.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []

    def visit(node: int) -> Iterator[int]:
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in reversed(range(count)):
            if other == node or (other in index and (other not in on_stack or index[other] >= low[node])):
                continue
            if not precedes(node, other):
                continue
            if other not in index:
                yield other
            low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            place = stack.index(node)
            found.append(sorted(stack[place:]))
            on_stack.difference_update(stack[place:])
            del stack[place:]

    for root in reversed(range(count)):
        visits = [visit(root)] if root not in index else []
        while visits:
            child = next(visits[-1], None)
            if child is None:
                visits.pop()
            else:
                visits.append(visit(child))
    return found[::-1]


def sort_pieces(pieces: list[isl.BasicSet], level: int) -> list[isl.BasicSet]:
    """Disjoint pieces in an order that respects `level` for all values of the outer dimensions.

    Piece a must come before piece b if a point of a precedes one of b.  Where that is a cycle,
    because the order of two pieces depends on the outer dimensions, the pieces are split by it.
    """
    if len(pieces) < 2:
        return pieces
    sets = [piece.to_set() for piece in pieces]
    result: list[isl.BasicSet] = []
    for component in sorted_components(
        len(pieces), lambda first, second: sets[second].follows_at(sets[first], level) > 0
    ):
        if len(component) == 1:
            result.append(pieces[component[0]])
        else:
            result.extend(_split_cycle([sets[k] for k in component], level))
    return result


def _split_cycle(cycle: list[isl.Set], level: int) -> list[isl.BasicSet]:
    """Split by the outer values for which the first piece precedes some other one.

    For given outer values only one side of the split has points, so any order of the sides is
    right.  Pieces that are not separated by this are generated as one loop.
    """
    for index, piece in enumerate(cycle):
        for other in cycle[index + 1 :]:
            preceding = piece.intersect(before(other, level))
            following = other.intersect(before(piece, level))
            if preceding.is_empty() or following.is_empty():
                continue
            outer = _outer(preceding, level)
            if any(not part.is_subset(outer) and not part.is_disjoint(outer) for part in cycle):
                return _split_by(cycle, outer, level)
    for piece in cycle:
        earlier = union(piece.intersect(before(other, level)) for other in cycle if other is not piece)
        outer = _outer(earlier, level)
        if any(not part.is_subset(outer) and not part.is_disjoint(outer) for part in cycle):
            return _split_by(cycle, outer, level)
    return [shared_constraints(union(cycle))]


def _split_by(cycle: list[isl.Set], outer: isl.Set, level: int) -> list[isl.BasicSet]:
    inside = [piece.intersect(outer) for piece in cycle]
    outside = [piece.subtract(outer) for piece in cycle]
    result: list[isl.BasicSet] = []
    for side in (inside, outside):
        parts = [part for piece in side for part in basic_sets(piece.coalesce())]
        result.extend(sort_pieces(parts, level))
    return result


def _outer(domain: isl.Set, level: int) -> isl.Set:
    """The outer dimensions of `domain`, `level` and those inside it free."""
    return domain.eliminate(DIM, level, domain.dim(DIM) - level).compute_divs().coalesce()
