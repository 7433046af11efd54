"""Arrays of one dimension that are used as several: A[i * n + j] is the cell (i, j) in rows of n elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce

import islpy as isl

from loopwright.c.expression_types import DeclaredTypes, integer_type
from loopwright.c.macros import definitions
from loopwright.c.syntax import field
from loopwright.c.tokens import bracketed, names_in
from loopwright.c.types import INT, LONG, Integer, common, is_unsigned, named_type
from loopwright.errors import Code
from loopwright.model.program import Access, Array, Hole, Inlined, Program
from loopwright.presburger.named import row_length
from loopwright.source import Span
from loopwright.transform.library.accesses import affine_text
from loopwright.transform.script.arguments import Misuse

_FACTOR = re.compile(r"\w+|\(\(long long\)\w+\)")
_UNSIGNED = re.compile(r"\bunsigned\b|\b\d\w*[uU]")


def refuse_members(program: Program, array: Array) -> None:
    """Refuse rows of `p->n` elements: a copy would read that, too."""
    for length in program.parameters:
        if length.text != length.name and length.name in names_in(" ".join(array.rows)):
            message = f"the rows of {array.name} have {length.text} elements, which is not a variable"
            raise Misuse(Code.STORAGE, message, argument="variable", hint="copy it to one before the region")


def refuse_unsigned(program: Program, access: Access, holes: Sequence[Hole | Inlined]) -> None:
    """Refuse A[(i - 1u) * n + j]: what wraps around in fewer bits than a pointer has is another cell."""
    declared, macros = program.file.declarations, program.file.macros
    texts, names = [access.place.text, *_definitions(access.place, holes)], list[str]()
    for text in texts:  # which grows
        fresh = [name for name in names_in(text) if name not in names]
        texts += [macro.body for name in fresh for macro in definitions(macros, name)]
        names += fresh
    typed = {one.text: one.type for one in program.parameters if one.type is not None}
    found = [(name, declared.visible(name, access.place)) for name in names]
    scalars = [(name, one.type) for name, one in found if one is not None and not one.rank]
    kinds = [typed.get(name) or named_type(declared.resolved(kind)) for name, kind in scalars]
    is_plain = all(isinstance(kind, Integer) and (kind.signed or kind.bits >= LONG.bits) for kind in kinds)
    cast = any(is_unsigned(named_type(declared.resolved(name))) for name in names)
    if not is_plain or cast or _UNSIGNED.search(" ".join(texts)):
        message = f"'{access.place.text}' may have unsigned numbers of fewer bits than a pointer"
        raise Misuse(Code.STORAGE, message, argument="variable", hint="use int or long in it")


def _definitions(place: Span, holes: Sequence[Hole | Inlined]) -> Iterator[str]:
    """The values of locals in a place, and of locals in these."""
    for hole in holes:
        if isinstance(hole, Inlined) and place.contains(hole.place):
            yield hole.definition.text
            yield from _definitions(hole.definition, hole.holes)


def cell_text(program: Program, array: Array, cell: Sequence[isl.Aff], iterators: Sequence[str]) -> str:
    """A[c1][c2], or A[c1 * n + c2] if the array is declared with one dimension and has rows of n elements.

    In `long long` where the program computes A[(long)i * n + j]: an int would overflow sooner.
    """
    indices = [affine_text(program, one, iterators) for one in cell]
    if not array.rows:
        return array.name + bracketed(indices)
    text = f"((long long){_factor(indices[0])})" if _is_wide(program, array) else indices[0]
    for size, index in zip(array.rows, indices[1:], strict=True):
        ((_, length),) = row_length(size).get_pieces()
        text = f"{_factor(text)} * {_factor(affine_text(program, length, ()))} + {index}"
    return f"{array.name}[{text}]"


def _is_wide(program: Program, array: Array) -> bool:
    """Whether a subscript of the array may be computed in more bits than an int has."""
    file, nodes = program.file, program.syntax.of_type("subscript_expression")
    for statement in program.statements:
        iterators = [named_type(file.declarations.resolved(kind)) for kind in statement.iterator_types]
        widest = reduce(common, [INT, *iterators])
        for place in {one.place for one in statement.accesses if one.array == array.name}:
            scope = DeclaredTypes(file.declarations, file.macros_before(place), place, widest)
            kinds = [integer_type(field(node, "index"), scope) for node in nodes if node.span == place]
            if not kinds or any(not isinstance(kind, Integer) or kind.bits > INT.bits for kind in kinds):
                return True
    return False


def _factor(text: str) -> str:
    return text if _FACTOR.fullmatch(text) else f"({text})"
