r"""Tokens of C (C17, 6.4), for text without a syntax tree: macros, pragmas, types.

comment    /* ... */, // ... to the end of the line, including lines joined by \
literal    "..." and '...', with a prefix such as L
number     3, .5, 0x1F, 1e-3f: anything that starts with a digit, including letters
name       an identifier or a keyword
mark       an operator, as long as possible: <<=, ->, (; and any other character
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

_COMMENT = r"/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*"
_LITERAL = r"""(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_NUMBER = r"\.?[0-9](?:[eEpP][-+]|[\w.])*"
_NAME = r"[A-Za-z_]\w*"
_TOKEN = re.compile(
    r"""(?>(?:\s+|/\*.*?\*/|//[^\n]*)*)  # spaces and comments, of which nothing is given back to the rest
      ( [][(){};,?~]  # the start of nothing longer
      | [^\x00-#%-@\[-^`{-\x7f][^\x00-#%-/:-@\[-^`{-\x7f]*(?!["'\w])  # a word: no other character of ASCII
      | (?:u8|[LuU])?"(?:\\.|[^"\\\n])*"|[LuU]?'(?:\\.|[^'\\\n])*'                # a text
      | [A-Za-z_$][\w$]*                                                             # a name
      | \.?\d(?:[eEpP][-+]|[\w.])*                                                  # a number
      | %:%:|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-*/%+&^|]=|\#\#|<:|:>|<%|%>|%:
      | [.&*+\-!/%<>^|:=\#]
      | . | \Z )""",
    re.VERBOSE | re.DOTALL,
)
SPLICE = re.compile(r"\\[ \t]*\r?\n")
_NAMES = re.compile(rf"{_COMMENT}|{_LITERAL}|{_NUMBER}|({_NAME})", re.DOTALL)
_HIDDEN_STARTS = re.compile(r"""["'/]|u8(?=["'])|[uUL](?=["'])""")
_HIDDEN = re.compile(rf"{_COMMENT}|(?P<literal>{_LITERAL})", re.DOTALL)

# fmt: off
KEYWORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic",
    "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local", "asm", "typeof", "alignas",
    "alignof", "bool", "constexpr", "false", "nullptr", "static_assert", "thread_local", "true",
    "typeof_unqual",
))
# fmt: on
"""The keywords of C, up to C23."""
RETURNING_TWICE = frozenset(
    ("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp", "vfork", "getcontext")
)
BLIND_JUMPS = RETURNING_TWICE | {"goto"}
ASSIGNING = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"])
"""The operators that modify their operand."""


def blank(text: str) -> str:
    """`text` with everything but line ends replaced by spaces."""
    return re.sub(r"[^\r\n]+", lambda line: " " * len(line.group()), text)


def bracketed(parts: Iterable[object]) -> str:
    """`[i][j]`: the subscripts or the sizes of an array."""
    return "".join(f"[{one}]" for one in parts)


def packed(text: str) -> str:
    """`text` without white space, for comparison."""
    return "".join(text.split())


def on_one_line(text: str) -> str:
    """`text` without comments, with single spaces in place of white space outside literals."""
    plain = without_comments(text, literals=True)
    if _QUOTES.isdisjoint(plain):
        return " ".join(plain.split())
    pieces, done = [], 0
    for literal in _HIDDEN.finditer(plain):
        pieces += [_SPACES.sub(" ", plain[done : literal.start()]), literal[0]]
        done = literal.end()
    return "".join([*pieces, _SPACES.sub(" ", plain[done:])]).strip()


_QUOTES = frozenset("\"'")
_SPACES = re.compile(r"\s+")


@lru_cache(maxsize=32)
def without_comments(text: str, *, literals: bool) -> str:
    """`text` with comments blanked, and string and character literals too unless `literals`.

    It is cached, since several readers need it for the same file.
    """

    def replacement(match: re.Match[str]) -> str:
        return match[0] if literals and match["literal"] is not None else blank(match[0])

    pieces: list[str] = []
    done = 0
    for start in _HIDDEN_STARTS.finditer(text):
        match = None if start.start() < done else _HIDDEN.match(text, start.start())
        if match is not None:
            pieces += [text[done : match.start()], replacement(match)]
            done = match.end()
    return "".join([*pieces, text[done:]])


def name_matches(text: str) -> list[re.Match[str]]:
    """The identifiers and keywords of a text, with their places; none inside comments and literals."""
    return [match for match in _NAMES.finditer(text) if match[1]]


def names_in(text: str) -> tuple[str, ...]:
    """The identifiers and keywords of a text, in order; the f of `1.5f` is none.

    It is cached, since several readers need it for the same function; long texts have a cache of their own.
    """
    return _names_in_long(text) if len(text) > LONG_TEXT else _names_in_short(text)


def _names_in(text: str) -> tuple[str, ...]:
    return tuple(_found(_NAMES, text))


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    """The tokens that a pattern finds.

    If no token spans a line end, equal lines of a long text are searched only once: tools print the
    same ones many times.
    """
    if len(text) <= LONG_TEXT or "/*" in text or SPLICE.search(text) is not None:
        return [one for one in pattern.findall(text) if one]
    known: dict[str, list[str]] = {}
    found: list[str] = []
    for line in map(str.strip, text.split("\n")):
        if line not in known:
            known[line] = [one for one in pattern.findall(line) if one]
        found += known[line]
    return found


_names_in_short, _names_in_long = lru_cache(maxsize=1024)(_names_in), lru_cache(maxsize=8)(_names_in)
LONG_TEXT = 20_000
"""The number of characters from which repeated reading of a text is costly."""


def with_names_replaced(text: str, given: Mapping[str, str]) -> str:
    """`text` with some names replaced, as the preprocessor replaces parameters."""
    return _NAMES.sub(lambda match: given.get(match[1], match[0]), text)


def whole_word(*names: str) -> re.Pattern[str]:
    """A pattern that finds these names as whole words.

    The character before a name is checked after it: a name is found much sooner than the start of any word.
    """
    found = (rf"{one}(?<![\w$]{one})" for one in map(re.escape, names))
    return re.compile(rf"(?:{'|'.join(found)})(?![\w$])")


def matches_with(pattern: re.Pattern[str], text: str, words: Iterable[str]) -> Iterator[re.Match[str]]:
    """The matches of a pattern, each with one of these words in it: texts are searched for these first."""
    return pattern.finditer(text) if any(word in text for word in words) else iter(())


def operand(text: str) -> str:
    """An expression as an operand of any operator: in parentheses, unless it is a name or a number."""
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def bare(text: str) -> str:
    """An expression without white space, and without the parentheses around all of it."""
    found = packed(text)
    while found.startswith("(") and found.endswith(")"):
        depths = list(accumulate((one == "(") - (one == ")") for one in found))
        if 0 in depths[:-1]:
            break
        found = found[1:-1]
    return found


def decimal(text: str) -> int | None:
    """The value of a decimal number of at most nine digits without a suffix; None for any other text."""
    return int(text) if re.fullmatch(r"0|[1-9]\d{0,8}", text) else None


def is_number(text: str) -> bool:
    """Whether `text` is a number of any type, perhaps with a sign."""
    return re.fullmatch(rf"[-+]?\s*{_NUMBER}", text.strip()) is not None


_made = tuple.__new__
"""Makes a tuple of a class from all its fields: at half the cost of calling the class, for many tokens."""


class Lexeme(NamedTuple):
    """A token's spelling and place; a tuple, since there are many and tuples are made quickly."""

    text: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        return is_name(self.text)


def is_name(text: str) -> bool:
    """Whether a token is an identifier or a keyword."""
    return text[0].isalpha() or text[0] in "_$"


def lexemes(text: str, start: int, end: int) -> tuple[Lexeme, ...]:
    """The tokens of `text[start:end]` without comments; continued lines are joined."""
    if SPLICE.search(text, start, end) is None:
        return _words(text, start, end)
    inside = text[start:end]
    places: list[int] = []
    position = 0
    pieces = []
    for splice in SPLICE.finditer(inside):
        pieces.append(inside[position : splice.start()])
        places += range(position, splice.start())
        position = splice.end()
    pieces.append(inside[position:])
    places += range(position, len(inside) + 1)
    return tuple(
        [
            Lexeme(word, start + places[first], start + places[last - 1] + 1)
            for word, first, last in _words("".join(pieces), 0, len(inside))
        ]
    )


def _words(text: str, start: int, end: int) -> tuple[Lexeme, ...]:
    """The tokens of a text without continued lines, with their start and end offsets."""
    found = _TOKEN.finditer(text, start, end)
    return tuple([_made(Lexeme, (word, *match.span(1))) for match in found if (word := match[1])])


def words(text: str, start: int, end: int) -> list[str] | None:
    """The tokens of `text[start:end]` without their places; None if lines are continued."""
    return None if SPLICE.search(text, start, end) is not None else _found(_TOKEN, text[start:end])


def spelled(text: str) -> list[str]:
    """The tokens of a text, without comments."""
    return [one.text for one in lexemes(text, 0, len(text))]


def has_assignment(text: str) -> bool:
    """Whether a text contains an operator that modifies something."""
    return not ASSIGNING.isdisjoint(spelled(text))


def has_effect(expression: str) -> bool:
    """Whether an expression may have side effects: it assigns, or calls a name."""
    calls = any(two == "(" and is_name(one) for one, two in pairwise(spelled(expression)))
    return calls or has_assignment(expression)


_COMPLEX = re.compile(
    r"\b(?:(?:long[ \t]+double|double|float)[ \t]+(?:complex|_Complex)|"
    r"(?:complex|_Complex)[ \t]+(?:long[ \t]+double|double|float))\b(?=[ \t]*[\w*)])"
)


def with_joined_types(text: str) -> str:
    """A text for a parser that needs `double complex` as one word; offsets do not change."""
    return _COMPLEX.sub(lambda found: re.sub(r"[ \t]", "_", found[0]), text) if "omplex" in text else text


def as_text(words: Iterable[str]) -> str:
    """Tokens as a text, without spaces inside and before brackets, and around members."""
    text = re.sub(r"(?<=[(\[]) | (?=[\])\[;,])", "", " ".join(words))
    text = re.sub(r"(?<=[A-Za-z_)\]]) (->|\.) (?=[A-Za-z_])", r"\1", text)
    return re.sub(r"\b(?!(?:if|for|while|switch|return|sizeof)\b)([A-Za-z_]\w*) \(", r"\1(", text)
