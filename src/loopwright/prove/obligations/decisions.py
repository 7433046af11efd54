"""Decisions: a function given in pieces, as a tree of inequalities.

A prover that is not isl wants one inequality at a time: with `cases` on each, every branch has a
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


def decided(region: isl.Set, pieces: Sequence[tuple[isl.Set, T]], names: Sequence[str]) -> Decision[T] | None:
    """Which of `pieces` a point of `region` is in; None where there are no pieces.

    Where no piece holds the point the answer is any of them, which the user of the answer detects.
    """
    if not pieces:
        return None
    if len(pieces) == 1:
        return Decided(pieces[0][1])
    tree = _decided(region, list(pieces), list(_splits([domain for domain, _ in pieces], names)))
    return _merged(tree)


def _decided(region: isl.Set, pieces: list[tuple[isl.Set, T]], splits: list[_Split]) -> Decision[T]:
    for domain, value in pieces:
        if region.is_subset(domain):
            return Decided(value)
    useful: list[tuple[int, int, _Split, isl.Set, isl.Set]] = []
    for number, split in enumerate(splits):
        yes, no = region.intersect(split.yes), region.intersect(split.no)
        if yes.is_empty() or no.is_empty():
            continue
        counts = len(_inside(yes, pieces)), len(_inside(no, pieces))
        useful.append((sum(counts) * 64 + max(counts), number, split, yes, no))
    if not useful:
        return Decided(pieces[0][1])
    _, chosen, split, yes, no = min(useful, key=lambda item: item[:2])
    left = [one for _, number, one, _, _ in useful if number != chosen]
    return Cases(
        split.test,
        _decided(yes, _inside(yes, pieces) or pieces[:1], left),
        _decided(no, _inside(no, pieces) or pieces[:1], left),
    )


def _inside(region: isl.Set, pieces: list[tuple[isl.Set, T]]) -> list[tuple[isl.Set, T]]:
    return [piece for piece in pieces if not region.is_disjoint(piece[0])]


def _splits(domains: Sequence[isl.Set], names: Sequence[str]) -> Iterator[_Split]:
    """The inequalities that the pieces are made of, each once, with their two sides."""
    seen: set[Compare] = set()
    for domain in domains:
        for piece in domain.compute_divs().get_basic_sets():
            for constraint in piece.get_constraints():
                aff = constraint.get_aff()
                for one in (aff, aff.neg()) if constraint.is_equality() else (aff,):
                    test = at_most(inequality_of(isl.Constraint.inequality_from_aff(one), names))
                    if test not in seen:
                        seen.add(test)
                        yes = isl.PwAff.from_aff(one).nonneg_set()
                        yield _Split(test, yes, yes.complement())


def at_most(test: Compare) -> Compare:
    """a < b as a + 1 ≤ b."""
    if test.relation is Relation.LE:
        return test
    if test.relation is not Relation.LT:
        raise ValueError("only inequalities are decided")
    return Compare(Relation.LE, Sum((test.left, Int(1))), test.right)


def _merged(tree: Decision[T]) -> Decision[T]:
    """Without a case whose two answers are the same."""
    match tree:
        case Cases(test, yes, no):
            yes, no = _merged(yes), _merged(no)
            return yes if yes == no else Cases(test, yes, no)
        case _:
            return tree


def choices(tree: Decision[T]) -> Iterator[tuple[tuple[tuple[Compare, bool], ...], T]]:
    """The leaves, each with the inequalities on the way and whether they hold there."""
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
    """Not a ≤ b."""
    if test.relation is not Relation.LE:
        raise ValueError("only inequalities are decided")
    return Compare(Relation.GT, test.left, test.right)
