"""Runs batches of cases in several processes, which are forked so that modules are loaded once.

A process says which case it is at.  One that ends otherwise than by returning (an isl that aborts, a stack
that overflows), that says nothing for too long, or that takes too much memory is a finding with the name of
this case; another process goes on with the next batch.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import TypeAlias

from tests.fuzz.findings import Finding

Batch: TypeAlias = tuple[list[Finding], Counter[str]]
Tell: TypeAlias = Callable[[str], None]
Judge: TypeAlias = Callable[[int, Tell], Batch]
"""From the number of the first case of a batch to what was found, and the outcomes."""

SILENT = 300.0
"""Seconds that one case, or running all cases of a batch, may take."""
BUSY = 80.0
"""The same in processor time of the process itself."""
MEMORY = 6 << 30
"""Bytes of a process."""
GRACE = 40.0
"""Seconds after the end for what was begun before."""
_FORK = multiprocessing.get_context("fork")


@dataclass
class _Worker:
    process: ForkProcess
    messages: Connection
    first: int
    at: str = "start"
    heard: float = field(default_factory=time.monotonic)
    used: float = 0.0
    """Processor time when it was heard last."""

    @property
    def processor_time(self) -> float:
        try:
            words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return self.used
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def fault(self) -> str | None:
        """Why the process has to be ended."""
        if time.monotonic() - self.heard > SILENT or self.processor_time - self.used > BUSY:
            return "no answer in time"
        return f"more than {MEMORY >> 30} GiB of memory" if self.memory > MEMORY else None

    def stop(self) -> None:
        """Ends the process, with all that it has started."""
        if self.process.pid is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:  # it has ended in the meantime
                self.process.kill()
        self.process.join()

    def ended(self, what: str) -> Batch:
        return [Finding("batch", self.first, f"{what} at {self.at}", ())], Counter({"batch: lost": 1})


def batches(
    judge: Judge, first: int, size: int, jobs: int, end: float, grace: float = GRACE
) -> Iterator[Batch]:
    """What `judge` says of batch after batch until the time is over, as they are finished.

    At least every second something comes, if only an empty batch, so that the caller can write down counts.
    """
    workers: list[_Worker] = []
    try:
        while workers or time.monotonic() < end:
            while len(workers) < jobs and time.monotonic() < end:
                workers.append(_started(judge, first))
                first += size
            ready = set(wait([one.messages for one in workers], timeout=1.0))
            for one in list(workers):
                told = _heard(one) if one.messages in ready else _overdue(one, end + grace)
                if told is not None:
                    workers.remove(one)
                    yield told
            yield [], Counter()
    finally:
        for one in workers:
            one.stop()


def _started(judge: Judge, first: int) -> _Worker:
    mine, theirs = _FORK.Pipe(duplex=False)

    def work() -> None:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        gc.freeze()
        gc.set_threshold(100_000)  # a process is short-lived
        theirs.send(judge(first, theirs.send))

    process = _FORK.Process(target=work)
    process.start()
    theirs.close()
    return _Worker(process, mine, first)


def _heard(worker: _Worker) -> Batch | None:
    """The result of a process that has said something; None where it goes on."""
    worker.heard, worker.used = time.monotonic(), worker.processor_time
    try:
        message: Batch | str = worker.messages.recv()
    except EOFError:
        worker.process.join()
        return worker.ended(f"a process ended with {worker.process.exitcode}")
    if isinstance(message, str):
        worker.at = message
        return None
    worker.process.join()
    return message


def _overdue(worker: _Worker, last: float) -> Batch | None:
    """Ends a process that takes too long or too much; None where it does not."""
    fault, over = worker.fault, time.monotonic() > last
    if fault is None and not over:
        return None
    worker.stop()
    return worker.ended(fault) if fault else ([], Counter({"batch: unfinished": 1}))
