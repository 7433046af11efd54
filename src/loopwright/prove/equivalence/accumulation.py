"""Accumulated values as bags of the terms that they combine, for all sizes at once.

    s = 0; for (i = 0; i < n; i++) s += a[i];        s is the bag { a[i] : 0 <= i < n }

A `Contribution` is a term of a definition E with the relation { P[p] -> E[e] }: the value at p has the term
at each e once.  A variable has the value written last, so its parts are those of the definition that reaches
it.  Definitions that continue from their own earlier values (s += ..) are one component of the graph of
these; each point of it takes one value of the component, at an earlier time.  With f for "takes", the points
that contribute to a value are those of f*, and f+ is the only solution of

    R = f + f R

since f leads only to earlier times, of which there are finitely many for given sizes.  So R is guessed (the
writes to the same cell since it was last set; or isl's closure) and the equation is proved.

If a point could be reached from p in two ways, one pair would stand for two contributions: then the variable
remains a term, and is not decomposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.functions import identity
from loopwright.presburger.sets import IN, OUT, nonempty_maps, union_map, union_set
from loopwright.prove.equivalence.combinations import Combination
from loopwright.prove.equivalence.flow import Flow, ValueDefinition, ValueSource
from loopwright.prove.equivalence.terms import CellTerm, InputTerm, Term

MOST = 400
"""Maximum number of contributions."""


class TooMany(Exception):
    """A value has more kinds of contributions than the limit."""


@dataclass(frozen=True, eq=False)
class Contribution:
    """`sign` times a term at the points of a definition, once for each pair of { P[p] -> E[e] }."""

    sign: int
    definition: ValueDefinition
    term: Term
    where: isl.Map


@dataclass(frozen=True, eq=False)
class CombiningStep:
    """Operations and reads on the way to contributions: terms of a definition, at some of its points.

    A value read there was written earlier, or is a contribution itself.
    """

    definition: ValueDefinition
    terms: tuple[Term, ...]
    points: isl.Set


@dataclass(frozen=True, eq=False)
class ContributionBag:
    """The contributions to values, and the operations that combine them."""

    flow: Flow
    contributions: tuple[Contribution, ...]
    steps: tuple[CombiningStep, ...]


@dataclass(frozen=True, eq=False)
class AccumulationCycle:
    """Definitions that continue from each other, and { F -> G }: the points that contribute to one."""

    members: frozenset[str]
    reached: Mapping[tuple[str, str], isl.Map]


@dataclass(frozen=True, eq=False)
class Accumulation:
    """Decomposes the values of a program with respect to one operation."""

    flow: Flow
    combination: Combination
    _components: dict[str, AccumulationCycle | None] = field(default_factory=dict)
    _next: dict[str, tuple[tuple[int, CellTerm, ValueSource], ...]] = field(default_factory=dict)

    def bag(self, definition: ValueDefinition, term: Term, points: isl.Set) -> ContributionBag:
        """The bag of contributions to the values at `points`."""
        start = identity(points)
        found: list[Contribution] = []
        steps: list[CombiningStep] = []
        for one in self._taken_apart(definition, term, start, 1, frozenset()):
            if isinstance(one, CombiningStep):
                steps.append(one)
            else:
                found.append(one)
            if len(found) > MOST:
                raise TooMany
        return ContributionBag(self.flow, tuple(found), tuple(steps))

    def _taken_apart(
        self, definition: ValueDefinition, term: Term, where: isl.Map, sign: int, skipped: frozenset[str]
    ) -> Iterator[Contribution | CombiningStep]:
        """Yields the parts of a term, without what a variable takes from definitions in `skipped`."""
        yield CombiningStep(definition, self.combination.operations(term), where.range())
        for part in self.combination.parts(term):
            here = where.intersect_range(part.domain(definition)) if part.tests else where
            if here.is_empty():
                continue
            if isinstance(part.term, CellTerm) and part.term.type == self.combination.type:
                yield from self._of_variable(definition, part.term, here, sign * part.sign, skipped)
            else:
                yield Contribution(sign * part.sign, definition, part.term, here)

    def _of_variable(
        self, reader: ValueDefinition, cell: CellTerm, where: isl.Map, sign: int, skipped: frozenset[str]
    ) -> Iterator[Contribution | CombiningStep]:
        for source in self.flow.sources(reader, cell):
            one = source.definition
            here = where.intersect_range(source.relation.domain())
            if one.name in skipped or here.is_empty():
                continue
            found = self._of_source(source, here, sign)
            if found is None:
                yield Contribution(sign, reader, cell, here)
            else:
                yield CombiningStep(reader, (cell,), here.range())
                yield from found

    def _of_source(
        self, source: ValueSource, where: isl.Map, sign: int
    ) -> Iterable[Contribution | CombiningStep] | None:
        """The contributions to the value of a definition; None if a point would be counted more than once."""
        one = source.definition
        if not is_reached_once(where, source.relation):
            return None
        reached = where.apply_range(source.relation)
        if isinstance(one.value, InputTerm):
            return [Contribution(sign, one, one.value, reached)]
        if not self._goes_on(one.name):
            return self._taken_apart(one, one.value, reached, sign, frozenset())
        component = self._component(one.name)
        if component is None:
            return None
        found: list[tuple[ValueDefinition, isl.Map]] = []
        for name in sorted(component.members):
            chain = component.reached.get((one.name, name))
            if chain is None:
                continue
            if not is_reached_once(reached, chain):
                return None
            found.append((self.flow.definitions[name], reached.apply_range(chain)))
        return (
            each
            for member, there in found
            for each in self._taken_apart(member, member.value, there, sign, component.members)
        )

    def _takes(self, name: str) -> tuple[tuple[int, CellTerm, ValueSource], ...]:
        """The variables that a definition combines, with their signs and sources."""
        if name not in self._next:
            one = self.flow.definitions[name]
            found = []
            for part in self.combination.parts(one.value):
                if not isinstance(part.term, CellTerm) or part.term.type != self.combination.type:
                    continue
                domain = part.domain(one)
                for source in self.flow.sources(one, part.term):
                    relation = source.relation.intersect_domain(domain)
                    if source.definition.name in self.flow.definitions and not relation.is_empty():
                        found.append((part.sign, part.term, ValueSource(source.definition, relation)))
            self._next[name] = tuple(found)
        return self._next[name]

    def _later(self, name: str) -> frozenset[str]:
        """The definitions that contribute to a definition, through any number of steps."""
        seen: set[str] = set()
        pending = [source.definition.name for _, _, source in self._takes(name)]
        while pending:
            one = pending.pop()
            if one not in seen:
                seen.add(one)
                pending += [source.definition.name for _, _, source in self._takes(one)]
        return frozenset(seen)

    def _goes_on(self, name: str) -> bool:
        return name in self._later(name)

    def _component(self, name: str) -> AccumulationCycle | None:
        if name not in self._components:
            members = frozenset(one for one in self._later(name) if name in self._later(one))
            found = self._followed(members)
            self._components.update(dict.fromkeys(members, found))
        return self._components[name]

    def _followed(self, members: frozenset[str]) -> AccumulationCycle | None:
        """The points that contribute to values of the members; None if these do not form a chain."""
        step = isl.UnionMap.empty(self.flow.times.get_space())
        for name in sorted(members):
            taken = self._takes(name)
            inside = [(sign, source) for sign, _, source in taken if source.definition.name in members]
            places = [source.relation.domain() for _, source in inside]
            if any(sign != 1 for sign, _ in inside) or not _are_disjoint(places):
                return None
            step = union_map([source.relation for _, source in inside], step.get_space()).union(step)
        for guess in self._guesses(members, step):
            if guess.is_equal(step.union(step.apply_range(guess))):
                return AccumulationCycle(members, self._by_ends(members, guess))
        return None

    def _by_ends(self, members: frozenset[str], relation: isl.UnionMap) -> dict[tuple[str, str], isl.Map]:
        found: dict[tuple[str, str], isl.Map] = {}
        for name in members:
            domain = self.flow.definitions[name].domain
            found[name, name] = identity(domain)
        for one in nonempty_maps(relation):
            key = str(one.get_tuple_name(IN)), str(one.get_tuple_name(OUT))
            found[key] = found[key].union(one).coalesce() if key in found else one.coalesce()
        return found

    def _guesses(self, members: frozenset[str], step: isl.UnionMap) -> Iterator[isl.UnionMap]:
        """Yields guesses for f+."""
        yield self._since_set(members)
        yield step.transitive_closure()[0]

    def _since_set(self, members: frozenset[str]) -> isl.UnionMap:
        """{ F -> G }: G writes the cell that F writes, before F, and nothing else writes it in between."""
        flow = self.flow
        inside = union_set([flow.definitions[one].domain for one in sorted(members)], flow.times.get_space())
        found = isl.UnionMap.empty(flow.times.get_space())
        for array in sorted(flow.writes):
            own = flow.writes[array].intersect_domain(inside)
            if own.is_empty():
                continue
            others = flow.writes[array].subtract_domain(inside)
            again = self._afterwards(own, own)
            broken = self._afterwards(own, others).apply_range(self._afterwards(others, own))
            found = found.union(again.subtract(broken))
        return found.coalesce()

    def _afterwards(self, one: isl.UnionMap, other: isl.UnionMap) -> isl.UnionMap:
        """{ x -> y }: both write the same cell, and y is earlier."""
        times = self.flow.times
        late, early = times.intersect_domain(one.domain()), times.intersect_domain(other.domain())
        return one.apply_range(other.reverse()).intersect(late.lex_gt_union_map(early))


def _are_disjoint(sets: list[isl.Set]) -> bool:
    return all(one.is_disjoint(other) for k, one in enumerate(sets) for other in sets[:k])


def is_reached_once(first: isl.Map, second: isl.Map) -> bool:
    """Whether p reaches each r of { p -> q -> r } through only one q."""
    if second.is_injective():
        return True
    pairs = first.range_map().apply_range(second)
    both = first.domain_map().range_product(pairs)
    return bool(both.intersect_domain(pairs.domain()).is_injective())
