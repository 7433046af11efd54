"""A text in other words that the compiler reads as the same tokens: without digraphs, `#if 1` and `#if 0`.

The new text has the length and the lines of the old one.  It counts only if the compiler's preprocessor makes
the same tokens of both.  Macros in directives of OpenMP become the numbers they are for a compiler.
"""

from __future__ import annotations

import re
from dataclasses import replace

from loopwright.c.tokens import blank, spelled, without_comments
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.source import Source

_DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}"}
_DIGRAPH = re.compile("|".join(_DIGRAPHS))
_CHOICE = re.compile(r"(?m)^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)$")
_DIRECTIVE = re.compile(r"(?m)^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:[^\n\\]|\\\n|\\)*$")
_DEFINED = re.compile(r"(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+([A-Za-z_]\w*)")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_NUMBER = re.compile(r"#define \w+ \(*(0|[1-9]\d*)\)*\s*")


def plainly_spelled(source: Source, options: CompilerOptions) -> Source:
    """The text without these, where it has any and the compiler agrees; otherwise as it is."""
    visible = without_comments(source.text, literals=False)
    text = source.text
    for start, end in _left_out(visible):
        text, visible = (one[:start] + blank(one[start:end]) + one[end:] for one in (text, visible))
    for found in reversed([*_DIGRAPH.finditer(visible)]):
        text = text[: found.start()] + _DIGRAPHS[found[0]].ljust(2) + text[found.end() :]
    if text == source.text:
        return with_numbers(source, options)
    new = replace(source, text=text)
    compiled = options.for_file(source.path)
    return with_numbers(new if _tokens(new, compiled) == _tokens(source, compiled) else source, options)


def with_numbers(source: Source, options: CompilerOptions) -> Source:
    """The text with numbers in place of the macros in directives of OpenMP that are defined once, before all
    of these, as a number.
    """
    visible = without_comments(source.text, literals=False)
    lines = [one.span() for one in _DIRECTIVE.finditer(visible)]
    words = [(start + one.start(), one) for start, end in lines for one in _NAME.finditer(visible[start:end])]
    defined = {one[1] for one in _DEFINED.finditer(visible)}
    if not any(one[0] in defined or one[0].isupper() for _, one in words):
        return source
    changes = preprocess(source, options.for_file(source.path)).changes
    late = {one[1] for one in _DEFINED.finditer(visible, lines[0][0])}
    text = source.text
    for start, name in reversed(words):
        found = changes.get(name[0], ())
        number = _NUMBER.fullmatch(found[0][1]) if len(found) == 1 and name[0] not in late else None
        if number is not None:
            text = text[:start] + number[1].ljust(len(name[0])) + text[start + len(name[0]) :]
    return source if text == source.text else replace(source, text=text)


def _tokens(source: Source, options: CompilerOptions) -> list[str]:
    text = preprocess(source, options).text
    return [_DIGRAPHS.get(one, one) for one in spelled(text)]


def _left_out(visible: str) -> list[tuple[int, int]]:
    """The lines of `#if 1`, `#if 0` and what belongs to them, with what `#if 0` leaves out."""
    found: list[tuple[int, int]] = []
    opened: list[tuple[int, bool | None]] = []
    for line in _CHOICE.finditer(visible):
        word, condition = line[1], line[2].strip()
        if word in ("if", "ifdef", "ifndef"):
            chosen = {"1": True, "0": False}.get(condition) if word == "if" else None
            opened.append((line.start(), chosen))
            found += [line.span()] if chosen is not None else []
            continue
        if not opened:
            return []
        start, chosen = opened.pop()
        if chosen is None:
            opened += [(start, None)] if word != "endif" else []
            continue
        if word == "elif":
            return []
        found += [line.span(), *([] if chosen else [(start, line.end())])]
        opened += [(line.start(), not chosen)] if word == "else" else []
    return [] if opened else found
