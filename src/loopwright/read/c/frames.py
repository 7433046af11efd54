"""The context of the reader in a region: the enclosing loops, the domain, the position.

It also defines the error for an expression there that is not affine.
"""

from __future__ import annotations

from dataclasses import field, replace

import islpy as isl

from loopwright.c.reworded.row_pointers import RowPointer
from loopwright.c.syntax import Node, refuse
from loopwright.c.types import CType
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.polynomials import Polynomial
from loopwright.read.c.names import Setting
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class Loop:
    """A `for` around the reader; `direction` is 1 if it counts up, -1 if it counts down."""

    iterator: str
    direction: int
    place: Span
    type: str = "int"


@dataclass(frozen=True)
class LocalValue:
    """A name that denotes an expression; `definition` is its source, if it has one here.

    The expression is affine, or else a `polynomial`.
    """

    name: str
    value: isl.PwAff | None
    definition: Node | None = None
    type: str = "int"
    polynomial: Polynomial | None = None
    row: RowPointer | None = None
    """The row of a local pointer, which has no value."""


@dataclass(frozen=True)
class Frame:
    """`domain` is the set of values of iterators and parameters that reach this place.

    `positions` are those of the loops around, p0 to p(d-1) of [Namjoshi2016, section 3.2]; `values` are
    the local integers known to be affine.
    """

    setting: Setting
    domain: isl.Set
    loops: tuple[Loop, ...] = ()
    positions: tuple[int, ...] = ()
    values: tuple[LocalValue, ...] = ()
    in_head: bool = False
    """Whether this is the head of a loop, where any invariant expression is a parameter."""
    in_test: bool = False
    """Whether this is the test of an `if`, which may be kept whole."""
    affine_values: dict[str, isl.PwAff] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The values found so far of expressions here, by their text; text and frame determine them."""
    types: dict[str, CType] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The types found so far of expressions here, by their text."""

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(loop.iterator for loop in self.loops)

    def value(self, name: str) -> isl.PwAff | None:
        """The value of a local integer or of a macro that is known to be an affine expression."""
        found = self.local(name)
        return None if found is None else found.value

    def local(self, name: str) -> LocalValue | None:
        return next((item for item in reversed(self.values) if item.name == name), None)

    def where(self, test: isl.Set) -> Frame:
        """The frame inside an `if`."""
        return replace(self, domain=self.domain.intersect(test).coalesce())

    def bind(self, value: LocalValue) -> Frame:
        """The frame after `type name = definition;`."""
        return replace(self, values=(*self.values, value))

    def inside(self, loop: Loop, position: int, domain: isl.Set) -> Frame:
        """The frame in the body of `loop`, the `position`-th child of its surroundings."""
        return replace(self, loops=(*self.loops, loop), positions=(*self.positions, position), domain=domain)

    def known(self) -> isl.Set:
        """All constraints known here, including the context."""
        return self.domain.intersect(self.setting.context)


ACCEPTED = (
    "accepted: sums of iterators and parameters with constant factors, / and % by constants, "
    "min, max, floord, ceild, and c ? a : b"
)


class NotAffine(Exception):
    """Raised if `node` is not a quasi-affine expression, because of `reason`; `hint` says how to fix it."""

    def __init__(self, node: Node, reason: str, hint: str = ACCEPTED) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason
        self.hint = hint


def not_affine(failure: NotAffine, what: str) -> BadInput:
    """The error for an expression that must be affine."""
    return refuse(
        failure.node,
        f"{what} must be affine in the iterators and parameters, but {failure.reason}",
        failure.hint,
        code=Code.NOT_AFFINE,
    )
