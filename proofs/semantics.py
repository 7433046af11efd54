"""Writes a Coq file that compares the evaluator of `Evaluator.v` with `loopwright.loops.interpreter`.

Random programs with every construct of LOOP are run by the interpreter, and the file states for
each that the evaluator finds the same trace: `coqc` accepts it where the two meanings agree.

    python semantics.py [SEED [COUNT]] > semantics.v
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from typing import assert_never

from loopwright.errors import GaveUp
from loopwright.loops import expressions as ex
from loopwright.loops import nodes as nd
from loopwright.loops.interpreter import Execution, execute

PARAMETERS = {"n": 5, "m": -3}


def random_expr(rng: random.Random, names: tuple[str, ...], depth: int) -> ex.Expr:
    if depth == 0:
        return ex.Var(rng.choice(names)) if rng.random() < 0.7 else ex.Int(rng.randint(-9, 9))

    def sub() -> ex.Expr:
        return random_expr(rng, names, depth - 1)

    def several(least: int) -> tuple[ex.Expr, ...]:
        return tuple(sub() for _ in range(rng.randint(least, 3)))

    match rng.randrange(8):
        case 0:
            return ex.Sum(several(0))
        case 1:
            return ex.Scaled(rng.randint(-4, 4), sub())
        case 2:
            return ex.FloorDiv(sub(), rng.randint(1, 5))
        case 3:
            return ex.TruncDiv(sub(), rng.randint(1, 5))
        case 4:
            return ex.Rem(sub(), rng.randint(1, 5))
        case 5:
            return ex.Min(several(1))
        case 6:
            return ex.Max(several(1))
        case _:
            return ex.Select(random_test(rng, names, depth - 1), sub(), sub())


def random_test(rng: random.Random, names: tuple[str, ...], depth: int) -> ex.Test:
    choice = rng.randrange(6) if depth > 0 else 0
    if choice < 3:
        sides = [random_expr(rng, names, max(depth, 1) - 1) for _ in range(2)]
        return ex.Compare(rng.choice(list(ex.Relation)), *sides)
    if choice == 5:
        return ex.Not(random_test(rng, names, depth - 1))
    arguments = tuple(random_test(rng, names, depth - 1) for _ in range(rng.randint(0, 3)))
    return ex.And(arguments) if choice == 3 else ex.Or(arguments)


def random_node(rng: random.Random, names: tuple[str, ...], depth: int) -> nd.Node:
    if depth == 0:
        arguments = tuple(random_expr(rng, names, 2) for _ in range(rng.randint(0, 3)))
        return nd.Call(rng.choice("ST"), arguments)
    name = rng.choice("ijn")  # shadows, now and then
    inner = (*names, name)
    match rng.randrange(5):
        case 0:
            return nd.Block(tuple(random_node(rng, names, depth - 1) for _ in range(rng.randint(0, 3))))
        case 1:
            orelse = random_node(rng, names, depth - 1) if rng.random() < 0.6 else None
            return nd.If(random_test(rng, names, 2), random_node(rng, names, depth - 1), orelse)
        case 2 | 3:
            below = ex.Compare(ex.Relation.LE, ex.Var(name), ex.Sum((ex.Var("m"), ex.Int(8))))
            test = ex.And((below, random_test(rng, inner, 2))) if rng.random() < 0.5 else below
            start = random_expr(rng, names, 1)
            return nd.For(name, start, test, rng.randint(1, 3), random_node(rng, inner, depth - 1))
        case _:
            return nd.Let(name, random_expr(rng, names, 2), nd.Mark("m", random_node(rng, inner, depth - 1)))


def items(parts: Iterable[str]) -> str:
    return "[" + "; ".join(parts) + "]"


def expr_text(expr: ex.Expr) -> str:
    match expr:
        case ex.Int(value):
            return f"Int ({value})"
        case ex.Var(name):
            return f'Var "{name}"'
        case ex.Sum(arguments) | ex.Min(arguments) | ex.Max(arguments):
            return f"{type(expr).__name__} {items(map(expr_text, arguments))}"
        case ex.Scaled(factor, argument):
            return f"Scaled ({factor}) ({expr_text(argument)})"
        case ex.FloorDiv(argument, divisor) | ex.TruncDiv(argument, divisor) | ex.Rem(argument, divisor):
            return f"{type(expr).__name__} ({expr_text(argument)}) {divisor}"
        case ex.Select(test, then, orelse):
            return f"Select ({test_text(test)}) ({expr_text(then)}) ({expr_text(orelse)})"
        case _:
            assert_never(expr)


def test_text(test: ex.Test) -> str:
    match test:
        case ex.Compare(relation, left, right):
            return f"Compare {relation.name} ({expr_text(left)}) ({expr_text(right)})"
        case ex.And(arguments) | ex.Or(arguments):
            return f"{type(test).__name__} {items(map(test_text, arguments))}"
        case ex.Not(argument):
            return f"Not ({test_text(argument)})"
        case _:
            assert_never(test)


def node_text(node: nd.Node) -> str:
    match node:
        case nd.Call(name, arguments, time):
            return f'Call "{name}" {items(map(expr_text, arguments))} {items(map(expr_text, time or ()))}'
        case nd.Block(children):
            return f"Block {items(map(node_text, children))}"
        case nd.If(test, then, orelse):
            return f"If ({test_text(test)}) ({node_text(then)}) ({node_text(orelse or nd.EMPTY)})"
        case nd.For(iterator, start, test, step, body):
            return f'For "{iterator}" ({expr_text(start)}) ({test_text(test)}) {step} ({node_text(body)})'
        case nd.Let(name, value, body):
            return f'Let "{name}" ({expr_text(value)}) ({node_text(body)})'
        case nd.Mark(text, body):
            return f'Mark "{text}" ({node_text(body)})'
        case _:
            assert_never(node)


def trace_text(trace: list[Execution]) -> str:
    return items(f'Event "{name}" {items(f"({value})" for value in values)} []' for name, values in trace)


def example(rng: random.Random) -> str | None:
    """One comparison; None for a program that runs too long to be of interest."""
    node = random_node(rng, tuple(PARAMETERS), rng.randint(1, 4))
    try:
        trace = list(execute(node, PARAMETERS, limit=200))
    except GaveUp:
        return None
    env = items(f'("{name}", ({value}))' for name, value in PARAMETERS.items())
    goal = f"Goal evaluate 500 {env}\n  ({node_text(node)})\n  = Some {trace_text(trace)}."
    return f"{goal}\nProof. reflexivity. Qed.\n"


def main(seed: int = 0, count: int = 300) -> None:
    rng = random.Random(seed)
    print("From Loopwright Require Import Tactics Evaluator.\n")
    written = 0
    while written < count:
        text = example(rng)
        if text is not None:
            print(text)
            written += 1


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
