"""The scanning proof: a program runs exactly its schedule (the design's obligations 1 to 4).

For all parameters in the context: 1 nothing missing, 2 nothing extra, 3 nothing twice, 4 nothing
out of order.  Besides, a loop says that its iterations are independent where they are not ordered, or
are to be independent, and only there; and a loop whose test does not end it never runs on with nothing
left to execute.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import islpy as isl

from loopwright.loops.nodes import Node
from loopwright.model.annotations import IndependentLoops
from loopwright.model.schedule import Schedule
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import isl_failures
from loopwright.prove.scanning.coverage import coverage, endless
from loopwright.prove.scanning.executed import executed, runs
from loopwright.prove.scanning.meaning import Meaning, meaning
from loopwright.prove.scanning.order import order
from loopwright.prove.scanning.targets import CallTimes, match, timed_calls
from loopwright.prove.scanning.witness import refuted, replayed
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict

NEARBY = 4
"""How many parameter values are tried to see a failure in a run."""


@isl_failures("isl failed during the proof")
def prove_scan(schedule: Schedule, program: Node, independent: Sequence[IndependentLoops] = ()) -> Verdict:
    """Whether `program` executes each instance of `schedule` once for each of its times, in order.

    A loop that says it is independent must scan a dimension of which `schedule`, or `independent`, says so.
    """
    known = meaning(schedule)
    timed = timed_calls(schedule, known)
    if isinstance(timed, Undecided):
        return timed
    tree = executed(program, known.context)
    matched = match(known, timed, runs(tree), independent)
    if isinstance(matched, Undecided):
        return _seen_wrong(known, timed, program, _smallest(known.context)) or matched
    obligations = chain(coverage(matched.targets, matched.strays), order(tree, matched.pieces), endless(tree))
    count = 0
    for failure in obligations:
        if failure is not None:
            answer = refuted(failure)
            return _confirmed(answer, known, timed, program) if failure.chosen else answer
        count += 1
    return Proved(count)


def _confirmed(answer: Refuted, known: Meaning, timed: tuple[CallTimes, ...], program: Node) -> Verdict:
    """A failure that may be due to the choice of times: wrong only if the run is."""
    seen = _seen_wrong(known, timed, program, answer.parameters)
    reason = f"not with the times chosen for instances that have several: {answer.message}"
    return Undecided(reason) if seen is None else seen


def _seen_wrong(
    known: Meaning, timed: tuple[CallTimes, ...], program: Node, parameters: dict[str, int]
) -> Refuted | None:
    """A mistake in a run for these parameters, or for ones a little greater."""
    nearby = ({name: value + more for name, value in parameters.items()} for more in range(NEARBY))
    return next(filter(None, (replayed(known, timed, program, values) for values in nearby)), None)


def _smallest(context: isl.Set) -> dict[str, int]:
    point = smallest_point(context)
    return {} if point is None else point.parameters
