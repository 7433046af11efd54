"""Loops that go on where the one before them ended, and tests of where that was.

    for (i = a; i < b; i += s) B                      for (i = a; i < b; i += s) B
    for (; c; i++) C                                  for (i = e; c; i++) C
    if (i < n) D                                      if (e < n) D'

where e is what the first loop leaves in i (`c.final_values` has the conditions), and D does not change i.
After a loop that goes on nothing is known of i any more.  Lines stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile, c_file
from loopwright.c.loops import loop_iterator
from loopwright.c.regions import Region
from loopwright.c.reworded.final_values import changed_names, count_of, is_assigned
from loopwright.c.reworded.plain_loops import edited_while
from loopwright.c.syntax import Node, identifiers, named_children, walk
from loopwright.c.tokens import names_in, with_names_replaced
from loopwright.source import Edit, Source

_MOST = 60


def with_continued_loops(source: Source) -> Source:
    """The text with first values for loops that have none, where these are what another loop left."""
    return edited_while(source, _edits, _MOST)


def _edits(source: Source) -> Iterator[list[Edit]]:
    file = c_file(source)
    for region in file.regions:
        block = file.block(region.place)
        for node in walk(block):
            is_sequence = node is block or node.type == "compound_statement"
            statements = [one for one in named_children(node) if one.type != "comment"] if is_sequence else []
            for k, loop in enumerate(statements):
                name = loop_iterator(loop) if loop.type == "for_statement" else None
                if name is not None and is_assigned(loop):
                    edit = _after(loop, name, statements[k + 1 :], region, file)
                    if edit is not None:
                        yield [edit]


def _after(loop: Node, name: str, later: Sequence[Node], region: Region, file: CFile) -> Edit | None:
    """The first statement after a loop that uses what it left in its iterator, with that in its place."""
    if not any(name in identifiers(one) for one in later):
        return None
    count = count_of(loop, name, region, file)
    if count is None or count.kind != "int":
        return None
    for one in later:
        if one.of_type(*_JUMPS) or _redeclares(one, count.names | {name}):
            return None
        changed = {word for node in walk(one) for word in changed_names(node)}
        value = f"({count.test} ? {count.last} : {count.first})"
        if name not in identifiers(one) and not changed & count.names:
            continue
        if one.type == "if_statement" and not changed & {name, *count.names}:
            is_variable = len(one.named(name)) == names_in(one.text).count(name)
            text = with_names_replaced(one.text, {name: value})
            return (one.start, one.end, text) if is_variable else None
        start = _open_head(one, name)
        return None if start is None else (start, start, f"{name} = {value}")
    return None


_JUMPS = ("goto_statement", "labeled_statement", "switch_statement")


def _redeclares(node: Node, names: frozenset[str]) -> bool:
    """Whether one of the names is another variable somewhere in a statement."""
    declarations = (one for one in walk(node) if one.type == "declaration")
    declarators = (each for one in declarations for each in one.children_by_field_name("declarator"))
    return any(named is None or named[0] in names for named in map(declared_name, declarators))


def _open_head(node: Node, name: str) -> int | None:
    """Where `for (; c; i++)` lacks the first value of i."""
    if node.type != "for_statement" or node.child_by_field_name("initializer") is not None:
        return None
    update = node.child_by_field_name("update")
    steps = () if update is None else changed_names(update)
    first = next((part for part in node.children if part.type == ";"), None)
    return first.start if first is not None and name in steps else None
