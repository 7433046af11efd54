"""Moves declarations of variables that are used after a region to before the region.

    #pragma scop                                      double s;
    double s = 0;                                     #pragma scop
    B                                                 s = 0; B
    #pragma endscop                                   #pragma endscop
    return s;                                         return s;

It is equivalent if the declaration is a statement of the region itself, of plain numbers, and nothing before
it in the region has the name.  Line numbers do not change: it goes after the last token before the pragma, or
before a region without pragmas.

`with_leading_attributes` moves attributes after a declarator to the front of the declaration, where the
grammar accepts them:

    double t[4] __attribute__((aligned(32)));         __attribute__((aligned(32))) double t[4];

It is equivalent if one variable is declared, and the attribute is in the list below: then it applies to
the variable, not to its type.  Line numbers do not change.

`hides_words` finds declarations with words from macros, which the reader of the source would misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.file import CFile, c_file
from loopwright.c.regions import Region, marked_places
from loopwright.c.syntax import Node, field, identifiers, named_children
from loopwright.c.tokens import blank, names_in, on_one_line, without_comments
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located, located_file
from loopwright.errors import BadInput
from loopwright.source import Edit, Source, Span


def with_outer_declarations(source: Source) -> Source:
    """The source with the variables that are used after its regions declared before them."""
    try:
        file = c_file(source)
        edits = [edit for region in file.regions for edit in _edits(file, region)]
    except BadInput:
        return source
    return source.edited(sorted(edits)) if edits else source


def moved_declarations(source: Source) -> tuple[tuple[Span, Span], ...]:
    """The declarations of such variables: the words before the first declarator, and the whole."""
    found = []
    file = c_file(source)
    for node in (node for region in file.regions for node, _ in _moved(file, region)):
        first = node.children_by_field_name("declarator")[0].start
        found.append((source.at(node.start, first - node.start), node.span))
    return tuple(found)


def _edits(file: CFile, region: Region) -> list[Edit]:
    place = _place_before(file, region)
    if place is None:
        return []
    found: list[Edit] = []
    for statement, names in _moved(file, region):
        kind = field(statement, "type")
        found.append((place, place, f" {on_one_line(kind.text)} {', '.join(names)};"))
        found += _assignments(statement, kind)
    return found


def _moved(file: CFile, region: Region) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The declarations in a region of variables that are used after it, with their names."""
    later = set(names_in(_rest_of_block(file.source.text, region.place.end)))
    earlier: list[Node] = []
    for statement in named_children(file.block(region.place)):
        names = _plain_names(statement) if statement.type == "declaration" else ()
        used = {word for one in earlier for word in identifiers(one)}
        if names and set(names) & later and not set(names) & used:
            yield statement, names
        earlier.append(statement)


def _assignments(declaration: Node, kind: Node) -> list[Edit]:
    """The assignments that remain of a declaration: `s = 0; t = 1;` of `double s = 0, r, t = 1;`."""
    given = [
        f"{field(one, 'declarator').text} = {on_one_line(field(one, 'value').text)};"
        for one in declaration.children_by_field_name("declarator")
        if one.type == "init_declarator"
    ]
    place = Span(declaration.source, kind.start, declaration.end)
    return [place.reworded(" ".join(given) or ";")]


def _plain_names(declaration: Node) -> tuple[str, ...]:
    """The names of a declaration of numbers that has no words besides their type."""
    parts = named_children(declaration)
    kind = declaration.child_by_field_name("type")
    declarators = declaration.children_by_field_name("declarator")
    if kind is None or kind.type not in _TYPES or kind.text in _OF_THE_VALUE:
        return ()
    if len(parts) != 1 + len(declarators):
        return ()
    names: list[str] = []
    for one in declarators:
        target, value = one.declared, one.child_by_field_name("value")
        if target.type != "identifier" or (value is not None and value.type == "initializer_list"):
            return ()
        if value is not None and set(identifiers(value)) & {target.text, *names}:
            return ()
        names.append(target.text)
    return tuple(names)


_OF_THE_VALUE = ("auto", "__auto_type")
_TYPES = ("primitive_type", "sized_type_specifier", "type_identifier")


def _place_before(file: CFile, region: Region) -> int | None:
    """The end of the token before a region and its pragma, if a statement ends or a block starts there."""
    pragmas = [one.place for one in file.directives if one.place.end <= region.place.start]
    if not (file.source.chosen or pragmas):
        return None
    start = region.place.start if file.source.chosen else pragmas[-1].start
    before = without_comments(file.source.text, literals=True)[:start].rstrip()
    is_directive = any(one.place.start <= len(before) <= one.place.end for one in file.directives)
    return len(before) if before.endswith((";", "{", "}")) and not is_directive else None


def _rest_of_block(text: str, start: int) -> str:
    """The source from an offset to the end of the enclosing block."""
    text = without_comments(text, literals=False)
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth < 0:
            return text[start:at]
    return text[start:]


_KIND = r"(?:aligned|__aligned__)\s*(?:\(\s*\w+\s*\))?|unused|__unused__"
_TRAILING = re.compile(rf"(?<=[\w\]])\s*(__attribute(?:__)?\s*\(\s*\(\s*(?:{_KIND})\s*\)\s*\))(?=\s*;)")
_DECLARED = re.compile(
    r"(?:\b(?!return\b|typedef\b|goto\b|else\b)[A-Za-z_]\w*[\s*]+)+[A-Za-z_]\w*(?:\s*\[[^\[\];{}]*\])*\s*"
)
"""The words, the name and its sizes before the attribute."""


def with_leading_attributes(source: Source) -> Source:
    """The source with attributes of the variables of its regions before their declarators."""
    if "__attribute" not in source.text:
        return source
    text = without_comments(source.text, literals=True)
    edits: list[Edit] = []
    for place in marked_places(source):
        for found in _TRAILING.finditer(text, place.start, place.end):
            start = max(text.rfind(mark, place.start, found.start(1)) for mark in ";{}\n")
            start = start + 1 if start >= 0 else place.start
            start += len(text[start : found.start(1)]) - len(text[start : found.start(1)].lstrip())
            if _DECLARED.fullmatch(text, start, found.start(1)):
                edits += [(start, start, on_one_line(found[1]) + " "), (*found.span(1), blank(found[1]))]
    return source.edited(sorted(edits)) if edits else source


def hides_words(source: Source, places: tuple[tuple[Span, Span], ...], options: CompilerOptions) -> bool:
    """Whether a macro produces words before the declarator, or a comma in the declaration.

    `double` and other words of plain numbers are harmless.
    """
    for _, spot in located_file(source, options).located:
        assert isinstance(spot, Located)
        for token in spot.tokens:
            is_hidden = any(
                (token.text not in _NUMBERS and words.contains(token.span))
                or (token.text == "," and whole.contains(token.span))
                for words, whole in places
            )
            if token.macro is not None and is_hidden:
                return True
    return False


_NUMBERS = frozenset(("char", "short", "int", "long", "signed", "unsigned", "float", "double"))
