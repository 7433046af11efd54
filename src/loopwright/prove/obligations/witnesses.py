"""Witnesses for "nothing is missing": which call executes an instance, and in which iteration.

The executed relation of a call, [p] -> x, is inverted: x -> [p], a piecewise quasi-affine function. The
pieces of all calls of a statement form a decision tree.  Nothing here is trusted: a prover checks that the
iterations exist and that the call has these arguments there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, FloorDiv, Scaled, Sum
from loopwright.loops.sums import LinearSum
from loopwright.loops.traverse import subterms
from loopwright.prove.obligations.decisions import Decided, Decision, decided
from loopwright.prove.obligations.formulas import exprs_of
from loopwright.prove.obligations.timetable import ExecutedPoints, Shape, pieces_of
from loopwright.prove.scanning.conditions import IteratorScope, value
from loopwright.prove.scanning.executed import vector_values


@dataclass(frozen=True)
class Witness:
    """The call at `position` executes the instance when its iterators are `iterators`."""

    position: int
    iterators: tuple[Expr, ...]


def witnesses(shape: Shape) -> list[Witness]:
    """The witnesses; one of them executes each point of `wanted`."""
    return list(dict.fromkeys(found for _, found in _backwards(shape)))


def witness(shape: Shape) -> Decision[Witness] | None:
    """For a point of `wanted`, where it executes; None if no call executes any."""
    pieces: dict[Witness, isl.Set] = {}
    for domain, found in _backwards(shape):
        earlier = pieces.get(found)
        pieces[found] = domain if earlier is None else earlier.union(domain).coalesce()
    if len(pieces) == 1:
        return Decided(next(iter(pieces)))
    names = shape.executions[0].names if shape.executions else ()
    return decided(shape.wanted, [(domain, found) for found, domain in pieces.items()], names)


def _backwards(shape: Shape) -> Iterator[tuple[isl.Set, Witness]]:
    """Yields the pieces of x -> [p] for all calls; if an instance executes twice, the first p.

    The copies of an unrolled loop's body usually have the iterators of the previous copy.
    """
    last: tuple[tuple[Expr, ...], isl.Map] | None = None
    for execution in shape.executions:
        inverse = execution.points.reverse()
        if last is not None and inverse.is_subset(last[1]):
            yield inverse.domain(), Witness(execution.run.position, last[0])
            continue
        if not inverse.is_single_valued():
            inverse = inverse.lexmin()
        pieces = _pieces(inverse, execution)
        yield from pieces
        if len(pieces) == 1:
            everywhere = _scope(isl.Set.universe(inverse.get_space().domain()), execution.names)
            iterators = pieces[0][1].iterators
            last = iterators, vector_values(iterators, everywhere).as_map()


def _pieces(inverse: isl.Map, execution: ExecutedPoints) -> list[tuple[isl.Set, Witness]]:
    found: list[tuple[isl.Set, Witness]] = []
    for domain, function in pieces_of(inverse):
        scope = _scope(domain, execution.names)
        plain = tuple(_without_offsets(one, scope) for one in exprs_of(function, execution.names))
        found.append((domain, Witness(execution.run.position, plain)))
    return _merged(found, execution.names)


def _scope(domain: isl.Set, names: Sequence[str]) -> IteratorScope:
    return IteratorScope(domain, {name: k for k, name in enumerate(names)})


def _merged(pieces: list[tuple[isl.Set, Witness]], names: Sequence[str]) -> list[tuple[isl.Set, Witness]]:
    """The pieces, each with the formula of another one if it is equal there: ⌊i/64⌋, not 0."""
    if len(pieces) < 2:
        return pieces
    found: list[tuple[isl.Set, Witness]] = []
    for domain, one in pieces:
        scope = _scope(domain, names)
        others = (other for _, other in reversed(pieces) if other != one and _size(other) > _size(one))
        found.append((domain, next((other for other in others if _agree(one, other, scope)), one)))
    return found


def _size(witness: Witness) -> int:
    return sum(1 for iterator in witness.iterators for _ in subterms(iterator))


def _agree(one: Witness, other: Witness, scope: IteratorScope) -> bool:
    """Whether both are equal on all of a domain."""
    pairs = zip(one.iterators, other.iterators, strict=True)
    return all(a == b or scope.domain.is_subset(value(a, scope).eq_set(value(b, scope))) for a, b in pairs)


def _without_offsets(term: Expr, scope: IteratorScope) -> Expr:
    """The term with ⌊e/d⌋ for ⌊(e − r)/d⌋, if that is equal on the domain.

    The copies of an unrolled loop's body have such offsets r, and one quotient is easier to reason about than
    many.
    """
    exact, plain = (_plain(term, offsets=offsets).expr() for offsets in (True, False))
    if plain == exact:
        return exact
    same = value(plain, scope).eq_set(value(exact, scope))
    return plain if scope.domain.is_subset(same) else exact


def _plain(term: Expr, *, offsets: bool) -> LinearSum:
    """The term as a sum in which equal quotients have one form."""
    match term:
        case FloorDiv(argument, divisor):
            return _quotient(_plain(argument, offsets=offsets), divisor, offsets=offsets)
        case Sum(terms):
            parts = (_plain(one, offsets=offsets) for one in terms)
            return reduce(LinearSum.plus, parts, LinearSum())
        case Scaled(factor, argument):
            return LinearSum().plus(_plain(argument, offsets=offsets), factor)
        case _:
            return LinearSum().plus_expr(1, term)


def _quotient(inside: LinearSum, divisor: int, *, offsets: bool) -> LinearSum:
    """⌊inside/divisor⌋, with small factors inside, the first of them positive.

        ⌊(15j + 15)/16⌋ = j + ⌊(15 − j)/16⌋ = j − ⌊j/16⌋

    isl writes the first, and each form would be another variable of a condition.  A quotient of a quotient
    becomes one quotient by the product.
    """
    match inside.terms:
        case ((1, FloorDiv(argument, first)),):
            both = LinearSum(constant=first * inside.constant).plus_expr(1, argument)
            return _quotient(both, first * divisor, offsets=offsets)
    outside, rest = LinearSum(), LinearSum(constant=inside.constant)
    for factor, one in inside.terms:
        whole = (2 * factor + divisor) // (2 * divisor)
        outside, rest = outside.plus_term(whole, one), rest.plus_term(factor - whole * divisor, one)
    if not rest.terms:
        return replace(outside, constant=rest.constant // divisor)
    sign = 1 if rest.terms[0][0] > 0 else -1
    constant = rest.constant if sign > 0 else divisor - 1 - rest.constant
    terms = tuple((sign * factor, one) for factor, one in rest.terms)
    whole = constant // divisor if offsets else -(-constant // divisor)
    left = LinearSum(terms, constant - whole * divisor if offsets else 0)
    return replace(outside.plus_term(sign, FloorDiv(left.expr(), divisor)), constant=sign * whole)
