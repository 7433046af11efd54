"""A schedule as formulas: the instances of each statement, and the time of each, one vector for all.

    S(x) executes at time θ(x)             for x in the domain of S,

where θ(x) has an entry for every band dimension and every position in a sequence on the path to the
instance's leaf, padded with zeros.  Children without an order get the order in which the program executes
them, which is stricter than the schedule requires.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Expr, Int, Relation, Test, Var
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import subprograms, substituted, substituted_expr
from loopwright.model.schedule import Schedule
from loopwright.presburger.functions import pieces_of_function
from loopwright.presburger.named import parameter_names
from loopwright.prove.obligations.decisions import Decided, Decision, choices, decided, opposite
from loopwright.prove.obligations.formulas import conjunction, disjunction, exprs_of, formula_of
from loopwright.prove.scanning.executed import Executed, Run, executed, runs
from loopwright.prove.scanning.meaning import AnyPosition, BandDimension, Column, Meaning, meaning
from loopwright.prove.scanning.targets import CallTimes, Key, choose, have_one_time, timed_calls
from loopwright.prove.verdict import Undecided

Vector: TypeAlias = tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class ExecutedPoints:
    """A call: [p] -> the point it executes, whose coordinates are called `names`."""

    run: Run
    points: isl.Map
    names: tuple[str, ...]
    time: Vector | None
    """The hint to write for the call, in terms of the iterators; None if none is needed."""


@dataclass(frozen=True, eq=False)
class Shape:
    """The instances of a statement with the arguments `arguments`."""

    arguments: tuple[str, ...]
    domain: Test
    wanted: isl.Set
    """The points: the arguments or, if instances have several times, these and the bands' values."""
    time: Decision[Vector] | None
    """The time as a function of the arguments; None if an instance has several."""
    times: tuple[str, ...]
    """The names of the entries of a time, if an instance has several; the domain refers to them."""
    executions: tuple[ExecutedPoints, ...]


def times_at(shape: Shape, arguments: Sequence[Expr]) -> Iterator[tuple[tuple[Test, ...], Vector]]:
    """Yields the times of an instance, each with the cases in which it applies."""
    at = dict(zip(shape.arguments, arguments, strict=True))
    nothing: Decision[Vector] = Decided(())
    for way, time in choices(shape.time or nothing):
        cases = tuple(substituted(test if holds else opposite(test), at) for test, holds in way)
        yield cases, tuple(substituted_expr(one, at) for one in time)


@dataclass(frozen=True, eq=False)
class TimedStatement:
    name: str
    shapes: tuple[Shape, ...]
    """By increasing number of arguments."""


@dataclass(frozen=True, eq=False)
class Timetable:
    """What a program must execute, with the calls that execute it."""

    parameters: tuple[str, ...]
    context: isl.Set
    known: Test
    width: int
    """The number of entries of a time."""
    statements: tuple[TimedStatement, ...]
    tree: Executed
    times: dict[int, isl.Map]
    """For each call of the schedule, by its position: [p] -> [time]."""

    def hint(self, position: int) -> Vector:
        for statement in self.statements:
            for shape in statement.shapes:
                for one in shape.executions:
                    if one.run.position == position:
                        return one.time or ()
        return ()


def timetable(schedule: Schedule, program: Node) -> Timetable:
    """The schedule for the calls of `program`; raises GaveUp if it has no such form."""
    known = meaning(schedule)
    timed = timed_calls(schedule, known)
    if isinstance(timed, Undecided):
        raise GaveUp(Code.NO_PROOF, f"no proof can be written: {timed.reason}")
    tree = executed(program, known.context)
    maker = _Maker(known, timed, program, runs(tree))
    return maker.table(tree)


class _Maker:
    """Builds a timetable from one schedule and one program."""

    def __init__(self, known: Meaning, timed: tuple[CallTimes, ...], program: Node, found: tuple[Run, ...]):
        self.known, self.runs = known, found
        self.calls = tuple(node for node in subprograms(program) if isinstance(node, Call))
        self.by_key: dict[Key, list[CallTimes]] = {}
        for one in timed:
            self.by_key.setdefault(one.key, []).append(one)
        self.ranks = self._ranks()
        self.columns = [self._ranked(leaf.columns) for leaf in known.leaves]
        self.width = max((len(columns) for columns in self.columns), default=0)
        self.parameters = parameter_names(known.context)
        self.times: dict[int, isl.Map] = {}

    def table(self, tree: Executed) -> Timetable:
        names = dict.fromkeys(name for name, _ in self.by_key)
        statements = tuple(TimedStatement(name, tuple(self._shapes(name))) for name in names)
        formula = formula_of(isl.Set.from_params(self.known.context), ())
        return Timetable(
            self.parameters, self.known.context, formula, self.width, statements, tree, self.times
        )

    def _shapes(self, name: str) -> Iterator[Shape]:
        for key in sorted(key for key in self.by_key if key[0] == name):
            parts = self.by_key[key]
            mine = [run for run in self.runs if (run.name, run.arguments.dim(isl.dim_type.out)) == key]
            yield self._single(key, parts, mine) if have_one_time(parts) else self._several(key, parts, mine)

    # -- children in any order ---------------------------------------------------------------

    def _ranks(self) -> dict[tuple[Column, ...], int]:
        """For each child of a set node, as the columns up to it, its position in the program."""
        first: dict[tuple[Column, ...], int] = {}
        for key, parts in self.by_key.items():
            for part in parts:
                columns = self.known.leaves[part.leaf].columns
                ends = [k for k, column in enumerate(columns) if isinstance(column, AnyPosition)]
                place = self._first_call(key, part) if ends else 0
                for end in ends:
                    prefix = columns[: end + 1]
                    first[prefix] = min(first.get(prefix, place), place)
        groups: dict[tuple[Column, ...], list[tuple[Column, ...]]] = {}
        for prefix in first:
            groups.setdefault(prefix[:-1], []).append(prefix)
        return {
            prefix: rank
            for group in groups.values()
            for rank, prefix in enumerate(sorted(group, key=lambda one: first[one]))
        }

    def _first_call(self, key: Key, part: CallTimes) -> int:
        domain = part.times.domain()
        for run in self.runs:
            if (run.name, run.arguments.dim(isl.dim_type.out)) == key:
                reached = run.arguments.as_map().intersect_domain(run.domain).range()
                if not reached.is_disjoint(domain):
                    return run.position
        return len(self.runs)

    def _ranked(self, columns: tuple[Column, ...]) -> tuple[int | BandDimension, ...]:
        """The columns, with positions as numbers."""
        return tuple(
            column
            if isinstance(column, BandDimension)
            else self.ranks.get(columns[: k + 1], column.index)
            if isinstance(column, AnyPosition)
            else column.index
            for k, column in enumerate(columns)
        )

    def _full(self, leaf: int, bands: Sequence[Expr]) -> Vector:
        """The time vector from the values of the bands."""
        places = [Int(c) if isinstance(c, int) else bands[c.index] for c in self.columns[leaf]]
        return (*places, *[Int(0)] * (self.width - len(places)))

    def _full_map(self, leaf: int, times: isl.Map) -> isl.Map:
        """[p] -> [time], from [p] -> [bands]."""
        columns: list[int | BandDimension] = [*self.columns[leaf]]
        columns += [0] * (self.width - len(columns))
        if columns == [BandDimension(k) for k in range(times.dim(isl.dim_type.out))]:
            return times
        space = times.get_space().range()
        pick = isl.Map.from_domain(isl.Set.universe(space)).add_dims(isl.dim_type.out, self.width)
        for place, column in enumerate(columns):
            if isinstance(column, int):
                pick = pick.fix_val(isl.dim_type.out, place, isl.Val(column))
            else:
                pick = pick.equate(isl.dim_type.in_, column.index, isl.dim_type.out, place)
        return times.apply_range(pick)

    def _time(self, position: int, times: isl.Map) -> None:
        earlier = self.times.get(position)
        self.times[position] = times if earlier is None else earlier.union(times)

    # -- statements whose instances have one time ----------------------------------------------

    def _single(self, key: Key, parts: list[CallTimes], mine: list[Run]) -> Shape:
        names = self._argument_names(parts[0].times, key[1])
        wanted = reduce(isl.Set.union, (part.times.domain() for part in parts)).coalesce()
        pieces: dict[Vector, isl.Set] = {}
        for part in parts:
            for domain, vector in self._pieces(part, names):
                pieces[vector] = pieces[vector].union(domain) if vector in pieces else domain
        shown = wanted.gist_params(self.known.context)
        if len(pieces) == 1:
            time: Decision[Vector] | None = Decided(next(iter(pieces)))
        else:
            time = decided(wanted, [(domain, vector) for vector, domain in pieces.items()], names)
        executions = []
        times = [self._full_map(part.leaf, part.times) for part in parts]
        for run in mine:
            graph = run.arguments.as_map().intersect_domain(run.domain)
            executions.append(ExecutedPoints(run, graph, names, None))
            for full in times:
                self._time(run.position, graph.apply_range(full))
        empty: Decision[Vector] = Decided((Int(0),) * self.width)
        return Shape(names, formula_of(shown, names), wanted, time or empty, (), tuple(executions))

    def _pieces(self, part: CallTimes, names: tuple[str, ...]) -> Iterator[tuple[isl.Set, Vector]]:
        for domain, function in pieces_of(part.times):
            yield domain, self._full(part.leaf, exprs_of(function, names))

    def _argument_names(self, relation: isl.Map, count: int) -> tuple[str, ...]:
        """The names in the description, if they are usable."""
        given = [relation.get_dim_name(isl.dim_type.in_, k) for k in range(count)]
        taken = set(self.parameters)
        found: list[str] = []
        for k, name in enumerate(given):
            if name is None or name in taken or not str(name).isidentifier():
                name = next(n for n in (f"i{k}", f"arg{k}", f"argument{k}") if n not in taken)
            taken.add(name)
            found.append(str(name))
        return tuple(found)

    # -- statements whose instances have several ----------------------------------------------

    def _several(self, key: Key, parts: list[CallTimes], mine: list[Run]) -> Shape:
        names = self._argument_names(parts[0].times, key[1])
        taken = {*names, *self.parameters}
        places = tuple(f"t{k}" if f"t{k}" not in taken else f"time{k}" for k in range(self.width))
        formulas: list[Test] = []
        for part in parts:
            points = part.times.wrap().flatten().gist_params(self.known.context)
            formulas.append(
                conjunction(
                    [formula_of(points, self._point_names(part, names, places)), *self._fixed(part, places)]
                )
            )
        chosen = choose(mine, [part.times for part in parts])
        if isinstance(chosen, Run):
            raise GaveUp(
                Code.NO_PROOF,
                f"no proof can be written: a call of {key[0]} does not say at which time it runs",
            )
        executions = []
        for one in chosen:
            part = parts[one.leaf]
            time = self._full(part.leaf, self._bands(one.run))
            point_names = self._point_names(part, names, places)
            executions.append(ExecutedPoints(one.run, one.points, point_names, time))
            self._time(one.run.position, self._full_map(part.leaf, one.times))
        if len({one.names for one in executions}) > 1:
            raise GaveUp(Code.NO_PROOF, f"no proof can be written: {key[0]} runs at times of different forms")
        wanted = reduce(isl.Set.union, (part.times.wrap().flatten() for part in parts))
        return Shape(names, disjunction(formulas), wanted, None, places, tuple(executions))

    def _point_names(
        self, part: CallTimes, names: tuple[str, ...], places: tuple[str, ...]
    ) -> tuple[str, ...]:
        return (*names, *(places[k] for k, c in enumerate(self.columns[part.leaf]) if not isinstance(c, int)))

    def _fixed(self, part: CallTimes, places: tuple[str, ...]) -> list[Test]:
        columns = [*self.columns[part.leaf]]
        columns += [0] * (self.width - len(columns))
        return [
            Compare(Relation.EQ, Var(place), Int(column))
            for place, column in zip(places, columns, strict=True)
            if isinstance(column, int)
        ]

    def _bands(self, run: Run) -> Vector:
        """The values of the bands as expressions of the iterators."""
        given = self.calls[run.position].time
        if given is None:
            raise GaveUp(
                Code.NO_PROOF,
                f"no proof can be written: a call of {run.name} does not say at which time it runs",
            )
        return given


def pieces_of(function: isl.Map) -> list[tuple[isl.Set, isl.MultiAff]]:
    """A single-valued map as quasi-affine functions on disjoint domains."""
    return pieces_of_function(function.coalesce())
