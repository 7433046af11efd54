"""Comments in front of loops stay in front of loops, and so do empty lines.

The reader gives a comment to the statement that follows it, an empty line as one without text.
Where the author wrote it outside of the innermost loops around that statement, it goes in front of
the new loop of the same depth around the statement's first copy.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.syntax import walk
from loopwright.emit.substitution import comment_lines
from loopwright.loops.nodes import Call, For, Mark, Node
from loopwright.loops.traverse import children, subprograms, with_children
from loopwright.model.program import Program
from loopwright.source import Source, Span

_COMMENT = "comment "


def with_comments(node: Node, program: Program) -> Node:
    """`node` with a mark on each loop that has a comment in front of it."""
    if not any(statement.body.leading for statement in program.statements):
        return node
    loops = [n.span for n in walk(program.syntax) if n.type == "for_statement"]
    for statement in program.statements:
        for comment in reversed(statement.body.leading):
            depth = sum(loop.contains(comment) for loop in loops)
            path = next(_paths(node, statement.name), ())
            if depth < min(len(path), statement.depth):
                node = on_loop(node, path[depth], f"{_COMMENT}{comment.start} {comment.end}")
    return node


def closing(program: Program) -> list[str]:
    """The comments behind all statements of the region, on lines of their own."""
    nodes = list(program.syntax.named_children)
    last = max((k for k, node in enumerate(nodes) if node.type != "comment"), default=-1)
    found: list[str] = []
    for before, node in zip(nodes[last:], nodes[last + 1 :], strict=False):
        between = program.source.text[before.end : node.start]
        if between.count("\n") or found:
            found += [""] * (between.count("\n") > 1) + comment_lines(program.source, node.span)
    return found


def comment_of(mark: str, source: Source) -> Span | None:
    """The comment a mark stands for."""
    if not mark.startswith(_COMMENT):
        return None
    start, end = mark.removeprefix(_COMMENT).split()
    return Span(source, int(start), int(end))


def in_front_of_loops(node: Node, source: Source) -> frozenset[Span]:
    """The comments that have been given to loops."""
    found = (comment_of(part.text, source) for part in subprograms(node) if isinstance(part, Mark))
    return frozenset(comment for comment in found if comment is not None)


def commented(program: Program, comment: Span, lines: list[str]) -> list[str]:
    return [*comment_lines(program.source, comment), *lines]


def on_loop(node: Node, loop: For, text: str) -> Node:
    """`node` with a mark on one of its loops, in front of the marks it has."""
    if _unmarked(node) is loop:
        return Mark(text, node)
    return with_children(node, lambda child: on_loop(child, loop, text))


def _unmarked(node: Node) -> Node:
    return _unmarked(node.body) if isinstance(node, Mark) else node


def _paths(node: Node, statement: str) -> Iterator[tuple[For, ...]]:
    """The loops around each call of the statement, outermost first."""
    if isinstance(node, Call) and node.name == statement:
        yield ()
    own = (node,) if isinstance(node, For) else ()
    for child in children(node):
        for path in _paths(child, statement):
            yield (*own, *path)
