"""Loop orders: two loops interchanged, one moved, the outermost one parallel.

Loops are split in two: first the iterations that others of the loop depend on, then those that threads share.

    for i:  for j < min(i, b):  x[i] = f(x[i], x[j])     -->     i < b, in order;  i >= b, in any order

With d(i, i') the dependences that the loop carries in one iteration of the loops around it, o, no iteration
depends on i > l(o), where l(o) >= max { i : d(i, i') in o } is affine.

Or they are cut into three parts around the iteration that writes the cells all iterations read.

    for i:  A[i][j] = f(A[i][j], A[k][j])     -->     i < k;  i = k;  i > k

Before and after i = k, written and read cells do not overlap: a compiler must know that to vectorise an
innermost loop, and threads share the first part and then the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import islpy as isl

from loopwright.model.dependences import Dependence
from loopwright.model.program import Access, MemorySpace
from loopwright.optimise.candidates.nests import (
    MANY,
    Phase,
    Script,
    SearchContext,
    extent,
    in_their_rows,
    is_perfect,
    is_single,
    is_written_out,
    loops_after,
    own_loops,
    script_of,
)
from loopwright.optimise.candidates.scheduler import formula_of, one_function
from loopwright.optimise.candidates.storage import is_set_first
from loopwright.presburger.dimensions import equal_in, only, split
from loopwright.presburger.functions import functions_of
from loopwright.presburger.named import at_parameters
from loopwright.presburger.sets import DIM, IN, OUT, PARAM, union
from loopwright.read.formula import Formula
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script import operations as ops
from loopwright.transform.script.formulas import compared, iterations_where
from loopwright.transform.script.operations import Isplit, Parallelize
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh
from loopwright.transform.vectors import Position, iteration_numbers, pieces

LEAST = 64
"""The least iterations of an inner loop per thread."""

MOST = 16
"""The number of orders of a nest to try."""


def orders(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Move one loop of a perfect nest; loops shared with other statements stay in place.

    The orders with most accesses along rows in the innermost loop come first.
    """
    if not is_perfect(plan, nest):
        return
    free = own_loops(plan, nest)
    found = dict.fromkeys(
        (*rest[:place], loop, *rest[place:])
        for loop in reversed(free)
        for rest in [tuple(one for one in free if one != loop)]
        for place in range(len(free))
    )
    smooth = {loop: in_their_rows(plan, nest.component, nest.loops.index(loop))[0] for loop in free}
    for order in sorted(found, key=lambda order: -smooth[order[-1]])[:MOST]:
        if order != free:
            yield (*script_of(plan), *nest.definition, Step(ops.Permute(nest.handle, order)))


def exchanged(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Interchanges in a nest that is not perfect."""
    if is_perfect(plan, nest):
        return
    for one, two in combinations(own_loops(plan, nest), 2):
        yield (*script_of(plan), *nest.definition, Step(ops.Interchange(nest.handle, one, two)))


def parallel(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Make the outermost possible loop parallel; else use diagonals of the two outermost loops.

    Loops that also contain other statements belong to another nest.  A copy made in each iteration would be
    shared by threads: it is expanded, which privatises it.
    """
    done = (*script_of(plan), *nest.definition)
    alone = [
        (k, loop)
        for k, loop in enumerate(nest.loops)
        if not plan.sharing(nest.component, k).positions
        and not is_written_out(plan, nest, k)
        and not _runs_once(plan, nest, k)
    ]
    copied = {loop: _copies(plan, nest, k) for k, loop in alone}
    free = [loop for loop, arrays in copied.items() if not arrays]
    for k, loop in alone:
        if copied[loop] and _has_own_cells(plan, nest, k):
            own = (Step(ops.Expand(array, (loop,))) for array in copied[loop])
            yield (*done, *own, Step(ops.Parallelize(nest.handle, (loop,))))
    for loop in free:
        yield (*done, Step(ops.Parallelize(nest.handle, (loop,))))
        temporaries = _temporaries(plan, nest, nest.loops.index(loop)) if loop == free[0] else ()
        if temporaries:
            own = (Step(ops.Expand(array, (loop,))) for array in temporaries)
            yield (*script_of(plan), *own, *nest.definition, Step(ops.Parallelize(nest.handle, (loop,))))
    if len(nest.loops) > 1 and tuple(free[:2]) == nest.loops[:2]:
        outer, inner = nest.loops[:2]
        slant, exchange = ops.Skew(nest.handle, inner, outer), ops.Interchange(nest.handle, outer, inner)
        yield (*done, Step(slant), Step(exchange), Step(ops.Parallelize(nest.handle, (outer,))))
    for loop in free[1:] if free[:1] == list(nest.loops[:1]) else free:
        yield from _cut_rows(plan, nest, loop)
        yield from cut_after(plan, nest, loop, setting)
    if is_single(nest):
        yield from _parts(plan, nest, free, setting)


def _parts(plan: Plan, nest: NamedNest, free: Sequence[str], setting: SearchContext) -> Iterator[Script]:
    """Split an inner loop into one part per thread, with a parallel loop over the parts outside.

    for k: for j   -->   for jT, parallel: for k: for j
    """
    for inner in reversed(free[1:]):
        size = -(-extent(plan, nest, inner, setting.sizes) // setting.threads)
        if not LEAST <= size < MANY // setting.threads:
            continue
        cut = (*nest.definition, Step(ops.StripMine(nest.handle, inner, -(-size // 8) * 8)))
        after = loops_after(plan, nest, *cut)
        new = [] if after is None else [one for one in after if one not in nest.loops]
        if len(new) == 1:
            outer = free[: free.index(inner)]
            order = Step(ops.Permute(nest.handle, (new[0], *outer)))
            yield (*script_of(plan), *cut, order, Step(ops.Parallelize(nest.handle, (new[0],))))


def _temporaries(plan: Plan, nest: NamedNest, loop: int) -> tuple[str, ...]:
    """Arrays written before they are read, in the same cells in each iteration of the loop."""
    written: dict[str, None] = {}
    for name in plan.statements_at(nest.component):
        statement = plan.program.statement(name)
        for _, piece in pieces(statement.schedule):
            written |= {one.array: None for one in statement.writes if _meets(piece, loop, one)}
    shared = {one.name: one for one in plan.program.arrays if not one.local and one.space is None}
    return tuple(name for name in written if name in shared and is_set_first(plan.program, shared[name]))


def _runs_once(plan: Plan, nest: NamedNest, loop: int) -> bool:
    """Whether the trip count is 1 in each iteration of the loops around it."""
    return all(split(points, loop).is_single_valued() for points in plan.iterations(nest.component, loop + 1))


def _has_own_cells(plan: Plan, nest: NamedNest, loop: int) -> bool:
    """Whether no iteration of the loop writes cells that another one accesses, except in the region's own
    storage: copies may be privatised.
    """
    own = {one.name for one in plan.program.arrays if one.space is not None}
    written: dict[str, list[isl.Map]] = {}
    touched: dict[str, list[isl.Map]] = {}
    for name in plan.statements_at(nest.component):
        statement = plan.program.statement(name)
        for position, piece in pieces(statement.schedule):
            for one in statement.accesses if position in nest.component.positions else ():
                cells = _cells(piece, loop, one)
                touched.setdefault(one.array, []).append(cells)
                if one.is_write and one.array not in own:
                    written.setdefault(one.array, []).append(cells)
    return not any(
        _meet(mine, theirs, loop) or _meet(theirs, mine, loop)
        for array, several in written.items()
        for mine in several
        for theirs in touched[array]
    )


def _cells(piece: isl.Map, loop: int, access: Access) -> isl.Map:
    """{ values of the loop and those around it -> the cells that are accessed }."""
    return iteration_numbers(piece, loop + 1).reverse().apply_range(access.relation)


def _meet(earlier: isl.Map, later: isl.Map, loop: int) -> bool:
    """Whether an iteration of the loop, in one of those around it, accesses a cell that a later one does."""
    pairs = equal_in(earlier.apply_range(later.reverse()).order_lt(IN, loop, OUT, loop), range(loop))
    return not pairs.is_empty()


def _meets(piece: isl.Map, loop: int, access: Access) -> bool:
    """Whether two iterations of the loop, in one of those around it, access the same cell."""
    cells = _cells(piece, loop, access)
    return _meet(cells, cells, loop)


def _packed(plan: Plan) -> set[str]:
    """The arrays that hold copies."""
    return {
        array.name
        for change in plan.storage
        if isinstance(plan.history[change.step].step.operation, ops.Pack)
        for array in set(change.after.arrays) - set(change.before.arrays)
    }


def _copies(plan: Plan, nest: NamedNest, loop: int) -> tuple[str, ...]:
    """Copies in allocated storage of which iterations of the loop write the same cells."""
    allocated = {one.name for one in plan.program.arrays if one.space is MemorySpace.HEAP} & _packed(plan)
    found: dict[str, None] = {}
    for name in plan.statements_at(nest.component):
        statement = plan.program.statement(name)
        for write in statement.writes:
            if write.array in allocated:
                for _, piece in pieces(statement.schedule):
                    if not _cells(piece, loop, write).is_injective():
                        found[write.array] = None
    return tuple(found)


ORDERING: tuple[Phase, ...] = (exchanged, orders)


LEAST_SHARED = 8
"""The least trip count of the second part, for some iteration of the loops around."""


def cut_after(plan: Plan, nest: NamedNest, loop: str, setting: SearchContext) -> Iterator[Script]:
    """Split a loop, not an innermost one, into two parts, of which threads share the second.

    The loops common to all statements of a nest are split.
    """
    depth, loops = nest.loops.index(loop), plan.leaf(nest.component.first).loops
    if any(plan.leaf(place).loops != loops for place in nest.component.positions):
        loops = nest.loops
    if depth == len(loops) - 1:
        return
    sources = _sources(plan, nest, depth, setting.dependences)
    if sources is None or sources.is_empty():
        return
    after, before = fresh(plan, "After"), fresh(plan, "Before")
    for last in _ends(split(sources, depth)):
        if _is_passed(plan, nest, depth, last, setting.sizes):
            test = compared(loop, ">", formula_of(last, loops[:depth]))
            parts = ops.Isplit(nest.handle, iterations_where(loops, test), depth)
            steps = Step(parts, (after, before)), Step(ops.Reorder(after, before))
            yield (*script_of(plan), *nest.definition, *steps, Step(ops.Parallelize(after, (loop,))))


def _sources(plan: Plan, nest: NamedNest, depth: int, dependences: Sequence[Dependence]) -> isl.Set | None:
    """The iterations of the loop, with those around it, that a later one depends on."""
    numbers: dict[str, list[isl.Map]] = {}
    for statement in plan.program.statements:
        for place, piece in pieces(statement.schedule):
            if place in nest.component.positions:
                numbers.setdefault(statement.name, []).append(iteration_numbers(piece, depth + 1))
    found: list[isl.Set] = []
    for one in dependences:
        for source in numbers.get(one.source, ()):
            for sink in numbers.get(one.sink, ()):
                pairs = one.relation.apply_domain(source).apply_range(sink)
                pairs = pairs.order_lt(IN, depth, OUT, depth)
                pairs = equal_in(pairs, range(depth))
                found.append(pairs.domain().intersect_params(plan.program.context))
    return union(found).coalesce() if found else None


def _ends(sources: isl.Map) -> list[isl.Aff]:
    """Affine upper bounds of all sources in the loops around, those without parameters first."""
    found = [value.get_aff(0) for value in functions_of(sources.lexmax())]
    plain = [one for one in found if not one.dim(isl.dim_type.div) and one.get_denominator_val().is_one()]
    plain.sort(key=lambda one: one.involves_dims(PARAM, 0, one.dim(PARAM)))
    ends = {str(one): one for one in plain}.values()
    return [one for one in ends if sources.is_subset(_side(sources, one, passed=False))]


def _side(values: isl.Map, end: isl.Aff, *, passed: bool) -> isl.Map:
    """{ o -> i : i > end(o) }, or its complement."""
    space = values.range().space
    return isl.Map.from_aff(end).apply_range(isl.Map.lex_lt(space) if passed else isl.Map.lex_ge(space))


def _is_passed(plan: Plan, nest: NamedNest, depth: int, end: isl.Aff, sizes: Mapping[str, int]) -> bool:
    """Whether the loop has many iterations that no other one depends on."""
    for points in plan.iterations(nest.component, depth + 1):
        after = split(at_parameters(points, sizes), depth)
        after = after.intersect(_side(after, end, passed=True))
        apart = after.reverse().apply_range(after).deltas()
        if not apart.is_empty() and apart.dim_max_val(0).ge(isl.Val(LEAST_SHARED - 1)):
            return True
    return False


def cuts(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Split the innermost loop of a single statement around a cell that it reads and writes."""
    if is_perfect(plan, nest) and is_single(nest):
        handles = nest.handle, fresh(plan, f"{nest.handle}From"), fresh(plan, f"{nest.handle}After")
        for meeting in _meetings(plan, nest, len(nest.loops) - 1):
            steps = _in_three(plan, nest, len(nest.loops) - 1, meeting, handles)
            yield (*script_of(plan), *nest.definition, *steps)


def _cut_rows(plan: Plan, nest: NamedNest, loop: str) -> Iterator[Script]:
    """Split a loop into three parts, of which threads share the first and the last."""
    depth = nest.loops.index(loop)
    handles = fresh(plan, "Above"), fresh(plan, "Here"), fresh(plan, "Below")
    for meeting in _meetings(plan, nest, depth):
        steps = _in_three(plan, nest, depth, meeting, handles)
        shared = (Step(Parallelize(part, (loop,))) for part in (handles[0], handles[2]))
        yield (*script_of(plan), *nest.definition, *steps, *shared)


def _in_three(
    plan: Plan, nest: NamedNest, depth: int, meeting: Formula, handles: tuple[str, str, str]
) -> Script:
    before, there, after = handles
    loops = plan.leaf(nest.component.first).loops
    earlier, same = (iterations_where(loops, compared(loops[depth], sign, meeting)) for sign in "<=")
    first, second = Isplit(nest.handle, earlier, depth), Isplit(there, same, depth)
    return Step(first, (before, there)), Step(second, (there, after))


def _meetings(plan: Plan, nest: NamedNest, depth: int) -> Iterator[Formula]:
    """Values of the loop at which a statement writes the row or column it reads in all iterations.

    Statements of a nest in different loops are not split together.
    """
    places = nest.component.positions
    if len({plan.leaf(place).loops for place in places}) > 1:
        return
    found: dict[str, Formula] = {}
    for statement in plan.program.statements:
        for place, piece in pieces(statement.schedule):
            for write in statement.writes if place in places else ():
                for read in (one for one in statement.reads if one.array == write.array):
                    for meeting in _where(piece, plan.leaf(place).depth, depth, write, read):
                        if _is_inside(plan, place, depth, meeting):
                            value = formula_of(meeting, plan.leaf(place).loops)
                            found[str(value)] = value
    yield from found.values()


def _where(piece: isl.Map, loops: int, depth: int, write: Access, read: Access) -> Iterator[isl.Aff]:
    """The iteration at which a subscript advanced by the loop is the same in the write as in all reads.

    For an innermost loop, it must be a row subscript: vectors go along rows.
    """
    numbers, rank = iteration_numbers(piece, loops).reverse(), write.relation.dim(OUT)
    is_innermost = depth == loops - 1
    for k in range(rank) if not is_innermost else range(max(1, rank - 1), rank):
        along, still = (
            one_function(only(numbers.apply_range(one.relation), OUT, k)) for one in (write, read)
        )
        if along is None or still is None:
            continue
        if along.get_coefficient_val(IN, depth).is_one() and still.get_coefficient_val(IN, depth).is_zero():
            meeting = still.sub(along.set_coefficient_val(IN, depth, isl.Val(0)))
            if not meeting.involves_dims(IN, depth + 1, loops - depth - 1):
                yield meeting


def _is_inside(plan: Plan, place: Position, depth: int, meeting: isl.Aff) -> bool:
    """Whether the loop has iterations before the meeting, and others after it."""
    (points,) = plan.iterations(Component.of([place]), plan.leaf(place).depth)[:1]
    here = isl.Aff.var_on_domain(meeting.get_domain_local_space(), DIM, depth)
    return not any(points.intersect(side).is_empty() for side in (here.lt_set(meeting), here.gt_set(meeting)))
