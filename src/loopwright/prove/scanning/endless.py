"""Loops that do not end: right only while there is something left to execute."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl

from loopwright.presburger.dimensions import first
from loopwright.presburger.lexicographic import earlier_by_last
from loopwright.presburger.sets import DIM
from loopwright.prove.scanning.executed import Executed, Repeat, loops, runs
from loopwright.prove.scanning.witness import Failure


def endless(tree: Executed) -> Iterator[Failure | None]:
    """Each iteration of a loop that may not end is, or comes before, one that executes something."""
    for loop in loops(tree):
        if loop.endless is not None:
            yield _in_vain(loop, loop.endless)


def _in_vain(loop: Repeat, iterations: isl.Set) -> Failure | None:
    nothing = isl.Set.empty(iterations.get_space())
    useful = reduce(isl.Set.union, (_iterations(run.domain, loop.depth) for run in runs(loop.body)), nothing)
    idle = iterations.subtract(useful)
    if idle.is_empty():
        return None
    idle = idle.subtract(earlier_by_last(useful))
    return None if idle.is_empty() else Failure("endless", idle.params(), (), loop=loop.iterator)


def _iterations(domain: isl.Set, depth: int) -> isl.Set:
    return first(domain, DIM, depth + 1)
