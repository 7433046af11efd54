"""How the author of a region writes loops, so that new ones can be written the same way.

for (i = 0; i < n; ++i)            the iterator is declared outside, counted by ++i
{                                  braces on lines of their own, around single statements too
    a[i] = 0;                      four spaces to a level
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from loopwright.c.declarations import declared_name
from loopwright.c.loops import outer_iterators
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.emit.c import Braces, Handwriting, Increment
from loopwright.model.program import Program
from loopwright.source import Source

T = TypeVar("T")


def handwriting_of(program: Program) -> Handwriting:
    """The style of the loops in the region; where they do not show it, the default."""
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


def _bodies(node: Node) -> list[Node]:
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


def _indents(source: Source, loops: Sequence[Node]) -> Iterator[str]:
    """The indentation of loop bodies relative to their loops."""
    for loop in loops:
        body = field(loop, "body")
        inside = named_children(body)[:1] if body.type == "compound_statement" else [body]
        for first in inside:
            outer, inner = _margin(source, loop), _margin(source, first)
            if len(inner) > len(outer) and inner.startswith(outer):
                yield inner[len(outer) :]


def _margin(source: Source, node: Node) -> str:
    begin = source.text.rfind("\n", 0, node.start) + 1
    line = source.text[begin:].split("\n", 1)[0]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _increments(loops: Sequence[Node]) -> Iterator[Increment]:
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


def _braces(source: Source, compound: list[Node]) -> Iterator[Braces]:
    for body in compound:
        begin = source.text.rfind("\n", 0, body.start) + 1
        is_alone = not source.text[begin : body.start].strip()
        yield Braces.OWN_LINE if is_alone else Braces.SAME_LINE


def _outside(block: Node, loops: Sequence[Node]) -> frozenset[str]:
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
