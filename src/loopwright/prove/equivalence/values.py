"""By values: every cell that counts ends up with the same value, whoever computes it and how.

Temporaries may come and go, statements be merged and split, values be copied and substituted.
"""

from __future__ import annotations

from itertools import count

import islpy as isl

from loopwright.model.program import Program
from loopwright.prove.equivalence.flow import Flow, behind_region, flow_of
from loopwright.prove.equivalence.induction import Claims, Induction, Mismatch, Point
from loopwright.prove.equivalence.terms import shown
from loopwright.prove.text.c_expressions import Unreadable
from loopwright.prove.verdict import Proved, Undecided


def by_values(
    old: Program, new: Program, outputs: tuple[str, ...], *, reassociate: bool = False
) -> Proved | Undecided:
    """Whether the cells of `outputs` hold the same after both programs."""
    try:
        flows = flow_of(old, old.context), flow_of(new, old.context)
    except Unreadable as failure:
        return Undecided(str(failure))
    proof = Induction(*flows, reassociate, count())
    claims: Claims = {}
    for array in outputs:
        ends = _end(array, *flows)
        if ends is None:
            continue
        try:
            claims = proof.equal(ends, ends, _identity(ends), claims)
        except Mismatch as wrong:
            return Undecided(_reason(wrong, array, old, new))
    return Proved(len(claims))


def _end(array: str, old: Flow, new: Flow) -> Point | None:
    written = [cells for cells in (old.written(array), new.written(array)) if cells is not None]
    if not written:
        return None
    cells = written[0] if len(written) == 1 else written[0].union(written[1])
    end = behind_region(array, cells.coalesce(), (old if array in old.types else new).types[array])
    return Point(end, end.value)


def _identity(end: Point) -> isl.Map:
    space = end.definition.domain.get_space().map_from_set()
    return isl.Map.identity(space).intersect_domain(end.definition.domain)


def _reason(wrong: Mismatch, array: str, old: Program, new: Program) -> str:
    places = [
        f"{shown(point.term)} in line {point.definition.line} of {program.source.path}"
        if point.definition.line is not None
        else shown(point.term)
        for point, program in ((wrong.old, old), (wrong.new, new))
    ]
    return f"{array} was not shown to end up the same: {wrong.reason}, {places[0]} and {places[1]}"
