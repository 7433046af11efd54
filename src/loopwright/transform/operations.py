"""Every operation a script can name, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from loopwright.transform import operators
from loopwright.transform.arguments import Arguments
from loopwright.transform.plan import Component, Plan


@dataclass(frozen=True)
class Result:
    """The plan after an operation, and the components it hands out."""

    plan: Plan
    handles: tuple[Component, ...] = ()


Run: TypeAlias = Callable[[Plan, Arguments], Result]


def _realign(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "realign(L1, L2, n)")
    return Result(operators.realign(plan, args.component(0), args.component(1), args.integer(2, 0)))


def _lift(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 2, "L = lift(L1, n)")
    return Result(plan, (operators.lift(plan, args.component(0), args.integer(1, 0)),))


def _affine(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 2, "affine(L, {[i, j] -> [j, i]})")
    return Result(operators.affine(plan, args.component(0), args.function(1)))


def _isplit(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "(A, B) = isplit(L, {[i, j] : j < n}, 1)")
    after, one, two = operators.isplit(plan, args.component(0), args.predicate(1), args.integer(2, 0))
    return Result(after, (one, two))


OPERATIONS: dict[str, Run] = {
    "affine": _affine,
    "isplit": _isplit,
    "lift": _lift,
    "realign": _realign,
}
