"""LOOP programs as terms of the Coq type `node`, constructor for constructor (`proofs/Loop.v`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, assert_never

from loopwright.errors import Code, InternalError
from loopwright.loops import expressions as ex
from loopwright.loops import nodes as nd
from loopwright.prove.coq.names import text

Hint: TypeAlias = Callable[[int], Sequence[ex.Expr]]
"""For a call, by its position in the text: the time it stands for; empty for nearly all."""


def listed(parts: Iterable[str]) -> str:
    return "[" + "; ".join(parts) + "]"


def integer(value: int) -> str:
    return str(value) if value >= 0 else f"({value})"


def expr_term(expr: ex.Expr) -> str:
    match expr:
        case ex.Int(value):
            return f"Int {integer(value)}"
        case ex.Var(name):
            return f"Var {text(name)}"
        case ex.Sum(arguments) | ex.Min(arguments) | ex.Max(arguments):
            return f"{type(expr).__name__} {listed(map(expr_term, arguments))}"
        case ex.Scaled(factor, argument):
            return f"Scaled {integer(factor)} ({expr_term(argument)})"
        case ex.FloorDiv(argument, divisor) | ex.TruncDiv(argument, divisor) | ex.Rem(argument, divisor):
            if divisor <= 0:
                raise InternalError(Code.INTERNAL, f"a division by {divisor}")
            return f"{type(expr).__name__} ({expr_term(argument)}) {divisor}"
        case ex.Select(test, then, orelse):
            return f"Select ({test_term(test)}) ({expr_term(then)}) ({expr_term(orelse)})"
        case _:
            assert_never(expr)


def test_term(test: ex.Test) -> str:
    match test:
        case ex.Compare(relation, left, right):
            return f"Compare {relation.name} ({expr_term(left)}) ({expr_term(right)})"
        case ex.And(arguments) | ex.Or(arguments):
            return f"{type(test).__name__} {listed(map(test_term, arguments))}"
        case ex.Not(argument):
            return f"Not ({test_term(argument)})"
        case _:
            assert_never(test)


def node_term(node: nd.Node, hint: Hint) -> list[str]:
    """The lines of the term."""
    return _Writer(hint).lines(node)


class _Writer:
    """Counts the calls as they are written."""

    def __init__(self, hint: Hint) -> None:
        self.hint = hint
        self.position = 0

    def lines(self, node: nd.Node) -> list[str]:
        match node:
            case nd.Call(name, arguments):
                hint = self.hint(self.position)
                self.position += 1
                return [
                    f"Call {text(name)} {listed(map(expr_term, arguments))} {listed(map(expr_term, hint))}"
                ]
            case nd.Block(()):
                return ["Block []"]
            case nd.Block(children):
                return ["Block [", *self.children(children)]
            case nd.If(test, then, orelse):
                yes, no = self.inside(then), self.inside(orelse or nd.EMPTY)
                return [f"If ({test_term(test)})", *yes, *no]
            case nd.For(iterator, start, test, step, body):
                head = f"For {text(iterator)} ({expr_term(start)}) ({test_term(test)}) {step}"
                return [head, *self.inside(body)]
            case nd.Let(name, value, body):
                return [f"Let {text(name)} ({expr_term(value)})", *self.inside(body)]
            case nd.Mark(remark, body):
                return [f"Mark {text(remark)}", *self.inside(body)]
            case _:
                assert_never(node)

    def inside(self, node: nd.Node) -> list[str]:
        return [f"  {line}" for line in _around("(", self.lines(node), ")")]

    def children(self, nodes: Sequence[nd.Node]) -> list[str]:
        found: list[str] = []
        for k, child in enumerate(nodes):
            lines = self.lines(child)
            lines[-1] += "]" if k == len(nodes) - 1 else ";"
            found += [f"  {line}" for line in lines]
        return found


def _around(opening: str, lines: list[str], closing: str) -> list[str]:
    first, *rest = lines
    found = [opening + first, *(f" {line}" for line in rest)]
    found[-1] += closing
    return found
