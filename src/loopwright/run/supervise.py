"""Runs work under a hard time limit: isl does not notice interrupts while it computes.

The work runs in a forked child, which reports progress and finally the result through a pipe; a child that is
not done in time is killed.  Its time is processor time, with that of programs it started and waited for: on a
busy machine the answer is the same, only later.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import BinaryIO, NoReturn, TypeVar, cast

from loopwright.ending import ending_in_order
from loopwright.errors import Code, GaveUp, InternalError, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress

T = TypeVar("T")

Work = Callable[[Progress], T]


HINT = "allow more time with --timeout, or try --loop-type atomic, which makes less code"


PATIENCE = 10
"""The default wall-clock limit, as a multiple of the limit of processor time."""


def within(
    seconds: float, work: Work[T], progress: Progress, hint: str = HINT, wall: float | None = None
) -> T:
    """Return or raise the result of `work`; raises `GaveUp` with its progress when the time is up.

    `seconds` is processor time, `wall` wall-clock time.  Messages of the work are passed on to `progress`;
    the `hint` is for work that takes too long.
    """
    limits = _Limits(seconds, seconds * PATIENCE if wall is None else wall, time.monotonic())
    reading, writing = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with ending_in_order():
        child = os.fork()
        if child == 0:
            os.close(reading)
            _be_the_child(work, writing)
        try:
            os.close(writing)
            with os.fdopen(reading, "rb", buffering=0) as pipe:
                return cast(T, _listen(pipe, child, limits, progress, hint))
        finally:
            _end(child)


@dataclass(frozen=True)
class _Limits:
    """The limits of processor time and of wall-clock time, with the time of the start."""

    seconds: float
    wall: float
    started: float

    def left(self, child: int) -> tuple[float, str]:
        """The least time left for the child, and the nearer limit."""
        passed = time.monotonic() - self.started
        used = processor_time(child)
        working = self.seconds - (passed if used is None else used)
        if working <= self.wall - passed:
            return working, f"the time limit of {self.seconds:g} s ran out"
        return self.wall - passed, f"the wall-clock limit of {self.wall:g} s ran out"


def processor_time(process: int) -> float | None:
    """The time of a process and the children it has waited for; None if the system does not report it."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class _Pipe:
    """Sends messages of the child to the parent."""

    pipe: BinaryIO

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None:
        _send(self.pipe, ("doing", (doing, done, total)))


def _be_the_child(work: Work[T], writing: int) -> NoReturn:
    """Do the work, report, and exit without running any code of the parent.

    The work's failures are Loopwright's own errors; anything else ends the child, which the
    parent sees.
    """
    try:
        signal.signal(signal.SIGTERM, _stopped)  # what it raises must not get past the end of this function
        with os.fdopen(writing, "wb") as pipe:
            try:
                result: tuple[str, object] = ("done", work(_Pipe(pipe)))
            except LoopwrightError as error:
                result = ("failed", error)
            _send(pipe, result)
    finally:
        os._exit(0)


def _stopped(number: int, frame: object) -> NoReturn:
    """Time is up: programs that were started are ended, and temporary files removed, on the way out."""
    raise SystemExit(number)


def _send(pipe: BinaryIO, message: tuple[str, object]) -> None:
    data = pickle.dumps(message)
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def _listen(pipe: BinaryIO, child: int, limits: _Limits, progress: Progress, hint: str) -> object:
    doing = "starting"
    received = b""
    while True:
        left, over = limits.left(child)
        if left <= 0:
            raise GaveUp(Code.TIME, f"{over} while {doing}", hint=hint)
        if not select.select([pipe], [], [], max(left, SHORTEST))[0]:
            continue
        data = pipe.read(1 << 16)
        if not data:
            raise InternalError(Code.INTERNAL, f"the process that was {doing} terminated unexpectedly")
        received += data
        while (message := _message(received)) is not None:
            (kind, value), received = message
            match kind:
                case "doing":
                    doing, done, total = cast(tuple[str, int, int], value)
                    progress(doing, done, total)
                case "done":
                    return value
                case _:
                    raise cast(LoopwrightError, value)


def _message(received: bytes) -> tuple[tuple[str, object], bytes] | None:
    """The first whole message and what follows it."""
    size = int.from_bytes(received[:8], "big") if len(received) >= 8 else None
    if size is None or len(received) < 8 + size:
        return None
    return pickle.loads(received[8 : 8 + size]), received[8 + size :]


SHORTEST = 0.01
"""Seconds to wait for a message: processor time is counted in hundredths."""
GRACE = 0.5
"""Seconds for a stopped child to clean up; isl does not notice signals while it computes."""


def _end(child: int) -> None:
    """The child is over, whether it was done or not."""
    os.kill(child, signal.SIGTERM)
    until, pause = time.monotonic() + GRACE, 0.0002
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0] == child:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
