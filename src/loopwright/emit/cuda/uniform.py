"""Adds warp-uniform tests around code that few warps need.

    for (p = 1; p <= 6; p++)                        if (6 * w + 6 >= n + 4)
      if (6 * w + p >= n + 4) S(p);          -->      for (p = 1; p <= 6; p++)
                                                        if (6 * w + p >= n + 4) S(p);

Tests of single cells select border cells, and are false in most warps.  Each of them implies the test around
them: each comparison with the most favourable value of p and of the lane.

    for (p = 1; p <= 6; p++)                        if (6 * w + 6 < n) for (p = 1; p <= 6; p++) S(p);
      if (6 * w + p < n) S(p);               -->    else for (p = 1; p <= 6; p++) if (6 * w + p < n) S(p);

Tests for loads and stores are true for all cells of most lanes: these run a version without tests, in which
adjacent cells are loaded and stored at once.  Its test implies all the others: each comparison with the least
favourable value of p.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from loopwright.emit.cuda.barriers import is_mapped
from loopwright.emit.cuda.predication import is_lane_axis
from loopwright.loops.expressions import MIRRORED, TRUE, And, Compare, Expr, Int, Or, Relation, Sum, Test, Var
from loopwright.loops.nodes import Block, Call, For, If, Node, Remarked
from loopwright.loops.sums import difference
from loopwright.loops.traverse import scaled, subterms, variables, with_children
from loopwright.model.annotations import GPU

Ranges = Mapping[str, tuple[int, int]]


def with_uniform_tests(node: Node, moving: frozenset[str] = frozenset()) -> Node:
    """The program with such tests inside the loops over lanes; `moving` are the loops around these."""
    match node:
        case For() if is_lane_axis(node):
            guarded = _guarded(_gathered(node.body), {node.iterator: (0, GPU.lanes - 1)})
            return replace(node, body=_with_ordered_tests(guarded, moving))
        case For() if not is_mapped(node):
            moving |= {node.iterator}
    return with_children(node, lambda child: with_uniform_tests(child, moving))


def _gathered(node: Node) -> Node:
    """Move tests around the loops of border cells into the tests of single cells."""
    tests, loops, call = _chain(node)
    cells = {loop.iterator for loop in loops}
    alike = [one for one in _parts(tests) if _has_or(one) and not variables(one) & cells]
    each = [one for one in _parts(tests) if one not in alike]
    if call is None or not loops or not any(map(_has_or, each)):
        return with_children(node, _gathered) if isinstance(node, Block | Remarked | If) else node
    found: Node = If(_all(each), call)
    for loop in reversed(loops):
        found = replace(loop, body=found)
    return If(_all(alike), found) if alike else found


def _parts(tests: Iterable[Test]) -> list[Test]:
    """All conjuncts."""
    return [part for one in tests for part in (_parts(one.arguments) if isinstance(one, And) else [one])]


def _has_or(test: Test) -> bool:
    return any(isinstance(one, Or) for one in subterms(test))


def _chain(node: Node) -> tuple[list[Test], list[For], Call | None]:
    """The tests and the loops of constant lengths around a single statement; None if there is more."""
    match node:
        case Call():
            return [], [], node
        case If(test, body, None):
            tests, loops, call = _chain(body)
            return [test, *tests], loops, call
        case For(_, Int(), Compare(Relation.LE, _, Int())):
            tests, loops, call = _chain(node.body)
            return tests, [node, *loops], call
        case Remarked(_, body):
            return _chain(body)
        case _:
            return [], [], None


def _guarded(node: Node, lanes: Ranges) -> Node:
    """The program of a lane, with tests around border cells, if one of several tests selects these."""
    match node:
        case Block() | Remarked() | If():
            return with_children(node, lambda child: _guarded(child, lanes))
        case For():
            test = _at_borders(_relaxed(_needed(node), lanes))
            return If(test, node) if any(isinstance(one, Or) for one in subterms(test)) else _full(node)
        case _:
            return node


def _at_borders(test: Test) -> Test:
    """The test among several that is false in most warps: the rest are evaluated cell by cell."""
    some = [one for one in test.arguments if isinstance(one, Or)] if isinstance(test, And) else []
    return some[0] if len(some) == 1 else test


def _with_ordered_tests(node: Node, moving: frozenset[str]) -> Node:
    """In one of several tests, evaluate the part that is invariant in the march first.

    A compiler hoists it out of the march, and keeps those of all cells in one register.
    """
    inner = with_children(node, lambda child: _with_ordered_tests(child, moving))
    return replace(inner, test=_ordered(_factored(inner.test), moving)) if isinstance(inner, If) else inner


def _factored(test: Test) -> Test:
    """Factor out the common part of several tests: a & b | a & c is a & (b | c)."""
    if not isinstance(test, Or):
        return test
    parts = [_parts([one]) for one in test.arguments]
    common = [one for one in parts[0] if all(one in other for other in parts)]
    rest = [[one for one in other if one not in common] for other in parts]
    if not common or not all(rest):
        return test
    return _all([*common, _any(map(_all, rest))])


def _ordered(test: Test, moving: frozenset[str]) -> Test:
    match test:
        case And(arguments):
            return And(tuple(_ordered(one, moving) for one in arguments))
        case Or(arguments):
            return Or(tuple(sorted(arguments, key=lambda one: bool(variables(one) & moving))))
        case _:
            return test


def _full(node: For) -> Node:
    """`node`, with a version without tests for the case that all of them hold."""
    test = _sufficient(node)
    return node if test in (None, TRUE) else If(test, _untested(node), node)


def _untested(node: Node) -> Node:
    """`node` without tests, for the case that they hold."""
    inner = with_children(node, _untested)
    return inner.then if isinstance(inner, If) else inner


def _sufficient(node: Node) -> Test | None:
    """A condition without iterators of `node` that implies all of its tests; None if none is known."""
    match node:
        case If(test, body, None):
            inner = _sufficient(body)
            return None if inner is None else _all([test, inner])
        case Remarked(_, body):
            return _sufficient(body)
        case For(iterator, Int(first), Compare(Relation.LE, Var(name), Int(last))) if iterator == name:
            inner = _sufficient(node.body)
            return None if inner is None else _implying(inner, {name: (first, last)})
        case Call():
            return TRUE
        case _:
            return None


def _needed(node: Node) -> Test:
    """A condition without iterators of `node` that holds whenever any of it executes."""
    match node:
        case If(test, body, orelse):
            found = _all([test, _needed(body)])
            return found if orelse is None else _any([found, _needed(orelse)])
        case Block(nodes):
            return _any(map(_needed, nodes))
        case Remarked(_, body):
            return _needed(body)
        case For(iterator, Int(first), Compare(Relation.LE, Var(name), Int(last))) if iterator == name:
            return _relaxed(_needed(node.body), {name: (first, last)})
        case _:
            return TRUE


def _all(tests: Iterable[Test]) -> Test:
    found: dict[Test, None] = {}
    for one in tests:
        found.update(dict.fromkeys(one.arguments if isinstance(one, And) else (one,)))
    return next(iter(found)) if len(found) == 1 else And(tuple(found))


def _any(tests: Iterable[Test]) -> Test:
    found: dict[Test, None] = {}
    for one in tests:
        found.update(dict.fromkeys(one.arguments if isinstance(one, Or) else (one,)))
    if TRUE in found or not found:
        return TRUE
    return next(iter(found)) if len(found) == 1 else Or(tuple(found))


def _relaxed(test: Test, ranges: Ranges) -> Test:
    """A condition implied by `test` for all values of the names in their ranges, without these names."""
    if not variables(test) & ranges.keys():
        return test
    match test:
        case And(arguments):
            return _all(_relaxed(one, ranges) for one in arguments)
        case Or(arguments):
            return _any(_relaxed(one, ranges) for one in arguments)
        case Compare(Relation.EQ, left, right):
            return _all(_relaxed(Compare(one, left, right), ranges) for one in (Relation.GE, Relation.LE))
        case Compare(Relation.GE | Relation.GT as relation, left, right):
            return _compared(relation, left, right, ranges, greatest=True) or TRUE
        case Compare(Relation.LE | Relation.LT as relation, left, right):
            return _relaxed(Compare(MIRRORED[relation], right, left), ranges)
        case _:
            return TRUE


def _implying(test: Test, ranges: Ranges) -> Test | None:
    """A condition that implies `test` for all values of the names in their ranges, without these names."""
    if not variables(test) & ranges.keys():
        return test
    match test:
        case And(arguments):
            found = [_implying(one, ranges) for one in arguments]
            return _all(one for one in found if one is not None) if None not in found else None
        case Compare(Relation.GE | Relation.GT as relation, left, right):
            return _compared(relation, left, right, ranges, greatest=False)
        case Compare(Relation.LE | Relation.LT as relation, left, right):
            return _implying(Compare(MIRRORED[relation], right, left), ranges)
        case _:
            return None


def _compared(relation: Relation, left: Expr, right: Expr, ranges: Ranges, *, greatest: bool) -> Test | None:
    """left >= right, or >, where left - right is greatest or least; None if that is not known."""
    gap = difference(left, right)
    constant, kept = gap.constant, list[Expr]()
    for factor, term in gap.terms:
        if isinstance(term, Var) and term.name in ranges:
            constant += factor * ranges[term.name][(factor > 0) is greatest]
        elif variables(term) & ranges.keys():
            return None
        else:
            kept.append(scaled(factor, term))
    if not kept:
        return None
    return Compare(relation, kept[0] if len(kept) == 1 else Sum(tuple(kept)), Int(-constant))
