"""A text in other words, where the words it is written in are not read: the same C, in forms that are.

`c.plain_loops` and `c.final_values` have the identities.  They are about what is written, so they count only
where macros stand for expressions: no macro in a region may have a jump, a block or an assignment in it, or
name what is assigned.  What replaces an iterator by another variable counts only if no pointer leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopwright.c.file import c_file
from loopwright.c.final_values import with_final_values
from loopwright.c.loops import loop_iterator
from loopwright.c.plain_loops import with_plain_loops
from loopwright.c.syntax import Node, assigned_names, field, identifiers, walk
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located
from loopwright.errors import BadInput
from loopwright.read.c.inlined import called_in, with_calls_inlined
from loopwright.source import Source, Span

_DEEPEST = 3
"""How deep functions that call others are inlined."""
_STATEMENTS = frozenset(
    (
        *("{", "}", ";", "=", "++", "--", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="),
        *("if", "else", "for", "while", "do", "switch", "case", "default"),
        *("break", "continue", "goto", "return"),
    )
)


def in_plain_loops(source: Source, options: CompilerOptions) -> Source:
    """The text with plain loops, where that is what the compiler reads."""
    plain = with_plain_loops(source)
    return plain if plain == source or _has_plain_macros(source, options) else source


def with_other_iterators(source: Source, options: CompilerOptions) -> Source:
    """The text with plain loops that have iterators of their own, where those are read after the loops."""
    plain = in_plain_loops(source, options)
    final = with_final_values(plain)
    if final == plain or not _has_plain_macros(source, options):
        return plain
    return plain if any(_is_pointed_to(name, source, options) for name in _iterators(plain)) else final


def pairs_of_wordings(
    old: Source, new: Source, compiled: CompilerOptions, options: CompilerOptions
) -> Iterator[tuple[Source, Source]]:
    """Two files in plain loops, as they are, and with other iterators, each pair of texts once.

    Functions that only one of them calls, or that are not the same in both, are inlined first.
    """
    plain = in_plain_loops(old, compiled), in_plain_loops(new, options)
    inlined = plain
    for _ in range(_DEEPEST):
        inlined = _inlined(*inlined, compiled, options)
    if inlined != plain:
        yield in_plain_loops(inlined[0], compiled), in_plain_loops(inlined[1], options)
    yield plain
    if plain != (old, new):
        yield old, new
    final = with_other_iterators(old, compiled), with_other_iterators(new, options)
    if final not in (plain, (old, new)):
        yield final


def _inlined(
    old: Source, new: Source, compiled: CompilerOptions, options: CompilerOptions
) -> tuple[Source, Source]:
    """Both texts without calls of functions that only one of them calls, or that differ."""
    try:
        before, after = called_in(old), called_in(new)
    except BadInput:
        return old, new
    names = {name for name in (*before, *after) if before.get(name) != after.get(name)}
    if not names:
        return old, new
    return with_calls_inlined(old, names, compiled), with_calls_inlined(new, names, options)


def _iterators(source: Source) -> set[str]:
    """The names that the loops of regions assign their first values to."""
    loops = (
        node
        for region in c_file(source).regions
        for node in walk(c_file(source).block(region.place))
        if node.type == "for_statement"
    )
    return {name for loop in loops if (name := loop_iterator(loop)) is not None}


def _is_pointed_to(name: str, source: Source, options: CompilerOptions) -> bool:
    """Whether the preprocessed text has something like `&name`, or an attribute that gives away addresses."""
    text = typed_file(source, options).text.text
    return re.search(rf"&[\s(]*{re.escape(name)}\b|cleanup", text) is not None


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
    """The names that an expression or a declaration gives values to."""
    is_declared = node.type == "init_declarator"
    return identifiers(field(node, "declarator")) if is_declared else assigned_names(node)
