"""Piecewise functions with few and simple tests.

Where a function is 0 on the border and t elsewhere, and t = 0 at the start, isl's pieces are
"t ≥ 1 and j = 1, or t = 0: 0" and "t ≥ 1 and j ≥ 2: t".  Any piece may grow to wherever its
expression is right, so that `j == 1 ? 0 : t` says the same: E_k is where expression k is right,
one expression is for the rest, and the tests of the others drop what they need not say.
"""

from __future__ import annotations

import islpy as isl

from loopwright.generate.conditions import condition, piecewise_expression
from loopwright.generate.expressions import EvaluationPlace, expression
from loopwright.loops.expressions import Expr, Select
from loopwright.presburger.sets import DIV

AffinePiece = tuple[isl.Set, isl.Aff]


def chosen_expression(function: isl.PwAff, place: EvaluationPlace) -> Expr:
    """An expression for `function`, which is defined wherever `place` is reached."""
    found = piecewise_expression(function, place)
    if not isinstance(found, Select):
        return found
    pieces = [
        (domain, value)
        for domain, value in function.intersect_domain(place.known).coalesce().get_pieces()
        if not domain.is_empty()
    ]
    right = [_where_right(value, pieces) for _, value in pieces]
    rest = min(range(len(pieces)), key=lambda k: _complexity(place.known.subtract(right[k])))
    left = place.known.subtract(right[rest])
    branches: list[tuple[isl.Set, int]] = []
    for k in sorted(range(len(pieces)), key=lambda k: _complexity(left.subtract(right[k]))):
        needed = left.intersect(right[k]).coalesce()
        if k != rest and not needed.is_empty():
            branches.append((_relaxed(needed, right[k], place.known), k))
            left = left.subtract(branches[-1][0])
    result = expression(pieces[rest][1].gist(right[rest]), place.where(right[rest]))
    for test, k in reversed(branches):
        value = expression(pieces[k][1].gist(right[k]), place.where(test))
        result = Select(condition(test.gist(place.known), place), value, result)
    return result


def _where_right(value: isl.Aff, pieces: list[AffinePiece]) -> isl.Set:
    """E_k: the points at which `value` is the function's value."""
    parts = [domain.intersect(value.eq_set(other)) for domain, other in pieces]
    result = parts[0]
    for part in parts[1:]:
        result = result.union(part)
    return result.coalesce()


def _complexity(domain: isl.Set) -> int:
    """How long a test for `domain` is, roughly."""
    return sum(1 + piece.n_constraint() for piece in domain.coalesce().get_basic_sets())


def _relaxed(needed: isl.Set, allowed: isl.Set, known: isl.Set) -> isl.Set:
    """A set between `needed` and `allowed`, as far as `known` can tell, with few constraints."""
    result = isl.Set.empty(needed.get_space())
    for piece in needed.get_basic_sets():
        result = result.union(_with_fewer_constraints(piece, allowed, known))
    return result.coalesce()


def _with_fewer_constraints(piece: isl.BasicSet, allowed: isl.Set, known: isl.Set) -> isl.Set:
    if piece.dim(DIV):
        return piece.to_set()
    kept = list(piece.get_constraints())
    for constraint in list(kept):
        fewer = [one for one in kept if one is not constraint]
        if _all_of(fewer, piece).intersect(known).is_subset(allowed):
            kept = fewer
    return _all_of(kept, piece)


def _all_of(constraints: list[isl.Constraint], piece: isl.BasicSet) -> isl.Set:
    result = isl.BasicSet.universe(piece.get_space())
    for constraint in constraints:
        result = result.add_constraint(constraint)
    return result.to_set()
