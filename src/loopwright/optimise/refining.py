"""Other sizes in the fastest script: the model chooses what kind of blocks, the clock how large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.judging import Judge
from loopwright.optimise.nests import Script, tiles_copied
from loopwright.optimise.trials import Trial
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Operation, Tile, UnrollAndJam, Widen
from loopwright.transform.script.steps import Step

SMALLEST, LARGEST = 4, 4096
"""The sizes of tiles that are tried."""

FEWEST, MOST = 2, 16
"""How many iterations are written out together."""


def resized(script: Script) -> Iterator[Script]:
    """The script without one of its blocks, then with one number of a block doubled or halved.

    Blocks are tiles, and iterations that are written out; the last ones come first.  Tiles that are copied
    keep their sizes: other steps name them.
    """
    if tiles_copied(script):
        return
    blocks = [
        (place, step)
        for place, step in reversed(list(enumerate(script)))
        if isinstance(step.operation, Tile | UnrollAndJam)
    ]
    if len(script) > 1:
        yield from ((*script[:place], *script[place + 1 :]) for place, _ in blocks)
    for place, step in blocks:
        for operation in _with_other_numbers(step.operation):
            yield (*script[:place], replace(step, operation=operation), *script[place + 1 :])


def _with_other_numbers(operation: Operation) -> Iterator[Operation]:
    match operation:
        case Tile(sizes=sizes):
            yield from (replace(operation, sizes=one) for one in _others(sizes, SMALLEST, LARGEST))
        case UnrollAndJam(factors=factors):
            yield from (replace(operation, factors=one) for one in _others(factors, FEWEST, MOST))
        case _:
            return


def _others(numbers: tuple[LoopNumber, ...], least: int, most: int) -> Iterator[tuple[LoopNumber, ...]]:
    for place, one in enumerate(numbers):
        for other in (2 * one.number, one.number // 2):
            if least <= other <= most:
                yield (*numbers[:place], replace(one, number=other), *numbers[place + 1 :])


@dataclass(frozen=True)
class Neighbours:
    """Legal scripts with other sizes; they are added to the trials that are `known`."""

    judge: Judge
    known: dict[Script, Trial]
    until: float

    def of(self, script: Script) -> Iterator[Trial]:
        wide = Step(Widen())
        wider = [(*script, wide)] if self.judge.setting.machine.widest and wide not in script else []
        for other in (*wider, *resized(script)):
            self.judge.deadline = self.until
            one = None if other in self.known else self.judge.estimated(other, "other sizes")
            if one is not None:
                self.known[other] = Trial(other, one.total, one.origin)
                yield self.known[other]
