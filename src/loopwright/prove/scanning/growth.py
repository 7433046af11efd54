"""How expressions and tests move as a loop's iterator grows: what decides when a loop ends."""

from __future__ import annotations

from enum import Enum

from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Max,
    Min,
    Not,
    Or,
    Relation,
    Scaled,
    Sum,
    Test,
    TruncDiv,
    Var,
)
from loopwright.loops.traverse import variables
from loopwright.prove.scanning.conditions import MIRRORED, negation


class Growth(Enum):
    """An expression as a function of the iterator."""

    FREE = "does not mention it"
    UP = "never falls, and passes every bound"
    DOWN = "never rises, and passes every bound"
    UNKNOWN = "may do anything"


FLIPPED = {Growth.UP: Growth.DOWN, Growth.DOWN: Growth.UP}


def growth(expr: Expr, iterator: str) -> Growth:
    """All of LOOP's operators but `%` and `?:` are monotone in each argument."""
    if iterator not in variables(expr):
        return Growth.FREE
    match expr:
        case Var():
            return Growth.UP
        case Scaled(factor, argument):
            inner = growth(argument, iterator)
            return Growth.FREE if factor == 0 else inner if factor > 0 else FLIPPED.get(inner, inner)
        case FloorDiv(argument) | TruncDiv(argument):
            return growth(argument, iterator)
        case Sum(terms):
            return _all_that_move(terms, iterator)
        case Min(arguments) | Max(arguments):
            directions = {growth(one, iterator) for one in arguments}
            return directions.pop() if len(directions) == 1 else Growth.UNKNOWN
        case _:
            return Growth.UNKNOWN


def _all_that_move(terms: tuple[Expr, ...], iterator: str) -> Growth:
    """The common direction of those terms that depend on the iterator."""
    directions = [growth(term, iterator) for term in terms]
    moving = [one for one in directions if one is not Growth.FREE]
    if not moving:
        return Growth.FREE
    return moving[0] if all(one is moving[0] for one in moving) else Growth.UNKNOWN


def is_upper_bound(test: Test, iterator: str) -> bool:
    """Whether `test`, once it fails, fails for all greater values of the iterator."""
    if iterator not in variables(test):
        return True
    match test:
        case Compare(relation, left, right):
            return _bounds(relation, left, right, iterator)
        case And(arguments) | Or(arguments):
            return all(is_upper_bound(one, iterator) for one in arguments)
        case Not(argument):
            return is_upper_bound(negation(argument), iterator)
    return False


def ends(test: Test, iterator: str) -> bool:
    """Whether `test` fails for all values of the iterator that are great enough."""
    match test:
        case Compare(relation, left, right):
            return _bounds(relation, left, right, iterator)
        case And(arguments):
            return any(ends(one, iterator) for one in arguments)
        case Or(arguments):
            return all(ends(one, iterator) for one in arguments)
        case Not(argument):
            return ends(negation(argument), iterator)
    return False


def _bounds(relation: Relation, left: Expr, right: Expr, iterator: str) -> bool:
    """`left <= right` with a left side that grows, a right side that does not, and not both free."""
    if relation in (Relation.GE, Relation.GT):
        return _bounds(MIRRORED[relation], right, left, iterator)
    if relation in (Relation.EQ, Relation.NE):
        return False
    sides = growth(left, iterator), growth(right, iterator)
    return sides in ((Growth.UP, Growth.FREE), (Growth.FREE, Growth.DOWN), (Growth.UP, Growth.DOWN))
