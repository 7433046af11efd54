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

CHOSEN = 8.0
"""Seconds that are kept for the proof of the model's choice, but no more than half of those left."""

COPIED = 3.0
"""Seconds that a proof may take for each tile with storage of its own: they are for long searches."""

LEAST, PROOFS = 0.28, 7.0
"""The least part of a budget for proofs, and how many times as long they may take as one judgement."""

HURRIED = 8.0
"""Seconds for all proofs after an interrupt."""


def kept_for_proofs(budget: float, part: float, slowest: float) -> float:
    """The seconds of a budget that trials leave: fewer than this part where all scripts are judged soon."""
    return min(part * budget, max(LEAST * budget, PROOFS * slowest))


def first_proved(
    candidates: Sequence[Trial],
    prove: Callable[[Trial, float], T],
    left: Callable[[], float],
    model: Script = (),
) -> tuple[Trial | None, T | None]:
    """The first script that `prove` can prove in a part of the seconds that are `left`, and the result.

    While a script that the search began with waits, half of the time is kept for it: it is known to be
    proved in time, mostly, and the result is never slower.  After a script that takes too long it comes next,
    then those with fewer copies, or that write out half as much.  Where there is none, it is the script that
    the `model` chooses that comes next, and some time is kept for it; once it is proved, faster ones of those
    have the rest.  An interrupt ends the proof of one script: another, whose proof is shorter, may still be
    the result; after a second one nothing more is proved.
    """
    waiting, kept_back, interrupts = list(candidates), 0.0, 0
    proved: tuple[Trial | None, T | None] = None, None
    failed: Trial | None = None
    while waiting and interrupts < 2 and (seconds := left() - kept_back) > 0:
        one = waiting.pop(0)
        given = [other for other in waiting if other.origin == GIVEN]
        kept = given or [other for other in waiting if other.script == model]
        limit = seconds if not waiting else max(PATIENT * seconds, seconds - ENOUGH)
        if kept:
            limit = seconds / 2 if given else max(seconds / 2, seconds - CHOSEN)
        if waiting and one.origin != GIVEN and COPIED * tiles_copied(one.script) > limit:
            continue
        try:
            proved = one, prove(one, limit)
            if failed is None or one.script != model or interrupts:
                return proved
            faster = candidates[: candidates.index(one)]
            waiting = [other for other in waiting if other in faster and _is_shorter(other, failed)]
            continue
        except KeyboardInterrupt:
            kept_back, interrupts = max(kept_back, left() - HURRIED), interrupts + 1
        except (GaveUp, Illegal, InternalError):
            pass
        failed = one
        waiting.sort(key=lambda other: (other not in kept, not _is_shorter(other, one)))
    return proved


def _is_shorter(one: Trial, tried: Trial) -> bool:
    """Whether it has fewer tiles that are copied than a script that takes too long, or half of its text.

    Or half as many steps, or some of its steps and no others.
    """
    fewer = tiles_copied(one.script) < tiles_copied(tried.script) or set(one.script) < set(tried.script)
    fewer = fewer or 2 * len(one.script) <= len(tried.script)
    return fewer or 2 * written_out(one.script) <= written_out(tried.script) > 0
