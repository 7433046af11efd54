"""Tasks of a worker of a fleet, as values, and the process that executes them, one per thread of the worker.

isl is not thread-safe, the processor time of programs is that of all children of a process, and a process
forked from a worker would keep its connections open when it dies.  So each thread of the worker sends its
tasks to a process that it started, which ends with the worker.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import BinaryIO, TypeAlias, assert_never, cast

from loopwright.errors import Code, InternalError, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script
from loopwright.optimise.fleet.parcel import Parcel, unpacked
from loopwright.optimise.timing.workshop import Workshop


@dataclass(frozen=True)
class MakeText:
    """Generate the C file of a script."""

    script: Script


@dataclass(frozen=True)
class TimeText:
    """Time a C file in seconds."""

    text: str
    best: float
    again: bool


@dataclass(frozen=True)
class Prove:
    """Test whether a script can be proved completely."""

    script: Script
    seconds: float


@dataclass(frozen=True)
class TimeOriginal:
    """Time the original file in seconds."""


@dataclass(frozen=True)
class CompareTask:
    """Time the original file and another source alternately, in about so many `seconds`."""

    text: str
    seconds: float


Work: TypeAlias = MakeText | TimeText | Prove | TimeOriginal | CompareTask


PROCESS = (sys.executable, "-c", "from loopwright.optimise.fleet.work import main; main()")


class _Own(threading.local):
    """Thread-local state: the process that works for the thread, once it is started."""

    process: subprocess.Popen[bytes] | None = None


_own = _Own()


def performed(parcel: Parcel, work: Work) -> object:
    """Execute a task and return its result; our own errors are results too."""
    process = _own.process
    if process is None:
        process = _own.process = subprocess.Popen(PROCESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        _send(cast(BinaryIO, process.stdin), (parcel, work))
        return pickle.load(cast(BinaryIO, process.stdout))
    except (OSError, EOFError):
        _own.process = None
        process.kill()
        message = f"the process of the worker died ({type(work).__name__}), with status {process.wait()}"
        return InternalError(Code.INTERNAL, message)


def _send(pipe: BinaryIO, value: object) -> None:
    pickle.dump(value, pipe)
    pipe.flush()


def main() -> None:
    """The main function of the process: reads tasks from standard input until its end, and answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    shops: dict[str, Workshop] = {}
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        while True:
            try:
                parcel, work = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            try:
                if parcel.digest not in shops:
                    shops[parcel.digest] = unpacked(parcel, Path(folder) / str(len(shops)))
                answer = _answer(shops[parcel.digest], work)
            except LoopwrightError as failure:
                answer = failure
            _send(answers, answer)


def _answer(shop: Workshop, work: Work) -> object:
    match work:
        case MakeText(script):
            return shop.text(script)
        case TimeText(text, best, again):
            return shop.seconds(text, best, again=again)
        case Prove(script, seconds):
            return shop.is_proved(script, seconds)
        case TimeOriginal():
            return shop.original()
        case CompareTask(text, seconds):
            return shop.compared(text, seconds)
        case _:
            assert_never(work)
