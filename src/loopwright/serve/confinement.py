"""Restricts C so that the compiler reads only headers of the C library and files that the user opened.

The preprocessor can read, or look for, any file: by `#include`, `#embed`, `__has_include`, by pragmas, and
by whatever a macro makes of these.  So what may stand in a directive is listed, everything else is refused,
and so are the ways by which macros make new names: `##`, and the implementation's own macros that paste.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source

HEADERS = re.compile(
    r"(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|malloc|math|omp|setjmp|signal|stdalign"
    r"|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|strings?|tgmath|threads|time|uchar|unistd"
    r"|wchar|wctype|sys/(time|types|resource)|arm_neon|(imm|x86|xmm|emm|pmm|tmm|smm|nmm)intrin)\.h"
)
"""The headers that may be included."""

DIRECTIVES = re.compile(r"undef|ifdef|ifndef|else|endif|error|warning|elifdef|elifndef")
"""Directives that never read a file."""

PRAGMAS = re.compile(
    r"(scop|endscop|omp|loopwright|STDC|ivdep|unroll|vector|once|simd"
    r"|GCC\s+(ivdep|unroll|optimize|target|diagnostic|push_options|pop_options))\b"
)
"""The prefixes of pragmas that read no file."""

RESERVED = re.compile(
    r"__attribute__|__attribute|__restrict|__restrict__|__inline|__inline__|__const|__const__|__volatile__"
    r"|__m(128|256|512)[di]?|__extension__|__typeof__|__alignof__|__builtin_\w+|__func__|__FUNCTION__|__int128|__float128"
    r"|_Alignas|_Alignof|_Atomic|_Bool|_Complex|_Generic|_Imaginary|_Noreturn|_Static_assert|_Thread_local"
)
"""Names of the implementation that may be followed by a parenthesis."""

PREDEFINED = re.compile(r"__(?!has)\w+__|_OPENMP|_(GNU|DEFAULT|POSIX_C|XOPEN|ISOC\d\d|BSD)_SOURCE")
"""Names of the implementation that stand for a value."""

_COMMENT_OR_LITERAL = re.compile(
    r"""(?<![\w$])\.?\d(?:[eEpP][+-]|'\w|[\w.])*"""
    r"""|/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|["'][^\n]*""", re.DOTALL
)
_STRANGE = re.compile(r"\r(?!\n)|[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\uffff\U00010000-\U0010ffff]")
_SPLICE = re.compile(r"\\[ \t\r]*\n")
_TOKEN = re.compile(r"[A-Za-z_$][\w$]*|\.?\d(?:[eEpP][+-]|[\w.])*|\"\"|''|##|%:%:|%:|<<|>>|[^\s\w]")
_DIRECTIVE = re.compile(r"[ \t]*(?:#|%:)[ \t]*(\w*)[ \t]*")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_RESERVED_NAME = re.compile(r"__|_[A-Z]")

HINT = "only headers of the C library are read here, and files that were opened on the command line"


def refuse_reading(source: Source, opened: Collection[str] = ()) -> None:
    """Raise unless the preprocessor, given this text, can only look for headers of the C library, or for
    files of the names `opened`, which have to be the only ones beside it.
    """
    strange = _STRANGE.search(source.text)
    if strange is not None:
        raise _refusal(source, strange.start(), "this character does not belong in a C file")
    trigraph = re.search(r"\?\?[=/'()!<>-]", source.text)
    if trigraph is not None:
        raise _refusal(source, trigraph.start(), "trigraphs are not read here", 3)
    text = _Logical.of(source)
    assembler = re.search(r"\b(?:__)?asm(?:__)?\b", text.bare)
    if assembler is not None:
        raise text.refusal(assembler.start(), "assembler code may read any file", len(assembler.group()))
    values = _numbers(text)
    start = 0
    for line in text.bare.split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive is None:
            _refuse_names(text, start, line)
        else:
            _refuse_directive(text, start, line, directive, values, opened)
        start += len(line) + 1


@dataclass(frozen=True)
class _Logical:
    """The text after its lines are joined: `bare` is without comments, and its literals are empty."""

    source: Source
    joined: str
    bare: str
    places: tuple[int, ...]
    """Where pieces of `joined` start, in it."""
    offsets: tuple[int, ...]
    """Where they start in the source."""

    @staticmethod
    def of(source: Source) -> _Logical:
        pieces: list[str] = []
        places, offsets, position = [0], [0], 0
        for splice in _SPLICE.finditer(source.text):
            pieces.append(source.text[position : splice.start()])
            position = splice.end()
            places.append(sum(map(len, pieces[-1:])) + places[-1])
            offsets.append(position)
        joined = "".join([*pieces, source.text[position:]])
        logical = _Logical(source, joined, "", tuple(places), tuple(offsets))
        bare = _COMMENT_OR_LITERAL.sub(lambda found: logical._blanked(found), joined)
        return _Logical(source, joined, bare, logical.places, logical.offsets)

    def _blanked(self, found: re.Match[str]) -> str:
        """Of the same length: spaces for a comment, and for what is between quotes."""
        text = found.group()
        if text[0] not in "/\"'":
            if "'" in text:
                raise self.refusal(found.start(), "numbers with separators are not read here", len(text))
            return text
        if text.startswith(("/*", "//")):
            if text.startswith("/*") and not (len(text) > 3 and text.endswith("*/")):
                raise self.refusal(found.start(), "this comment is not closed")
            return re.sub(r"[^\n]", " ", text)
        if found.start() and self.joined[found.start() - 1] == "R":
            raise self.refusal(found.start(), "raw strings are not read here")
        if len(text) < 2 or text[-1] != text[0]:
            if "/*" in text or "*/" in text:
                raise self.refusal(found.start(), "this literal is not closed")
            return " " * len(text)
        return text[0] + " " * (len(text) - 2) + text[0]

    def refusal(self, place: int, message: str, length: int = 1) -> BadInput:
        piece = bisect_right(self.places, place) - 1
        return _refusal(self.source, self.offsets[piece] + place - self.places[piece], message, length)


def _refusal(source: Source, offset: int, message: str, length: int = 1) -> BadInput:
    return BadInput(Code.REGION_TEXT, message, span=source.at(offset, length), hint=HINT)


def _numbers(text: _Logical) -> dict[str, bool]:
    """Of every macro of the text, whether all of its definitions are numbers, which `#if` may ask for."""
    found: dict[str, bool] = {}
    for line in text.bare.split("\n"):
        definition = re.match(r"[ \t]*(?:#|%:)[ \t]*define[ \t]+([A-Za-z_$][\w$]*)(\(?)(.*)", line)
        if definition is not None:
            name, opening, body = definition.groups()
            is_number = not opening and _NAME.search(re.sub(r"\b\.?\d[\w.]*", "", body)) is None
            found[name] = found.get(name, True) and is_number
    return found


def _refuse_directive(
    text: _Logical,
    start: int,
    line: str,
    directive: re.Match[str],
    values: dict[str, bool],
    opened: Collection[str],
) -> None:
    name, operand = directive[1], line[directive.end() :]
    place = start + directive.end()
    match name:
        case "include":
            _refuse_include(text, place, operand, opened)
        case "if" | "elif":
            _refuse_condition(text, place, operand, values)
        case "pragma":
            if PRAGMAS.match(operand) is None:
                raise text.refusal(place, "this pragma is not read here", len(operand.rstrip()))
        case "define":
            is_function = re.match(r"[A-Za-z_$][\w$]*\(", operand) is not None
            _refuse_names(text, place, operand, stringifies=is_function)
        case _ if DIRECTIVES.fullmatch(name) or (not name and not operand.strip()):
            if name not in ("error", "warning"):
                _refuse_names(text, place, operand)
        case _:
            raise text.refusal(start, f"#{name} is not read here", len(line.rstrip()))


def _refuse_include(text: _Logical, place: int, operand: str, opened: Collection[str]) -> None:
    """A literal name of a header of the C library, or in quotes of a file that was opened."""
    written = text.joined[place : place + len(operand)]
    found = re.match(r'(?:<([^<>"\n]+)>|"([^"\n]+)")', written)
    is_known = found is not None and (
        HEADERS.fullmatch(found[1] or found[2]) is not None or found[2] in opened
    )
    if found is None or operand[found.end() :].strip() or not is_known:
        raise text.refusal(place, "this header is not read here", len(operand.rstrip()))


def _refuse_condition(text: _Logical, place: int, operand: str, values: dict[str, bool]) -> None:
    """Numbers, `defined NAME`, and names that stand for numbers; nothing is called."""
    tokens = list(_TOKEN.finditer(operand))
    words = [token.group() for token in tokens]
    for k, token in enumerate(tokens):
        name = token.group()
        if _NAME.fullmatch(name) is None or name == "defined":
            continue
        if words[k - 1 : k] == ["defined"] or words[max(0, k - 2) : k] == ["defined", "("]:
            continue
        is_called = words[k + 1 : k + 2] == ["("]
        if is_called or not values.get(name, True) or not _is_harmless(name, is_called=is_called):
            raise text.refusal(place + token.start(), f"'{name}' is not read in a condition here", len(name))


def _refuse_names(text: _Logical, place: int, line: str, *, stringifies: bool = False) -> None:
    """No name of the implementation but listed ones, no pasting, no `#` that could begin a directive."""
    tokens = list(_TOKEN.finditer(line))
    for k, token in enumerate(tokens):
        name, following = token.group(), tokens[k + 1].group() if k + 1 < len(tokens) else ""
        if name in ("##", "%:%:") or (name in ("#", "%:") and not (stringifies and _NAME.match(following))):
            raise text.refusal(place + token.start(), f"'{name}' is not read here", len(name))
        if name == "\\":
            raise text.refusal(place + token.start(), "a stray backslash")
        if _NAME.fullmatch(name) and not _is_harmless(name, is_called=following == "("):
            raise text.refusal(place + token.start(), f"'{name}' is not read here", len(name))


def _is_harmless(name: str, *, is_called: bool) -> bool:
    if _RESERVED_NAME.match(name) is None or RESERVED.fullmatch(name):
        return True
    return not is_called and PREDEFINED.fullmatch(name) is not None
