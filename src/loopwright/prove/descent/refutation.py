"""Finds sizes at which a source differs from OLD: both are run, for small sizes and just past a tile.

A statement is an uninterpreted function of the cells it reads: values are equal if they are computed by the
same statements from equal values.  If the runs end with different values, C arithmetic on generated inputs
decides (`prove.equivalence.running`).

Also: sizes for which a statement of a source executes at all; a fault in it shows there, or for larger ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field as field_of
from functools import cached_property
from itertools import product
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Block, Call, For, If, Node
from loopwright.loops.traverse import calls_in, with_calls
from loopwright.model.program import Program
from loopwright.presburger.named import fixed_parameters, parameter_names
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import within_effort
from loopwright.prove.descent.encoding import NotNative
from loopwright.prove.descent.native import LONG_PARTS, NativePair, TooLong, native_pair
from loopwright.prove.descent.outside import ArraySizes, arrays_of_file, first_outside
from loopwright.prove.descent.reading import LoopText
from loopwright.prove.equivalence.assignments import Computation, computation, computations
from loopwright.prove.equivalence.pairs import Pair, pair_of
from loopwright.prove.equivalence.traces import (
    ComputedSizes,
    Runnable,
    Sizes,
    computed_sizes,
    extents,
    is_possible,
    runnable,
)
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.scanning.conditions import IteratorScope, negation, region
from loopwright.prove.scanning.executed import iterations_of
from loopwright.prove.verdict import Refuted


@dataclass(frozen=True)
class Effort:
    """Limits on loop iterations in all runs together, and in one; those of statements that access many cells
    count more than once."""

    fuel: int
    one_run: int

    def of(self, runs: tuple[Runnable, Runnable]) -> Effort:
        """The limits for two programs."""
        cells = [
            sum(1 + len(assignment.cells) for assignment in one.assignments)
            for side in runs
            for one in side.computations.values()
        ]
        weight = max(1, max(cells, default=0) // USUAL_CELLS)
        return Effort(self.fuel // weight, self.one_run // weight)


QUICK, MORE = Effort(600_000, 400_000), Effort(1_500_000, 650_000)
FULL, NEAR = Effort(4_500_000, 1_950_000), Effort(18_000_000, 6_000_000)
"""Before a proof is tried; after a short one failed; before any for long sources, where a run past a tile
costs less than reading does; near sizes at which one failed, where more is worthwhile."""
COSTS = (3_000, 20_000, 100_000, 500_000)
"""Iterations of OLD: runs of at most this many are tried before longer ones."""
USUAL_CELLS = 4
"""The number of cells that a usual statement accesses."""
MOST_DOUBTS, LONG_DOUBT, SHORT_RUN, LONG_RUN = 4, 2, 300, 1_000
"""After `MOST_DOUBTS` sizes at which other statements computed equal values (`LONG_DOUBT` each if runs exceed
`LONG_RUN`), as many more are tried, each at least twice as large, with runs of at most `SHORT_RUN`."""
EQUAL = (1, 2, 3, 4, 5, 6, 7, 9, 12, 17, 18)
PAST_TILE = (33, 34, 37, 40)
PAST_TWO = (65, 66, 72, 73)
SMALL, WITHIN_TILE = (3, 5, 2), (19, 24, 30)
TOGETHER, MOST_TOGETHER = (1, 2, 3, 5), 3
"""Sizes that are tried in all combinations, and for how many parameters."""
LARGEST_SUMMED, MOST_SUMMED = 40, 2
"""All sizes up to the first, for how many parameters."""
SUMMED_FIRST = ((17, 40), (40, 17), (40,))
"""Sizes at which most differences show; smaller ones that show them are found from there."""
SUMS, FEW_SUMS, MOST_UNLIKE = 24_000_000, 4_000_000, 3
"""Loop iterations in all sums together, before any proof of long sources and after one that failed; runs for
sizes at which sums differ, and results do not."""

KnownSizes: TypeAlias = tuple[tuple[str, int], ...]


def trial_of(
    old: Program, new: Program, text: LoopText, arrays: tuple[str, ...], *, reassociate: bool
) -> ProgramPair | None:
    """Prepares a trial on the cells of `arrays`; `new` is the program of the source, with its variables.

    Returns None if a statement has no values that can be computed.
    """
    try:
        own = _computations(new, text)
        loops = with_calls(text.loops, lambda call: own[call.name].call())
        runs = Runnable(runnable(old).loops, computations(old), extents(old)), Runnable(loops, own, {})
        return ProgramPair(
            *(pair_of((old, new), runs, arrays, reassociate=reassociate), old.context, computed_sizes(old)),
            arrays_of_file(new),
        )
    except Unreadable:
        return None


@dataclass(frozen=True)
class ProgramPair:
    """Two programs that can be run, for sizes in `context`."""

    pair: Pair
    context: isl.Set
    computed: ComputedSizes = ComputedSizes()
    arrays: ArraySizes = field_of(default_factory=dict)
    """Those of the file of NEW, which it must not leave."""

    @cached_property
    def _native(self) -> NativePair | None:
        """The compiled pair; None if they cannot be run, so nothing is refuted."""
        try:
            return native_pair(self.pair)
        except NotNative:
            return None

    @cached_property
    def _passed(self) -> dict[KnownSizes, int]:
        """Sizes with equal results, and the cost of their runs: they need no other run."""
        return {}

    @cached_property
    def _doubted(self) -> dict[KnownSizes, int]:
        """Sizes for which other operations computed the same values: they are not tried again."""
        return {}

    def difference(
        self, effort: Effort = FULL, near: Sizes | None = None, first: tuple[int, ...] = ()
    ) -> Refuted | None:
        """Returns a cell that ends up different, for sizes `near` some at which a proof failed, or for all
        kinds of small ones; each size is also tried as one of `first`."""
        runs, own = self._native, effort.of(self.pair.runs)
        if runs is None:
            return None
        doubts, doubted = sum(self._doubted.values()), max(map(_total, self._doubted), default=0)
        fuel, most = own.fuel, own.one_run
        tried = _sizes(self.context, first) if near is None else _sizes_near(near)
        settled = (sizes for one in tried if (sizes := self.computed.settled(one)) is not None)
        for sizes, count in _cheapest_first(runs, _possible(self.context, settled), most):
            known = tuple(sizes.items())
            if known in self._doubted:
                continue
            if known in self._passed:
                fuel -= self._passed[known]
                continue
            if doubts >= MOST_DOUBTS:
                most = min(most, SHORT_RUN)
            if doubts >= MOST_DOUBTS and _total(known) < 2 * doubted:
                continue
            if count > min(fuel, most):
                continue
            try:
                took = runs.run(sizes, min(fuel, most))
            except TooLong:
                fuel -= count + min(fuel, most)
                continue
            fuel -= took
            if not runs.differs:
                self._passed[known] = took
                continue
            found = self._smaller(runs, sizes, took) or runs.confirmed(sizes)
            if found is not None:
                return found
            self._doubted[known] = 1 if took <= LONG_RUN else LONG_DOUBT
            doubts, doubted = doubts + self._doubted[known], _total(known)
            if doubts >= 2 * MOST_DOUBTS:
                break
        return None

    def difference_of_instances(self, fuel: int = SUMS) -> Refuted | None:
        """Returns a cell that ends up different at sizes for which the programs execute other instances.

        Sums over the executions show where that is, much faster than runs do, so more sizes are tried.
        """
        runs = self._native
        if runs is None:
            return None
        unlike = 0
        settled = map(self.computed.settled, _to_sum(self.context))
        for sizes in _possible(self.context, (one for one in settled if one is not None)):
            known = tuple(sizes.items())
            if known in self._doubted or known in self._passed:
                continue
            try:
                is_alike, took = runs.executes_alike(sizes, fuel)
            except TooLong:
                break
            fuel -= took
            if is_alike:
                continue
            found = self._confirmed_unlike(runs, self._least(sizes, lambda one: self._is_unlike(runs, one)))
            unlike += 1
            if found is not None or unlike == MOST_UNLIKE:
                return found
        return None

    def outside(self) -> Refuted | None:
        """Returns an access outside of an array for some small sizes: it need not change a value."""
        settled = map(self.computed.settled, _sizes(self.context, ()))
        tried = _possible(self.context, (one for one in settled if one is not None))
        return None if self._native is None else first_outside(self._native, self.arrays, tried)

    def _confirmed_unlike(self, runs: NativePair, sizes: Sizes) -> Refuted | None:
        """The difference after a run that may be long; these sizes are not tried again."""
        try:
            took = runs.run(sizes, NEAR.of(self.pair.runs).one_run)
        except TooLong:
            return None
        found = runs.confirmed(sizes, LONG_PARTS) if runs.differs else None
        if found is None:
            (self._doubted if runs.differs else self._passed)[tuple(sizes.items())] = took
        return found

    def _is_unlike(self, runs: NativePair, sizes: Sizes) -> bool:
        """Whether other instances are executed for these sizes."""
        try:
            return self._may_run(sizes) and not runs.executes_alike(sizes, SUMS)[0]
        except TooLong:
            return False

    def _least(self, sizes: Sizes, is_one: Callable[[Sizes], bool]) -> Sizes:
        """Smaller sizes of the same kind, where some are found: one parameter after the other is halved."""
        least = dict(sizes)
        for name in sizes:
            low, high = 0, least[name]
            while high - low > 1:
                tried = {**least, name: (low + high) // 2}
                if is_one(tried):
                    least, high = tried, tried[name]
                else:
                    low = tried[name]
        return least

    def _smaller(self, runs: NativePair, sizes: Sizes, took: int) -> Refuted | None:
        """The same difference after a shorter run, where one is found: listing its executions takes longer
        than many runs do, and a small witness is easier to read."""
        if not LONG_RUN < took <= COSTS[2]:
            return None
        least = self._least(sizes, lambda one: self._differs(runs, one, took))
        found = runs.confirmed(least) if least != sizes and self._differs(runs, least, took) else None
        if found is None:
            runs.run(sizes, took)
        return found

    def _may_run(self, sizes: Sizes) -> bool:
        return self.computed.settled(sizes) == sizes and any(_possible(self.context, [sizes]))

    def _differs(self, runs: NativePair, sizes: Sizes, most: int) -> bool:
        """Whether the results differ for possible sizes, after so many iterations."""
        if not self._may_run(sizes):
            return False
        try:
            runs.run(sizes, most)
        except TooLong:
            return False
        return runs.differs


def _cheapest_first(runs: NativePair, tried: Iterable[Sizes], most: int) -> list[tuple[Sizes, int]]:
    """Sizes with the iterations that OLD takes for them, sorted by the length of runs."""
    found: list[tuple[Sizes, int]] = []
    for sizes in tried:
        try:
            found.append((sizes, runs.count(sizes, most)))
        except TooLong:
            continue
    return sorted(found, key=lambda one: bisect_left(COSTS, one[1]))


def _total(sizes: KnownSizes) -> int:
    return sum(value for _, value in sizes)


def _computations(new: Program, text: LoopText) -> dict[str, Computation]:
    """The computations of the source's statements; those with equal meanings share one."""
    seen: dict[object, Computation] = {}
    found: dict[str, Computation] = {}
    for name, leaf in text.leaves.items():
        if leaf.meaning not in seen:
            seen[leaf.meaning] = computation(new, name, leaf.syntax)
        found[name] = seen[leaf.meaning].copy(name, leaf.place.line)
    return found


def _sizes(context: isl.Set, first: tuple[int, ...]) -> list[Sizes]:
    """All small; one of them 0 or below; one just past a tile and the others small; all but one past a tile,
    all, and past two tiles; the largest first, which show most."""
    past = PAST_TILE[::-1]
    names, fixed = parameter_names(context), fixed_parameters(context)
    free = [name for name in names if name not in fixed]

    def one_of_them(size: int, others: int) -> list[Sizes]:
        return [{name: size if name == one else others for name in free} for one in free]

    tried = [sizes for least in first for sizes in one_of_them(least, 3)]
    for size in EQUAL:
        tried.append(dict.fromkeys(free, size))
        tried += [{name: size + (k + turn) % 3 for k, name in enumerate(free)} for turn in (1, 2) if size < 6]
        for least in (3, 1) if size == 4 else ():
            tried += one_of_them(PAST_TILE[0], least)
    tried += one_of_them(0, 9) + one_of_them(-1, 9)
    for small, large in product(SMALL, past):
        tried += one_of_them(large, small)
    if 1 < len(free) <= MOST_TOGETHER:
        tried += [dict(zip(free, one, strict=True)) for one in product(TOGETHER, repeat=len(free))]
    for small, large in product((1, 2), WITHIN_TILE):
        tried += one_of_them(large, small)
    tried += one_of_them(PAST_TWO[0], 2) + one_of_them(PAST_TWO[0], 3)
    for small, large in product((2, 9, 17), past):
        tried += one_of_them(small, large)
    tried += [dict.fromkeys(free, size) for size in (*past, *PAST_TWO)]
    return [{**fixed, **sizes} for sizes in tried]


def _to_sum(context: isl.Set) -> list[Sizes]:
    """All small sizes of one parameter or two; the smallest first."""
    fixed = fixed_parameters(context)
    free = [name for name in parameter_names(context) if name not in fixed]
    if len(free) > MOST_SUMMED:
        return []
    tried = product(range(1, LARGEST_SUMMED + 1), repeat=len(free))
    order = sorted(tried, key=lambda one: (one not in SUMMED_FIRST, sum(one)))
    return [{**fixed, **dict(zip(free, one, strict=True))} for one in order]


def _sizes_near(near: Sizes) -> list[Sizes]:
    """The same sizes, and with other small ones in place of those that are small: many faults show only if
    every loop has an iteration."""
    tried: list[Sizes] = [dict(near)]
    tried += [{name: max(value, least) for name, value in near.items()} for least in (1, 2, 3, 5)]
    tried += [{name: max(value, 3) + more for name, value in near.items()} for more in (1, 2)]
    return tried


def _possible(context: isl.Set, tried: Iterable[Sizes]) -> Iterator[Sizes]:
    """Yields the distinct sizes that the context allows."""
    fixed = fixed_parameters(context)
    seen: set[KnownSizes] = set()
    for sizes in tried:
        values = {**fixed, **sizes}
        known = tuple(values.items())
        if known not in seen and is_possible(context, values):
            seen.add(known)
            yield values


EFFORT = 500_000
"""Maximum number of isl operations, less than half a second."""


def sizes_reaching(text: LoopText, name: str, context: isl.Set) -> Sizes:
    """The smallest sizes for which the statement executes; none if it never does, or isl takes too long."""
    try:
        return within_effort(EFFORT, lambda: _reaching_sizes(text, name, context))
    except isl.Error:
        return {}


def _reaching_sizes(text: LoopText, name: str, context: isl.Set) -> Sizes:
    domain = _reached(text.loops, name, IteratorScope(isl.Set.from_params(context), {}))
    point = None if domain is None else smallest_point(domain.params())
    return {} if point is None else dict(point.parameters)


def _reached(node: Node, name: str, scope: IteratorScope) -> isl.Set | None:
    """The iterators for which a statement in `node` executes."""
    match node:
        case Call():
            return scope.domain if node.name == name else None
        case Block(children):
            found = (_reached(child, name, scope) for child in children)
            return next((one for one in found if one is not None), None)
        case If(test, then, orelse):
            if name in calls_in(then):
                return _reached(then, name, scope.within(region(test, scope)))
            if orelse is not None and name in calls_in(orelse):
                return _reached(orelse, name, scope.within(region(negation(test), scope)))
        case For(step=step, body=body) if step > 0 and name in calls_in(body):
            return _reached(body, name, iterations_of(node, scope))
    return None
