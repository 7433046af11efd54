"""Limits the processor time of calls of Loopwright: random programs can be slow to decide."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

SECONDS = float(os.environ.get("LOOPWRIGHT_FUZZ_SECONDS", "1.5"))
"""Of processor time for one answer about a program; what takes longer is counted as late, and is no case."""
LONGEST = 60.0
"""Of processor time for the answer to a damaged file; what takes longer is a failure."""

AGAIN = 1.0
"""Seconds after which it is raised again: what is raised while C calls Python, as libclang does, is lost."""


class Late(BaseException):
    """The time is over; no handler of errors may take it for an error."""


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raises `Late` when what is done inside has taken that much processor time.

    What fails after that may do so because `Late` was lost, and is late, too.
    """
    is_over = False

    def late(number: int, frame: FrameType | None) -> None:
        nonlocal is_over
        is_over = True
        raise Late

    before: Callable[[int, FrameType | None], object] | int | None = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN)
    try:
        yield
    except Exception:
        if is_over:
            raise Late from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
