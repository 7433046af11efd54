"""Integers that a text computes from iterators and sizes as values, not as subscripts.

They are compared as integers: `i * 1000 / 1000` is i, as long as i * 1000 is an int.
"""

from __future__ import annotations

from loopwright.c.syntax import Node, operator, walk
from loopwright.model.program import Program
from loopwright.prove.text.c_expressions import Unreadable, Words, expression
from loopwright.prove.text.instances import sides
from loopwright.prove.text.operation import is_in_subscript

OVERFLOW = "integers computed from iterators and sizes do not overflow in values either"
_ARITHMETIC = ("+", "-", "*", "<<")


def computes_integers(program: Program) -> bool:
    """Whether a statement computes such an integer, in which the other program need not overflow."""
    return any(
        node.type in ("binary_expression", "unary_expression")
        and operator(node) in _ARITHMETIC
        and not is_in_subscript(node)
        and _is_integer(node, side.words)
        for side in sides(program).values()
        for node in walk(side.node)
    )


def _is_integer(node: Node, words: Words) -> bool:
    try:
        expression(node, words)
    except Unreadable:
        return False
    return True
