"""Two files in other words, where the words they are written in are not read: the same C, in forms that are.

`c.plain_loops` has the identities.  They are about what is written, so they count only where macros stand for
expressions: no macro in a region may have a jump, a block or an assignment in it, or name what is assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from loopwright.c.file import c_file
from loopwright.c.plain_loops import with_plain_loops
from loopwright.c.syntax import Node, field, identifiers, walk
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located
from loopwright.source import Source, Span

_STATEMENTS = frozenset(
    (
        *("{", "}", ";", "=", "++", "--", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="),
        *("if", "else", "for", "while", "do", "switch", "case", "default"),
        *("break", "continue", "goto", "return"),
    )
)


def phrasings(
    old: Source, new: Source, compiled: CompilerOptions, options: CompilerOptions
) -> Iterator[tuple[Source, Source]]:
    """Both files in words that are likelier to be read, the likeliest first, and at last as they are."""
    plain = _rephrased(with_plain_loops, old, compiled), _rephrased(with_plain_loops, new, options)
    if plain != (old, new):
        yield plain
    yield old, new


def _rephrased(rewrite: Callable[[Source], Source], source: Source, options: CompilerOptions) -> Source:
    new = rewrite(source)
    return new if new == source or _has_plain_macros(source, options) else source


def _has_plain_macros(source: Source, options: CompilerOptions) -> bool:
    """Whether macros stand for expressions in the regions of a file, and for no name assigned there."""
    for region, spot in typed_file(source, options).located:
        if not isinstance(spot, Located):
            return False
        assigned = {name for node in walk(c_file(source).block(region.place)) for name in _targets(node)}
        made = {token.text for token in spot.tokens if token.macro is not None}
        if made & (_STATEMENTS | assigned):
            return False
    return True


def as_written(place: Span, texts: Sequence[Source]) -> Span:
    """A place of a text in other words, in the one of `texts` that it is another wording of: lines stay."""
    for text in texts:
        if text.path == place.source.path and text.text != place.source.text:
            start = text.offset(place.line, 1)
            end = text.text.find("\n", start)
            line = text.text[start : end if end >= 0 else None]
            if line == place.source.at(place.start).excerpt:
                return text.at(start + place.column - 1, place.length)
            return text.at(start + len(line) - len(line.lstrip()), max(1, len(line.strip())))
    return place


def _targets(node: Node) -> tuple[str, ...]:
    match node.type:
        case "assignment_expression":
            return identifiers(field(node, "left"))
        case "update_expression":
            return identifiers(field(node, "argument"))
        case "init_declarator":
            return identifiers(field(node, "declarator"))
        case _:
            return ()
