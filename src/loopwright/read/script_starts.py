"""What the loops around a statement start with, as their author wrote it.

The model has no loops, only domains, and a domain forgets a start at which nothing runs; the
operation `from_zero` wants the start itself.
"""

from __future__ import annotations

import islpy as isl

from loopwright.c.syntax import Node, field
from loopwright.model.program import Program, Statement
from loopwright.read.affine import expressions
from loopwright.read.scope import Scope
from loopwright.source import Source, Span


def loop_starts(program: Program, statement: Statement) -> tuple[isl.PwAff, ...]:
    """For each loop around the statement its first value, over all iterators of the statement.

    `BadInput` at a start that is not written as an affine expression.
    """
    heads = _heads(program.syntax, statement.body.place)
    source = Source(program.source.path, program.source.text)
    scope = Scope(program.params, statement.iterators)
    found = []
    for head in heads:
        where = _start(head).span
        found.append(expressions(source, where.start, where.end, scope)[0])
    return tuple(found)


def _heads(node: Node, inside: Span) -> list[Node]:
    """The `for` statements around a place, outermost first."""
    found: list[Node] = []
    current: Node | None = node
    while current is not None:
        if current.type == "for_statement":
            found.append(current)
        current = next((child for child in current.named_children if child.span.contains(inside)), None)
    return found


def _start(loop: Node) -> Node:
    start = field(loop, "initializer")
    if start.type == "declaration":
        return field(field(start, "declarator"), "value")
    return field(start, "right")
