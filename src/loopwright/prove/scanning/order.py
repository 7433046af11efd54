"""Obligation 4: no a, b with S(a) < S(b) and E⁻¹(a) > E⁻¹(b), checked along the program's tree.

Two executions are ordered by the innermost construct that contains both: by their places in a block, or by
the iterations of a loop.  So each obligation is about the same values of all outer iterators.  Calls are
compared column by column of their times: those with the same affine function in a column are grouped, and
only what that does not decide goes to isl.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property
from itertools import chain, pairwise, product
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.equalities import AffineForm
from loopwright.prove.scanning.executed import Either, Executed, InOrder, Repeat, Run, common_domain, runs
from loopwright.prove.scanning.meaning import AnyPosition, BandDimension, SequencePosition
from loopwright.prove.scanning.pairs import Slices, all_before, later_parts, misordered
from loopwright.prove.scanning.targets import CallPiece, Entry
from loopwright.prove.scanning.witness import Failure

MANY = 5
"""The number of pieces from which a block is examined as a whole, rather than in pairs."""


class ColumnOrder(Enum):
    """A column of an execution compared with that of a later one."""

    BEFORE = "the later execution has the greater value"
    SAME = "both have the same value"
    UNORDERED = "nothing orders the two"
    UNKNOWN = "it depends on the iterators"


@dataclass(frozen=True, eq=False)
class Meeting:
    """What two executions share: `depth` outer iterators, and the loop of which they are different
    iterations, or None if they are in different parts of a block."""

    depth: int
    loop: Repeat | None
    slices: Slices
    domains: tuple[isl.Set, ...] = ()
    """For each part of the block, the iterators that its calls share."""

    def settled(self, placed: Iterable[Placed], k: int) -> bool:
        """Whether the loop has exactly the marks required of a loop that scans column `k`."""
        return self.loop is None or all(piece.wanted(k) == self.loop.said for _, piece in placed)


Placed: TypeAlias = tuple[int, CallPiece]
"""A piece with the index of its part of the block; in a loop, always 0."""


def order(tree: Executed, pieces: tuple[CallPiece, ...]) -> Iterator[Failure | None]:
    """Yields None for each obligation that holds, and the failure for one that does not."""
    by_run: dict[int, list[CallPiece]] = {}
    for piece in pieces:
        by_run.setdefault(piece.run.position, []).append(piece)
    yield from _order(tree, by_run, Slices())


def _order(tree: Executed, by_run: dict[int, list[CallPiece]], slices: Slices) -> Iterator[Failure | None]:
    match tree:
        case Run():
            return
        case Either(_, parts):
            for part in parts:
                yield from _order(part, by_run, slices)
        case InOrder(domain, parts):
            placed = [(k, piece) for k, part in enumerate(parts) for piece in _pieces(part, by_run)]
            domains = tuple(common_domain(part) for part in parts)
            yield from _columns(placed, 0, Meeting(domain.dim(isl.dim_type.set), None, slices, domains))
            for part in parts:
                yield from _order(part, by_run, slices)
        case Repeat(at, body=body):
            placed = [(0, piece) for piece in _pieces(body, by_run)]
            yield from _columns(placed, 0, Meeting(at, tree, slices))
            yield from _order(body, by_run, slices)
        case _:
            assert_never(tree)


def _pieces(tree: Executed, by_run: dict[int, list[CallPiece]]) -> Iterator[CallPiece]:
    for run in runs(tree):
        yield from by_run.get(run.position, [])


Class: TypeAlias = tuple[Entry, list[Placed]]
"""Pieces with the same column."""


@dataclass(frozen=True, eq=False)
class MeetingColumn:
    """Column `k` of the times of pieces that meet; all columns before it are equal."""

    placed: list[Placed]
    k: int
    meeting: Meeting

    @cached_property
    def later(self) -> frozenset[int]:
        """The parts of a block whose values are greater than all those of earlier parts.

        If there are many parts, isl computes this for all at once, since there are many more pairs.
        """
        if self.meeting.loop is not None or len(self.placed) < MANY:
            return frozenset()
        parts = [(place, pieces) for place, pieces in _by_place(self.placed)]
        return later_parts(parts, self.k, self.meeting.depth, self.meeting.slices)


def _columns(placed: list[Placed], k: int, meeting: Meeting) -> Iterator[Failure | None]:
    """Checks the pairs of `placed`, whose times are equal before column `k`."""
    column = MeetingColumn(placed, k, meeting)
    families = _families(_classes(placed, k), meeting)
    for number, family in enumerate(families):
        in_order = _in_order(family, k, meeting)
        if in_order:
            yield None
        for first, second in zip(family, family, strict=True) if in_order else product(family, repeat=2):
            yield from _class_pairs(first, second, column)
        for other in families[:number]:
            for first, second in chain(product(family, other), product(other, family)):
                yield from _class_pairs(first, second, column)


def _class_pairs(first: Class, second: Class, column: MeetingColumn) -> Iterator[Failure | None]:
    """Checks the pieces of one class against later ones of another, or of the same."""
    meeting = column.meeting
    if not _meet(first[1], second[1], meeting):
        return
    compared = _compare(first[0], second[0], meeting)
    if compared is ColumnOrder.SAME:
        if first[0] != second[0]:
            raise InternalError(Code.INTERNAL, "one function in two forms")
        yield from _columns(first[1], column.k + 1, meeting)
    elif compared is ColumnOrder.UNORDERED or (
        compared is ColumnOrder.BEFORE and meeting.settled(chain(first[1], second[1]), column.k)
    ):
        yield None
    else:
        yield from _pairs(first, second, column)


def _families(classes: dict[Entry, list[Placed]], meeting: Meeting) -> list[list[Class]]:
    """Groups the classes whose columns differ by constants, sorted by these."""
    common = meeting.depth + (meeting.loop is not None)
    found: dict[object, list[tuple[int, Class]]] = {}
    for entry, mine in classes.items():
        match entry:
            case SequencePosition(index) | AnyPosition(index):
                found.setdefault(type(entry), []).append((index, (entry, mine)))
            case (_, AffineForm() as form) if len(form.coefficients) <= common:
                found.setdefault(_direction(form), []).append((form.rest[-1], (entry, mine)))
            case _:
                found[entry] = [(0, (entry, mine))]
    return [[one for _, one in sorted(family, key=lambda item: item[0])] for family in found.values()]


def _in_order(family: list[Class], k: int, meeting: Meeting) -> bool:
    """Whether all classes of a family are in order, as in a block that lists them in order: the number of
    pairs then does not grow quadratically with the statements.  False means unknown."""
    if len(family) < 2:
        return False
    if meeting.loop is not None:
        ends = family[-1][0], family[0][0]
        pieces = chain.from_iterable(mine for _, mine in family)
        return _compare(*ends, meeting) is ColumnOrder.BEFORE and meeting.settled(pieces, k)
    places = [(mine[0][0], mine[-1][0]) for _, mine in family]
    return all(before[1] <= after[0] for before, after in pairwise(places))


def _classes(placed: list[Placed], k: int) -> dict[Entry, list[Placed]]:
    """Groups the pieces by column `k`, starting with the most frequent function.

    A function may be written in several ways if iterators depend on each other; a piece joins a group that it
    fits.
    """
    found: dict[Entry, list[Placed]] = {}
    for place, piece in placed:
        if k < len(piece.entries):
            found.setdefault(piece.entries[k], []).append((place, piece))
    merged: dict[Entry, list[Placed]] = {}
    left = dict(sorted(found.items(), key=lambda item: -len(item[1])))
    for entry in list(left):
        mine = left.pop(entry, [])
        for other, theirs in left.items():
            mine += [one for one in theirs if _agrees(one[1], other, entry)]
            left[other] = [one for one in theirs if not _agrees(one[1], other, entry)]
        if mine:
            merged[entry] = sorted(mine, key=lambda one: one[0])
    return merged


def _agrees(piece: CallPiece, mine: Entry, other: Entry) -> bool:
    """Whether a column of `piece`, which is `mine`, equals `other` as well."""
    if not piece.values.known:
        return False
    match mine, other:
        case (BandDimension(), AffineForm() as form), (BandDimension(), AffineForm() as wanted):
            inside = len(wanted.coefficients) <= piece.values.depth
            return inside and piece.values.normal(wanted) == form
        case _:
            return False


def _meet(mine: list[Placed], theirs: list[Placed], meeting: Meeting) -> bool:
    """Whether one of `mine` can be executed before one of `theirs`."""
    return meeting.loop is not None or mine[0][0] < theirs[-1][0]


def _compare(first: Entry, second: Entry, meeting: Meeting) -> ColumnOrder:
    """Compares column `first` of an execution with column `second` of a later one; all before are equal."""
    match first, second:
        case AnyPosition(a), AnyPosition(b):
            return ColumnOrder.SAME if a == b else ColumnOrder.UNORDERED
        case SequencePosition(a), SequencePosition(b):
            return ColumnOrder.SAME if a == b else ColumnOrder.BEFORE if a < b else ColumnOrder.UNKNOWN
        case (BandDimension(a), earlier), (BandDimension(b), later) if a == b:
            return _compare_forms(earlier, later, meeting)
        case _:
            raise InternalError(
                Code.INTERNAL, "two times that agree so far are not of the same node of the schedule tree"
            )


def _compare_forms(earlier: AffineForm | None, later: AffineForm | None, meeting: Meeting) -> ColumnOrder:
    """The difference of two affine functions of the same outer iterators, and of x < x' in a loop: α x' + c'
    − (α x + c) ≥ α · step + c' − c."""
    if earlier is None or later is None:
        return ColumnOrder.UNKNOWN
    depth, loop = meeting.depth, meeting.loop
    common = depth if loop is None else depth + 1
    if max(len(earlier.coefficients), len(later.coefficients)) > common:
        return ColumnOrder.UNKNOWN
    if _direction(earlier) != _direction(later):
        return ColumnOrder.UNKNOWN
    slope = earlier.coefficients[depth] if len(earlier.coefficients) > depth else 0
    least = (0 if loop is None else slope * loop.step) + later.rest[-1] - earlier.rest[-1]
    if slope >= 0 and least > 0:
        return ColumnOrder.BEFORE
    return ColumnOrder.SAME if slope == 0 and least == 0 else ColumnOrder.UNKNOWN


def _direction(form: AffineForm) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """A function without its constant."""
    return form.coefficients, form.rest[:-1], form.denominator


def _pairs(first: Class, second: Class, column: MeetingColumn) -> Iterator[Failure | None]:
    """Checks piece by piece; in a block, first all pieces of two parts together."""
    meeting = column.meeting
    for place, mine in _by_place(first[1]):
        for other_place, theirs in _by_place(second[1]):
            if meeting.loop is None and place >= other_place:
                continue
            if other_place in column.later:
                yield None
                continue
            if meeting.loop is None and len(mine) * len(theirs) > 1:
                whole = (first[0], meeting.domains[place]), (second[0], meeting.domains[other_place])
                if all_before(*whole, meeting.depth):
                    yield None
                    continue
            for piece in mine:
                for other in theirs:
                    yield misordered(piece, other, column.k, meeting.depth, meeting.loop, meeting.slices)


def _by_place(placed: list[Placed]) -> list[tuple[int, list[CallPiece]]]:
    found: dict[int, list[CallPiece]] = {}
    for place, piece in placed:
        found.setdefault(place, []).append(piece)
    return list(found.items())
