"""The text of an OpenScop file, taken apart.

    File       ::= "<OpenScop>" Language "CONTEXT" Union Names Count Statement* Extension* "</OpenScop>"
    Names      ::= "0" | "1" ("<strings>" names... "</strings>" | names...)
    Statement  ::= Count Relation* Count Extension*
    Relation   ::= ("DOMAIN" | "SCATTERING" | "READ" | "WRITE" | "MAY_WRITE") Union
    Extension  ::= "<" tag ">" lines... "</" tag ">"

A Union is a count of matrices, and the matrices.  Of the extensions, `<body>` says what a statement
is and `<arrays>` what the numbers of the arrays are called; the others are left alone.
"""

from __future__ import annotations

import re

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.read.constraint_text import Lines, Union, Word, parameters_of, take_union
from loopwright.source import Span

ACCESSES = ("READ", "WRITE", "MAY_WRITE")
KINDS = ("DOMAIN", "SCATTERING", *ACCESSES)
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class ScopBody:
    """What a statement does, in the language of the file, and what its iterators are called there."""

    iterators: tuple[str, ...]
    place: Span


@dataclass(frozen=True)
class ScopRelation:
    kind: str
    at: Word
    union: Union


@dataclass(frozen=True)
class StatementText:
    at: Word
    domain: ScopRelation
    scattering: ScopRelation | None
    accesses: tuple[ScopRelation, ...]
    body: ScopBody | None


@dataclass(frozen=True)
class ScopText:
    context: Union
    parameters: tuple[str, ...]
    statements: tuple[StatementText, ...]
    arrays: dict[int, str]


def take_scop(lines: Lines) -> ScopText:
    """The one scop of a file."""
    _take_word(lines, "<OpenScop>", "an OpenScop file begins with <OpenScop>")
    language = lines.take("the language")[0]
    if not NAME.match(language.text):
        raise lines.at(language, f"'{language.text[:40]}' is no language", hint="C, for example")
    _take_word(lines, "CONTEXT", "the context comes first, headed by CONTEXT")
    context = take_union(lines, "the context", isl.Set.read_from_str)
    parameters = _take_parameters(lines, len(parameters_of(context)))
    count = lines.take_count("the number of statements")
    statements = tuple(_take_statement(lines, k + 1) for k in range(count))
    arrays: dict[int, str] = {}
    while lines.peek("</OpenScop>")[0].text != "</OpenScop>":
        tag = _tag(lines)
        inside = _take_extension(lines, tag)
        if tag.text == "<arrays>":
            arrays = _array_names(lines, inside)
    lines.take("</OpenScop>")
    if not lines.done():
        raise lines.at(lines.peek("")[0], "a second scop in one file", hint="put each into a file of its own")
    return ScopText(context, parameters, statements, arrays)


def _take_word(lines: Lines, wanted: str, hint: str) -> Word:
    word = lines.take(wanted)[0]
    if word.text != wanted:
        raise lines.at(word, f"'{word.text[:40]}' where {wanted} should be", hint=hint)
    return word


def _take_parameters(lines: Lines, count: int) -> tuple[str, ...]:
    """The names that are given; without any, P1, P2, ..."""
    if lines.take_count("0 or 1, whether parameters are named,") == 0:
        return tuple(f"P{k + 1}" for k in range(count))
    words: list[Word] = []
    tagged = lines.peek("the names of the parameters")[0].text == "<strings>"
    if tagged:
        for line in _take_extension(lines, _tag(lines)):
            words += line
    elif count:
        words += lines.take("the names of the parameters")
    names = tuple(_name(lines, word) for word in words)
    if len(names) != count or len(set(names)) != count:
        at = words[0] if words else lines.peek("the names of the parameters")[0]
        raise lines.at(at, f"{len(set(names))} different names for {count} parameters")
    return names


def _name(lines: Lines, word: Word) -> str:
    if not NAME.fullmatch(word.text):
        raise lines.at(word, f"'{word.text[:40]}' is not a name", hint="names are written as in C")
    return word.text


def _take_statement(lines: Lines, number: int) -> StatementText:
    at = lines.peek(f"statement {number}")[0]
    count = lines.take_count(f"the number of relations of statement {number}")
    relations = [_take_relation(lines, number) for _ in range(count)]
    bodies: list[ScopBody] = []
    for _ in range(lines.take_count(f"the number of extensions of statement {number}")):
        found = _body(lines, _take_extension(lines, _tag(lines)))
        bodies += [found] if found else []
    domains = [one for one in relations if one.kind == "DOMAIN"]
    scatterings = [one for one in relations if one.kind == "SCATTERING"]
    if len(domains) != 1 or len(scatterings) > 1:
        raise lines.at(
            at,
            f"statement {number} has {len(domains)} domains and {len(scatterings)} scatterings",
            hint="it has one DOMAIN, and one SCATTERING at most; a union is one relation of several parts",
        )
    accesses = tuple(one for one in relations if one.kind in ACCESSES)
    return StatementText(
        at, domains[0], scatterings[0] if scatterings else None, accesses, bodies[0] if bodies else None
    )


def _take_relation(lines: Lines, number: int) -> ScopRelation:
    word = lines.take(f"a relation of statement {number}")[0]
    if word.text not in KINDS:
        raise lines.at(word, f"'{word.text[:40]}' is no kind of relation", hint=f"known: {', '.join(KINDS)}")
    wanted = f"the {word.text} relation of statement {number}"
    reader = isl.Set.read_from_str if word.text == "DOMAIN" else isl.Map.read_from_str
    return ScopRelation(word.text, word, take_union(lines, wanted, reader))


def _tag(lines: Lines) -> Word:
    word = lines.take("an extension such as <body>")[0]
    if not re.fullmatch(r"<\w[\w-]*>", word.text):
        raise lines.at(word, f"'{word.text[:40]}' where an extension such as <body> should begin")
    return word


def _take_extension(lines: Lines, tag: Word) -> list[tuple[Word, ...]]:
    """What is between the tag and the one that closes it."""
    closing = tag.text.replace("<", "</")
    inside: list[tuple[Word, ...]] = []
    while lines.peek(closing)[0].text != closing:
        inside.append(lines.take(closing))
    lines.take(closing)
    return inside


def _body(lines: Lines, inside: list[tuple[Word, ...]]) -> ScopBody | None:
    """A count of iterators, their names if there are any, and the text; inside `<extbody>` too."""
    first = next((k for k, line in enumerate(inside) if line[0].text == "<body>"), -1)
    last = next((k for k, line in enumerate(inside) if line[0].text == "</body>"), len(inside))
    rest = inside[first + 1 : last]
    if not rest or not rest[0][0].text.isdigit():
        return None
    count = lines.count(rest[0][0], "the number of iterators")
    names = tuple(_name(lines, word) for word in rest[1]) if count and len(rest) > 1 else ()
    if len(names) != count:
        raise lines.at(rest[0][0], f"{len(names)} names for {count} iterators")
    text = rest[2:] if count else rest[1:]
    if not text:
        return None
    end = text[-1][-1]
    return ScopBody(names, Span(lines.source, text[0][0].offset, end.offset + len(end.text)))


def _array_names(lines: Lines, inside: list[tuple[Word, ...]]) -> dict[int, str]:
    """A count, then a number and a name each."""
    names: dict[int, str] = {}
    for line in inside[1:]:
        if len(line) != 2:
            raise lines.at(line[0], "an array is a number and a name")
        names[lines.count(line[0], "the number of an array")] = _name(lines, line[1])
    return names
