"""Programs with one mistake in them, as a generator with a bug would write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.loops.expressions import And, Compare, Expr, Int, Sum, Test
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.model.annotations import Parallel


def mutants(node: Node) -> Iterator[tuple[str, Node]]:
    """Every program that differs from `node` by one mutation, with what was done."""
    yield from _here(node)
    match node:
        case Block(children):
            for k, child in enumerate(children):
                for what, mutant in mutants(child):
                    yield what, Block((*children[:k], mutant, *children[k + 1 :]))
        case If(test, then, orelse):
            yield from ((what, If(test, mutant, orelse)) for what, mutant in mutants(then))
            if orelse is not None:
                yield from ((what, If(test, then, mutant)) for what, mutant in mutants(orelse))
        case For() | Let() | Remarked():
            yield from ((what, replace(node, body=mutant)) for what, mutant in mutants(node.body))
        case Call():
            return


def _here(node: Node) -> Iterator[tuple[str, Node]]:
    match node:
        case Block(children):
            yield from _in_block(children)
        case If(test, then, orelse):
            yield "drop a guard", then if orelse is None else Block((then, orelse))
            yield "swap then and else", If(test, Block(()) if orelse is None else orelse, then)
            yield from (("shift a guard", If(shifted, then, orelse)) for shifted in _shifted(test))
        case For():
            yield from _in_loop(node)
        case Let(_, value):
            yield "shift a value", replace(node, value=_plus(value, 1))
        case Call(_, arguments):
            for k, argument in enumerate(arguments):
                changed = (*arguments[:k], _plus(argument, 1), *arguments[k + 1 :])
                yield "change an argument", replace(node, arguments=changed)
            if len(arguments) > 1:
                yield "swap arguments", replace(node, arguments=(arguments[1], arguments[0], *arguments[2:]))
            yield "delete a call", Block(())


def _in_block(children: tuple[Node, ...]) -> Iterator[tuple[str, Node]]:
    for k, child in enumerate(children):
        yield "delete a child", Block(children[:k] + children[k + 1 :])
        yield "repeat a child", Block((*children[: k + 1], child, *children[k + 1 :]))
        if k > 0:
            yield "swap siblings", Block((*children[: k - 1], child, children[k - 1], *children[k + 1 :]))


def _in_loop(loop: For) -> Iterator[tuple[str, Node]]:
    for amount in (1, -1):
        yield "shift the start", replace(loop, start=_plus(loop.start, amount))
    yield from (("shift a bound", replace(loop, test=shifted)) for shifted in _shifted(loop.test))
    yield "lengthen the step", replace(loop, step=loop.step + 1)
    if loop.step > 1:
        yield "forget the step", replace(loop, step=1)
    yield "make it parallel", loop.with_annotation(Parallel())


def _shifted(test: Test) -> Iterator[Test]:
    match test:
        case Compare(relation, left, right):
            yield Compare(relation, left, _plus(right, 1))
            yield Compare(relation, left, _plus(right, -1))
        case And(arguments):
            for k, one in enumerate(arguments):
                for shifted in _shifted(one):
                    yield And((*arguments[:k], shifted, *arguments[k + 1 :]))


def _plus(expr: Expr, amount: int) -> Expr:
    return Sum((expr, Int(amount)))
