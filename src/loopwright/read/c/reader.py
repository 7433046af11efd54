"""Reads a C file as programs, one per region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from loopwright.arguments import file_named
from loopwright.c.file import UnknownSyntax, c_file
from loopwright.c.regions import marked_places
from loopwright.c.selection.choice import BY_PRAGMAS
from loopwright.c.syntax import refuse
from loopwright.c.tokens import names_in
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.refusals import is_compiled
from loopwright.c.typed.spelling import (
    BranchTaken,
    with_branches_taken,
    with_pragmas_inside,
    without_digraphs,
)
from loopwright.errors import BadInput, Code, Note
from loopwright.model.program import Assumption, AssumptionKind, Program
from loopwright.read.c.find import Refusals, resolved
from loopwright.read.c.gate.types import refuse_effects_in_types
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.region import read_region
from loopwright.read.c.written_numbers import at_known_numbers, with_rows_of_numbers
from loopwright.read.text import refuse_long_numbers, unreadable
from loopwright.source import Source, Span, called, file_bytes

_MOST_DIGITS = 4000
"""The maximum number of digits of a number; the largest `long double` has more without an exponent."""

_LARGEST = 4 << 20
"""Files above this size are refused: a region is written by hand."""


def read_c(path: str | Path, options: ReadOptions = AS_MARKED) -> tuple[Program, ...]:
    """Read the regions of a C file, or the chosen parts, and compare them with the compiler's reading."""
    return read_source(load_c(path), options)


@lru_cache(maxsize=4)
def read_source(source: Source, options: ReadOptions = AS_MARKED) -> tuple[Program, ...]:
    """Read the regions of a C source, or the chosen parts, and compare them with the compiler's reading."""
    if not options.choice.is_empty or not marked_places(source):
        source = resolved(source, options)
    source, moved = with_pragmas_inside(source, options.compiled)
    source, branches = with_branches_taken(source, options.compiled)
    source = without_digraphs(resolved(source, replace(options, choice=BY_PRAGMAS)), options.compiled)
    programs = _read(source, options)
    programs = tuple(map(at_known_numbers, programs)) if options.at_numbers else programs
    return tuple(_told(program, (*moved, *branches)) for program in programs)


def _told(program: Program, branches: Sequence[BranchTaken]) -> Program:
    """A program with assumptions for the conditional directives that were resolved in its region."""
    own = [one for one in branches if one.is_in(program.region)]
    listed = (Assumption(AssumptionKind.CONSTANT, str(one), one.place) for one in own)
    return replace(program, assumptions=(*program.assumptions, *listed)) if own else program


def _read(source: Source, options: ReadOptions) -> tuple[Program, ...]:
    refusals = Refusals()

    def as_written(text: Source, options: ReadOptions) -> tuple[Program, ...]:
        return refusals.gated(parse_c(text, options), options)

    def attempt(text: Source) -> tuple[Program, ...] | None:
        try:
            return with_rows_of_numbers(text, options, as_written)
        except BadInput:
            return None

    try:
        found = with_rows_of_numbers(source, options, as_written)
    except BadInput as failure:
        other = None if "\0" in source.text else _in_other_words(source, options, attempt)
        if other is None:
            told = refusals.told(failure.diagnostic, source)
            failure = failure if told is failure.diagnostic else BadInput.of(told)
            raise _advised(_explained(failure, source, options), source) from failure.__cause__
        return tuple(other)
    if not any(program.set_aside for program in found):
        return found
    from loopwright.read.c.rephrased import further_followed

    return tuple(further_followed(source, options.compiled, found, attempt))


def _in_other_words(
    source: Source, options: ReadOptions, attempt: Callable[[Source], tuple[Program, ...] | None]
) -> Sequence[Program] | None:
    """Read rewritten sources, which may drop declarations: their types have no side effects."""
    from loopwright.read.c.rephrased import in_other_words

    for region in typed_file(source, options.compiled).regions:
        if isinstance(region, TypedRegion):
            refuse_effects_in_types(region)
    return in_other_words(source, options.compiled, attempt)


def _explained(failure: BadInput, source: Source, options: ReadOptions) -> BadInput:
    """The error for syntax that the compiler accepts and the reader does not: the file is not at fault."""
    if not isinstance(failure, UnknownSyntax) or not is_compiled(source, options.compiled):
        return failure
    file = c_file(source)
    used = {name for region in file.regions for name in names_in(region.place.text)}
    hidden = [one.name for one in file.macros if one.name in used and "_Pragma" in names_in(one.body)]
    message, hint = "the compiler accepts this, but it is not C that can be read here", _SYNTAX
    if hidden:
        message, hint = f"'{hidden[0]}' is a macro with '_Pragma' in it", "write it as a line, '#pragma ..'"
    return BadInput.of(replace(failure.diagnostic, message=message, hint=hint))


_SYNTAX = "write what macros stand for here, and standard C where this is an extension of the compiler"


def _advised(failure: BadInput, source: Source) -> BadInput:
    """The error for unmarked loops, with a note that parts of them may be readable."""
    if not source.chosen or failure.code not in (Code.REGION, Code.REGION_TEXT):
        return failure
    note = Note(f"'loopwright find {source.path}' lists the loops that can be read; --loop LINE reads one")
    return BadInput.of(replace(failure.diagnostic, others=(*failure.diagnostic.others, note)))


def load_c(path: str | Path) -> Source:
    """The source of a C file."""
    name = called(str(file_named(path)))
    try:
        name, data = file_bytes(path, _LARGEST + 1)
    except OSError as failure:
        raise unreadable(name, failure) from None
    if len(data) > _LARGEST:
        hint = "put the regions into a file of their own"
        raise BadInput(
            Code.FILE, f"this file has more than {_LARGEST >> 20} MiB", span=Span.start_of(name), hint=hint
        )
    source = Source.decode(name, data)
    _refuse_binary(source)
    refuse_long_numbers(source, _MOST_DIGITS)
    return source


def load_unmarked(path: str | Path) -> Source:
    """The source of a C file without an initial byte order mark, which compilers skip."""
    source = load_c(path)
    return replace(source, text=source.text.removeprefix("\ufeff"))


def _refuse_binary(source: Source) -> None:
    if "\0" in source.text:
        at = source.text.index("\0")
        is_wide = at <= 3 and source.text.count("\0") > len(source.text) // 3
        hint = "this looks like UTF-16: save it as UTF-8" if is_wide else "give a C source file"
        raise refuse(source.at(at), "this is not a text file", hint, code=Code.FILE)


def parse_c(
    source: Source, options: ReadOptions = AS_MARKED, whole: frozenset[Span] = frozenset()
) -> tuple[Program, ...]:
    """Read the regions of a C source; an `if` at a place in `whole` is one statement, whatever it tests."""
    _refuse_binary(source)
    places = [region.place for region in c_file(source).regions]
    return tuple(read_region(place, options, whole) for place in places)
