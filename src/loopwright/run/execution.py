"""A program, run once."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass


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
    """Run a command with no input; one that takes too long is ended."""
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
    """What a command prints; it has to end well."""
    done = execute(command, timeout=timeout)
    if done.status != 0:
        messages = done.messages.decode(errors="replace").strip()
        raise BadInput(Code.RUN, f"{' '.join(command)}: {done.ending}{': ' + messages if messages else ''}")
    return done.output
