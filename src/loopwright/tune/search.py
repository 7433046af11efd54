"""A search for the fastest script: the few best so far are extended, until nothing gets faster."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

WIDTH = 3
"""How many scripts are extended in each round."""

WORTH = 0.97
"""A script is better if it takes less than this much of the time: by less, runs differ by chance."""

SLOW = 1.25
"""A script that takes longer than this many times the slowest one that is kept is dropped."""

S = TypeVar("S", bound=Hashable)
"""A step of a script."""


@dataclass(frozen=True)
class Trial(Generic[S]):
    """The steps of a script, and the seconds its program takes."""

    seconds: float
    script: tuple[S, ...]


def search(
    original: float,
    extensions: Callable[[tuple[S, ...]], Iterable[tuple[S, ...]]],
    measure: Callable[[tuple[S, ...], float], float | None],
    is_over: Callable[[], bool],
) -> list[Trial[S]]:
    """What was found until `is_over`, the best first; the empty script takes `original` seconds.

    `measure` gives the seconds a script's program takes; None if it is of no use, such as where it takes
    longer than the seconds it is given.
    """
    trials: list[Trial[S]] = [Trial(original, ())]
    kept = trials
    done: set[tuple[S, ...]] = {()}
    while kept:
        best = min(one.seconds for one in trials)
        found: list[Trial[S]] = []
        limit = kept[-1].seconds * SLOW
        for script in (script for start in kept for script in extensions(start.script)):
            if is_over():
                return ranked(trials + found)
            if script in done:
                continue
            done.add(script)
            seconds = measure(script, limit)
            if seconds is not None:
                found.append(Trial(seconds, script))
        trials = trials + found
        is_better = any(one.seconds < best * WORTH for one in found)
        kept = sorted(found, key=lambda one: one.seconds)[:WIDTH] if is_better else []
    return ranked(trials)


def ranked(trials: list[Trial[S]]) -> list[Trial[S]]:
    """By time; of those as fast as the fastest, but for chance, the shortest script first."""
    fastest = min(one.seconds for one in trials)

    def rank(one: Trial[S]) -> tuple[bool, int, float]:
        is_slower = one.seconds * WORTH > fastest
        return is_slower, 0 if is_slower else len(one.script), one.seconds

    return sorted(trials, key=rank)
