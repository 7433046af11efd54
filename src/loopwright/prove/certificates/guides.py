"""Explains why a program preserves the order of its schedule: the guide of `proofs/Walk.v`.

It follows the program's tree and gives the expressions that extend the time in a loop and in the children of
a block, or times that separate them.  isl finds where this is correct; the checker checks it.

Times between the children of a block that `Walk.cuts` does not find are found here: if the children are
loops, the time at the end of one, or at the start of the next, is a candidate.  A cut that may precede the
previous one is replaced by the maximum of both.  isl decides which candidates separate the children; the
checker checks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import assert_never

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Compare, Expr, Int, Max, Or, Relation, Sum, Test, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.sums import LinearSum, difference
from loopwright.loops.traverse import substituted_expr, variables
from loopwright.presburger.equalities import AffineForm
from loopwright.presburger.sets import within_effort
from loopwright.prove.certificates.walk import (
    TimedCall,
    Walk,
    WalkPosition,
    by_child,
    count_calls,
    entry,
    iterator_place,
    shared,
    timed,
)
from loopwright.prove.coq.words import Words, expr, is_marked, listed, vector
from loopwright.prove.obligations.scanning import limit_of
from loopwright.prove.obligations.timetable import Timetable, Vector
from loopwright.prove.scanning.conditions import IteratorScope, negation
from loopwright.prove.scanning.executed import runs


def later_cuts(
    walk: Walk,
    children: Sequence[Node],
    parts: Sequence[Sequence[TimedCall]],
    place: WalkPosition,
    known: Vector,
) -> list[Vector] | None:
    """Times between the children, each after all of one and not after any of the next.

    All begin with the `known` prefix of the time.  None also if isl takes too long to find them: the maximum
    of many bounds has very many pieces.
    """
    try:
        return within_effort(EFFORT, lambda: _later_cuts(walk, children, parts, place, known))
    except isl.Error:
        return None


EFFORT = 500_000
"""Maximum number of isl operations for the cuts of a block."""


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
    """The cut, or one that is not before the last one found."""
    if not found or walk.grows(found[-1], cut, place):
        return cut
    *most, last = found[-1]
    *common, here = cut
    return (*common, Max((last, here))) if most == common else None


def _ends(
    walk: Walk, children: Sequence[Node], pair: Sequence[Sequence[TimedCall]], place: WalkPosition
) -> Iterator[Vector]:
    """Yields the time after the end of the earlier loop, and the time at the start of the later one."""
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
    """An upper bound of the iterator, or None."""
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
    """The function at this value of its last iterator, plus `more`."""
    outer = AffineForm(form.coefficients[:-1], form.rest)
    total = LinearSum().plus_expr(1, walk.expr(outer, place)).plus_expr(form.coefficients[-1], value)
    return total.plus_constant(more).expr()


def guide(table: Timetable, program: Node) -> Words:
    """The guide for a program; raises `GaveUp` if none is found."""
    calls = [timed(table, run) for run in runs(table.tree)]
    walk = Walk(table)
    start = WalkPosition(IteratorScope(isl.Set.from_params(table.context), {}), (), ())
    return _Guide(table, walk).words(program, calls, start, ())


@dataclass(frozen=True, eq=False)
class _Guide:
    table: Timetable
    walk: Walk

    def words(self, node: Node, calls: Sequence[TimedCall], place: WalkPosition, known: Vector) -> Words:
        """Yields the guide for `node`, whose time begins with `known`."""
        match node:
            case Call() | Block(()):
                yield "atcall"
            case Block(children):
                yield from self.block(children, calls, place, known)
            case If(condition, then, orelse):
                first = count_calls(then)
                yield "either"
                yield from self.words(then, calls[:first], place.where(condition), known)
                if orelse is None:
                    yield "atcall"
                else:
                    yield from self.words(orelse, calls[first:], place.where(negation(condition)), known)
            case For():
                if is_marked(node):
                    yield "into"
                yield from self.loop(node, calls, place, known)
            case Let(body=body):
                yield "into"
                yield from self.words(body, calls, place.entered_let(node), known)
            case Remarked(body=body):
                yield "into"
                yield from self.words(body, calls, place, known)
            case _:
                assert_never(node)

    def loop(self, loop: For, calls: Sequence[TimedCall], place: WalkPosition, known: Vector) -> Words:
        inner = place.entered(loop, self.table.parameters)
        key = iterator_place(calls, place.depth)
        if key is not None and key >= len(known):
            common = self.keys(calls, len(known), key, place)
            if common is not None:
                yield from self.along(loop, (*common, Var(inner.shown[-1])), calls, inner, known)
                return
        places = range(len(known), self.table.width)
        key = next((k for k in places if entry(calls, k, place.depth) is None), None)
        common = None if key is None else self.keys(calls, len(known), key, place)
        growing = None if key is None else _growing(calls, key, place.depth, loop.step)
        if growing is None or common is None:
            yield "crossed"
            yield from _limit(loop)
            yield from self.words(loop.body, calls, inner, known)
            return
        keys = (*common, self.walk.expr(growing.lowest, inner))
        if growing.same:
            yield from self.along(loop, keys, calls, inner, known)
        else:
            yield "around"
            yield from _limit(loop)
            yield from _vector(keys, inner)
            yield from self.words(loop.body, calls, inner, known)

    def along(
        self, loop: For, keys: Vector, calls: Sequence[TimedCall], inner: WalkPosition, known: Vector
    ) -> Words:
        yield "along"
        yield from _limit(loop)
        yield from _vector(keys, inner)
        yield from self.words(loop.body, calls, inner, (*known, *keys))

    def keys(self, calls: Sequence[TimedCall], start: int, end: int, place: WalkPosition) -> Vector | None:
        """The common values of all calls at these positions, in terms of the iterators around, or None."""
        found = [self.walk.shared(calls, k, place) for k in range(start, end)]
        known = tuple(one for one in found if one is not None)
        return known if len(known) == len(found) else None

    def block(
        self, children: Sequence[Node], calls: Sequence[TimedCall], place: WalkPosition, known: Vector
    ) -> Words:
        parts = by_child(children, calls)
        keys = self.increasing(parts, place, len(known))
        if keys is not None:
            yield "numbered"
            yield str(len(children))
            for child, part, key in zip(children, parts, keys, strict=True):
                yield from _vector(key, place)
                yield from self.words(child, part, place, (*known, *key))
            return
        cuts = self.walk.cuts(children, parts, place, known)
        cuts = cuts or later_cuts(self.walk, children, parts, place, known)
        if cuts is None:
            yield "compared"
            yield str(len(children))
            for child, part in zip(children, parts, strict=True):
                yield from self.words(child, part, place, known)
            return
        yield "parted"
        yield from listed([cut[len(known) :] for cut in cuts], lambda cut: _vector(cut, place))
        yield str(len(children))
        for child, part in zip(children, parts, strict=True):
            yield from self.words(child, part, place, known)

    def increasing(
        self, parts: Sequence[Sequence[TimedCall]], place: WalkPosition, known: int
    ) -> list[Vector] | None:
        """The fewest entries that distinguish the children by numbers."""
        if not all(parts):
            return None
        for end in range(known + (len(parts) > 1), self.table.width + 1):
            keys = [self.keys(part, known, end, place) for part in parts]
            found = [one for one in keys if one is not None]
            if len(found) < len(parts):
                return None
            if all(_before(a, b) for a, b in pairwise(found)):
                return found
        return None


@dataclass(frozen=True)
class _Growing:
    """An entry of the time that grows with an iterator; `same`: it is `lowest` in all calls."""

    lowest: AffineForm
    same: bool


def _growing(calls: Sequence[TimedCall], key: int, depth: int, step: int) -> _Growing | None:
    """The smallest of functions that grow with the iterator and differ by less than one step of it.

    If a call executes in some iterations only, its function may be another one that is equal there.
    """
    running = [one for one in calls if one.runs]
    forms = [one.forms[key] for one in running]
    base = next((one for one in forms if one is not None and len(one.coefficients) == depth + 1), None)
    if base is None or base.denominator != 1 or base.coefficients[-1] <= 0:
        return None
    gaps = [_gap(one.values.normal(base), form) for one, form in zip(running, forms, strict=True)]
    known = [one for one in gaps if one is not None]
    if len(known) < len(gaps) or max(known) - min(known) >= base.coefficients[-1] * step:
        return None
    lowest = replace(base, rest=(*base.rest[:-1], base.rest[-1] + min(known)))
    return _Growing(lowest, min(known) == max(known))


def _gap(one: AffineForm, other: AffineForm | None) -> int | None:
    """The constant by which the second function is larger, or None."""
    if other is None or replace(one, rest=(*one.rest[:-1], other.rest[-1])) != other:
        return None
    return other.rest[-1] - one.rest[-1] if one.denominator == 1 else None


def _vector(terms: Vector, place: WalkPosition) -> Words:
    return vector([_named(one, place) for one in terms])


def _named(term: Expr, place: WalkPosition) -> Expr:
    """`term` in the names of the program; raises GaveUp if one of them is hidden by another."""
    back = dict(zip(place.shown, place.iterators, strict=True))
    used = [back[name] for name in variables(term) if name in back]
    if any(place.iterators.count(name) > 1 for name in used):
        raise GaveUp(Code.NO_PROOF, "an iterator is hidden by another of the same name")
    return substituted_expr(term, {shown: Var(name) for shown, name in back.items()})


def _before(one: Vector, other: Vector) -> bool:
    """Whether `one` is smaller by a constant, at the first position where they differ."""
    for a, b in zip(one, other, strict=True):
        if a != b:
            gap = _difference(b, a)
            return gap is not None and gap > 0
    return False


def _difference(one: Expr, other: Expr) -> int | None:
    match one, other:
        case Int(a), Int(b):
            return a - b
        case _:
            both = difference(one, other)
            return None if both.terms else both.constant


def _limit(loop: For) -> Words:
    """An upper bound of the iterator, if the form of the test does not show it."""
    if falls(loop.test, loop.iterator):
        yield "seen"
        return
    limit = limit_of(loop.test, loop.iterator)
    if limit is None:
        raise GaveUp(Code.NO_PROOF, f"no bound of the loop over {loop.iterator} was found")
    yield "until"
    yield from expr(limit)


def falls(test: Test, iterator: str) -> bool:
    """`falls` of `proofs/Conditions.v`."""
    match test:
        case Compare(Relation.LE | Relation.LT, Var(name), other) | Compare(
            Relation.GE | Relation.GT, other, Var(name)
        ):
            return name == iterator and iterator not in variables(other)
        case And(arguments):
            parts = [falls(one, iterator) for one in arguments]
            return any(parts) and all(
                part or iterator not in variables(one) for part, one in zip(parts, arguments, strict=True)
            )
        case Or(arguments):
            return all(falls(one, iterator) for one in arguments)
        case _:
            return False
