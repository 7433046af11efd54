"""The maps and sets of a script: values, their syntax, and the isl objects they denote.

A name in the input tuple is an iterator; a number there is a condition on it.  A name in the output tuple
that is neither an input nor a parameter is a new iterator, which the condition after the colon must define:
`{[i] -> [a, b] : a = [i/32] and b = i % 32}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import islpy as isl

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import split
from loopwright.read.affine import FormulaScope, number, truth
from loopwright.read.formula import (
    Addition,
    Chain,
    Formula,
    Junction,
    Multiplicative,
    Numeral,
    Symbol,
    written,
)

Operand: TypeAlias = Formula | str | int
"""A formula, a name, or a number that is not negative."""


@dataclass(frozen=True)
class AffineMap:
    """`{[i, j] -> [j, i] : condition}`."""

    inputs: tuple[Formula, ...]
    outputs: tuple[Formula, ...]
    condition: Formula | None = None

    def __str__(self) -> str:
        condition = "" if self.condition is None else f" : {written(self.condition)}"
        return f"{{{_tuple(self.inputs)} -> {_tuple(self.outputs)}{condition}}}"

    @property
    def input_names(self) -> tuple[str | None, ...]:
        return tuple(one.text if isinstance(one, Symbol) else None for one in self.inputs)

    def new_iterators(self, parameters: tuple[str, ...]) -> tuple[str | None, ...]:
        """The output names the map itself introduces; None if the output is an expression."""
        known = {*self.input_names, *parameters}
        return tuple(
            one.text if isinstance(one, Symbol) and one.text not in known else None for one in self.outputs
        )


@dataclass(frozen=True)
class AffineSet:
    """`{[i, j] : condition}`."""

    inputs: tuple[Formula, ...]
    condition: Formula

    def __str__(self) -> str:
        return f"{{{_tuple(self.inputs)} : {written(self.condition)}}}"


def _formula(one: Operand) -> Formula:
    return Symbol(one) if isinstance(one, str) else Numeral(one) if isinstance(one, int) else one


def symbols(names: Iterable[str]) -> tuple[Symbol, ...]:
    return tuple(map(Symbol, names))


def times(factor: int, term: Operand) -> Multiplicative:
    """`factor * term`."""
    return Multiplicative("*", Numeral(factor), _formula(term))


def plus(*terms: Operand) -> Addition:
    """The sum of two terms or more."""
    return Addition(tuple(map(_formula, terms)))


def compared(left: Operand, relation: str, right: Operand) -> Chain:
    """`left relation right`, such as `i <= n`."""
    return Chain(((_formula(left),), (_formula(right),)), (relation,))


def all_of(tests: Sequence[Formula]) -> Formula:
    """One test or more, joined by `and`."""
    return tests[0] if len(tests) == 1 else Junction(conjunction=True, arguments=tuple(tests))


def iterations_where(loops: Iterable[str], *tests: Formula) -> AffineSet:
    """The iterations of these loops that pass all of one test or more."""
    return AffineSet(symbols(loops), all_of(tests))


def _tuple(formulas: Iterable[Formula]) -> str:
    return f"[{', '.join(map(written, formulas))}]"


def set_of(value: AffineSet, parameters: tuple[str, ...]) -> isl.Set:
    """{ [i, j] : condition } over an unnamed tuple."""
    scope = FormulaScope(parameters, tuple(_dimension_names(value.inputs, parameters)))
    return _inputs_hold(value.inputs, scope).intersect(truth(value.condition, scope))


def map_of(value: AffineMap, parameters: tuple[str, ...]) -> isl.Map:
    """{ [i, j] -> [...] : condition } between unnamed tuples."""
    inputs = _dimension_names(value.inputs, parameters)
    declared = value.new_iterators(parameters)
    for k, name in enumerate(declared):
        if name is not None and name in declared[:k]:
            raise BadInput(Code.GRAMMAR, f"the name {name} is used twice", span=value.outputs[k].at)
    outputs = [name or f"_o{k}" for k, name in enumerate(declared)]
    scope = FormulaScope(parameters, (*inputs, *outputs))
    points = _inputs_hold(value.inputs, scope)
    for name, known, formula in zip(outputs, declared, value.outputs, strict=True):
        if known is None:
            points = points.intersect(scope.variable(name).eq_set(number(formula, scope)))
    if value.condition is not None:
        points = points.intersect(truth(value.condition, scope))
    relation = split(points, len(inputs))
    return relation.coalesce()


def _dimension_names(inputs: tuple[Formula, ...], parameters: tuple[str, ...]) -> list[str]:
    """One name for each dimension; the author's where there is one."""
    names: list[str] = []
    for k, formula in enumerate(inputs):
        if not isinstance(formula, Symbol):
            names.append(f"_i{k}")
            continue
        if formula.text in names or formula.text in parameters:
            what = "a parameter of the program" if formula.text in parameters else "used twice"
            raise BadInput(Code.GRAMMAR, f"the iterator {formula.text} is {what}", span=formula.at)
        names.append(formula.text)
    return names


def _inputs_hold(inputs: tuple[Formula, ...], scope: FormulaScope) -> isl.Set:
    """The conditions from inputs that are not names: `[i, j, 0]` restricts to vectors that end in 0."""
    points = scope.truth(value=True)
    for k, formula in enumerate(inputs):
        if not isinstance(formula, Symbol):
            here = scope.variable(scope.dimensions[k])
            points = points.intersect(here.eq_set(number(formula, scope)))
    return points
