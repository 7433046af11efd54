"""Proves that a new schedule computes the same [Namjoshi2016, section 4.1].

    one-to-one    θ' is a function on every domain, and θ'(s, i) = θ'(t, j) only if s = t, i = j
    dependences   θ'(a) ≺ θ'(b) for every a -> b: both access a cell, one writes it, θ(a) ≺ θ(b)
    parallel      no dependence has its ends in different iterations of a loop marked parallel

Only the composed schedule is checked: a script may break a dependence and restore it later. The dependences
are memory-based, so a schedule is refused if it changes the value of a cell in between, even if no read sees
it; temporaries of the program are exempt, if requested.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Any

import islpy as isl

from loopwright.display import Displayed
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence, carried_at, memory_based
from loopwright.model.program import MemorySpace, Program
from loopwright.model.shapes import order_shape, time_shape
from loopwright.presburger.points import Point
from loopwright.presburger.sets import isl_failures
from loopwright.prove.legality.parallel import ParallelLoop, Pieces, carried_by, inside, kept_by_lanes
from loopwright.prove.legality.precedence import (
    PairOrder,
    collisions,
    misordered,
    not_a_function,
    pair_orders,
)
from loopwright.prove.legality.privatisation import Private, carries_the_same_values, privatised
from loopwright.prove.legality.reductions import (
    Reassociation,
    Reduction,
    is_exact,
    only_associativity,
    reassociation,
    reductions,
)
from loopwright.prove.legality.times import Schedules, comparable, pieces_of
from loopwright.prove.legality.values import WrongValue, is_assignment
from loopwright.prove.legality.violation import (
    Defect,
    Violation,
    WitnessContext,
    simplest_first,
    smallest,
    violation,
)
from loopwright.source import plain_data


class Status(Enum):
    PROVED = "proved"
    ILLEGAL = "illegal"
    UNDECIDED = "could not decide"


@dataclass(frozen=True)
class LegalityVerdict(Displayed):
    """The verdict, for every parameter value in the context.

    It is illegal if there is a defect or a certain violation.  If all violations are of may-accesses, the
    order may still be right, and the verdict is undecided.
    """

    obligations: int
    defects: tuple[Defect, ...] = ()
    violations: tuple[Violation, ...] = ()
    """The simplest first."""
    reassociations: tuple[Reassociation, ...] = ()
    """The assumptions of the proof."""
    exact: tuple[str, ...] = ()
    """Statements that combine ints in another order, with bit-identical results."""
    private: tuple[Private, ...] = ()
    """Storage that parallel loops privatise."""
    storage: int = 0
    """How many of the obligations are about changed storage."""
    wrong: tuple[WrongValue, ...] = ()
    """Reads that see wrong values after a change of storage."""
    temporaries: tuple[str, ...] = ()
    """Variables with other values in between, which no read sees; every read sees the value it saw."""
    lanes: tuple[tuple[str, ...], ...] = ()
    """The statements of vector loops that keep anti-dependences, as lanes run statement by statement."""

    def __repr__(self) -> str:
        found = [f"{len(self.violations)} violations"] if self.violations else []
        found += [f"{len(self.defects)} defects"] if self.defects else []
        found += [f"{len(self.wrong)} wrong values"] if self.wrong else []
        return f"<LegalityVerdict {', '.join([self.status.value, *found])}, {self.obligations} obligations>"

    @property
    def status(self) -> Status:
        if self.defects or self.wrong or any(item.certain for item in self.violations):
            return Status.ILLEGAL
        return Status.UNDECIDED if self.violations else Status.PROVED

    @property
    def failures(self) -> tuple[Defect | Violation | WrongValue, ...]:
        return (*self.wrong, *self.defects, *self.violations)

    @property
    def proved(self) -> bool:
        return self.status is Status.PROVED

    def as_json(self) -> dict[str, Any]:
        return {
            "status": self.status.value,
            "obligations": self.obligations,
            "defects": [item.as_json() for item in self.defects],
            "violations": [item.as_json() for item in self.violations],
            "assumptions": [item.assumption for item in self.reassociations],
            "private": [plain_data(item) for item in self.private],
            "temporaries": list(self.temporaries),
            "wrong": [item.as_json() for item in self.wrong],
        }


@dataclass(frozen=True)
class KnownTimes:
    """Properties of the new order that need not be proved again."""

    differ: bool = False
    """Whether no two instances have the same time."""
    single: Collection[str] = ()
    """Statements whose instances each have one time."""


NOT_KNOWN = KnownTimes()
_FAILED = "isl could not decide whether a schedule is legal"


@isl_failures(_FAILED)
def prove_legal(
    original: Program,
    new: Program | Schedules,
    *,
    parallel: Sequence[ParallelLoop] = (),
    allow_reassociation: bool = False,
    dependences: Iterable[Dependence] | None = None,
    times: KnownTimes = NOT_KNOWN,
    temporaries: bool = False,
) -> LegalityVerdict:
    """Proves that the statements of `original` may execute in the order of `new`.

    `dependences` are the memory-based ones of `original`, if already known.  With `temporaries`, variables
    that are dead after the region are compared by the values that are read.
    """
    context = WitnessContext(original, comparable(original, new))
    count = len(original.statements)
    broken = not_a_function(context, times.single)
    if broken:
        return LegalityVerdict(count, tuple(broken))
    pieces = {name: pieces_of(name, schedule) for name, schedule in context.schedules.items()}
    defects = () if times.differ else tuple(collisions(context, pieces))
    count += 0 if times.differ else count * (count + 1) // 2
    owned: tuple[Private, ...] = ()
    if dependences is None and new is original and has_registers(original):
        found, owned = _conflicts(original, parallel, pieces)
    else:
        found = memory_based(original) if dependences is None else dependences
    deps = tuple(_aligned(item, context) for item in found)
    carried, private = _privatised(context, pieces, _carried(parallel, pieces, deps))
    order = list(_misordered(deps, pieces, context.schedules))
    lost = _temporaries(context, order) if temporaries else ()
    order = [item for item in order if item.dependence.array not in lost]
    return replace(
        _weighed(context, pieces, order, carried, allow_reassociation=allow_reassociation),
        obligations=count + len(deps) * (1 + len(parallel)),
        defects=defects,
        private=(*owned, *private),
        temporaries=lost,
    )


def _weighed(
    context: WitnessContext,
    pieces: Pieces,
    order: list[_Broken],
    carried: list[_Broken],
    *,
    allow_reassociation: bool,
) -> LegalityVerdict:
    """Splits the broken dependences: those of reductions may be free, and lanes may preserve others."""
    original = context.program
    known = reductions(original)
    combined = [item for item in carried if allow_reassociation and item.reduction(known)]
    kept = [item for item in carried if item not in combined and _in_lanes(original, pieces, item)]
    broken = order + [item for item in carried if item not in kept]
    counted = [item for item in broken if not item.is_free(known, allowed=allow_reassociation)]
    exact = [item for item in broken if item.is_exact(known)]
    assumed = [item for item in broken if item not in counted and item not in exact]
    return LegalityVerdict(
        obligations=0,
        violations=simplest_first(_shown(context, counted, known)),
        reassociations=_assumed(original, assumed, known),
        exact=tuple(one.statement for one in _assumed(original, exact, known)),
        lanes=tuple(dict.fromkeys(tuple(inside(one.loop, pieces)) for one in kept if one.loop is not None)),
    )


@isl_failures(_FAILED)
def is_legal(
    original: Program,
    new: Program,
    *,
    parallel: tuple[ParallelLoop, ...] = (),
    allow_reassociation: bool = False,
    dependences: Iterable[Dependence] | None = None,
) -> bool:
    """Whether `prove_legal` with `temporaries` would succeed; a refusal has no examples and is much faster.

    `dependences` may be only those that are not yet known to be preserved.
    """
    context = WitnessContext(original, comparable(original, new))
    if not_a_function(context):
        return False
    pieces = {name: pieces_of(name, schedule) for name, schedule in context.schedules.items()}
    found = memory_based(original) if dependences is None else dependences
    deps = tuple(_aligned(item, context) for item in found)
    known = reductions(original)
    for item in _misordered(deps, pieces, context.schedules):
        if not _temporaries(context, [item]) and not item.is_free(known, allowed=allow_reassociation):
            return False
    carried, _ = _privatised(context, pieces, _carried(parallel, pieces, deps))
    for item in carried:
        combined = allow_reassociation and item.reduction(known) is not None
        if not combined and not _in_lanes(original, pieces, item):
            return False
    return not collisions(context, pieces)


def has_registers(program: Program) -> bool:
    """Whether threads keep values in registers, with many accesses to cells of their own."""
    return any(array.space is MemorySpace.PRIVATE for array in program.arrays)


def _conflicts(
    program: Program, parallel: Sequence[ParallelLoop], pieces: Pieces
) -> tuple[Iterable[Dependence], tuple[Private, ...]]:
    """For a program in its own order, what parallel loops could carry, and what they privatise."""
    found: list[Dependence] = []
    owned: list[Private] = []
    for loop in parallel:
        members = inside(loop, pieces)
        is_tried = loop.privatises and loop.blocks
        tried = [one for one in program.arrays if is_tried and one.space is MemorySpace.PRIVATE]
        own = list(filter(None, (privatised(program, members, loop, array) for array in tried)))
        owned += own
        without = loop.private | {one.array for one in own}
        found += carried_at(program, members, loop.dimension, without)
    return found, tuple(owned)


@dataclass(frozen=True, eq=False)
class _Broken:
    """A broken dependence: `pairs` are in the wrong order, or in a parallel `loop`."""

    dependence: Dependence
    pairs: isl.Set
    loop: ParallelLoop | None = None

    def reduction(self, known: dict[str, Reduction]) -> Reduction | None:
        """The reduction whose associativity would suffice; no loop combines carried values."""
        found = only_associativity(self.dependence, known)
        if self.loop is not None and (not self.loop.combines or found is None or found.carried):
            return None
        return found

    def is_exact(self, known: dict[str, Reduction]) -> bool:
        """Whether it is between steps of one thread that are bit-identical in any order."""
        return self.loop is None and is_exact(self.dependence, known)

    def is_free(self, known: dict[str, Reduction], *, allowed: bool) -> bool:
        """Whether it need not be preserved, with reassociation allowed or not."""
        return self.is_exact(known) or (allowed and self.reduction(known) is not None)


def _shown(context: WitnessContext, broken: list[_Broken], known: dict[str, Reduction]) -> list[Violation]:
    """Each broken dependence with its smallest example, which those with the same pairs share."""
    points: dict[int, Point] = {}
    found: list[Violation] = []
    for item in broken:
        if id(item.pairs) not in points:
            points[id(item.pairs)] = smallest(item.pairs)
        reduction = item.reduction(known)
        name = None if reduction is None else reduction.operator
        loop = None if item.loop is None else (item.loop.called, item.loop.span)
        point = points[id(item.pairs)]
        found.append(violation(context, item.dependence, point, loop=loop, reduction=name))
    return found


def _aligned(dependence: Dependence, context: WitnessContext) -> Dependence:
    """The dependence with the parameters of the schedules, which may have more."""
    space = context.schedules[dependence.source].get_space().params()
    if dependence.relation.get_space().has_equal_params(space):
        return dependence
    return replace(dependence, relation=dependence.relation.align_params(space))


def _misordered(
    deps: tuple[Dependence, ...], pieces: Pieces, schedules: Mapping[str, isl.Map]
) -> Iterator[_Broken]:
    """Yields each broken dependence with its pairs in the wrong order."""
    between: dict[tuple[str, str], _Between] = {}
    kept: set[Hashable] = set()
    """Shapes of dependences and orders: preserving one of a shape preserves all."""
    shapes = {name: time_shape(schedule) for name, schedule in schedules.items()}
    for item in deps:
        alike = (item.shape, order_shape(shapes[item.source], shapes[item.sink]))
        if alike in kept:
            continue
        key = (item.source, item.sink)
        if key not in between:
            space = item.relation.get_space()
            between[key] = _Between(pair_orders(pieces[item.source], pieces[item.sink], space))
        wrong = between[key].misordered(item.relation)
        if wrong is not None:
            yield _Broken(item, wrong)
        elif item.shape is not None:
            kept.add(alike)


@dataclass(frozen=True, eq=False)
class _Between:
    """Two statements; pairs of accesses often have the same relation, which is then tested once."""

    orders: tuple[PairOrder, ...]
    answers: list[tuple[isl.Map, isl.Set | None]] = field(default_factory=list)

    def misordered(self, relation: isl.Map) -> isl.Set | None:
        for other, answer in self.answers:
            if other.plain_is_equal(relation):
                return answer
        answer = misordered(relation, self.orders)
        self.answers.append((relation, answer))
        return answer


def _carried(parallel: Sequence[ParallelLoop], pieces: Pieces, deps: tuple[Dependence, ...]) -> list[_Broken]:
    return [
        _Broken(item, pairs, loop)
        for loop in parallel
        for item, pairs in carried_by(loop, pieces, deps)
        if pairs is not None
    ]


def _in_lanes(program: Program, pieces: Pieces, item: _Broken) -> bool:
    """Whether the lanes of the loop preserve it: a statement that reads and writes must be one assignment."""
    same = item.dependence.source == item.dependence.sink
    if same and not is_assignment(program, program.statement(item.dependence.source)):
        return False
    return item.loop is not None and kept_by_lanes(item.loop, pieces, item.dependence)


def _temporaries(context: WitnessContext, broken: list[_Broken]) -> tuple[str, ...]:
    """The variables whose order is broken, but whose reads all see the values they saw."""
    arrays = {array.name: array for array in context.program.arrays}
    names = dict.fromkeys(item.dependence.array for item in broken if item.dependence.array in arrays)
    new = context.rescheduled()
    return tuple(name for name in names if carries_the_same_values(context.program, new, arrays[name]))


def _privatised(
    context: WitnessContext, pieces: Pieces, broken: list[_Broken]
) -> tuple[list[_Broken], tuple[Private, ...]]:
    """The dependences that are still broken if loops privatise what they can, and what they privatise."""
    arrays = {array.name: array for array in context.program.arrays}
    program = context.rescheduled()
    found: dict[tuple[ParallelLoop, str], Private | None] = {}
    for item in broken:
        loop, name = item.loop, item.dependence.array
        if loop is not None and loop.privatises and name in arrays and (loop, name) not in found:
            found[loop, name] = privatised(program, inside(loop, pieces), loop, arrays[name])
    left = [item for item in broken if item.loop is None or not found.get((item.loop, item.dependence.array))]
    return left, tuple(one for one in found.values() if one is not None)


def _assumed(
    program: Program, broken: list[_Broken], known: dict[str, Reduction]
) -> tuple[Reassociation, ...]:
    """The reductions whose steps are reordered, with the parallel loops that execute them."""
    loops: dict[str, dict[str, None]] = {}
    for item in broken:
        for name in (item.dependence.source, item.dependence.sink):
            loops.setdefault(name, {})
            if item.loop is not None:
                loops[name][item.loop.called] = None
    return tuple(
        reassociation(program, known[statement.name], tuple(loops[statement.name]))
        for statement in program.statements
        if statement.name in loops
    )
