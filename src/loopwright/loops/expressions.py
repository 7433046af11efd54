"""Integer expressions and tests of LOOP [Courant2021, figure 9], with C's arithmetic spelled out.

Every operator has exactly the meaning of the C operator it is printed as, so the printer need not be trusted:
`FloorDiv` rounds towards minus infinity, `TruncDiv` and `Rem` are C's `/` and `%`.  Integers are unbounded.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Int:
    value: int


@dataclass(frozen=True, slots=True)
class Var:
    """A loop iterator or a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Scaled:
    """`factor * argument`, the factor a constant."""

    factor: int
    argument: Expr


@dataclass(frozen=True, slots=True)
class FloorDiv:
    """⌊argument / divisor⌋, the divisor positive."""

    argument: Expr
    divisor: int


@dataclass(frozen=True, slots=True)
class TruncDiv:
    """C's `argument / divisor`, the divisor positive: rounds towards zero."""

    argument: Expr
    divisor: int


@dataclass(frozen=True, slots=True)
class Rem:
    """C's `argument % divisor`, the divisor positive: has the sign of the argument."""

    argument: Expr
    divisor: int


@dataclass(frozen=True, slots=True)
class Min:
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Max:
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Select:
    """`test ? then : orelse`."""

    test: Test
    then: Expr
    orelse: Expr


Expr: TypeAlias = Int | Var | Sum | Scaled | FloorDiv | TruncDiv | Rem | Min | Max | Select


class Relation(Enum):
    EQ = "=="
    NE = "!="
    LE = "<="
    LT = "<"
    GE = ">="
    GT = ">"

    __hash__ = object.__hash__  # that of Enum is written in Python, and formulas are hashed often


MIRRORED = {one: Relation(one.value.translate(str.maketrans("<>", "><"))) for one in Relation}
"""a R b holds where b MIRRORED[R] a does."""
NEGATED = {Relation.EQ: Relation.NE, Relation.LE: Relation.GT, Relation.LT: Relation.GE}
NEGATED |= {other: one for one, other in NEGATED.items()}


@dataclass(frozen=True, slots=True)
class Compare:
    relation: Relation
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class And:
    """True when all arguments are; `And(())` is the test that always holds."""

    arguments: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True when one argument is; `Or(())` is the test that never holds."""

    arguments: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Not:
    argument: Test


Test: TypeAlias = Compare | And | Or | Not

TRUE = And(())
FALSE = Or(())
