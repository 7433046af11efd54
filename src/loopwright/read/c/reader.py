"""A C file as programs, one a region."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import islpy as isl

from loopwright.c.file import CFile, c_file
from loopwright.c.liveness import refuse_live_iterators
from loopwright.c.loops import outer_iterators
from loopwright.c.regions import (
    Directive,
    Region,
)
from loopwright.c.syntax import Node, identifiers, refuse, too_deep
from loopwright.c.tokens import without_comments
from loopwright.errors import BadInput, Code, InternalError
from loopwright.model.program import Program
from loopwright.presburger.named import everywhere, number, variable
from loopwright.read.c.assemble import assembled
from loopwright.read.c.assume import assume_option, assume_pragma, combined, is_assume
from loopwright.read.c.frames import Frame
from loopwright.read.c.known_aliases import refuse_known_aliases
from loopwright.read.c.names import Setting, local_arrays, names_of_region
from loopwright.read.c.purity import refuse_hiding_macros, refuse_storage_macros
from loopwright.read.c.statements import read_sequence
from loopwright.read.c.trust import constants_used
from loopwright.read.c.wraparound import facts_of_types
from loopwright.read.text import refuse_long_numbers
from loopwright.source import Source, Span, called, file_bytes

_MOST_DIGITS = 4000
"""Of a number; the largest `long double` has more, if it is written without an exponent."""

_LARGEST = 4 << 20
"""Files above this size are refused: a region is written by hand."""


_DEEPEST = 250
"""Levels of syntax; the reader descends into them by recursion."""
_LOOK = "look at the 'assume' pragmas, --assume, and the constants the region uses"


def read_c(path: str | Path, *, pure: Iterable[str] = (), assume: Sequence[str] = ()) -> tuple[Program, ...]:
    """The regions of a C file."""
    return parse_c(load_c(path), pure=pure, assume=assume)


def load_c(path: str | Path) -> Source:
    """The text of a C file."""
    name = called(str(path))
    try:
        name, data = file_bytes(path)
    except OSError as failure:
        message = f"cannot read this file: {failure.strerror}"
        raise BadInput(Code.FILE, message, span=Span.start_of(name), hint="give a C source file") from None
    if len(data) > _LARGEST:
        hint = "put the regions into a file of their own"
        raise BadInput(
            Code.FILE, f"this file has more than {_LARGEST >> 20} MiB", span=Span.start_of(name), hint=hint
        )
    source = Source.decode(name, data)
    refuse_long_numbers(source, _MOST_DIGITS)
    return source


def parse_c(
    source: Source,
    *,
    pure: Iterable[str] = (),
    assume: Sequence[str] = (),
    whole: frozenset[Span] = frozenset(),
) -> tuple[Program, ...]:
    """The regions of a C text; each `if` at a place of `whole` is one statement, whatever it tests."""
    if "\0" in source.text:
        at = source.text.index("\0")
        is_wide = at <= 3 and source.text.count("\0") > len(source.text) // 3
        hint = "this looks like UTF-16: save it as UTF-8" if is_wide else "give a C source file"
        raise refuse(source.at(at), "this is not a text file", hint, code=Code.FILE)
    file = c_file(source)
    try:
        return tuple(_program(file, region, frozenset(pure), assume, whole) for region in file.regions)
    except isl.Error as failure:
        raise InternalError(Code.ISL, f"isl could not represent a region: {failure}") from failure


def _program(
    file: CFile, region: Region, pure: frozenset[str], assume: Sequence[str], whole: frozenset[Span]
) -> Program:
    block = file.block(region.place)
    deep = too_deep(block, _DEEPEST)
    if deep is not None:
        raise refuse(deep, "this is nested too deeply", "split the expression or the loops")
    setting = _setting(file, region, block, pure)
    stated = [assume_pragma(setting, line) for line in _assume_lines(file, region) if is_assume(line)]
    stated += [assume_option(setting, option) for option in assume]
    context = combined([known for known, _ in stated])
    context = context.intersect(facts_of_types(setting, identifiers(block)))
    for name, value in constants_used(setting, block):
        context = context.intersect(variable(name).eq_set(number(value)))
    if context.is_empty():
        raise refuse(
            region.place,
            "the assumptions about this region contradict each other",
            _LOOK,
            code=Code.OPTION,
        )
    setting = replace(setting, context=context, whole=whole)
    start = Frame(setting, everywhere())
    leaves = read_sequence(list(block.named_children), start, 0, is_block=False).leaves
    refuse_known_aliases(setting, file.tree, region.place)
    refuse_live_iterators(file.tree, region.place, frozenset(outer_iterators(block)))
    locals_ = local_arrays(setting.names, block)
    return assembled(setting, region, block, leaves, locals_, tuple(entry for _, entry in stated))


def _setting(file: CFile, region: Region, block: Node, pure: frozenset[str]) -> Setting:
    """The names of a region and what they are in the file, macros only if defined before it."""
    kinds = file.kinds(region.place)
    names = names_of_region(block, kinds)
    setting = Setting(
        region.place, kinds.macros, kinds.declarations, file.functions, names, pure, everywhere()
    )
    refuse_hiding_macros(setting, block)
    refuse_storage_macros(setting, block)
    return setting


def _assume_lines(file: CFile, region: Region) -> tuple[Directive, ...]:
    """The pragmas in the region, and those before it that are still in scope."""
    text = without_comments(file.source.text, literals=False)
    outside = [
        line
        for line in file.directives
        if line.place.end <= region.place.start
        and not any(other.place.contains(line.place) for other in file.regions)
        and not _leaves_block(text[line.place.end : region.place.start])
    ]
    return (*outside, *region.pragmas)


def _leaves_block(text: str) -> bool:
    """Whether a block that is open at the start of `text` is closed in it."""
    depth = 0
    for brace in re.findall(r"[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return True
    return False
