"""Computes the dependences between instances, and the flow of values.

Memory-based dependences are what legality needs [Namjoshi2016, section 4.1]: two instances that
touch the same cell, at least one of them writing, in the order the program runs them.  They are
kept by pair of accesses, so that a violated one can be explained.  The value-based flow keeps
only the last write before each read; it comes from isl's access analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.model.shapes import order_shape, relation_shape, renamed, time_shape
from loopwright.presburger.last_writes import reads_before, seen_writes
from loopwright.presburger.sets import IN, OUT, isl_failures, maps_of, union_map


class DependenceKind(Enum):
    """The kinds of the two accesses of a dependence, the earlier one first."""

    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"


@dataclass(frozen=True)
class Dependence:
    """{ source -> sink : both touch the same cell of `array`, the source runs first }.

    `relation` contains every such pair where both accesses `must` happen, and an upper bound of
    them otherwise.
    """

    kind: DependenceKind
    source: str
    sink: str
    array: str
    relation: isl.Map
    source_access: Access
    sink_access: Access
    shape: Hashable = None
    """Of one shape, if it is not None, dependences have the same relation, but for names of statements."""

    @property
    def must(self) -> bool:
        return self.source_access.must and self.sink_access.must


@dataclass(frozen=True)
class Dependences:
    """`memory` are the non-empty memory-based dependences, in source order.

    `flow` maps an instance to those that read a value it may have written last; `live_in` are the
    reads that may see a value from before the region.
    """

    memory: tuple[Dependence, ...]
    flow: isl.UnionMap
    live_in: isl.UnionMap

    def relation(self, kinds: Iterable[DependenceKind] = tuple(DependenceKind)) -> isl.UnionMap:
        """The memory-based dependences of these kinds as one relation between instances."""
        wanted = tuple(kinds)
        found = (one.relation for one in self.memory if one.kind in wanted)
        return union_map(found, self.flow.get_space()).coalesce()


@isl_failures("isl could not compute the dependences")
def dependences(program: Program) -> Dependences:
    """The dependences of `program`, for all parameters in its context."""
    flow, live_in = value_based_flow(program)
    return Dependences(tuple(memory_based(program)), flow, live_in)


def memory_based(program: Program, of: Collection[str] | None = None) -> Iterable[Dependence]:
    """Every ordered pair of instances that touch the same cell, one of them writing it.

    With `of`, only those to or from one of these statements.
    """
    accesses = {one.name: _touches(distinct(one.accesses)) for one in program.statements}
    first_times = {one.name: one.schedule.plain_get_val_if_fixed(OUT, 0) for one in program.statements}
    pairs_alike, conflicts = _PairsAlike(program), _Conflicts()
    for source in program.statements:
        for sink in program.statements:
            if of is not None and source.name not in of and sink.name not in of:
                continue
            if _is_later(first_times[source.name], first_times[sink.name]):
                continue
            pairs = conflicts.between(accesses[source.name], accesses[sink.name])
            order = pairs_alike.order(source, sink) if pairs else 0
            for first, second in pairs:
                found = pairs_alike.ordered(order, first, second)
                if found is not None:
                    shape, relation = found
                    kind, array = _kind(first.access, second.access), first.access.array
                    relation = renamed(relation, source.name, sink.name)
                    yield Dependence(
                        *(kind, source.name, sink.name, array, relation, first.access, second.access), shape
                    )


class _PairsAlike:
    """Pairs of instances that touch one cell, in the order they run; each shape is looked at once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.shapes = {
            one.name: (str(one.domain.reset_tuple_id()), time_shape(one.schedule))
            for one in program.statements
        }
        self.numbers: dict[Hashable, int] = {}
        """Shapes of two statements, numbered as they come: what follows compares numbers."""
        self.origin = object()
        """Part of every shape, so that those of one program, or of one moment, are none of another."""
        self.orders: dict[int, isl.Map] = {}
        self.relations: dict[Hashable, isl.Map | None] = {}

    def order(self, source: Statement, sink: Statement) -> int:
        """The number of the shape that says which instances of two statements run in which order."""
        (mine, earlier), (theirs, later) = self.shapes[source.name], self.shapes[sink.name]
        shape = (mine, theirs, order_shape(earlier, later))
        number = self.numbers.setdefault(shape, len(self.numbers))
        if number not in self.orders:
            found = _runs_before(self.program, source, sink)
            self.orders[number] = found.reset_tuple_id(IN).reset_tuple_id(OUT)
        return number

    def ordered(self, order: int, first: _Touch, second: _Touch) -> tuple[Hashable, isl.Map] | None:
        """{ a -> b : a runs first, both touch one cell }, without names, and its shape; None if empty."""
        key = (self.origin, order, first.shape, second.shape)
        if key not in self.relations:
            cells = first.access.relation.apply_range(second.access.relation.reverse())
            cells = cells.reset_tuple_id(IN).reset_tuple_id(OUT)
            found = cells.intersect(self.orders[order])
            self.relations[key] = None if found.is_empty() else found.coalesce()
        relation = self.relations[key]
        return None if relation is None else (key, relation)


def carried_at(
    program: Program, names: Iterable[str], dimension: int, without: frozenset[str]
) -> Iterable[Dependence]:
    """Of these statements, the pairs that a loop at a time dimension carries, but for some arrays.

    There are few of them where each iteration has cells of its own, however many dependences there are.
    """
    statements = [program.statement(name) for name in names]
    accesses = {
        one.name: _touches(access for access in distinct(one.accesses) if access.array not in without)
        for one in statements
    }
    for source in statements:
        for sink in statements:
            pairs = [
                (one.access, two.access)
                for one, two in _conflicting(accesses[source.name], accesses[sink.name])
            ]
            times = [_first_entries(one, dimension + 1) for one in (source, sink)] if pairs else []
            order = _less_at(times, dimension) if pairs else None
            for first, second in pairs:
                cells = [_function(one.relation) for one in (first, second)]
                if order is None or cells[0].apply_range(cells[1].reverse()).intersect(order).is_empty():
                    continue
                relation = first.relation.apply_range(second.relation.reverse()).intersect(order)
                relation = relation.intersect_domain(source.domain).intersect_range(sink.domain)
                relation = relation.intersect_params(program.context)
                if not relation.is_empty():
                    yield Dependence(
                        _kind(first, second), source.name, sink.name, first.array, relation, first, second
                    )


def _first_entries(statement: Statement, count: int) -> isl.Map:
    """{ a -> the first entries of θ(a) }, whether or not a is an instance."""
    times = statement.schedule
    return _function(times.project_out(OUT, count, times.dim(OUT) - count))


def _function(relation: isl.Map) -> isl.Map:
    """The relation without the constraints on its domain."""
    return relation.drop_constraints_not_involving_dims(OUT, 0, relation.dim(OUT)).coalesce()


def _less_at(times: list[isl.Map], dimension: int) -> isl.Map:
    """{ a -> b : θ(a) and θ(b) are equal before the dimension, and θ(a) is less there }."""
    space = times[0].get_space().range().map_from_set()
    order = isl.Map.universe(space).order_lt(IN, dimension, OUT, dimension)
    for k in range(dimension):
        order = order.equate(IN, k, OUT, k)
    return times[0].apply_range(order).apply_range(times[1].reverse())


def _is_later(time: isl.Val, other: isl.Val) -> bool:
    """Whether one statement runs after another, all instances of both, by the first entry of its time."""
    return bool(time.is_int() and other.is_int() and time.gt(other))


def _kind(first: Access, second: Access) -> DependenceKind:
    if not second.is_write:
        return DependenceKind.FLOW
    return DependenceKind.OUTPUT if first.is_write else DependenceKind.ANTI


@dataclass(frozen=True, eq=False)
class _Touch:
    """An access, and its subscripts that are numbers."""

    access: Access
    numbers: tuple[int | None, ...]
    shape: str

    @cached_property
    def kind(self) -> Hashable:
        """The facts that `may_meet` needs."""
        return self.access.array, self.access.is_write, self.numbers

    def may_meet(self, other: _Touch) -> bool:
        """Whether both are of one array, one is a write, and no number tells their cells apart."""
        one, two = self.access, other.access
        if one.array != two.array or not (one.is_write or two.is_write):
            return False
        pairs = zip(self.numbers, other.numbers, strict=False)
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def _touches(accesses: Iterable[Access]) -> list[_Touch]:
    return [_Touch(one, _numbers(one.relation), relation_shape(one.relation)) for one in accesses]


def _numbers(relation: isl.Map) -> tuple[int | None, ...]:
    fixed = (relation.plain_get_val_if_fixed(OUT, k) for k in range(relation.dim(OUT)))
    return tuple(int(one.to_python()) if one.is_int() else None for one in fixed)


def _conflicting(firsts: list[_Touch], seconds: list[_Touch]) -> list[tuple[_Touch, _Touch]]:
    """Pairs of accesses that may touch one cell and are not both reads."""
    return [(one, two) for one in firsts for two in seconds if one.may_meet(two)]


class _Conflicts:
    """The same of many pairs of statements: those whose accesses are alike are looked at once."""

    def __init__(self) -> None:
        self.known: dict[Hashable, list[tuple[int, int]]] = {}

    def between(self, firsts: list[_Touch], seconds: list[_Touch]) -> list[tuple[_Touch, _Touch]]:
        key = (tuple(one.kind for one in firsts), tuple(one.kind for one in seconds))
        if key not in self.known:
            indexed = [(i, j) for i in range(len(firsts)) for j in range(len(seconds))]
            self.known[key] = [(i, j) for i, j in indexed if firsts[i].may_meet(seconds[j])]
        return [(firsts[i], seconds[j]) for i, j in self.known[key]]


def distinct(accesses: tuple[Access, ...]) -> list[Access]:
    """Leave out an access that repeats an earlier one of the same statement."""
    found: list[Access] = []
    for access in accesses:
        if not any(_same(access, other) for other in found):
            found.append(access)
    return found


def _same(one: Access, other: Access) -> bool:
    return (
        one.array == other.array
        and one.is_write == other.is_write
        and one.must == other.must
        and bool(one.relation.plain_is_equal(other.relation))
    )


def _runs_before(program: Program, source: Statement, sink: Statement) -> isl.Map:
    """{ a -> b : θ(a) before θ(b) } on the instances the context allows."""
    before = isl.Map.lex_lt(source.schedule.get_space().range())
    order = source.schedule.apply_range(before).apply_range(sink.schedule.reverse())
    order = order.intersect_domain(source.domain).intersect_range(sink.domain)
    return order.intersect_params(program.context)


def with_accesses(program: Program, wanted: Callable[[Statement, Access], bool]) -> Program:
    """The program with these accesses alone, and the statements that have some of them."""
    statements = (
        replace(one, accesses=tuple(access for access in one.accesses if wanted(one, access)))
        for one in program.statements
    )
    return replace(program, statements=tuple(one for one in statements if one.accesses))


def value_based_flow(program: Program) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The flow of values between instances, and the reads that may find a value from outside.

    A `may` write does not hide the writes before it.
    """
    reads = _union(program, [a for s in program.statements for a in s.reads])
    must = _union(program, [a for s in program.statements for a in s.writes if a.must])
    may = _union(program, [a for s in program.statements for a in s.writes if not a.must])
    found = seen_writes(reads, must, program.schedule(), may=may)
    return found.dependences.coalesce(), found.without.coalesce()


def _union(program: Program, accesses: list[Access]) -> isl.UnionMap:
    union = union_map((access.relation for access in accesses), program.context.get_space())
    return union.intersect_params(program.context)


_Pairs: TypeAlias = dict[tuple[str, str], tuple[isl.BasicMap, ...]]


def adjacent(program: Program) -> _Pairs:
    """Dependences from which all memory-based ones follow, by source and sink.

    Flow from the last write of a cell to its reads, and from reads and writes to the next write, without
    those that are two others one after the other: an order that keeps these keeps every other dependence,
    which is a chain of them.
    """
    reads = _union(program, [a for s in program.statements for a in s.reads])
    writes = _union(program, [a for s in program.statements for a in s.writes])
    must = _union(program, [a for s in program.statements for a in s.writes if a.must])
    may = _union(program, [a for s in program.statements for a in s.writes if not a.must])
    times = program.schedule()
    union = reads_before(writes, reads, must, times)
    for sink in (reads, writes):
        union = union.union(seen_writes(sink, must, times, may=may).dependences)
    found: _Pairs = {}
    for relation in maps_of(union.coalesce()):
        parts = relation.coalesce().get_basic_maps()
        names = str(relation.get_tuple_name(IN)), str(relation.get_tuple_name(OUT))
        found[names] = tuple(part.remove_redundancies() for part in parts)
    return _without_chains(dict(sorted(found.items())))


def _without_chains(found: _Pairs) -> _Pairs:
    """The dependences a -> b without those for which there are a -> c and c -> b.

    Between two instances there are finitely many others, so what is left out is a chain of what is left.
    """
    names = dict.fromkeys(name for pair in found for name in pair)

    def is_chain(pair: tuple[str, str], one: isl.BasicMap) -> bool:
        first, last = pair
        return any(
            isl.Map.from_basic_map(one).is_subset(isl.Map.from_basic_map(before.apply_range(after)))
            for middle in names
            for before in found.get((first, middle), ())
            for after in found.get((middle, last), ())
        )

    left = {pair: tuple(one for one in several if not is_chain(pair, one)) for pair, several in found.items()}
    return {pair: several for pair, several in left.items() if several}
