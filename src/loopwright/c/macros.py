"""The macros that a file defines, and what their bodies could hide.

Macros are not expanded.  A macro is assumed to be a value: an object-like one a constant, a
function-like one a pure function of its arguments.  If its definition is in the file, this is
checked (`hidden_names`): its body must not assign, nor mention what the region modifies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from loopwright.c.regions import Directive
from loopwright.c.tokens import (
    has_assignment,
    name_matches,
    names_in,
    packed,
    spelled,
    whole_word,
    with_names_replaced,
)
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

_STATEMENTS = frozenset(("#", "##", ";", "{", "}"))
_PASTED = re.compile(r"([A-Za-z_]\w*)\s*##\s*[A-Za-z]\w*")
"""`x##f`: with a number for x, a number of another type."""
_INTEGER = re.compile(r"\(*\s*([+-]?\s*(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+))([uUlL]*)\s*\)*")
_DEFINITION = re.compile(r"\s*([A-Za-z_]\w*)(\(([^)]*)\))?(.*)", re.DOTALL)
_RESERVED = """
auto break case char const continue default defined do double else enum extern float for goto if inline
int long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while
"""
_KEYWORDS = frozenset(_RESERVED.split())

HELPERS = ("floord", "max", "min")
"""Macros that the source of new loops uses."""


_CAPITALS = re.compile(r"[A-Z_][A-Z0-9_]*")


def looks_like_macro(name: str) -> bool:
    return _CAPITALS.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Macro:
    """`#define name(parameters) body`; an object-like macro has no parameters."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    place: Span
    conditional: bool
    """Whether it is inside an `#if`: another definition may be in effect, or none."""


def macros_of(lines: Sequence[Directive], plain: str) -> tuple[Macro, ...]:
    """The definitions among the preprocessor lines of a file, in order; a name may have several.

    `plain` is the source without these lines.  A name before its definition has another meaning there,
    and `#pragma pop_macro` restores another meaning.
    """
    found: list[Macro] = []
    depth = 0
    first = _first_places(plain[: max((one.place.start for one in lines if one.name == "define"), default=0)])
    for line in lines:
        if line.name in ("if", "ifdef", "ifndef"):
            depth += 1
        elif line.name == "endif":
            depth -= 1
        elif line.name == "define" and (match := _DEFINITION.match(line.argument)):
            name, has_parameters, inside, body = match.groups()
            parameters = tuple(names_in(inside)) if has_parameters else None
            is_other = depth > 0 or first.get(name, line.place.start) < line.place.start
            found.append(Macro(name, parameters, body.strip(), line.place, is_other))
        elif line.name == "undef":
            name = line.argument.strip()
            found = [_made_conditional(macro) if macro.name == name else macro for macro in found]
    restores = any("pop_macro" in line.argument for line in lines) or "pop_macro" in plain
    return tuple(map(_made_conditional, found)) if restores else tuple(found)


def _first_places(text: str) -> dict[str, int]:
    """The first offset of each name, outside comments."""
    return {match[1]: match.start(1) for match in reversed(name_matches(text))}


def _made_conditional(macro: Macro) -> Macro:
    return Macro(macro.name, macro.parameters, macro.body, macro.place, conditional=True)


def definitions(macros: Sequence[Macro], name: str) -> tuple[Macro, ...]:
    return tuple(macro for macro in macros if macro.name == name)


def constant_macro(macros: Sequence[Macro], name: str) -> int | None:
    """The value of a macro that is an integer for all compiler options, else None."""
    found = definitions(macros, name)
    if len(found) != 1 or found[0].conditional or found[0].parameters is not None:
        return None
    return integer_text(found[0].body)


@lru_cache(maxsize=1024)
def integer_text(text: str) -> int | None:
    """The value of an integer literal, with parentheses, sign and suffix allowed; None for anything else.

    -1u is 2^32 - 1, and -0x80000000 is 2^31, which has no other type: neither is a negative integer.
    """
    match = _INTEGER.fullmatch(text.strip())
    if match is None or text.count("(") != text.count(")"):
        return None
    digits = match.group(1).replace(" ", "")
    is_octal = re.fullmatch(r"[+-]?0\d+", digits) is not None
    if is_octal and re.search("[89]", digits):
        return None
    value = int(digits, 8 if is_octal else 0)
    is_large = digits.startswith("-0") and value <= -(1 << 31)
    return None if value < 0 and (is_large or "u" in match.group(2).lower()) else value


def with_arguments(macro: Macro, arguments: Sequence[str] = ()) -> str:
    """The body with the arguments, as many as there are parameters, substituted."""
    return with_names_replaced(macro.body, dict(zip(macro.parameters or (), arguments, strict=True)))


def assigns(macro: Macro) -> bool:
    """Whether the body contains anything but a plain expression."""
    body = unpasted(macro)
    return has_assignment(body) or not _STATEMENTS.isdisjoint(spelled(body))


def unpasted(macro: Macro) -> str:
    """The body with x in place of `x##f`; `suffixed` are the parameters concerned."""
    return _PASTED.sub(r"\1", macro.body)


def suffixed(macro: Macro) -> frozenset[str]:
    """The x of `x##f`: its argument must be a number, or a new name would be made."""
    return frozenset(match[1] for match in _PASTED.finditer(macro.body))


def hidden_names(macros: Sequence[Macro], name: str) -> tuple[tuple[Macro, str, bool], ...]:
    """The names in the expansion of `name` besides parameters, through other macros too.

    Each entry: the macro, the name it mentions, and whether the name is called there.
    """
    found: list[tuple[Macro, str, bool]] = []
    seen: list[str] = []
    pending = [name]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.append(current)
        for macro in definitions(macros, current):
            body = unpasted(macro)
            for match in name_matches(body):
                word = match.group()
                if word in (macro.parameters or ()) or word in _KEYWORDS:
                    continue
                if definitions(macros, word):
                    pending.append(word)
                else:
                    called = body[match.end() :].lstrip().startswith("(")
                    found.append((macro, word, called))
    return tuple(found)


def reachable_macros(macros: Sequence[Macro], name: str) -> tuple[Macro, ...]:
    """The definitions that `name` expands through."""
    reached: list[Macro] = []
    pending = [name]
    while pending:
        for macro in definitions(macros, pending.pop()):
            if macro not in reached:
                reached.append(macro)
                pending.extend(names_in(unpasted(macro)))
    return tuple(reached)


def reached_tokens(macros: Sequence[Macro], text: str) -> list[str]:
    """The tokens of a text, and of the bodies of all macros in its expansion except their parameters."""
    found = spelled(text)
    for macro in dict.fromkeys(one for name in names_in(text) for one in reachable_macros(macros, name)):
        found += [token for token in spelled(macro.body) if token not in (macro.parameters or ())]
    return found


def always_evaluated(macros: Sequence[Macro], name: str, index: int) -> bool:
    """Whether a macro certainly evaluates its argument `index`: before any `?`, `&&` or `||`.

    A name that the file does not define is treated as a function, which evaluates all its arguments.
    """
    for macro in definitions(macros, name):
        parameters = macro.parameters or ()
        certain = re.split(r"\?|&&|\|\|", macro.body)[0]
        if index >= len(parameters) or parameters[index] not in names_in(certain):
            return False
    return True


def mentions(macro: Macro, name: str) -> bool:
    """Whether the body contains the word `name`, not as a parameter."""
    return name in names_in(macro.body) and name not in (macro.parameters or ())


_LVALUE = re.compile(r"\(?\s*([A-Za-z_]\w*(?:\s*(?:->|\.)\s*[A-Za-z_]\w*)*)\s*\)?")


def storage_of(macros: Sequence[Macro], name: str) -> str | None:
    """The variable or field that a macro denotes: `as1->X` for `#define x as1->X`."""
    found = definitions(macros, name)
    if len(found) != 1 or found[0].conditional or found[0].parameters is not None:
        return None
    match = _LVALUE.fullmatch(found[0].body)
    text = None if match is None else packed(match[1])
    if text is None or any(definitions(macros, word) for word in names_in(text)) or integer_text(text):
        return None
    return text


_OWN_HEADER = re.compile(r"#\s*include\s*[^<\s]")
"""An include of the user's own header, or of one that a macro names."""


def refuse_unknown_sizes(source: Source, names: Iterable[str], *more: Source) -> None:
    """Raise for a size whose name is in none of the sources, nor can be in one of their headers."""
    texts = [one.text for one in (source, *more)]
    if any(_OWN_HEADER.search(text) for text in texts):
        return
    for name in names:
        if not any(whole_word(name).search(text) for text in texts):
            message = f"'{name}' is given a value, but does not occur in the program"
            hint = "sizes are macros or parameters of the program: 'loopwright extract' lists them"
            raise BadInput(Code.OPTION, message, span=Span.start_of(source.path), hint=hint)
