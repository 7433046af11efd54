"""Shadows: what the number for a cell encodes about the writes to it, and where it is stored.

Statements that no operation can distinguish are grouped first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import islpy as isl

from loopwright.c.syntax import without_parentheses
from loopwright.check.original.solving import linear_row
from loopwright.check.original.specification import FixedAccess, Specification, Stated, box, unnamed
from loopwright.check.original.structure import match_assignments
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import union


@dataclass(frozen=True)
class Group:
    """Statements of one text and one set of access functions, on disjoint domains."""

    number: int
    members: tuple[Stated, ...]
    domain: isl.Set
    """The union of the domains, unnamed."""

    @property
    def first(self) -> Stated:
        return self.members[0]

    @property
    def depth(self) -> int:
        return self.first.depth


def group_of(groups: tuple[Group, ...], statement: Stated) -> Group:
    return next(group for group in groups if statement in group.members)


def alone(spec: Specification) -> tuple[Group, ...]:
    """Return one group for each statement."""
    return tuple(Group(s.number, (s,), unnamed(s.domain)) for s in spec.statements)


def groups_of(spec: Specification) -> tuple[Group, ...]:
    members: list[list[Stated]] = []
    for statement in spec.statements:
        for group in members:
            if _same_text(spec, group[0], statement) and _can_join(group, statement):
                group.append(statement)
                break
        else:
            members.append([statement])
    return tuple(
        Group(number, tuple(group), union(unnamed(one.domain) for one in group).coalesce())
        for number, group in enumerate(members)
    )


def _same_text(spec: Specification, one: Stated, other: Stated) -> bool:
    """Whether the same sites are candidates for both, with iterators at the same places."""
    if one.depth != other.depth:
        return False
    holes = match_assignments(spec.side, one.assignment, one.symbols, spec.side, other.assignment)
    if holes is None:
        return False
    pairs = [(name, without_parentheses(node).text) for name, node in holes]
    return all(
        text in other.symbols and one.symbols.index(name) == other.symbols.index(text) for name, text in pairs
    )


def _can_join(group: list[Stated], statement: Stated) -> bool:
    """Equal affine access functions, and no iteration in common."""
    first = group[0]
    touched = zip((first.write, *first.reads), (statement.write, *statement.reads), strict=True)
    return all(_same_function(one, other, first.depth) for one, other in touched) and all(
        unnamed(member.domain).is_disjoint(unnamed(statement.domain)) for member in group
    )


def _same_function(one: FixedAccess, other: FixedAccess, depth: int) -> bool:
    if one.array != other.array:
        return False
    pairs = zip(one.subscripts, other.subscripts, strict=True)
    rows = [(linear_row(a, depth), linear_row(b, depth)) for a, b in pairs]
    return all(first is not None and first == second for first, second in rows)


class Scheme(Protocol):
    """An encoding of shadows; the generated C refers to the iterators, or the subscripts, by `names`.

    0 means that the cell has not been written.  `size` is the number of bytes of a shadow cell by array.
    """

    @property
    def name(self) -> str: ...

    @property
    def groups(self) -> tuple[Group, ...]: ...

    @property
    def size(self) -> dict[str, int]: ...

    def fits_int(self, group: Group) -> bool:
        """Whether `before`, `source` and `after` can be computed in int arithmetic on the domain."""

    def before(self, group: Group, names: Sequence[str]) -> str:
        """The shadow of the cell that an instance writes, before the write."""

    def source(self, group: Group, read: int, names: Sequence[str]) -> str:
        """The shadow of the cell of a read."""

    def after(self, group: Group, names: Sequence[str]) -> str:
        """The shadow of the cell after the write; `c` is its old value."""

    def last(self, array: str, names: Sequence[str]) -> str:
        """The shadow of a cell of the WriteSet at the end."""

    def linear_before(self, group: Group) -> isl.PwAff | None:
        """`before` if it is linear and may help to determine the iterators."""

    def linear_source(self, group: Group, read: int) -> isl.PwAff | None:
        """`source` if it is linear and may help to determine the iterators."""

    def guess(self, group: Group, free: tuple[int, ...], names: Sequence[str]) -> tuple[str, ...]:
        """Compute the iterators that nothing else determines from the shadow and the cell; raises GaveUp if
        it cannot."""


FIRST_PLACE = 0x100000000000
ROOM = 1 << 38


@dataclass(frozen=True)
class Shadow:
    """The location of the shadow of an array: cell w is at `address` + `size` · its row-major position.

    Every shadow has a quarter of a terabyte of address space to itself: a subscript far out of bounds causes
    a fault, which the precise run then explains, and never hits another shadow.
    """

    array: str
    address: int
    size: int
    extent: tuple[tuple[int, int], ...]

    @property
    def bytes(self) -> int:
        cells = 1
        for low, high in self.extent:
            cells *= high - low + 1
        return cells * self.size

    def cell(self, texts: Sequence[str]) -> str:
        """The shadow of the cell with these subscripts, an lvalue."""
        index = "0"
        for text, (low, high) in zip(texts, self.extent, strict=True):
            own = text if low == 0 else f"({text} - {low})" if low > 0 else f"({text} + {-low})"
            index = own if index == "0" else f"({index}) * {high - low + 1}L + {own}"
        return f"((lw_code{self.size} *){self.address:#x}UL)[{index}]"

    def compared(self, texts: Sequence[str], code: str) -> str:
        """A statement that records an error if the shadow of the cell is not `code`.

        It computes in the width of the shadow: the narrower, the more of them fit into a vector register.
        """
        return f"dif{self.size} |= {self.cell(texts)} ^ (lw_code{self.size})({code})"


def shadows(spec: Specification, scheme: Scheme) -> dict[str, Shadow]:
    """Return the shadow of every array that is written; raises GaveUp if one is too large."""
    found: dict[str, Shadow] = {}
    for number, array in enumerate(spec.written):
        cells = spec.footprint(array)
        if cells.is_empty():
            continue
        shadow = Shadow(array, FIRST_PLACE + number * ROOM + ROOM // 4, scheme.size[array], box(cells))
        if shadow.bytes > ROOM // 4:
            raise GaveUp(
                Code.SIZE, f"the shadow of {array} is too large", hint="check a smaller problem size"
            )
        found[array] = shadow
    return found
