"""Batches of cases in several processes, which are forked so that modules are loaded once.

A process that ends otherwise than by returning (an isl that aborts, a stack that overflows) is a finding too:
the batch is named, and another process goes on with the next one.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from tests.fuzz.transforms import Finding

Batch = tuple[list[Finding], Counter[str]]
Judge = Callable[[int], Batch]
"""From the number of the first case of a batch to what was found, and the outcomes."""

_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class _Worker:
    process: ForkProcess
    results: Connection
    first: int


def batches(judge: Judge, first: int, size: int, jobs: int, end: float) -> Iterator[Batch]:
    """What `judge` says of batch after batch until the time is over, as they are finished."""
    if jobs == 1:
        while time.monotonic() < end:
            yield judge(first)
            first += size
        return
    workers: list[_Worker] = []
    while workers or time.monotonic() < end:
        while len(workers) < jobs and time.monotonic() < end:
            workers.append(_started(judge, first))
            first += size
        ready = set(wait([one.results for one in workers]))
        for one in [one for one in workers if one.results in ready]:
            workers.remove(one)
            yield _result(one)


def _started(judge: Judge, first: int) -> _Worker:
    mine, theirs = _FORK.Pipe(duplex=False)

    def work() -> None:
        theirs.send(judge(first))

    process = _FORK.Process(target=work)
    process.start()
    theirs.close()
    return _Worker(process, mine, first)


def _result(worker: _Worker) -> Batch:
    try:
        found: Batch = worker.results.recv()
    except EOFError:
        worker.process.join()
        what = f"a process ended with {worker.process.exitcode} in the batch from {worker.first}"
        return [Finding("batch", worker.first, what, ())], Counter()
    worker.process.join()
    return found
