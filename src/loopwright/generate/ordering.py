"""Strongly connected components in order, and the order of disjoint pieces of a dimension.

[Grosser2015, section 5.7], [Quillere2000, section 5.3], [Courant2021, appendix A].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.presburger.sets import DIM, basic_sets, before


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

    Piece a must come before piece b if a point of a precedes one of b.  isl answers that quickly,
    but of rational points: where a cycle comes out, the integer points are looked at.
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
            continue
        for part in _without_cycles([sets[k] for k in component], level):
            result.extend(basic_sets(part.make_disjoint().coalesce()))
    return result


def _without_cycles(pieces: list[isl.Set], level: int) -> list[isl.Set]:
    """Pieces in order, split where their order is a cycle: it depends on the outer dimensions then.

    Let B(a, b) be the outer values x for which a point of a precedes one of b.  For one x a piece has
    the integers of an interval, and disjoint intervals are in one order.  If, around a cycle
    a1, a2, .., am, a1, every piece lay in its B(ak, ak+1), then at an x of B(am, a1) there would be
    a1 before a2 before .. before am before a1.  So some piece has points on both sides of its B, and
    all pieces are split by that.  Fewer orders of the pieces occur on either side than on both: this ends.
    For one x all pieces have their points on the same side, so that the sides may run in any order.
    """
    outer = _precedences(pieces, level)
    result: list[isl.Set] = []
    for component in sorted_components(len(pieces), lambda first, second: (first, second) in outer):
        if len(component) == 1:
            result.append(pieces[component[0]])
            continue
        cycle = [pieces[k] for k in component]
        splits = (
            outer[a, b] for a, b in permutations(component, 2)
            if (a, b) in outer and not pieces[a].is_subset(outer[a, b])
        )
        split = next(splits, None)
        if split is None:
            raise InternalError(Code.INTERNAL, f"pieces of schedule dimension {level} are interleaved")
        for side in ([piece.intersect(split) for piece in cycle], [piece.subtract(split) for piece in cycle]):
            result.extend(_without_cycles([piece for piece in side if not piece.is_empty()], level))
    return result


def _precedences(pieces: list[isl.Set], level: int) -> dict[tuple[int, int], isl.Set]:
    """B(a, b) where it is not empty, by the numbers of the pieces."""
    preceding = {
        (a, b): pieces[a].intersect(before(pieces[b], level)) for a, b in permutations(range(len(pieces)), 2)
    }
    return {pair: _outer(points, level) for pair, points in preceding.items() if not points.is_empty()}


def _outer(domain: isl.Set, level: int) -> isl.Set:
    """The outer dimensions of `domain`, `level` and those inside it free."""
    return domain.eliminate(DIM, level, domain.dim(DIM) - level).compute_divs().coalesce()
