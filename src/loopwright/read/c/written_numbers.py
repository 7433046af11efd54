"""Sizes that are numbers where the file is compiled, as these numbers: `a[3 * i]` for `a[K * i]`.

A macro that has other definitions under other options, `(1 + 2)`, or `int K = 3;` that nothing changes.  A
stride that is a number says which cells are the same; one that is a name is a length of rows on trust.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.known_values import integer_type
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Unread
from loopwright.c.types import INT, LONG, UNSIGNED, CType, Integer, literal_type, promoted
from loopwright.model.program import Assumption, AssumptionKind, Program
from loopwright.read.c.gate.numbers import RowsOfNumbers, known_values
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.rephrased import with_macros_written_out
from loopwright.source import Edit, Source

Reading = Callable[[Source, ReadOptions], tuple[Program, ...]]


def with_rows_of_numbers(source: Source, options: ReadOptions, read: Reading) -> tuple[Program, ...]:
    """What is read of a text; where lengths of rows that would be on trust are numbers, with these."""
    try:
        return read(source, options)
    except RowsOfNumbers as found:
        further = replace(options, numbers=options.numbers | found.names)
        programs = with_rows_of_numbers(with_numbers(source, found.names, options.compiled), further, read)
        told = [Assumption(AssumptionKind.CONSTANT, text) for text in other_definitions(source, found.names)]
        return tuple(replace(one, assumptions=(*one.assumptions, *told)) for one in programs)


def other_definitions(source: Source, names: Collection[str]) -> list[str]:
    """What other options would change, where macros are written as what they stand for."""
    macros = dict.fromkeys(one.name for one in c_file(source).macros if one.conditional)
    return [f"'{name}' is what the compiler takes it for now" for name in macros if name in names]


def with_numbers(source: Source, names: Collection[str], options: CompilerOptions) -> Source:
    """The text with what macros of these names stand for, and the values of such variables, in its
    regions, where they are numbers."""
    file = typed_file(source, options)
    edits = [edit for region in file.regions for edit in _variables(region, names, file)]
    written = source.edited(sorted(edits))
    return with_macros_written_out(written, options, lambda call, _: call.text in names)


def names_written_out(source: Source, programs: Iterable[Program]) -> frozenset[str]:
    """The names in the regions of a text that are not in those of the text that was read for it."""
    before = {name for one in c_file(source).regions for name in names_in(one.place.text)}
    return frozenset(before.difference(*(names_in(one.region.text) for one in programs)))


def _variables(region: TypedRegion | Unread, names: Collection[str], file: TypedFile) -> Iterator[Edit]:
    if isinstance(region, Unread):
        return
    known = {one: value for one, value in known_values(region, file).items() if one.name in names}
    nodes = [*tree.walk_all(region.statements)]
    typed = {id(inner) for one in nodes if isinstance(one, _OF_TYPES) for inner in tree.walk(one)}
    for node in nodes:
        if not isinstance(node, tree.Name) or node.declaration not in known or id(node) in typed:
            continue
        text = _written(known[node.declaration], integer_type(node.type))
        place = node.place.span
        if text and place.text == node.declaration.name:
            yield place.start, place.end, text


_OF_TYPES = (tree.SizeOf, tree.OtherExpression)
"""Where the type of a variable may count, not only its value."""


def _written(value: int, kind: Integer | None) -> str:
    """A number that has the type that a variable of a type has in an expression."""
    plain = INT if kind is None else promoted(kind)
    text = f"({value}{_SUFFIXES.get(plain, '')})"
    return text if plain == literal_type(text.strip("(-)")) else ""


_SUFFIXES: dict[CType, str] = {LONG: "L", UNSIGNED: "u"}
