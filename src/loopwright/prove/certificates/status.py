"""What the verified checker says of loops, or of a whole transformation, after isl has proved them.

Its yes is a theorem in Coq: about the loops and their schedule, or about both programs and all memories.
Where it could not be asked, or gave no answer, the status says why.  What writes the problems is imported
when there is a checker to ask: `codegen` without one starts as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from loopwright.errors import GaveUp
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.annotations import Independent
from loopwright.model.schedule import Schedule
from loopwright.prove.certificates.checker import BUILD, ENOUGH, Checked, NotChecked, asked, checker
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, NOTHING, SEQUENTIAL, VERIFIED, ProofStatus

if TYPE_CHECKING:
    from loopwright.model.program import Program


def scan_status(schedule: Schedule, program: Node, seconds: float | None = None) -> ProofStatus:
    """Of loops that run a schedule.  Where instances have equal times, their places in the program decide."""
    nothing = about_nothing(schedule)
    if nothing is not None:
        return nothing
    tries = tuple(partial(_scan, schedule, program, tied=tied) for tied in (False, True))
    return _status(tries, program, seconds)


def _scan(schedule: Schedule, program: Node, *, tied: bool) -> str:
    from loopwright.prove.certificates.problems import scan_problem
    from loopwright.prove.obligations.timetable import timetable

    return scan_problem(timetable(schedule, program), program, tied=tied)


def change_status(original: Program, new: Program, loops: Node, seconds: float | None = None) -> ProofStatus:
    """Of loops that leave the memory as the original does."""
    return _status((partial(_change, original, new, loops),), loops, seconds)


def about_nothing(schedule: Schedule, by: str = "isl") -> ProofStatus | None:
    """Where there are no parameters, or no instances, everything is true."""
    if schedule.context.is_empty():
        return ProofStatus(by, NOTHING, "the context is contradictory")
    if schedule.domain.intersect_params(schedule.context.params()).is_empty():
        return ProofStatus(by, NOTHING, "no statement has an instance")
    return None


def _change(original: Program, new: Program, loops: Node) -> str:
    from loopwright.prove.certificates.problems import change_problem

    return change_problem(original, new, loops)


def _status(problems: tuple[Callable[[], str], ...], program: Node, seconds: float | None) -> ProofStatus:
    """The answer to the first problem that has one."""
    if checker() is None:
        return ProofStatus("isl", NOT_CHECKED, f"the checker is not built; {BUILD}", asked=False)
    reason = ""
    for problem in problems:
        try:
            answer = asked(problem(), ENOUGH if seconds is None else seconds)
        except GaveUp as failure:
            answer = NotChecked(failure.message)
        match answer:
            case Checked(conditions):
                return ProofStatus(VERIFIED, _standing(program), f"{conditions} conditions")
            case NotChecked(why):
                reason = why
    return ProofStatus("isl", NOT_CHECKED, reason)


def _standing(program: Node) -> str:
    loops = [one for one in subprograms(program) if isinstance(one, For)]
    parallel = any(isinstance(one, Independent) for loop in loops for one in loop.annotations)
    return SEQUENTIAL if parallel else CHECKED
