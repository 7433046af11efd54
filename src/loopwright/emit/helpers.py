"""`min`, `max` and `floord`, which C does not have: functions in a file of ours, macros in the user's.

Functions evaluate their arguments once, so that a minimum of many bounds does not grow exponentially,
and in 64 bits.  In a file of the user's, a name that it uses for something else is left to it; the
operation is then written out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from loopwright.c.tokens import names_in
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import subprograms, subterms, terms
from loopwright.model.program import Program
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


def taken(source: Source, written: Program) -> frozenset[str]:
    """The helpers' names that mean something else in the text, or in the headers of the file `written`."""
    words = set(names_in(source.text))
    own = frozenset(name for name in DEFINITIONS if name in words) - defined(source)
    return own | written.foreign


def used(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The helpers these programs call."""
    found: set[str] = set()
    for node in nodes:
        for part in subprograms(node):
            for term in (inner for outer in terms(part) for inner in subterms(outer)):
                match term:
                    case ex.FloorDiv():
                        found.add("floord")
                    case ex.Max(arguments) if len(arguments) > 1:
                        found.add("max")
                    case ex.Min(arguments) if len(arguments) > 1:
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


def _expression(expr: ex.Expr, names: frozenset[str]) -> ex.Expr:
    match expr:
        case ex.Int() | ex.Var():
            return expr
        case ex.Sum(parts):
            return ex.Sum(tuple(_expression(part, names) for part in parts))
        case ex.Scaled(factor, argument):
            return ex.Scaled(factor, _expression(argument, names))
        case ex.TruncDiv(argument, divisor):
            return ex.TruncDiv(_expression(argument, names), divisor)
        case ex.Rem(argument, divisor):
            return ex.Rem(_expression(argument, names), divisor)
        case ex.FloorDiv(argument, divisor):
            return _floor(_expression(argument, names), divisor, names)
        case ex.Min(arguments):
            return _extremum(ex.Min, ex.Relation.LT, "min", arguments, names)
        case ex.Max(arguments):
            return _extremum(ex.Max, ex.Relation.GT, "max", arguments, names)
        case ex.Select(test, then, orelse):
            return ex.Select(_test(test, names), _expression(then, names), _expression(orelse, names))
        case _:
            assert_never(expr)


def _floor(argument: ex.Expr, divisor: int, names: frozenset[str]) -> ex.Expr:
    """⌊n / d⌋ = n / d - (n % d < 0 ? 1 : 0)."""
    if "floord" not in names:
        return ex.FloorDiv(argument, divisor)
    below = ex.Select(ex.Compare(ex.Relation.LT, ex.Rem(argument, divisor), ex.Int(0)), ex.Int(1), ex.Int(0))
    return ex.Sum((ex.TruncDiv(argument, divisor), ex.Scaled(-1, below)))


def _extremum(
    kind: type[ex.Min] | type[ex.Max],
    relation: ex.Relation,
    name: str,
    arguments: tuple[ex.Expr, ...],
    names: frozenset[str],
) -> ex.Expr:
    simple = tuple(_expression(argument, names) for argument in arguments)
    if name not in names:
        return kind(simple)
    result = simple[0]
    for argument in simple[1:]:
        result = ex.Select(ex.Compare(relation, result, argument), result, argument)
    return result


def _test(test: ex.Test, names: frozenset[str]) -> ex.Test:
    match test:
        case ex.Compare(relation, left, right):
            return ex.Compare(relation, _expression(left, names), _expression(right, names))
        case ex.And(arguments):
            return ex.And(tuple(_test(argument, names) for argument in arguments))
        case ex.Or(arguments):
            return ex.Or(tuple(_test(argument, names) for argument in arguments))
        case ex.Not(argument):
            return ex.Not(_test(argument, names))
        case _:
            assert_never(test)
