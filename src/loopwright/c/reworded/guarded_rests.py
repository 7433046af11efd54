"""Rewrites `continue` as a condition on the rest of the body, in equivalent C.

    for (..) { A; if (c) continue; B }                for (..) { A; if (!(c)) { B } }
    for (..) { if (c) { A; continue; } B }            for (..) { if (c) { A; ; } else { B } }
    for (..) { if (c) { A; continue; } else D; B }    for (..) { if (c) { A; ; } else { D; B } }
    for (..) { A; continue; }                         for (..) { A; ; }

Each is an identity of C for all conditions: c is evaluated where and as often as before, and `!(c)` is 0
where c holds, also if c compares a NaN.  What B declares is visible to the end of the body, as before, and
lives as long.  In place of the body may be a branch of an `if` that is the last statement of the body, and so
on: what follows it is the end of the iteration.  `while` and `do` are rewritten too.  Line numbers do not
change.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.loops import LOOPS, only_inside
from loopwright.c.reworded.passages import Passage, edited_while, passages
from loopwright.c.syntax import Node, field, named_children
from loopwright.c.tokens import on_one_line
from loopwright.source import Edit, Source

_MOST = 200
"""The maximum number of statements of a file that are rewritten."""


def with_guarded_rests(source: Source) -> Source:
    """The source with the bodies of the loops of its regions in these forms."""
    return edited_while(source, _edits, _MOST) if "continue" in source.text else source


def _edits(source: Source) -> Iterator[list[Edit]]:
    for passage in passages(source):
        for loop in passage.block.of_type(*LOOPS):
            if not _has_directive(field(loop, "body"), passage):
                for block in _last_blocks(field(loop, "body")):
                    yield from _in_block(block)


def _has_directive(body: Node, passage: Passage) -> bool:
    """Whether a body contains a pragma, which may apply to the statements next to it, or a continued line."""
    return "\\\n" in body.text or any(body.span.contains(one.place) for one in passage.region.pragmas)


def _last_blocks(statement: Node) -> Iterator[Node]:
    """A statement after which an iteration ends, and the branches in it after which it ends too."""
    yield statement
    inside = named_children(statement) if statement.type == "compound_statement" else [statement]
    last = inside[-1] if inside else statement
    if last.type == "compound_statement" and last is not statement:
        yield from _last_blocks(last)
    if last.type == "if_statement":
        yield from _last_blocks(field(last, "consequence"))
        other = _alternative(last)
        if other is not None:
            yield from _last_blocks(other)


def _alternative(test: Node) -> Node | None:
    clause = test.child_by_field_name("alternative")
    return None if clause is None else named_children(clause)[-1]


def _in_block(block: Node) -> Iterator[list[Edit]]:
    """The edits of one statement of a block after which an iteration ends."""
    statements = named_children(block) if block.type == "compound_statement" else [block]
    if statements and statements[-1].type == "continue_statement":
        yield [_emptied(statements[-1])]
    for one in statements[:-1]:
        if one.type == "if_statement" and _end(field(one, "consequence")).type == "continue_statement":
            yield _guarded(one, statements[-1])


def _end(statement: Node) -> Node:
    """The last statement of a block, or of a block at its end."""
    while statement.type == "compound_statement" and (inside := named_children(statement)):
        statement = inside[-1]
    return statement


def _guarded(test: Node, last: Node) -> list[Edit]:
    """Edits that make the statements after an `if` to the last one its other branch."""
    branch, other, closing = field(test, "consequence"), _alternative(test), (last.end, last.end, " }")
    if other is not None:
        return [_emptied(_end(branch)), (other.start, other.start, "{ "), closing]
    if only_inside(branch).type == "continue_statement":
        negated = f"if (!{on_one_line(field(test, 'condition').text)}) {{"
        return [test.span.reworded(negated), closing]
    return [_emptied(_end(branch)), (test.end, test.end, " else {"), closing]


def _emptied(statement: Node) -> Edit:
    return statement.span.reworded(";")
