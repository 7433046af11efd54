"""Macros that hide assignments, loops or arrays, written out before the program is looked at.

`#define STEP(i) A[i] = B[i]` is an assignment wherever STEP is used, and has to be instrumented
there.  A use is replaced by what the preprocessor would make of it; lines stay where they are.
What cannot be determined (several definitions, `#` and `##`) is left, to be refused later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopwright.c.file import c_file
from loopwright.c.macros import Macro, assigns, definitions
from loopwright.c.tokens import blank, name_matches, names_in, with_names_replaced, without_comments
from loopwright.source import Source

_STATEMENTS = frozenset(("for", "while", "do", "if", "else", "switch", "return", "goto"))
ROUNDS = 1000
"""Uses that are written out; a file has fewer."""


def written_out(source: Source, arrays: Iterable[str]) -> Source:
    """`source` with the uses of macros written out that are more than values."""
    names = frozenset(arrays)
    for _ in range(ROUNDS):
        written = _one_written_out(source, names)
        if written is None:
            return source
        source = written
    return source


def _one_written_out(source: Source, arrays: frozenset[str]) -> Source | None:
    macros = c_file(source).macros
    hiding = {
        macro.name: macro for macro in macros if _can_be(macros, macro) and _hides(macros, macro, arrays)
    }
    visible = without_comments(source.text, literals=False)
    for line in c_file(source).directives:
        visible = (
            visible[: line.place.start]
            + blank(source.text[line.place.start : line.place.end])
            + visible[line.place.end :]
        )
    for word in name_matches(visible):
        macro = hiding.get(word.group())
        if macro is not None and word.start() > macro.place.end:
            use = _use(source.text, visible, word, macro)
            if use is not None:
                end, text = use
                lines = "\n" * source.text.count("\n", word.start(), end)
                return source.edited([(word.start(), end, text + lines)])
    return None


def _can_be(macros: tuple[Macro, ...], macro: Macro) -> bool:
    """Whether it is known what stands for the macro wherever it is used."""
    is_only = len(definitions(macros, macro.name)) == 1 and not macro.conditional
    return is_only and "#" not in macro.body and macro.name not in names_in(macro.body)


def _hides(macros: tuple[Macro, ...], macro: Macro, arrays: frozenset[str]) -> bool:
    """Whether a macro is more than a value of numbers, itself or through others."""
    words = set(names_in(macro.body))
    if assigns(macro) or words & (_STATEMENTS | arrays):
        return True
    inner = [one for one in macros if one.name in words and one.place.start != macro.place.start]
    return any(_can_be(macros, one) and _hides(_without(macros, macro), one, arrays) for one in inner)


def _without(macros: tuple[Macro, ...], macro: Macro) -> tuple[Macro, ...]:
    return tuple(one for one in macros if one is not macro)


def _use(text: str, visible: str, word: re.Match[str], macro: Macro) -> tuple[int, str] | None:
    """Where a use of `macro` ends, and what it stands for."""
    body = " ".join(without_comments(macro.body, literals=True).replace("\\\n", " ").split())
    if macro.parameters is None:
        return word.end(), body
    opening = re.compile(r"\s*\(").match(visible, word.end())
    if opening is None:
        return None
    depth, start, arguments = 1, opening.end(), []
    for at in range(opening.end(), len(visible)):
        sign = visible[at]
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 or (sign == "," and depth == 1):
            arguments.append(" ".join(text[start:at].split()))
            start = at + 1
        if depth == 0:
            return _filled(body, macro.parameters, arguments, at + 1)
    return None


def _filled(body: str, parameters: tuple[str, ...], arguments: list[str], end: int) -> tuple[int, str] | None:
    if not parameters and arguments == [""]:
        arguments = []
    if len(parameters) != len(arguments):
        return None
    given = dict(zip(parameters, arguments, strict=True))
    return end, with_names_replaced(body, given)
