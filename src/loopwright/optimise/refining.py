"""Sizes of tiles around the fastest script: the model chooses what kind of blocks, the clock how large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.judging import Judge
from loopwright.optimise.nests import Script, tiles_copied
from loopwright.optimise.trials import Trial
from loopwright.transform.script.operations import Tile

SMALLEST, LARGEST = 4, 4096
"""The sizes of tiles that are tried."""


def resized(script: Script) -> Iterator[Script]:
    """The script with one size of one tile doubled or halved; the last tiles first.

    Tiles that are copied keep their sizes: other steps name them.
    """
    if tiles_copied(script):
        return
    for place, step in reversed(list(enumerate(script))):
        tile = step.operation
        if not isinstance(tile, Tile):
            continue
        for number, size in enumerate(tile.sizes):
            for other in (2 * size.number, size.number // 2):
                if SMALLEST <= other <= LARGEST:
                    sizes = (*tile.sizes[:number], replace(size, number=other), *tile.sizes[number + 1 :])
                    changed = replace(step, operation=replace(tile, sizes=sizes))
                    yield (*script[:place], changed, *script[place + 1 :])


@dataclass(frozen=True)
class Neighbours:
    """Legal scripts with other sizes; they are added to the trials that are `known`."""

    judge: Judge
    known: dict[Script, Trial]
    until: float

    def of(self, script: Script) -> Iterator[Trial]:
        for other in resized(script):
            self.judge.deadline = self.until
            one = None if other in self.known else self.judge.estimated(other, "other sizes")
            if one is not None:
                self.known[other] = Trial(other, one.total, one.origin)
                yield self.known[other]
