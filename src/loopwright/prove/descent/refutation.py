"""Sizes at which a text does not do what OLD does: both are run, for small sizes and just past a tile.

A statement is a function of the cells it reads that nothing is known of: values are equal if they are made
by the same statements of equal values.  Where the runs end with other values, C's arithmetic on made-up
inputs decides (`prove.equivalence.running`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.presburger.named import fixed_parameters, parameter_names
from loopwright.prove.descent.reading import LoopText
from loopwright.prove.descent.running import (
    CompiledLoops,
    LoopCode,
    TooLong,
    Visit,
    compiled,
    counting,
    with_calls,
)
from loopwright.prove.equivalence.assignments import Computation, computation, computations
from loopwright.prove.equivalence.running import Pair, compared, differing, pair_of
from loopwright.prove.equivalence.terms import Apply, CellTerm, Constant, Index, InputTerm, Term
from loopwright.prove.equivalence.traces import (
    CellKey,
    ComputedSizes,
    Runnable,
    Sizes,
    StatementRun,
    Writers,
    computed_sizes,
    extents,
    is_possible,
    leading_to,
    runnable,
    writers_in,
)
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.verdict import Refuted


@dataclass(frozen=True)
class Effort:
    """How much is run: iterations of loops in all runs together, and in one; those of statements that touch
    many cells count more than once.
    """

    fuel: int
    one_run: int

    def of(self, runs: tuple[Runnable, Runnable]) -> Effort:
        """The effort for two programs."""
        cells = [
            sum(1 + len(assignment.cells) for assignment in one.assignments)
            for side in runs
            for one in side.computations.values()
        ]
        weight = max(1, max(cells, default=0) // USUAL_CELLS)
        return Effort(self.fuel // weight, self.one_run // weight)


QUICK, FULL, NEAR = Effort(30_000, 20_000), Effort(300_000, 130_000), Effort(600_000, 200_000)
"""Before a proof is tried; after one failed, and before it for long texts, where a run past a tile costs less
than reading does; near sizes at which one failed, where more is worth it."""
COSTS = (3_000, 20_000)
"""Iterations of OLD: runs of no more than these are tried before longer ones."""
USUAL_CELLS = 4
"""That a statement touches."""
MOST_DOUBTS, LONG_DOUBT, SHORT_RUN = 4, 2, 300
"""Sizes at which other statements computed the same values, those with long runs counted twice, after which
as many others are tried, each twice as large, if they run no more statements than that."""
EQUAL = (1, 2, 3, 4, 5, 6, 7, 9, 12, 17)
PAST_TILE = (33, 34, 37, 40)
SMALL = (3, 5, 2)

KnownSizes: TypeAlias = tuple[tuple[str, int], ...]
Memory: TypeAlias = dict[tuple[Any, ...], Any]
"""What cells hold: numbers of values; a cell that is not in it holds what it did before."""


@dataclass(frozen=True)
class _Side:
    """A program with what its statements do; `write` runs it with values as numbers."""

    code: LoopCode
    computations: Mapping[str, Computation]
    write: CompiledLoops
    memory: Memory


def trial_of(
    old: Program, new: Program, text: LoopText, arrays: tuple[str, ...], *, reassociate: bool
) -> ProgramPair | None:
    """Of cells of `arrays`; `new` is where the text stands, with its variables.

    None where a statement has no values that could be computed.
    """
    try:
        own = _computations(new, text)
        loops = with_calls(text.loops, lambda call: own[call.name].call())
        runs = Runnable(runnable(old).loops, computations(old), extents(old)), Runnable(loops, own, {})
        return ProgramPair(
            pair_of((old, new), runs, arrays, reassociate=reassociate), old.context, computed_sizes(old)
        )
    except Unreadable:
        return None


@dataclass(frozen=True)
class ProgramPair:
    """Two programs that can be run, for sizes in `context`."""

    pair: Pair
    context: isl.Set
    computed: ComputedSizes = ComputedSizes()

    @cached_property
    def _sides(self) -> tuple[_Side, _Side]:
        shapes: dict[Term, int] = {}
        before, after = (_side(one.loops, one.computations, shapes) for one in self.pair.runs)
        return before, after

    @cached_property
    def _count(self) -> CompiledLoops:
        """Tells how many iterations a run of OLD takes, in less time."""
        return counting(self.pair.runs[0].loops)

    @cached_property
    def _passed(self) -> dict[KnownSizes, int]:
        """Sizes for which both ended with the same values, and how long that took: they need no other run."""
        return {}

    @cached_property
    def _doubted(self) -> dict[KnownSizes, int]:
        """Sizes for which other operations computed the same values: they are not looked at again."""
        return {}

    def difference(
        self, effort: Effort = FULL, near: Sizes | None = None, first: tuple[int, ...] = ()
    ) -> Refuted | None:
        """A cell that ends up different, for sizes `near` some at which a proof failed, or for all kinds of
        small ones; each size is also one of `first`.
        """
        before, after = self._sides
        doubts, doubted = sum(self._doubted.values()), max(map(_total, self._doubted), default=0)
        own = effort.of(self.pair.runs)
        fuel, most = own.fuel, own.one_run
        tried = _sizes(self.context, first) if near is None else _sizes_near(near)
        settled = (sizes for one in tried if (sizes := self.computed.settled(one)) is not None)
        for sizes, count in self._cheapest_first(_possible(self.context, settled), most):
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
            before.memory.clear()
            after.memory.clear()
            try:
                took = before.write(sizes, count) + after.write(sizes, min(fuel, most))
            except TooLong:
                fuel -= count + min(fuel, most)
                continue
            fuel -= took
            places = _different(before.memory, after.memory, self.pair.arrays)
            if not places:
                self._passed[known] = took
                continue
            found = _confirmed(self.pair, before, after, sizes, places)
            if found is not None:
                return found
            self._doubted[known] = 1 if took <= LONG_RUN else LONG_DOUBT
            doubts, doubted = doubts + self._doubted[known], _total(known)
            if doubts >= 2 * MOST_DOUBTS:
                break
        return None

    def _cheapest_first(self, tried: Iterable[Sizes], most: int) -> list[tuple[Sizes, int]]:
        """Sizes with the iterations that OLD takes for them, those with short runs first."""
        found: list[tuple[Sizes, int]] = []
        for sizes in tried:
            try:
                found.append((sizes, self._count(sizes, most)))
            except TooLong:
                continue
        return sorted(found, key=lambda one: bisect_left(COSTS, one[1]))


def _total(sizes: KnownSizes) -> int:
    return sum(value for _, value in sizes)


def _computations(new: Program, text: LoopText) -> dict[str, Computation]:
    """What the statements of the text do; those with the same meaning do the same."""
    seen: dict[object, Computation] = {}
    found: dict[str, Computation] = {}
    for name, leaf in text.leaves.items():
        if leaf.meaning not in seen:
            seen[leaf.meaning] = computation(new, name, leaf.syntax)
        found[name] = replace(seen[leaf.meaning], name=name, line=leaf.place.line)
    return found


def _side(
    loops: Node,
    computations: Mapping[str, Computation],
    shapes: dict[Term, int],
) -> _Side:
    """The copies of a statement in an unrolled or tiled text are the same function."""
    memory: Memory = {}
    same: dict[tuple[int, int], Visit] = {}
    visitors: dict[str, Visit] = {}
    for name, one in computations.items():
        key = id(one.assignments), id(one.columns)
        if key not in same:
            same[key] = _writer(one, memory, shapes)
        visitors[name] = same[key]
    code = compiled(loops)
    return _Side(code, computations, code.visiting(visitors), memory)


def _writer(one: Computation, memory: Memory, shapes: dict[Term, int]) -> Visit:
    """A function of the values of the columns that does what the statement does to the memory.

    A value is the hash of what it is made of: two that are equal by accident hide a difference, no more.
    """
    names = [f"c{k}" for k in range(len(one.columns))]
    lines = [f"def visit({', '.join(names)}):"]

    def cell(place: CellTerm) -> str:
        return f"({', '.join([repr(place.array), *(names[one.columns[s]] for s in place.subscripts), ''])})"

    for assignment in one.assignments:
        parts: list[str] = []
        shape = _shape(assignment.value, parts, lambda index: names[one.columns[index.value]], cell)
        number = shapes.setdefault(shape, len(shapes))
        key = f"({', '.join([str(number), *_read_once(parts), ''])})"
        lines.append(f"    memory{_item(cell(assignment.target))} = hash({key})")
    space: dict[str, Any] = {"memory": memory, "get": memory.get, "hash": hash}
    exec(compile("\n".join(lines), "<statement>", "exec"), space)
    visit: Visit = space["visit"]
    return visit


def _read_once(parts: list[str]) -> list[str]:
    """Expressions of Python, evaluated in their order, with names for those that come again."""
    counts = Counter(parts)
    again = {one: f"r{k}" for k, one in enumerate(counts) if counts[one] > 1 and "(" in one}
    first = {one: k for k, one in reversed([*enumerate(parts)])}
    return [
        one if one not in again else f"({again[one]} := {one})" if first[one] == k else again[one]
        for k, one in enumerate(parts)
    ]


def _item(place: str) -> str:
    return f"[{place}]"


def _shape(
    term: Term, parts: list[str], index: Callable[[Index], str], cell: Callable[[CellTerm], str]
) -> Term:
    """The term without its cells and integers, which are added to `parts` as expressions of Python."""
    match term:
        case Constant():
            return term
        case Index(_, kind):
            parts.append(index(term))
            return Constant("an integer", kind)
        case CellTerm(_, _, kind):
            parts.append(f"get(at := {cell(term)}, at)")
            return Constant("a cell", kind)
        case Apply(operator, arguments, kind):
            return Apply(operator, tuple(_shape(one, parts, index, cell) for one in arguments), kind)
        case InputTerm():
            raise AssertionError("a statement reads cells")


def _different(one: Memory, other: Memory, arrays: tuple[str, ...]) -> list[CellKey]:
    """The cells with other values at the end."""
    return [
        (place[0], place[1:])
        for place in {**one, **other}
        if place[0] in arrays and one.get(place, place) != other.get(place, place)
    ]


FEW_CELLS, WHOLE_RUN, LONG_RUN = 3, 100, 1_000
"""Cells that are looked at by themselves before all are, in runs of more executions than the second; a doubt
about a run of more than the third counts twice."""


def _confirmed(
    pair: Pair, before: _Side, after: _Side, sizes: Sizes, places: list[CellKey]
) -> Refuted | None:
    """The difference in values, if there is one, and the original stays inside its arrays.

    What leads to those of the cells that seem to differ which are done first is a small part of long runs.
    """
    steps = _steps(before, sizes), _steps(after, sizes)
    if not pair.runs[0].is_defined(steps[0], sizes):
        return None
    if max(map(len, steps)) <= WHOLE_RUN:
        found = compared(pair, steps, sizes)
        return found if isinstance(found, Refuted) else None
    writers = writers_in(steps[0]), writers_in(steps[1])
    for place in _first_done(writers, places)[:FEW_CELLS]:
        parts = leading_to(steps[0], place, writers[0]), leading_to(steps[1], place, writers[1])
        if differing(pair, parts, [place]) is not None:
            found = compared(pair, parts, sizes, only=place)
            return found if isinstance(found, Refuted) else None
    wrong = differing(pair, steps, places)
    if wrong is None:
        return None
    parts = leading_to(steps[0], wrong, writers[0]), leading_to(steps[1], wrong, writers[1])
    found = compared(pair, parts, sizes, only=wrong)
    return found if isinstance(found, Refuted) else None


def _first_done(writers: tuple[Writers, Writers], places: list[CellKey]) -> list[CellKey]:
    """The cells in the order in which both runs are done with them."""
    return sorted(places, key=lambda place: (max(own.get(place, (0,))[-1] for own in writers), place))


def _steps(side: _Side, sizes: Sizes) -> tuple[StatementRun, ...]:
    found: list[StatementRun] = []

    def visitor(one: Computation) -> Visit:
        return lambda *values: found.append(StatementRun(one, values))

    visitors = {name: visitor(one) for name, one in side.computations.items()}
    side.code.visiting(visitors)(sizes, NEAR.one_run)
    return tuple(found)


def _sizes(context: isl.Set, first: tuple[int, ...]) -> list[Sizes]:
    """All small; one of them 0; one just past a tile and the others small; all past a tile."""
    names, fixed = parameter_names(context), fixed_parameters(context)
    free = [name for name in names if name not in fixed]
    tried = [{name: least if name == one else 3 for name in free} for least in first for one in free]
    for size in EQUAL:
        tried.append(dict.fromkeys(free, size))
        tried += [{name: size + (k + turn) % 3 for k, name in enumerate(free)} for turn in (1, 2) if size < 6]
        for least in (3, 1) if size == 4 else ():
            tried += [{name: PAST_TILE[0] if name == one else least for name in free} for one in free]
    tried += [{name: 0 if name == one else 9 for name in free} for one in free]
    for small in SMALL:
        tried += [
            {name: large if name == one else small for name in free} for large in PAST_TILE for one in free
        ]
    tried += [dict.fromkeys(free, size) for size in PAST_TILE]
    return [{**fixed, **sizes} for sizes in tried]


def _sizes_near(near: Sizes) -> list[Sizes]:
    """The same sizes, and with other small ones in place of those that are small: many need one iteration
    at least of every loop to show.
    """
    tried: list[Sizes] = [dict(near)]
    tried += [{name: max(value, least) for name, value in near.items()} for least in (1, 2, 3, 5)]
    tried += [{name: max(value, 3) + more for name, value in near.items()} for more in (1, 2)]
    return tried


def _possible(context: isl.Set, tried: Iterable[Sizes]) -> Iterator[Sizes]:
    """Those that the context allows, none twice."""
    fixed = fixed_parameters(context)
    seen: list[Sizes] = []
    for sizes in tried:
        values = {**fixed, **sizes}
        if values not in seen and is_possible(context, values):
            seen.append(values)
            yield values
