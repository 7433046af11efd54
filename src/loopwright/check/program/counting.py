"""Finds loops that count away from their bound: `for (i = 0; i < n; i--)`.

Such a loop ends by an overflow, if it ends.  A signed iterator that overflows has no value, and what one run
does then says nothing about others; a compiler may remove the iterations in which nothing is done.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.loops import LOOPS, added_to, binary
from loopwright.c.syntax import Node

_GROWING = {"<": 1, "<=": 1, ">": -1, ">=": -1}
"""The sign of the steps of the left side that end a loop, by the comparison in its test."""


def counts_away(loop: Node) -> bool:
    """Whether a variable in the test of a loop is changed so that the test holds for longer."""
    test = loop.child_by_field_name("condition") if loop.type in LOOPS else None
    changes = loop.of_type("update_expression", "assignment_expression")
    return any((added_to(one, name) or 0) * sign < 0 for name, sign in _compared(test) for one in changes)


def _compared(test: Node | None) -> Iterator[tuple[str, int]]:
    """Yields the variables of a test, each with the sign of the steps that make it fail."""
    parts = binary(test)
    if parts is None:
        return
    if parts.sign in ("&&", "||"):
        yield from _compared(parts.left)
        yield from _compared(parts.right)
    sign = _GROWING.get(parts.sign, 0)
    yield parts.left.text, sign
    yield parts.right.text, -sign
