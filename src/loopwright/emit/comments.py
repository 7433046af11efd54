"""What the author wrote before loops stays before loops: comments, empty lines and labels.

The reader gives a comment to the statement that follows it, an empty line as one without text.
Where the author wrote it outside of the innermost loops around that statement, it goes before
the new loop of the same depth around the statement's first copy.

A label may occur only once in a function of C.  A statement's label goes on its first copy, a loop's
label on the new loop that contains exactly the same statements, if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.syntax import walk
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node, Remark, Remarked
from loopwright.loops.traverse import children, subprograms, unmarked, with_children
from loopwright.model.program import Program, Statement, Tag
from loopwright.source import Source, Span


@dataclass(frozen=True, slots=True)
class CommentNote(Remark):
    """A comment of the source, by its place."""

    place: Span


@dataclass(frozen=True, slots=True)
class LabelNote(Remark):
    name: str


def with_comments(node: Node, program: Program) -> Node:
    """`node` with a mark on each loop that has a comment before it."""
    if not any(statement.body.leading for statement in program.statements):
        return node
    loops = [n.span for n in walk(program.syntax) if n.type == "for_statement"]
    for statement in program.statements:
        for comment in reversed(statement.body.leading):
            depth = sum(loop.contains(comment) for loop in loops)
            path = next(_paths(node, statement.name), ())
            if depth < min(len(path), statement.depth):
                node = _on_loop(node, path[depth], CommentNote(comment))
    return node


def closing(program: Program) -> list[str]:
    """The comments after all statements of the region, on lines of their own."""
    nodes = list(program.syntax.named_children)
    last = max((k for k, node in enumerate(nodes) if node.type != "comment"), default=-1)
    found: list[str] = []
    for before, node in zip(nodes[last:], nodes[last + 1 :], strict=False):
        between = program.source.text[before.end : node.start]
        if between.count("\n") or found:
            found += [""] * (between.count("\n") > 1) + comment_lines(program.source, node.span)
    return found


def in_front_of_loops(node: Node) -> frozenset[Span]:
    """The comments that are printed before loops."""
    remarks = (part.remark for part in subprograms(node) if isinstance(part, Remarked))
    return frozenset(remark.place for remark in remarks if isinstance(remark, CommentNote))


def _on_loop(node: Node, loop: For, note: Remark) -> Node:
    """`node` with a mark on one of its loops, before the marks it has."""
    if unmarked(node) is loop:
        return Remarked(note, node)
    return with_children(node, lambda child: _on_loop(child, loop, note))


def _paths(node: Node, statement: str) -> Iterator[tuple[For, ...]]:
    """The loops around each call of the statement, outermost first."""
    if isinstance(node, Call) and node.name == statement:
        yield ()
    own = (node,) if isinstance(node, For) else ()
    for child in children(node):
        for path in _paths(child, statement):
            yield (*own, *path)


def statement_labels(program: Program, statement: Statement) -> str:
    """`L: ` for each label of the statement itself."""
    return "".join(f"{label}: " for label in program.labels_on(statement))


def with_loop_labels(node: Node, program: Program) -> Node:
    """`node` with a mark on each loop that has a label."""
    for tag in program.tags:
        loop = _labelled(node, tag) if _is_on_loop(program, tag) else None
        if loop is not None:
            node = _on_loop(node, loop, LabelNote(tag.name))
    return node


def _is_on_loop(program: Program, tag: Tag) -> bool:
    after = program.source.text[tag.place.start : program.region.end]
    return re.match(rf"\s*({tag.name}\s*)?:?\s*for\b", after) is not None


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


def comment_lines(source: Source, place: Span) -> list[str]:
    """A comment, unindented like the statement it belongs to."""
    return unindented(place.text, column(source, place.start))


def column(source: Source, offset: int) -> int:
    """How far the line of `offset` is indented."""
    begin = source.text.rfind("\n", 0, offset) + 1
    line = source.text[begin:offset]
    return len(line) - len(line.lstrip(" \t"))


def unindented(text: str, column: int) -> list[str]:
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [first, *(line[min(column, len(line) - len(line.lstrip(" \t"))) :] for line in rest)]
