"""Parses the lines of a script (`.lw`), as in [Namjoshi2016, appendix B]: one operation per line.

    script    ::= {[operation] NEWLINE}
    operation ::= [targets "="] NAME "(" [argument {"," argument}] ")"
    targets   ::= NAME | "(" NAME {"," NAME} ")"
    argument  ::= [NAME "="] value
    value     ::= ["-" | "+"] NUMBER | NAME | "@" LINE | "[" value {"," value} "]" | map | set
    map       ::= "{" tuple "->" tuple [":" condition] "}"
    set       ::= "{" tuple ":" condition "}"
    tuple     ::= "[" [expression {"," expression}] "]"

A `;` ends a line too, and inside brackets a line may break anywhere.  This module does not know the
operations and their arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.read.formula import Formula
from loopwright.read.formula_grammar import Parser, Token, TokenKind, TokenReader
from loopwright.read.text import mistake
from loopwright.source import Source, Span
from loopwright.transform.script.formulas import AffineMap, AffineSet


@dataclass(frozen=True)
class ScriptWord:
    place: Span
    text: str


@dataclass(frozen=True)
class ScriptNumber:
    place: Span
    value: int


@dataclass(frozen=True)
class ScriptList:
    """`[a, b]`."""

    place: Span
    values: tuple[ScriptValue, ...]


@dataclass(frozen=True)
class ScriptBraces:
    """A map or a set."""

    place: Span
    content: AffineMap | AffineSet


ScriptValue: TypeAlias = ScriptWord | ScriptNumber | ScriptList | ScriptBraces


@dataclass(frozen=True)
class ScriptArgument:
    """`value` or `keyword=value`."""

    place: Span
    keyword: ScriptWord | None
    value: ScriptValue


@dataclass(frozen=True)
class ScriptLine:
    """`targets = name(arguments)`."""

    place: Span
    targets: tuple[ScriptWord, ...]
    name: ScriptWord
    arguments: tuple[ScriptArgument, ...]


_PATTERN = re.compile(
    r"""(?P<space>[^\S\n]+|\#[^\n]*)
      | (?P<line>\n)
      | (?P<name>[A-Za-z_][A-Za-z_0-9]*|@[0-9]+)
      | (?P<number>[0-9]+)
      | (?P<mark>->|<=|>=|==|!=|&&|\|\||[-+*/%()\[\]{},:?<>=!;])""",
    re.VERBOSE,
)

LONGEST = 18
"""The most digits of a number: more do not fit into 64 bits."""

VALUE = "a value"

REMARK = "a remark begins with '#'"

BRACES = "write {[i] -> [...]} or {[i] : ...}"

USAGE = "a line reads: L = operation(arguments), such as tile(Mult, 32, 32)"

_HINTS = {
    '"': "names are written without quotes: tile(Mult, 32, 32)",
    "'": "names are written without quotes: tile(Mult, 32, 32)",
    ".": "the component is the first argument: tile(Mult, 32, 32)",
    "@": "a line of the C file is written @12",
    "\\": "inside brackets a line may end anywhere",
}
"""Hints for characters that are not allowed here."""

_OPEN = {"(": ")", "[": "]", "{": "}"}


def parse_lines(source: Source) -> tuple[ScriptLine, ...]:
    """Return the lines of a script; raises `BadInput` for invalid syntax."""
    return tuple(_LineParser(source, words).line() for words in _lines(source))


def parse_braces(text: str) -> AffineMap | AffineSet:
    """Parse a text that is a map or a set."""
    source = Source("<python>", text)
    lines = _lines(source)
    if not lines:
        raise mistake(source, 0, "neither a map nor a condition", hint=BRACES)
    if len(lines) > 1:
        raise _error(source, lines[1][0], "text after the map or condition", BRACES)
    parser = _LineParser(source, lines[0])
    found = parser.braces().content
    if parser.token.kind is not TokenKind.END:
        raise parser.error(f"{parser.shown()} after the map or condition", BRACES)
    return found


def _lines(source: Source) -> list[list[Token]]:
    """The tokens of each non-empty line, followed by an end; open brackets join lines."""
    lines: list[list[Token]] = [[]]
    opened: list[Token] = []
    position = 0
    while position < len(source.text):
        match = _PATTERN.match(source.text, position)
        if match is None:
            is_fraction = re.search(r"(?<!\w)[0-9]+\.$", source.text[: position + 1])
            hint = "numbers are whole" if is_fraction else _HINTS.get(source.text[position])
            message = f"'{source.text[position]}' has no meaning in a script"
            raise mistake(source, position, message, hint=hint)
        position = match.end()
        ends = match.group() in ("\n", ";") and not opened
        if ends:
            lines.append([])
        if ends or match.lastgroup in ("space", "line"):
            continue
        token = Token(TokenKind[str(match.lastgroup).upper()], match.group(), match.start())
        _track(source, opened, token)
        lines[-1].append(token)
    if opened:
        wanted = _OPEN[opened[-1].text]
        raise _error(
            source, opened[-1], f"this '{opened[-1].text}' is never closed", f"add the missing '{wanted}'"
        )
    return [[*line, Token(TokenKind.END, "", line[-1].offset + len(line[-1].text))] for line in lines if line]


def _track(source: Source, opened: list[Token], token: Token) -> None:
    if token.text in _OPEN:
        opened.append(token)
    elif token.text in _OPEN.values():
        if not opened:
            raise _error(source, token, f"this '{token.text}' closes nothing", "leave it out")
        begun = opened.pop()
        wanted = _OPEN[begun.text]
        if wanted != token.text:
            line = source.line_of(begun.offset)
            raise _error(
                source,
                token,
                f"'{token.text}' where '{wanted}' should be",
                hint=f"the '{begun.text}' of line {line} is still open",
            )


def _error(source: Source, token: Token, message: str, hint: str | None = None) -> BadInput:
    return mistake(source, token.offset, message, hint=hint, length=max(1, len(token.text)))


class _LineParser(TokenReader):
    """A recursive-descent parser for the tokens of one operation."""

    end = "the line ends"
    usage = USAGE

    def word(self, what: str) -> ScriptWord:
        token = self.token
        if token.kind is not TokenKind.NAME or (token.text.startswith("@") and what != VALUE):
            hint = REMARK if token.text == "/" else USAGE
            raise self.error(f"{self.shown()} where {what} should be", hint=hint)
        self.position += 1
        return ScriptWord(self.source.at(token.offset, len(token.text)), token.text)

    def place(self, start: int) -> Span:
        last = self.tokens[self.position - 1]
        return Span(self.source, start, last.offset + len(last.text))

    def line(self) -> ScriptLine:
        start = self.token.offset
        targets: list[ScriptWord] = []
        if self.take("("):
            targets.append(self.word("a handle"))
            while self.take(","):
                targets.append(self.word("a handle"))
            self.expect(")")
            self.expect("=")
        name = self.word("an operation")
        if not targets and self.take("="):
            targets, name = [name], self.word("an operation")
        self.expect("(")
        arguments = self.separated(")")
        if self.token.kind is not TokenKind.END:
            hint = REMARK if self.token.text == "/" else "write one operation a line"
            raise self.error(f"{self.shown()} after the operation", hint=hint)
        return ScriptLine(self.place(start), tuple(targets), name, tuple(arguments))

    def separated(self, end: str) -> list[ScriptArgument]:
        found: list[ScriptArgument] = []
        if self.take(end):
            return found
        found.append(self.argument())
        while not self.take(end):
            if not self.take(","):
                raise self.error(f"{self.shown()} where ',' or '{end}' should be", hint=self.separator())
            found.append(self.argument())
        return found

    def separator(self) -> str:
        """The error for a token other than a comma."""
        if self.token.text in (":", "=="):
            return "a loop and its number are written i=32"
        return "arguments have commas between them: tile(Mult, 32, 32)"

    def argument(self) -> ScriptArgument:
        start, keyword = self.token.offset, None
        if self.token.kind is TokenKind.NAME and self.tokens[self.position + 1].text == "=":
            keyword = self.word("a name")
            self.expect("=")
        value = self.value()
        return ScriptArgument(self.place(start), keyword, value)

    def value(self) -> ScriptValue:
        token = self.token
        if token.text == "{":
            return self.braces()
        if self.take("["):
            values = tuple(self.items())
            return ScriptList(self.place(token.offset), values)
        if token.kind is TokenKind.NAME:
            return self.word(VALUE)
        negative = self.take("-") is not None
        if not negative:
            self.take("+")
        number = self.token
        if number.kind is TokenKind.NUMBER and len(number.text) > LONGEST:
            raise self.error("this number is too large", hint=f"numbers have at most {LONGEST} digits")
        if number.kind is not TokenKind.NUMBER:
            raise self.error(
                f"{self.shown()} where {VALUE} should be",
                hint="arguments are handles, iterators, numbers and maps or sets in braces",
            )
        self.position += 1
        return ScriptNumber(self.place(token.offset), -int(number.text) if negative else int(number.text))

    def items(self) -> Iterator[ScriptValue]:
        """The values of a list, after its bracket."""
        for argument in self.separated("]"):
            if argument.keyword is not None:
                place, text = argument.keyword.place, argument.keyword.text
                message = f"'{text} =' has no meaning in a list"
                raise mistake(self.source, place.start, message, length=len(text))
            yield argument.value

    def braces(self) -> ScriptBraces:
        """A map or a set; the grammar of conditions parses its formulas."""
        start = self.expect("{").offset
        inputs = self.tuple()
        outputs = self.tuple() if self.take("->") else None
        if outputs is None and self.token.text not in (":", "}"):
            raise self.error(f"{self.shown()} where '->' or ':' should be")
        condition = None
        if self.take(":"):
            end = self.closing("{", "}")
            condition = self.formulas(self.position, end, lists=True)[0]
            self.position = end
        self.expect("}")
        place = self.place(start)
        if outputs is not None:
            return ScriptBraces(place, AffineMap(inputs, outputs, condition))
        if condition is None:
            raise mistake(self.source, place.end - 1, "neither a map nor a condition", hint=BRACES)
        return ScriptBraces(place, AffineSet(inputs, condition))

    def tuple(self) -> tuple[Formula, ...]:
        self.expect("[")
        end = self.closing("[", "]")
        found = self.formulas(self.position, end, lists=False) if end > self.position else []
        self.position = end
        self.expect("]")
        return tuple(found)

    def closing(self, opening: str, end: str) -> int:
        """The token that closes the bracket just opened; `_track` made sure there is one."""
        depth = 1
        for place in range(self.position, len(self.tokens)):
            text = self.tokens[place].text
            depth += 1 if text == opening else -1 if text == end else 0
            if depth == 0:
                return place
        raise self.error(f"'{end}' is missing")

    def formulas(self, start: int, end: int, *, lists: bool) -> list[Formula]:
        """The formulas of some tokens, separated by commas."""
        stop = self.tokens[end]
        parser = Parser(
            self.source, [*self.tokens[start:end], Token(TokenKind.END, "", stop.offset)], lists=lists
        )
        found = [parser.value()]
        while not lists and parser.take(","):
            found.append(parser.value())
        parser.expect_end()
        return found
