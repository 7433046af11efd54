"""Proves that two statements add what one statement added.

A statement S of P, `x += a + b`, is S `x += a` and T `x += b` in P'.  P' leaves what P does, assuming x + (a
+ b) = (x + a) + b, if

    operations   the texts are these, and all other statements are unchanged;
    types        x, a and b have the same floating-point type: nothing is converted in between, and no
                 sum of integers overflows that did not;
    alone        a and b do not read the cell that the instance adds to;
    instances    T has the instances of S;
    order        T(i) follows S(i), and nothing executes between them.

By induction over the order every instance then reads what it read, up to the order of the sum.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from loopwright.c.loops import AddedSum, added_sum, words_of
from loopwright.c.macros import definitions
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.c.types import CType, Floating, Integer, literal_type, named_type
from loopwright.errors import Code, GaveUp, InternalError
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import first, padded
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.legality.reductions import Reduction, reductions, type_of_name
from loopwright.prove.legality.values import (
    StorageVerdict,
    WrongValue,
    instance_text,
    moves,
    refuse_other_text,
)
from loopwright.transform.storage import StorageChange


def prove_summands(change: StorageChange, *, allow_reassociation: bool) -> tuple[StorageVerdict, Reduction]:
    """Proves the split; the sum's order is an error unless allowed, all else is an internal error."""
    before, after = change.before, change.after
    ((new, name),) = change.summands.items()
    old, one, two = before.statement(name), after.statement(name), after.statement(new)
    _refuse_other_program(before, after, new, name)
    step = reductions(before).get(name)
    parts = added_sum(old.body.place.text)
    if step is None or step.operator != "+" or parts is None or old.body.terminator:
        raise GaveUp(Code.UNDECIDED, f"could not decide: {name} may do something else than add a sum")
    if tuple(map(words_of, parts.texts)) != tuple(words_of(part.body.place.text) for part in (one, two)):
        raise InternalError(Code.INTERNAL, f"the parts of {name} are not those of its sum")
    _refuse_other_types(before, old, parts)
    _refuse_other_cells(old, one, two)
    _refuse_other_order(before, after, one, two)
    asked = 2 * len(after.statements) + 5
    return StorageVerdict(asked, () if allow_reassociation else (_reordered(old, parts),)), step


def _reordered(old: Statement, parts: AddedSum) -> WrongValue:
    point = smallest_point(old.domain)
    shown = old.name if point is None else instance_text(old, point.coordinates)
    added, then = parts.texts
    return WrongValue(
        f"{shown} adds a sum of floating point numbers",
        f"rounded as {' '.join(old.body.place.text.split())}",
        f"rounded as {added} {then}",
        {} if point is None else point.parameters,
        old.body.place,
        rounding=True,
    )


def _refuse_other_program(before: Program, after: Program, new: str, name: str) -> None:
    """Checks that everything except the two statements is unchanged."""
    names = [one.name for one in before.statements]
    if [one.name for one in after.statements] != [*names, new] or {one.name for one in after.arrays} != {
        one.name for one in before.arrays
    }:
        raise InternalError(Code.INTERNAL, "a sum was split in another program")
    for old in before.statements:
        mine = after.statement(old.name)
        if not is_at_the_same_time(old, mine):
            raise InternalError(Code.INTERNAL, f"{old.name} runs at another time where a sum was split")
        if old.name != name:
            refuse_other_text(old, mine, before, after)
            if any(moves(a, b) for a, b in zip(old.accesses, mine.accesses, strict=True)):
                raise InternalError(Code.INTERNAL, f"{old.name} is another statement where a sum was split")


def is_at_the_same_time(old: Statement, new: Statement) -> bool:
    length = max(old.schedule.dim(OUT), new.schedule.dim(OUT))
    return bool(
        old.iterators == new.iterators
        and old.iterator_types == new.iterator_types
        and old.domain.is_equal(new.domain)
        and padded(old.schedule, length).is_equal(padded(new.schedule, length))
    )


def _refuse_other_types(program: Program, statement: Statement, parts: AddedSum) -> None:
    """Checks that x, a and b have the same floating-point type, and no macro expands to parts of them."""
    for word in words_of(statement.body.place.text):
        if any(not one.body.strip().isdigit() for one in definitions(program.file.macros, word)):
            raise GaveUp(
                Code.UNDECIDED, f"could not decide: {word} is a macro, and what it says is not known"
            )
    resolved = program.file.declarations.resolved
    types = {one.name: named_type(resolved(one.element_type or "")) for one in program.arrays}
    (wanted,) = _leaf_types(program, types, parts.target)
    for part in (parts.first, parts.second):
        found = set(_leaf_types(program, types, part))
        numbers = {kind for kind in found if not isinstance(kind, Integer)}
        if not isinstance(wanted, Floating) or numbers != {wanted}:
            message = f"could not decide: '{part.text}' and '{parts.target.text}' may be of different types"
            raise GaveUp(Code.UNDECIDED, f"{message}, or of no type of floating point")


def _leaf_types(program: Program, types: dict[str, CType], node: Node) -> Iterator[CType]:
    """Yields the types of the operands of sums and products; the widest is that of the whole."""
    node = without_parentheses(node)
    match node.type:
        case "binary_expression" if operator(node) in ("+", "-", "*", "/"):
            yield from _leaf_types(program, types, field(node, "left"))
            yield from _leaf_types(program, types, field(node, "right"))
        case "unary_expression" if operator(node) in ("+", "-"):
            yield from _leaf_types(program, types, field(node, "argument"))
        case "number_literal":
            yield literal_type(node.text)
        case "identifier":
            yield types[node.text] if node.text in types else type_of_name(program, node.text)
        case "subscript_expression":
            name = next(one for one in walk(node) if not named_children(one))
            yield types[name.text] if name.type == "identifier" and name.text in types else _unknown(node)
        case _:
            yield _unknown(node)


def _unknown(node: Node) -> CType:
    raise GaveUp(Code.UNDECIDED, f"could not decide: the type of '{node.text}' is not known")


def _refuse_other_cells(old: Statement, one: Statement, two: Statement) -> None:
    """Checks that S and T write the cell that S wrote, and together read what S read."""
    if (two.iterators, two.iterator_types) != (old.iterators, old.iterator_types) or not (
        two.domain.set_tuple_id(old.domain.get_tuple_id()).is_equal(old.domain)
    ):
        raise InternalError(Code.INTERNAL, f"the second part of {old.name} has other instances")
    (target,) = old.writes
    if not target.must or not target.relation.is_single_valued():
        raise GaveUp(Code.UNDECIDED, f"could not decide: which cell {old.name} adds to depends on data")
    same = isl.Map.identity(two.domain.get_space().map_from_set())
    same = same.set_tuple_id(OUT, old.domain.get_tuple_id()).intersect_domain(two.domain)
    wanted = _cells(old.accesses, None)
    found = [*_cells(one.accesses, None), *_cells(two.accesses, same)]
    if {text for text, _ in wanted} != {text for text, _ in found}:
        raise InternalError(Code.INTERNAL, f"the parts of {old.name} touch other cells")
    for text, relation in found:
        domain = old.domain
        mine = relation.intersect_domain(domain)
        if not any(kind == text and mine.is_equal(cell.intersect_domain(domain)) for kind, cell in wanted):
            raise InternalError(Code.INTERNAL, f"a part of {old.name} touches another cell")


def _cells(accesses: tuple[Access, ...], instance: isl.Map | None) -> list[tuple[tuple[str, bool], isl.Map]]:
    """The accesses as instances of S, with the array and whether it is written."""
    return [
        (
            (one.array, one.is_write),
            one.relation if instance is None else instance.reverse().apply_range(one.relation),
        )
        for one in accesses
    ]


def _refuse_other_order(before: Program, after: Program, one: Statement, two: Statement) -> None:
    """Checks that times of S and T differ in one entry, by 1, up to which they identify the instance.

    θS(i) = (u, p, v), θT(i) = (u, p + 1, v), u and p of no other instance, and u and p + 1 only of T(i).
    """
    if one.schedule.dim(OUT) != two.schedule.dim(OUT):
        raise InternalError(Code.INTERNAL, "two parts of a sum have times of different lengths")
    renamed = two.schedule.set_tuple_id(IN, one.domain.get_tuple_id()).intersect_domain(one.domain)
    schedule = one.schedule.intersect_domain(one.domain)
    entry = next((k for k in range(schedule.dim(OUT)) if renamed.is_equal(_later(schedule, k))), None)
    if entry is None:
        raise InternalError(Code.INTERNAL, "two parts of a sum do not follow each other")
    mine = first(schedule, OUT, entry + 1).intersect_params(before.context)
    taken = mine.range().union(first(renamed, OUT, entry + 1).intersect_params(before.context).range())
    others = [other for other in after.statements if other.name not in (one.name, two.name)]
    times = [first(_timed(other, before), OUT, entry + 1).range() for other in others]
    between = any(not time.is_disjoint(taken) for time in times)
    overlaps = not mine.range().is_disjoint(first(_later(schedule, entry), OUT, entry + 1).range())
    if between or overlaps or not mine.is_injective() or not mine.is_single_valued():
        raise GaveUp(Code.UNDECIDED, "could not decide: something may run between the two parts of a sum")


def _timed(statement: Statement, program: Program) -> isl.Map:
    return statement.schedule.intersect_domain(statement.domain).intersect_params(program.context)


def _later(schedule: isl.Map, entry: int) -> isl.Map:
    """θ(i) with 1 added to one entry."""
    step = isl.MultiAff.identity_on_domain_space(schedule.get_space().range())
    step = step.set_aff(entry, step.get_aff(entry).add_constant_val(isl.Val(1)))
    return schedule.apply_range(isl.Map.from_multi_aff(step))
