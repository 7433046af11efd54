"""`Trials` on many machines: texts are made and proved on any worker, a worker times one program at a time.

    Task --MakeText--> text --TimeText, on a worker of the site--> Timed --Prove--> Judged

Dask gives the work of a worker that dies to another one, and work to those that come later.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field
from typing import Any, cast

from loopwright.errors import Code, GaveUp, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script
from loopwright.optimise.fleet.address import connected
from loopwright.optimise.fleet.parcel import Parcel
from loopwright.optimise.fleet.work import (
    CompareTask,
    MakeText,
    Prove,
    TimeOriginal,
    TimeText,
    Work,
    performed,
)
from loopwright.optimise.fleet.workers import Fleet, needs
from loopwright.optimise.timing.trials import WORTH, Judged, Task, Timed
from loopwright.optimise.timing.workshop import LONGEST
from loopwright.run.timing import Times

PROVING = 120.0
"""Seconds that a worker may take to prove a script whole."""

LATER = -1
"""The priority of proofs: they wait for trials."""


@dataclass
class TrialsOnFleet:
    """`Trials` by the workers of a fleet; a text whose time is known is not run again."""

    fleet: Fleet
    parcel: Parcel
    known: dict[str, float] = field(default_factory=dict)
    """Seconds by text."""
    texts: dict[Script, str] = field(default_factory=dict)

    def original(self, until: float) -> float:
        return cast(float, self.answer(TimeOriginal()))

    def compared(self, text: str, seconds: float) -> tuple[Times, Times]:
        return cast(tuple[Times, Times], self.answer(CompareTask(text, seconds)))

    def answer(self, work: Work) -> object:
        """What a worker says to some work; what it refuses is raised."""
        with connected(self.fleet.scheduler) as client:
            future = self._sent(client, work)
            try:
                answer = future.result(timeout=4 * LONGEST)
            except TimeoutError:
                raise GaveUp(Code.TIME, f"no worker answered within {4 * LONGEST:g} s") from None
        if isinstance(answer, LoopwrightError):
            raise answer
        return answer

    def _sent(self, client: Any, work: Work) -> Any:
        """The future of some work; what it needs decides who does it."""
        return client.submit(
            performed,
            self.parcel,
            work,
            resources=needs(work, self.fleet.site),
            priority=LATER if isinstance(work, Prove) else 0,
            pure=False,
        )

    def outcomes(self, tasks: Iterator[Task], until: float) -> Iterator[Timed | Judged]:
        """Work is sent while there is room for it; what is not done at the end, proofs too, is left."""
        with connected(self.fleet.scheduler) as client:
            pending: dict[Any, tuple[Task, Work]] = {}
            while time.monotonic() < until:
                while self._trials(pending) < self.fleet.room and (task := next(tasks, None)) is not None:
                    work = self._first(task)
                    pending[self._sent(client, work)] = task, work
                if self._trials(pending) == 0:
                    return
                for future in _done(pending, until - time.monotonic()):
                    task, work = pending.pop(future)
                    answer = future.result() if future.status == "finished" else None
                    for outcome in self._followed(task, work, answer):
                        if isinstance(outcome, Timed | Judged):
                            yield outcome
                        else:
                            pending[self._sent(client, outcome)] = task, outcome

    def _trials(self, pending: dict[Any, tuple[Task, Work]]) -> int:
        return sum(not isinstance(work, Prove) for _, work in pending.values())

    def _first(self, task: Task) -> Work:
        text = self.texts.get(task.script)
        return MakeText(task.script) if text is None else TimeText(text, task.best, task.again)

    def _followed(self, task: Task, work: Work, answer: object) -> Iterator[Timed | Judged | Work]:
        """What is known by an answer, and what is to be done next; nothing where the workers died of it."""
        script = task.script
        if isinstance(answer, LoopwrightError):
            yield Timed(script, None, answer.diagnostic.message)
            return
        match work, answer:
            case MakeText(), str(text):
                self.texts[script] = text
                if text in self.known:
                    yield Timed(script, self.known[text])
                else:
                    yield TimeText(text, task.best, task.again)
            case TimeText(), float(seconds):
                self.known[work.text] = seconds
                yield Timed(script, seconds)
                if not task.again and seconds < task.best / WORTH:
                    yield Prove(script, PROVING)
            case Prove(), bool(is_proved):
                yield Judged(script, is_proved)


def _done(pending: dict[Any, tuple[Task, Work]], left: float) -> list[Any]:
    """The futures that are done, of which there is one at least unless the time is over."""
    from distributed import wait

    try:
        return list(wait(list(pending), timeout=max(0.0, left), return_when="FIRST_COMPLETED").done)
    except TimeoutError:
        return []
