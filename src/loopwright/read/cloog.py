"""Reads CLooG's input (`.cloog`): language, context, statements, scattering functions.

    File       ::= Language Context Naming, Count Statement* Naming, Count Scattering* Naming
    Statement  ::= Union "0 0 0"
    Naming     ::= "0" | "1" names...

A statement's instances run in the order of their scattering; without scattering functions, in the
lexicographic order of their iterators.  Shorter vectors are padded with zeros.  Instances with the same
vector are unordered.  CLooG always separates loops as far as possible; here that is the generator's option.
"""

from __future__ import annotations

import itertools
import re

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.schedule import LEAF, Band, Member, Schedule
from loopwright.presburger.dimensions import padded, with_names
from loopwright.presburger.sets import union_map, union_set
from loopwright.read.constraint_text import (
    Lines,
    Parameters,
    Union,
    Word,
    as_map,
    as_set,
    dimensions,
    parameters_of,
    take_union,
)
from loopwright.read.text import checked, mistake
from loopwright.source import Source

DEFAULT_PARAMETERS = "MNOPQRSTUVWXYZABCDEFGHIJKL"
DEFAULT_ITERATORS = "ijklmnopqrstuvwxyzabcdefgh"


@dataclass(frozen=True)
class CloogStatement:
    name: str
    at: Word
    domain: isl.Set

    @property
    def iterators(self) -> int:
        return int(self.domain.dim(isl.dim_type.set))


def parse(text: str, filename: str) -> Schedule:
    """The schedule that a `.cloog` file describes: one band over all statements S1, S2, ..."""
    lines = Lines.of(checked(Source(filename, text)))
    _take_language(lines)
    parameters, context = _take_context(lines)
    statements = _take_statements(lines, parameters)
    order = _take_order(lines, statements, parameters)
    domain = union_set((one.domain for one in statements), context.get_space())
    placed = (times.intersect_domain(one.domain) for one, times in zip(statements, order, strict=True))
    schedule = union_map(placed, context.get_space())
    size = max((vectors.dim(isl.dim_type.out) for vectors in order), default=0)
    members = (Member(),) * size
    return Schedule(domain, context, Band(schedule, members, LEAF) if size else LEAF)


def _take_language(lines: Lines) -> None:
    word, *rest = lines.take("the language")
    if word.text not in ("c", "C", "f", "F"):
        raise lines.at(word, f"'{word.text[:40]}' is not a language", hint="the file begins with c or f")
    lines.put_back(tuple(rest))


def _take_context(lines: Lines) -> tuple[Parameters, isl.Set]:
    union = take_union(lines, "the context", isl.Set.read_from_str)
    written = parameters_of(union)
    given = _take_names(lines, "parameters", len(written))
    names = given or _default_names(DEFAULT_PARAMETERS, len(written))
    size = dimensions(lines, union, 0, len(names))
    if size:
        raise mistake(lines.source, 0, "the context constrains more than parameters")
    parameters = Parameters(written, names)
    return parameters, as_set(lines, union, 0, parameters).params()


def _take_names(lines: Lines, what: str, count: int, used: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Read `0`, or `1` and as many names as there are things to name."""
    first, *rest = lines.take(f"0 or 1, whether {what} are named")
    if lines.count(first, f"0 or 1, whether {what} are named,") == 0:
        return ()
    words = [word for word in rest if count]
    while len(words) < count:
        words.extend(lines.take(f"the names of {count} {what}"))
    names: tuple[str, ...] = ()
    for word in words[:count]:
        names += (_new_name(lines, word, used + names),)
    return names


def _new_name(lines: Lines, word: Word, used: tuple[str, ...]) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", word.text, re.ASCII):
        raise lines.at(word, f"'{word.text[:40]}' is not a name", hint="names are written as in C")
    if word.text in used:
        raise lines.at(word, f"the name {word.text} is defined twice")
    return word.text


def _default_names(letters: str, count: int, used: tuple[str, ...] = ()) -> tuple[str, ...]:
    """CLooG's own names, except those in use; when the letters run out they are numbered."""
    numbered = (f"{letter}{k}" for k in range(1, count + len(used) + 2) for letter in letters)
    free = (name for name in itertools.chain(letters, numbered) if name not in used)
    return tuple(itertools.islice(free, count))


def _take_statements(lines: Lines, parameters: Parameters) -> list[CloogStatement]:
    count = lines.take_count("the number of statements")
    statements: list[CloogStatement] = []
    for k in range(count):
        at = lines.peek(f"the domain of statement {k + 1}")[0]
        union = take_union(lines, f"the domain of statement {k + 1}", isl.Set.read_from_str)
        size = dimensions(lines, union, 0, len(parameters.names))
        domain = as_set(lines, union, size, parameters).set_tuple_name(f"S{k + 1}")
        statements.append(CloogStatement(f"S{k + 1}", at, domain))
        _take_end(lines, k + 1)
    most = max((statement.iterators for statement in statements), default=0)
    given = _take_names(lines, "iterators", most, parameters.names)
    names = given or _default_names(DEFAULT_ITERATORS, most, parameters.names)
    return [_with_iterators(statement, names) for statement in statements]


def _take_end(lines: Lines, number: int) -> None:
    """Read the line of three numbers after every domain, reserved for options that CLooG never had.

    An old dialect has `1`, the signals that a statement sends and awaits, and two numbers in its
    place; signals do not affect the order of the loops and are ignored.
    """
    wanted = f"the line 0 0 0 after statement {number}"
    words = lines.take(wanted)
    numbers = [lines.integer(word, wanted) for word in words]
    if numbers == [1] and len(lines.peek(wanted)) == 1:
        _skip_signals(lines, number)
    elif len(words) != 3:
        raise lines.at(words[0], f"statement {number} should end here with the line 0 0 0")


def _skip_signals(lines: Lines, number: int) -> None:
    wanted = f"the signals of statement {number}"
    take_union(lines, wanted, isl.Set.read_from_str)
    for _ in range(lines.take_count(wanted)):
        take_union(lines, wanted, isl.Set.read_from_str)
        lines.take_count(f"the source of {wanted}")
    for word in lines.take(f"the end of {wanted}"):
        lines.integer(word, f"the end of {wanted}")


def _with_iterators(statement: CloogStatement, names: tuple[str, ...]) -> CloogStatement:
    return CloogStatement(
        statement.name, statement.at, with_names(statement.domain, names[: statement.iterators])
    )


def _take_order(lines: Lines, statements: list[CloogStatement], parameters: Parameters) -> list[isl.Map]:
    """Each statement's vectors, all of the same length; CLooG does not read what follows them."""
    count = 0 if lines.done() else lines.take_count("the number of scattering functions")
    if count and count != len(statements):
        at = lines.lines[lines.position - 1][0]
        raise lines.at(at, f"{count} scattering functions for {len(statements)} statements")
    if count:
        order = [_take_scattering(lines, statement, parameters) for statement in statements]
    else:
        order = [isl.Map.identity(s.domain.get_space().map_from_set()) for s in statements]
    size = max((vectors.dim(isl.dim_type.out) for vectors in order), default=0)
    return [padded(vectors.reset_tuple_id(isl.dim_type.out), size) for vectors in order]


def _take_scattering(lines: Lines, statement: CloogStatement, parameters: Parameters) -> isl.Map:
    union: Union = take_union(lines, f"the scattering of {statement.name}", isl.Map.read_from_str)
    size = dimensions(lines, union, statement.iterators, len(parameters.names))
    scattering = as_map(lines, union, size, statement.iterators, parameters)
    return scattering.set_tuple_id(isl.dim_type.in_, statement.domain.get_tuple_id())
