"""Small runs of two programs with every operation left uninterpreted: can they differ at all?

An instance is written down with its index expressions evaluated, `A[3] = f(A[2])`.  Its value is a
new symbol of that text and of the values it reads; equal texts that read equal values give equal
values.  If a cell ends up with another value in NEW, and NEW does nothing that OLD does not do
somewhere, the programs differ for some meaning of their operations.  It is a no with an example;
runs that agree prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl
from tree_sitter import Node

from loopwright.loops.interpreter import Environment, evaluate
from loopwright.loops.traverse import variables
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.sets import DIM, IN, PARAM
from loopwright.prove.text.c_expressions import Unreadable, Words, expression
from loopwright.prove.text.instances import sides
from loopwright.prove.text.operation import Side
from loopwright.prove.verdict import Refuted

SIZES = (1, 2, 3, 4, 5)
LIMIT = 4000
"""Instances of a run that is looked at."""

Form: TypeAlias = object
Cell: TypeAlias = tuple[str, tuple[int, ...]]


class _Unknown(Exception):
    """An access or a text that depends on more than the sizes."""


@dataclass(frozen=True)
class _Step:
    """One instance of a run."""

    line: int
    form: Form
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]


@dataclass(frozen=True)
class _Final:
    value: object
    line: int


def first_difference(old: Program, new: Program) -> Refuted | None:
    """A cell that ends up different for some small sizes, which both programs must have in common."""
    for parameters in _sizes(old.context):
        try:
            before, after = _run(old, parameters), _run(new, parameters)
        except _Unknown:
            return None
        if before is None or after is None:
            continue
        if not {step.form for step in after} <= {step.form for step in before}:
            return None
        symbols: dict[object, int] = {}
        wrong = _compared(_memory(before, symbols), _memory(after, symbols), _locals(old) | _locals(new))
        if wrong is not None:
            return _refuted(wrong, parameters, old, new)
    return None


def _sizes(context: isl.Set) -> Iterator[dict[str, int]]:
    """Small values for the parameters, those that have one value at it."""
    names = [str(context.get_dim_name(PARAM, k)) for k in range(context.dim(PARAM))]
    for size in SIZES:
        for spread in (0, 1):
            point, values = context, {}
            for k, name in enumerate(names):
                known = context.plain_get_val_if_fixed(PARAM, k)
                values[name] = int(known.to_python()) if known.is_int() else size + spread * k
                point = point.fix_val(PARAM, k, isl.Val(values[name]))
            if not point.is_empty():
                yield values


def _run(program: Program, parameters: dict[str, int]) -> list[_Step] | None:
    """The instances in order; None where there are too many."""
    known = sides(program)
    timed: list[tuple[tuple[int, ...], Statement, tuple[int, ...]]] = []
    for statement in program.statements:
        for point in _points(statement, parameters):
            timed.append((point[statement.depth :], statement, point[: statement.depth]))
            if len(timed) > LIMIT:
                return None
    timed.sort(key=lambda item: item[0])
    return [_step(program, s, instance, known[s.name], parameters) for _, s, instance in timed]


def _points(statement: Statement, parameters: dict[str, int]) -> list[tuple[int, ...]]:
    """(instance, time) of every instance."""
    schedule = _fixed(statement.schedule.intersect_domain(statement.domain), parameters)
    points = schedule.wrap().flatten()
    points = points.project_out(PARAM, 0, points.dim(PARAM))
    if not points.is_bounded():
        raise _Unknown
    found: list[tuple[int, ...]] = []
    points.foreach_point(lambda point: found.append(_coordinates(point)))
    return found


def _fixed(relation: isl.Map, parameters: dict[str, int]) -> isl.Map:
    for name, value in parameters.items():
        position = relation.find_dim_by_name(PARAM, name)
        if position >= 0:
            relation = relation.fix_val(PARAM, position, isl.Val(value))
    return relation


def _coordinates(point: isl.Point) -> tuple[int, ...]:
    count = point.get_space().dim(DIM)
    return tuple(int(point.get_coordinate_val(DIM, k).to_python()) for k in range(count))


def _step(
    program: Program, statement: Statement, instance: tuple[int, ...], side: Side, parameters: dict[str, int]
) -> _Step:
    env = {**parameters, **dict(zip(statement.iterators, instance, strict=True))}
    line = program.source.line_of(statement.body.place.start)
    reads = tuple(_cell(access, instance, parameters) for access in statement.reads)
    writes = tuple(_cell(access, instance, parameters) for access in statement.writes)
    return _Step(line, _form(side.node, side.words, env), reads, writes)


def _cell(access: Access, instance: tuple[int, ...], parameters: dict[str, int]) -> Cell:
    relation = _fixed(access.relation, parameters)
    for position, value in enumerate(instance):
        relation = relation.fix_val(IN, position, isl.Val(value))
    cells = relation.range()
    if not access.must or not cells.is_singleton():
        raise _Unknown
    return access.array, _coordinates(cells.sample_point())


def _form(node: Node, words: Words, env: Environment) -> Form:
    """The text with its index expressions evaluated, as nested tuples."""
    if node.type == "init_declarator":
        return ("assignment_expression", *(_form(part, words, env) for part in node.named_children))
    try:
        value = expression(node, words)
    except Unreadable:
        value = None
    if value is not None:
        if not variables(value) <= set(env):
            raise _Unknown
        return evaluate(value, env)
    parts = [part for part in node.children if part.type not in ("comment", ";")]
    if not parts:
        return words.of(node)
    if node.type in ("parenthesized_expression", "expression_statement"):
        inner = [part for part in parts if part.is_named]
        if len(inner) == 1:
            return _form(inner[0], words, env)
    return (node.type, *(_form(p, words, env) for p in parts if p.type != "="))


def _memory(steps: list[_Step], symbols: dict[object, int]) -> dict[Cell, _Final]:
    """What is in the cells at the end; both runs number their values by the same `symbols`."""
    memory: dict[Cell, _Final] = {}
    for step in steps:
        values = tuple(memory[cell].value if cell in memory else cell for cell in step.reads)
        for k, cell in enumerate(step.writes):
            term = (step.form, k, values)
            memory[cell] = _Final(symbols.setdefault(term, len(symbols)), step.line)
    return memory


def _locals(program: Program) -> frozenset[str]:
    return frozenset(array.name for array in program.arrays if array.local)


def _compared(
    before: dict[Cell, _Final], after: dict[Cell, _Final], hidden: frozenset[str]
) -> tuple[Cell, int | None, int | None] | None:
    for cell in sorted({*before, *after}):
        one, other = before.get(cell), after.get(cell)
        if cell[0] in hidden:
            continue
        if one is None or other is None or one.value != other.value:
            return cell, None if one is None else one.line, None if other is None else other.line
    return None


def _refuted(
    wrong: tuple[Cell, int | None, int | None], parameters: dict[str, int], old: Program, new: Program
) -> Refuted:
    (array, subscripts), before, after = wrong
    cell = array + "".join(f"[{k}]" for k in subscripts)
    writer = "is never written in {0}" if before is None else f"is last written by line {before} of {{0}}"
    other = "never in {0}" if after is None else f"by line {after} of {{0}}"
    sizes = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    places = f"{writer.format(old.source.path)}, {other.format(new.source.path)}, and the values differ"
    message = f"{cell} does not end up with the same value"
    shown = f"{sizes}: {cell} {places}" if sizes else f"{cell} {places}"
    return Refuted("equivalence", message, shown, parameters)
