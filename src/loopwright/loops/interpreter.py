"""The meaning of LOOP [Courant2021, section 5]: a program is the sequence of the calls it makes.

The other rooms are tested against the interpreter, so it is written for readers: one case for each construct,
and unbounded integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TypeAlias, assert_never

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.model.annotations import Independent

Environment: TypeAlias = Mapping[str, int]
ExecutedCall: TypeAlias = tuple[str, tuple[int, ...]]
"""The name of a statement and the values of its arguments."""
Shuffle: TypeAlias = Callable[[Sequence[int]], Iterable[int]]
"""The values of an iterator in another order."""


def evaluate(expr: ex.Expr, env: Environment) -> int:
    """The value of `expr` where its variables have the values in `env`."""
    match expr:
        case ex.Int(value):
            return value
        case ex.Var(name):
            return _lookup(name, env)
        case ex.Sum(terms):
            return sum(evaluate(term, env) for term in terms)
        case ex.Scaled(factor, argument):
            return factor * evaluate(argument, env)
        case ex.FloorDiv(argument, divisor):
            return evaluate(argument, env) // _positive(divisor)
        case ex.TruncDiv(argument, divisor):
            return truncated_quotient(evaluate(argument, env), _positive(divisor))
        case ex.Rem(argument, divisor):
            value = evaluate(argument, env)
            return value - divisor * truncated_quotient(value, _positive(divisor))
        case ex.Min(arguments):
            return min(evaluate(argument, env) for argument in arguments)
        case ex.Max(arguments):
            return max(evaluate(argument, env) for argument in arguments)
        case ex.Select(test, then, orelse):
            return evaluate(then if holds(test, env) else orelse, env)
        case _:
            assert_never(expr)


def holds(test: ex.Test, env: Environment) -> bool:
    """Whether `test` holds where its variables have the values in `env`."""
    match test:
        case ex.Compare(relation, left, right):
            return compare(relation, evaluate(left, env), evaluate(right, env))
        case ex.And(arguments):
            return all(holds(argument, env) for argument in arguments)
        case ex.Or(arguments):
            return any(holds(argument, env) for argument in arguments)
        case ex.Not(argument):
            return not holds(argument, env)
        case _:
            assert_never(test)


def execute(
    node: Node, parameters: Environment, limit: int | None = None, shuffle: Shuffle | None = None
) -> Iterator[ExecutedCall]:
    """The calls of the program `node`, in order, for the given parameter values.

    Iterations run in the order of the iterator; those of an independent loop, which may run in any
    order, in that of `shuffle`, if it is given.  A program that takes more than `limit` loop iterations
    raises `GaveUp`: to see the beginning of an infinite program, take as many executions as are needed.
    """
    fuel: Iterator[object] = repeat(None) if limit is None else iter(range(limit))
    return _execute(node, parameters, fuel, shuffle)


def _execute(
    node: Node, env: Environment, fuel: Iterator[object], shuffle: Shuffle | None
) -> Iterator[ExecutedCall]:
    match node:
        case Call(name, arguments):
            yield name, tuple(evaluate(argument, env) for argument in arguments)
        case Block(children):
            for child in children:
                yield from _execute(child, env, fuel, shuffle)
        case If(test, then, orelse):
            if holds(test, env):
                yield from _execute(then, env, fuel, shuffle)
            elif orelse is not None:
                yield from _execute(orelse, env, fuel, shuffle)
        case For():
            values: Iterable[int] = iterations(node, env, fuel)
            if shuffle is not None and node.annotation(Independent) is not None:
                values = shuffle(tuple(values))
            for value in values:
                yield from _execute(node.body, {**env, node.iterator: value}, fuel, shuffle)
        case Let(name, value, body):
            yield from _execute(body, {**env, name: evaluate(value, env)}, fuel, shuffle)
        case Remarked(_, body):
            yield from _execute(body, env, fuel, shuffle)
        case _:
            assert_never(node)


def iterations(loop: For, env: Environment, fuel: Iterator[object]) -> Iterator[int]:
    """The values the iterator of `loop` takes: start, start + step, ... while the test holds.

    Each consumes one element of `fuel`.
    """
    if loop.step == 0:
        raise InternalError(Code.INTERNAL, f"the loop over {loop.iterator} has step {loop.step}")
    value = evaluate(loop.start, env)
    done = object()
    while holds(loop.test, {**env, loop.iterator: value}):
        if next(fuel, done) is done:
            raise GaveUp(
                Code.SIZE, f"interpreting: the loop over {loop.iterator} passed the limit of iterations"
            )
        yield value
        value += loop.step


def compare(relation: ex.Relation, left: int, right: int) -> bool:
    match relation:
        case ex.Relation.EQ:
            return left == right
        case ex.Relation.NE:
            return left != right
        case ex.Relation.LE:
            return left <= right
        case ex.Relation.LT:
            return left < right
        case ex.Relation.GE:
            return left >= right
        case ex.Relation.GT:
            return left > right
        case _:
            assert_never(relation)


def truncated_quotient(dividend: int, divisor: int) -> int:
    """C's `/`: the quotient rounded towards zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _lookup(name: str, env: Environment) -> int:
    if name not in env:
        raise InternalError(Code.INTERNAL, f"the program uses {name!r}, which has no value here")
    return env[name]


def _positive(divisor: int) -> int:
    if divisor <= 0:
        raise InternalError(Code.INTERNAL, f"a division by {divisor}: divisors are positive")
    return divisor
