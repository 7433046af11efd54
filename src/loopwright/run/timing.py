"""Times programs, interleaved so that disturbances affect all of them.

It also runs a program once.
"""

from __future__ import annotations

import math
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass

TIME = "--time"
"""The flag that makes a program print the seconds it spent in its region."""

PROTOCOL = "with --time it must print only the seconds spent in the region"

SLACK = 0.01
"""Seconds by which two clocks may differ."""


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds of every run of one program, in the order they were measured."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half the distance of the quartiles over the median: the reliability of the last digits."""
        if len(self.seconds) < 2 or self.median == 0:
            return 0.0
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / (2 * self.median)


def measured(command: Sequence[str], *, timeout: float) -> float:
    """The seconds reported by a program, checked against the time of all processors during the run."""
    start = time.monotonic()
    text = output_of([*command, TIME], timeout=timeout).decode(errors="replace").strip()
    longest = (time.monotonic() - start) * (os.cpu_count() or 1) + SLACK
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds) or seconds < 0:
        raise BadInput(Code.RUN, f"{command[0]} {TIME} printed {text[:40]!r}", hint=PROTOCOL)
    if seconds > longest:
        message = f"{command[0]} {TIME} printed {text[:40]!r}, more seconds than it ran"
        raise BadInput(Code.RUN, message, hint=PROTOCOL)
    return seconds


def interleaved(
    commands: Mapping[str, Sequence[str]],
    *,
    rounds: int,
    timeout: float,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Times]:
    """Run all programs in turn, `rounds` times; every other round goes through them backwards."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds):
        progress(f"run {turn + 1} of {rounds}")
        order = list(commands) if turn % 2 == 0 else list(commands)[::-1]
        for name in order:
            found[name].append(measured(commands[name], timeout=timeout))
    return {name: Times(tuple(seconds)) for name, seconds in found.items()}


def geometric_mean(ratios: Iterable[float]) -> float:
    """exp(mean log r): the mean of ratios that does not depend on which way they are taken."""
    return statistics.geometric_mean(list(ratios))


@dataclass(frozen=True, slots=True)
class Execution:
    """How a run ended; a negative status is the signal that ended it."""

    command: tuple[str, ...]
    status: int
    output: bytes
    messages: bytes

    @property
    def ending(self) -> str:
        """The status in words."""
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return f"signal {signal.Signals(-self.status).name}"
        except ValueError:
            return f"signal {-self.status}"


def execute(command: Sequence[str], *, timeout: float) -> Execution:
    """Run a command without input; one that takes too long is ended."""
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise GaveUp(Code.TIME, f"{command[0]} was still running after {timeout:g} s") from None
    except OSError as failure:
        raise BadInput(Code.RUN, f"{command[0]} cannot be run: {failure.strerror}") from None
    return Execution(tuple(command), done.returncode, done.stdout, done.stderr)


def output_of(command: Sequence[str], *, timeout: float) -> bytes:
    """The output of a command, which must succeed."""
    done = execute(command, timeout=timeout)
    if done.status != 0:
        messages = done.messages.decode(errors="replace").strip()
        raise BadInput(Code.RUN, f"{' '.join(command)}: {done.ending}{': ' + messages if messages else ''}")
    return done.output
