"""Loops over the negative of an iterator: the same iterations in the same order, counted the other way.

for (c0 = 1 - n; c0 <= 0; c0++) S(-c0)   is   for (c0 = n - 1; c0 >= 0; c0--) S(c0)
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.loops.expressions import MIRRORED, Compare, Expr, Relation, Scaled, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import negated, subprograms, substituted, substituted_expr, with_children


def counted_up(loop: For) -> For:
    """A loop that counts down as one that counts up, its iterator declared inside.

    for (i = a; test; i -= s) body   -->   for (i' = -a; test[-i'/i]; i' += s) { int i = -i'; body }
    """
    counted = f"{loop.iterator}'"
    value = Scaled(-1, Var(counted))
    return replace(
        loop,
        iterator=counted,
        start=negated(loop.start),
        test=substituted(loop.test, {loop.iterator: value}),
        step=-loop.step,
        body=Let(loop.iterator, value, loop.body),
    )


def counted_down(node: Node) -> Node:
    """`node` with each loop counting down whose statements use the negative of its iterator."""
    node = with_children(node, counted_down)
    if not isinstance(node, For):
        return node
    match node.test:
        case Compare(Relation.LT | Relation.LE as relation, Var(name), bound) if name == node.iterator:
            if not _is_backwards(node):
                return node
            return replace(
                node,
                start=negated(node.start),
                test=Compare(MIRRORED[relation], Var(name), negated(bound)),
                step=-node.step,
                body=_replaced(node.body, name, Scaled(-1, Var(name))),
            )
        case _:
            return node


def _is_backwards(loop: For) -> bool:
    """Whether statements inside run for the negative of the iterator, and none for itself."""
    calls = [part for part in subprograms(loop.body) if isinstance(part, Call)]
    values = {argument for call in calls for argument in call.arguments}
    return Scaled(-1, Var(loop.iterator)) in values and Var(loop.iterator) not in values


def _replaced(node: Node, name: str, value: Expr) -> Node:
    """`node` with `value` in place of the iterator `name`, which nothing inside declares again."""
    values = {name: value}
    match node:
        case Call(_, arguments, time):
            times = None if time is None else tuple(substituted_expr(one, values) for one in time)
            given = tuple(substituted_expr(one, values) for one in arguments)
            return replace(node, arguments=given, time=times)
        case If(test):
            node = replace(node, test=substituted(test, values))
        case For(_, start, test):
            node = replace(node, start=substituted_expr(start, values), test=substituted(test, values))
        case Let(_, given):
            node = replace(node, value=substituted_expr(given, values))
        case Block() | Remarked():
            pass
        case _:
            assert_never(node)
    return with_children(node, lambda child: _replaced(child, name, value))
