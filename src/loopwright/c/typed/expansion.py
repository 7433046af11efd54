"""Macro expansion of the tokens of a region, with places in the file.

A token of the preprocessed text is mapped back to the file: to the bytes where it is written, or to the
macro call that produced it.  The mapping is computed by expanding the region's own tokens with the
definitions that the compiler had there (X3J11/86-196, the algorithm that the standard describes), and is
used only if the result equals the compiler's output for the region, token by token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from loopwright.c.tokens import Lexeme, is_name, lexemes
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span


@dataclass(frozen=True, slots=True)
class Definition:
    """`#define name(parameters) body`, as the compiler prints it."""

    name: str
    parameters: tuple[str, ...] | None
    is_variadic: bool
    body: tuple[Lexeme, ...]


def are_alike(one: Definition | None, other: Definition | None) -> bool:
    """Whether two macros are the same apart from their names; two undefined ones are."""
    shapes = [x and (x.parameters, x.is_variadic, [word.text for word in x.body]) for x in (one, other)]
    return shapes[0] == shapes[1]


_DEFINE = re.compile(r"#define ([A-Za-z_$][\w$]*)(?:\(([^)]*)\))?(?:[ ](.*))?$")


def definition(line: str) -> Definition | None:
    """The macro that a line of the compiler's output defines."""
    match = _DEFINE.match(line)
    if match is None:
        return None
    name, inside, body = match.groups()
    names = None if inside is None else tuple(part.strip() for part in inside.split(",") if part.strip())
    variadic = names is not None and bool(names) and names[-1].endswith("...")
    if names is not None and variadic:
        names = (*names[:-1], names[-1].removesuffix("...").strip() or "__VA_ARGS__")
    return Definition(name, names, variadic, lexemes(body or "", 0, len(body or "")))


_NOTHING: frozenset[str] = frozenset()
_made = tuple.__new__
"""Makes a tuple of a class from all its fields: at half the cost of calling the class, for many tokens."""


class ExpandedToken(NamedTuple):
    """A token of the preprocessed text.

    `span` is where it is written, or the whole call of the macro that produced it, whose name is `macro`;
    `written` is where an argument of the call is written.
    """

    text: str
    span: Span
    macro: str | None = None
    written: Span | None = None
    hidden: frozenset[str] = _NOTHING
    """Macros that produced this token, which therefore do not expand it again."""
    spaced: bool = False
    follows_place: bool = False
    """It comes from `__LINE__` or a similar macro: in another place it is another token."""
    inner: tuple[str, tuple[int, ...]] | None = None
    """The macro without parameters that the source names, by itself or in an argument of `macro`; and which
    of the uses of that argument in macro bodies this is."""

    @property
    def is_name(self) -> bool:
        return is_name(self.text)


PLACES = frozenset(("__LINE__", "__FILE__", "__FILE_NAME__", "__BASE_FILE__"))
"""Macros that the preprocessor replaces by their place."""


def confirmed(ours: ExpandedToken, theirs: str) -> ExpandedToken | None:
    """An expected token, as the compiler has it; None if the compiler has another token."""
    if ours.text in PLACES:
        return ours._replace(text=theirs, macro=ours.macro or ours.text, follows_place=True)
    return ours if ours.text == theirs else None


def expanded(
    source: Source, written: Sequence[Lexeme], table: Callable[[str], Definition | None]
) -> tuple[ExpandedToken, ...]:
    """The macro expansion of tokens, given the macros that are defined there."""
    tokens = []
    previous = -1
    for text, start, end in written:
        place = Span(source, start, end)
        spaced = start > previous >= 0
        tokens.append(_made(ExpandedToken, (text, place, None, place, _NOTHING, spaced, False, None)))
        previous = end
    return tuple(_expand(tokens, cache(table)))


_Table = Callable[[str], Definition | None]


@dataclass(slots=True)
class _OpenCall:
    """A macro call whose arguments are being read, and the tokens before it."""

    macro: Definition
    before: list[str]
    arguments: list[list[str]]
    depth: int = 0

    def takes(self, word: str, argument: list[str]) -> bool:
        """Whether a parenthesis or comma belongs to the call itself; if so, the call ends at `depth` 0."""
        self.depth += (word == "(") - (word == ")")
        is_own = self.depth == 0 if word == ")" else self.depth == 1
        if is_own and word != "(":
            self.arguments.append(argument)
        return is_own

    def result(self) -> list[str] | None:
        """The body with the arguments substituted; None if there are too many or too few."""
        names = self.macro.parameters or ()
        if len(self.arguments) != max(1, len(names)):
            return None
        given = dict(zip(names, self.arguments, strict=False))
        return [word for part in self.macro.body for word in given.get(part.text, (part.text,))]


def expanded_words(written: Sequence[str], table: _Table, depth: int = 0) -> list[str] | None:
    """The macro expansion of tokens; None unless every macro among them is flat and correctly called.

    A flat macro has no `#` and no macro in its body: once its arguments are expanded, nothing is left to do.
    A macro without parameters is flat too if its body expands to tokens that are not macros.
    """
    macros = {word: macro for word in dict.fromkeys(written) if (macro := table(word)) is not None}
    bodies = {word: _flat_body(macro, table, depth) for word, macro in macros.items()}
    if not PLACES.isdisjoint(written) or None in bodies.values():
        return None
    done: list[str] = []
    calls: list[_OpenCall] = []
    for k, word in enumerate(written):
        macro = macros.get(word)
        if macro is not None:
            if macro.parameters is None:
                done += bodies[word] or ()
            elif written[k + 1 : k + 2] == ["("]:
                calls.append(_OpenCall(macro, done, []))
                done = []
            else:
                return None
        elif not calls or word not in _IN_CALLS or not calls[-1].takes(word, done):
            done.append(word)
        elif calls[-1].depth:
            done = []
        else:
            call = calls.pop()
            result, done = call.result(), call.before
            if result is None:
                return None
            done += result
    return None if calls else done


_IN_CALLS = ("(", ")", ",")
_DEEPEST = 8
"""The deepest nesting of macros in macros; a macro that names itself is not flat."""


def _flat_body(macro: Definition, table: _Table, depth: int) -> list[str] | None:
    """The tokens of a flat macro; None if it is not flat."""
    body = [part.text for part in macro.body]
    texts = {*body}
    if macro.is_variadic or not PLACES.isdisjoint(texts) or texts & {"#", "##"}:
        return None
    if not any(table(text) for text in texts - {*(macro.parameters or ())}):
        return body
    found = expanded_words(body, table, depth + 1) if macro.parameters is None and depth < _DEEPEST else None
    return None if found is None or any(map(table, found)) else found


def _expand(tokens: Sequence[ExpandedToken], table: _Table) -> list[ExpandedToken]:
    if not any(table(token[0]) for token in tokens):
        return list(tokens)
    pending = list(reversed(tokens))
    done: list[ExpandedToken] = []
    while pending:
        token = pending.pop()
        macro = table(token[0])
        if macro is None or macro.name in token.hidden:
            done.append(token)
        elif macro.parameters is None:
            pending += reversed(_replaced(macro, {}, token, token, token.hidden | {macro.name}, table))
        elif pending and pending[-1].text == "(":
            call = _arguments(pending)
            if call is None:
                done.append(token)
                continue
            arguments, closing = call
            hidden = (token.hidden & closing.hidden) | {macro.name}
            given = _named(macro, arguments)
            pending += reversed(_replaced(macro, given, token, closing, hidden, table))
        else:
            done.append(token)
    return done


def _arguments(pending: list[ExpandedToken]) -> tuple[list[list[ExpandedToken]], ExpandedToken] | None:
    """The arguments of a call, and its closing parenthesis; they are removed from `pending`."""
    depth, position = 0, len(pending) - 1
    arguments: list[list[ExpandedToken]] = [[]]
    while position >= 0:
        token = pending[position]
        if token.text == ")" and depth == 1:
            del pending[position:]
            return arguments, token
        if token.text == "," and depth == 1:
            arguments.append([])
        elif depth > 0:
            arguments[-1].append(token)
        depth += (token.text == "(") - (token.text == ")")
        position -= 1
    return None


def _named(macro: Definition, arguments: list[list[ExpandedToken]]) -> dict[str, list[ExpandedToken]]:
    names = macro.parameters or ()
    if macro.is_variadic and len(arguments) >= len(names):
        last = len(names) - 1
        rest: list[ExpandedToken] = []
        for count, argument in enumerate(arguments[last:]):
            rest += [argument[0]._replace(text=",", written=None)] if count else []
            rest += argument
        arguments = [*arguments[:last], rest]
    return dict(zip(names, [*arguments, *([[]] * len(names))], strict=False))


def _replaced(
    macro: Definition,
    given: dict[str, list[ExpandedToken]],
    name: ExpandedToken,
    closing: ExpandedToken,
    hidden: frozenset[str],
    table: _Table,
) -> list[ExpandedToken]:
    """The body of a macro with its arguments substituted (6.10.3.1 to 6.10.3.3)."""
    span = Span(name.span.source, name.span.start, max(name.span.end, closing.span.end))
    outermost = name.macro or macro.name
    is_named = macro.parameters is None and name.macro is None
    own = name.inner or ((macro.name, ()) if is_named else None)
    found = _substituted(macro, given, span, table)
    both = {one: one | hidden for one in {token.hidden for token in found}}
    return [
        _made(
            ExpandedToken,
            (text, span, outermost, written, both[earlier], spaced, follows_place, own or inner),
        )
        for text, _, _, written, earlier, spaced, follows_place, inner in found
        if text != " "
    ]


def _substituted(
    macro: Definition, given: dict[str, list[ExpandedToken]], span: Span, table: _Table
) -> list[ExpandedToken]:
    """The tokens of the body, with parameters replaced by arguments, and `#` and `##` performed."""
    found: list[ExpandedToken] = []
    grown: dict[str, list[ExpandedToken]] = {}
    body = macro.body
    position = 0
    while position < len(body):
        part = body[position]
        follows = body[position + 1].text if position + 1 < len(body) else ""
        spaced = position > 0 and part.start > body[position - 1].end
        if part.text == "#" and macro.parameters is not None and follows in given:
            found.append(ExpandedToken(_quoted(given[follows]), span, spaced=spaced))
            position += 2
            continue
        if part.text == "##" and found and follows:
            right = given.get(follows, [ExpandedToken(follows, span)])
            found[-1:] = _pasted(found[-1], right)
            position += 2
            continue
        if part.text in given:
            if follows == "##":
                whole = given[part.text]
            else:
                if part.text not in grown:
                    grown[part.text] = _expand(given[part.text], table)
                whole = grown[part.text]
            whole = [
                one if one.inner is None else one._replace(inner=(one.inner[0], (position, *one.inner[1])))
                for one in whole
            ]
            found += [whole[0]._replace(spaced=True), *whole[1:]] if spaced and whole else whole
            if follows == "##" and not whole:
                found.append(ExpandedToken(" ", span))
        else:
            found.append(ExpandedToken(part.text, span, spaced=spaced))
        position += 1
    return found


def _pasted(left: ExpandedToken, right: Sequence[ExpandedToken]) -> list[ExpandedToken]:
    if not right:
        return [left]
    first = right[0]
    whole = left._replace(text=left.text + first.text, written=None, inner=None)
    joined = first if left.text == " " else whole
    return [joined, *right[1:]]


def _quoted(argument: Sequence[ExpandedToken]) -> str:
    text = "".join((" " if one.spaced and k else "") + one.text for k, one in enumerate(argument))
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
