"""What a program is made of."""

from __future__ import annotations

from dataclasses import fields
from typing import assert_never

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import Term, operands, subprograms, subterms, terms


@dataclass(frozen=True, slots=True)
class Size:
    """How often each construct occurs in the text of a program."""

    loops: int = 0
    ifs: int = 0
    elses: int = 0
    calls: int = 0
    """Copies of statements."""
    min_max: int = 0
    """Minima and maxima of two arguments; one of three counts twice, as it is printed."""
    remainders: int = 0
    floor_divisions: int = 0
    divisions: int = 0
    selects: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Size)))


def size(node: Node) -> Size:
    """The static counts of `node` and everything inside it."""
    total = Size()
    for part in subprograms(node):
        total += _own_size(part)
        for term in terms(part):
            total += sum((_term_size(subterm) for subterm in subterms(term)), Size())
    return total


def _own_size(node: Node) -> Size:
    match node:
        case Call():
            return Size(calls=1)
        case For():
            return Size(loops=1)
        case If(orelse=None):
            return Size(ifs=1)
        case If():
            return Size(ifs=1, elses=1)
        case Block() | Let() | Remarked():
            return Size()
        case _:
            assert_never(node)


def _term_size(term: Term) -> Size:
    match term:
        case ex.Min(arguments) | ex.Max(arguments):
            return Size(min_max=len(arguments) - 1)
        case ex.Rem():
            return Size(remainders=1)
        case ex.FloorDiv():
            return Size(floor_divisions=1)
        case ex.TruncDiv():
            return Size(divisions=1)
        case ex.Select():
            return Size(selects=1)
        case _:
            return Size()


def operations(term: ex.Expr | ex.Test) -> int:
    """How many operations computing `term` takes; of a `Select`, both sides count."""
    inner = sum(operations(operand) for operand in operands(term))
    match term:
        case ex.Int() | ex.Var():
            return 0
        case ex.Sum(parts) | ex.Min(parts) | ex.Max(parts):
            return inner + max(len(parts) - 1, 0)
        case ex.And(tests) | ex.Or(tests):
            return inner + max(len(tests) - 1, 0)
        case ex.Scaled() | ex.FloorDiv() | ex.TruncDiv() | ex.Rem() | ex.Select() | ex.Compare() | ex.Not():
            return inner + 1
        case _:
            assert_never(term)
