"""The maps and sets of a script as isl's, once the parameters of the program are known.

A name in the input tuple is an iterator; a number there is a condition on it.  A name in the
output tuple that is no input and no parameter is a new iterator, which the condition behind the
colon has to define: `{[i] -> [a, b] : a = [i/32] and b = i % 32}`.
"""

from __future__ import annotations

import islpy as isl

from loopwright.presburger.sets import IN, OUT
from loopwright.read.affine import Meaning
from loopwright.read.formula import (
    Binary,
    Call,
    Chain,
    Choice,
    Exists,
    Formula,
    Junction,
    Name,
    Negative,
    Not,
    Number,
    Sum,
    Truth,
)
from loopwright.read.scope import Scope
from loopwright.read.script import MapText, SetText
from loopwright.read.text import mistake
from loopwright.source import Source


def set_of(source: Source, text: SetText, parameters: tuple[str, ...]) -> isl.Set:
    """{ [i, j] : condition } over an unnamed tuple."""
    scope = Scope(parameters, tuple(_dimension_names(source, text.inputs, parameters, "_i")))
    meaning = Meaning(source)
    return _inputs_hold(meaning, text.inputs, scope).intersect(meaning.truth(text.condition, scope))


def map_of(source: Source, text: MapText, parameters: tuple[str, ...]) -> isl.Map:
    """{ [i, j] -> [...] : condition } between unnamed tuples."""
    inputs = _dimension_names(source, text.inputs, parameters, "_i")
    declared = new_iterators(text, parameters)
    outputs = [declared[k] or f"_o{k}" for k in range(len(text.outputs))]
    for k, name in enumerate(declared):
        if name is not None and name in declared[:k]:
            at = text.outputs[k].at
            raise mistake(source, at.offset, f"the name {name} is used twice", length=len(at.text))
    scope = Scope(parameters, (*inputs, *outputs))
    meaning = Meaning(source)
    points = _inputs_hold(meaning, text.inputs, scope)
    for name, known, formula in zip(outputs, declared, text.outputs, strict=True):
        if known is None:
            points = points.intersect(scope.variable(name).eq_set(meaning.number(formula, scope)))
    if text.condition is not None:
        points = points.intersect(meaning.truth(text.condition, scope))
    relation = isl.Map.from_range(points).move_dims(IN, 0, OUT, 0, len(inputs))
    return relation.coalesce()


def new_iterators(text: MapText, parameters: tuple[str, ...]) -> list[str | None]:
    """The output names the map itself introduces; None where the output is an expression."""
    inputs = {formula.at.text for formula in text.inputs if isinstance(formula, Name)}
    return [
        formula.at.text
        if isinstance(formula, Name) and formula.at.text not in inputs and formula.at.text not in parameters
        else None
        for formula in text.outputs
    ]


def input_names(text: MapText) -> tuple[str | None, ...]:
    return tuple(formula.at.text if isinstance(formula, Name) else None for formula in text.inputs)


def names_in(formula: Formula) -> set[str]:
    """Every name a formula mentions."""
    match formula:
        case Name(at):
            return {at.text}
        case Number() | Truth():
            return set()
        case Negative(_, argument) | Not(_, argument):
            return names_in(argument)
        case Sum(_, parts) | Call(_, _, parts) | Junction(_, _, parts):
            return set().union(*map(names_in, parts))
        case Binary(_, _, left, right):
            return names_in(left) | names_in(right)
        case Choice(_, test, then, orelse):
            return names_in(test) | names_in(then) | names_in(orelse)
        case Chain(_, operands, _):
            return set().union(*(names_in(one) for operand in operands for one in operand))
        case Exists(_, names, body):
            return names_in(body) - {name.text for name in names}


def _dimension_names(
    source: Source, inputs: tuple[Formula, ...], parameters: tuple[str, ...], prefix: str
) -> list[str]:
    """One name a dimension; the author's where there is one."""
    names: list[str] = []
    for k, formula in enumerate(inputs):
        if not isinstance(formula, Name):
            names.append(f"{prefix}{k}")
            continue
        name = formula.at.text
        if name in names or name in parameters:
            what = "a parameter of the program" if name in parameters else "used twice"
            raise mistake(source, formula.at.offset, f"the iterator {name} is {what}", length=len(name))
        names.append(name)
    return names


def _inputs_hold(meaning: Meaning, inputs: tuple[Formula, ...], scope: Scope) -> isl.Set:
    """What an input that is not a name says: `[i, j, 0]` is about the vectors that end in 0."""
    points = scope.truth(True)
    for k, formula in enumerate(inputs):
        if not isinstance(formula, Name):
            here = scope.variable(scope.dimensions[k])
            points = points.intersect(here.eq_set(meaning.number(formula, scope)))
    return points
