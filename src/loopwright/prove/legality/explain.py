"""Turns a refusal into a diagnostic, which reads like a compiler error:

script.lw:2:1: error: a value is read before it is written
    interchange(L)
    ^~~~~~~~~~~~~~
flow dependence on A[1][0], for n = 2
k.c:5:5: S1(i = 0, j = 1) writes A[1][0]
    A[i + 1][j - 1] = A[i][j];
    ^~~~~~~~~~~~~~~
k.c:5:23: S1(i = 1, j = 0) reads A[1][0]
    A[i + 1][j - 1] = A[i][j];
                      ^~~~~~~
as written:  S1(0, 1), then S1(1, 0): iteration i = 0 runs before i = 1
transformed: S1(1, 0), then S1(0, 1): iteration j = 0 runs before j = 1

Further failures follow in short, each with its own example.

The module also finds the operation of a script that caused the failure: the stages of the script are replayed
for the two instances of a witness, and the cause is the first operation from which on they are in the wrong
order until the end.  An operation that breaks an order that is restored later is not the cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias, assert_never

from loopwright.c.tokens import bracketed
from loopwright.errors import Code, Diagnostic, GaveUp, Illegal, Note
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE
from loopwright.presburger.dimensions import at
from loopwright.presburger.named import at_parameters
from loopwright.presburger.points import values_text
from loopwright.presburger.sets import IN, isl_failures
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.orders import apart, as_written, at_once, order, short, transformed
from loopwright.prove.legality.times import Schedules, time_of
from loopwright.prove.legality.values import WrongValue
from loopwright.prove.legality.violation import (
    Breach,
    ConflictingAccess,
    Defect,
    DefectKind,
    Occurrence,
    Violation,
)
from loopwright.source import Span, plain_data

Failure: TypeAlias = Violation | Defect | WrongValue

HEADLINES = {
    "flow": "a value is read before it is written",
    "anti": "a value is overwritten before it is read",
    "output": "two writes to one cell are in the wrong order",
}

CODES = {"flow": Code.READ_TOO_EARLY, "anti": Code.OVERWRITTEN_TOO_EARLY, "output": Code.WRITES_SWAPPED}

AT_ONCE = {
    "flow": "a value is read at the very time it is written",
    "anti": "a value is overwritten at the very time it is read",
    "output": "one cell is written twice at the same time",
}

PERHAPS = {
    "flow": "a value of {} may be read before it is written",
    "anti": "a value of {} may be overwritten before it is read",
    "output": "two writes to one cell of {} may be in the wrong order",
}

DEFECTS = {
    DefectKind.COLLISION: "the schedule is not one-to-one: two instances have the same time",
    DefectKind.UNSCHEDULED: "the schedule is not one-to-one: an instance has no time",
    DefectKind.SCHEDULED_TWICE: "the schedule is not one-to-one: an instance has two times",
}


def explain(found: Failure, stages: Iterable[Stage] = ()) -> Diagnostic:
    """Explains one violation or defect at length."""
    culprit = introduced_by(found, stages)
    return Diagnostic(
        _code(found),
        headline(found),
        span=_span(found, culprit),
        hint=_hint(found),
        witness=witness(found),
        notes=_notes(found),
        excerpt="" if culprit is None else culprit.text,
    )


def _notes(found: Failure) -> tuple[Note, ...]:
    match found:
        case Violation():
            return _violation(found)
        case Defect():
            return _defect(found)
        case WrongValue(reader=reader, wanted=wanted, parameters=parameters, span=span):
            given = f", for {values_text(parameters)}" if parameters else ""
            read = Note(f"{reader}{given}", span=span, excerpt="" if span is None else span.excerpt)
            return (read, Note(wanted, "as written"), Note(found.found, "transformed"))
        case _:
            assert_never(found)


def explain_all(verdict: LegalityVerdict, stages: Iterable[Stage] = ()) -> Diagnostic | None:
    """Explains all failures, the simplest first and at length; returns None if there are none."""
    if verdict.status is Status.PROVED:
        return None
    known = tuple(stages)
    first, *others = verdict.failures
    found = replace(
        explain(first, known),
        more=len(others),
        others=tuple(_in_short(one, first, known) for one in others),
        details=as_data(verdict, known),
    )
    if verdict.status is Status.ILLEGAL:
        return found
    return replace(found, code=Code.UNDECIDED, message=f"could not decide: {found.message}", witness=None)


def refusal(verdict: LegalityVerdict, stages: Iterable[Stage] = ()) -> Illegal | GaveUp | None:
    """The verdict as the error to raise, about its simplest witness; None if it is proved."""
    found = explain_all(verdict, stages)
    if found is None:
        return None
    return GaveUp.of(found) if verdict.status is Status.UNDECIDED else Illegal.of(found)


def as_data(verdict: LegalityVerdict, stages: Iterable[Stage] = ()) -> dict[str, Any]:
    """The verdict as data, each failure with its headline and the operation that caused it."""
    known = tuple(stages)
    return verdict.as_json() | {
        "defects": [one.as_json() | _explained(one, known) for one in verdict.defects],
        "violations": [one.as_json() | _explained(one, known) for one in verdict.violations],
        "wrong": [one.as_json() | _explained(one, known) for one in verdict.wrong],
    }


def _explained(found: Failure, stages: tuple[Stage, ...]) -> dict[str, Any]:
    culprit = introduced_by(found, stages)
    span = _span(found, culprit)
    data: dict[str, Any] = {"headline": headline(found), "operation": plain_data(span)}
    if isinstance(found, Violation):
        data["as_written"], data["transformed"] = orders(found)
        data["hint"] = _hint(found)
    return data


def _in_short(found: Failure, first: Failure, stages: tuple[Stage, ...]) -> Note:
    """A further failure: its example, and the new order unless the first failure has the same."""
    span, same = (_span(one, introduced_by(one, stages)) for one in (found, first))
    where = f", by {span.place}" if span is not None and span != same else ""
    values = values_text(found.parameters)
    given = f", for {values}" if values else ""
    if isinstance(found, WrongValue):
        return Note(f"{found.reader}{given}: {found.wanted} as written, {found.found} now{where}", "also")
    if isinstance(found, Defect):
        return Note(f"{headline(found)}{given}: {' and '.join(map(long, found.instances))}{where}", "also")
    notes = [Note(_access(found, *end), span=end[1].span) for end in _ends(found)]
    if not isinstance(first, Violation) or orders(found)[1] != orders(first)[1]:
        notes.append(Note(orders(found)[1], "transformed"))
    text = f"{found.kind} dependence on {cell(found)}{given}{where}"
    return Note(text, "also", notes=tuple(notes))


def _code(found: Failure) -> Code:
    match found:
        case Violation(breach=Breach.UNORDERED):
            return Code.NOT_PARALLEL
        case Violation(kind=kind):
            return CODES[kind]
        case Defect():
            return Code.NOT_ONE_TO_ONE
        case WrongValue():
            return Code.WRONG_VALUE
        case _:
            assert_never(found)


def headline(found: Failure) -> str:
    """What is wrong, without an example."""
    match found:
        case Violation(breach=Breach.UNORDERED, loop=loop):
            depend = "depend" if found.certain else "may depend"
            return f"{loop} is marked parallel, but its iterations {depend} on each other"
        case Violation(kind=kind) if not found.certain:
            return PERHAPS[kind].format(_storage(found))
        case Violation(breach=Breach.SAME_TIME, kind=kind):
            return AT_ONCE[kind]
        case Violation(kind=kind):
            return HEADLINES[kind]
        case Defect(kind=defect):
            return DEFECTS[defect]
        case WrongValue(rounding=True):
            return "the parts of a sum are added in another order"
        case WrongValue():
            return "a read sees another value where storage has changed"
        case _:
            assert_never(found)


def witness(found: Failure) -> str:
    """The example on one line."""
    values = values_text(found.parameters)
    match found:
        case Violation(kind=kind, first=first, second=second):
            text = f"{kind} dependence {short(first)} -> {short(second)} on {cell(found)}"
        case Defect(instances=instances):
            text = " and ".join(map(short, instances)) + _at_times(found)
        case WrongValue(reader=reader, wanted=wanted):
            text = f"{reader}: {wanted} as written, {found.found} now"
        case _:
            assert_never(found)
    return f"{values}: {text}" if values else text


def _at_times(found: Defect) -> str:
    times = " and ".join(f"({', '.join(map(str, time))})" for time in found.times)
    return f" at time {times}" if times else " at no time"


def _span(found: Failure, culprit: Stage | None) -> Span | None:
    """The operation in the script: the one that caused the failure, or the one that marks a parallel loop."""
    marked = found.loop_span if isinstance(found, Violation) else None
    return culprit.span if culprit is not None else marked


def _violation(found: Violation) -> tuple[Note, ...]:
    values = values_text(found.parameters)
    dependence = f"{found.kind} dependence on {cell(found)}" + (f", for {values}" if values else "")
    accesses = [Note(_access(found, *end), span=end[1].span, excerpt=end[0].text) for end in _ends(found)]
    written, now = orders(found)
    return (Note(dependence), *accesses, Note(written, "as written"), Note(now, "transformed"))


def _ends(
    found: Violation,
) -> tuple[tuple[Occurrence, ConflictingAccess], tuple[Occurrence, ConflictingAccess]]:
    return (found.first, found.first_access), (found.second, found.second_access)


def _access(found: Violation, occurrence: Occurrence, touched: ConflictingAccess) -> str:
    return f"{long(occurrence)} {_does(touched)} {cell(found)}"


def _does(touched: ConflictingAccess) -> str:
    verb = "write" if touched.is_write else "read"
    return f"{verb}s" if touched.must else f"may {verb}"


def orders(found: Violation) -> tuple[str, str]:
    """The original order, and that of the transformed program."""
    first, second = transformed(found.first), transformed(found.second)
    match found.breach:
        case Breach.REVERSED:
            now = order(second, first)
        case Breach.SAME_TIME:
            now = at_once(first, second)
        case Breach.UNORDERED:
            now = apart(first, second, str(found.loop))
    return order(as_written(found.first), as_written(found.second)), now


def _hint(found: Failure) -> str | None:
    if isinstance(found, WrongValue):
        return "--allow-reassociation assumes that it makes no difference" if found.rounding else None
    if isinstance(found, Defect):
        return None
    if found.reduction is not None:
        operator = f"'{found.reduction}'" if len(found.reduction) == 1 else found.reduction
        text = f"both are steps of a reduction by {operator}: only its associativity is missing, "
        return text + "which --allow-reassociation assumes"
    unsure = [touched for touched in (found.first_access, found.second_access) if not touched.must]
    if unsure:
        return (
            f"which cells '{unsure[0].text}' touches, or whether it does, depends on data or is not affine: "
            "keep the order of the two, or make its subscripts and conditions affine in iterators and sizes"
        )
    if found.breach is Breach.UNORDERED:
        return "take a loop whose iterations are independent: 'loopwright suggest' names those that are"
    return None


def _defect(found: Defect) -> tuple[Note, ...]:
    values = values_text(found.parameters)
    together = found.kind is DefectKind.COLLISION
    when = "" if together else _at_times(found)
    instances = [Note(f"{long(one)}{when}", span=one.span, excerpt=one.text) for one in found.instances]
    now = [Note(at_once(*map(transformed, found.instances)), "transformed")] if together else []
    return (*([Note(f"for {values}")] if values else []), *instances, *now)


def _storage(found: Violation) -> str:
    return "memory that the region does not name" if found.array == ELSEWHERE else f"'{found.array}'"


def cell(found: Violation) -> str:
    return found.array + bracketed(found.cell)


def long(occurrence: Occurrence) -> str:
    """S1(i = 0, j = 1)."""
    pairs = zip(occurrence.iterators, occurrence.instance, strict=True)
    return f"{occurrence.name}({values_text(dict(pairs))})"


@dataclass(frozen=True, eq=False)
class Stage:
    """The text of an operation, its place in a script, and the schedules after it."""

    text: str
    span: Span | None
    schedules: Schedules


@isl_failures("isl could not replay the script")
def introduced_by(found: Violation | Defect | WrongValue, stages: Iterable[Stage]) -> Stage | None:
    """Returns the operation that caused the failure, or None if all stages are right for this witness."""
    if isinstance(found, WrongValue):
        return Stage(found.text, found.operation, {})
    culprit: Stage | None = None
    for stage in reversed(tuple(stages)):
        if not _is_wrong(found, stage):
            break
        culprit = stage
    return culprit


def _is_wrong(found: Violation | Defect, stage: Stage) -> bool:
    """Whether the stage has the failure; if its statements are created later, it does not."""
    ends = (found.first, found.second) if isinstance(found, Violation) else found.instances
    if any(one.statement not in stage.schedules for one in ends):
        return False
    match found:
        case Violation(breach=Breach.UNORDERED):
            return False
        case Violation():
            first, second = (_time(one, found, stage) for one in (found.first, found.second))
            return not _before(first, second)
        case Defect(DefectKind.COLLISION):
            first, second = (_time(one, found, stage) for one in found.instances)
            return not _before(first, second) and not _before(second, first)
        case Defect():
            (occurrence,) = found.instances
            schedule = at(stage.schedules[occurrence.statement], IN, occurrence.instance)
            times = at_parameters(schedule, found.parameters).range()
            return bool(times.is_empty()) or not times.is_singleton()


def _time(occurrence: Occurrence, found: Violation | Defect, stage: Stage) -> tuple[int, ...]:
    return time_of(stage.schedules[occurrence.statement], occurrence.instance, found.parameters)


def _before(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    length = max(len(one), len(other))
    return one + (0,) * (length - len(one)) < other + (0,) * (length - len(other))
