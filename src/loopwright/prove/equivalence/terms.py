"""The value of an assignment as a tree: operations on cells, constants and integer expressions.

A term is a value together with its type; each conversion in C is an operation of its own, `(float)`.  So two
terms with equal parts and the same operator are equal, and a value may be substituted for the variable that
holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeAlias, TypeVar

from loopwright.c.types import CType, Unknown
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr

_NOT_LOOKED_FOR = Unknown("the type of an input is that of its cell")


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that is not an integer, in its canonical spelling."""

    text: str
    type: CType


@dataclass(frozen=True, slots=True)
class Index:
    """An integer expression of iterators and parameters, converted to `type`."""

    value: Expr
    type: CType


@dataclass(frozen=True, slots=True)
class CellTerm:
    """The value of a variable or array element when the statement executes."""

    array: str
    subscripts: tuple[Expr, ...]
    type: CType


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator, conversion or function applied to values."""

    operator: str
    arguments: tuple[Term, ...]
    type: CType


@dataclass(frozen=True, slots=True)
class InputTerm:
    """The value of a cell before the region; the cell is the point at which the term is."""

    array: str
    type: CType = _NOT_LOOKED_FOR


Term: TypeAlias = Constant | Index | CellTerm | Apply | InputTerm

Part = TypeVar("Part")
COMMUTATIVE = frozenset("+*")
CHOICE = "?:"


def subterms(term: Term) -> Iterator[Term]:
    """Yields `term` and all terms inside it."""
    yield term
    if isinstance(term, Apply):
        for argument in term.arguments:
            yield from subterms(argument)


def shape_of(
    term: Term, parts: list[Part], index: Callable[[Index], Part], cell: Callable[[CellTerm], Part]
) -> Term:
    """The term without its cells and integers, which are converted and appended to `parts` in order."""
    match term:
        case Constant():
            return term
        case Index(_, kind):
            parts.append(index(term))
            return Constant("an integer", kind)
        case CellTerm(_, _, kind):
            parts.append(cell(term))
            return Constant("a cell", kind)
        case Apply(operator, arguments, kind):
            return Apply(operator, tuple(shape_of(one, parts, index, cell) for one in arguments), kind)
        case InputTerm():
            raise AssertionError("a statement reads cells")


@dataclass(frozen=True)
class TermAssignment:
    """`target` = `value`; the value has been converted to the type of the target."""

    target: CellTerm
    value: Term
    is_conditional: bool = False
    """If nothing is assigned, the value is that of the target itself."""

    @cached_property
    def cells(self) -> tuple[CellTerm, ...]:
        """The cells read."""
        return tuple(part for part in subterms(self.value) if isinstance(part, CellTerm))


def shown(term: Term) -> str:
    """The term for messages; cells are shown without the values of their subscripts."""
    match term:
        case Constant(text):
            return text
        case Index():
            return "an integer expression"
        case CellTerm(array, subscripts):
            return array + "[...]" * len(subscripts)
        case InputTerm(array):
            return f"{array} as it was before the region"
        case Apply(operator, (first, second)) if not operator[0].isalnum() and operator[0] != "(":
            return f"{shown(first)} {operator} {shown(second)}"
        case Apply(operator, arguments):
            return f"{operator}({', '.join(map(shown, arguments))})"
