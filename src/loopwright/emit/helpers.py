"""`min`, `max` and `floord`, which C does not have: functions in a file of ours, macros in the user's.

Functions evaluate their arguments once, so that a minimum of many bounds does not grow exponentially,
and in 64 bits.  In a file of the user's, a name that it uses for something else is left to it; the
operation is then written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Not,
    Or,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    Test,
    TruncDiv,
    Var,
)
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import subprograms, subterms, terms
from loopwright.source import Source

DEFINITIONS = {
    "floord": "#define floord(n, d) ((n) / (d) - ((n) % (d) < 0))",
    "max": "#define max(a, b) ((a) > (b) ? (a) : (b))",
    "min": "#define min(a, b) ((a) < (b) ? (a) : (b))",
}

FUNCTIONS = {
    "floord": """\
/* n / d rounded towards minus infinity; d is positive. */
static inline long long floord(long long n, long long d)
{
  return n / d - (n % d < 0);
}
""",
    "max": """\
static inline long long max(long long a, long long b)
{
  return a > b ? a : b;
}
""",
    "min": """\
static inline long long min(long long a, long long b)
{
  return a < b ? a : b;
}
""",
}


def defined(source: Source) -> frozenset[str]:
    """The helpers the file already defines as we do."""
    lines = {line.strip() for line in source.text.splitlines()}
    return frozenset(name for name, text in DEFINITIONS.items() if text in lines)


def taken(source: Source) -> frozenset[str]:
    """The helpers' names that mean something else in the file."""
    words = set(re.findall(r"[A-Za-z_]\w*", source.text))
    return frozenset(name for name in DEFINITIONS if name in words) - defined(source)


def used(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The helpers these programs call."""
    found: set[str] = set()
    for node in nodes:
        for part in subprograms(node):
            for term in (inner for outer in terms(part) for inner in subterms(outer)):
                match term:
                    case FloorDiv():
                        found.add("floord")
                    case Max(arguments) if len(arguments) > 1:
                        found.add("max")
                    case Min(arguments) if len(arguments) > 1:
                        found.add("min")
    return tuple(sorted(found))


def written_out(node: Node, names: frozenset[str]) -> Node:
    """`node` without the helpers `names`."""
    if not names:
        return node
    match node:
        case Call(name, arguments, time):
            return Call(name, tuple(_expression(one, names) for one in arguments), time)
        case Block(nodes):
            return Block(tuple(written_out(child, names) for child in nodes))
        case If(test, then, orelse):
            other = None if orelse is None else written_out(orelse, names)
            return If(_test(test, names), written_out(then, names), other)
        case For():
            start, test = _expression(node.start, names), _test(node.test, names)
            return replace(node, start=start, test=test, body=written_out(node.body, names))
        case Let(_, value, body):
            return replace(node, value=_expression(value, names), body=written_out(body, names))
        case Remarked(remark, body):
            return Remarked(remark, written_out(body, names))
        case _:
            assert_never(node)


def _expression(expr: Expr, names: frozenset[str]) -> Expr:
    match expr:
        case Int() | Var():
            return expr
        case Sum(parts):
            return Sum(tuple(_expression(part, names) for part in parts))
        case Scaled(factor, argument):
            return Scaled(factor, _expression(argument, names))
        case TruncDiv(argument, divisor):
            return TruncDiv(_expression(argument, names), divisor)
        case Rem(argument, divisor):
            return Rem(_expression(argument, names), divisor)
        case FloorDiv(argument, divisor):
            return _floor(_expression(argument, names), divisor, names)
        case Min(arguments):
            return _extremum(Min, Relation.LT, "min", arguments, names)
        case Max(arguments):
            return _extremum(Max, Relation.GT, "max", arguments, names)
        case Select(test, then, orelse):
            return Select(_test(test, names), _expression(then, names), _expression(orelse, names))
        case _:
            assert_never(expr)


def _floor(argument: Expr, divisor: int, names: frozenset[str]) -> Expr:
    """⌊n / d⌋ = n / d - (n % d < 0 ? 1 : 0)."""
    if "floord" not in names:
        return FloorDiv(argument, divisor)
    below = Select(Compare(Relation.LT, Rem(argument, divisor), Int(0)), Int(1), Int(0))
    return Sum((TruncDiv(argument, divisor), Scaled(-1, below)))


def _extremum(
    kind: type[Min] | type[Max],
    relation: Relation,
    name: str,
    arguments: tuple[Expr, ...],
    names: frozenset[str],
) -> Expr:
    simple = tuple(_expression(argument, names) for argument in arguments)
    if name not in names:
        return kind(simple)
    result = simple[0]
    for argument in simple[1:]:
        result = Select(Compare(relation, result, argument), result, argument)
    return result


def _test(test: Test, names: frozenset[str]) -> Test:
    match test:
        case Compare(relation, left, right):
            return Compare(relation, _expression(left, names), _expression(right, names))
        case And(arguments):
            return And(tuple(_test(argument, names) for argument in arguments))
        case Or(arguments):
            return Or(tuple(_test(argument, names) for argument in arguments))
        case Not(argument):
            return Not(_test(argument, names))
        case _:
            assert_never(test)
