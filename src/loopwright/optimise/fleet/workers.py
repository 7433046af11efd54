"""The workers of a Dask scheduler: what they are, for which one searches, what each may be given to do."""

from __future__ import annotations

from typing import Any, assert_never

from distributed import WorkerPlugin

from loopwright.errors import BadInput, Code, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.fleet.address import TLS, Scheduler, connected, is_loopback, refuse_open
from loopwright.optimise.fleet.parcel import own_code
from loopwright.optimise.fleet.work import CompareTask, MakeText, Prove, TimeOriginal, TimeText, Work
from loopwright.optimise.model.machine import Machine, MachineKind, this_machine, this_site
from loopwright.run.compiler import Compiler, find_compiler


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
        message = f"the worker at {address} is not on this machine and not encrypted"
        raise BadInput(Code.OPTION, message, hint=TLS)


def _checked(address: str, found: FleetMember | BaseException) -> FleetMember:
    if isinstance(found, LoopwrightError):
        raise found
    if isinstance(found, BaseException):
        message = f"the worker at {address} cannot run Loopwright: {found}"
        raise BadInput(Code.MISSING_PART, message, hint="install the same version of Loopwright there")
    if found.code != own_code():
        message = f"the worker at {address} has another version of Loopwright"
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
