"""The author's labels in the new text, each once: C has no two labels of one name in a function.

A statement's label is on its first copy.  That of a loop is on the loop that holds all of what it
held and nothing else, where there still is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.emit.comments import on_loop
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import children, subprograms
from loopwright.model.program import Program, Statement, Tag

_LABEL = "label "


def statement_labels(program: Program, statement: Statement) -> str:
    """`L: ` for each label on this very statement."""
    return "".join(f"{label}: " for label in program.labels_on(statement))


def with_loop_labels(node: Node, program: Program) -> Node:
    """`node` with a mark on each loop that has a label."""
    for tag in program.tags:
        loop = _labelled(node, tag) if _is_on_loop(program, tag) else None
        if loop is not None:
            node = on_loop(node, loop, f"{_LABEL}{tag.name}")
    return node


def label_of(mark: str) -> str | None:
    """The label a mark stands for."""
    return mark.removeprefix(_LABEL) if mark.startswith(_LABEL) else None


def _is_on_loop(program: Program, tag: Tag) -> bool:
    behind = program.source.text[tag.place.start : program.region.end]
    return re.match(rf"\s*({tag.name}\s*)?:?\s*for\b", behind) is not None


def _labelled(node: Node, tag: Tag) -> For | None:
    """The loop of the label's depth among those that hold exactly its statements; else the outermost."""
    everywhere = [part.name for part in subprograms(node) if isinstance(part, Call)]
    wanted = sum(name in tag.statements for name in everywhere)
    found: list[tuple[int, For]] = []
    for depth, loop in _loops(node, 0):
        inside = [part.name for part in subprograms(loop) if isinstance(part, Call)]
        if len(inside) == wanted and set(inside) == set(tag.statements):
            found.append((depth, loop))
    return next((loop for depth, loop in found if depth == tag.depth), found[0][1] if found else None)


def _loops(node: Node, depth: int) -> Iterator[tuple[int, For]]:
    """The loops of `node` with the number of loops around them, outer ones first."""
    inner = depth
    if isinstance(node, For):
        yield depth, node
        inner = depth + 1
    for child in children(node):
        yield from _loops(child, inner)
