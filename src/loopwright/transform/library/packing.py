"""Packing: copies the cells that a component reads of an array, and redirects its reads to the copy.

    pack(A, L)       before the loops of L:         B[c - l] = A[c]   for the cells c that L reads
    pack(A, L, t)    in each iteration of loop t:   the same for the cells that L reads in it

A read A[e] of L becomes B[e - l], l the least subscripts in the iteration.  Reads then see the values from
before the loops, or before the iteration: legal if they saw these, and a way to remove anti-dependences.  The
copy is contiguous, and optionally `transposed`: B[c2][c1] = A[c1][c2].

With `written` all accesses of L use the copy, including writes, and after L the written cells are copied
back:

    after L, in the same iteration:   A[c] = B[c - l]   for the cells c that L writes

The copy before L is omitted if L sets every cell before it uses it.  With `reused` only accesses that touch a
cell in several iterations of the loop immediately inside t use the copy, and those that share a cell with one
of them.

With `scaled` only reads that are multiplied by a loop-invariant variable f use the copy, which holds
products:

    before L:   B[c - l] = f * A[c]        in L:   f * A[e]  -->  B[e - l]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import as_signed, is_floating_type, unqualified
from loopwright.c.syntax import field, operator, walk
from loopwright.c.tokens import bracketed
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import value_based_flow, with_accesses
from loopwright.model.program import Access, Array, MemorySpace, Program, Statement
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import IN, OUT, union_map
from loopwright.source import Span
from loopwright.transform.library.accesses import (
    affine_text,
    copy_schedule,
    divided_text,
    in_space,
    loops_over,
    refuse_member,
    variable_called,
    with_loops,
)
from loopwright.transform.library.boxes import (
    Box,
    PackedAccess,
    box_of_cells,
    box_of_loops,
    implied_subscripts,
    on_points,
    touched_cells,
)
from loopwright.transform.library.dividing import divided
from loopwright.transform.library.rows import cell_text, refuse_members, refuse_unsigned
from loopwright.transform.operators import moved_from
from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import TextEdit, unused_name, with_storage
from loopwright.transform.vectors import (
    Position,
    iteration_numbers,
    loops_of,
    padded_position,
    pieces,
    step_after,
)


@dataclass(frozen=True)
class PackingOptions:
    """The options after the loop of a `pack`."""

    transposed: bool = False
    written: bool = False
    reused: bool = False
    scaled: bool = False
    space: MemorySpace | None = None
    """The GPU memory that holds the copies."""


def pack(
    plan: Plan, name: str, component: Component, depth: int, options: PackingOptions
) -> tuple[Plan, Component]:
    """The plan with copies inside of the first `depth` loops around the component, and the copies."""
    array = variable_called(plan, name, sized=False, in_rows=True)
    _refuse_contradictions(array, options)
    refuse_members(plan.program, array)
    loops = max(plan.loops, depth + array.dimensions)
    plan = with_loops(plan, loops)
    component = Component.of(padded_position(one, loops) for one in component.positions)
    plan = divided(plan, component)
    place = _place(component, depth)
    found = _accesses(plan, name, component, written=options.written)
    if options.reused:
        found = _with_meeting(plan.program, [one for one in found if _is_reused(one, depth)], found, depth)
    if not options.written:
        found = [one for one in found if _sees_copied(plan, one, place, depth)]
    scaling = [Scaling(one.access.place) for one in found]
    if found and options.scaled:
        around = products(plan.program, [(one.statement, one.access) for one in found])
        found = [one for one, product in zip(found, around, strict=True) if product is not None]
        scaling = [product for product in around if product is not None]
    if not found:
        message = f"every read of {name} in the component sees values that are written after the copy"
        message += ", or is of cells of its own" if options.reused else ""
        raise Misuse(Code.STORAGE, message, argument="target", hint="name statements that read older values")
    by_loops = options.space is MemorySpace.OWN
    box = (box_of_loops if by_loops else box_of_cells)(plan.program, found, depth, name)
    order = (1, 0) if options.transposed else tuple(range(box.rank))
    order = tuple(k for k in order if by_loops or k not in implied_subscripts(box.points, depth))
    writes = [one for one in found if one.access.is_write]
    places: list[_CopyPlace] = []
    if not writes or _needs_old_values(plan.program, found, depth):
        plan = moved_from(plan, place[: depth + 1], lambda position: step_after(position, place, depth))
        component = Component.of(_moved(one, place, depth) for one in component.positions)
        places.append(_CopyPlace(place, box.points, is_back=False))
    if writes:
        after = _after(component, depth)
        plan = moved_from(plan, after[: depth + 1], lambda position: step_after(position, after, depth))
        cells = box.points if box.loops is not None else touched_cells(plan.program, writes, depth)
        places.append(_CopyPlace(after, cells, is_back=True))
    packing = _Packing(array, box, depth, order, options.space)
    return _packed(plan, packing, list(zip(found, scaling, strict=True)), places)


@dataclass(frozen=True)
class _Packing:
    """The cells of an array in a box to copy, the order of their subscripts, and the memory."""

    array: Array
    box: Box
    depth: int
    order: tuple[int, ...]
    space: MemorySpace | None


@dataclass(frozen=True)
class _CopyPlace:
    """The place of a copy, its cells, and whether it copies back to the array."""

    position: Position
    cells: isl.Set
    is_back: bool


def _refuse_contradictions(array: Array, options: PackingOptions) -> None:
    """Refuse options that cannot be combined, or do not apply to this array."""
    if options.transposed and array.dimensions != 2:
        message = f"{array.name} has {array.dimensions} subscripts, and only two can be transposed"
        raise Misuse(Code.STORAGE, message, argument="transposed")
    if options.scaled and options.written:
        raise Misuse(Code.STORAGE, "what is copied back is not scaled", argument="scaled")
    if options.space is MemorySpace.OWN and (options.transposed or options.scaled):
        message = "a copy in registers is neither transposed nor scaled"
        raise Misuse(Code.STORAGE, message, argument="registers")


def _accesses(plan: Plan, name: str, component: Component, *, written: bool) -> list[PackedAccess]:
    """The accesses that will use the copy: all, or the reads whose text is not also a write."""
    found: list[PackedAccess] = []
    for statement in plan.program.statements:
        targets = {access.place for access in statement.writes}
        for position, piece in pieces(statement.schedule):
            for access in statement.accesses:
                if access.array != name or position not in component.positions:
                    continue
                if not written and (access.is_write or access.place in targets):
                    continue
                sure = access.must or access.is_write
                if not sure or not access.relation.is_single_valued():
                    text = " ".join(access.place.text.split())
                    raise Misuse(Code.STORAGE, f"the cell of '{text}' is unknown", argument="variable")
                refuse_member(plan.program, access)
                if plan.program.array(name).rows:
                    refuse_unsigned(plan.program, access, statement.body.holes)
                found.append(PackedAccess(statement, access, piece.intersect_domain(statement.domain)))
    names = [one.statement.name for one in found]
    split = [one for one in names if len(pieces(plan.program.statement(one).schedule)) > 1]
    if split:
        raise Misuse(Code.STORAGE, f"{split[0]} is split into several parts", argument="target")
    if not found:
        raise Misuse(Code.NO_VARIABLE, f"the component does not read any {name} to copy", argument="target")
    return found


def _is_reused(one: PackedAccess, depth: int) -> bool:
    """Whether an iteration of the loops around the copy touches a cell in two of the loop inside.

    { t, u -> c } and { t, u' -> c } with u < u'.
    """
    if loops_of(one.piece) <= depth:
        return False  # there is no loop inside
    touched = iteration_numbers(one.piece, depth + 1).reverse().apply_range(one.access.relation)
    pairs = touched.apply_range(touched.reverse()).order_lt(IN, depth, OUT, depth)
    for loop in range(depth):
        pairs = pairs.equate(IN, loop, OUT, loop)
    return not pairs.is_empty()


def _with_meeting(
    program: Program, chosen: list[PackedAccess], found: list[PackedAccess], depth: int
) -> list[PackedAccess]:
    """The chosen accesses and, if cells are written, those that share a cell with one of them."""
    if not any(one.access.is_write for one in found):
        return chosen
    touched = {id(one): touched_cells(program, [one], depth) for one in found}
    chosen = list(chosen)
    for one in chosen:  # which grows
        for other in found:
            if other not in chosen and not touched[id(one)].is_disjoint(touched[id(other)]):
                chosen.append(other)
    return [one for one in found if one in chosen]


def _needs_old_values(program: Program, accesses: Sequence[PackedAccess], depth: int) -> bool:
    """Whether a read sees a value from before the iteration, or may leave a cell unwritten."""
    own = {one.access for one in accesses}
    names = {one.statement.name for one in accesses}
    flow, _ = value_based_flow(
        with_accesses(program, lambda one, access: one.name in names and access in own)
    )
    times = union_map((iteration_numbers(one.piece, depth) for one in accesses), program.context.get_space())
    served = flow.intersect(times.apply_range(times.reverse())).range()
    for one in accesses:
        reads = isl.UnionSet.from_set(one.piece.domain().intersect_params(program.context))
        if not one.access.is_write and not reads.is_subset(served):
            return True
    return any(one.access.is_write and not one.access.must for one in accesses)


def _sees_copied(plan: Plan, read: PackedAccess, place: Position, depth: int) -> bool:
    """Whether no value read is written after the copy in the same iteration of the loops around."""
    name, own = read.access.array, read.access
    flow, _ = value_based_flow(
        with_accesses(plan.program, lambda _, one: one is own or (one.array == name and one.is_write))
    )
    mine = iteration_numbers(read.piece, depth)
    for writer in plan.program.statements:
        for position, piece in pieces(writer.schedule):
            if position[:depth] != place[:depth] or position[depth] < place[depth]:
                continue
            theirs = iteration_numbers(piece.intersect_domain(writer.domain), depth)
            together = isl.UnionMap.from_map(theirs.apply_range(mine.reverse()))
            if not flow.intersect(together).is_empty():
                return False
    return True


def _place(component: Component, depth: int) -> Position:
    """The place of the copy: first in the body of the loop at `depth` that contains the component."""
    prefixes = {position[:depth] for position in component.positions}
    if len(prefixes) > 1:
        message = "the statements of the component do not share that loop"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target")
    start = component.first
    return (*start[: depth + 1], *(0,) * (len(start) - depth - 1))


def _after(component: Component, depth: int) -> Position:
    """The place right after the component in the body of the loop at `depth`."""
    last = component.last
    return (*last[:depth], last[depth] + 1, *(0,) * (len(last) - depth - 1))


def _moved(position: Position, place: Position, depth: int) -> Position:
    return tuple(a + b for a, b in zip(position, step_after(position, place, depth), strict=True))


def _packed(
    plan: Plan,
    packing: _Packing,
    accesses: Sequence[tuple[PackedAccess, Scaling]],
    places: Sequence[_CopyPlace],
) -> tuple[Plan, Component]:
    """The accesses in the copy, and a copy of these cells at each of the `places`, to A or from it."""
    program, array, box, depth = plan.program, packing.array, packing.box, packing.depth
    new = unused_name(program, f"{array.name}_packed")
    extents = tuple(affine_text(program, box.extents[k], ()) for k in packing.order)
    made = in_space(Array(new, len(extents), array.element_type, local=True, extents=extents), packing.space)
    outer = plan.leaf(next(p for p in _positions(plan, [one for one, _ in accesses]))).loops[:depth]
    own = tuple(unused_name(program, f"{array.name}_{k + 1}") for k in range(box.rank))
    iterators = (*outer, *own)
    edits: dict[TextEdit, None] = {}
    for one, scaling in accesses:
        indices = [_index(program, one, packing, k) for k in packing.order]
        edits[TextEdit(scaling.place, new + bracketed(indices))] = None
    copies: list[tuple[str, isl.Map]] = []
    for place in places:
        left, right = _copied_cells(program, packing, new, iterators)
        left, right = (right, left) if place.is_back else (left, accesses[0][1].around(right))
        text = f"{loops_over(program, place.cells, iterators)}{left} = {right};"
        copies.append((text, copy_schedule(place.position, depth, box.rank)))
    after = with_storage(program, tuple(edits), (made,), copies)
    added = [PlanLeaf(place.position, iterators) for place in places]
    leaves = sorted((*plan.leaves, *added), key=lambda leaf: leaf.position)
    stored = replace(plan.stored(after), leaves=tuple(leaves))
    for statement, leaf in zip(after.statements[-len(added) :], added, strict=True):
        stored = stored.named(statement.name, Component.of([leaf.position]))
    return stored, Component.of(leaf.position for leaf in added)


def _positions(plan: Plan, accesses: Sequence[PackedAccess]) -> list[Position]:
    found = []
    for one in accesses:
        found += [position for position, _ in pieces(plan.program.statement(one.statement.name).schedule)]
    return found


def _index(program: Program, read: PackedAccess, packing: _Packing, k: int) -> str:
    """The subscript k of a read in the copy: p_k - l_k(t), in terms of the statement's iterators."""
    box = packing.box
    times = iteration_numbers(read.piece, packing.depth)
    low = isl.PwMultiAff.from_map(times.apply_range(isl.Map.from_aff(box.lows[k]))).get_pw_aff(0)
    distance = box.coordinate(read, k).sub(low).coalesce()
    found: list[isl.Aff] = []
    distance.foreach_piece(lambda _, function: found.append(function))
    if any(not one.plain_is_equal(found[0]) for one in found[1:]):
        message = f"the position of the values of {read.statement.name} in the copy is not an affine function"
        raise Misuse(Code.STORAGE, message, argument="loop")
    iterators, domain = read.statement.iterators, read.statement.domain
    text = divided_text(program, found[0], iterators, domain)
    if text not in iterators:
        typed = zip(iterators, read.statement.iterator_types, strict=True)
        signed = [as_signed(name, program.file.declarations.resolved(kind)) for name, kind in typed]
        text = divided_text(program, found[0], signed, domain)
    if text is None:
        message = f"the position of the values of {read.statement.name} in the copy cannot be expressed in C"
        raise Misuse(Code.STORAGE, message, argument="loop")
    return text


def _copied_cells(
    program: Program, packing: _Packing, new: str, iterators: tuple[str, ...]
) -> tuple[str, str]:
    """B[p - l] and A[c]."""
    box = packing.box
    space = box.points.get_space()
    indices: list[str] = []
    for k in packing.order:
        own = coordinate(space, packing.depth + k)
        indices.append(affine_text(program, own.sub(on_points(box.lows[k], space)), iterators))
    return new + bracketed(indices), cell_text(program, packing.array, box.cells, iterators)


@dataclass(frozen=True)
class Scaling:
    """The replaced part of a statement, `f * A[e]` or `A[e]` alone, and the text around the cell."""

    place: Span
    before: str = ""
    after: str = ""

    def around(self, cell: str) -> str:
        return " ".join(part for part in (self.before, cell, self.after) if part)


def products(program: Program, accesses: Sequence[tuple[Statement, Access]]) -> list[Scaling | None]:
    """The product around each access, None if there is none; all have the same factor."""
    found = [_product(program, statement, access) for statement, access in accesses]
    factors = {(one.before, one.after) for one in found if one is not None}
    name = accesses[0][1].array
    if not factors:
        message = f"no read of {name} is multiplied by a variable of its type that keeps its value"
        raise Misuse(Code.STORAGE, message, argument="scaled")
    if len(factors) > 1:
        raise Misuse(Code.STORAGE, f"{name} is multiplied by different variables", argument="scaled")
    return found


def _product(program: Program, statement: Statement, access: Access) -> Scaling | None:
    """`f * A[e]` or `A[e] * f` around an access."""
    node = next(part for part in walk(program.syntax) if part.span == access.place)
    outer = node.parent
    if outer is None or outer.type != "binary_expression" or operator(outer) != "*":
        return None
    left, right = field(outer, "left"), field(outer, "right")
    reads = {one.place: one for one in statement.reads}
    factor = reads.get((left if right.span == node.span else right).span)
    if factor is None or not _keeps_its_value(program, factor.array, access.array):
        return None
    text = program.source.text
    before, after = text[outer.start : node.start], text[node.end : outer.end]
    return Scaling(outer.span, " ".join(before.split()), " ".join(after.split()))


def _keeps_its_value(program: Program, name: str, like: str) -> bool:
    """Whether it is a scalar of the array's floating-point type that nothing writes."""
    arrays = {array.name: array for array in program.arrays}
    resolved = program.file.declarations.resolved
    kinds = {unqualified(resolved(arrays[one].element_type or "")) for one in (name, like)}
    written = any(access.array == name for one in program.statements for access in one.writes)
    return not (arrays[name].rank or written) and len(kinds) == 1 and is_floating_type(kinds.pop())
