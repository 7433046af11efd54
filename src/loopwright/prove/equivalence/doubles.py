"""Statements on doubles alone as functions of Python, some ten times as fast as what knows all types of C."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

from loopwright.c.types import DOUBLE
from loopwright.loops.expressions import Expr
from loopwright.prove.equivalence.terms import Apply, CellTerm, Constant, Index, Term, TermAssignment

Cell: TypeAlias = tuple[str, tuple[int, ...]]
Run: TypeAlias = Callable[
    [Sequence[int], dict[Cell, float], Callable[[Cell], float], Callable[[str, float, float], float]], None
]
"""Of the values of its columns, what cells hold, what they held at first, and quotients and functions."""
_OPERATORS = ("+", "-", "*")
_FUNCTIONS = ("sqrt()", "exp()", "fabs()")


def in_doubles(assignments: tuple[TermAssignment, ...], columns: Mapping[Expr, int]) -> Run | None:
    """What a statement does to cells; None where it computes in other types, or otherwise."""
    lines = ["def run(at, memory, read, other):", "    get = memory.get"]
    try:
        for one in assignments:
            if one.target.type != DOUBLE:
                return None
            value = _text(one.value, columns)
            lines.append(f"    memory[{_place(one.target, columns)}] = {value}")
    except _NotDouble:
        return None
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<doubles>", "exec"), space)
    run: Run = space["run"]
    return run


class _NotDouble(Exception):
    """A term of another type, or an operation that is not written here."""


def _place(cell: CellTerm, columns: Mapping[Expr, int]) -> str:
    subscripts = "".join(f"at[{columns[one]}]," for one in cell.subscripts)
    return f"({cell.array!r}, ({subscripts}))"


def _text(term: Term, columns: Mapping[Expr, int]) -> str:
    if term.type != DOUBLE:
        raise _NotDouble
    match term:
        case Constant(text) if isfinite(float(text)):
            return f"({float(text)!r})"
        case Index(value):
            return f"float(at[{columns[value]}])"
        case CellTerm():
            return f"(was if (was := get(cell := {_place(term, columns)})) is not None else read(cell))"
        case Apply(operator, (one, two)) if operator in _OPERATORS:
            return f"({_text(one, columns)} {operator} {_text(two, columns)})"
        case Apply("/", (one, two)):
            return f"other('/', {_text(one, columns)}, {_text(two, columns)})"
        case Apply(operator, (one,)) if operator in _FUNCTIONS:
            return f"other({operator[:-2]!r}, {_text(one, columns)}, 0.0)"
        case Apply("-x", (one,)):
            return f"(-{_text(one, columns)})"
        case Apply(operator, (one,)) if operator.startswith("("):
            return _text(one, columns)
        case _:
            raise _NotDouble
