"""What a program is made of."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Call, For, If, Node
from loopwright.loops.traverse import operands, subprograms


@dataclass(frozen=True, slots=True)
class Size:
    """How often each construct occurs in the text of a program."""

    loops: int = 0
    ifs: int = 0
    calls: int = 0
    """Copies of statements."""


def size(node: Node) -> Size:
    """The static counts of `node` and everything inside it."""
    kinds = Counter(map(type, subprograms(node)))
    return Size(kinds[For], kinds[If], kinds[Call])


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
