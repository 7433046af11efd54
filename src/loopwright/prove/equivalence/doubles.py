"""Statements on doubles or ints alone as functions of Python, ten times as fast as with all types of C."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.types import DOUBLE, INT, CType
from loopwright.loops.expressions import Expr
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Constant, Index, Term, TermAssignment

Cell: TypeAlias = tuple[str, tuple[int, ...]]
Number: TypeAlias = int | float
Other: TypeAlias = Callable[[str, Number, Number], Number]
Run: TypeAlias = Callable[[Sequence[int], dict[Cell, Number], Callable[[Cell], Number], Other], None]
"""Of the values of its columns, what cells hold, what they held at first, and what Python writes otherwise:
quotients and functions of doubles, integers that have to be in range.
"""
_OPERATORS = ("+", "-", "*")
_FUNCTIONS = ("sqrt()", "exp()", "fabs()")


def in_one_type(
    assignments: tuple[TermAssignment, ...], columns: Mapping[Expr, int], kind: CType
) -> Run | None:
    """What a statement does to cells; None where it computes in another type than `kind`, or otherwise."""
    assert kind in (DOUBLE, INT), "Python has numbers for these"
    lines = ["def run(at, memory, read, other):", "    get = memory.get"]
    try:
        for one in assignments:
            if one.target.type != kind:
                return None
            value = _text(one.value, columns, kind)
            lines.append(f"    memory[{_place(one.target, columns)}] = {value}")
    except _OtherType:
        return None
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<numbers>", "exec"), space)
    run: Run = space["run"]
    return run


class _OtherType(Exception):
    """A term of another type, or an operation that is not written here."""


def _place(cell: CellTerm, columns: Mapping[Expr, int]) -> str:
    subscripts = "".join(f"at[{columns[one]}]," for one in cell.subscripts)
    return f"({cell.array!r}, ({subscripts}))"


def _text(term: Term, columns: Mapping[Expr, int], kind: CType) -> str:
    if term.type != kind:
        raise _OtherType
    match term:
        case CellTerm():
            return f"(was if (was := get(cell := {_place(term, columns)})) is not None else read(cell))"
        case Apply(operator, (one,)) if operator.startswith("("):
            return _text(one, columns, kind)
        case Apply(operator, (test, one, two)) if operator == CHOICE:
            values = [_text(value, columns, kind) for value in (one, two)]
            return f"({values[0]} if {_test(test, columns, kind)} else {values[1]})"
        case _:
            return _of_doubles(term, columns) if kind == DOUBLE else _of_integers(term, columns)


def _of_doubles(term: Term, columns: Mapping[Expr, int]) -> str:
    match term:
        case Constant(text) if isfinite(float(text)):
            return f"({float(text)!r})"
        case Index(value):
            return f"float(at[{columns[value]}])"
        case Apply(operator, (one, two)) if operator in _OPERATORS:
            return f"({_text(one, columns, DOUBLE)} {operator} {_text(two, columns, DOUBLE)})"
        case Apply("/", (one, two)):
            return f"other('/', {_text(one, columns, DOUBLE)}, {_text(two, columns, DOUBLE)})"
        case Apply(operator, (one,)) if operator in _FUNCTIONS:
            return f"other({operator[:-2]!r}, {_text(one, columns, DOUBLE)}, 0.0)"
        case Apply("-x", (one,)):
            return f"(-{_text(one, columns, DOUBLE)})"
        case _:
            raise _OtherType


def _of_integers(term: Term, columns: Mapping[Expr, int]) -> str:
    match term:
        case Index(value):
            return f"other('+', at[{columns[value]}], 0)"
        case Apply(operator, (one, two)) if operator in _OPERATORS:
            return f"other({operator!r}, {_text(one, columns, INT)}, {_text(two, columns, INT)})"
        case Apply("-x", (one,)):
            return f"other('-', 0, {_text(one, columns, INT)})"
        case _:
            raise _OtherType


def _test(term: Term, columns: Mapping[Expr, int], kind: CType) -> str:
    """A comparison of numbers of the same type, which is that of all cells that are read."""
    match term:
        case Apply(operator, (one, two)) if operator in COMPARISONS:
            return f"{_text(one, columns, kind)} {operator} {_text(two, columns, kind)}"
        case _:
            raise _OtherType
