"""Words of declarations that macros make, which a reader of the text takes for something else."""

from __future__ import annotations

from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located
from loopwright.source import Source, Span


def hides_words(source: Source, places: tuple[tuple[Span, Span], ...], options: CompilerOptions) -> bool:
    """Whether a macro makes words before what is declared, or a comma in the declaration.

    `double` and other words of plain numbers are what they seem.
    """
    for _, spot in typed_file(source, options).located:
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
