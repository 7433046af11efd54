"""Uses tile numbers in subscripts: `j - 48 * jT` for `j - 48 * (j / 48)` inside of a loop over the tiles of
j.

Where a loop around a statement scans floor(j / 48), its iterator has that value; where that loop has one
iteration and is not written, `v + 48 * (n / 48)` with 0 <= v < 48 is in tile n / 48.  The resulting source is
proved like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import islpy as isl

from loopwright.loops.expressions import And, Compare, Expr, Int, Min, Relation, Rem, Scaled, Sum, Test, Var
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import children, scaled
from loopwright.model.program import Hole, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import coordinate, functions_of
from loopwright.presburger.sets import DIV, OUT
from loopwright.source import Span
from loopwright.transform.plan import Plan
from loopwright.transform.vectors import Position, entry, pieces

Quotients: TypeAlias = Mapping[str, Mapping[tuple[str, int], int | None]]
"""For each statement, which loop (by its depth) scans which iterator divided by which number.

Some quotients of its text are scanned by no loop.
"""


def quotients_in(plan: Plan) -> Quotients:
    """The loops over tiles, if storage has changed and a text has quotients; otherwise they are not
    needed."""
    if not plan.storage:
        return {}
    found: dict[str, dict[tuple[str, int], int | None]] = {}
    for statement in plan.program.statements:
        holes = (one for one in statement.body.holes if isinstance(one, Hole))
        written = ((one.iterator, quotient_at(one, statement.body.place)) for one in holes)
        found[statement.name] = {(name, at[0]): None for name, at in written if at is not None}
        if not found[statement.name]:
            continue
        parts = [_scanned(plan, statement, *part) for part in pieces(statement.schedule)]
        for key, loop in parts[0].items() if parts else ():
            if all(one.get(key) == loop for one in parts):
                found[statement.name][key] = loop
    return found


def _scanned(
    plan: Plan, statement: Statement, position: Position, piece: isl.Map
) -> dict[tuple[str, int], int]:
    loops = range(len(plan.leaf(position).loops))
    own = (_quotient(statement, only(piece, OUT, entry(loop))) for loop in loops)
    return {key: loop for loop, key in enumerate(own) if key is not None}


def _quotient(statement: Statement, numbers: isl.Map) -> tuple[str, int] | None:
    """The iterator and the divisor, where the iteration number is that quotient."""
    functions = [function.get_at(0) for function in functions_of(numbers)]
    if len(functions) != 1 or functions[0].dim(DIV) != 1:
        return None
    divisor = int(functions[0].get_div(0).get_denominator_val().to_python())
    space = functions[0].get_domain_space()
    for k, iterator in enumerate(statement.iterators):
        own = coordinate(space, k).scale_down_val(isl.Val(divisor)).floor()
        if isl.Map.from_aff(own).is_equal(isl.Map.from_aff(functions[0])):
            return iterator, divisor
    return None


def loops_around(node: Node) -> dict[int, tuple[For, ...]]:
    """For each call, by its identity, the loops around it that count up by one."""
    return dict(_around(node, ()))


def _around(node: Node, known: tuple[For, ...]) -> Iterator[tuple[int, tuple[For, ...]]]:
    if isinstance(node, Call):
        yield id(node), known
    if isinstance(node, For) and node.dimension is not None and node.step == 1:
        known = (*known, node)
    for child in children(node):
        yield from _around(child, known)


def tile_number(value: Expr, divisor: int, loops: tuple[For, ...]) -> Expr | None:
    """q of value = divisor q + r with 0 <= r < divisor; None if the loops do not determine it."""
    whole: list[Expr] = []
    rest: list[Expr] = []
    for term in value.terms if isinstance(value, Sum) else (value,):
        match term:
            case Scaled(factor, argument) if factor % divisor == 0:
                whole.append(scaled(factor // divisor, argument))
            case Int(number):
                whole += [Int(number // divisor)] if number // divisor else []
                rest.append(Int(number % divisor))
            case _:
                rest.append(term)
    ranges = [_range(term, {loop.iterator: loop for loop in loops}) for term in rest]
    known = [one for one in ranges if one is not None]
    least, greatest = sum(low for low, _ in known), sum(high for _, high in known)
    if not whole or len(known) != len(ranges) or least < 0 or greatest >= divisor:
        return None
    return whole[0] if len(whole) == 1 else Sum(tuple(whole))


def _range(term: Expr, loops: Mapping[str, For]) -> tuple[int, int] | None:
    """Numbers that a term lies between: a number, or the iterator of a loop from 0 on."""
    match term:
        case Int(value):
            return value, value
        case Var(name) if name in loops and loops[name].start == Int(0):
            greatest = _last(loops[name].test, name)
            return None if greatest is None else (0, greatest)
        case Scaled(factor, argument) if factor > 0:
            found = _range(argument, loops)
            return None if found is None else (factor * found[0], factor * found[1])
    return None


def _last(test: Test, name: str) -> int | None:
    match test:
        case Compare(Relation.LE, Var(iterator), bound) if iterator == name:
            return _at_most(bound)
        case And(arguments):
            found = [last for one in arguments if (last := _last(one, name)) is not None]
            return min(found, default=None)
    return None


def _at_most(bound: Expr) -> int | None:
    match bound:
        case Int(value):
            return value
        case Rem(_, divisor):
            return divisor - 1
        case Min(arguments):
            return min((most for one in arguments if (most := _at_most(one)) is not None), default=None)
    return None


def quotient_at(hole: Hole, place: Span) -> tuple[int, Span] | None:
    """The divisor in `(j / 48)` around an occurrence of an iterator, and where that stands."""
    text = place.source.text
    digits = text[hole.place.end + 3 : text.find(")", hole.place.end)]
    whole = Span(place.source, hole.place.start - 1, hole.place.end + 3 + len(digits) + 1)
    is_quotient = digits.isdigit() and whole.text == f"({hole.place.text} / {digits})"
    return (int(digits), whole) if is_quotient and place.contains(whole) else None
