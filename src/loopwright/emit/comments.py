"""Keeps comments, empty lines and labels before loops.

The reader attaches a comment to the next statement, and an empty line as a comment without text.  If it is
outside the innermost loops around that statement, it goes before the new loop of the same depth around the
statement's first copy.

A label may occur only once in a function of C.  A statement's label goes on its first copy, a loop's
label on the new loop that contains exactly the same statements, if there is one.

It also detects the author's loop style, so that new loops use the same.

for (i = 0; i < n; ++i)            the iterator is declared outside, counted by ++i
{                                  braces on lines of their own, around single statements too
    a[i] = 0;                      four spaces to a level
}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from loopwright.c.declarations import declared_name
from loopwright.c.loops import outer_iterators
from loopwright.c.syntax import Node as Syntax
from loopwright.c.syntax import field, named_children, operator, walk, without_parentheses
from loopwright.emit.c import Braces, Handwriting, Increment
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node, Remark, Remarked
from loopwright.loops.traverse import children, subprograms, unmarked, with_children
from loopwright.model.program import Program, Statement, Tag
from loopwright.source import Source, Span

T = TypeVar("T")


def handwriting_of(program: Program) -> Handwriting:
    """The style of the loops in the region; the default where they do not determine it."""
    source = program.source
    block = program.syntax
    loops = block.of_type("for_statement")
    controlled = [body for node in walk(block) for body in _bodies(node)]
    compound = [body for body in controlled if body.type == "compound_statement"]
    return Handwriting(
        indent=_usual(_indents(source, loops), "  "),
        increment=_usual(_increments(loops), Increment.POSTFIX),
        braces=_usual(_braces(source, compound), Braces.SAME_LINE),
        always_braces=len(compound) == len(controlled)
        and any(len(named_children(body)) == 1 for body in compound),
        outside=_outside(block, loops),
    )


def _usual(found: Iterable[T], otherwise: T) -> T:
    """The most frequent item, the first of several."""
    counted = Counter(found).most_common(1)
    return counted[0][0] if counted else otherwise


def _bodies(node: Syntax) -> list[Syntax]:
    """The statements a loop or a condition controls; an `else if` is a condition of its own."""
    match node.type:
        case "for_statement":
            return [field(node, "body")]
        case "if_statement":
            return [field(node, "consequence")]
        case "else_clause":
            return [part for part in named_children(node) if part.type != "if_statement"]
        case _:
            return []


def _indents(source: Source, loops: Sequence[Syntax]) -> Iterator[str]:
    """The indentation of loop bodies relative to their loops."""
    for loop in loops:
        body = field(loop, "body")
        inside = named_children(body)[:1] if body.type == "compound_statement" else [body]
        for first in inside:
            outer, inner = _margin(source, loop), _margin(source, first)
            if len(inner) > len(outer) and inner.startswith(outer):
                yield inner[len(outer) :]


def _margin(source: Source, node: Syntax) -> str:
    begin = source.text.rfind("\n", 0, node.start) + 1
    line = source.text[begin:].split("\n", 1)[0]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _increments(loops: Sequence[Syntax]) -> Iterator[Increment]:
    for loop in loops:
        update = loop.child_by_field_name("update")
        if update is None:
            continue
        update = without_parentheses(update)
        if update.type == "update_expression":
            is_prefix = update.text.startswith(("++", "--"))
            yield Increment.PREFIX if is_prefix else Increment.POSTFIX
        elif update.type == "assignment_expression" and update.text.rstrip().endswith("1"):
            yield Increment.ASSIGN if operator(update) == "=" else Increment.ADD


def _braces(source: Source, compound: list[Syntax]) -> Iterator[Braces]:
    for body in compound:
        begin = source.text.rfind("\n", 0, body.start) + 1
        is_alone = not source.text[begin : body.start].strip()
        yield Braces.OWN_LINE if is_alone else Braces.SAME_LINE


def _outside(block: Syntax, loops: Sequence[Syntax]) -> frozenset[str]:
    """Iterators that no loop and no declaration of the region declares."""
    assigned = frozenset(outer_iterators(loops))
    declared = {
        named[0]
        for node in walk(block)
        if node.type == "declaration"
        for part in node.children_by_field_name("declarator")
        if (named := declared_name(part)) is not None
    }
    return assigned - declared


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
    """`node` with a mark on each loop that has a label; that of a loop kept whole is in its text."""
    kept = {label for statement in program.statements for label in program.labels_on(statement)}
    for tag in program.tags:
        is_loop = tag.name not in kept and _is_on_loop(program, tag)
        loop = _labelled(node, tag) if is_loop else None
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
    """The indentation of the line of `offset`."""
    begin = source.text.rfind("\n", 0, offset) + 1
    line = source.text[begin:offset]
    return len(line) - len(line.lstrip(" \t"))


def unindented(text: str, column: int) -> list[str]:
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [first, *(line[min(column, len(line) - len(line.lstrip(" \t"))) :] for line in rest)]
