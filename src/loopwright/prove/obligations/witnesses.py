"""Witnesses for "nothing is missing": which call runs an instance, and in which iteration.

The executed relation of a call, [p] -> x, read backwards: x -> [p], a quasi-affine function in
pieces.  The pieces of all calls of a statement make a decision.  Nothing here is believed: a
prover checks that the iterations exist and that the call has these arguments there.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopwright.loops.expressions import Expr
from loopwright.prove.obligations.decisions import Choice, Decision, decided
from loopwright.prove.obligations.formulas import expr_of
from loopwright.prove.obligations.timetable import Execution, Shape, pieces_of


@dataclass(frozen=True)
class Witness:
    """The call at `position` runs the instance when its iterators are `iterators`."""

    position: int
    iterators: tuple[Expr, ...]


def witness(shape: Shape) -> Decision[Witness] | None:
    """For a point of `wanted`, where it is run; None where no call runs any."""
    pieces: dict[Witness, isl.Set] = {}
    for one in shape.executions:
        for domain, found in _backwards(one):
            earlier = pieces.get(found)
            pieces[found] = domain if earlier is None else earlier.union(domain).coalesce()
    if len(pieces) == 1:
        return Choice(next(iter(pieces)))
    names = shape.executions[0].names if shape.executions else ()
    return decided(shape.wanted, [(domain, found) for found, domain in pieces.items()], names)


def _backwards(execution: Execution) -> list[tuple[isl.Set, Witness]]:
    """The pieces of x -> [p]; of several p the first, in a program that runs an instance twice."""
    inverse = execution.points.reverse()
    if not inverse.is_single_valued():
        inverse = inverse.lexmin()
    count = inverse.dim(isl.dim_type.out)
    return [
        (
            domain,
            Witness(
                execution.run.position,
                tuple(expr_of(function.get_at(k), execution.names) for k in range(count)),
            ),
        )
        for domain, function in pieces_of(inverse)
    ]
