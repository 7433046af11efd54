"""Programs that run the same calls in the same order since they are the same up to writing.

Iterators may have other names, and affine expressions and comparisons other forms: `i < n` is
`i <= n - 1`, and a loop that counts down by i is one that counts up by -i.  Remarks, what is said of loops,
and blocks in blocks mean nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked

Form: TypeAlias = tuple[object, ...]
"""What is left of a test or a program: equal forms mean the same."""
Atom: TypeAlias = str | int | Form
"""A parameter, an iterator by the number of loops around it, a form; `()` is the number 1."""
Linear: TypeAlias = frozenset[tuple[Atom, int]]
"""A sum of atoms with factors, none of them 0."""
Values: TypeAlias = Mapping[str, Linear]


@dataclass(frozen=True)
class ScannedLoops:
    """Loops that were proved to run a schedule, by so many obligations."""

    loops: Node
    obligations: int

    def are(self, other: Node) -> bool:
        """Whether `other` is the same program.  False is not an answer."""
        return _program(self.loops, {}, 0) == _program(other, {}, 0)


def _program(node: Node, values: Values, depth: int) -> tuple[Form, ...]:
    """What is run one after the other, in `depth` loops; `values` are those of the names inside of them."""
    match node:
        case Call(name, arguments, time):
            hint = None if time is None else _all(time, values)
            return (("call", name, _all(arguments, values), hint),)
        case Block(children):
            return tuple(one for child in children for one in _program(child, values, depth))
        case If(test, then, orelse):
            other = () if orelse is None else _program(orelse, values, depth)
            return (("if", _test(test, values), _program(then, values, depth), other),)
        case For(iterator, start, test, step, body):
            inner = {**values, iterator: frozenset({(depth, 1)})}
            inside = _program(body, inner, depth + 1)
            return (("for", _linear(start, values), _test(test, inner), step, inside),)
        case Let(name, value, body):
            return _program(body, {**values, name: _linear(value, values)}, depth)
        case Remarked(_, body):
            return _program(body, values, depth)
        case _:
            assert_never(node)


def _test(test: ex.Test, values: Values) -> Form:
    """Comparisons are of a sum with 0: a < b is b - a - 1 >= 0."""
    match test:
        case ex.And(tests) | ex.Or(tests):
            return (type(test), *(_test(one, values) for one in tests))
        case ex.Not(negated):
            return (ex.Not, _test(negated, values))
        case ex.Compare(relation, left, right):
            sign = -1 if relation in (ex.Relation.LE, ex.Relation.LT) else 1
            parts = [(_linear(left, values), sign), (_linear(right, values), -sign)]
            if relation in (ex.Relation.LT, ex.Relation.GT):
                parts.append((_number(1), -1))
            kind = relation if relation in (ex.Relation.EQ, ex.Relation.NE) else ex.Relation.GE
            return (kind, _sum(parts))
        case _:
            assert_never(test)


def _linear(expr: ex.Expr, values: Values) -> Linear:
    """max(a, b) is -min(-a, -b)."""
    match expr:
        case ex.Int(value):
            return _number(value)
        case ex.Var(name):
            return values.get(name, frozenset({(name, 1)}))
        case ex.Sum(terms):
            return _sum([(one, 1) for one in _all(terms, values)])
        case ex.Scaled(factor, argument):
            return _sum([(_linear(argument, values), factor)])
        case ex.FloorDiv(argument, divisor) | ex.TruncDiv(argument, divisor) | ex.Rem(argument, divisor):
            return frozenset({((type(expr), _linear(argument, values), divisor), 1)})
        case ex.Min(arguments) | ex.Max(arguments):
            sign = 1 if isinstance(expr, ex.Min) else -1
            return frozenset({((ex.Min, *(_sum([(one, sign)]) for one in _all(arguments, values))), sign)})
        case ex.Select(test, then, orelse):
            form = (ex.Select, _test(test, values), _linear(then, values), _linear(orelse, values))
            return frozenset({(form, 1)})
        case _:
            assert_never(expr)


def _all(given: Sequence[ex.Expr], values: Values) -> tuple[Linear, ...]:
    return tuple(_linear(one, values) for one in given)


def _number(value: int) -> Linear:
    return frozenset({((), value)} if value else ())


def _sum(parts: Sequence[tuple[Linear, int]]) -> Linear:
    total: Counter[Atom] = Counter()
    for linear, factor in parts:
        for atom, own in linear:
            total[atom] += factor * own
    return frozenset((atom, factor) for atom, factor in total.items() if factor)
