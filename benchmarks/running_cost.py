"""Counts the operations of a program while it is interpreted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import assert_never

from loopwright.loops import expressions as ex
from loopwright.loops.interpreter import Environment, evaluate, holds, iterations
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import operations, variables


@dataclass(slots=True)
class Cost:
    """What one run does; filled while the program runs."""

    executions: int = 0
    iterations: int = 0
    empty_iterations: int = 0
    """Iterations in which no statement ran."""
    tests: int = 0
    """Evaluations of the test of an `if`."""
    entries: int = 0
    """How often a loop was entered."""
    operations: int = 0
    """Arithmetic operations and comparisons, an estimate of the instructions executed: a bound
    that does not change while the loop runs is computed once, on entry."""


def cost(node: Node, parameters: Environment, limit: int | None = None) -> Cost:
    """What running `node` costs; `GaveUp` after more than `limit` loop iterations."""
    total = Cost()
    fuel: Iterator[object] = repeat(None) if limit is None else iter(range(limit))
    _run(node, parameters, total, fuel)
    return total


def _run(node: Node, env: Environment, total: Cost, fuel: Iterator[object]) -> None:
    match node:
        case Call(_, arguments):
            total.executions += 1
            total.operations += sum(operations(argument) for argument in arguments)
        case Block(nodes):
            for child in nodes:
                _run(child, env, total, fuel)
        case If(test, then, orelse):
            total.tests += 1
            total.operations += operations(test)
            if holds(test, env):
                _run(then, env, total, fuel)
            elif orelse is not None:
                _run(orelse, env, total, fuel)
        case For():
            _run_loop(node, env, total, fuel)
        case Let(name, value, body):
            total.operations += operations(value)
            _run(body, {**env, name: evaluate(value, env)}, total, fuel)
        case Remarked(_, body):
            _run(body, env, total, fuel)
        case _:
            assert_never(node)


def _run_loop(loop: For, env: Environment, total: Cost, fuel: Iterator[object]) -> None:
    once, each = _test_operations(loop.test, loop.iterator)
    total.entries += 1
    total.operations += operations(loop.start) + once + each
    for value in iterations(loop, env, fuel):
        executed = total.executions
        total.iterations += 1
        total.operations += each + 1
        _run(loop.body, {**env, loop.iterator: value}, total, fuel)
        total.empty_iterations += total.executions == executed


def _test_operations(test: ex.Test, iterator: str) -> tuple[int, int]:
    """The operations of a loop's test on entry and in each iteration: what does not mention
    the iterator is computed once."""
    if isinstance(test, ex.And | ex.Or):
        parts = [_test_operations(argument, iterator) for argument in test.arguments]
        joins = max(len(parts) - 1, 0)
        return sum(once for once, _ in parts), sum(each for _, each in parts) + joins
    if iterator not in variables(test):
        return operations(test), 1
    if isinstance(test, ex.Compare):
        sides = (test.left, test.right)
        once = sum(operations(side) for side in sides if iterator not in variables(side))
        return once, operations(test) - once
    return 0, operations(test)
