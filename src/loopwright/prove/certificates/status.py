"""Asks the verified checker about loops, or a whole transformation, after isl has proved them.

Its yes is a theorem in Coq: about the loops and their schedule, or about both programs and all memories. If
it could not be asked, or gave no answer, the status says why.  The modules that write problems are imported
only if there is a checker to ask, so that `codegen` without one starts as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import For, Node, Remarked
from loopwright.loops.traverse import in_sequence, subprograms, with_children
from loopwright.model.annotations import Independent
from loopwright.model.schedule import Schedule
from loopwright.presburger.sets import within_effort
from loopwright.prove.certificates.checker import (
    BUILD,
    ENOUGH,
    Checked,
    NotChecked,
    asked,
    build,
    certificates,
    checker,
    is_turned_off,
)
from loopwright.prove.certificates.specification import NO_DIFFERENCES, AllowedDifferences
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, NOTHING, SEQUENTIAL, VERIFIED, ProofStatus

if TYPE_CHECKING:
    from loopwright.model.program import Program
    from loopwright.prove.certificates.endless import FirstIterations
    from loopwright.prove.certificates.problems import ChangeProblem
    from loopwright.prove.certificates.stored import StoredProblem
    from loopwright.transform.storage import StorageChange


T = TypeVar("T")


@dataclass(frozen=True)
class ProblemTry:
    """A problem, if it can be stated, and what to report if it is accepted: a status, and remarks."""

    problem: Callable[[], str | None]
    status: str
    remark: str = ""
    remarks: Callable[[], Sequence[str]] = list
    unread: bool = False
    """Whether it is asked only if the one before it cannot be read."""
    example: Callable[[], dict[str, int] | None] = lambda: None
    """Sizes with an instance: the problem must allow them, or it is vacuous."""


Tries: TypeAlias = Sequence[Sequence[ProblemTry]]
"""Groups: problems in a group are equivalent; those of the next group are weaker."""


@dataclass(frozen=True)
class PrintedLoops:
    """Loops with the names and pragmas of their source."""

    text: str
    node: Node


def scan_tries(schedule: Schedule, program: Node, printed: PrintedLoops | None = None) -> Tries:
    """The problems for loops that execute a schedule.

    If instances have equal times, their places in the program decide.  For the source that was `printed`, the
    checker's answer is about what it reads there.  A source that it cannot read, such as one with names that
    C does not have, is replaced by `program`.
    """
    good = SEQUENTIAL if has_independent(program) else CHECKED
    if checker() is not None and (begun := _beginning(schedule, program)) is not None:
        remark = f", of each of its beginnings: its loop without end up to any value `{begun.last}`"
        problem = partial(_scan, begun.schedule, begun.program, tied=has_ties(schedule))
        return ([ProblemTry(problem, good, remark, example=partial(example, begun.schedule))],)
    ways = (True,) if checker() is not None and has_ties(schedule) else (False, True)
    asked_of = cache(partial(example, schedule))
    tries = [
        ProblemTry(partial(_scan, schedule, program, tied=tied), good, example=asked_of) for tied in ways
    ]
    if printed is not None:
        shown = ", of the text as it is printed"
        read = (partial(text_problem, schedule, printed, tied=tied) for tied in ways)
        tries = [*(ProblemTry(problem, good, shown, example=asked_of) for problem in read), *tries]
    return (tries,)


def _beginning(schedule: Schedule, program: Node) -> FirstIterations | None:
    from loopwright.prove.certificates.endless import beginning

    return beginning(schedule, program)


def has_ties(schedule: Schedule) -> bool:
    """Whether the schedule gives two instances the same time."""
    from loopwright.prove.scanning.meaning import meaning

    return not all(leaf.times.is_injective() for leaf in meaning(schedule).leaves)


def _scan(schedule: Schedule, program: Node, *, tied: bool, text: str | None = None) -> str:
    from loopwright.prove.certificates.problems import scan_problem
    from loopwright.prove.obligations.timetable import timetable

    return scan_problem(timetable(schedule, program), program, tied=tied, text=text)


def text_problem(schedule: Schedule, printed: PrintedLoops, *, tied: bool) -> str:
    """The problem that the source executes the schedule."""
    from loopwright.prove.obligations.legality import opened

    return _scan(schedule, opened(_unmarked(printed.node)), tied=tied, text=printed.text)


OF_BOTH = ", of both texts"
OF_ORIGINAL = ", of the original as it is written"
OF_NEITHER = ", of both programs as they were read, and what they touch as told"


def change_tries(
    original: Program,
    new: Program,
    loops: Node,
    allowed: AllowedDifferences = NO_DIFFERENCES,
    written: str | None = None,
    *,
    reworded: bool = False,
) -> Tries:
    """The problems for loops that leave the original's memory, with parallel iterations in any order.

    If that is not shown for parallel loops, their sequential order is tried.  `written` is the source of the
    new loops: if the checker can read it, and that of the original, its answer is about both.
    """
    temporaries = allowed.temporaries
    private = tuple(one for one in allowed.private if not (temporaries and one.last))
    unlike = tuple(dict.fromkeys((*temporaries, *(one.array for one in private if not one.last))))
    kept = tuple(dict.fromkeys(one.array for one in private if one.last))
    why = "read nowhere after" if temporaries else "private to iterations"
    combined = ["values may be combined in any order"] if allowed.combining else []
    remarks = [f"except in {', '.join(unlike)}, {why}"] if unlike else []
    remarks += [f"in {', '.join(kept)} by the copy of the iteration that writes last"] if kept else []
    remarks += combined
    run = in_sequence(loops) if temporaries else loops
    good = SEQUENTIAL if temporaries and has_independent(loops) else CHECKED
    told = replace(allowed, private=private)
    problems = cache(partial(_change, original, new, run, told, written))
    asked_of = cache(partial(example_of, original))
    words = " in the words they are read in" if reworded else " as they are written"

    def some(found: Callable[[], ChangeProblem], status: str, remarks: Sequence[str]) -> list[ProblemTry]:
        one = partial(ProblemTry, status=status, remarks=lambda: remarks, example=asked_of)
        both = one(lambda: found().texts, remark=f"{OF_BOTH}{words}")
        return [
            both,
            one(lambda: found().with_original, remark=OF_ORIGINAL, unread=True),
            one(lambda: found().terms, remark=OF_NEITHER, unread=True),
        ]

    tries = some(problems, good, remarks)
    if temporaries or not has_independent(loops):
        return (tries,)
    only = AllowedDifferences(allowed.combining)
    plain = cache(partial(_change, original, new, in_sequence(loops), only))
    return (tries, some(plain, SEQUENTIAL, combined))


def stored_tries(changes: Sequence[StorageChange], new: Program, loops: Node) -> Tries:
    """The problems for loops that execute `new`, with changed storage: compared by the values read.

    If that is not shown for parallel loops, their sequential order is tried.
    """
    problem = cache(partial(_stored, changes, new))

    def remarks() -> list[str]:
        shown = ", ".join(problem(loops).unlike)
        return [f"except in {shown}, whose storage has changed"] if shown else []

    asked_of = cache(partial(example_of, changes[0].original))

    def some(node: Node, status: str) -> list[ProblemTry]:
        one = partial(ProblemTry, status=status, remarks=remarks, example=asked_of)
        return [
            one(lambda: problem(node).text, remark=OF_ORIGINAL),
            one(lambda: problem(node).words, remark=OF_NEITHER, unread=True),
        ]

    if not has_independent(loops):
        return (some(loops, CHECKED),)
    return (some(loops, CHECKED), some(in_sequence(loops), SEQUENTIAL))


def _stored(changes: Sequence[StorageChange], new: Program, loops: Node) -> StoredProblem:
    from loopwright.prove.certificates.stored import stored_problem

    return stored_problem(changes, new, loops)


def example(schedule: Schedule) -> dict[str, int] | None:
    """Sizes at which a statement has an instance, or None."""
    from loopwright.presburger.points import smallest_point
    from loopwright.presburger.sets import sets_of

    for domain in sets_of(schedule.domain):
        point = smallest_point(domain.intersect_params(schedule.context.params()).params())
        if point is not None:
            return point.parameters
    return None


def example_of(original: Program) -> dict[str, int] | None:
    from loopwright.transform.scheduling import flat_schedule

    return example(flat_schedule(original))


def about_nothing(schedule: Schedule, by: str = "isl") -> ProofStatus | None:
    """A status if there are no parameter values, or no instances, so everything is vacuously true."""
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


def tried(groups: Tries, seconds: float | None = None, text: Program | None = None) -> ProofStatus:
    """The answer to the first problem that has one.

    In `text`, the new source, names are those of integers that hold at least the values of an int; values
    that overflow their types are looked for there.
    """
    if checker() is None:
        why = "it is turned off" if is_turned_off() else f"it is not built; {BUILD}"
        return ProofStatus("isl", NOT_CHECKED, why, asked=not is_turned_off())
    limit = ENOUGH if seconds is None else seconds
    found = _first(groups, lambda one, words: asked(words, limit, one.example()), limit)
    if isinstance(found, NotChecked):
        return ProofStatus("isl", NOT_CHECKED, found.reason)
    one, _, answer = found
    fitting = None if text is None else _fitting(text)
    shown = [] if fitting is None else [f"loops and subscripts compute in {fitting}"]
    told = [f"as told, the cells that {', '.join(answer.told)} touch"] if answer.told else []
    detail = "; ".join((f"{answer.conditions} conditions{one.remark}", *one.remarks(), *told, *shown))
    return ProofStatus(VERIFIED, one.status, detail)


@dataclass(frozen=True)
class CertifiedProblem:
    """A problem with certificates, for Coq to check, and the status of its answer."""

    problem: str
    certificates: str
    status: ProofStatus

    @property
    def kind(self) -> str:
        """The kind of theorem, the first word."""
        return self.problem.split(maxsplit=1)[0]


def certified(groups: Tries, seconds: float) -> CertifiedProblem:
    """The first problem with certificates; raises GaveUp if there is none."""
    if checker() is None:
        build()
    found = _first(groups, lambda _, words: certificates(words, seconds), seconds)
    if isinstance(found, NotChecked):
        raise GaveUp(Code.NO_PROOF, f"no proof was found for Coq: {found.reason}")
    one, problem, words = found
    detail = "; ".join((f"{words.split(maxsplit=1)[0]} conditions{one.remark}", *one.remarks()))
    return CertifiedProblem(problem, words, ProofStatus("coq", one.status, detail))


STEPS = 3_000_000
"""isl operations allowed for stating a problem, per second for finding certificates: about a second."""


def written(problem: Callable[[], str | None], seconds: float) -> str | NotChecked:
    """The words of a problem, unless there are none or stating it takes too long."""
    try:
        words = within_effort(max(1, int(STEPS * seconds)), problem)
    except GaveUp as failure:
        return NotChecked(failure.message)
    except isl.Error:
        return NotChecked("isl takes too many steps to write its conditions", is_too_large=True)
    return NotChecked("the text cannot be read", is_unread=True) if words is None else words


def _first(
    groups: Tries, ask: Callable[[ProblemTry, str], T | NotChecked], seconds: float
) -> tuple[ProblemTry, str, T] | NotChecked:
    """The first problem that has an answer, and that answer; or why the first group has none.

    After a problem that is too large, the rest of its group is skipped; after one whose source shows that it
    is wrong, all others are.
    """
    reasons: list[NotChecked] = []
    for group in groups:
        reason = NotChecked("")
        for one in group:
            if one.unread and not reason.is_unread:
                continue
            problem = written(one.problem, seconds)
            answer = problem if isinstance(problem, NotChecked) else ask(one, problem)
            if not isinstance(answer, NotChecked) and not isinstance(problem, NotChecked):
                return one, problem, answer
            assert isinstance(answer, NotChecked)
            reason = answer
            if reason.is_final:
                return reason
            if reason.is_too_large:
                break
        reasons.append(reason)
    return reasons[0]


def _fitting(text: Program) -> str | None:
    """The types that no value computed in the loops and subscripts of a source overflows."""
    from loopwright.prove.certificates.problems import range_problem
    from loopwright.prove.reading.c_expressions import Unreadable

    try:
        problem = range_problem(text)
        answer = asked(problem.words, ENOUGH / 4)
    except (GaveUp, Unreadable):
        return None
    if not isinstance(answer, Checked):
        return None
    others = [f"{'' if one.signed else 'unsigned '}{one.bits} bits" for one in problem.kinds]
    return " and in ".join(["int", *dict.fromkeys(others)])


def has_independent(program: Node) -> bool:
    return any(isinstance(one, For) and one.annotation(Independent) for one in subprograms(program))


def _unmarked(node: Node) -> Node:
    """The loops without remarks, which are comments in the source."""
    return _unmarked(node.body) if isinstance(node, Remarked) else with_children(node, _unmarked)
