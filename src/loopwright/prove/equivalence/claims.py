"""Claims in a proof by values: pairs of points at which two terms are equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.prove.equivalence.accumulation import CombiningStep
from loopwright.prove.equivalence.definedness import Operation
from loopwright.prove.equivalence.flow import ValueDefinition
from loopwright.prove.equivalence.terms import Term

MOST_VISITS = 4
"""How often a claim may grow without being widened."""


@dataclass(frozen=True, eq=False)
class TermPoint:
    """A term at the instances of a definition."""

    definition: ValueDefinition
    term: Term


class Mismatch(Exception):
    """A claim that is false or not shown; `pairs` are the points it is about."""

    def __init__(
        self,
        old: TermPoint,
        new: TermPoint,
        pairs: isl.Map,
        reason: str,
        sizes: tuple[dict[str, int], ...] = (),
    ) -> None:
        super().__init__(reason)
        self.old, self.new, self.pairs, self.reason, self.sizes = old, new, pairs, reason, sizes


@dataclass(frozen=True, eq=False)
class PairClaim:
    pairs: isl.Map
    visits: int


Key: TypeAlias = tuple[str, Term, str, Term]
Bag: TypeAlias = list[tuple[int, Term]]
"""The terms of a sum with their signs."""


@dataclass(frozen=True, eq=False)
class Claims:
    """The claims made, and the operations of NEW that OLD computes with the same operands."""

    made: Mapping[Key, PairClaim] = field(default_factory=dict)
    answered: Mapping[tuple[Operation, Operation], isl.Map] = field(default_factory=dict)
    reordered: Mapping[Operation, isl.Set] = field(default_factory=dict)
    """Operations and reads with which NEW combines in another order what OLD combines, and their points."""
    assumed: tuple[str, ...] = ()
    """Assumptions on the numbers in them."""

    def with_answer(self, old: Operation, new: Operation, pairs: isl.Map) -> Claims:
        known = self.answered.get((old, new))
        found = pairs if known is None else known.union(pairs).coalesce()
        return replace(self, answered={**self.answered, (old, new): found})

    def with_reordered(self, steps: Iterable[CombiningStep], assumed: tuple[str, ...]) -> Claims:
        found = dict(self.reordered)
        for step in steps:
            for term in step.terms:
                key = (step.definition.name, term)
                found[key] = found[key].union(step.points).coalesce() if key in found else step.points
        return replace(self, reordered=found, assumed=tuple(dict.fromkeys((*self.assumed, *assumed))))


def widened(old: TermPoint, new: TermPoint, known: PairClaim | None, pairs: isl.Map) -> Iterator[isl.Map]:
    """Yields what to claim instead of `pairs`, the strongest claim first."""
    if known is None:
        yield pairs
        return
    both = known.pairs.union(pairs)
    seen: list[isl.Map] = []
    for hull in (isl.Map.from_basic_map(both.affine_hull()), _stable(known.pairs, pairs)):
        wider = hull.intersect_domain(old.definition.domain).intersect_range(new.definition.domain)
        wider = wider.union(both).coalesce()
        if not any(wider.is_equal(other) for other in seen):
            seen.append(wider)
            yield wider
    if known.visits < MOST_VISITS:
        yield both.coalesce()


def _stable(known: isl.Map, pairs: isl.Map) -> isl.Map:
    """The constraints of the known claim that still hold."""
    kept = isl.BasicMap.universe(known.get_space())
    pairs = pairs.remove_redundancies()  # isl 0.27 fails on some with one remainder written twice
    for constraint in known.simple_hull().get_constraints():
        one = isl.BasicMap.universe(known.get_space()).add_constraint(constraint)
        if pairs.is_subset(isl.Map.from_basic_map(one)):
            kept = kept.intersect(one)
    return isl.Map.from_basic_map(kept)
