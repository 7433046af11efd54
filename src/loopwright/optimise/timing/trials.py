"""Trials of scripts as values: their order, the tasks of a machine, their outcomes and ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Protocol

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script, is_shared, tiles_copied
from loopwright.run.timing import Times
from loopwright.transform.script.operations import Fuse, Parallelize, Tile

BATCH = 8
"""So many kinds of scripts are timed before scripts near the fastest ones, where threads share the work."""

WORTH = 0.97
"""A program is faster if it takes less than this much of the time: by less, runs differ by chance."""


@dataclass(frozen=True)
class Trial:
    """A script, the cycles it was estimated to take, and the seconds it took; None where it was not timed."""

    script: Script
    cycles: float
    origin: str
    seconds: float | None = None


def kinds(script: Script) -> tuple[str, ...]:
    """What a script does, without names and sizes: each kind of step once, slanted tiles by themselves.

    Where two nests are joined and no others, how many loops they share is part of it.
    """
    found = []
    for step in script:
        is_slanted = isinstance(step.operation, Tile) and step.operation.skew
        found.append(f"{type(step.operation).__name__}{' skew' * is_slanted}")
    joined = [step.operation.common for step in script if isinstance(step.operation, Fuse)]
    return (*dict.fromkeys(found), *(f"{common} loops" for common in joined if len(joined) == 1))


def in_turn(
    candidates: Sequence[Trial],
    known: Mapping[Script, float],
    near: Callable[[Script], Iterator[Trial]] | None = None,
    batch: int | None = None,
) -> Iterator[Trial]:
    """Which candidate is timed next; `known` has the seconds of those that are not, and grows meanwhile.

    First the best of each kind, in the order of the model; then, of the kinds in the order of their shortest
    times, the next ones: kinds of scripts differ more than the model can tell, sizes less.  Before these come
    scripts `near` the fastest one, near the fastest for one thread, which is where several start from, and
    near the fastest without tiles that are copied, of which proofs take long; a candidate may be one of them.
    With a `batch` these do not wait for more kinds than that; of these every other one is for one thread.
    """
    given: set[Script] = set()
    for one in _by_kinds(candidates, known, near, batch):
        if one.script not in given and one.script not in known:
            given.add(one.script)
            yield one


def _by_kinds(
    candidates: Sequence[Trial],
    known: Mapping[Script, float],
    near: Callable[[Script], Iterator[Trial]] | None,
    batch: int | None,
) -> Iterator[Trial]:
    """The same; a candidate that is near another one may come twice."""
    waiting: dict[tuple[str, ...], list[Trial]] = {}
    begun: dict[tuple[str, ...], list[Script]] = {}
    for one in candidates:
        if one.script in known:
            begun.setdefault(kinds(one.script), []).append(one.script)
        elif one.script:
            waiting.setdefault(kinds(one.script), []).append(one)
    asked: set[Script] = set()
    recent = 0
    while True:
        fresh = [kind for kind in waiting if kind not in begun]
        if batch is not None:
            fresh.sort(key=lambda kind: (Parallelize.__name__ in kind) == bool(recent % 2))
        alone = [one for one in known if not is_shared(one)]
        plain = [one for one in known if not tiles_copied(one)]
        fastest = [min(some, key=lambda one: known[one], default=()) for some in (alone, plain, known)]
        next_to = next((one for one in fastest if one not in asked), None)
        if (not fresh or recent == batch) and near is not None and next_to is not None:
            asked.add(next_to)
            recent = 0 if is_shared(next_to) else recent
            yield from near(next_to)
            continue
        if not waiting:
            return
        kind = fresh[0] if fresh else min(waiting, key=lambda one: _shortest(begun[one], known))
        recent = 1 if recent == batch else recent + 1
        one = waiting[kind].pop(0)
        waiting = {kind: more for kind, more in waiting.items() if more}
        begun.setdefault(kind, []).append(one.script)
        yield one


def _shortest(scripts: Sequence[Script], known: Mapping[Script, float]) -> float:
    return min((known[one] for one in scripts if one in known), default=inf)


@dataclass(frozen=True)
class Task:
    """A task to time a script.

    `best` is the shortest time that is known; `again` asks for another run of a program that was timed.
    """

    script: Script
    best: float
    again: bool = False


@dataclass(frozen=True)
class Timed:
    """The seconds of a script; None where it has no program, or a run was not worth its end: `failure`."""

    script: Script
    seconds: float | None
    failure: str = ""


@dataclass(frozen=True)
class Judged:
    """Whether another machine could prove a script whole: its word ranks, and is not a proof."""

    script: Script
    is_proved: bool


class Trials(Protocol):
    """Where programs made of one file are timed: on this machine, or on many."""

    def original(self, until: float) -> float:
        """The seconds of the file as it is; `GaveUp` where it does not end in time."""
        ...

    def outcomes(self, tasks: Iterator[Task], until: float) -> Iterator[Timed | Judged]:
        """What comes of the tasks, in any order.

        The next task is taken when there is room for it, so that it may depend on what came of others.
        """
        ...

    def compared(self, text: str, seconds: float) -> tuple[Times, Times]:
        """Runs of the original and of another text, in turns, in about so many seconds."""
        ...


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """By time; of those as fast as the fastest, but for chance, the shortest script first."""
    timed = [(one.seconds, one) for one in trials if one.seconds is not None]
    fastest = min((seconds for seconds, _ in timed), default=0.0)

    def rank(pair: tuple[float, Trial]) -> tuple[bool, int, float]:
        seconds, one = pair
        is_slower = seconds * WORTH > fastest
        return is_slower, 0 if is_slower else len(one.script), seconds

    return [one for _, one in sorted(timed, key=rank)]
