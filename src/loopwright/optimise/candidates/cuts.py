"""Splits loops into three parts around the iteration that writes the cells all iterations read.

    for i:  A[i][j] = f(A[i][j], A[k][j])     -->     i < k;  i = k;  i > k

Before and after i = k, written and read cells do not overlap: a compiler must know that to vectorise an
innermost loop, and threads share the first part and then the last one.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from loopwright.model.program import Access
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    is_perfect,
    is_single,
    script_of,
)
from loopwright.optimise.candidates.scheduler import formula_of, one_function
from loopwright.presburger.dimensions import only
from loopwright.presburger.sets import DIM, IN, OUT
from loopwright.read.formula import Formula
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.formulas import compared, iterations_where
from loopwright.transform.script.operations import Isplit, Parallelize
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh
from loopwright.transform.vectors import Position, iteration_numbers, pieces


def cuts(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Split the innermost loop of a single statement around a cell that it reads and writes."""
    if is_perfect(plan, nest) and is_single(nest):
        handles = nest.handle, fresh(plan, f"{nest.handle}From"), fresh(plan, f"{nest.handle}After")
        for meeting in _meetings(plan, nest, len(nest.loops) - 1):
            steps = _in_three(plan, nest, len(nest.loops) - 1, meeting, handles)
            yield (*script_of(plan), *nest.definition, *steps)


def cut_rows(plan: Plan, nest: NamedNest, loop: str) -> Iterator[Script]:
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
