"""Which of the fastest scripts is proved, where there is not time for the proofs of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from loopwright.errors import GaveUp, Illegal, InternalError
from loopwright.optimise.candidates.judging import GIVEN
from loopwright.optimise.candidates.nests import Script, tiles_copied, written_out
from loopwright.optimise.timing.trials import Trial

T = TypeVar("T")

PATIENT, ENOUGH = 0.65, 5.0
"""The part of the time left that one proof may take, and the seconds that are enough for the others."""

COPIED = 4.0
"""Seconds that a proof may take for each tile with storage of its own: they are for long searches."""

HURRIED = 8.0
"""Seconds for all proofs after an interrupt."""


def first_proved(
    candidates: Sequence[Trial], prove: Callable[[Trial, float], T], left: Callable[[], float]
) -> tuple[Trial | None, T | None]:
    """The first script that `prove` can prove in a part of the seconds that are `left`, and the result.

    While a script that the search began with waits, half of the time is kept for it: it is known to be
    proved in time, mostly, and the result is never slower.  After a script that takes too long it comes next,
    then those with fewer copies, or that write out half as much.  An interrupt ends the proof of one script:
    another, whose proof is shorter, may still be the result; after a second one there is none.
    """
    waiting, kept_back, interrupts = list(candidates), 0.0, 0
    while waiting and interrupts < 2 and (seconds := left() - kept_back) > 0:
        one = waiting.pop(0)
        given = [other for other in waiting if other.origin == GIVEN]
        limit = seconds / 2 if given else max(PATIENT * seconds, seconds - ENOUGH) if waiting else seconds
        if waiting and COPIED * tiles_copied(one.script) > limit:
            continue
        try:
            return one, prove(one, limit)
        except KeyboardInterrupt:
            kept_back, interrupts = max(kept_back, left() - HURRIED), interrupts + 1
        except (GaveUp, Illegal, InternalError):
            pass
        shorter = _shorter_first(waiting, one.script)
        waiting = [*given, *(other for other in shorter if other not in given)]
    return None, None


def _shorter_first(waiting: list[Trial], tried: Script) -> list[Trial]:
    """First those with fewer tiles that are copied than a script that takes too long, or half of its text."""
    copied, most = tiles_copied(tried), written_out(tried) / 2
    return sorted(
        waiting, key=lambda one: tiles_copied(one.script) >= copied and written_out(one.script) > most
    )
