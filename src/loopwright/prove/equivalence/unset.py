"""Checks whether an uninitialised variable may be read.

`if (c) d = 3;` is read as d = c ? 3 : d, and does not write where c is 0: a read of d then sees the previous
value, and there may be none.  The chain of such definitions is followed back, for all instances, to one that
always writes or to the start of the region.  If several assignments are under one test, its value is kept in
a cell; a path on which that cell is both 0 and nonzero does not exist.

The module also checks locals declared in a loop: no iteration may use a value that another one left in them.
The two kinds of proof treat a name as one variable throughout.  `for (...) { double x; ... }` has a new,
uninitialised x in every iteration, so each read of x must see a write in the same one.  That is so if the
declaration initialises x; otherwise the data flow shows it:

    no read at iteration i of x sees a write at i', i and i' being those of the loops around the declaration
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    """The known outcomes of tests of a statement, by the cells that keep them."""

    outcomes: frozenset[tuple[str, bool]] = frozenset()
    failed: frozenset[frozenset[str]] = frozenset()
    """Conjunctions that do not hold."""

    def with_test(self, condition: Term, *, outcome: bool) -> KnownTests:
        """Adds that a condition holds, or does not."""
        terms = _conjuncts(condition)
        cells = [one.array for one in terms if isinstance(one, CellTerm) and one.array.startswith(TESTED)]
        if outcome or len(terms) == len(cells) == 1:
            return replace(self, outcomes=self.outcomes | {(name, outcome) for name in cells})
        return replace(self, failed=self.failed | {frozenset(cells)}) if len(terms) == len(cells) else self

    def and_also(self, other: KnownTests) -> KnownTests | None:
        """The conjunction; None if the two contradict each other."""
        both = KnownTests(self.outcomes | other.outcomes, self.failed | other.failed)
        if any((name, not outcome) in both.outcomes for name, outcome in both.outcomes):
            return None
        holding = {name for name, outcome in both.outcomes if outcome}
        return None if any(names <= holding for names in both.failed) else both


def _conjuncts(condition: Term) -> tuple[Term, ...]:
    match condition:
        case Apply("&&", (left, right)):
            return (*_conjuncts(left), *_conjuncts(right))
        case _:
            return (condition,)


NOTHING_TESTED = KnownTests()


@dataclass(frozen=True, eq=False)
class TermOccurrence:
    """A term in the value of a definition: its domain, and the number of guards on data around it."""

    term: Term
    domain: isl.Set
    guards: int
    tests: KnownTests = NOTHING_TESTED
    may_stay: bool = False
    """It is a branch of the choice that decides whether a cell is written: its own cell is not read there."""


def occurrences(definition: ValueDefinition) -> Iterator[TermOccurrence]:
    """Yields all terms of a definition; conditions on iterators and sizes restrict their domains."""
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
    """Yields both branches of a choice; `if (c) d = d` reads d in one of them."""
    condition, *ways = choice.arguments
    stays = (one.may_stay, one.may_stay and ways[0] != ways[1])
    domains, guards = (one.domain, one.domain), one.guards + 1
    if isinstance(condition, Index):
        no = definition.relation((condition.value,)).fix_val(OUT, 0, isl.Val(0)).domain()
        domains, guards = (one.domain.subtract(no), one.domain.intersect(no)), one.guards
    for way, domain, stay, outcome in zip(ways, domains, stays, (True, False), strict=True):
        yield TermOccurrence(way, domain, guards, one.tests.with_test(condition, outcome=outcome), stay)


def unset_at(flow: Flow, reader: ValueDefinition, cell: CellTerm, tests: KnownTests) -> isl.Set | None:
    """The instances of `reader` that may read an uninitialised variable, or None."""
    found = [
        source.relation.domain()
        for source in flow.sources(reader, cell)
        if _is_unset(flow, reader, source, tests, frozenset())
    ]
    return reduce(isl.Set.union, found) if found else None


def _is_unset(
    flow: Flow, reader: ValueDefinition, source: ValueSource, tests: KnownTests, passed: frozenset[str]
) -> bool:
    """Whether the chain of definitions from a source may lead to the start of the region."""
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
    """Proves that no iteration reads what another one left in a local that is declared without a value."""
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
    """The locals that are declared in a loop of the region, without an initial value."""
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
    """The number of loops around a declaration."""
    loops = program.syntax.of_type("for_statement")
    return sum(loop.span.contains(variable.place) for loop in loops)


def _declared(
    program: Program, at: ValueDefinition, cell: CellTerm, variables: tuple[Variable, ...]
) -> Variable | None:
    """Which of `variables` a cell is at a statement, or None."""
    spot = program.statement(at.name.partition(".")[0]).body.place
    names = {local_name(variable.name): variable.name for variable in variables}
    if cell.array not in names:
        return None
    found = program.file.declarations.visible(names[cell.array], spot)
    return found if found in variables else None


def _stays(program: Program, flow: Flow, reader: ValueDefinition, cell: CellTerm, variable: Variable) -> bool:
    """Whether every write that the read sees is to the same variable, in the same iteration."""
    depth = _depth(program, variable)
    for source in flow.sources(reader, cell):
        writer = source.definition
        if writer.line is None or _declared(program, writer, cell, (variable,)) is None:
            return False
        same = equal_in(isl.Map.universe(source.relation.get_space()), range(depth))
        if not source.relation.is_subset(same):
            return False
    return True
