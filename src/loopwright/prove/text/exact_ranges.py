"""Proves that a subscript stays within its types at every instance of its statement.

Intervals lose what relates variables; sets of instances do not:

    A_packed[i - 32 * iT + 4]   with 32 * iT <= i <= 32 * iT + 31   is between 4 and 35.

Every part of the expression is asked, in its own type: `i + j - n` may overflow although its value is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import islpy as isl

from loopwright.c.syntax import Node, field, operator, without_parentheses
from loopwright.c.types import Integer
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int, Var
from loopwright.model.program import Program, Statement
from loopwright.prove.reading.c_expressions import Unreadable, Words, expression, words_of
from loopwright.prove.reading.integer_types import type_at
from loopwright.prove.reading.loops import values_at
from loopwright.prove.scanning.conditions import IteratorScope, value


@dataclass(frozen=True, eq=False)
class TextInstances:
    """The instances of the statements in a text, for the parameters in `known`.

    A program that is read back has the statements of its text, and no domains that say when they run.
    """

    program: Program
    known: isl.Set

    @cached_property
    def domains(self) -> dict[str, isl.Set]:
        known = self.known.align_params(self.program.context.get_space())
        found = values_at(self.program, {}, known)
        return {name: one.domain().reset_tuple_id() for name, one in found.items()}

    def stay_in_types(self, index: Node, statement: Statement) -> bool:
        """Whether no part of a subscript exceeds its type at any instance."""
        words = words_of(self.program)
        for name in statement.iterators:
            words = words.bind(name, Var(name))
        try:
            domain = self.domains[statement.name].intersect_params(self.known)
            scope = IteratorScope(domain, {name: k for k, name in enumerate(statement.iterators)})
            return all(_is_within(part, kind, words, scope) for part, kind in _converted(index, words))
        except Unreadable:
            return False


def _converted(index: Node, words: Words) -> Iterator[tuple[Node, Integer]]:
    """The parts of a sum, each with the types that have to hold its value."""
    node = without_parentheses(index)
    kind = type_at(node, words, index.span)
    if not isinstance(kind, Integer):
        raise Unreadable(f"the type of '{node.text}' is not known")
    yield node, kind
    match node.type:
        case "identifier" | "number_literal":
            return
        case "cast_expression":
            parts = ["value"]
        case "unary_expression" if operator(node) in ("+", "-"):
            parts = ["argument"]
        case "binary_expression" if operator(node) in ("+", "-", "*"):
            parts = ["left", "right"]
        case _:
            raise Unreadable(f"'{node.text}' is not a sum")
    for part in parts:
        yield field(node, part), kind
        yield from _converted(field(node, part), words)


def _is_within(node: Node, kind: Integer, words: Words, scope: IteratorScope) -> bool:
    found = value(expression(node, words), scope)
    below, above = (value(Int(one), scope) for one in (kind.least, kind.greatest))
    inside = found.ge_set(below).intersect(found.le_set(above))
    return scope.domain.is_subset(inside)
