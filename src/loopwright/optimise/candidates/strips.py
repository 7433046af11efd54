"""Strips of another length in a script whose later steps tell what is in a strip from what is after it.

    strip_mine(L, k, 32);  isplit(S, {[kT, k, j] : j <= 32 * kT + 31}, 2)   -->   16, 16 * kT + 15

What is in a strip waits for each of its steps: with threads, less of it is less that one of them does alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script
from loopwright.read.formula import Addition, Chain, Formula, Junction, Multiplicative, Numeral, Symbol
from loopwright.transform.script.operations import Isplit, StripMine
from loopwright.transform.script.steps import Step

SHORTEST, LONGEST = 8, 128
"""The strips that are tried."""


def with_other_strips(script: Script) -> Iterator[Script]:
    """The script with strips that are named later half as long, then twice as long."""
    for place, step in enumerate(script):
        match step.operation:
            case StripMine(loop=str(loop), size=size):
                for other in (size // 2, 2 * size):
                    change = _Change(f"{loop}T", size, other)
                    after = tuple(change.of(one) for one in script[place + 1 :])
                    if SHORTEST <= other <= LONGEST and after != script[place + 1 :]:
                        strip = replace(step, operation=replace(step.operation, size=other))
                        yield (*script[:place], strip, *after)
            case _:
                pass


@dataclass(frozen=True)
class _Change:
    """The loop over strips, their length and another one."""

    strips: str
    before: int
    after: int

    def of(self, step: Step) -> Step:
        match step.operation:
            case Isplit(condition=condition):
                changed = replace(condition, condition=self._changed(condition.condition))
                return replace(step, operation=replace(step.operation, condition=changed))
            case _:
                return step

    def _changed(self, formula: Formula) -> Formula:
        """The condition with `b kT`, `b kT + b` and `b kT + b - 1` for the new length b."""
        match formula:
            case Multiplicative("*", Numeral(self.before), Symbol(self.strips)):
                return replace(formula, left=Numeral(self.after))
            case Addition(terms) if (others := tuple(map(self._changed, terms))) != terms:
                ends = {self.before: self.after, self.before - 1: self.after - 1}
                return Addition(
                    tuple(
                        Numeral(ends.get(one.value, one.value)) if isinstance(one, Numeral) else one
                        for one in others
                    )
                )
            case Chain(operands, operators):
                return Chain(tuple(tuple(map(self._changed, some)) for some in operands), operators)
            case Junction(conjunction, arguments):
                return Junction(conjunction, tuple(map(self._changed, arguments)))
            case _:
                return formula
