"""The scanning proof: a program runs exactly its schedule (the design's obligations 1 to 4).

For all parameters in the context: 1 nothing missing, 2 nothing extra, 3 nothing twice, 4 nothing
out of order.  Besides, iterations of a parallel loop are not ordered by the schedule, and a loop
whose test does not end it never runs on with nothing left to execute.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import islpy as isl

from loopwright.errors import InternalError
from loopwright.loops.nodes import Node
from loopwright.model.schedule import Schedule
from loopwright.prove.coverage import coverage
from loopwright.prove.endless import endless
from loopwright.prove.executed import executed, runs
from loopwright.prove.meaning import meaning
from loopwright.prove.order import order
from loopwright.prove.targets import match, timed_calls
from loopwright.prove.verdict import Proved, Undecided, Verdict
from loopwright.prove.witness import Failure, refuted


def prove_scan(schedule: Schedule, program: Node) -> Verdict:
    """Whether `program` executes each instance of `schedule` once for each of its times, in order."""
    try:
        return _prove(schedule, program)
    except isl.Error as error:
        raise InternalError(f"isl failed during the proof: {error}") from error


def _prove(schedule: Schedule, program: Node) -> Verdict:
    known = meaning(schedule)
    timed = timed_calls(schedule, known)
    if isinstance(timed, Undecided):
        return timed
    tree = executed(program, known.context)
    matched = match(known, timed, runs(tree))
    if isinstance(matched, Undecided):
        return matched
    return _discharged(
        chain(coverage(matched.targets, matched.strays), order(tree, matched.pieces), endless(tree))
    )


def _discharged(obligations: Iterator[Failure | None]) -> Verdict:
    count = 0
    for failure in obligations:
        if failure is not None:
            return refuted(failure)
        count += 1
    return Proved(count)
