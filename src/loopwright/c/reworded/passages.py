"""The common parts of all rewrites of regions: rules about nodes, and edits that keep line numbers.

A rule returns the edits that rewrite one node of a region.  `rewritten` applies those of the first
node that a rule changes, then those of the first in the new source, and so on.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TypeAlias

from loopwright.c.file import CFile, c_file, whole_file
from loopwright.c.loops import loop_iterator
from loopwright.c.regions import Directive, Region
from loopwright.c.syntax import Node, field, walk, without_parentheses
from loopwright.c.tokens import names_in, without_comments
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source

_MOST = 60
"""The maximum number of changes that a rule makes in a file."""
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Passage:
    """A region to be rewritten, with its statements as a block."""

    file: CFile
    region: Region
    block: Node

    @property
    def function(self) -> list[Node]:
        """The nodes of the function around the region."""
        return [node for one in tops_around(self) for node in walk(one)]

    def is_directed(self, loop: Node) -> bool:
        """Whether a pragma applies to this loop: what it allows there depends on the form of the loop."""
        pragmas = self.region.pragmas
        last = bisect_right(pragmas, loop.start, key=lambda one: one.place.end) - 1
        return last >= 0 and is_before(pragmas[last], loop)


Rule: TypeAlias = Callable[[Node, Passage], "list[Edit] | None"]


def tops_around(passage: Passage) -> list[Node]:
    """The top-level declarations, at most one of them a function, that contain a region."""
    parts = whole_file(passage.file.source).possible.named_children
    return [one for one in parts if one.span.contains(passage.region.place)]


def passages(source: Source) -> Iterator[Passage]:
    """The regions of a source."""
    file = c_file(source)
    return (Passage(file, region, file.block(region.place)) for region in file.regions)


def rewritten(source: Source, rule: Rule, *types: str, most: int = _MOST) -> Source:
    """The source after applying a rule to the nodes of these types, in source order."""

    def edits(text: Source) -> Iterator[list[Edit]]:
        for passage in passages(text):
            for node in passage.block.of_type(*types):
                found = rule(node, passage)
                if found:
                    yield found

    return edited_while(source, edits, most)


def edited_while(
    source: Source, edits: Callable[[Source], Iterator[list[Edit]]], most: int = _MOST
) -> Source:
    """The source after the first of its `edits`, then after the first in the result, and so on.

    If it cannot be parsed any more, it is returned as it is; at most `most` changes are made.
    """
    for _ in range(most):
        try:
            first = next(edits(source), None)
        except BadInput:
            return source
        if first is None:
            break
        source = source.edited(sorted(first))
    return source


def distinct_texts(texts: Iterable[Source]) -> Iterator[Source]:
    """The texts without those that came before; each is made when it is asked for."""
    seen: set[Source] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


def is_before(pragma: Directive, loop: Node) -> bool:
    """Whether a pragma is directly before a loop."""
    text, end = loop.source.text, pragma.place.end
    first = _SPACE.match(text, end)
    if first is None or end > loop.start or (first.end() < loop.start and text[first.end()] != "/"):
        return False
    return not without_comments(text[end : loop.start], literals=True).strip()


def fresh_names(source: Source, stem: str) -> Iterator[str]:
    """The names k_1, k_2, .. that do not occur in the source."""
    used = set(names_in(source.text))
    return (name for number in count(1) if (name := f"{stem}_{number}") not in used)


def changed_names(node: Node) -> tuple[str, ...]:
    """The names that an expression modifies, or takes the address of."""
    match node.type:
        case "assignment_expression":
            target = without_parentheses(field(node, "left"))
        case "update_expression" | "pointer_expression":
            target = without_parentheses(field(node, "argument"))
        case "init_declarator":
            target = field(node, "declarator")
        case _:
            return ()
    return (target.text,) if target.type == "identifier" else ()


def changed_in(node: Node) -> list[str]:
    """The names that the parts of a node modify, or take the address of."""
    return [word for part in walk(node) for word in changed_names(part)]


def counting_declaration(name: str, node: Node) -> Node | None:
    """The declaration of an iterator in the head of a loop that is this node or around it."""
    for loop in (node, *node.around()):
        start = loop.child_by_field_name("initializer") if loop.type == "for_statement" else None
        if start is not None and start.type == "declaration" and loop_iterator(loop) == name:
            return start
    return None


def declares(node: Node, name: str) -> bool:
    """Whether a node declares this name as a local variable or a parameter."""
    is_local = node.type in ("declaration", "parameter_declaration", "init_declarator")
    targets = node.children_by_field_name("declarator") if is_local else []
    return any(one.type == "identifier" and one.text == name for one in targets)


def is_declared(name: Node) -> bool:
    """Whether a name is in its own declaration."""
    parent = name.parent
    if parent is None or parent.type in ("declaration", "parameter_declaration"):
        return True
    return parent.type == "init_declarator" and field(parent, "declarator") is name
