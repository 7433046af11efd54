"""Selects which of the fastest scripts to prove, if there is no time to prove all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from loopwright.errors import GaveUp, Illegal, InternalError
from loopwright.optimise.candidates.judging import GIVEN
from loopwright.optimise.candidates.nests import Script, tiles_copied, written_out
from loopwright.optimise.timing.trials import Trial

T = TypeVar("T")

PATIENT, ENOUGH = 0.65, 5.0
"""The part of the remaining time for one proof, and the seconds that suffice for the rest."""

CHOSEN = 8.0
"""Seconds reserved for the proof of the model's choice, at most half of those left."""

COPIED = 3.0
"""Seconds allowed for a proof per tile with its own storage: those are for long searches."""

LEAST, PROOFS = 0.28, 7.0
"""The least part of a budget for proofs, and their time limit as a multiple of one judgement."""

HURRIED = 8.0
"""The time limit in seconds for all proofs after an interrupt."""


def kept_for_proofs(budget: float, part: float, slowest: float) -> float:
    """The seconds of a budget reserved for proofs: less than this part if all scripts are judged quickly."""
    return min(part * budget, max(LEAST * budget, PROOFS * slowest))


def first_proved(
    candidates: Sequence[Trial],
    prove: Callable[[Trial, float], T],
    left: Callable[[], float],
    model: Script = (),
) -> tuple[Trial | None, T | None]:
    """Return the first script that `prove` can prove in a part of the seconds `left`, and the result.

    While an initial script is pending, half of the time is reserved for it: it can usually be proved in time,
    and the result is never slower.  After a script that takes too long it comes next, then those with fewer
    copies, or with half the unrolling.  Without one, the `model`'s choice comes next, with some time reserved
    for it; once it is proved, faster ones get the rest.  An interrupt ends the proof of one script: another,
    whose proof is shorter, may still be the result; after a second one nothing more is proved.
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
    """Whether it has fewer copied tiles than a script that takes too long, or half of its unrolling.

    Half as many steps, or a subset of its steps, count too.
    """
    fewer = tiles_copied(one.script) < tiles_copied(tried.script) or set(one.script) < set(tried.script)
    fewer = fewer or 2 * len(one.script) <= len(tried.script)
    return fewer or 2 * written_out(one.script) <= written_out(tried.script) > 0
