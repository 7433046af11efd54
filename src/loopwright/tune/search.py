"""A search for the fastest script: the few best so far are extended, until nothing gets faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 3
"""How many scripts are extended in each round."""

WORTH = 0.97
"""A script is better if it takes less than this much of the time: by less, runs differ by chance."""

SLOW = 1.25
"""A run is of no use when it takes this much of the time of the slowest script that is kept."""


@dataclass(frozen=True, order=True)
class Trial:
    """A script, and the seconds its program takes."""

    seconds: float
    script: str

    @property
    def length(self) -> int:
        return self.script.count("\n")


Measure: TypeAlias = Callable[[str, float], float | None]
"""The seconds a script's program takes; None if it is of no use, such as where it takes longer than given."""


def search(
    original: float, extensions: Callable[[str], Iterable[str]], measure: Measure, is_over: Callable[[], bool]
) -> list[Trial]:
    """What was found until `is_over`, the best first; the empty script takes `original` seconds."""
    trials = [Trial(original, "")]
    kept = trials
    done = {""}
    while kept:
        best = min(trials).seconds
        found: list[Trial] = []
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
        kept = sorted(found)[:WIDTH] if found and min(found).seconds < best * WORTH else []
    return ranked(trials)


def ranked(trials: list[Trial]) -> list[Trial]:
    """By time; of those as fast as the fastest, but for chance, the shortest script first."""
    fastest = min(trials).seconds
    alike = [one for one in trials if one.seconds * WORTH <= fastest]
    return [*sorted(alike, key=lambda one: (one.length, one)), *sorted(set(trials) - set(alike))]
