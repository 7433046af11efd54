"""`Trials` on many machines: any worker generates and proves sources, and times one program at a time.

    Task --MakeText--> text --TimeText, on a worker of the site--> Timed --Prove--> Judged

Dask reassigns the work of a worker that dies, and gives work to those that join later.

The workers of a Dask scheduler come first: their kinds, the site of the search, and their resources.
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
    """A worker: its machine kind and number of threads."""

    site: MachineKind
    machine: Machine
    threads: int
    code: str


@dataclass(frozen=True)
class Fleet:
    """The workers of a scheduler; the search is for those at `site`."""

    scheduler: Scheduler
    site: MachineKind
    machine: Machine
    room: int
    """The number of concurrent tasks."""


def assembled(scheduler: Scheduler, compiler: Compiler) -> Fleet:
    """The workers that answer now; the search is for those of this machine's kind, if there are any."""
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
    """Dask's resources for a task: a worker generates one source per thread, and times one at a time."""
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
    """Gives each worker, including later ones, the resources of tasks."""

    def __init__(self, compiler: str, code: str) -> None:
        self.name = f"loopwright {compiler} {code[:16]}"
        self.compiler = compiler
        self.code = code

    async def setup(self, worker: Any) -> None:
        """Set the resources; none for a worker with another version of Loopwright, or without the
        compiler."""
        member = described(self.compiler, worker)
        if member.code == self.code:
            resources = {_making(self.code): member.threads, _timing(member.site, self.code): 1}
            await worker.set_resources(**resources)


def described(compiler: str, dask_worker: Any) -> FleetMember:
    """Describe the worker that this runs on; Dask passes the second argument."""
    site = this_site(find_compiler(compiler))
    return FleetMember(site, this_machine(), dask_worker.state.nthreads, own_code())


PROVING = 120.0
"""The time limit in seconds of a worker for the complete proof of a script."""

LATER = -1
"""The priority of proofs: they wait for trials."""


@dataclass
class TrialsOnFleet:
    """`Trials` by the workers of a fleet; a source whose time is known is not run again."""

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
        """Return a worker's answer to a task; its refusal is raised."""
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
        """Send a task and return its future; its resources determine the worker."""
        return client.submit(
            performed,
            self.parcel,
            work,
            resources=needs(work, self.fleet.site),
            priority=LATER if isinstance(work, Prove) else 0,
            pure=False,
        )

    def outcomes(self, tasks: Iterator[Task], until: float) -> Iterator[Timed | Judged]:
        """Send tasks while there is room; unfinished ones, including proofs, are abandoned at the end."""
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
        """The outcome of an answer, and the next task; nothing if the workers died of it."""
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
    """Wait for the futures that are done, at least one unless the time is over."""
    from distributed import wait

    try:
        return list(wait(list(pending), timeout=max(0.0, left), return_when="FIRST_COMPLETED").done)
    except TimeoutError:
        return []
