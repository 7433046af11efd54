"""Selects the candidates to time, and tries other sizes in the fastest script.

The model chooses the kinds of blocks, timing their sizes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.finishing import finished
from loopwright.optimise.candidates.judging import GIVEN, Estimated, Judge
from loopwright.optimise.candidates.nests import Script, is_shared, tiles_copied
from loopwright.optimise.candidates.parts import with_other_strips
from loopwright.optimise.candidates.threads import shared_by_threads
from loopwright.optimise.timing.results import Results
from loopwright.optimise.timing.trials import BATCH, Judged, Task, Timed, Trial, Trials, in_turn
from loopwright.progress import Progress
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Operation, Tile, UnrollAndJam, Widen
from loopwright.transform.script.steps import Step

FINALISTS, TURNS, NEAR = 5, 4, 1.15
"""So many of the fastest programs run again, so many times in turns, where they are near the fastest."""

FEW = 2
"""So many kinds of scripts are timed before those that threads share of a script the search began with."""

RESERVED = 0.3
"""The largest part of the time for trials reserved for them."""

SMALLEST, LARGEST = 4, 4096
"""The sizes of tiles that are tried."""

FEWEST, MOST = 2, 16
"""The unroll factors that are tried."""


def resized(script: Script) -> Iterator[Script]:
    """The script with other strips, without one of its blocks, then with a number of one doubled or halved.

    Blocks are tiles, and iterations that are written out; the last ones come first.  Before that, tiles of
    several nests that are as large along a loop change together: they may share the loop over them; with
    shorter strips too, as what is left of a tile after a strip may pay only with both.  Tiles that are copied
    keep their sizes: other steps name them.
    """
    if tiles_copied(script):
        return
    blocks = [
        (place, step)
        for place, step in reversed(list(enumerate(script)))
        if isinstance(step.operation, Tile | UnrollAndJam)
    ]
    strips = list(with_other_strips(script))
    yield from strips
    yield from _alike(script)
    yield from (finer for other in strips[:1] for finer in _alike(other))
    if len(script) > 1:
        yield from ((*script[:place], *script[place + 1 :]) for place, _ in blocks)
    for place, step in blocks:
        for operation in _with_other_numbers(step.operation):
            yield (*script[:place], replace(step, operation=operation), *script[place + 1 :])


def _alike(script: Script) -> Iterator[Script]:
    """The script with the same size of tiles of several nests doubled or halved in all of them."""
    tiles = [step.operation for step in script if isinstance(step.operation, Tile)]
    sizes = Counter(size for one in tiles for size in one.sizes if size.loop is not None)
    for size in (one for one, count in sizes.items() if count > 1):
        for other in (2 * size.number, size.number // 2):
            if SMALLEST <= other <= LARGEST:
                changed = {size: replace(size, number=other)}
                yield tuple(_with_sizes(step, changed) for step in script)


def _with_sizes(step: Step, changed: Mapping[LoopNumber, LoopNumber]) -> Step:
    match step.operation:
        case Tile(sizes=sizes):
            other = replace(step.operation, sizes=tuple(changed.get(one, one) for one in sizes))
            return replace(step, operation=other)
        case _:
            return step


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
    """Legal scripts with other sizes, vectors or rows; they are added to the trials that are `known`."""

    judge: Judge
    known: dict[Script, Trial]
    until: float

    def of(self, script: Script) -> Iterator[Trial]:
        if self.judge.threads > 1 and not is_shared(script):
            yield from self._among_threads(script)
            return
        wide = Step(Widen())
        wider = [(*script, wide)] if self.judge.setting.machine.widest and wide not in script else []
        yield from self._legal(wider)
        self.judge.deadline = self.until
        for known in dict.fromkeys((script, ())):
            judged = self.judge.known.get(known)
            yield from self._fresh(() if judged is None else finished(self.judge, judged))
        yield from self._legal(resized(script))

    def _legal(self, scripts: Iterable[Script]) -> Iterator[Trial]:
        for other in scripts:
            self.judge.deadline = self.until
            one = None if other in self.known else self.judge.estimated(other, "other sizes")
            yield from self._fresh(() if one is None else (one,))

    def _fresh(self, found: Iterable[Estimated]) -> Iterator[Trial]:
        """The scripts not tried yet."""
        for one in found:
            if one.script not in self.known:
                self.known[one.script] = Trial(one.script, one.total, one.origin)
                yield self.known[one.script]

    def _among_threads(self, script: Script) -> Iterator[Trial]:
        """A script that is fast on one thread, for all of them; with the widest vectors too.

        What was estimated before may not be timed yet: candidates of the same kind wait for each other.
        """
        self.judge.deadline = self.until
        one, wide = self.judge.known.get(script), Step(Widen())
        if one is None:
            return
        for shared in shared_by_threads(self.judge, one):
            known = self.known.get(shared.script)
            yield from self._fresh((shared,)) if known is None else (known,)
            if self.judge.setting.machine.widest and wide not in shared.script:
                wider = self.judge.estimated((*shared.script, wide), shared.origin)
                yield from self._fresh(() if wider is None else (wider,))


@dataclass(frozen=True)
class Timing:
    """The candidates in turn, until the time is over or an interrupt comes; those near the best twice.

    Scripts timed in an earlier search, and `kept`, are not timed again.
    """

    candidates: Sequence[Trial]
    kept: Results
    original: float
    until: float
    progress: Progress
    found: dict[Script, float] = field(default_factory=dict)
    doubtful: set[Script] = field(default_factory=set)
    """Scripts that another machine could not prove."""

    def run(self, trials: Trials, judge: Judge | None) -> list[Trial]:
        """Those that were timed; with a judge, also scripts with other sizes that it finds legal."""
        known = {one.script: one for one in self.candidates}
        before = self.kept.known(known)
        self.found.update({one.script: one.seconds for one in before if one.seconds is not None})
        failed = {one.script for one in before if one.seconds is None}
        waiting = [one for one in self.candidates if one.script not in failed]
        neighbours = None if judge is None else Neighbours(judge, known, self.until)
        try:
            for tasks in (self._fresh(waiting, neighbours), self._finalists()):
                for one in trials.outcomes(tasks, self.until):
                    self._keep(one)
        except KeyboardInterrupt:
            self.progress("interrupted: proving the best so far")
        return [replace(known[script], seconds=seconds) for script, seconds in self.found.items()]

    @property
    def _best(self) -> float:
        return min((self.original, *self.found.values()))

    def _fresh(self, waiting: Sequence[Trial], neighbours: Neighbours | None) -> Iterator[Task]:
        begun = time.monotonic()
        near = None if neighbours is None else neighbours.of
        batch = None
        if neighbours is not None and neighbours.judge.threads > 1:
            batch = FEW if any(one.origin == GIVEN for one in waiting) else BATCH
        for number, one in enumerate(in_turn(waiting, self.found, near, batch), 1):
            best = self._best
            reserved = min(FINALISTS * TURNS * best, RESERVED * (self.until - begun))
            if time.monotonic() > self.until - reserved:
                return
            self.progress(f"timing program {number} (best so far: {best:.3g} s)")
            yield Task(one.script, best)

    def _finalists(self) -> Iterator[Task]:
        for _ in range(TURNS):
            best = self._best
            fastest = sorted(self.found, key=lambda script: self.found[script])[:FINALISTS]
            for script in (one for one in fastest if self.found[one] < NEAR * best):
                if time.monotonic() < self.until:
                    self.progress("timing the fastest programs again")
                    yield Task(script, best, again=True)

    def _keep(self, one: Timed | Judged) -> None:
        match one:
            case Timed(script, float(seconds)):
                self.found[script] = min(seconds, self.found.get(script, seconds))
                self.kept.keep(replace(one, seconds=self.found[script]))
            case Timed(script) if script not in self.found:
                self.kept.keep(one)
            case Judged(script, False):
                self.doubtful.add(script)
