"""Tile numbers in subscripts: `j - 48 * jT` for `j - 48 * (j / 48)` inside of a loop over the tiles of j.

Where a loop around a statement scans floor(j / 48), its iterator has that value.  The text is proved like any
other, whatever is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import islpy as isl

from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import children
from loopwright.model.program import Hole, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.sets import DIV, OUT
from loopwright.source import Span
from loopwright.transform.plan import Plan
from loopwright.transform.vectors import entry, pieces

Quotients: TypeAlias = Mapping[str, Mapping[tuple[str, int], int]]
"""For each statement, which loop (by its depth) scans which iterator divided by which number."""


def quotients_in(plan: Plan) -> Quotients:
    """The loops over tiles, where storage has changed: only then are there such subscripts."""
    if not plan.storage:
        return {}
    found: dict[str, dict[tuple[str, int], int]] = {}
    for statement in plan.program.statements:
        parts = pieces(statement.schedule)
        if len(parts) == 1:
            position, piece = parts[0]
            loops = range(len(plan.leaf(position).loops))
            own = (_quotient(statement, only(piece, OUT, entry(loop))) for loop in loops)
            found[statement.name] = {key: loop for loop, key in enumerate(own) if key is not None}
    return found


def _quotient(statement: Statement, numbers: isl.Map) -> tuple[str, int] | None:
    """The iterator and the divisor, where the iteration number is that quotient."""
    functions: list[isl.Aff] = []
    isl.PwMultiAff.from_map(numbers).foreach_piece(lambda _, function: functions.append(function.get_at(0)))
    if len(functions) != 1 or functions[0].dim(DIV) != 1:
        return None
    divisor = int(functions[0].get_div(0).get_denominator_val().to_python())
    space = isl.LocalSpace.from_space(functions[0].get_domain_space())
    for k, iterator in enumerate(statement.iterators):
        own = isl.Aff.var_on_domain(space, isl.dim_type.set, k).scale_down_val(isl.Val(divisor)).floor()
        if isl.Map.from_aff(own).is_equal(isl.Map.from_aff(functions[0])):
            return iterator, divisor
    return None


def loops_around(node: Node) -> dict[int, dict[int, str]]:
    """For each call, by its identity, the iterators of the loops around it that count up, by their depth."""
    return dict(_around(node, {}))


def _around(node: Node, known: dict[int, str]) -> Iterator[tuple[int, dict[int, str]]]:
    if isinstance(node, Call):
        yield id(node), known
    if isinstance(node, For) and node.dimension is not None and node.step == 1:
        known = {**known, node.dimension: node.iterator}
    for child in children(node):
        yield from _around(child, known)


def quotient_at(hole: Hole, place: Span) -> tuple[int, Span] | None:
    """The divisor in `(j / 48)` around an occurrence of an iterator, and where that stands."""
    text = place.source.text
    digits = text[hole.place.end + 3 : text.find(")", hole.place.end)]
    whole = Span(place.source, hole.place.start - 1, hole.place.end + 3 + len(digits) + 1)
    is_quotient = digits.isdigit() and whole.text == f"({hole.place.text} / {digits})"
    return (int(digits), whole) if is_quotient and place.contains(whole) else None
