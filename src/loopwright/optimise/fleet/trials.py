"""`Trials` on many machines: texts are made and proved on any worker, a worker times one program at a time.

    Task --MakeText--> text --TimeText, on a worker of the site--> Timed --Prove--> Judged

Dask gives the work of a worker that dies to another one, and work to those that come later.

First come the workers of a Dask scheduler: what they are, for which one searches, what each is given to do.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field
from typing import Any, assert_never, cast

from distributed import WorkerPlugin

from loopwright.errors import BadInput, Code, GaveUp, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script
from loopwright.optimise.fleet.address import TLS, Scheduler, connected, is_loopback, refuse_open
from loopwright.optimise.fleet.parcel import Parcel, own_code
from loopwright.optimise.fleet.work import (
    CompareTask,
    MakeText,
    Prove,
    TimeOriginal,
    TimeText,
    Work,
    performed,
)
from loopwright.optimise.model.machine import Machine, MachineKind, this_machine, this_site
from loopwright.optimise.timing.trials import WORTH, Judged, Task, Timed
from loopwright.optimise.timing.workshop import LONGEST
from loopwright.run.compiler import Compiler, find_compiler
from loopwright.run.timing import Times


@dataclass(frozen=True)
class FleetMember:
    """A worker: what it is, and how many threads it has."""

    site: MachineKind
    machine: Machine
    threads: int
    code: str


@dataclass(frozen=True)
class Fleet:
    """The workers of a scheduler; what is searched for is a program for those at `site`."""

    scheduler: Scheduler
    site: MachineKind
    machine: Machine
    room: int
    """How many tasks are under way at a time."""


def assembled(scheduler: Scheduler, compiler: Compiler) -> Fleet:
    """The workers that answer now; those of this machine's kind are searched for, if there are any."""
    refuse_open(scheduler)
    with connected(scheduler) as client:
        for address in client.nthreads():
            _refuse_open_worker(address)
        found: dict[str, FleetMember | BaseException]
        found = client.run(described, compiler.name, on_error="return")
        members = {address: _checked(address, one) for address, one in found.items()}
        if not members:
            hint = f"start some with 'dask worker {scheduler.address}'"
            raise BadInput(Code.OPTION, f"{scheduler.address} has no workers", hint=hint)
        client.register_plugin(Membership(compiler.name, own_code()))
    threads: dict[MachineKind, int] = {}
    for one in members.values():
        threads[one.site] = threads.get(one.site, 0) + one.threads
    here = this_site(compiler)
    site = here if here in threads else max(threads, key=lambda one: threads[one])
    machine = next(one.machine for one in members.values() if one.site == site)
    return Fleet(scheduler, site, machine, sum(threads.values()))


def _refuse_open_worker(address: str) -> None:
    if not (address.startswith("tls://") or is_loopback(address)):
        message = f"the worker at {address} is neither on this machine nor encrypted"
        raise BadInput(Code.OPTION, message, hint=TLS)


def _checked(address: str, found: FleetMember | BaseException) -> FleetMember:
    if isinstance(found, LoopwrightError):
        raise found
    if isinstance(found, BaseException):
        message = f"the worker at {address} cannot run Loopwright: {found}"
        raise BadInput(Code.MISSING_PART, message, hint="install the same version of Loopwright there")
    if found.code != own_code():
        message = f"the worker at {address} runs another version of Loopwright"
        raise BadInput(Code.MISSING_PART, message, hint="install the same version of Loopwright there")
    return found


def needs(work: Work, site: MachineKind) -> dict[str, int]:
    """Dask's resources for some work: a worker makes as many texts as it has threads, and times one."""
    match work:
        case MakeText() | Prove():
            return {_making(own_code()): 1}
        case TimeText() | TimeOriginal() | CompareTask():
            return {_timing(site, own_code()): 1}
        case _:
            assert_never(work)


def _making(code: str) -> str:
    return f"loopwright {code[:16]}"


def _timing(site: MachineKind, code: str) -> str:
    return f"{_making(code)} timing {site.processor}, {site.compiler}"


class Membership(WorkerPlugin):  # type: ignore[misc]
    """Gives each worker, those that come later too, the resources that work needs."""

    def __init__(self, compiler: str, code: str) -> None:
        self.name = f"loopwright {compiler} {code[:16]}"
        self.compiler = compiler
        self.code = code

    async def setup(self, worker: Any) -> None:
        """A worker with another version of Loopwright, or without the compiler, is given nothing."""
        member = described(self.compiler, worker)
        if member.code == self.code:
            resources = {_making(self.code): member.threads, _timing(member.site, self.code): 1}
            await worker.set_resources(**resources)


def described(compiler: str, dask_worker: Any) -> FleetMember:
    """What the worker is that this runs on; Dask gives the second argument."""
    site = this_site(find_compiler(compiler))
    return FleetMember(site, this_machine(), dask_worker.state.nthreads, own_code())


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
