"""Derives what a run-time guard establishes from its source, and what the guard must satisfy.

The conditions of a guard are evaluated in order: each condition on parameters restricts them, and must not
overflow where the conditions before it hold.  A proof that x overlaps no byte of y requires, of x,

    { s_0 : the region touches x[s_0]... }  within  0 <= s_0 < L   for one of the counts L in the guard,

where L >= 0 and L times the size of a row is below 2^64.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from loopwright.c.casts import Ambiguous, expression_of
from loopwright.c.guard import GuardedRegion, NotInside, not_inside, without_guards
from loopwright.c.syntax import Node, named_children, walk
from loopwright.c.tokens import spelled
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Array, Assumption, AssumptionKind, Program, Standing
from loopwright.presburger.named import parameter_ranges
from loopwright.prove.reading.c_expressions import Unreadable, expression, test, words_of
from loopwright.prove.scanning.conditions import IteratorScope, region, value
from loopwright.prove.text.intervals import NotShown
from loopwright.prove.text.overflow import expression_range
from loopwright.source import Source

_ADDRESSES = 1 << 64


@dataclass(frozen=True)
class Established:
    """What a guard establishes about parameters and storage."""

    parameters: isl.Set
    apart: tuple[NotInside, ...] = ()


class NotAGuard(Exception):
    """A condition is not understood; the message names it."""


def established(program: Program, conditions: Sequence[str]) -> Established:
    """What all conditions together establish; raises NotAGuard if one of them may have another effect."""
    found = Established(program.possible)
    for text in conditions:
        one = not_inside(text, scalars(program))
        try:
            if one is None:
                found = replace(found, parameters=_narrowed(program, text, found.parameters))
            else:
                for factor in one.factors:
                    expression_range(_node(program, factor), program, parameter_ranges(found.parameters))
                found = replace(found, apart=(*found.apart, one))
        except (NotShown, Unreadable, Ambiguous) as failure:
            raise NotAGuard(f"'{text}': {failure}") from failure
    return found


def unguarded(
    new: Source, written: Sequence[Program], only: Collection[int] | None = None
) -> tuple[Source, dict[int, GuardedRegion]]:
    """The source with only the guarded loops, and the guards by the numbers of their programs.

    The fallback is the source of the program without its labels.  Loops that were specialised for some sizes
    may look similar: if it is known which programs have a guard, only these, `only`, are considered.
    """
    places = [region.place for region in written[0].file.regions]
    numbers = {places.index(program.region): k for k, program in enumerate(written)}
    asked = {number: k for number, k in numbers.items() if only is None or k in only}
    others = {number: tokens_without_labels(written[k]) for number, k in asked.items()}
    plain, guards = without_guards(new, others)
    return plain, {numbers[number]: guard for number, guard in guards.items()}


def tokens_without_labels(program: Program) -> list[str]:
    """The tokens of a region without its labels."""
    labels = [node for node in walk(program.syntax) if node.type == "labeled_statement"]
    text = program.source.text
    for node in reversed(labels):
        body = named_children(node)[-1].start
        text = text[: node.start] + " " * (body - node.start) + text[body:]
    return spelled(text[program.region.start : program.region.end])


def scalars(program: Program) -> frozenset[str]:
    """The storage whose address must be taken explicitly."""
    plain = {one.name for one in program.arrays if one.rank == 0 and not _is_pointer(one)}
    return frozenset(plain | {one.text for one in program.parameters})


def _is_pointer(array: Array) -> bool:
    return array.layout is not None and array.layout.is_pointer


def _node(program: Program, text: str) -> Node:
    node = expression_of(text, program.file.kinds(program.region))
    if node is None:
        raise Unreadable("it is not an expression")
    return node


def _narrowed(program: Program, text: str, known: isl.Set) -> isl.Set:
    node = _node(program, text)
    expression_range(node, program, parameter_ranges(known))
    return known.intersect(region(test(node, words_of(program)), _scope(known)).params())


def _scope(known: isl.Set) -> IteratorScope:
    return IteratorScope(isl.Set.from_params(known), {})


def shown_by(
    program: Program, assumptions: Sequence[Assumption], guard: Established
) -> tuple[Assumption, ...]:
    """The assumptions, with those marked that the guard establishes."""
    holds = guard.parameters.intersect(program.context)
    found = []
    for one in assumptions:
        is_shown = False
        if one.standing is Standing.ASSUMED and one.holds_for is not None:
            own = guard.parameters if one.kind is AssumptionKind.USER else holds
            is_shown = own.is_subset(one.holds_for)
        elif one.standing is Standing.ASSUMED and one.pairs:
            is_shown = all(are_apart(program, pair, guard, holds) for pair in one.pairs)
        found.append(replace(one, standing=Standing.GUARDED) if is_shown else one)
    return tuple(found)


def are_apart(program: Program, pair: tuple[str, str], guard: Established, holds: isl.Set) -> bool:
    """Whether the guard excludes that either starts inside the other."""
    return all(_covers(program, x, y, guard, holds) for x, y in (pair, (pair[1], pair[0])))


def _covers(program: Program, name: str, other: str, guard: Established, holds: isl.Set) -> bool:
    tests = [one for one in guard.apart if (one.array, one.other) == (name, other)]
    array = next((one for one in program.arrays if one.name == name), None)
    if array is None:  # a parameter: a variable of its own
        is_variable = any(one.text == name and one.values is not None for one in program.parameters)
        return is_variable and any(not one.factors for one in tests)
    if array.layout is None:
        return False
    if not array.layout.is_pointer:
        return any(not one.factors for one in tests)
    touched = touched_rows(program, array).intersect_params(holds)
    rest = touched
    for one in tests:
        inside = _rows_before(program, array, one, touched.params())
        if inside is not None:
            rest = rest.subtract(touched.intersect(inside))
    return rest.is_empty()


def touched_rows(program: Program, array: Array) -> isl.Set:
    """{ [s_0] : the region touches array[s_0]... }."""
    found = isl.Set("{ [s] : false }")
    for statement in program.statements:
        for access in statement.accesses:
            if access.array == array.name:
                cells = access.relation.intersect_domain(statement.domain).range().reset_tuple_id()
                rank = cells.dim(isl.dim_type.set)
                found = found.union(cells.project_out(isl.dim_type.set, 1, rank - 1))
    return found


def _rows_before(program: Program, array: Array, one: NotInside, holds: isl.Set) -> isl.Set | None:
    """{ [s] : 0 <= s < L }, for parameters with L >= 0; None if the byte count has another form."""
    if not one.factors or tuple(one.factors[1:]) != array.rows or array.layout is None:
        return None
    ranges = parameter_ranges(holds)
    try:
        node = _node(program, one.factors[0])
        sizes = [expression_range(_node(program, text), program, ranges) for text in one.factors]
        sizes += [expression_range(_node(program, str(size)), program, ranges) for size in array.layout.rows]
        count = value(expression(node, words_of(program)), _scope(holds))
    except (NotShown, Unreadable, Ambiguous):
        return None
    if prod(max(0, high) for _, high in sizes) * array.layout.element_bytes >= _ADDRESSES:
        return None
    if any(low < 0 for low, _ in sizes[1:]):
        return None
    row = isl.PwAff("{ [s] -> [(s)] }")
    before = row.lt_set(count.insert_dims(isl.dim_type.in_, 0, 1)).intersect(isl.Set("{ [s] : s >= 0 }"))
    return before.intersect_params(count.nonneg_set().params())
