"""Writes out the macros of regions, where they are more than expressions: as the tokens that they become."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from loopwright.c.file import c_file
from loopwright.c.tokens import as_text, is_name, names_in, packed, spelled
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located, located_file
from loopwright.source import Edit, Source, Span

STATEMENTS = frozenset(
    (
        *("{", "}", ";", "=", "++", "--", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="),
        *("if", "else", "for", "while", "do", "switch", "case", "default"),
        *("break", "continue", "goto", "return"),
    )
)
"""Tokens that are in statements only."""


def is_more(call: Span, words: Sequence[str]) -> bool:
    """Whether a macro is not an expression: `SWAP(a, b);`, `FOR(i, 0, n)`."""
    return not STATEMENTS.isdisjoint(words)


def is_called(call: Span, words: Sequence[str]) -> bool:
    return call.text.endswith(")") or is_more(call, words)


def is_part(call: Span, words: Sequence[str]) -> bool:
    """Whether a macro without parameters is part of an expression: `#define t s->X[3]`."""
    return is_name(call.text) and not {"[", "->", "."}.isdisjoint(words)


def with_statements_written_out(source: Source, options: CompilerOptions) -> Source:
    """The source with macros in its regions expanded that are more than expressions, if the file defines any.

    If one pastes names with `##`, all macros that are called are expanded.
    """
    tokens = _macro_tokens(source)
    if "##" in tokens:
        return with_macros_written_out(source, options, is_called)
    return source if STATEMENTS.isdisjoint(tokens) else with_macros_written_out(source, options, is_more)


def _macro_tokens(source: Source) -> frozenset[str]:
    """The tokens of the macros that regions use, and of those that these use; empty if no macro of the file
    contains a relevant token.
    """
    found: set[str] = set()
    telling = STATEMENTS | {"##"}
    if all(telling.isdisjoint(spelled(macro.body)) for macro in c_file(source).macros):
        return frozenset()
    used = {name for region in c_file(source).regions for name in names_in(region.place.text)}
    while used:
        bodies = [macro.body for macro in c_file(source).macros if macro.name in used]
        new = {token for body in bodies for token in spelled(body)} - found
        found |= new
        used = {token for token in new if is_name(token)}
    return frozenset(found)


def with_macros_written_out(
    source: Source, options: CompilerOptions, is_written_out: Callable[[Span, Sequence[str]], bool]
) -> Source:
    """The source with macros replaced by their tokens: the compiler reads the same ones.

    This is verified: the expansion may name a macro that no longer expands.
    """
    edits: list[Edit] = []
    for _, spot in located_file(source, options).located:
        if not isinstance(spot, Located):
            return source
        for (macro, place), tokens in groupby(spot.tokens, lambda token: (token.macro, token.span)):
            words = [token.text for token in tokens]
            if macro is not None and is_written_out(place, words):
                edits.append((place.start, place.end, as_text(words) + "\n" * place.text.count("\n")))
    if not edits:
        return source
    written = source.edited(sorted(edits))
    if not _same_tokens(source, written, options):
        return source
    return source.edited(sorted((start, end, _bare_owners(text)) for start, end, text in edits))


def _bare_owners(text: str) -> str:
    """Rewrite `(g)->n` and `(g).n` as `g->n` and `g.n`, which are no casts."""
    return re.sub(r"(?<![\w)\]])\(([A-Za-z_]\w*)\)(?=->|\.)", r"\1", text)


def _same_tokens(source: Source, written: Source, options: CompilerOptions) -> bool:
    """Whether the compiler's tokens are the same in the regions of two sources, and around them."""
    texts = (typed_file(one, options).text.text for one in (source, written))
    before, after = map(packed, texts)
    if before != after:
        return False
    pairs = zip(typed_file(source, options).located, typed_file(written, options).located, strict=True)
    for (_, one), (_, other) in pairs:
        if not (isinstance(one, Located) and isinstance(other, Located)):
            return False
        if one.follows_place or list(one.texts) != list(other.texts):
            return False
    return True
