"""Writes a Coq file that compares the evaluator of `Evaluator.v` with `loopwright.loops.interpreter`.

Random programs with every construct of LOOP are run by the interpreter and written as terms the way
`loopwright.prove.coq` writes them; the file states for each that the evaluator finds the same trace.
`coqc` accepts it where the two meanings agree.

    python semantics.py [SEED [COUNT]] > semantics.v
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable

from loopwright.errors import GaveUp
from loopwright.loops import expressions as ex
from loopwright.loops import nodes as nd
from loopwright.loops.interpreter import ExecutedCall, execute
from loopwright.prove.coq.problem_terms import ProblemReader
from loopwright.prove.coq.words import loops

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
            return nd.Let(
                name, random_expr(rng, names, 2), nd.Remarked("m", random_node(rng, inner, depth - 1))
            )


def items(parts: Iterable[str]) -> str:
    return "[" + "; ".join(parts) + "]"


def node_text(node: nd.Node) -> str:
    """The term as files about one program have it; no call has a hint."""
    words = " ".join(loops(node, lambda position: ()))
    return ProblemReader(iter(words.split())).counted()


def trace_text(trace: list[ExecutedCall]) -> str:
    return items(f'Event "{name}" {items(f"({value})" for value in values)} []' for name, values in trace)


def example(rng: random.Random) -> str | None:
    """One comparison; None for a program that runs too long to be of interest."""
    node = random_node(rng, tuple(PARAMETERS), rng.randint(1, 4))
    try:
        trace = list(execute(node, PARAMETERS, limit=200))
    except GaveUp:
        return None
    env = items(f'("{name}", ({value}))' for name, value in PARAMETERS.items())
    goal = f"Goal evaluate 500 {env}\n  (lowered {node_text(node)})\n  = Some {trace_text(trace)}."
    return f"{goal}\nProof. reflexivity. Qed.\n"


def examples(seed: int = 0, count: int = 300) -> str:
    """The file."""
    rng = random.Random(seed)
    parts = ["From Loopwright Require Import Library Evaluator.\n"]
    while len(parts) <= count:
        text = example(rng)
        if text is not None:
            parts.append(text)
    return "\n".join(parts)


if __name__ == "__main__":
    print(examples(*map(int, sys.argv[1:3])))
