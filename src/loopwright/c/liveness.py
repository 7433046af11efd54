"""Iterators declared outside the region: after it, nobody may want their last values.

The regenerated loops have iterators of their own, so a later read of the old one would see
something else.  The text behind the region is looked at in order: an assignment to the iterator
makes it safe, a read is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.syntax import Node, refuse, walk
from loopwright.source import Span

_LOOPS = ("for_statement", "while_statement", "do_statement")


def refuse_live_iterators(root: Node, region: Span, iterators: frozenset[str]) -> None:
    """Raise at the first read, behind the region, of an iterator the region leaves behind."""
    for function in _functions_around(root, region):
        for name in sorted(iterators):
            uses = [n for n in walk(function) if n.type == "identifier" and n.text == name]
            behind = [use for use in uses if use.start >= region.end]
            for loop in walk(function):
                if loop.type in _LOOPS and loop.span.contains(region):
                    behind += [u for u in uses if loop.start <= u.start < region.start]
            if behind and not _replaces(behind[0]):
                raise refuse(
                    behind[0],
                    f"'{name}' is read after the region, which uses it as an iterator",
                    f"assign '{name}' again before reading it, or declare the iterator in the loop: "
                    f"for (int {name} = ...)",
                )


def _functions_around(root: Node, region: Span) -> Iterator[Node]:
    for node in root.named_children:
        if node.type == "function_definition" and node.span.contains(region):
            yield node


def _replaces(use: Node) -> bool:
    """Whether this occurrence gives the name a new value, or is another variable."""
    parent = use.parent
    if parent is None:
        return False
    if parent.type in ("init_declarator", "declaration", "parameter_declaration"):
        return parent.child_by_field_name("declarator") == use
    is_target = parent.type == "assignment_expression" and parent.child_by_field_name("left") == use
    operator = parent.child_by_field_name("operator")
    return is_target and operator is not None and operator.type == "="
