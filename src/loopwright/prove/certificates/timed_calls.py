"""Calls with their times, and places of the time that are the same functions of iterators in all of them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import subprograms
from loopwright.presburger.equalities import AffineForm, AffineValues, affine_values
from loopwright.prove.obligations.timetable import Timetable
from loopwright.prove.scanning.executed import Run


@dataclass(frozen=True, eq=False)
class TimedCall:
    """A call with its time, [p] -> [time], and the places that are affine functions of p."""

    run: Run
    times: isl.Map
    values: AffineValues
    runs: bool
    """Whether it has an execution."""

    @property
    def forms(self) -> tuple[AffineForm | None, ...]:
        return self.values.forms

    def has_iterator(self, place: int, depth: int) -> bool:
        """Whether the place is this iterator in every execution."""
        form = self.forms[place]
        if not self.runs or form is None:
            return not self.runs
        return self.values.normal(AffineForm((*[0] * depth, 1), (0,) * len(form.rest))) == form


def timed(table: Timetable, run: Run) -> TimedCall:
    """A call that the schedule does not have never runs, or makes another obligation fail."""
    times = table.times.get(run.position)
    if times is None:
        space = run.domain.get_space().from_domain().add_dims(isl.dim_type.out, table.width)
        times = isl.Map.empty(space)
    return TimedCall(run, times, affine_values(times), not times.is_empty())


def count_calls(node: Node) -> int:
    return sum(isinstance(one, Call) for one in subprograms(node))


def by_child(children: Sequence[Node], calls: Sequence[TimedCall]) -> list[Sequence[TimedCall]]:
    """The calls of each child of a block."""
    found: list[Sequence[TimedCall]] = []
    start = 0
    for child in children:
        end = start + count_calls(child)
        found.append(calls[start:end])
        start = end
    return found


def entry(calls: Sequence[TimedCall], place: int, depth: int) -> AffineForm | int | None:
    """The place as the same function of the outer `depth` iterators in all calls: a form, or which iterator.

    A condition around a call may give its place another form than that of the iterator it is.
    """
    if not calls:
        return None
    forms = {one.forms[place] for one in calls}
    form = next(iter(forms))
    if len(forms) == 1 and form is not None and len(form.coefficients) <= depth:
        return form
    return next((k for k in range(depth) if _is_iterator(calls, place, k)), None)


def _is_iterator(calls: Sequence[TimedCall], place: int, depth: int) -> bool:
    """Whether the place is this iterator in every execution of every call."""
    return all(one.has_iterator(place, depth) for one in calls)


def shared(calls: Sequence[TimedCall], depth: int) -> int:
    """How many places, from the first, are the same functions of the outer iterators."""
    width = len(calls[0].forms)
    return next((k for k in range(width) if entry(calls, k, depth) is None), width)


def iterator_place(calls: Sequence[TimedCall], depth: int) -> int | None:
    """The place of the time that is iterator `depth`, all before it being the same in all calls."""
    for k in range(len(calls[0].forms) if calls else 0):
        if _is_iterator(calls, k, depth):
            return k
        if entry(calls, k, depth) is None:
            return None
    return None
