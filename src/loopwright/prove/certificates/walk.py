"""The walk down a program's tree: its position, and times between the children of a block, which isl finds.

It also provides calls with their times, and the entries of the time that are the same functions of iterators
in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import reduce
from itertools import chain, takewhile
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Expr, FloorDiv, Int, Max, Min, Relation, Sum, Test, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.sums import LinearSum
from loopwright.loops.traverse import subprograms, substituted_expr
from loopwright.presburger.dimensions import first
from loopwright.presburger.equalities import AffineForm, AffineValues, affine_values
from loopwright.presburger.functions import pieces_of_function
from loopwright.presburger.named import COMPARED
from loopwright.presburger.sets import IN, within_effort
from loopwright.prove.obligations.formulas import expr_of
from loopwright.prove.obligations.timetable import Timetable, pieces_of
from loopwright.prove.scanning.conditions import IteratorScope, region, value
from loopwright.prove.scanning.executed import Run, bound_by, iterations_of


@dataclass(frozen=True, eq=False)
class TimedCall:
    """A call with its time, [p] -> [time], and the entries that are affine functions of p."""

    run: Run
    times: isl.Map
    values: AffineValues
    runs: bool
    """Whether it has an execution."""

    @property
    def forms(self) -> tuple[AffineForm | None, ...]:
        return self.values.forms

    def has_iterator(self, place: int, depth: int) -> bool:
        """Whether the entry is this iterator in every execution."""
        form = self.forms[place]
        if not self.runs or form is None:
            return not self.runs
        return self.values.normal(AffineForm((*[0] * depth, 1), (0,) * len(form.rest))) == form


def timed(table: Timetable, run: Run) -> TimedCall:
    """A call with its times; one not in the schedule never executes, or another obligation fails."""
    times = table.times.get(run.position)
    if times is None:
        space = run.domain.get_space().from_domain().add_dims(isl.dim_type.out, table.width)
        times = isl.Map.empty(space)
    return TimedCall(run, times, affine_values(times), not times.is_empty())


def count_calls(node: Node) -> int:
    return sum(isinstance(one, Call) for one in subprograms(node))


def by_child(children: Sequence[Node], calls: Sequence[TimedCall]) -> list[Sequence[TimedCall]]:
    """The calls of each child of a block."""
    found: list[Sequence[TimedCall]] = []
    start = 0
    for child in children:
        end = start + count_calls(child)
        found.append(calls[start:end])
        start = end
    return found


def entry(calls: Sequence[TimedCall], place: int, depth: int) -> AffineForm | int | None:
    """The entry as one function of the outer `depth` iterators in all calls: a form, or an iterator.

    A condition around a call may give its entry another form than that of the iterator it equals.
    """
    if not calls:
        return None
    forms = {one.forms[place] for one in calls}
    form = next(iter(forms))
    if len(forms) == 1 and form is not None and len(form.coefficients) <= depth:
        return form
    return next((k for k in range(depth) if _is_iterator(calls, place, k)), None)


def _is_iterator(calls: Sequence[TimedCall], place: int, depth: int) -> bool:
    """Whether the entry is this iterator in every execution of every call."""
    return all(one.has_iterator(place, depth) for one in calls)


def shared(calls: Sequence[TimedCall], depth: int) -> int:
    """How many leading entries are the same functions of the outer iterators."""
    width = len(calls[0].forms)
    return next((k for k in range(width) if entry(calls, k, depth) is None), width)


def iterator_place(calls: Sequence[TimedCall], depth: int) -> int | None:
    """The entry of the time that is iterator `depth`, if all before it are equal in all calls."""
    for k in range(len(calls[0].forms) if calls else 0):
        if _is_iterator(calls, k, depth):
            return k
        if entry(calls, k, depth) is None:
            return None
    return None


Vector: TypeAlias = tuple[Expr, ...]

EFFORT = 30_000
"""Maximum number of isl operations for the first or the last time of several calls."""


@dataclass(frozen=True, eq=False)
class WalkPosition:
    """The position of the walk: the iterators for which it is reached, and distinct names for them."""

    scope: IteratorScope
    iterators: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def depth(self) -> int:
        return len(self.iterators)

    def names(self, parameters: Sequence[str]) -> dict[str, str]:
        same = {name: name for name in parameters}
        return {**same, **dict(zip(self.iterators, self.shown, strict=True))}

    def entered(self, loop: For, parameters: Sequence[str]) -> WalkPosition:
        fresh = _fresh(loop.iterator, (*self.shown, *parameters))
        inside = iterations_of(loop, self.scope)
        return WalkPosition(inside, (*self.iterators, loop.iterator), (*self.shown, fresh))

    def entered_let(self, let: Let) -> WalkPosition:
        """The position inside a let, which counts as a loop of one iteration."""
        inside = bound_by(let, self.scope)
        shown = (*self.shown, _fresh(let.name, self.shown))
        return WalkPosition(inside, (*self.iterators, let.name), shown)

    def where(self, test: Test) -> WalkPosition:
        return replace(self, scope=self.scope.within(region(test, self.scope)))


def _fresh(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


@dataclass(frozen=True, eq=False)
class Walk:
    table: Timetable
    known: dict[TimedCall, tuple[isl.Set, isl.PwMultiAff]] = field(default_factory=dict)
    """A cache of calls: when they execute, and their times."""

    def common(self, calls: Sequence[TimedCall], count: int, place: WalkPosition) -> Vector:
        """The leading entries that are the same functions of the outer iterators in all calls."""
        known = (self.shared(calls, k, place) for k in range(count))
        return tuple(one for one in takewhile(lambda one: one is not None, known) if one is not None)

    def shared(self, calls: Sequence[TimedCall], k: int, place: WalkPosition) -> Expr | None:
        """The common value of all calls in this entry, in terms of the iterators around."""
        match entry(calls, k, place.depth):
            case AffineForm() as form:
                return self.expr(form, place)
            case int(iterator):
                return Var(place.shown[iterator])
            case None:
                return None

    def expr(self, form: AffineForm, place: WalkPosition) -> Expr:
        outer = zip(form.coefficients, place.shown, strict=False)
        parameters = zip(form.rest[:-1], self.table.parameters, strict=True)
        found = LinearSum(constant=form.rest[-1])
        for factor, name in chain(outer, parameters):
            found = found.plus_term(factor, Var(name)) if factor else found
        return found.expr() if form.denominator == 1 else FloorDiv(found.expr(), form.denominator)

    # -- blocks --------------------------------------------------------------------------------

    def cuts(
        self,
        children: Sequence[Node],
        parts: Sequence[Sequence[TimedCall]],
        place: WalkPosition,
        known: Vector,
    ) -> list[Vector] | None:
        """Times between the children, each after all of one and not after any of the next.

        All begin with the known prefix of the time.
        """
        found: list[Vector] = []
        for k in range(len(children) - 1):
            for candidate in self.candidates(children[k : k + 2], parts[k : k + 2], place):
                cut = (*known, *candidate[len(known) :])
                if self.between(parts[k], cut, place, -1) and self.between(parts[k + 1], cut, place, 1):
                    if found and not self.grows(found[-1], cut, place):
                        continue
                    found.append(cut)
                    break
            else:
                return None
        return found

    def candidates(
        self, children: Sequence[Node], pair: Sequence[Sequence[TimedCall]], place: WalkPosition
    ) -> Iterator[Vector]:
        """Yields the start of the later child, the time after the earlier, and their loop bounds."""
        everything = [one for part in pair for one in part]
        if not everything:
            return
        count = shared(everything, place.depth)
        common = self.common(everything, count, place)
        if count == self.table.width:
            return
        for end in range(count + 1, self.table.width + 1):
            if entry(pair[1], end - 1, place.depth) is not None:
                yield (*common, *self.common(pair[1], end, place)[count:])
            else:
                break
        if entry(pair[0], count, place.depth) is not None:
            *_, last = self.common(pair[0], count + 1, place)
            yield (*common, Sum((last, Int(1))))
        for bound in self.bounds(children, place):
            yield (*common, bound)
        for extreme in self.extremes(pair, place):
            yield from (extreme[:end] for end in range(count + 1, self.table.width + 1))

    def extremes(self, pair: Sequence[Sequence[TimedCall]], place: WalkPosition) -> Iterator[Vector]:
        """Yields the first time of the later child, and the successor of the last of the earlier."""
        for part, beyond in ((pair[1], 0), (pair[0], 1)):
            if part:
                pieces = self.extreme(part, place.depth, beyond)
                if len(pieces) == 1:
                    function = pieces[0][1]
                    *most, last = (expr_of(function.get_at(k), place.shown) for k in range(self.table.width))
                    yield (*most, Sum((last, Int(beyond))) if beyond else last)

    def extreme(
        self, calls: Sequence[TimedCall], depth: int, beyond: int
    ) -> list[tuple[isl.Set, isl.MultiAff]]:
        """The last time (`beyond` 1) or the first; nothing if isl takes too long."""

        def found() -> list[tuple[isl.Set, isl.MultiAff]]:
            times = self.times(calls, depth)
            return pieces_of(times.lexmax() if beyond else times.lexmin())

        try:
            return within_effort(EFFORT, found)
        except isl.Error:
            return []

    def times(self, calls: Sequence[TimedCall], depth: int) -> isl.Map:
        """The times of all calls, for each value of the outer iterators."""
        inner = [first(one.times, IN, depth) for one in calls]
        return reduce(isl.Map.union, inner)

    def bounds(self, children: Sequence[Node], place: WalkPosition) -> Iterator[Expr]:
        """Yields the ends and starts of the loops of two neighbours."""
        first, second = children
        renamed: dict[str, Expr] = {
            name: Var(new) for name, new in place.names(self.table.parameters).items()
        }
        for loop in _first_loops(second):
            yield substituted_expr(loop.start, renamed)
        for loop in _first_loops(first):
            for bound in _upper_bounds(loop):
                yield substituted_expr(bound, renamed)

    def scope(self, domain: isl.Set, place: WalkPosition) -> IteratorScope:
        return IteratorScope(domain, {name: k for k, name in enumerate(place.shown)})

    def between(self, calls: Sequence[TimedCall], cut: Vector, place: WalkPosition, side: int) -> bool:
        """Whether all times are before the cut (−1), or none is (+1)."""
        return all(self.beside(one, cut, place, side) for one in calls)

    def beside(self, call: TimedCall, cut: Vector, place: WalkPosition, side: int) -> bool:
        """Compares entry by entry, from the first undecided one, by their form or by isl."""
        if not call.runs:
            return True
        decided = next((k for k, one in enumerate(cut) if self.shown(call, k, place) != one), len(cut))
        if decided == len(cut):
            return side > 0
        match self.shown(call, decided, place), cut[decided]:
            case Int(here), Int(there):
                return (here - there) * side > 0
        same, times = self.function(call)
        scope = self.scope(call.run.domain, place)
        for k, one in enumerate(cut[decided:-1], decided):
            if not same.is_disjoint(_compared(times.get_at(k), ">" if side < 0 else "<", one, scope)):
                return False
            same = same.intersect(_compared(times.get_at(k), "==", one, scope))
            if same.is_empty():
                return True
        wrong = _compared(times.get_at(len(cut) - 1), ">=" if side < 0 else "<", cut[-1], scope)
        return bool(same.is_disjoint(wrong))

    def shown(self, call: TimedCall, k: int, place: WalkPosition) -> Expr | None:
        """Entry k of the time, if it is a function of the iterators around."""
        form = call.forms[k]
        return None if form is None or len(form.coefficients) > place.depth else self.expr(form, place)

    def function(self, call: TimedCall) -> tuple[isl.Set, isl.PwMultiAff]:
        """When a call executes, and its time as a function of the iterators, extended if it is affine."""
        if call not in self.known:
            pieces = pieces_of_function(call.times)
            whole = isl.PwMultiAff.from_multi_aff(pieces[0][1])
            if len(pieces) > 1:
                whole = isl.PwMultiAff.from_map(call.times)
            self.known[call] = call.times.domain(), whole
        return self.known[call]

    def grows(self, first: Vector, second: Vector, place: WalkPosition) -> bool:
        """Whether the second cut is not before the first."""
        same = place.scope.domain
        scope = self.scope(same, place)
        wrong = isl.Set.empty(same.get_space())
        for a, b in zip(first, second, strict=False):
            x, y = value(a, scope), value(b, scope)
            wrong = wrong.union(same.intersect(y.lt_set(x)))
            same = same.intersect(y.eq_set(x))
        if len(first) > len(second):
            wrong = wrong.union(same)
        return bool(wrong.is_empty())


def _compared(time: isl.PwAff, relation: str, limit: Expr, scope: IteratorScope) -> isl.Set:
    """The points where a time compares to a limit; a minimum or a maximum is split into its parts."""
    match limit, relation:
        case (Max(arguments), ">" | ">=") | (Min(arguments), "<"):
            return reduce(isl.Set.intersect, (_compared(time, relation, one, scope) for one in arguments))
        case (Max(arguments), "<") | (Min(arguments), ">" | ">="):
            return reduce(isl.Set.union, (_compared(time, relation, one, scope) for one in arguments))
    return COMPARED[relation](time, value(limit, scope))


def _first_loops(node: Node) -> Iterator[For]:
    """Yields the outermost loops at the start of a child of a block."""
    match node:
        case For():
            yield node
        case If(_, then, _):
            yield from _first_loops(then)
        case Remarked(body=body):
            yield from _first_loops(body)
        case Block(children):
            for child in children:
                yield from _first_loops(child)
        case _:
            return


def _upper_bounds(loop: For) -> Iterator[Expr]:
    """Yields the first value after the loop."""
    match loop.test:
        case Compare(Relation.LE, Var(name), limit) if name == loop.iterator:
            yield Sum((limit, Int(1)))
        case Compare(Relation.LT, Var(name), limit) if name == loop.iterator:
            yield limit
