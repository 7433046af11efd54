"""Matches calls with the schedule: which instance each execution is, and when it should execute.

A target is what calls of one name and number of arguments must execute, each point of it once.  If every such
instance has one time, a point is the instance itself.  If instances have several, it is an instance with one
of its times, in one leaf of the tree, and a call must say which: its time, given as a hint, is not trusted:
the obligations must hold with it.  If a call has no hint, as in a program that was read from source, the time
is guessed: a dimension that the instance does not determine is the value of an iterator, outer before inner.
A wrong choice makes an obligation fail, and then the answer is undecided rather than no.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import IndependentLoops
from loopwright.model.schedule import Schedule
from loopwright.presburger.dimensions import only
from loopwright.presburger.equalities import AffineForm, AffineValues, affine_values
from loopwright.presburger.sets import IN, OUT, sorted_maps
from loopwright.prove.scanning.executed import Kinds, Run
from loopwright.prove.scanning.meaning import AnyPosition, BandDimension, Meaning, SequencePosition
from loopwright.prove.verdict import Undecided

Key: TypeAlias = tuple[str, int]
"""A statement's name and its number of arguments."""
Entry: TypeAlias = SequencePosition | AnyPosition | tuple[BandDimension, AffineForm | None]
"""A column of a call's time: a position, or a band dimension as a function of the iterators."""


@dataclass(frozen=True, eq=False)
class CallTimes:
    """The schedule of the calls `key` in one leaf: [arguments] -> [band dimensions]."""

    key: Key
    leaf: int
    times: isl.Map


@dataclass(frozen=True, eq=False)
class TargetExecutions:
    """A call as executions of a target: [p] -> point, for iterator vectors p in the call's domain."""

    run: Run
    points: isl.Map


@dataclass(frozen=True, eq=False)
class Target:
    """The points `wanted` must be executed once each, by `executions` together."""

    key: Key
    wanted: isl.Set
    executions: tuple[TargetExecutions, ...]
    several_times: bool
    """Whether a point is the arguments followed by the time, rather than the arguments alone."""


@dataclass(frozen=True, eq=False)
class CallPiece:
    """A call, or the part of it in one leaf of the schedule, with its time: [p] -> [band dimensions]."""

    run: Run
    times: isl.Map
    entries: tuple[Entry, ...]
    values: AffineValues
    chosen: bool
    """Whether the time was chosen among several of the instance."""
    independent: dict[int, Kinds]
    """For band dimensions whose loops must be independent, the kinds."""

    def wanted(self, column: int) -> Kinds:
        """The kinds of independence required of the loop that scans a column of the times."""
        match self.entries[column]:
            case (BandDimension(index), _):
                return self.independent.get(index, frozenset())
            case _:
                return frozenset()


@dataclass(frozen=True, eq=False)
class MatchedCalls:
    targets: tuple[Target, ...]
    strays: tuple[Run, ...]
    """Calls of statements that are not in the schedule."""
    pieces: tuple[CallPiece, ...]


def timed_calls(schedule: Schedule, known: Meaning) -> tuple[CallTimes, ...] | Undecided:
    """The schedule in terms of calls: names and arguments, through T if it is given."""
    found: dict[tuple[Key, int], isl.Map] = {}
    for number, leaf in enumerate(known.leaves):
        for times in sorted_maps(leaf.times):
            name = times.get_tuple_name(IN) or ""
            shown = _shown(times, schedule.arguments.get(name))
            if shown is None:
                return Undecided(f"several instances of {name or 'a statement'} are one call at one time")
            key = (name, shown.dim(IN))
            earlier = found.get((key, number))
            if earlier is not None and not earlier.is_disjoint(shown):
                return Undecided(f"instances of two spaces are the same call of {name or 'a statement'}")
            found[key, number] = shown if earlier is None else earlier.union(shown)
    aligned = known.context.get_space()
    return tuple(
        CallTimes(key, number, times.align_params(aligned).coalesce())
        for (key, number), times in found.items()
    )


def _shown(times: isl.Map, transformation: isl.Map | None) -> isl.Map | None:
    """`times` with instances replaced by arguments, or None if two points coincide."""
    if transformation is None:
        return _plain(times)
    used = transformation.intersect_domain(times.domain())
    if not used.is_injective():
        both = times.domain_map().apply_range(transformation).range_product(times.range_map())
        if not both.is_injective():
            return None
    if not times.domain().is_subset(transformation.domain()) or not used.is_single_valued():
        return None
    return _plain(times.apply_domain(transformation))


def _plain(times: isl.Map) -> isl.Map:
    flat = times.flatten_domain().flatten_range()
    return flat.reset_tuple_id(IN).reset_tuple_id(OUT)


def match(
    known: Meaning,
    timed: tuple[CallTimes, ...],
    calls: tuple[Run, ...],
    independent: Sequence[IndependentLoops],
) -> MatchedCalls | Undecided:
    """Matches every call with its target, and with the pieces of the schedule's leaves that it executes."""
    by_key: dict[Key, list[CallTimes]] = {}
    for one in timed:
        by_key.setdefault(one.key, []).append(one)
    called: dict[Key, list[Run]] = {}
    for run in calls:
        called.setdefault((run.name, run.arguments.dim(OUT)), []).append(run)
    targets: list[Target] = []
    pieces: list[CallPiece] = []
    for key, parts in by_key.items():
        mine = called.get(key, [])
        found = _with_one_time(key, parts, mine) if have_one_time(parts) else _with_times(key, parts, mine)
        if isinstance(found, Undecided):
            return found
        for target, timing in found:
            targets.append(target)
            pieces.extend(_piece(known, independent, target, *entry) for entry in timing)
    strays = tuple(run for key, runs in called.items() if key not in by_key for run in runs)
    return MatchedCalls(tuple(targets), strays, tuple(sorted(pieces, key=lambda piece: piece.run.position)))


Timing: TypeAlias = list[tuple[CallTimes, Run, isl.Map]]


def have_one_time(parts: list[CallTimes]) -> bool:
    """Whether every instance has one time, in one leaf."""
    if not all(part.times.is_single_valued() for part in parts):
        return False
    domains = [part.times.domain() for part in parts]
    return all(a.is_disjoint(b) for k, a in enumerate(domains) for b in domains[:k])


def _with_one_time(key: Key, parts: list[CallTimes], calls: list[Run]) -> list[tuple[Target, Timing]]:
    wanted = reduce(isl.Set.union, (part.times.domain() for part in parts)).coalesce()
    executions = tuple(TargetExecutions(run, _graph(run, run.arguments)) for run in calls)
    timing = [(part, one.run, one.points.apply_range(part.times)) for one in executions for part in parts]
    if len(parts) > 1:
        timing = [entry for entry in timing if not entry[2].is_empty()]
    return [(Target(key, wanted, executions, several_times=False), timing)]


def _graph(run: Run, function: isl.MultiPwAff) -> isl.Map:
    return function.as_map().intersect_domain(run.domain)


def _with_times(
    key: Key, parts: list[CallTimes], calls: list[Run]
) -> list[tuple[Target, Timing]] | Undecided:
    """A target for each leaf, whose points are instances with a time."""
    chosen = choose(calls, [part.times for part in parts])
    if isinstance(chosen, Run):
        return Undecided(f"{key[0] or 'a statement'} runs at several times, and a call does not say which")
    found: list[tuple[Target, Timing]] = []
    for k, part in enumerate(parts):
        mine = [one for one in chosen if one.leaf == k]
        executions = tuple(TargetExecutions(one.run, one.points) for one in mine)
        target = Target(key, part.times.wrap().flatten(), executions, several_times=True)
        found.append((target, [(part, one.run, one.times) for one in mine]))
    return found


def _piece(
    known: Meaning,
    independent: Sequence[IndependentLoops],
    target: Target,
    part: CallTimes,
    run: Run,
    times: isl.Map,
) -> CallPiece:
    times = times.align_params(known.context.get_space())
    values = affine_values(times)
    found: dict[int, Kinds] = {}
    here = ((one.kind, one.dimension) for one in independent if _is_at(times, values, one.positions))
    for kind, dimension in (*known.leaves[part.leaf].independent, *here):
        found[dimension] = found.get(dimension, frozenset()) | {kind}
    entries = tuple(_entries(known, part, values.forms))
    return CallPiece(run, times, entries, values, target.several_times, found)


def _is_at(times: isl.Map, values: AffineValues, positions: tuple[int, ...]) -> bool:
    """Whether dimensions 0, 2, ... of all times are `positions`."""
    forms = values.forms[: 2 * len(positions) : 2]
    if all(form is not None and not form.coefficients and not any(form.rest[:-1]) for form in forms):
        return tuple(form.rest[-1] for form in forms if form is not None) == positions
    fixed = times
    for k, position in enumerate(positions):
        fixed = fixed.fix_val(OUT, 2 * k, isl.Val.int_from_si(times.get_ctx(), position))
    return bool(times.is_subset(fixed))


def _entries(known: Meaning, part: CallTimes, forms: tuple[AffineForm | None, ...]) -> Iterator[Entry]:
    for column in known.leaves[part.leaf].columns:
        yield (column, forms[column.index]) if isinstance(column, BandDimension) else column


@dataclass(frozen=True, eq=False)
class ChosenTimes:
    """The executions of a call as points (arguments, time) of the `leaf`-th relation given."""

    run: Run
    leaf: int
    points: isl.Map
    times: isl.Map


def choose(calls: list[Run], leaves: list[isl.Map]) -> list[ChosenTimes] | Run:
    """Chooses times for every call, or returns a call for which there are none.

    `leaves` are relations [arguments] -> [band dimensions].  A call belongs to the first that contains all
    its points, none of them taken by an earlier call, or else to the first that it fits.
    """
    chosen: list[ChosenTimes] = []
    for run in calls:
        if run.domain.is_empty():
            continue
        candidates = list(_candidates(run, leaves))
        if not candidates:
            return run
        holding = [one for one in candidates if one.points.range().is_subset(_points(leaves[one.leaf]))]
        free = [one for one in holding if not any(_overlap(one, other) for other in chosen)]
        chosen.append((free or holding or candidates)[0])
    return chosen


def _overlap(one: ChosenTimes, other: ChosenTimes) -> bool:
    return one.leaf == other.leaf and not one.points.range().is_disjoint(other.points.range())


def _points(relation: isl.Map) -> isl.Set:
    return relation.wrap().flatten()


def _candidates(run: Run, leaves: list[isl.Map]) -> Iterator[ChosenTimes]:
    arguments = run.arguments.as_map().intersect_domain(run.domain)
    for number, relation in enumerate(leaves):
        times = _guess(run, arguments.apply_range(relation)) if run.hint is None else _given(run, run.hint)
        if times is not None and times.dim(OUT) == relation.dim(OUT):
            yield ChosenTimes(run, number, arguments.flat_range_product(times), times)


def _given(run: Run, hint: isl.MultiPwAff) -> isl.Map:
    return hint.as_map().intersect_domain(run.domain)


def _guess(run: Run, times: isl.Map) -> isl.Map | None:
    """One time for each p, from the relation [p] -> [t] to all times of its instance."""
    if not run.domain.is_subset(times.domain()):
        return None
    unused = 0
    for k in range(times.dim(OUT)):
        if only(times, OUT, k).is_single_valued():
            continue
        same = _as_iterator(run, times, k, unused)
        if same is None:
            return None
        times, unused = same
    return times


def _as_iterator(run: Run, times: isl.Map, k: int, unused: int) -> tuple[isl.Map, int] | None:
    """`times` with t_k equal to the first unused iterator that it can always equal, and the next index."""
    for j in range(unused, run.depth):
        same = times.equate(IN, j, OUT, k)
        if run.domain.is_subset(same.domain()):
            return same, j + 1
    return None
