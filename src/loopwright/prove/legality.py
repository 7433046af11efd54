"""Whether a new schedule computes the same: paper 001, section 4.1.

    one-to-one    θ' is a function on every domain, and θ'(s, i) = θ'(t, j) only if s = t, i = j
    dependences   θ'(a) ≺ θ'(b) for every a -> b: both touch a cell, one writes it, θ(a) ≺ θ(b)
    parallel      no dependence has its ends in different iterations of a loop marked parallel

Checked once, for the composed schedule: a script may break in the middle what it mends at the end.
The dependences are memory-based, so a schedule is refused that changes which value a cell holds
in between, even if nobody looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import islpy as isl

from loopwright.errors import InternalError
from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Program
from loopwright.prove.one_to_one import collisions, not_a_function
from loopwright.prove.parallel import ParallelLoop, Pieces, carried_by
from loopwright.prove.precedence import PairOrder, misordered, pair_orders
from loopwright.prove.reductions import (
    Reassociation,
    Reduction,
    only_associativity,
    reassociation,
    reductions,
)
from loopwright.prove.times import Schedules, comparable, pieces_of
from loopwright.prove.violation import Defect, Scene, Violation, simplest_first, violation


class Status(Enum):
    PROVED = "proved"
    ILLEGAL = "illegal"
    UNDECIDED = "could not decide"


@dataclass(frozen=True)
class LegalityVerdict:
    """The answer, for every parameter value in the context.

    It is no where there is a defect or a certain violation.  If all violations are of accesses
    that only may happen, the order might be right all the same, and nothing here can tell.
    """

    obligations: int
    defects: tuple[Defect, ...] = ()
    violations: tuple[Violation, ...] = ()
    """The simplest first."""
    reassociations: tuple[Reassociation, ...] = ()
    """What the proof assumes."""

    @property
    def status(self) -> Status:
        if self.defects or any(item.certain for item in self.violations):
            return Status.ILLEGAL
        return Status.UNDECIDED if self.violations else Status.PROVED

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
        }


def prove_legal(
    original: Program,
    new: Program | Schedules,
    *,
    parallel: Iterable[ParallelLoop] = (),
    allow_reassociation: bool = False,
    dependences: Iterable[Dependence] | None = None,
) -> LegalityVerdict:
    """Whether the statements of `original` may run in the order of `new`.

    `dependences` are the memory-based ones of `original`, if they are already there.
    """
    try:
        return _verdict(original, new, tuple(parallel), allow_reassociation, dependences)
    except isl.Error as failure:
        raise InternalError(f"isl could not decide whether a schedule is legal: {failure}") from failure


def _verdict(
    original: Program,
    new: Program | Schedules,
    parallel: tuple[ParallelLoop, ...],
    allow_reassociation: bool,
    dependences: Iterable[Dependence] | None,
) -> LegalityVerdict:
    scene = Scene(original, comparable(original, new))
    count = len(original.statements)
    broken = not_a_function(scene)
    if broken:
        return LegalityVerdict(count, tuple(broken))
    pieces = {name: pieces_of(name, schedule) for name, schedule in scene.schedules.items()}
    defects = tuple(collisions(scene, pieces))
    count += count * (count + 1) // 2
    found = memory_based(original) if dependences is None else dependences
    deps = tuple(_aligned(item, scene) for item in found)
    known = reductions(original)
    failures, loops = _misordered(deps, pieces), _carried(parallel, pieces, deps)
    kept = _Sorted(known, allow_reassociation)
    shown = [
        violation(scene, item, pairs, reduction=kept.operator(item))
        for item, pairs in failures
        if kept.counts(item)
    ]
    shown += [
        violation(scene, item, pairs, loop=loop.called, reduction=kept.operator(item))
        for loop, item, pairs in loops
        if kept.counts(item)
    ]
    assumed = _assumed(original, kept, failures, loops) if allow_reassociation else ()
    count += len(deps) * (1 + len(parallel))
    return LegalityVerdict(count, defects, simplest_first(shown), assumed)


def _aligned(dependence: Dependence, scene: Scene) -> Dependence:
    """With the parameters of the schedules, which may have more."""
    space = scene.schedules[dependence.source].get_space().params()
    return replace(dependence, relation=dependence.relation.align_params(space))


@dataclass(frozen=True)
class _Sorted:
    """Which failures count, if the associativity of reductions may be assumed."""

    known: dict[str, Reduction]
    allow: bool

    def reduction(self, dependence: Dependence) -> Reduction | None:
        return only_associativity(dependence, self.known)

    def operator(self, dependence: Dependence) -> str | None:
        found = self.reduction(dependence)
        return None if found is None else found.operator

    def counts(self, dependence: Dependence) -> bool:
        return not self.allow or self.reduction(dependence) is None


def _misordered(deps: tuple[Dependence, ...], pieces: Pieces) -> list[tuple[Dependence, isl.Set]]:
    """Each dependence that is not kept, with its pairs in the wrong order."""
    found: list[tuple[Dependence, isl.Set]] = []
    between: dict[tuple[str, str], _Between] = {}
    for item in deps:
        key = (item.source, item.sink)
        if key not in between:
            space = item.relation.get_space()
            between[key] = _Between(pair_orders(pieces[item.source], pieces[item.sink], space))
        wrong = between[key].misordered(item.relation)
        if wrong is not None:
            found.append((item, wrong))
    return found


@dataclass(frozen=True, eq=False)
class _Between:
    """Two statements; pairs of accesses often have the same relation, which is then looked at once."""

    orders: tuple[PairOrder, ...]
    answers: list[tuple[isl.Map, isl.Set | None]] = field(default_factory=list)

    def misordered(self, relation: isl.Map) -> isl.Set | None:
        for other, answer in self.answers:
            if other.plain_is_equal(relation):
                return answer
        answer = misordered(relation, self.orders)
        self.answers.append((relation, answer))
        return answer


def _carried(
    parallel: tuple[ParallelLoop, ...], pieces: Pieces, deps: tuple[Dependence, ...]
) -> list[tuple[ParallelLoop, Dependence, isl.Set]]:
    return [
        (loop, item, pairs)
        for loop in parallel
        for item, pairs in carried_by(loop, pieces, deps)
        if pairs is not None
    ]


def _assumed(
    program: Program,
    kept: _Sorted,
    failures: list[tuple[Dependence, isl.Set]],
    loops: list[tuple[ParallelLoop, Dependence, isl.Set]],
) -> tuple[Reassociation, ...]:
    """The reductions whose steps change their order, with the parallel loops that run them."""
    marked = [(item, None) for item, _ in failures] + [(item, loop.called) for loop, item, _ in loops]
    names: dict[str, list[str]] = {}
    for item, loop in marked:
        if kept.reduction(item) is not None:
            for statement in dict.fromkeys((item.source, item.sink)):
                seen = names.setdefault(statement, [])
                if loop is not None and loop not in seen:
                    seen.append(loop)
    return tuple(
        reassociation(program, kept.known[statement.name], tuple(names[statement.name]))
        for statement in program.statements
        if statement.name in names
    )
