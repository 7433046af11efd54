"""The grammar of affine expressions and conditions, in users' and isl's notation.

value   ::= any ["?" value ":" value]          any ::= all {("or" | "||") all}
all     ::= test {("and" | "&&") test}         test ::= ("not" | "!") test | exists | compare
exists  ::= "exists" ( bound | "(" bound ")" )
bound   ::= NAME ["=" sum] {"," NAME ["=" sum]} ":" any
compare ::= sums {("<" | "<=" | ">" | ">=" | "=" | "==" | "!=") sums}
sums    ::= sum {"," sum}                      sum ::= product {("+" | "-") product}
product ::= factor {("*" | "/" | "%" | "mod") factor}
factor  ::= {"-" | "+"} (NUMBER [factor] | NAME | "(" value ")" | "[" sum "]" | call)
call    ::= ("floor" | "ceil" | "floord" | "ceild" | "min" | "max") "(" value {"," value} ")"

The module also splits an affine expression or condition into words with their places.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import ClassVar

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.read import formula as fm
from loopwright.read.text import LONGEST_NUMBER, mistake
from loopwright.source import Source, Span

DEEPEST = 64
"""The maximum nesting of expressions: no real description nests deeper, and Python's stack is finite."""

COMPARISONS = ("<", "<=", ">", ">=", "=", "==", "!=")
CALLS = {"floor": 1, "ceil": 1, "floord": 2, "ceild": 2, "min": None, "max": None}
"""The functions, with their number of arguments; None: one or more."""
WORDS = (*CALLS, "and", "or", "not", "exists", "mod", "true", "false")
"""Reserved names."""


def parse_condition(source: Source, start: int, end: int) -> fm.Formula:
    parser = Parser(source, tokens(source, start, end), lists=True)
    found = parser.value()
    parser.expect_end()
    return found


def parse_expressions(source: Source, start: int, end: int) -> list[fm.Formula]:
    """The expressions that `text[start:end]` lists, separated by commas; empty if the text is empty."""
    parser = Parser(source, tokens(source, start, end), lists=False)
    if parser.token.kind is TokenKind.END:
        return []
    found = [parser.value()]
    while parser.take(","):
        found.append(parser.value())
    parser.expect_end()
    return found


@dataclass
class TokenReader:
    """The next of some tokens, which a recursive descent parser takes."""

    source: Source
    tokens: list[Token]
    position: int = 0
    end: ClassVar[str] = "the end"
    """How an error names the end of the tokens."""
    usage: ClassVar[str | None] = None
    """The hint of an error about a missing token."""

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def take(self, *texts: str) -> Token | None:
        """The next token, if it is one of these."""
        token = self.token
        if token.kind is TokenKind.END or token.text not in texts:
            return None
        self.position += 1
        return token

    def expect(self, text: str) -> Token:
        token = self.take(text)
        if token is None:
            raise self.error(f"{self.shown()} where '{text}' should be", self.usage)
        return token

    def shown(self) -> str:
        return self.end if self.token.kind is TokenKind.END else f"'{self.token.text}'"

    def error(self, message: str, hint: str | None = None) -> BadInput:
        token = self.token
        return mistake(self.source, token.offset, message, hint=hint, length=max(1, len(token.text)))


@dataclass
class Parser(TokenReader):
    """A recursive descent parser; each method parses the rule with its name."""

    lists: bool = False
    """Whether comparisons may compare lists; not where commas separate expressions."""
    depth: int = 0

    def place(self, token: Token) -> Span:
        return self.source.at(token.offset, len(token.text))

    def expect_end(self) -> None:
        if self.token.kind is not TokenKind.END:
            raise self.error(f"{self.shown()} where an operator or the end should be")

    def value(self) -> fm.Formula:
        at = self.place(self.token)
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"expressions are nested more than {DEEPEST} deep")
        found = self.any()
        if self.take("?"):
            then = self.value()
            self.expect(":")
            found = fm.Selection(found, then, self.value(), at)
        self.depth -= 1
        return found

    def any(self) -> fm.Formula:
        at, found = self.place(self.token), [self.all()]
        while self.take("or", "||"):
            found.append(self.all())
        return found[0] if len(found) == 1 else fm.Junction(conjunction=False, arguments=tuple(found), at=at)

    def all(self) -> fm.Formula:
        at, found = self.place(self.token), [self.test()]
        while self.take("and", "&&"):
            found.append(self.test())
        return found[0] if len(found) == 1 else fm.Junction(conjunction=True, arguments=tuple(found), at=at)

    def test(self) -> fm.Formula:
        negations: list[Token] = []
        while sign := self.take("not", "!"):
            negations.append(sign)
        exists = self.take("exists")
        found = self.exists(exists) if exists else self.compare()
        return fm.Complement(found, self.place(negations[0])) if len(negations) % 2 else found

    def exists(self, at: Token) -> fm.Formula:
        enclosed = self.take("(")
        names: list[fm.Symbol] = []
        known: list[fm.Formula] = []
        while True:
            names.append(self.name())
            if sign := self.take("="):
                known.append(fm.Chain(((names[-1],), (self.sum(),)), ("=",), self.place(sign)))
            if not self.take(","):
                break
        self.expect(":")
        body = self.value()
        if known:
            body = fm.Junction(conjunction=True, arguments=(*known, body), at=self.place(at))
        if enclosed:
            self.expect(")")
        return fm.Exists(tuple(names), body, self.place(at))

    def name(self) -> fm.Symbol:
        token = self.token
        if token.kind is not TokenKind.NAME or token.text in WORDS:
            raise self.error(f"{self.shown()} where a name should be")
        self.position += 1
        return fm.Symbol(token.text, self.place(token))

    def compare(self) -> fm.Formula:
        at, operands = self.place(self.token), [self.sums()]
        operators: list[str] = []
        while sign := self.take(*COMPARISONS):
            operators.append("=" if sign.text == "==" else sign.text)
            operands.append(self.sums())
        if operators:
            return fm.Chain(tuple(operands), tuple(operators), at)
        if len(operands[0]) > 1:
            raise self.error(f"{self.shown()} where a list should be compared with something")
        return operands[0][0]

    def sums(self) -> tuple[fm.Formula, ...]:
        found = [self.sum()]
        while self.lists and self.take(","):
            found.append(self.sum())
        return tuple(found)

    def sum(self) -> fm.Formula:
        at, found = self.place(self.token), [self.product()]
        while sign := self.take("+", "-"):
            term = self.product()
            found.append(term if sign.text == "+" else fm.Negative(term, self.place(sign)))
        return found[0] if len(found) == 1 else fm.Addition(tuple(found), at)

    def product(self) -> fm.Formula:
        found, length = self.factor(), 0
        while sign := self.take("*", "/", "%", "mod"):
            length += 1
            if length > DEEPEST:
                raise self.error(f"a product of more than {DEEPEST} factors")
            operator = "%" if sign.text == "mod" else sign.text
            found = fm.Multiplicative(operator, found, self.factor(), self.place(sign))
        return found

    def factor(self) -> fm.Formula:
        signs: list[Token] = []
        while sign := self.take("-", "+"):
            signs.append(sign)
        found = self.primary()
        negative = [sign for sign in signs if sign.text == "-"]
        return fm.Negative(found, self.place(negative[0])) if len(negative) % 2 else found

    def primary(self) -> fm.Formula:
        token = self.token
        if token.kind is TokenKind.NUMBER:
            self.position += 1
            return self.scaled(fm.Numeral(int(token.text), self.place(token)))
        if token.text in CALLS:
            self.position += 1
            return self.call(token)
        if self.take("true", "false"):
            return fm.Truth(token.text == "true", self.place(token))
        if self.take("("):
            found = self.value()
            self.expect(")")
            return found
        if self.take("["):
            found = self.value()
            self.expect("]")
            return fm.FunctionCall("floor", (found,), self.place(token))
        if token.kind is TokenKind.NAME and token.text not in WORDS:
            return self.name()
        raise self.error(f"{self.shown()} where a name or a number should be")

    def scaled(self, number: fm.Numeral) -> fm.Formula:
        """Parse `2i` and `2(i + j)` as products, as isl does."""
        token = self.token
        if token.text in ("(", "[") or (token.kind is TokenKind.NAME and token.text not in WORDS):
            return fm.Multiplicative("*", number, self.primary(), self.place(token))
        return number

    def call(self, at: Token) -> fm.Formula:
        kept, self.lists = self.lists, False
        self.expect("(")
        arguments = [self.value()]
        while self.take(","):
            arguments.append(self.value())
        self.expect(")")
        self.lists = kept
        wanted = CALLS[at.text]
        if wanted is not None and len(arguments) != wanted:
            message = f"{at.text} takes {wanted} argument{'s' if wanted > 1 else ''}, not {len(arguments)}"
            raise mistake(self.source, at.offset, message, length=len(at.text))
        return fm.FunctionCall(at.text, tuple(arguments), self.place(at))


class TokenKind(Enum):
    NAME = "a name"
    NUMBER = "a number"
    MARK = "a mark"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str
    offset: int


PATTERN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
      | (?P<number>[0-9]+)
      | (?P<mark><=|>=|==|!=|&&|\|\||[-+*/%()\[\],:?<>=!;])""",
    re.VERBOSE,
)


def tokens(source: Source, start: int, end: int) -> list[Token]:
    """The words of `source.text[start:end]` without comments; the last one is the end."""
    found: list[Token] = []
    last = position = start
    while position < end:
        match = PATTERN.match(source.text, position, end)
        if match is None:
            raise mistake(source, position, f"'{source.text[position]}' has no meaning here")
        position = match.end()
        if match.lastgroup == "space":
            continue
        last = position
        found.append(Token(TokenKind[str(match.lastgroup).upper()], match.group(), match.start()))
        if match.lastgroup == "number" and len(match.group()) > LONGEST_NUMBER:
            raise mistake(source, match.start(), f"a number of more than {LONGEST_NUMBER} digits")
    return [*found, Token(TokenKind.END, "", last)]
