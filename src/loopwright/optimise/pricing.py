"""Predicts the speedup of suggestions by the cost model: the cycles of the region over those after each.

The machine is a typical one and not this one, so that the same file gives the same answer everywhere;
`loopwright optimise` measures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopwright.errors import BadInput, GaveUp, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import part_with
from loopwright.optimise.candidates.pretests import of_hits
from loopwright.optimise.model.cost import estimate
from loopwright.optimise.model.machine import USUAL
from loopwright.optimise.model.sizes import sizes_of
from loopwright.progress import Progress, silent
from loopwright.prove.legality.suggest import Suggestion, suggestions
from loopwright.transform import Plan, to_schedule
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.perform import performed

SECONDS = 8.0
"""The processor time for predictions in one region; later suggestions get none."""

THREADS = 4
"""The number of threads assumed for a parallel loop."""


@dataclass(frozen=True)
class _Prices:
    plan: Plan
    sizes: Mapping[str, int]
    cycles: Mapping[str, float]
    """The cycles of the original region, by statement."""

    def speed(self, found: Suggestion) -> float | None:
        """The predicted speedup of the region; None if the model has no estimate."""
        try:
            after = performed(self.plan, *found.steps)
            part = part_with(after, found.statements)
            cycles = _cycles(part, self.sizes)
        except (BadInput, GaveUp, InternalError):
            return None
        if cycles is None:
            return None
        return sum(self.cycles.values()) / sum({**self.cycles, **cycles}.values())


def priced_suggestions(plan: Plan, progress: Progress = silent) -> Iterator[Suggestion]:
    """All suggestions, legal ones with their predictions."""
    begun = time.process_time()
    prices = _prices(plan)
    spent = time.process_time() - begun
    for found in suggestions(plan, progress):
        if not found.legal or prices is None or spent > SECONDS:
            yield found
            continue
        begun = time.process_time()
        yield replace(found, speed=prices.speed(found))
        spent += time.process_time() - begun


def _prices(plan: Plan) -> _Prices | None:
    sizes = sizes_of(plan.original, ())
    try:
        cycles = _cycles(plan, sizes)
    except (BadInput, GaveUp, InternalError):
        return None
    return None if cycles is None or not sum(cycles.values()) else _Prices(plan, sizes, cycles)


def _cycles(plan: Plan, sizes: Mapping[str, int]) -> Mapping[str, float] | None:
    """The cycles of a plan's statements; None if one of them does not execute in the middle of the loops."""
    is_parallel = any(one.kind is DirectiveKind.PARALLEL for one in plan.directives)
    node = generate(to_schedule(plan), GenerationOptions())
    found = estimate(node, plan.program, sizes, USUAL, THREADS if is_parallel else 1)
    names = {one.name for one in plan.program.statements}
    return of_hits(plan, found.cycles) if all(found.runs[name] for name in names) else None
