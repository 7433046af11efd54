"""Times between the children of a block that `Walk.cuts` does not find.

Where the children are loops, what the time is at the end of one, or at the start of the next, is a
candidate.  A cut that may be before the one before it is replaced by the larger of both.  isl says which
candidates lie between the children; the checker checks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from loopwright.loops.expressions import Compare, Expr, Int, Max, Relation, Sum, Var
from loopwright.loops.nodes import For, Node, Remarked
from loopwright.loops.traverse import substituted_expr
from loopwright.presburger.equalities import AffineForm
from loopwright.presburger.sets import within_effort
from loopwright.prove.certificates.walk import TimedCall, Walk, WalkPosition, shared
from loopwright.prove.obligations.formulas import Linear, added
from loopwright.prove.obligations.timetable import Vector


def later_cuts(
    walk: Walk,
    children: Sequence[Node],
    parts: Sequence[Sequence[TimedCall]],
    place: WalkPosition,
    known: Vector,
) -> list[Vector] | None:
    """Times between the children, each after all of one and not after any of the next.

    All begin with what is `known` of the time there.  None also where isl takes long to find
    them: the larger of many bounds has very many pieces.
    """
    try:
        return within_effort(EFFORT, lambda: _later_cuts(walk, children, parts, place, known))
    except isl.Error:
        return None


EFFORT = 500_000
"""Steps of isl to look for the cuts of a block in."""


def _later_cuts(
    walk: Walk,
    children: Sequence[Node],
    parts: Sequence[Sequence[TimedCall]],
    place: WalkPosition,
    known: Vector,
) -> list[Vector] | None:
    found: list[Vector] = []
    for k in range(len(children) - 1):
        pair = parts[k : k + 2]
        ends = ((*known, *one[len(known) :]) for one in _ends(walk, children[k : k + 2], pair, place))
        candidates = (_after(walk, found, one, place) for one in ends)
        cut = next(
            (one for one in candidates if one is not None and _is_between(walk, pair, one, place)), None
        )
        if cut is None:
            return None
        found.append(cut)
    return found


def _is_between(walk: Walk, pair: Sequence[Sequence[TimedCall]], cut: Vector, place: WalkPosition) -> bool:
    return walk.between(pair[0], cut, place, -1) and walk.between(pair[1], cut, place, 1)


def _after(walk: Walk, found: Sequence[Vector], cut: Vector, place: WalkPosition) -> Vector | None:
    """The cut, or what is not before the last one found."""
    if not found or walk.grows(found[-1], cut, place):
        return cut
    *most, last = found[-1]
    *common, here = cut
    return (*common, Max((last, here))) if most == common else None


def _ends(
    walk: Walk, children: Sequence[Node], pair: Sequence[Sequence[TimedCall]], place: WalkPosition
) -> Iterator[Vector]:
    """What follows the time at the end of the earlier loop, and the time at the start of the later one."""
    everything = [one for part in pair for one in part]
    count = shared(everything, place.depth) if everything else walk.table.width
    if count == walk.table.width:
        return
    common = walk.common(everything, count, place)
    names: dict[str, Expr] = {name: Var(new) for name, new in place.names(walk.table.parameters).items()}
    for loop, part, beyond in ((_loop(children[0]), pair[0], 1), (_loop(children[1]), pair[1], 0)):
        value = None if loop is None else _last(loop) if beyond else loop.start
        forms = _forms(part, count, place.depth)
        if value is not None and forms:
            form = forms[-1] if beyond else forms[0]
            yield (*common, _at(walk, form, substituted_expr(value, names), place, beyond))


def _loop(node: Node) -> For | None:
    match node:
        case For():
            return node
        case Remarked(body=body):
            return _loop(body)
        case _:
            return None


def _last(loop: For) -> Expr | None:
    """A value that the iterator does not exceed."""
    match loop.test:
        case Compare(Relation.LE, Var(name), limit) if name == loop.iterator:
            return limit
        case Compare(Relation.LT, Var(name), limit) if name == loop.iterator:
            return Sum((limit, Int(-1)))
        case _:
            return None


def _forms(calls: Sequence[TimedCall], place: int, depth: int) -> list[AffineForm]:
    """The functions that grow with iterator `depth`, by their constants."""
    forms = [one.forms[place] for one in calls]
    growing = [
        form
        for form in forms
        if form is not None
        and form.denominator == 1
        and len(form.coefficients) == depth + 1
        and form.coefficients[-1] > 0
    ]
    return sorted(growing, key=lambda form: form.rest[-1])


def _at(walk: Walk, form: AffineForm, value: Expr, place: WalkPosition, more: int) -> Expr:
    """The function where its last iterator has this value, and more."""
    outer = AffineForm(form.coefficients[:-1], form.rest)
    return added(
        added(added(Linear(), 1, walk.expr(outer, place)), form.coefficients[-1], value), 1, Int(more)
    ).expr()
