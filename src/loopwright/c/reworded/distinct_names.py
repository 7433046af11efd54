"""Variables of a block that have the name of the iterator of another loop: they get a name of their own.

    for (..) { int j = 2 * i; x[j] = 0; }            for (..) { int j_1 = 2 * i; x[j_1] = 0; }
    for (int j = 0; j < n; j++) ..                   for (int j = 0; j < n; j++) ..

The name is fresh in the file; what macros make of it is for the caller to find out.  Lines stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.declarations import declared_name
from loopwright.c.file import c_file
from loopwright.c.loops import loop_iterator
from loopwright.c.reworded.plain_loops import edited_while
from loopwright.c.syntax import Node, walk
from loopwright.c.tokens import names_in
from loopwright.source import Edit, Source

_MOST = 60


def with_distinct_names(source: Source) -> Source:
    """The text with other names for such variables, as long as each is declared once in its block."""
    return edited_while(source, _edits, _MOST)


def _edits(source: Source) -> Iterator[list[Edit]]:
    file = c_file(source)
    for region in file.regions:
        nodes = [*walk(file.block(region.place))]
        said = {word for pragma in region.pragmas for word in names_in(pragma.place.text)}
        loops: dict[str, list[Node]] = {}
        for node in nodes:
            name = loop_iterator(node) if node.type == "for_statement" else None
            if name is not None and name not in said:
                loops.setdefault(name, []).append(node)
        declarations = [node for node in nodes if node.type == "declaration"] if loops else []
        for node in declarations:
            for declarator in node.children_by_field_name("declarator"):
                named = declared_name(declarator)
                others = [] if named is None else loops.get(named[0], [])
                if named is not None and _is_of_block(node, region.place.start, others):
                    edits = _renamed(named[0], declarator, node, declarations)
                    if edits:
                        yield edits


def _is_of_block(declaration: Node, start: int, loops: list[Node]) -> bool:
    """Whether a declaration is a statement of a block in the region that one of `loops` is not in."""
    block = declaration.parent
    if block is None or block.type != "compound_statement" or block.start < start:
        return False
    return any(not block.span.contains(loop.span) for loop in loops)


def _renamed(name: str, declarator: Node, declaration: Node, declarations: list[Node]) -> list[Edit]:
    """The name replaced from where it is declared to the end of the block; nothing where that has another
    variable of that name."""
    block = declaration.parent
    assert block is not None
    here = [one for one in declarations if block.span.contains(one.span)]
    declared = [
        known[0]
        for one in here
        for each in one.children_by_field_name("declarator")
        if (known := declared_name(each)) is not None
    ]
    if declared.count(name) != 1:
        return []
    used, number = set(names_in(block.source.text)), 1
    while f"{name}_{number}" in used:
        number += 1
    places = [one for one in block.named(name) if one.start >= declarator.start]
    return [(one.start, one.end, f"{name}_{number}") for one in places]
