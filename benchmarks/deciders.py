"""isl as a prover of obligations, compared with cvc5: the solutions are empty, or have a smallest point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import isl_failures
from loopwright.prove.obligations.formulas import Answer, Fails, Holds, Obligation
from loopwright.prove.scanning.conditions import IteratorScope, negation, region


@dataclass(frozen=True)
class Isl:
    name: str = "isl"

    def decide(self, obligations: Sequence[Obligation]) -> tuple[Answer, ...]:
        return tuple(_decide(one) for one in obligations)


def _decide(obligation: Obligation) -> Answer:
    names = obligation.variables
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(names))
    everywhere = IteratorScope(isl.Set.universe(space), {name: k for k, name in enumerate(names)})
    with isl_failures(f"isl failed on the obligation {obligation.name}"):
        given = everywhere.within(region(obligation.given, everywhere))
        wrong = given.within(region(negation(obligation.wanted), given)).domain
        point = None if wrong.is_empty() else smallest_point(wrong)
    return Holds() if point is None else Fails(dict(zip(names, point.coordinates, strict=True)))
