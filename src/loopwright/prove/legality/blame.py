"""Which operation of a script is to blame.

The script's stages are replayed for the two instances of a witness: to blame is the first
operation from which on they are in the wrong order until the end.  One that breaks an order that
is mended later is not.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import at
from loopwright.presburger.named import at_parameters
from loopwright.presburger.sets import IN, isl_failures
from loopwright.prove.legality.times import Schedules, time_of
from loopwright.prove.legality.values import WrongValue
from loopwright.prove.legality.violation import Breach, Defect, DefectKind, Occurrence, Violation
from loopwright.source import Span


@dataclass(frozen=True, eq=False)
class Stage:
    """The text of an operation, where it stands in a script, and the schedules after it."""

    text: str
    span: Span | None
    schedules: Schedules


@isl_failures("isl could not replay the script")
def introduced_by(found: Violation | Defect | WrongValue, stages: Iterable[Stage]) -> Stage | None:
    """The operation to blame, or None where the schedules of all stages are right for this witness."""
    if isinstance(found, WrongValue):
        return Stage(found.text, found.operation, {})
    culprit: Stage | None = None
    for stage in reversed(tuple(stages)):
        if not _is_wrong(found, stage):
            break
        culprit = stage
    return culprit


def _is_wrong(found: Violation | Defect, stage: Stage) -> bool:
    """Whether the stage has the failure; one without the statements, which were made later, has not."""
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
            return _has_not_one_time(found, stage)


def _time(occurrence: Occurrence, found: Violation | Defect, stage: Stage) -> tuple[int, ...]:
    return time_of(stage.schedules[occurrence.statement], occurrence.instance, found.parameters)


def _before(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    length = max(len(one), len(other))
    return one + (0,) * (length - len(one)) < other + (0,) * (length - len(other))


def _has_not_one_time(found: Defect, stage: Stage) -> bool:
    (occurrence,) = found.instances
    schedule = at(stage.schedules[occurrence.statement], IN, occurrence.instance)
    times = at_parameters(schedule, found.parameters).range()
    return bool(times.is_empty()) or not times.is_singleton()
