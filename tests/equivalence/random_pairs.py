"""Rewritings of a program, some of them correct, some not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import TypeAlias

from tests.equivalence.programs import Affine, Assign, Binary, Cell, Expression, Loop, Node, Number, program

Rewriting: TypeAlias = Callable[[Random, tuple[Node, ...]], tuple[Node, ...]]


def everywhere(
    nodes: tuple[Node, ...], change: Callable[[tuple[Node, ...]], tuple[Node, ...] | None], random: Random
) -> tuple[Node, ...]:
    """`change` at one of the lists of statements for which it is not None."""
    places: list[tuple[tuple[int, ...], tuple[Node, ...]]] = []

    def visit(path: tuple[int, ...], inside: tuple[Node, ...]) -> None:
        made = change(inside)
        if made is not None and made != inside:
            places.append((path, made))
        for k, node in enumerate(inside):
            if isinstance(node, Loop):
                visit((*path, k), node.body)

    visit((), nodes)
    if not places:
        return nodes
    path, made = random.choice(places)
    return _replaced(nodes, path, made)


def _replaced(nodes: tuple[Node, ...], path: tuple[int, ...], made: tuple[Node, ...]) -> tuple[Node, ...]:
    if not path:
        return made
    node = nodes[path[0]]
    assert isinstance(node, Loop)
    inner = replace(node, body=_replaced(node.body, path[1:], made))
    return (*nodes[: path[0]], inner, *nodes[path[0] + 1 :])


def _put(node: Node, name: str, value: Affine) -> Node:
    if isinstance(node, Assign):
        guard = None if node.guard is None else _put_cell(node.guard, name, value)
        return Assign(
            _put_cell(node.target, name, value), node.operator, _put_in(node.value, name, value), guard
        )
    body = tuple(_put(one, name, value) for one in node.body)
    return replace(node, first=node.first.put(name, value), last=node.last.put(name, value), body=body)


def _put_cell(cell: Cell, name: str, value: Affine) -> Cell:
    return Cell(cell.array, tuple(one.put(name, value) for one in cell.subscripts))


def _put_in(expression: Expression, name: str, value: Affine) -> Expression:
    match expression:
        case Cell():
            return _put_cell(expression, name, value)
        case Affine():
            return expression.put(name, value)
        case Binary(operator, left, right):
            return Binary(operator, _put_in(left, name, value), _put_in(right, name, value))
        case Number():
            return expression


def interchange(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, outer in enumerate(inside):
            if isinstance(outer, Loop) and len(outer.body) == 1 and isinstance(outer.body[0], Loop):
                inner = outer.body[0]
                if outer.name not in dict(inner.first.terms):
                    made = replace(inner, body=(replace(outer, body=inner.body),))
                    return (*inside[:k], made, *inside[k + 1 :])
        return None

    return everywhere(nodes, change, random)


def reversal(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        loops = [k for k, node in enumerate(inside) if isinstance(node, Loop) and node.step == 1]
        if not loops:
            return None
        k = random.choice(loops)
        loop = inside[k]
        assert isinstance(loop, Loop)
        return (*inside[:k], replace(loop, backwards=not loop.backwards), *inside[k + 1 :])

    return everywhere(nodes, change, random)


def distribution(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, loop in enumerate(inside):
            if isinstance(loop, Loop) and len(loop.body) > 1:
                cut = random.randint(1, len(loop.body) - 1)
                halves = (replace(loop, body=loop.body[:cut]), replace(loop, body=loop.body[cut:]))
                return (*inside[:k], *halves, *inside[k + 1 :])
        return None

    return everywhere(nodes, change, random)


def fusion(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, (one, other) in enumerate(pairwise(inside)):
            if not isinstance(one, Loop) or not isinstance(other, Loop):
                continue
            if replace(one, body=()) == replace(other, body=()):
                return (*inside[:k], replace(one, body=one.body + other.body), *inside[k + 2 :])
        return None

    return everywhere(nodes, change, random)


def swap(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        if len(inside) < 2:
            return None
        k = random.randint(0, len(inside) - 2)
        return (*inside[:k], inside[k + 1], inside[k], *inside[k + 2 :])

    return everywhere(nodes, change, random)


def shift(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The iterator counts from elsewhere, under another name."""

    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, loop in enumerate(inside):
            if isinstance(loop, Loop):
                by = random.choice((-2, 1, 3))
                name = loop.name + "x"
                body = tuple(_put(node, loop.name, Affine(((name, 1),), -by)) for node in loop.body)
                made = replace(loop, name=name, first=loop.first.plus(by), last=loop.last.plus(by), body=body)
                return (*inside[:k], made, *inside[k + 1 :])
        return None

    return everywhere(nodes, change, random)


def split(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The first iteration apart, as it is when there is one."""

    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, loop in enumerate(inside):
            if isinstance(loop, Loop) and loop.step == 1 and not loop.backwards:
                halves = (replace(loop, step=2), replace(loop, first=loop.first.plus(1), step=2))
                return (*inside[:k], *halves, *inside[k + 1 :])
        return None

    return everywhere(nodes, change, random)


def unrolling(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """By two, with the rest after it: both halves of the even iterations, then the last odd one."""

    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, loop in enumerate(inside):
            if isinstance(loop, Loop) and loop.step == 1 and not loop.backwards and not loop.first.terms:
                again = tuple(_put(node, loop.name, Affine(((loop.name, 1),), 1)) for node in loop.body)
                pairs = replace(loop, last=loop.last.plus(-1), step=2, body=loop.body + again)
                parity = f"({loop.last} - {loop.first}) % 2"
                rest = replace(loop, first=Affine(((f"{loop.last} - {parity}", 1),)))
                return (*inside[:k], pairs, rest, *inside[k + 1 :])
        return None

    return everywhere(nodes, change, random)


def temporary(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """A value kept in `u` first."""

    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, node in enumerate(inside):
            if isinstance(node, Assign) and isinstance(node.value, Binary):
                kept = Assign(Cell("u"), "=", node.value.left)
                after = replace(node, value=replace(node.value, left=Cell("u")))
                return (*inside[:k], kept, after, *inside[k + 1 :])
        return None

    return everywhere(nodes, change, random)


def on_assignments(change: Callable[[Random, Assign], Assign | None]) -> Rewriting:
    """A rewriting of one assignment."""

    def rewriting(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        def one(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
            places = [k for k, node in enumerate(inside) if isinstance(node, Assign)]
            if not places:
                return None
            k = random.choice(places)
            node = inside[k]
            assert isinstance(node, Assign)
            made = change(random, node)
            return None if made is None else (*inside[:k], made, *inside[k + 1 :])

        return everywhere(nodes, one, random)

    return rewriting


def _commuted(random: Random, node: Assign) -> Assign | None:
    match node.value:
        case Binary(operator, left, right):
            return replace(node, value=Binary(operator, right, left))
        case _:
            return None


def _reassociated(random: Random, node: Assign) -> Assign | None:
    match node.value:
        case Binary(outer, Binary(inner, a, b), c) if outer == inner:
            return replace(node, value=Binary(outer, a, Binary(inner, b, c)))
        case _:
            return None


def _other_operator(random: Random, node: Assign) -> Assign | None:
    match node.value:
        case Binary(operator, left, right):
            return replace(node, value=Binary({"+": "-", "-": "+", "*": "+"}[operator], left, right))
        case _:
            return replace(node, operator="+=" if node.operator == "=" else "=")


def _other_subscript(random: Random, node: Assign) -> Assign | None:
    match node:
        case Assign(target=Cell(array, (first, *rest))) if random.random() < 0.4:
            return replace(node, target=Cell(array, (first.plus(1), *rest)))
        case Assign(value=Cell(array, (first, *rest))):
            return replace(node, value=Cell(array, (first.plus(1), *rest)))
        case Assign(value=Binary(name, Cell(array, (first, *rest)), right)):
            return replace(node, value=Binary(name, Cell(array, (first.plus(-1), *rest)), right))
        case _:
            return None


def _other_number(random: Random, node: Assign) -> Assign | None:
    return replace(node, value=Binary(random.choice("+*-"), node.value, Number(random.choice("01"))))


def _written_out(random: Random, node: Assign) -> Assign | None:
    if node.operator == "+=":
        return replace(node, operator="=", value=Binary("+", node.target, node.value))
    match node.value:
        case Binary("+", left, right) if left == node.target:
            return replace(node, operator="+=", value=right)
        case _:
            return None


def lost(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        if len(inside) < 2:
            return None
        k = random.randrange(len(inside))
        return (*inside[:k], *inside[k + 1 :])

    return everywhere(nodes, change, random)


def repeated(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        k = random.randrange(len(inside))
        return (*inside[:k], inside[k], *inside[k:])

    return everywhere(nodes, change, random)


def other_bound(random: Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    def change(inside: tuple[Node, ...]) -> tuple[Node, ...] | None:
        for k, loop in enumerate(inside):
            if isinstance(loop, Loop):
                made = (
                    replace(loop, first=loop.first.plus(random.choice((1, -1))))
                    if random.random() < 0.5
                    else replace(loop, last=loop.last.plus(random.choice((1, -1))))
                )
                return (*inside[:k], made, *inside[k + 1 :])
        return None

    return everywhere(nodes, change, random)


ORDERS: tuple[Rewriting, ...] = (
    interchange,
    reversal,
    distribution,
    fusion,
    swap,
    shift,
    split,
    unrolling,
    temporary,
    on_assignments(_commuted),
    on_assignments(_written_out),
)
MUTATIONS: tuple[Rewriting, ...] = (
    on_assignments(_reassociated),
    on_assignments(_other_operator),
    on_assignments(_other_subscript),
    on_assignments(_other_number),
    lost,
    repeated,
    other_bound,
)


def pair(seed: int) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """A program, and what was made of it; about half of the time something that should differ."""
    random = Random(seed)
    while True:
        old = program(random)
        new = old
        for _ in range(random.choice((1, 1, 2, 3))):
            new = random.choice(ORDERS)(random, new)
        if random.random() < 0.35:
            new = random.choice(MUTATIONS)(random, new)
        if new != old:
            return old, new
