"""Encodes what assignments compute in doubles, for `measured` in `after_runs.c`.

A formula is a row of operations in postfix order.  What is not arithmetic of doubles has none.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator

from loopwright.c.types import DOUBLE, INT, LONG, CType
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.equivalence.terms import (
    Apply,
    CellTerm,
    Constant,
    Index,
    Term,
    TermAssignment,
    subterms,
)

PART, WHOLE, NUMBER, PLUS, MINUS, TIMES, QUOTIENT, NEGATIVE, DONE = range(9)
OPERATIONS = {"+": PLUS, "-": MINUS, "*": TIMES, "/": QUOTIENT}
MOST_OPERANDS = 64
"""The same limit as in `after_runs.c`, for cells and numbers in an assignment: its formula stacks no more."""


class NotInDoubles(Exception):
    """A value that is computed otherwise, or a type that is not known."""


@dataclass(frozen=True)
class Formulas:
    """The formulas one after the other, and where that of each shape begins; -1 where it has none."""

    rows: tuple[int, ...]
    where: tuple[int, ...]


def formulas_of(assignments: Iterable[TermAssignment]) -> Formulas:
    """The formulas of assignments, one of each shape in the order of their numbers."""
    rows: list[int] = []
    where: list[int] = []
    for one in assignments:
        try:
            row = formula(one.value, one.target.type)
        except NotInDoubles:
            where.append(-1)
        else:
            where.append(len(rows))
            rows += row
    return Formulas(tuple(rows), tuple(where))


def formula(value: Term, kind: CType) -> list[int]:
    """The operations of an assignment to a cell of this type; raises `NotInDoubles`."""
    if kind != DOUBLE or value.type != DOUBLE:
        raise NotInDoubles
    if sum(not isinstance(one, Apply) for one in subterms(value)) > MOST_OPERANDS:
        raise NotInDoubles
    return [*_operations(value), DONE]


def _operations(term: Term) -> Iterator[int]:
    match term:
        case Constant(text, kind) if kind == DOUBLE:
            number = float(text)
            if not math.isfinite(number):
                raise NotInDoubles
            yield from (NUMBER, struct.unpack("q", struct.pack("d", number))[0])
        case Index(_, kind) if kind in (DOUBLE, INT, LONG):
            yield WHOLE
        case CellTerm(_, _, kind) if kind == DOUBLE:
            yield PART
        case Apply("(double)", (one,), kind) if kind == DOUBLE:
            yield from _operations(one)
        case Apply(("+x" | "-x") as operator, (one,), kind) if kind == DOUBLE == one.type:
            yield from _operations(one)
            if operator == "-x":
                yield NEGATIVE
        case Apply(operator, (one, other), kind) if operator in OPERATIONS and kind == DOUBLE:
            if DOUBLE not in (one.type, other.type):
                raise NotInDoubles
            yield from _operations(one)
            yield from _operations(other)
            yield OPERATIONS[operator]
        case _:
            raise NotInDoubles
