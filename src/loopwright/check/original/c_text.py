"""Writes isl's functions and sets as C, with the expressions of the code generator."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.check.original.specification import anonymous, unnamed
from loopwright.emit.expressions import Level, condition_to_c, expression_to_c
from loopwright.generate.conditions import condition, piecewise_expression
from loopwright.generate.expressions import EvaluationPlace, expression
from loopwright.loops.expressions import NEGATED, And, Compare, Expr, Int, Not, Or, Select, Test
from loopwright.presburger.sets import DIV, OUT, union


def value(function: isl.PwAff, names: Sequence[str], known: isl.Set, *, branches: bool = True) -> str:
    """Return C for `function` of the variables `names`, correct where `known` holds and it is defined."""
    plain = anonymous(function)
    place = EvaluationPlace(tuple(names), unnamed(known).intersect(plain.domain()))
    found = chosen_expression(plain, place)
    return expression_to_c(found) if branches else expression_without_branches(found)


def test(domain: isl.Set, names: Sequence[str], known: isl.Set, *, branches: bool = True) -> str:
    """Return a condition that is equivalent to `domain` where `known` holds."""
    place = EvaluationPlace(tuple(names), unnamed(known))
    found = condition(unnamed(domain).coalesce().gist(place.known), place)
    return condition_to_c(found) if branches else condition_without_branches(found)


def components(relation: isl.Map) -> tuple[isl.PwAff, ...]:
    """The functions that a single-valued relation consists of."""
    function = relation.as_pw_multi_aff()
    return tuple(function.get_pw_aff(k) for k in range(function.dim(OUT)))


AffinePiece = tuple[isl.Set, isl.Aff]


def chosen_expression(function: isl.PwAff, place: EvaluationPlace) -> Expr:
    """An expression with few and simple tests for `function`, which is defined wherever `place` is reached.

    Where a function is 0 on the border and t elsewhere, and t = 0 at the start, isl's pieces are
    "t ≥ 1 and j = 1, or t = 0: 0" and "t ≥ 1 and j ≥ 2: t".  Any piece may grow to all points where its
    expression is correct, so `j == 1 ? 0 : t` is equivalent: E_k is the set where expression k is correct,
    one expression is for the rest, and the tests of the others drop redundant constraints.
    """
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
    return union(domain.intersect(value.eq_set(other)) for domain, other in pieces).coalesce()


def _complexity(domain: isl.Set) -> int:
    """Estimate the length of a test for `domain`."""
    return sum(1 + piece.n_constraint() for piece in domain.coalesce().get_basic_sets())


def _relaxed(needed: isl.Set, allowed: isl.Set, known: isl.Set) -> isl.Set:
    """Return a set between `needed` and `allowed`, within `known`, with few constraints."""
    nothing = isl.Set.empty(needed.get_space())
    parts = (_with_fewer_constraints(piece, allowed, known) for piece in needed.get_basic_sets())
    return union((nothing, *parts)).coalesce()


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


LONGEST = 2
"""The longest chain of choices; a longer one is written with `?:`, since every step repeats the rest."""


def expression_without_branches(expr: Expr) -> str:
    """Return `expr` as C, with its outer choices as bit operations: a loop without branches can be
    vectorised.

    test ? a : b   =   b ^ ((a ^ b) & -test)        with test 0 or 1
    """
    if not isinstance(expr, Select) or _length(expr) > LONGEST:
        return expression_to_c(expr)
    mask = f"-({condition_without_branches(expr.test)})"
    unless = f"-({condition_without_branches(_opposite(expr.test))})"
    then, otherwise = (_part(one) for one in (expr.then, expr.orelse))
    if expr.orelse == Int(0):
        return f"({then} & {mask})"
    if expr.then == Int(0):
        return f"({otherwise} & {unless})"
    return f"({otherwise} ^ (({then} ^ {otherwise}) & {mask}))"


def _opposite(test: Test) -> Test:
    if isinstance(test, Compare):
        return Compare(NEGATED[test.relation], test.left, test.right)
    return Not(test)


def _part(expr: Expr) -> str:
    if isinstance(expr, Select):
        return expression_without_branches(expr)
    return expression_to_c(expr, Level.UNARY)


def _length(expr: Expr) -> int:
    return 1 + max(_length(expr.then), _length(expr.orelse)) if isinstance(expr, Select) else 0


def condition_without_branches(test: Test) -> str:
    """`test` as C, 0 or 1, both sides of every operator evaluated."""
    match test:
        case Compare():
            return condition_to_c(test)
        case And(arguments):
            return " & ".join(f"({condition_without_branches(one)})" for one in arguments) or "1"
        case Or(arguments):
            return " | ".join(f"({condition_without_branches(one)})" for one in arguments) or "0"
        case Not(argument):
            return f"!({condition_without_branches(argument)})"
