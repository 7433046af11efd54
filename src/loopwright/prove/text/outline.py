"""A text with its bounds and affine conditions blanked: what it is made of, not how often it runs.

The C reader finds the statements of a text, their iterators and what they declare; what their loops
mean is read by `text_loops`.  So the reader need not work out domains of loops with many bounds, which
takes long.  Offsets are those of the text: `for (int i = max(a, b); i < n; i++)` becomes
`for (int i = 0        ; i<1  ; i++)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tree_sitter import Node

from loopwright.loops.expressions import Var
from loopwright.model.program import Program
from loopwright.model.source import Source, TextRange
from loopwright.prove.text.c_expressions import Unreadable, Words, test, words_of
from loopwright.prove.text.loops import first_value, step_of
from loopwright.read.c.names import loop_iterator
from loopwright.read.c.region_syntax import parse_region
from loopwright.read.c.regions import find_regions
from loopwright.read.c.syntax import field, named_children, place, walk


def outlined(source: Source, originals: Mapping[int, Program]) -> Source:
    """The text with the loops of its regions reduced.

    `originals[k]` has the parameters of region `k`; a region without one is made empty.
    """
    pieces: list[str] = []
    position = 0
    for number, region in enumerate(find_regions(source)):
        program = originals.get(number)
        if program is None:
            blank = re.sub(r"[^\r\n]", " ", source.slice(region.place))
            pieces += [source.text[position : region.place.start], blank]
            position = region.place.end
            continue
        words = words_of(replace(program, source=source, region=region.place))
        for where, text in sorted(_blanks(parse_region(source, region), words), key=lambda one: one[0]):
            width = where.end - where.start
            if len(text) > width:
                raise Unreadable(f"there is no room for '{text}' in '{source.slice(where)}'")
            pieces += [source.text[position : where.start], text.ljust(width)]
            position = where.end
    return Source(source.path, "".join([*pieces, source.text[position:]]))


def _blanks(node: Node, words: Words) -> Iterator[tuple[TextRange, str]]:
    """What to put where; a condition on data is part of a statement, and stays."""
    match node.type:
        case "for_statement":
            name = loop_iterator(Source("", words.text), node)
            condition = node.child_by_field_name("condition")
            if name is None or condition is None:
                raise Unreadable("a loop without an iterator or a test")
            yield place(first_value(node)), "0"
            yield place(condition), f"{name}<1" if step_of(node, name, words) > 0 else f"{name}>-1"
            yield from _blanks(field(node, "body"), words.bind(name, Var(name)))
        case "if_statement":
            condition = field(node, "condition")
            try:
                test(condition, words)
            except Unreadable:
                return
            yield place(condition), "(1)"
            for part in named_children(node)[1:]:
                yield from _blanks(part, words)
        case "compound_statement" | "else_clause" | "labeled_statement":
            for part in named_children(node):
                if part.type == "declaration":
                    for name in _declared(part, words):
                        words = words.bind(name, Var(name))
                yield from _blanks(part, words)
        case _:
            return


def _declared(node: Node, words: Words) -> list[str]:
    """The names a declaration gives values to; whether they are integers does not matter here."""
    if any(part.type == "pointer_declarator" for part in walk(node)):
        raise Unreadable("a pointer, which has to stay in its row")
    made = [part for part in node.children_by_field_name("declarator") if part.type == "init_declarator"]
    return [words.of(field(part, "declarator")) for part in made]


def unfolded(outline: Program, source: Source, original: Program) -> Program:
    """The program read from an outline, put back onto its text and the original's parameters.

    A parameter that only occurs in values looks like a variable in the outline, and is none.
    """
    known = set(original.params)
    statements = tuple(
        replace(one, accesses=tuple(access for access in one.accesses if access.array not in known))
        for one in outline.statements
    )
    return replace(
        outline,
        source=source,
        parameters=original.parameters,
        context=original.context,
        arrays=tuple(array for array in outline.arrays if array.name not in known),
        statements=statements,
    )
