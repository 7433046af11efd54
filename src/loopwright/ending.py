"""What happens to programs that were started, and to temporary files, when the process is told to end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Meanwhile SIGTERM raises `SystemExit`: what is done on the way out ends programs and removes files.

    Around waiting, and around many short computations: isl does not notice signals while it computes.
    """
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    waiting = os.getpid()

    def end(number: int, frame: object) -> NoReturn:
        if os.getpid() != waiting:  # a child that has just begun
            os._exit(128 + number)
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
