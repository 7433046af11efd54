"""Places of the time that the tree of a program shows: iterators of its loops, numbers in its blocks.

`slots` writes the Coq term that `placed` of `proofs/Walking.v` is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import subprograms
from loopwright.presburger.equalities import AffineForm, AffineValues, affine_values
from loopwright.presburger.named import parameter_names
from loopwright.prove.coq.names import text
from loopwright.prove.coq.terms import integer
from loopwright.prove.coq.words import is_marked
from loopwright.prove.obligations.timetable import Timetable
from loopwright.prove.scanning.executed import Run


@dataclass(frozen=True, eq=False)
class TimedCall:
    """A call with its time, [p] -> [time], and the places that are affine functions of p."""

    run: Run
    times: isl.Map
    values: AffineValues
    runs: bool
    """Whether it has an execution."""

    @property
    def forms(self) -> tuple[AffineForm | None, ...]:
        return self.values.forms

    def has_iterator(self, place: int, depth: int) -> bool:
        """Whether the place is this iterator in every execution."""
        form = self.forms[place]
        if not self.runs or form is None:
            return not self.runs
        return self.values.normal(AffineForm((*[0] * depth, 1), (0,) * len(form.rest))) == form


def timed(table: Timetable, run: Run) -> TimedCall:
    """A call that the schedule does not have never runs, or makes another obligation fail."""
    times = table.times.get(run.position)
    if times is None:
        space = run.domain.get_space().from_domain().add_dims(isl.dim_type.out, table.width)
        times = isl.Map.empty(space)
    return TimedCall(run, times, affine_values(times), not times.is_empty())


def count_calls(node: Node) -> int:
    return sum(isinstance(one, Call) for one in subprograms(node))


def by_child(children: Sequence[Node], calls: Sequence[TimedCall]) -> list[Sequence[TimedCall]]:
    """The calls of each child of a block."""
    found: list[Sequence[TimedCall]] = []
    start = 0
    for child in children:
        end = start + count_calls(child)
        found.append(calls[start:end])
        start = end
    return found


def entry(calls: Sequence[TimedCall], place: int, depth: int) -> AffineForm | int | None:
    """The place as the same function of the outer `depth` iterators in all calls: a form, or which iterator.

    A condition around a call may give its place another form than that of the iterator it is.
    """
    if not calls:
        return None
    forms = {one.forms[place] for one in calls}
    form = next(iter(forms))
    if len(forms) == 1 and form is not None and len(form.coefficients) <= depth:
        return form
    return next((k for k in range(depth) if _is_iterator(calls, place, k)), None)


def _is_iterator(calls: Sequence[TimedCall], place: int, depth: int) -> bool:
    """Whether the place is this iterator in every execution of every call."""
    return all(one.has_iterator(place, depth) for one in calls)


def shared(calls: Sequence[TimedCall], depth: int) -> int:
    """How many places, from the first, are the same functions of the outer iterators."""
    width = len(calls[0].forms)
    return next((k for k in range(width) if entry(calls, k, depth) is None), width)


def iterator_place(calls: Sequence[TimedCall], depth: int) -> int | None:
    """The place of the time that is iterator `depth`, all before it being the same in all calls."""
    for k in range(len(calls[0].forms) if calls else 0):
        if _is_iterator(calls, k, depth):
            return k
        if entry(calls, k, depth) is None:
            return None
    return None


def _numbers(calls: Sequence[TimedCall], start: int, end: int) -> list[int] | None:
    """The numbers that all calls have in these places, or None."""
    found: list[int] = []
    for place in range(start, end):
        forms = {one.forms[place] for one in calls}
        form = next(iter(forms)) if len(forms) == 1 else None
        if form is None or form.coefficients or any(form.rest[:-1]) or form.denominator != 1:
            return None
        found.append(form.rest[-1])
    return found


def slots(node: Node, calls: Sequence[TimedCall], around: tuple[str, ...], known: int) -> str | None:
    """The term for `node`, whose first `known` places are known; None where the tree does not show them.

    `around` are the iterators of the loops around it, the outermost first.
    """
    match node:
        case Call():
            return "Leaf"
        case Block(()):
            return "Leaf"
        case Block(children):
            return _cut(children, calls, around, known) or _offsets(children, calls, around, known)
        case If(_, then, orelse):
            first = count_calls(then)
            yes = slots(then, calls[:first], around, known)
            no = "Leaf" if orelse is None else slots(orelse, calls[first:], around, known)
            return None if yes is None or no is None else f"(Fork {yes} {no})"
        case For(iterator, body=body):
            place = iterator_place(calls, len(around))
            numbers = None if place is None or place < known else _numbers(calls, known, place)
            if place is None or numbers is None:
                return None
            inner = slots(body, calls, (*around, iterator), place + 1)
            if inner is None:
                return None
            found = f"(Loop {_shown(numbers)} {inner})"
            return f"(Same {found})" if is_marked(node) else found
        case Let(name, body=body):
            inner = slots(body, calls, (*around, name), known)
            return None if inner is None else f"(Same {inner})"
        case Remarked(body=body):
            inner = slots(body, calls, around, known)
            return None if inner is None else f"(Same {inner})"
        case _:
            assert_never(node)


def _cut(
    children: Sequence[Node], calls: Sequence[TimedCall], around: tuple[str, ...], known: int
) -> str | None:
    """As many numbers as tell the children apart."""
    parts = by_child(children, calls)
    if not all(parts):
        return None
    for end in range(known + (len(children) > 1), len(calls[0].forms) + 1):
        numbers = [_numbers(part, known, end) for part in parts]
        found = [one for one in numbers if one is not None]
        if len(found) < len(children):
            return None
        if all(a < b for a, b in combinations(found, 2)):
            keys = [_shown(one) for one in found]
            return _children("Cut", keys, children, parts, around, end)
    return None


def _children(
    word: str,
    keys: Sequence[str],
    children: Sequence[Node],
    parts: Sequence[Sequence[TimedCall]],
    around: tuple[str, ...],
    known: int,
) -> str | None:
    """The children of a block, each with what its time goes on with."""
    inner = [slots(child, part, around, known) for child, part in zip(children, parts, strict=True)]
    if None in inner:
        return None
    return f"({word} [{'; '.join(f'({key}, {slot})' for key, slot in zip(keys, inner, strict=True))}])"


def _shown(numbers: Sequence[int]) -> str:
    return f"[{'; '.join(integer(one) for one in numbers)}]"


# -- what an unrolled loop became -----------------------------------------------------------------

Offset: TypeAlias = tuple[tuple[tuple[int, str], ...], int]
"""A linear form of iterators and parameters, and a number that is added to it."""


def _offsets(
    children: Sequence[Node], calls: Sequence[TimedCall], around: tuple[str, ...], known: int
) -> str | None:
    """As many places as tell the children apart, which differ in numbers: 8 i, 8 i + 1, ..."""
    parts = by_child(children, calls)
    if not all(parts) or len(set(around)) < len(around):
        return None
    for end in range(known + 1, len(calls[0].forms) + 1):
        keys = [_places(part, known, end, around) for part in parts]
        found = [one for one in keys if one is not None]
        if len(found) < len(children):
            return None
        if all(_before(a, b) for a, b in pairwise(found)):
            shown = [f"[{'; '.join(map(_shown_offset, one))}]" for one in found]
            return _children("Offsets", shown, children, parts, around, end)
    return None


def _places(calls: Sequence[TimedCall], start: int, end: int, around: tuple[str, ...]) -> list[Offset] | None:
    """What all calls have in these places, as functions of the iterators around, or None."""
    names = parameter_names(calls[0].run.domain)
    found: list[Offset] = []
    for place in range(start, end):
        forms = {one.forms[place] for one in calls}
        form = next(iter(forms)) if len(forms) == 1 else None
        if form is None or form.denominator != 1 or len(form.coefficients) > len(around):
            return None
        terms = [*zip(form.coefficients, around, strict=False), *zip(form.rest[:-1], names, strict=True)]
        found.append((tuple((factor, name) for factor, name in terms if factor), form.rest[-1]))
    return found


def _before(one: Sequence[Offset], other: Sequence[Offset]) -> bool:
    """`offset_before` of `Walking.v`."""
    for (terms, number), (others, limit) in zip(one, other, strict=True):
        if terms != others or number > limit:
            return False
        if number < limit:
            return True
    return False


def _shown_offset(place: Offset) -> str:
    terms, number = place
    shown = "; ".join(f"({factor}, {text(name)})" for factor, name in terms)
    return f"([{shown}], {number})"
