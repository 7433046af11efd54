"""Checks that new storage has room for everything kept in it, and that copies are in bounds.

The sizes of a new array are read from its declaration; { S[i] -> [e1, ..., ek] } are their values where S
accesses it.  Every cell c that an instance accesses must have 0 <= c_k < e_k.  Loops with storage that the
host allocates run only if all its sizes are positive (`c.allocation`).  A copy may access only those cells of
an array that the program accesses anyway: these exist.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import walk
from loopwright.errors import Code, GaveUp
from loopwright.loops.expressions import Expr
from loopwright.model.program import Access, AssumptionKind, MemorySpace, Program, Statement
from loopwright.presburger.dimensions import first
from loopwright.presburger.points import Point, smallest_point
from loopwright.presburger.sets import IN, OUT, box
from loopwright.prove.reading.c_expressions import Unreadable, expression, words_of
from loopwright.prove.reading.loops import values_at


def outside(
    before: Program, after: Program, copies: tuple[Statement, ...], *, tested: bool = False
) -> Iterator[tuple[Statement, Access, Point]]:
    """Yields out-of-bounds accesses, each with an example: the instance, then the cell.

    Sizes for which the program before is out of bounds itself show nothing. If sizes are `tested`, allocated
    storage with a nonpositive size is not used.
    """
    try:
        made = [array.name for array in after.arrays if array.space is not None and array.rank]
        sizes = {name: _sizes(after, name) for name in made}
        allocated = {one.name for one in after.arrays if tested and one.space is MemorySpace.HEAP}
        used = {
            one.name: {a.array: sizes[a.array] for a in one.accesses if a.array in sizes}
            for one in after.statements
        }
        wanted = {
            name: tuple(size for own in arrays.values() for size in own) for name, arrays in used.items()
        }
        values = values_at(after, {name: own for name, own in wanted.items() if own}, after.context)
    except Unreadable as failure:
        raise GaveUp(Code.UNDECIDED, f"could not determine the size of new storage: {failure}") from failure
    known = after.context
    for one in before.assumptions:
        if one.kind is AssumptionKind.BOUNDS and one.implies is not None:
            known = known.intersect(one.implies)
    for statement in after.statements:
        for access in statement.accesses:
            if access.array in sizes:
                place = _column(used[statement.name], access.array)
                wrong = _too_far(
                    access, statement, values[statement.name], place, positive=access.array in allocated
                )
            elif statement in copies:
                wrong = _not_touched(access, statement, before)
            else:
                continue
            point = smallest_point(wrong.intersect_params(known))
            if point is not None:
                yield statement, access, point


def _sizes(program: Program, name: str) -> tuple[Expr, ...]:
    """The sizes in the declaration of a local array."""
    words = words_of(program)
    for node in walk(program.syntax):
        named = declared_name(node) if node.type == "array_declarator" else None
        outer = node.parent
        if named is None or named[0] != name or outer is None or outer.type != "declaration":
            continue
        sizes = [part.child_by_field_name("size") for part in walk(node) if part.type == "array_declarator"]
        return tuple(expression(size, words) for size in reversed(sizes) if size is not None)
    raise Unreadable(f"the declaration of {name} is not found")


def _column(arrays: dict[str, tuple[Expr, ...]], name: str) -> int:
    """The position of an array's sizes among those of all arrays that a statement uses."""
    place = 0
    for array, sizes in arrays.items():
        if array == name:
            break
        place += len(sizes)
    return place


def _too_far(access: Access, statement: Statement, sizes: isl.Map, place: int, *, positive: bool) -> isl.Set:
    """{ [i, c] : c_k < 0 or c_k >= e_k for some k }, restricted to positive e_k if `positive`."""
    relation = access.relation.intersect_domain(statement.domain)
    both = relation.reset_tuple_id(OUT).flat_range_product(sizes.reset_tuple_id(OUT))
    count = relation.dim(OUT)
    for k in range(count if positive else 0):
        both = both.lower_bound_val(OUT, count + place + k, isl.Val(1))
    wrong = isl.Map.empty(both.get_space())
    for k in range(count):
        inside = both.lower_bound_val(OUT, k, isl.Val(0))
        order = isl.Map.universe(both.get_space()).order_lt(OUT, k, OUT, count + place + k)
        wrong = wrong.union(both.subtract(inside.intersect(order)))
    return first(wrong, OUT, count).reset_tuple_id(IN).wrap().flatten()


def _is_rectangular(program: Program, name: str) -> bool:
    """Whether all rows of an array have the same length, by its declared type."""
    variable = program.file.declarations.visible(name, program.region)
    array = program.array(name)
    return variable is not None and not variable.has_row_pointers and variable.rank == array.rank


def _not_touched(access: Access, copy: Statement, before: Program) -> isl.Set:
    """{ [i, c] : the program does not access c }.

    A read from a rectangular array may be of any cell each of whose subscripts occurs in a cell that the
    program accesses: all rows have the same length.
    """
    relation = access.relation.intersect_domain(copy.domain)
    touched = isl.Set.empty(relation.get_space().range())
    for statement in before.statements:
        for one in statement.accesses:
            if one.array == access.array and one.must:
                touched = touched.union(one.relation.intersect_domain(statement.domain).range())
    if relation.dim(OUT) and not access.is_write and _is_rectangular(before, access.array):
        touched = box(touched)
    left = relation.subtract_range(touched)
    return left.reset_tuple_id(IN).reset_tuple_id(OUT).wrap().flatten()
