"""Witnesses for "nothing is missing": which call runs an instance, and in which iteration.

The executed relation of a call, [p] -> x, read backwards: x -> [p], a quasi-affine function in
pieces.  The pieces of all calls of a statement make a decision.  Nothing here is believed: a
prover checks that the iterations exist and that the call has these arguments there.
"""

from __future__ import annotations

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, FloorDiv, Int, Scaled, Sum
from loopwright.prove.obligations.decisions import Decided, Decision, decided
from loopwright.prove.obligations.formulas import Linear, added, expr_of
from loopwright.prove.obligations.timetable import ExecutedPoints, Shape, pieces_of
from loopwright.prove.scanning.conditions import IteratorScope, value


@dataclass(frozen=True)
class Witness:
    """The call at `position` runs the instance when its iterators are `iterators`."""

    position: int
    iterators: tuple[Expr, ...]


def witnesses(shape: Shape) -> list[Witness]:
    """One of these runs each point of `wanted`."""
    return list(dict.fromkeys(found for one in shape.executions for _, found in _backwards(one)))


def witness(shape: Shape) -> Decision[Witness] | None:
    """For a point of `wanted`, where it is run; None where no call runs any."""
    pieces: dict[Witness, isl.Set] = {}
    for one in shape.executions:
        for domain, found in _backwards(one):
            earlier = pieces.get(found)
            pieces[found] = domain if earlier is None else earlier.union(domain).coalesce()
    if len(pieces) == 1:
        return Decided(next(iter(pieces)))
    names = shape.executions[0].names if shape.executions else ()
    return decided(shape.wanted, [(domain, found) for found, domain in pieces.items()], names)


def _backwards(execution: ExecutedPoints) -> list[tuple[isl.Set, Witness]]:
    """The pieces of x -> [p]; of several p the first, in a program that runs an instance twice."""
    inverse = execution.points.reverse()
    if not inverse.is_single_valued():
        inverse = inverse.lexmin()
    count = inverse.dim(isl.dim_type.out)
    found: list[tuple[isl.Set, Witness]] = []
    for domain, function in pieces_of(inverse):
        scope = IteratorScope(domain, {name: k for k, name in enumerate(execution.names)})
        iterators = (expr_of(function.get_at(k), execution.names) for k in range(count))
        plain = tuple(_without_offsets(one, scope) for one in iterators)
        found.append((domain, Witness(execution.run.position, plain)))
    return found


def _without_offsets(term: Expr, scope: IteratorScope) -> Expr:
    """The term with ⌊e/d⌋ for ⌊(e − r)/d⌋, where that is the same on the domain.

    The copies of an unrolled loop's body have such offsets r, and one quotient is easier to reason
    about than many.
    """
    plain = _shifted(term)
    if plain == term:
        return term
    same = value(plain, scope).eq_set(value(term, scope))
    return plain if scope.domain.is_subset(same) else term


def _shifted(term: Expr) -> Expr:
    match term:
        case FloorDiv(argument, divisor):
            inside = added(Linear(), 1, _shifted(argument))
            whole = -(-inside.constant // divisor)
            plain = FloorDiv(Linear(0, inside.terms).expr(), divisor)
            return plain if whole == 0 else Sum((plain, Int(whole)))
        case Sum(terms):
            return Sum(tuple(map(_shifted, terms)))
        case Scaled(factor, argument):
            return Scaled(factor, _shifted(argument))
        case _:
            return term
