"""The statements of a region as a syntax tree, and what the rest of its file declares."""

from __future__ import annotations

import re
from functools import lru_cache

from loopwright.c.casts import Ambiguous, Kinds, parse_possible, parse_settled
from loopwright.c.declarations import Declarations, declarations_of
from loopwright.c.macros import macros_of
from loopwright.c.regions import Region, find_regions, without_directives
from loopwright.c.syntax import Node, blank, field, refuse, refuse_syntax_errors, without_comments
from loopwright.errors import Code
from loopwright.source import Source, Span

_OPENING = "void f(){"
_WHOLE = "put the pragmas around whole statements"


@lru_cache(maxsize=16)
def declared_in(source: Source) -> Declarations:
    """The declarations that can be seen from the regions of a file."""
    root = parse_possible(source)
    return declarations_of(root, [region.place for region in find_regions(source)])


@lru_cache(maxsize=8)
def parse_file(source: Source, declarations: Declarations | None = None) -> Node:
    """The tree of a whole file, preprocessor lines left out; one without regions needs `declarations`."""
    known = declared_in(source) if declarations is None else declarations
    return parse_settled(source, without_directives(source), Kinds(known, macros_of(source), None))


def kinds_in(source: Source, at: Span) -> Kinds:
    """What names are at a place of a file; a macro counts if it is defined before."""
    macros = tuple(macro for macro in macros_of(source) if macro.place.start < at.start)
    return Kinds(declared_in(source), macros, at)


def parse_region(source: Source, region: Region) -> Node:
    """The statements of a region, as the block of a function.

    The rest of the file is blanked, so that what its macros expand to cannot confuse the parser,
    and the pragmas inside too: one may stand between a `for` and its body.
    """
    text = source.text
    inside = region.place
    _refuse_unbalanced(source, inside)
    pieces = [blank(text[: inside.start - len(_OPENING) - 1]), _OPENING, "\n"]
    position = inside.start
    for pragma in region.pragmas:
        pieces.append(text[position : pragma.place.start])
        pieces.append(blank(pragma.place.text))
        position = pragma.place.end
    pieces += [text[position : inside.end], "}", blank(text[inside.end + 1 :])]
    try:
        root = parse_settled(source, "".join(pieces), kinds_in(source, inside))
    except Ambiguous as failure:
        name = failure.name
        hint = f"leave out the parentheses if '{name}' is a value; declare it in the file if it is a type"
        raise refuse(failure.node, f"{failure} here", hint) from None
    refuse_syntax_errors(root)
    return field(root.named_children[0], "body")


def _refuse_unbalanced(source: Source, inside: Span) -> None:
    """A region is a list of whole statements: its braces match each other."""
    text = without_comments(source.text, literals=False)
    opened: list[int] = []
    for match in re.compile(r"[{}]").finditer(text, inside.start, inside.end):
        spot = Span(source, match.start(), match.end())
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            opened.pop()
        else:
            raise refuse(spot, "this '}' closes a block opened before the region", _WHOLE, code=Code.REGION)
    if opened:
        spot = source.at(opened[-1])
        raise refuse(spot, "this '{' is not closed before the region ends", _WHOLE, code=Code.REGION)
