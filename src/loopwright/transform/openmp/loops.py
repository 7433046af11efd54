"""Canonical loops: iteration counts of source loops and of loops that directives generate.

OpenMP counts the iterations of a loop from 0: its logical iteration numbers.  A loop of the plan has

    value = start + step * number,  step > 0

where `value` is the plan's value of the dimension, as a formula over the iterators of the source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from loopwright.c.file import c_file
from loopwright.c.loops import first_value, loop_iterator, unit_step
from loopwright.c.macros import constant_macro
from loopwright.c.syntax import Node, field, operator, refuse, without_parentheses
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.read.formula import Addition, Formula, FunctionCall, Multiplicative, Negative, Numeral, Symbol
from loopwright.source import Span

ZERO = Numeral(0)

CANONICAL = "accepted: for (i = a; i < b; i++), also <=, >, >=, i--, i += 2, with affine a and b"


@dataclass(frozen=True)
class CountedLoop:
    """A loop of the plan, by its iterator there; None means unknown."""

    dimension: str
    value: Formula
    start: Formula | None
    step: int
    count: Formula | None
    place: Span
    bounds: frozenset[str] = frozenset()
    """The iterators that its bounds mention."""

    @property
    def number(self) -> Formula:
        """The logical iteration number, over the iterators of the text."""
        return floor(minus(self.value, self.known_start), self.step)

    @property
    def known_start(self) -> Formula:
        if self.start is None:
            message = "where this loop starts is not known as an affine expression"
            raise refuse(self.place, message, CANONICAL, Code.DIRECTIVE)
        return self.start

    @property
    def known_count(self) -> Formula:
        if self.count is None:
            message = "the number of iterations of this loop is not known as an affine expression"
            raise refuse(self.place, message, CANONICAL, Code.DIRECTIVE)
        return self.count

    def reversed(self) -> CountedLoop:
        """value' = -value, number' = count - 1 - number."""
        start = None
        if self.start is not None and self.count is not None:
            start = negative(plus(self.start, times(self.step, plus(self.count, Numeral(-1)))))
        return replace(self, value=negative(self.value), start=start)


def canonical(node: Node, names: frozenset[str]) -> CountedLoop | None:
    """A `for` loop in terms of the plan; `names` are iterators and parameters.  None if not canonical."""
    iterator = loop_iterator(node)
    step = None if iterator is None else _step(node, iterator)
    if iterator is None or step is None or node.child_by_field_name("condition") is None:
        return None
    first = _formula(first_value(node), names - {iterator})
    value: Formula = Symbol(iterator) if step > 0 else Negative(Symbol(iterator))
    start = first if first is None or step > 0 else negative(first)
    head = Span(node.source, node.start, field(node, "body").start)
    end = field(node, "condition")
    used = frozenset(
        part for one in (first_value(node), end) for part in _identifiers(one) if part != iterator
    )
    count = None if start is None else _count(end, iterator, start, step, names - {iterator})
    return CountedLoop(iterator, value, start, abs(step), count, head, used)


def _identifiers(node: Node) -> frozenset[str]:
    own = {node.text} if node.type == "identifier" else set()
    return frozenset(own.union(*(_identifiers(child) for child in node.children)))


def _step(node: Node, iterator: str) -> int | None:
    """The increment of the iterator; None if it is not a constant."""
    update = node.child_by_field_name("update")
    if update is None:
        return None
    update = without_parentheses(update)
    if update.type == "update_expression":
        return unit_step(update, iterator)
    if update.type != "assignment_expression":
        return None
    right = without_parentheses(field(update, "right"))
    sign = {"+=": 1, "-=": -1}.get(operator(update))
    if sign is None and right.type == "binary_expression" and operator(right) in "+-":
        left, other = (without_parentheses(field(right, side)) for side in ("left", "right"))
        sign = 1 if operator(right) == "+" else -1
        right = left if other.text == iterator and sign > 0 else other
    amount = _constant(right)
    return None if sign is None or not amount else sign * amount


def _constant(node: Node) -> int | None:
    node = without_parentheses(node)
    if node.type == "number_literal":
        return int(node.text) if node.text.isdigit() and not node.text.startswith("0") else None
    return constant_macro(c_file(node.source).macros, node.text) if node.type == "identifier" else None


def _count(test: Node, iterator: str, start: Formula, step: int, names: frozenset[str]) -> Formula | None:
    """[(end - start + step - 1) / step] for `i < end`, in the plan's numbering."""
    test = without_parentheses(test)
    if test.type != "binary_expression":
        return None
    sides = [without_parentheses(field(test, side)) for side in ("left", "right")]
    relation = operator(test)
    if sides[1].text == iterator:
        sides.reverse()
        relation = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(relation, relation)
    if sides[0].text != iterator:
        return None
    end = _formula(sides[1], names)
    if end is None:
        return None
    end = end if step > 0 else negative(end)
    match relation, step > 0:
        case ("<", True) | (">", False):
            extra = 0
        case ("<=", True) | (">=", False):
            extra = 1
        case ("!=", _) if abs(step) == 1:
            extra = 0
        case _:
            return None
    return floor(plus(minus(end, start), Numeral(abs(step) - 1 + extra)), abs(step))


def _formula(node: Node, names: frozenset[str]) -> Formula | None:
    """A sum of names with constant factors; None for any other expression."""
    node = without_parentheses(node)
    match node.type:
        case "number_literal" if re.fullmatch(r"[-+]?(?:0|[1-9]\d*)", node.text):
            return Numeral(int(node.text))
        case "identifier":
            return Symbol(node.text) if node.text in names else None
        case "unary_expression" if operator(node) in "+-":
            inner = _formula(field(node, "argument"), names)
            return inner if inner is None or operator(node) == "+" else negative(inner)
        case "binary_expression" if operator(node) in ("+", "-", "*"):
            left, right = (_formula(field(node, side), names) for side in ("left", "right"))
            if left is None or right is None:
                return None
            if operator(node) != "*":
                return plus(left, right) if operator(node) == "+" else minus(left, right)
            constants = [one for one in (left, right) if isinstance(one, Numeral)]
            if not constants:
                return None
            return times(constants[0].value, right if left is constants[0] else left)
        case _:
            return None


def refuse_triangle(loops: Sequence[CountedLoop], directive: str) -> None:
    """Refuse a bound that depends on another loop of the directive."""
    own = {loop.dimension for loop in loops}
    for loop in loops:
        depends = sorted(loop.bounds & own)
        if depends:
            message = f"'{directive}' needs bounds that do not depend on {', '.join(depends)}"
            hint = "OpenMP forbids it for loops that are not rectangular"
            raise refuse(loop.place, message, hint, Code.DIRECTIVE)


def substituted(formula: Any, values: Mapping[str, Formula]) -> Any:
    """Substitute formulas for names; -3 is written as a negative 3."""
    if isinstance(formula, Symbol):
        return values.get(formula.text, formula)
    if isinstance(formula, Negative):
        return negative(substituted(formula.argument, values))
    if isinstance(formula, Numeral) and formula.value < 0:
        return Negative(Numeral(-formula.value))
    if isinstance(formula, tuple):
        return tuple(substituted(one, values) for one in formula)
    if not is_dataclass(formula) or isinstance(formula, Span):
        return formula
    assert not isinstance(formula, type)
    return replace(
        formula, **{one.name: substituted(getattr(formula, one.name), values) for one in fields(formula)}
    )


def plus(one: Formula, other: Formula) -> Formula:
    match one, other:
        case Numeral(a), Numeral(b):
            return Numeral(a + b)
        case _, Numeral(0):
            return one
        case Numeral(0), _:
            return other
    left, right = (each.terms if isinstance(each, Addition) else (each,) for each in (one, other))
    terms: list[Formula] = [each for each in (*left, *right) if not isinstance(each, Numeral)]
    total = sum(each.value for each in (*left, *right) if isinstance(each, Numeral))
    terms += [Numeral(total)] if total else []
    return Addition(tuple(terms)) if len(terms) > 1 else terms[0] if terms else ZERO


def minus(one: Formula, other: Formula) -> Formula:
    return ZERO if one == other else plus(one, negative(other))


def negative(formula: Formula) -> Formula:
    match formula:
        case Numeral(value):
            return Numeral(-value)
        case Negative(inner):
            return inner
        case Addition(terms):
            return Addition(tuple(negative(term) for term in terms))
        case _:
            return Negative(formula)


def times(factor: int, formula: Formula) -> Formula:
    match formula:
        case _ if factor == 1:
            return formula
        case Numeral(value):
            return Numeral(factor * value)
        case _:
            return Multiplicative("*", Numeral(factor), formula)


def floor(formula: Formula, divisor: int) -> Formula:
    return (
        formula if divisor == 1 else FunctionCall("floor", (Multiplicative("/", formula, Numeral(divisor)),))
    )


def remainder(formula: Formula, divisor: int) -> Formula:
    return Multiplicative("%", formula, Numeral(divisor))


def least(*formulas: Formula) -> Formula:
    return FunctionCall("min", formulas)


def most(*formulas: Formula) -> Formula:
    return FunctionCall("max", formulas)
