"""Whether a variable may be read that has no value yet.

`if (c) d = 3;` is read as d = c ? 3 : d, and does not write where c is 0: who reads d then finds what it was
before, and before that nothing may be.  Of such definitions the chain is followed back, whatever the
instances, to one that always writes or to the beginning of the region.  Where several assignments are under
one test, its value is kept in a cell; a way on which that cell is 0 here and not 0 there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TypeGuard

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.equivalence.assignments import TESTED
from loopwright.prove.equivalence.flow import Flow, ValueDefinition, ValueSource
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Index, InputTerm, Term


@dataclass(frozen=True)
class KnownTests:
    """What tests of a statement came out as, by the cells that keep them."""

    outcomes: frozenset[tuple[str, bool]] = frozenset()

    def with_test(self, condition: Term, *, outcome: bool) -> KnownTests:
        """What is known where a condition holds, or does not."""
        if not (isinstance(condition, CellTerm) and condition.array.startswith(TESTED)):
            return self
        return KnownTests(self.outcomes | {(condition.array, outcome)})

    def and_also(self, other: KnownTests) -> KnownTests | None:
        """Both; None where they exclude each other."""
        if any((name, not outcome) in other.outcomes for name, outcome in self.outcomes):
            return None
        return KnownTests(self.outcomes | other.outcomes)


NOTHING_TESTED = KnownTests()


@dataclass(frozen=True, eq=False)
class TermOccurrence:
    """A term in the value of a definition: where it is computed, and under how many guards on data."""

    term: Term
    domain: isl.Set
    guards: int
    tests: KnownTests = NOTHING_TESTED
    may_stay: bool = False
    """It is one way of the choice that says whether a cell is written: its own cell there is not read."""


def occurrences(definition: ValueDefinition) -> Iterator[TermOccurrence]:
    """All terms of a definition; conditions on iterators and sizes restrict where they are computed."""
    pending = [TermOccurrence(definition.value, definition.domain, 0, may_stay=definition.is_conditional)]
    while pending:
        one = pending.pop()
        yield one
        if not isinstance(one.term, Apply):
            continue
        first, *rest = one.term.arguments or (None,)
        if first is not None:
            pending.append(TermOccurrence(first, one.domain, one.guards, one.tests))
        if one.term.operator == CHOICE:
            pending += _ways(one, one.term, definition)
        else:
            guard = 1 if one.term.operator in ("&&", "||") else 0
            pending += [TermOccurrence(part, one.domain, one.guards + guard, one.tests) for part in rest]


def _ways(one: TermOccurrence, choice: Apply, definition: ValueDefinition) -> Iterator[TermOccurrence]:
    """Both ways of a choice; `if (c) d = d` reads d on one of them."""
    condition, *ways = choice.arguments
    stays = (one.may_stay, one.may_stay and ways[0] != ways[1])
    domains, guards = (one.domain, one.domain), one.guards + 1
    if isinstance(condition, Index):
        no = definition.relation((condition.value,)).fix_val(OUT, 0, isl.Val(0)).domain()
        domains, guards = (one.domain.subtract(no), one.domain.intersect(no)), one.guards
    for way, domain, stay, outcome in zip(ways, domains, stays, (True, False), strict=True):
        yield TermOccurrence(way, domain, guards, one.tests.with_test(condition, outcome=outcome), stay)


def unset_at(flow: Flow, reader: ValueDefinition, cell: CellTerm, tests: KnownTests) -> isl.Set | None:
    """The instances of `reader` that may find no value in a variable; None where there are none."""
    found = [
        source.relation.domain()
        for source in flow.sources(reader, cell)
        if _is_unset(flow, reader, source, tests, frozenset())
    ]
    return reduce(isl.Set.union, found) if found else None


def _is_unset(
    flow: Flow, reader: ValueDefinition, source: ValueSource, tests: KnownTests, passed: frozenset[str]
) -> bool:
    """Whether the chain that begins with a source may lead to the beginning of the region."""
    writer = source.definition
    if isinstance(writer.value, InputTerm):
        return True
    if not writer.is_conditional or writer.name in passed:
        return False
    here = tests if _same_execution(reader, source) else NOTHING_TESTED
    for one in occurrences(writer):
        known = one.tests.and_also(here)
        if known is not None and one.may_stay and _is_own(one.term, flow, writer):
            earlier = flow.sources(writer, one.term)
            if any(_is_unset(flow, writer, each, known, passed | {writer.name}) for each in earlier):
                return True
    return False


def _is_own(term: Term, flow: Flow, writer: ValueDefinition) -> TypeGuard[CellTerm]:
    """Whether a term is the cell that a definition writes."""
    if not isinstance(term, CellTerm) or term.array not in flow.writes:
        return False
    own = flow.writes[term.array].intersect_domain(isl.UnionSet.from_set(writer.domain))
    return bool(isl.UnionMap.from_map(writer.relation(term.subscripts, term.array)).is_subset(own))


def _same_execution(reader: ValueDefinition, source: ValueSource) -> bool:
    """Whether the source is an assignment of the same execution of the same statement."""
    if reader.name.split(".")[0] != source.definition.name.split(".")[0]:
        return False
    relation = source.relation.set_tuple_name(OUT, str(source.relation.get_tuple_name(IN)))
    return bool(relation.is_subset(isl.Map.identity(relation.get_space())))
