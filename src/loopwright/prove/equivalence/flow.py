"""Exact, value-based data flow: which computation produced each value that a program reads.

An assignment of a statement is a definition; its instances are those of the statement, at the times [0, θ,
k], where k is the position of the assignment in the statement.  At [1, 0, ...], after them all, every cell is
read once more: this gives what the region leaves in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import reduce

import islpy as isl

from loopwright.c.types import CType
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Var
from loopwright.model.program import Program
from loopwright.presburger.dimensions import at, followed, preceded, selection
from loopwright.presburger.functions import identity
from loopwright.presburger.last_writes import SeenWrites, seen_writes
from loopwright.presburger.sets import DIM, IN, OUT, nonempty_maps, union, within_effort
from loopwright.prove.equivalence.assignments import Computation, computations
from loopwright.prove.equivalence.terms import CellTerm, InputTerm, Term
from loopwright.prove.reading.loops import values_at

MOST_PARTS = 16
"""Maximum number of parts into which the cells of a read are divided, by writer."""
EFFORT = 10_000_000
"""Maximum number of isl operations to find the definitions that reach a read: about ten seconds."""
FEW_WRITERS = 8
"""Up to this many writers are analysed together: describing parts of cells is harder."""


@dataclass(frozen=True, eq=False)
class ValueDefinition:
    """D[i], a value at each instance; `values` are its integer expressions, { D[i] -> [e1, ...] }."""

    name: str
    value: Term
    domain: isl.Set
    values: isl.Map
    columns: Mapping[Expr, int]
    line: int | None = None
    """None for values before the region, and for reads after it."""
    is_conditional: bool = False
    """`if (c) x = e`, which is read as x = c ? e : x and does not always write."""

    def relation(self, expressions: tuple[Expr, ...], target: str = "") -> isl.Map:
        """{ D[i] -> target[expressions] }."""
        columns = [self.columns[expression] for expression in expressions]
        found = self.values.apply_range(selection(self.values.get_space().range(), columns))
        return found.set_tuple_name(OUT, target) if target else found


@dataclass(frozen=True, eq=False)
class ValueSource:
    """A definition that reaches a read, { reader -> definition }."""

    definition: ValueDefinition
    relation: isl.Map


@dataclass(frozen=True, eq=False)
class Flow:
    """The definitions of a program, when they execute and which cell each of them writes."""

    definitions: dict[str, ValueDefinition]
    times: isl.UnionMap
    writes: dict[str, isl.UnionMap]
    """By array, { D[i] -> A[x] }."""
    ranks: Mapping[str, int]
    types: Mapping[str, CType]
    _found: dict[tuple[str, CellTerm], tuple[ValueSource, ...]] = field(default_factory=dict)

    def sources(self, reader: ValueDefinition, cell: CellTerm) -> tuple[ValueSource, ...]:
        """The definitions that reach a read of `cell`; the value before the region is one."""
        key = (reader.name, cell)
        if key not in self._found:
            try:
                self._found[key] = within_effort(EFFORT, lambda: tuple(self._sources(reader, cell)))
            except isl.Error:
                raise GaveUp(Code.TIME, f"finding what reads of '{cell.array}' see takes too long") from None
        return self._found[key]

    def _sources(self, reader: ValueDefinition, cell: CellTerm) -> Iterable[ValueSource]:
        read = reader.relation(cell.subscripts, cell.array)
        if cell.array not in self.writes:
            yield ValueSource(before_region(cell.array, read.range()), read)
            return
        before: list[isl.Map] = []
        found: dict[str, list[isl.Map]] = {}
        for cells, writes in self._writers(cell.array, read.range()):
            known = cells.gist(read.range())  # what is known of all cells that are read is not repeated
            flow = self._flow(reader, read.intersect_range(known), writes)
            before += nonempty_maps(flow.without)
            for one in nonempty_maps(flow.dependences):
                found.setdefault(str(one.get_tuple_name(IN)), []).append(one.reverse())
        if before:
            relation = reduce(isl.Map.union, before).coalesce() if found else read
            yield ValueSource(before_region(cell.array, relation.range()), relation)
        for name in sorted(found):
            yield ValueSource(self.definitions[name], reduce(isl.Map.union, found[name]).coalesce())

    def _flow(self, reader: ValueDefinition, read: isl.Map, writes: isl.UnionMap) -> SeenWrites:
        concerned = writes.domain().union(isl.UnionSet.from_set(reader.domain))
        times = self.times.union(isl.UnionMap.from_map(self._after(reader))).intersect_domain(concerned)
        # Without redundancies: isl takes much longer with them, and fails to factorise some.
        reads, writes, times = (
            one.remove_redundancies().coalesce() for one in (isl.UnionMap.from_map(read), writes, times)
        )
        return seen_writes(reads, writes, times)

    def _writers(self, array: str, cells: isl.Set) -> list[tuple[isl.Set, isl.UnionMap]]:
        """Divides the cells into parts, each with its writers: in unrolled loops, few of many."""
        nothing = isl.UnionMap.empty(self.times.get_space())
        parts = [(cells, nothing)]
        writing = [one for one in nonempty_maps(self.writes[array]) if not one.range().is_disjoint(cells)]
        if len(writing) <= FEW_WRITERS:
            return [(cells, reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, writing), nothing))]
        for relation in sorted(writing, key=lambda one: str(one.get_tuple_name(IN))):
            written, own = relation.range(), isl.UnionMap.from_map(relation)
            may_split = len(parts) < MOST_PARTS
            pending, parts = parts, []
            for part, writes in pending:
                inside = part.intersect(written)
                if inside.is_empty():
                    parts.append((part, writes))
                elif not may_split or part.is_subset(written):
                    parts.append((part, writes.union(own)))
                else:
                    parts.append((inside.coalesce(), writes.union(own)))
                    parts.append((part.subtract(written).coalesce(), writes))
        return parts

    def _after(self, reader: ValueDefinition) -> isl.Map:
        """The time of a read after the region; empty for a definition of the program."""
        length = next((one.dim(OUT) for one in nonempty_maps(self.times)), 1)
        late = isl.Map.from_domain(reader.domain).add_dims(OUT, length)
        late = at(late, OUT, (1, *(0,) * (length - 1)))
        return late if reader.name not in self.definitions else isl.Map.empty(late.get_space())

    def written(self, array: str) -> isl.Set | None:
        """The cells of an array that are written."""
        found = [relation.range() for relation in nonempty_maps(self.writes.get(array, self.times))]
        return union(found) if array in self.writes and found else None


def flow_of(program: Program, context: isl.Set) -> Flow:
    """The definitions of a program; raises `Unreadable` if a statement is not an assignment of values."""
    found = computations(program)
    values = values_at(program, {name: tuple(one.columns) for name, one in found.items()}, context)
    schedules = {name: program.statement(name).schedule for name in found}
    return flow_through(found, values, schedules, context)


def flow_through(
    found: Mapping[str, Computation],
    values: Mapping[str, isl.Map],
    schedules: Mapping[str, isl.Map],
    context: isl.Set,
) -> Flow:
    """The data flow of named statements: their assignments, the integers in them, their times."""
    definitions: dict[str, ValueDefinition] = {}
    times = isl.UnionMap.empty(context.get_space())
    writes: dict[str, isl.UnionMap] = {}
    ranks: dict[str, int] = {}
    types: dict[str, CType] = {}
    for name, computation in found.items():
        for place, one in enumerate(_definitions(computation, values[name])):
            target = computation.assignments[place].target
            definitions[one.name] = one
            times = times.union(isl.UnionMap.from_map(_time(schedules[name], place, one)))
            written = isl.UnionMap.from_map(one.relation(target.subscripts, target.array))
            writes[target.array] = writes[target.array].union(written) if target.array in writes else written
            ranks[target.array] = len(target.subscripts)
            types[target.array] = target.type
    return Flow(definitions, times, writes, ranks, types)


def _definitions(computation: Computation, values: isl.Map) -> Iterable[ValueDefinition]:
    base = computation.name
    for place, assignment in enumerate(computation.assignments):
        name = base if len(computation.assignments) == 1 else f"{base}.{place}"
        own = values.set_tuple_name(IN, name)
        yield ValueDefinition(
            name,
            assignment.value,
            own.domain(),
            own,
            computation.columns,
            computation.line,
            assignment.is_conditional,
        )


def _time(schedule: isl.Map, place: int, definition: ValueDefinition) -> isl.Map:
    schedule = schedule.set_tuple_name(IN, definition.name)
    return followed(preceded(schedule.intersect_domain(definition.domain), 0), place)


def before_region(array: str, cells: isl.Set) -> ValueDefinition:
    """A[x], with the value of the cell before the region."""
    everything = isl.Set.universe(cells.get_space())
    identity = isl.Map.identity(cells.get_space().map_from_set())
    return ValueDefinition(array, InputTerm(array), everything, identity, {})


def after_region(array: str, cells: isl.Set, kind: CType) -> ValueDefinition:
    """A read of each of the cells after the region."""
    names = tuple(Var(f"x{k}") for k in range(cells.dim(DIM)))
    name = f"end of {array}"
    values = identity(cells)
    values = values.reset_tuple_id(OUT).set_tuple_name(IN, name)
    columns: dict[Expr, int] = {one: k for k, one in enumerate(names)}
    return ValueDefinition(name, CellTerm(array, names, kind), values.domain(), values, columns)
