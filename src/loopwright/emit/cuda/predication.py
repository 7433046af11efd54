"""Loops of kernels with constant lengths: bounds that shorten a loop become tests.

    for (i = max(8 * y, 1); i <= min(8 * y + 7, n - 2); i++) S(i);
    -->
    if (8 * y >= 1 && 8 * y + 7 <= n - 2)
      for (i = 8 * y; i <= 8 * y + 7; i++) S(i);
    else
      for (i = 8 * y; i <= 8 * y + 7; i++)
        if (i >= 1 && i <= n - 2) S(i);

A compiler writes out both, and keeps in registers what the iterations of the first share.  A loop over
threads has the second form alone: so its first iteration has the same place in every tile.  The program that
comes out is the one that is proved and printed.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.emit.cuda.launches import is_mapped
from loopwright.loops.expressions import And, Compare, Expr, Int, Max, Min, Relation, Scaled, Sum, Test, Var
from loopwright.loops.nodes import For, If, Node
from loopwright.loops.traverse import subprograms, with_children
from loopwright.model.annotations import BlockLoop, ThreadLoop

LONGEST = 64
"""Iterations of a loop that a thread runs, to be worth it."""


def predicated(node: Node, *, tested: bool = False) -> Node:
    """The program with constant lengths of loops, where bounds of constant distance say so.

    Where all loops are to be `tested`, none has the first form: lanes that differ would run both.
    """
    inner = with_children(node, lambda child: predicated(child, tested=tested))
    if not isinstance(inner, For) or inner.step != 1 or inner.annotation(BlockLoop) is not None:
        return inner
    if inner.annotation(ThreadLoop) is None and any(map(is_mapped, subprograms(inner))):
        return inner
    match inner.test:
        case Compare(Relation.LE | Relation.LT as relation, Var(name), bound) if name == inner.iterator:
            return _predicated(inner, bound, relation, tested or inner.annotation(ThreadLoop) is not None)
        case _:
            return inner


def _predicated(loop: For, bound: Expr, relation: Relation, only_tested: bool) -> Node:
    lows = loop.start.arguments if isinstance(loop.start, Max) else (loop.start,)
    highs = bound.arguments if isinstance(bound, Min) else (bound,)
    pairs = [
        (length, low, high)
        for low in lows
        for high in highs
        if (length := _distance(low, high)) is not None
    ]
    if not pairs or len(lows) + len(highs) == 2:
        return loop
    length, low, high = min(pairs, key=lambda pair: pair[0])
    whole = replace(loop, start=low, test=Compare(relation, Var(loop.iterator), high))
    shorter = [one for one in lows if one is not low], [one for one in highs if one is not high]
    iterator = Var(loop.iterator)
    tested = replace(whole, body=If(_within(iterator, iterator, shorter, relation), loop.body))
    if only_tested:
        return tested
    return loop if length >= LONGEST else If(_within(low, high, shorter, Relation.LE), whole, tested)


def _within(first: Expr, last: Expr, bounds: tuple[list[Expr], list[Expr]], relation: Relation) -> Test:
    """That iterations from `first` to `last` are within other bounds too."""
    lows, highs = bounds
    tests = [Compare(Relation.GE, first, one) for one in lows]
    tests += [Compare(relation, last, one) for one in highs]
    return tests[0] if len(tests) == 1 else And(tuple(tests))


def _distance(low: Expr, high: Expr) -> int | None:
    """high - low, where it is a constant."""
    terms: dict[Expr, int] = {}
    constant = _add(high, 1, terms) + _add(low, -1, terms)
    return constant if not any(terms.values()) else None


def _add(value: Expr, factor: int, terms: dict[Expr, int]) -> int:
    """Adds the terms of a multiple of an expression; its constant is the result."""
    match value:
        case Int(number):
            return factor * number
        case Sum(parts):
            return sum(_add(part, factor, terms) for part in parts)
        case Scaled(by, argument):
            return _add(argument, factor * by, terms)
        case _:
            terms[value] = terms.get(value, 0) + factor
            return 0
