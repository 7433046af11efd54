"""OpenMP directives about loops, as written: `#pragma omp tile sizes(4)`, `_Pragma("omp reverse")`.

This parses directives; `transform.openmp` applies them to loops.  Words are compared without macro
expansion: a directive with a word that is a macro is refused, except for integers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import add, floordiv, mod, mul, sub

from loopwright.c.file import c_file
from loopwright.c.macros import Macro, constant_macro
from loopwright.c.regions import Directive as Pragma
from loopwright.c.syntax import Node, field, named_children, operator, parse, refuse
from loopwright.c.tokens import SPLICE, Lexeme, blank, names_in, with_names_replaced, without_comments
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

TRANSFORMING = ("tile", "stripe", "interchange", "reverse", "unroll", "fuse", "split", "nothing")
"""The loop-transforming directives [OpenMP2024, chapter 11]."""

SHARING = ("parallel for simd", "parallel for", "for simd", "for", "simd")
"""The directives that run the iterations of a loop concurrently."""

OTHERS = re.compile(
    r"(allocate|allocators|assumes?|atomic|barrier|begin|cancel|cancellation|critical|declare\w*|depobj|dispatch"
    r"|distribute|end|error|flush|groupprivate|interop|loop|masked|master|metadirective|ordered|parallel|requires"
    r"|scan|scope|sections?|single|target\w*|task\w*|teams|threadprivate|workdistribute)"
)
"""The first words of the other directives."""

_PRAGMA = re.compile(r"^[ \t]*(?:#|%:)[ \t]*pragma[ \t]+omp\b((?:\\[ \t]*\r?\n|[^\n])*)", re.MULTILINE)
_OPERATOR = re.compile(r'\b_Pragma\s*\(\s*L?"\s*omp\b((?:\\.|[^"\\\n])*)"\s*\)')
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d\w*|\S")


@dataclass(frozen=True, slots=True)
class OpenmpClause:
    """`name(arguments)`; each argument is a place, which may hold several tokens."""

    name: str
    arguments: tuple[Span, ...]
    place: Span


@dataclass(frozen=True, slots=True)
class Applied:
    """`apply(grid(1): reverse)`: directives for the generated loops of a kind, by number or in order."""

    kind: str | None
    numbers: tuple[int, ...]
    directives: tuple[OpenmpDirective, ...]
    place: Span


@dataclass(frozen=True, slots=True)
class OpenmpDirective:
    """A directive; `place` is all of it, as a line or as an operator."""

    name: str
    clauses: tuple[OpenmpClause, ...]
    applied: tuple[Applied, ...]
    place: Span

    def clause(self, name: str) -> OpenmpClause | None:
        return next((one for one in self.clauses if one.name == name), None)


def loop_directives(source: Source) -> tuple[OpenmpDirective, ...]:
    """The directives about loops, in source order; raises for an unknown name."""
    visible = SPLICE.sub(lambda match: blank(match[0]), without_comments(source.text, literals=True))
    pairs: list[tuple[Span, Span]] = []
    for match in _PRAGMA.finditer(without_comments(source.text, literals=False)):
        start = match.end() - len(match[0].lstrip())
        pairs.append((Span(source, start, match.end()), Span(source, match.start(1), match.end(1))))
    hidden = [one.place for one in c_file(source).directives]
    for match in _OPERATOR.finditer(visible):
        place = Span(source, match.start(), match.end())
        if any(line.contains(place) for line in hidden):
            raise _refused(
                place, "a directive inside a macro cannot be read", "write it directly before its loop"
            )
        pairs.append((place, Span(source, match.start(1), match.end(1))))
    parsed = [_Parser(visible, source, inner).directive(place) for place, inner in sorted(pairs)]
    return tuple(one for one in parsed if one is not None)


def directive_of(words: str) -> OpenmpDirective | None:
    """The directive of a line `#pragma omp ..`, if it is `parallel` or about a loop."""
    source = Source("", words)
    line = _PRAGMA.match(without_comments(words, literals=True))
    if line is None:
        return None
    inside = Span(source, line.start(1), line.end(1))
    parser = _Parser(without_comments(words, literals=True), source, inside)
    return parser.whole(Span(source, 0, len(words)), (*SHARING, *TRANSFORMING, "parallel"))


def as_pragma(directive: OpenmpDirective) -> Pragma:
    """The line without comments, and with the numbers that macros in its clauses denote."""
    source = directive.place.source
    inside = [SPLICE.sub(" ", without_comments(one.place.text, literals=True)) for one in directive.clauses]
    text = " ".join(("", "omp", directive.name, *inside))
    known = {name: constant_macro(c_file(source).macros, name) for name in names_in(text)}
    numbers = {name: f" {value} " for name, value in known.items() if value is not None}
    return Pragma("pragma", with_names_replaced(text, numbers), directive.place, directive.place.start)


def without_directives(source: Source, directives: Sequence[OpenmpDirective]) -> Source:
    """The source with the directives replaced by spaces."""
    edits = [(one.place.start, one.place.end, blank(one.place.text)) for one in directives]
    return source.edited(edits)


def integer(argument: Span) -> int:
    """The value of an argument that is a positive constant of numbers, and macros for numbers."""
    text = SPLICE.sub(" ", argument.text).strip()
    whole = parse(Source(argument.source.path, f"int size = {text};"))
    given = whole.of_type("init_declarator")
    is_one = len(given) == 1 and not whole.has_error and len(whole.named_children) == 1
    value = _constant(field(given[0], "value"), c_file(argument.source).macros) if is_one else None
    if value is None or value < 1:
        raise _refused(argument, f"'{text}' must be an integer constant >= 1")
    return value


_LARGEST = 2**31 - 1
_COMPUTED: dict[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul, "/": floordiv, "%": mod}


def _constant(node: Node, macros: Sequence[Macro]) -> int | None:
    """The value of a constant expression of nonnegative ints; None for any other."""
    found: int | None = None
    match node.type:
        case "number_literal" if re.fullmatch(r"0[0-7]{0,9}|[1-9]\d{0,8}", node.text):
            found = int(node.text, 8 if node.text.startswith("0") else 10)
        case "identifier":
            found = constant_macro(macros, node.text)
        case "parenthesized_expression" if len(inside := named_children(node)) == 1:
            found = _constant(inside[0], macros)
        case "binary_expression" if operator(node) in _COMPUTED:
            left, right = (_constant(field(node, side), macros) for side in ("left", "right"))
            if left is None or right is None or (right == 0 and operator(node) in ("/", "%")):
                return None
            found = _COMPUTED[operator(node)](left, right)
    return found if found is not None and 0 <= found <= _LARGEST else None


def _refused(place: Span, message: str, hint: str | None = None) -> BadInput:
    return refuse(
        place, message, hint or "'loopwright explain openmp' lists what can be read", Code.DIRECTIVE
    )


class _Parser:
    """Parses one directive: `shown` is the source without comments, lines joined, `inside` follows `omp`."""

    def __init__(self, shown: str, source: Source, inside: Span) -> None:
        self.source = source
        tokens = _TOKEN.finditer(shown, inside.start, inside.end)
        self.words = [Lexeme(one[0], *one.span()) for one in tokens]
        self.at = 0
        self.end = inside.end

    def directive(self, place: Span) -> OpenmpDirective | None:
        """The whole directive; None if it is not about loops."""
        first = self._text()
        found = self.whole(place, (*SHARING, *TRANSFORMING))
        if found is None and not OTHERS.fullmatch(first):
            raise _refused(self._span(self.at), f"no directive of OpenMP is called '{first}'")
        return found

    def whole(self, place: Span, names: Sequence[str]) -> OpenmpDirective | None:
        """The whole directive; None if it has another name."""
        name = self._name(names)
        if name is None:
            return None
        found = self._rest(name, place, nested=False)
        if self.at < len(self.words):
            raise self._unexpected()
        return found

    def _name(self, names: Sequence[str] = (*SHARING, *TRANSFORMING)) -> str | None:
        """The longest name that the next words form."""
        for name in names:
            parts = name.split()
            if [one.text for one in self.words[self.at : self.at + len(parts)]] == parts:
                self._refuse_macros(parts)
                self.at += len(parts)
                return name
        return None

    def _refuse_macros(self, words: Sequence[str]) -> None:
        defined = {macro.name for macro in c_file(self.source).macros}
        hidden = next((word for word in words if word in defined), None)
        if hidden is not None:
            raise _refused(self._span(self.at), f"'{hidden}' is a macro here")

    def _rest(self, name: str, place: Span, *, nested: bool) -> OpenmpDirective:
        """The clauses, optionally separated by commas unless the directive is an argument itself."""
        clauses: list[OpenmpClause] = []
        applied: list[Applied] = []
        while self.at < len(self.words):
            if not nested and self._text() == ",":
                self.at += 1
            if not re.match(r"[A-Za-z_]", self._text()):
                break
            self._refuse_macros([self._text()])
            if self._text() == "apply":
                applied.append(self._applied())
            else:
                clauses.append(self._clause())
        return OpenmpDirective(name, tuple(clauses), tuple(applied), place)

    def _clause(self) -> OpenmpClause:
        name = self.words[self.at]
        self.at += 1
        if self._text() != "(":
            return OpenmpClause(name.text, (), Span(self.source, name.start, name.end))
        opening, self.at = self.at, self.at + 1
        arguments: list[Span] = []
        start = self.at
        depth = 1
        while depth:
            if self.at >= len(self.words):
                raise _refused(self._span(opening), "this parenthesis is not closed")
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(self._text(), 0)
            if depth == 0 or (depth == 1 and self._text() == ","):
                if start == self.at:
                    raise _refused(self._span(self.at), f"an argument of '{name.text}' is missing")
                arguments.append(Span(self.source, self.words[start].start, self.words[self.at - 1].end))
                start = self.at + 1
            self.at += 1
        end = self.words[self.at - 1].end
        return OpenmpClause(name.text, tuple(arguments), Span(self.source, name.start, end))

    def _applied(self) -> Applied:
        """`apply([kind[(numbers)]:] directive, ...)`"""
        start = self.words[self.at].start
        self.at += 1
        self._expect("(")
        kind: str | None = None
        numbers: tuple[int, ...] = ()
        before = self.at
        if re.match(r"[A-Za-z_]", self._text()):
            clause = self._clause()
            if self._text() == ":":
                kind, numbers = clause.name, tuple(map(integer, clause.arguments))
                self.at += 1
            else:
                self.at = before
        directives: list[OpenmpDirective] = []
        while True:
            first = self.at
            name = self._name()
            if name is None:
                raise self._unexpected()
            made = self._rest(name, self._span(first), nested=True)
            directives.append(made)
            if self._text() != ",":
                break
            self.at += 1
        self._expect(")")
        place = Span(self.source, start, self.words[self.at - 1].end)
        return Applied(kind, numbers, tuple(directives), place)

    def _text(self) -> str:
        return self.words[self.at].text if self.at < len(self.words) else ""

    def _expect(self, text: str) -> None:
        if self._text() != text:
            raise self._unexpected()
        self.at += 1

    def _span(self, at: int) -> Span:
        if at < len(self.words):
            return Span(self.source, self.words[at].start, self.words[at].end)
        return self.source.at(self.end)

    def _unexpected(self) -> BadInput:
        what = f"'{self._text()}'" if self._text() else "the end of the directive"
        return _refused(self._span(self.at), f"{what} is not expected here")
