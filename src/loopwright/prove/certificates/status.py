"""What the verified checker says of loops, or of a whole transformation, after isl has proved them.

Its yes is a theorem in Coq: about the loops and their schedule, or about both programs and all memories.
Where it could not be asked, or gave no answer, the status says why.  What writes the problems is imported
when there is a checker to ask: `codegen` without one starts as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from loopwright.errors import GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import For, Node, Remarked
from loopwright.loops.traverse import in_sequence, subprograms, with_children
from loopwright.model.annotations import Independent
from loopwright.model.schedule import Schedule
from loopwright.prove.certificates.checker import BUILD, ENOUGH, Checked, NotChecked, asked, checker
from loopwright.prove.certificates.differences import NO_DIFFERENCES, AllowedDifferences
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, NOTHING, SEQUENTIAL, VERIFIED, ProofStatus

if TYPE_CHECKING:
    from loopwright.model.program import Program
    from loopwright.prove.certificates.problems import ChangeProblem
    from loopwright.prove.certificates.stored import StoredProblem
    from loopwright.transform.storage import StorageChange


@dataclass(frozen=True)
class PrintedLoops:
    """Loops, with the names and the pragmas that they have in their text."""

    text: str
    node: Node


def scan_status(
    schedule: Schedule, program: Node, seconds: float | None = None, printed: PrintedLoops | None = None
) -> ProofStatus:
    """Of loops that run a schedule.  Where instances have equal times, their places in the program decide.

    What the checker says of the text that was `printed` it says of what it reads there.  A text with
    something else in it, such as names that C does not have, is not read: it is asked about `program`.
    """
    nothing = about_nothing(schedule)
    if nothing is not None:
        return nothing
    good = SEQUENTIAL if _has_independent(program) else CHECKED
    ways = (True,) if checker() is not None and has_ties(schedule) else (False, True)
    tries = [_Try(partial(_scan, schedule, program, tied=tied)) for tied in ways]
    if printed is not None:
        read = (partial(text_problem, schedule, printed, tied=tied) for tied in ways)
        tries = [*(_Try(problem, ", of the text as it is printed") for problem in read), *tries]
    return _status(tries, good, seconds)


def has_ties(schedule: Schedule) -> bool:
    """Whether the schedule gives two instances the same time, so that it does not tell them apart."""
    from loopwright.prove.scanning.meaning import meaning

    return not all(leaf.times.is_injective() for leaf in meaning(schedule).leaves)


def _scan(schedule: Schedule, program: Node, *, tied: bool, text: str | None = None) -> str:
    from loopwright.prove.certificates.problems import scan_problem
    from loopwright.prove.obligations.timetable import timetable

    return scan_problem(timetable(schedule, program), program, tied=tied, text=text)


def text_problem(schedule: Schedule, printed: PrintedLoops, *, tied: bool) -> str:
    """That the text runs the schedule."""
    from loopwright.prove.obligations.sides import opened

    return _scan(schedule, opened(_unmarked(printed.node)), tied=tied, text=printed.text)


def change_status(
    original: Program,
    new: Program,
    loops: Node,
    allowed: AllowedDifferences = NO_DIFFERENCES,
    *,
    seconds: float | None = None,
    text: Program | None = None,
    written: str | None = None,
) -> ProofStatus:
    """Of loops that leave the memory as the original does, parallel ones in any order of their iterations.

    Where this is not shown of parallel loops, it is tried of their sequential order.  In `text`, the
    new one, names are those of integers that hold at least what an int holds; values that leave their types
    are looked for there.  `written` is the text of the new loops: where the checker reads it, and that of the
    original, what it says it says of both.
    """
    temporaries = allowed.temporaries
    private = tuple(one for one in allowed.private if not (temporaries and one.last))
    unlike = tuple(dict.fromkeys((*temporaries, *(one.array for one in private if not one.last))))
    kept = tuple(dict.fromkeys(one.array for one in private if one.last))
    why = "read nowhere after" if temporaries else "private to iterations"
    run = in_sequence(loops) if temporaries else loops
    good = SEQUENTIAL if temporaries and _has_independent(loops) else CHECKED
    tried = replace(allowed, private=private)
    problems = cache(partial(_change, original, new, run, tried, written))
    tries = [_Try(lambda: problems().terms)]
    if written is not None:
        tries = [_Try(lambda: problems().texts, ", of both texts as they are written"), *tries]
    found = _status(tries, good, seconds)
    if found.by == VERIFIED:
        remarks = [f"except in {', '.join(unlike)}, {why}"] if unlike else []
        remarks += [f"in {', '.join(kept)} by the copy of the iteration that writes last"] if kept else []
        remarks += ["values may be combined in any order"] if allowed.combining else []
        return _with_remarks(found, remarks, text)
    if temporaries or not _has_independent(loops) or not found.asked:
        return found
    only = AllowedDifferences(allowed.combining)
    plain = _status(
        [_Try(lambda: _change(original, new, in_sequence(loops), only).terms)], SEQUENTIAL, seconds
    )
    return plain if plain.by == VERIFIED else found


def stored_status(
    changes: Sequence[StorageChange],
    new: Program,
    loops: Node,
    seconds: float | None = None,
    text: Program | None = None,
) -> ProofStatus:
    """Of loops that run `new`, whose storage these changes made: by the values that are read.

    Where this is not shown of parallel loops, it is tried of their sequential order.  In `text` values that
    leave their types are looked for, as in `change_status`.
    """
    problem = cache(partial(_stored, changes, new))
    found = _status([_Try(lambda: problem(loops).words)], CHECKED, seconds)
    if found.by != VERIFIED and _has_independent(loops) and found.asked:
        plain = _status([_Try(lambda: problem(in_sequence(loops)).words)], SEQUENTIAL, seconds)
        found = plain if plain.by == VERIFIED else found
    if found.by != VERIFIED:
        return found
    shown = ", ".join(problem(loops).unlike)
    return _with_remarks(found, [f"except in {shown}, whose storage has changed"] if shown else [], text)


def _stored(changes: Sequence[StorageChange], new: Program, loops: Node) -> StoredProblem:
    from loopwright.prove.certificates.stored import stored_problem

    return stored_problem(changes, new, loops)


def _with_remarks(found: ProofStatus, remarks: Sequence[str], text: Program | None) -> ProofStatus:
    fitting = None if text is None else _fitting(text)
    shown = [] if fitting is None else [f"loops and subscripts compute in {fitting}"]
    return replace(found, detail="; ".join((found.detail, *remarks, *shown)))


def about_nothing(schedule: Schedule, by: str = "isl") -> ProofStatus | None:
    """Where there are no parameters, or no instances, everything is true."""
    if schedule.context.is_empty():
        return ProofStatus(by, NOTHING, "the context is contradictory")
    if schedule.domain.intersect_params(schedule.context.params()).is_empty():
        return ProofStatus(by, NOTHING, "no statement has an instance")
    return None


def _change(
    original: Program, new: Program, loops: Node, allowed: AllowedDifferences, written: str | None = None
) -> ChangeProblem:
    from loopwright.prove.certificates.problems import change_problem

    return change_problem(original, new, loops, allowed, written)


@dataclass(frozen=True)
class _Try:
    """A problem, where there is one, and what is to be said of a yes."""

    problem: Callable[[], str | None]
    remark: str = ""


def _status(tries: Sequence[_Try], good: str, seconds: float | None) -> ProofStatus:
    """The answer to the first problem that has one; a yes has the status `good`."""
    if checker() is None:
        return ProofStatus("isl", NOT_CHECKED, f"the checker is not built; {BUILD}", asked=False)
    reason = ""
    for one in tries:
        try:
            problem = one.problem()
            if problem is None:
                continue
            answer = asked(problem, ENOUGH if seconds is None else seconds)
        except GaveUp as failure:
            answer = NotChecked(failure.message)
        match answer:
            case Checked(conditions):
                return ProofStatus(VERIFIED, good, f"{conditions} conditions{one.remark}")
            case NotChecked(why, is_too_large):
                reason = why
                if is_too_large:
                    break
    return ProofStatus("isl", NOT_CHECKED, reason)


def _fitting(text: Program) -> str | None:
    """The types that no value which the loops and subscripts of a text compute leaves."""
    from loopwright.prove.certificates.problems import range_problem
    from loopwright.prove.reading.c_expressions import Unreadable

    try:
        problem = range_problem(text)
        answer = asked(problem.words, ENOUGH / 4)
    except (GaveUp, Unreadable):
        return None
    if not isinstance(answer, Checked):
        return None
    return "int and in 64 bits" if problem.wide else "int"


def _has_independent(program: Node) -> bool:
    return any(isinstance(one, For) and one.annotation(Independent) for one in subprograms(program))


def _unmarked(node: Node) -> Node:
    """The loops without remarks, which are comments in the text."""
    return _unmarked(node.body) if isinstance(node, Remarked) else with_children(node, _unmarked)
