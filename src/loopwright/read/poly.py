"""Reads Loopwright's own description of loops (`.poly`): the quadruple of PolyGen [Courant2021, section 2].

    param n, m                          # the problem's sizes
    context n >= 1 and m >= 1           # what is known of them
    statement S1(i, j)
      domain    1 <= i <= n and j = i   # which instances run; several lines are a union
      schedule  i, j                    # when; shorter schedules are padded with zeros
      argument  i, j                    # what the call is given; default: the iterators
    option separate 0 : t0 >= 4         # how dimension 0 becomes loops, where t0 >= 4
    isolate   t0 <= n - 4               # the part of the schedule's vectors to generate apart

A clause extends to the next keyword at the start of a line.

The module also parses the clauses of a `.poly` file, and checks that they are consistent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.model.schedule import LEAF, Band, LoopType, Member, Schedule
from loopwright.presburger.dimensions import padded
from loopwright.presburger.sets import union_map, union_set
from loopwright.read.affine import FormulaScope, condition, expressions
from loopwright.read.formula_grammar import WORDS, Token, TokenKind, tokens
from loopwright.read.text import checked, mistake, without_comments
from loopwright.source import Source


@dataclass(frozen=True)
class PolyStatement:
    """One statement's domain, schedule vectors and, if they differ from it, call arguments."""

    name: str
    domain: isl.Set
    times: tuple[isl.PwAff, ...]
    arguments: isl.Map | None


def parse(text: str, filename: str) -> Schedule:
    """The schedule that a `.poly` file describes: one band over all its statements."""
    source = checked(Source(filename, text))
    parsed = parse_clauses(source)
    scope = FormulaScope(parsed.parameters)
    context = scope.truth(value=True)
    for clause in parsed.contexts:
        context = context.intersect(condition(source, clause.start, clause.end, scope))
    statements = [_statement(source, scope, clauses) for clauses in parsed.statements]
    size = max((len(statement.times) for statement in statements), default=0)
    domain = union_set((one.domain for one in statements), context.get_space())
    schedule = union_map((_schedule(one, size) for one in statements), context.get_space())
    band = _band(source, parsed, schedule, size)
    arguments = {s.name: s.arguments for s in statements if s.arguments is not None}
    return Schedule(domain, context.params(), band if size else LEAF, arguments)


def _statement(source: Source, scope: FormulaScope, clauses: StatementClauses) -> PolyStatement:
    inner = scope.with_dimensions(clauses.iterators)
    domain = inner.truth(value=not clauses.domains)
    for clause in clauses.domains:
        domain = domain.union(condition(source, clause.start, clause.end, inner))
    times = expressions(source, clauses.schedule.start, clauses.schedule.end, inner)
    arguments = None
    if clauses.argument is not None:
        values = expressions(source, clauses.argument.start, clauses.argument.end, inner)
        arguments = _map(inner, values).set_tuple_name(isl.dim_type.in_, clauses.name)
    return PolyStatement(clauses.name, domain.set_tuple_name(clauses.name), tuple(times), arguments)


def _map(scope: FormulaScope, values: list[isl.PwAff]) -> isl.Map:
    """`{ [dimensions] -> [values] }`."""
    result = isl.Map.from_domain_and_range(
        scope.truth(value=True), FormulaScope(scope.parameters).truth(value=True)
    )
    for value in values:
        result = result.flat_range_product(isl.Map.from_pw_aff(value))
    return result


def _schedule(statement: PolyStatement, size: int) -> isl.Map:
    """The map from instances of the domain to their vectors, padded with zeros."""
    domain = statement.domain
    result = isl.Map.from_domain_and_range(
        domain, isl.Set.universe(domain.get_space().params().set_from_params())
    )
    for value in statement.times:
        named = value.set_tuple_id(isl.dim_type.in_, domain.get_tuple_id())
        result = result.flat_range_product(isl.Map.from_pw_aff(named))
    return padded(result, size)


def _band(source: Source, parsed: PolyText, schedule: isl.UnionMap, size: int) -> Band:
    vectors = FormulaScope(parsed.parameters).with_dimensions(tuple(f"t{k}" for k in range(size)))
    types = [LoopType.DEFAULT] * size
    options = isl.UnionMap.empty(schedule.get_space())
    for option in parsed.options:
        if option.dimension >= size:
            hint = f"the schedule has {size} dimensions, counted from 0"
            raise mistake(source, option.at, f"there is no dimension {option.dimension}", hint=hint)
        if option.where is None:
            types[option.dimension] = option.loop_type
            continue
        where = condition(source, option.where.start, option.where.end, vectors)
        options = options.union(_option(where, option.loop_type, option.dimension))
    return Band(
        schedule,
        tuple(Member(loop_type) for loop_type in types),
        LEAF,
        isolate=_isolate(source, vectors, parsed.isolates),
        options=None if options.is_empty() else options,
    )


def _option(where: isl.Set, loop_type: LoopType, dimension: int) -> isl.UnionMap:
    """`{ vectors -> loop_type[dimension] : where }`."""
    kind = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {loop_type.value}[{dimension}] }}")
    return isl.UnionMap.from_map(isl.Map.from_domain_and_range(where, kind))


def _isolate(source: Source, vectors: FormulaScope, clauses: tuple[Clause, ...]) -> isl.Map | None:
    """The union of the isolated parts, as a map from no outer dimensions."""
    if not clauses:
        return None
    parts = vectors.truth(value=False)
    for clause in clauses:
        parts = parts.union(condition(source, clause.start, clause.end, vectors))
    return isl.Map.from_range(parts)


TOP = ("param", "context", "statement", "option", "isolate")
INNER = ("domain", "schedule", "argument")
KEYWORDS = (*TOP, *INNER)
MAY_BE_EMPTY = ("schedule", "argument")
"""The clauses that may be empty: a statement without an order, a call without arguments."""


@dataclass(frozen=True)
class Clause:
    """`keyword text[start:end]`, with the keyword at offset `at`."""

    keyword: str
    at: int
    start: int
    end: int


@dataclass(frozen=True)
class StatementClauses:
    name: str
    iterators: tuple[str, ...]
    domains: tuple[Clause, ...]
    schedule: Clause
    argument: Clause | None


@dataclass(frozen=True)
class OptionClause:
    """`option loop_type dimension : where`; without `where`, everywhere."""

    at: int
    loop_type: LoopType
    dimension: int
    where: Clause | None


@dataclass(frozen=True)
class PolyText:
    parameters: tuple[str, ...]
    contexts: tuple[Clause, ...]
    statements: tuple[StatementClauses, ...]
    options: tuple[OptionClause, ...]
    isolates: tuple[Clause, ...]


def parse_clauses(source: Source) -> PolyText:
    blank = without_comments(source)
    groups = _groups(source, list(_clauses(blank)))
    parameters: tuple[str, ...] = ()
    for clause in _of(groups, "param"):
        parameters += tuple(_listed(source, tokens(source, clause.start, clause.end), parameters))
    statements: list[StatementClauses] = []
    for clause, inner in groups:
        if clause.keyword == "statement":
            statements.append(
                _statement_clause(source, clause, inner, parameters, [s.name for s in statements])
            )
    if not statements:
        raise mistake(
            source, len(blank.text.rstrip()), "no statement in the file", hint="write one: statement S(i)"
        )
    options = tuple(_option_clause(source, clause) for clause in _of(groups, "option"))
    contexts, isolates = tuple(_of(groups, "context")), tuple(_of(groups, "isolate"))
    return PolyText(parameters, contexts, tuple(statements), options, isolates)


def _clauses(blank: Source) -> Iterator[Clause]:
    """The clauses in order; raises for text before the first keyword."""
    starts = list(re.finditer(r"^[ \t]*(" + "|".join(KEYWORDS) + r")\b", blank.text, re.MULTILINE))
    first = re.search(r"\S+", blank.text)
    if first and (not starts or first.start() < starts[0].start(1)):
        raise mistake(
            blank,
            first.start(),
            f"'{first.group()[:40]}' is not a keyword of a clause",
            length=min(40, len(first.group())),
            hint=f"a line begins with {', '.join(KEYWORDS[:-1])} or {KEYWORDS[-1]};"
            " a schedule in the notation of isl alone is read from a file FILE.in",
        )
    for found, following in zip(starts, [*starts[1:], None], strict=True):
        end = following.start() if following else len(blank.text)
        yield Clause(found.group(1), found.start(1), found.end(), _trimmed(blank.text, found.end(), end))


def _trimmed(text: str, start: int, end: int) -> int:
    """The end of `text[start:end]` without trailing white space."""
    return start + len(text[start:end].rstrip())


Group = tuple[Clause, tuple[Clause, ...]]


def _groups(source: Source, clauses: list[Clause]) -> list[Group]:
    """Each top-level clause with the inner ones that belong to it."""
    groups: list[Group] = []
    for clause in clauses:
        if clause.start == clause.end and clause.keyword not in MAY_BE_EMPTY:
            raise _error(source, clause, f"nothing follows {clause.keyword}")
        if clause.keyword in TOP:
            groups.append((clause, ()))
        elif not groups or groups[-1][0].keyword != "statement":
            raise _error(source, clause, f"{clause.keyword} belongs to a statement, and there is none here")
        else:
            groups[-1] = (groups[-1][0], (*groups[-1][1], clause))
    return groups


def _of(groups: list[Group], keyword: str) -> list[Clause]:
    return [clause for clause, _ in groups if clause.keyword == keyword]


def _error(source: Source, clause: Clause, message: str, hint: str | None = None) -> BadInput:
    return mistake(source, clause.at, message, hint=hint, length=len(clause.keyword))


def _listed(source: Source, words: list[Token], used: tuple[str, ...]) -> list[str]:
    """`NAME {"," NAME} END`, with no name twice and none of `used`."""
    names: list[str] = []
    for k, word in enumerate(words):
        if k % 2 == 0:
            names.append(_new_name(source, word, (*used, *names)))
        elif word.text != "," and word.kind is not TokenKind.END:
            raise _unexpected(source, word, "a comma or the end")
    return names


def _new_name(source: Source, word: Token, used: tuple[str, ...]) -> str:
    if word.kind is not TokenKind.NAME:
        raise _unexpected(source, word, "a name")
    if word.text in WORDS or word.text in KEYWORDS:
        raise mistake(
            source,
            word.offset,
            f"{word.text} is a keyword and cannot be a name",
            length=len(word.text),
        )
    if word.text in used:
        raise mistake(source, word.offset, f"the name {word.text} is defined twice", length=len(word.text))
    return word.text


def _unexpected(source: Source, word: Token, wanted: str) -> BadInput:
    shown = "the end" if word.kind is TokenKind.END else f"'{word.text}'"
    return mistake(source, word.offset, f"{shown} where {wanted} should be", length=max(1, len(word.text)))


def _statement_clause(
    source: Source, clause: Clause, inner: tuple[Clause, ...], parameters: tuple[str, ...], used: list[str]
) -> StatementClauses:
    name, iterators = _heading(source, clause, parameters, tuple(used))
    domains = tuple(one for one in inner if one.keyword == "domain")
    if iterators and not domains:
        raise _error(source, clause, f"statement {name} has no domain", "write one: domain 0 <= i < n")
    schedule = _only(source, inner, "schedule", name)
    if schedule is None:
        raise _error(source, clause, f"statement {name} has no schedule", "write one: schedule i, 0")
    return StatementClauses(name, iterators, domains, schedule, _only(source, inner, "argument", name))


def _only(source: Source, inner: tuple[Clause, ...], keyword: str, name: str) -> Clause | None:
    found = [clause for clause in inner if clause.keyword == keyword]
    if len(found) > 1:
        raise _error(source, found[1], f"a second {keyword} for statement {name}")
    return found[0] if found else None


def _heading(
    source: Source, clause: Clause, parameters: tuple[str, ...], used: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """`NAME`, `NAME()` or `NAME(NAME, ...)`."""
    words = tokens(source, clause.start, clause.end)
    name = _new_name(source, words[0], (*used, *parameters))
    if words[1].kind is TokenKind.END:
        return name, ()
    if words[1].text != "(":
        raise _unexpected(source, words[1], "a parenthesis or the end")
    close = words[-2]
    if close.text != ")":
        raise _unexpected(source, words[-1], "a closing parenthesis")
    listed = words[2:-2]
    if not listed:
        return name, ()
    end = replace(close, kind=TokenKind.END)
    return name, tuple(_listed(source, [*listed, end], parameters))


def _option_clause(source: Source, clause: Clause) -> OptionClause:
    """`option TYPE DIMENSION [: condition]`."""
    words = tokens(source, clause.start, clause.end)
    known = [one.value for one in LoopType]
    if words[0].text not in known:
        raise mistake(
            source,
            words[0].offset,
            f"unknown option '{words[0].text}'",
            length=max(1, len(words[0].text)),
            hint=f"options are {', '.join(known)}",
        )
    if words[1].kind is not TokenKind.NUMBER:
        raise _unexpected(source, words[1], "the number of a dimension")
    loop_type, dimension = LoopType(words[0].text), int(words[1].text)
    if words[2].kind is TokenKind.END:
        return OptionClause(words[1].offset, loop_type, dimension, None)
    if words[2].text != ":":
        raise _unexpected(source, words[2], "a colon or the end")
    where = replace(clause, start=words[2].offset + 1)
    return OptionClause(words[1].offset, loop_type, dimension, where)
