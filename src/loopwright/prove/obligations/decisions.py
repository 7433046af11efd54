"""Decision trees: a piecewise function as a tree of inequalities.

Provers other than isl work best with one inequality at a time: with `cases` on each, every branch has a
conjunction to deal with, and in every leaf it is known which piece applies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Int, Relation, Sum
from loopwright.prove.obligations.formulas import inequality_of

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Decided(Generic[T]):
    value: T


@dataclass(frozen=True)
class Cases(Generic[T]):
    test: Compare
    """An inequality a ≤ b."""
    yes: Decision[T]
    no: Decision[T]


Decision: TypeAlias = Decided[T] | Cases[T]


@dataclass(frozen=True, eq=False)
class _Split:
    test: Compare
    yes: isl.Set
    no: isl.Set
    within: set[int]
    """Pieces defined by this inequality, alone or with others, so that it holds in them."""


def decided(region: isl.Set, pieces: Sequence[tuple[isl.Set, T]], names: Sequence[str]) -> Decision[T] | None:
    """Decides which of `pieces` contains a point of `region`; returns None if there are no pieces.

    If no piece contains the point, the answer is any of them, which the user of the answer detects.
    """
    if not pieces:
        return None
    if len(pieces) == 1:
        return Decided(pieces[0][1])
    splits = list(_splits([domain for domain, _ in pieces], names))
    return _merged(_Deciding(pieces, splits).tree(region, range(len(pieces)), range(len(splits))))


class _Deciding(Generic[T]):
    """Pieces and splits by number, caching on which sides of a split a piece has points."""

    def __init__(self, pieces: Sequence[tuple[isl.Set, T]], splits: Sequence[_Split]) -> None:
        self.pieces = pieces
        self.splits = splits
        self.apart: dict[tuple[int, int, bool], bool] = {}

    def tree(self, region: isl.Set, pieces: Sequence[int], splits: Sequence[int]) -> Decision[T]:
        for piece in pieces:
            if region.is_subset(self.pieces[piece][0]):
                return Decided(self.pieces[piece][1])
        within = self._within(region, pieces)
        left = sorted(splits, key=lambda number: (self._cost(within, number), number))
        while left:
            chosen = self.splits[left.pop(0)]
            sides = region.intersect(chosen.yes), region.intersect(chosen.no)
            if not any(side.is_empty() for side in sides):
                below = [self.tree(side, self._within(side, within) or pieces[:1], left) for side in sides]
                return Cases(chosen.test, below[0], below[1])
        return Decided(self.pieces[pieces[0]][1])

    def _within(self, region: isl.Set, pieces: Sequence[int]) -> list[int]:
        return [piece for piece in pieces if not region.is_disjoint(self.pieces[piece][0])]

    def _cost(self, pieces: Sequence[int], split: int) -> int:
        """The cost of a split: how many pieces have points on each side, in this region or elsewhere."""
        sides = ([self._is_apart(one, split, holds=holds) for one in pieces] for holds in (True, False))
        counts = [side.count(False) for side in sides]
        return sum(counts) * 64 + max(counts)

    def _is_apart(self, piece: int, split: int, *, holds: bool) -> bool:
        """Whether a nonempty piece has no points on a side of a split."""
        one = self.splits[split]
        if piece in one.within:
            return not holds
        key = (piece, split, holds)
        if key not in self.apart:
            if self.apart.get((piece, split, not holds)):
                return False
            self.apart[key] = self.pieces[piece][0].is_disjoint(one.yes if holds else one.no)
        return self.apart[key]


def _splits(domains: Sequence[isl.Set], names: Sequence[str]) -> Iterator[_Split]:
    """Yields the distinct inequalities that define the pieces, with their two sides."""
    seen: dict[Compare, _Split] = {}
    for number, domain in enumerate(domains):
        parts = domain.compute_divs().get_basic_sets()
        for piece in parts:
            for constraint in piece.get_constraints():
                aff = constraint.get_aff()
                for one in (aff, aff.neg()) if constraint.is_equality() else (aff,):
                    test = at_most(inequality_of(isl.Constraint.inequality_from_aff(one), names))
                    if test not in seen:
                        yes = isl.PwAff.from_aff(one).nonneg_set()
                        seen[test] = _Split(test, yes, yes.complement(), set())
                    if len(parts) == 1:
                        seen[test].within.add(number)
    yield from seen.values()


def at_most(test: Compare) -> Compare:
    """Rewrites a < b as a + 1 ≤ b."""
    if test.relation is Relation.LE:
        return test
    if test.relation is not Relation.LT:
        raise ValueError("only inequalities are decided")
    return Compare(Relation.LE, Sum((test.left, Int(1))), test.right)


def _merged(tree: Decision[T]) -> Decision[T]:
    """The tree without cases whose two answers are equal."""
    match tree:
        case Cases(test, yes, no):
            yes, no = _merged(yes), _merged(no)
            return yes if yes == no else Cases(test, yes, no)
        case _:
            return tree


def choices(tree: Decision[T]) -> Iterator[tuple[tuple[tuple[Compare, bool], ...], T]]:
    """Yields the leaves, each with the inequalities on its path and whether they hold there."""
    match tree:
        case Decided(value):
            yield (), value
        case Cases(test, yes, no):
            for holds, branch in ((True, yes), (False, no)):
                for way, value in choices(branch):
                    yield ((test, holds), *way), value


def mapped(tree: Decision[T], function: Callable[[T], U]) -> Decision[U]:
    match tree:
        case Decided(value):
            return Decided(function(value))
        case Cases(test, yes, no):
            return Cases(test, mapped(yes, function), mapped(no, function))


def opposite(test: Compare) -> Compare:
    """The negation of a ≤ b."""
    if test.relation is not Relation.LE:
        raise ValueError("only inequalities are decided")
    return Compare(Relation.GT, test.left, test.right)
