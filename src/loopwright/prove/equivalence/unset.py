"""Whether a variable may be read that has no value yet.

`if (c) d = 3;` is read as d = c ? 3 : d, and does not write where c is 0: who reads d then finds what it was
before, and before that nothing may be.  Of such definitions the chain is followed back, whatever the
instances, to one that always writes or to the beginning of the region.  Where several assignments are under
one test, its value is kept in a cell; a way on which that cell is 0 here and not 0 there is none.

Locals of a text that are declared in a loop: an iteration has no value another one left in them.

The two ways of proving take a name for one variable throughout.  `for (...) { double x; ... }` has a new
x in every iteration, with no value, so each read of x has to find what was written in the same one.  That is
so where the declaration gives x its value; elsewhere the data flow shows it:

    no read at iteration i of x finds a write at i', i and i' being those of the loops around the declaration
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TypeGuard

import islpy as isl

from loopwright.c.declarations import Variable
from loopwright.c.syntax import walk
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.presburger.dimensions import equal_in
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.equivalence.assignments import TESTED
from loopwright.prove.equivalence.flow import Flow, ValueDefinition, ValueSource, flow_of
from loopwright.prove.equivalence.reading import local_name
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Index, InputTerm, Term, subterms
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.verdict import Proved, Undecided


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


def prove_lifetimes(program: Program, context: isl.Set) -> Proved | Undecided:
    """Whether no iteration reads what another one left in a local that is declared without a value."""
    variables = _without_value(program)
    if not variables:
        return Proved(0)
    try:
        flow = flow_of(program, context)
    except Unreadable as failure:
        names = ", ".join(sorted({variable.name for variable in variables}))
        reason = f"whether iterations share values of {names} could not be determined: {failure}"
        return Undecided(reason, unread=True)
    count = 0
    for reader in flow.definitions.values():
        for cell in (part for part in subterms(reader.value) if isinstance(part, CellTerm)):
            variable = _declared(program, reader, cell, variables)
            if variable is None:
                continue
            if not _stays(program, flow, reader, cell, variable):
                line = variable.place.line
                name = variable.name
                return Undecided(f"line {line}: an iteration may read what another one left in {name}")
            count += 1
    return Proved(count)


def _without_value(program: Program) -> tuple[Variable, ...]:
    """The locals declared in a loop of the region, and not initialised there."""
    local = {array.name for array in program.arrays if array.local}
    given = {node.span for node in walk(program.syntax) if node.type == "init_declarator"}
    return tuple(
        variable
        for variable in program.file.declarations.variables
        if variable.name in local
        and program.region.contains(variable.place)
        and variable.place not in given
        and _depth(program, variable) > 0
    )


def _depth(program: Program, variable: Variable) -> int:
    """How many loops are around a declaration."""
    loops = program.syntax.of_type("for_statement")
    return sum(loop.span.contains(variable.place) for loop in loops)


def _declared(
    program: Program, at: ValueDefinition, cell: CellTerm, variables: tuple[Variable, ...]
) -> Variable | None:
    """Which of `variables` a cell is at a statement."""
    spot = program.statement(at.name.partition(".")[0]).body.place
    names = {local_name(variable.name): variable.name for variable in variables}
    if cell.array not in names:
        return None
    found = program.file.declarations.visible(names[cell.array], spot)
    return found if found in variables else None


def _stays(program: Program, flow: Flow, reader: ValueDefinition, cell: CellTerm, variable: Variable) -> bool:
    """Whether every value the read finds is of the same variable, of the same iteration."""
    depth = _depth(program, variable)
    for source in flow.sources(reader, cell):
        writer = source.definition
        if writer.line is None or _declared(program, writer, cell, (variable,)) is None:
            return False
        same = equal_in(isl.Map.universe(source.relation.get_space()), range(depth))
        if not source.relation.is_subset(same):
            return False
    return True
