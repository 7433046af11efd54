"""Overlaps rows in which one statement depends on itself and the rest do not.

    for i:  for j:  A(i, j);  B(i, j)           B(i, j) needs B(i, j - 1), A(i, j) needs B(i - 1, ..j)

Each block of a row executes A, which vectorises, then B. Row i is one block after the row above it: in one
step, blocks of several rows are independent, and the latencies of their Bs overlap:

    for iT, jT:                                 block jT - i of each row i of the strip iT
      for i:  for j:  A(i, j)
      for v:  for i (unrolled):  B(i, b (jT - i) + v)

Pipelines stages row by row: each computes a row as soon as the rows that it reads are complete.

for i: A(i);  for i: B(i) reads rows i - 1 to i + 1 of A;  for i: C(i)
    -->   for i: { A(i);  B(i - 1);  C(i - 1) }, and three rows of A's results are kept
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    is_perfect,
    is_single,
    is_tiled,
    own_loops,
    script_of,
)
from loopwright.optimise.candidates.scheduler import formula_of, one_function
from loopwright.presburger.dimensions import split
from loopwright.presburger.sets import DIM
from loopwright.read import formula as fm
from loopwright.transform.library.statements import delays
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Component, Plan
from loopwright.transform.proposals import neighbours
from loopwright.transform.script import operations
from loopwright.transform.script.formulas import (
    AffineMap,
    all_of,
    compared,
    iterations_where,
    plus,
    symbols,
    times,
)
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Fuse, Shift
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh, handle_at, handle_of, handles_at
from loopwright.transform.vectors import iteration_numbers, pieces

SHAPES = ((8, 128), (4, 128))
"""Rows in flight at the same time, and the length of their blocks."""

PLACE = "v"
"""The name of the loop inside a block."""


def rows_in_flight(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Scripts for a perfect nest of two loops with statements that depend on themselves along the inner
    one."""
    positions = nest.component.positions
    known = handles_at(plan, positions)
    is_plain = is_perfect(plan, nest) and not is_single(nest) and not is_tiled(plan, nest)
    if not is_plain or known is None or len(own_loops(plan, nest)) != 2 or len(nest.loops) != 2:
        return
    waiting = [name for name in known if _waits(plan, name, setting.dependences)]
    bounds = _bounds(plan, nest)
    if not waiting or len(waiting) == len(known) or bounds is None:
        return
    done = (*script_of(plan), *nest.definition)
    flight = _Flight(plan, nest, known, waiting, bounds)
    for exchange in _exchanges(known, waiting):
        for rows, block in SHAPES:
            yield (*done, *flight.steps(exchange, rows, block))


def _waits(plan: Plan, name: str, dependences: Sequence[Dependence]) -> bool:
    """Whether a statement depends on itself in an earlier iteration of only the inner loop."""
    (statement,) = plan.statements_at(plan.component(name))
    for position, piece in pieces(plan.program.statement(statement).schedule):
        numbers = iteration_numbers(piece, plan.leaf(position).depth)
        for one in dependences:
            if one.source == one.sink == statement:
                apart = one.relation.apply_domain(numbers).apply_range(numbers).deltas()
                if not apart.fix_val(DIM, 0, 0).is_empty():
                    return True
    return False


def _bounds(plan: Plan, nest: NamedNest) -> list[tuple[fm.Formula, fm.Formula]] | None:
    """The first and the last value of each of the two loops, if they are the same for all statements."""
    found: list[set[tuple[str, str]]] = [set(), set()]
    values: list[tuple[fm.Formula, fm.Formula]] = []
    for position in nest.component.positions:
        for points in plan.iterations(Component.of([position]), 2):
            for loop in (0, 1):
                along = points.project_out(DIM, 1 - loop, 1)
                ends = [one_function(split(one, 0)) for one in (along.lexmin(), along.lexmax())]
                if ends[0] is None or ends[1] is None:
                    return None
                values.append((formula_of(ends[0], ()), formula_of(ends[1], ())))
                found[loop].add((str(values[-1][0]), str(values[-1][1])))
    return values[:2] if all(len(one) == 1 for one in found) else None


def _exchanges(names: Sequence[str], waiting: Sequence[str]) -> Iterator[tuple[str, str] | None]:
    """Move a self-dependent statement after the next one, which can then be vectorised; or change nothing."""
    yield from ((one, two) for one, two in pairwise(names) if one in waiting and two not in waiting)
    yield None


@dataclass(frozen=True)
class _Flight:
    """Statements of a nest, those that depend on themselves, and the bounds of its two loops."""

    plan: Plan
    nest: NamedNest
    names: Sequence[str]
    waiting: Sequence[str]
    bounds: list[tuple[fm.Formula, fm.Formula]]

    def steps(self, exchange: tuple[str, str] | None, rows: int, block: int) -> Script:
        handle, (i, j) = self.nest.handle, self.nest.loops
        over_rows, over_blocks = f"{i}T", f"{j}T"
        order = list(self.names)
        if exchange is not None:
            at = order.index(exchange[0])
            order[at : at + 2] = reversed(exchange)
        steps = [
            Step(operations.StripMine(handle, j, block)),
            Step(operations.Distribute(tuple(self.names), 2)),
            *([] if exchange is None else [Step(operations.Reorder(*exchange))]),
            Step(operations.Skew(handle, over_blocks, i)),
            Step(operations.StripMine(handle, i, rows)),
            Step(operations.Permute(handle, (over_rows, over_blocks, i))),
            Step(operations.Distribute(tuple(order), 2)),
        ]
        for is_waiting, group in groupby(order, key=lambda name: name in self.waiting):
            together = tuple(group)
            if not is_waiting and len(together) > 1:
                steps.append(Step(operations.Fuse(together, 4)))
        loops = (over_rows, over_blocks, i, j)
        inputs, outputs = (symbols(one) for one in (loops, (over_rows, over_blocks, PLACE, i)))
        first = (times(block, over_blocks), fm.Negative(times(block, i)))
        value = compared(j, "=", plus(*first, PLACE))
        whole = iterations_where(loops, _whole(self.bounds, loops, rows, block))
        for name in self.waiting:
            plain = f"L{name[1:]}" if name.startswith("@") else name
            own, rest = fresh(self.plan, f"{plain}Rows"), fresh(self.plan, f"{plain}Rest")
            steps += [
                Step(operations.Isplit(name, whole, 2), (own, rest)),
                Step(operations.Affine(own, AffineMap(inputs, outputs, value))),
                Step(operations.Unroll(own, i)),
            ]
        return tuple(steps)


def _whole(
    bounds: list[tuple[fm.Formula, fm.Formula]], loops: Sequence[str], rows: int, block: int
) -> fm.Formula:
    """The condition that all rows of the strip execute, each with a whole block."""
    (low_i, high_i), (low_j, high_j) = bounds
    strip, column = times(rows, loops[0]), times(block, loops[1])
    back = fm.Negative(times(block * rows, loops[0]))
    tests = (
        (low_i, strip),
        (plus(strip, rows - 1), high_i),
        (low_j, plus(column, back, fm.Negative(fm.Numeral(block * (rows - 1))))),
        (plus(column, back, block - 1), high_j),
    )
    return all_of([compared(low, "<=", high) for low, high in tests])


def pipelines(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Script]:
    """Fuse all adjacent nests that share no loop row by row; then those in one loop that need no delay."""
    found = dict.fromkeys(_joined(plan, dependences, whole=whole) for whole in (False, True))
    yield from ((*script_of(plan), *steps) for steps in found if steps)


def _joined(plan: Plan, dependences: Sequence[Dependence], *, whole: bool) -> Script:
    """The steps that fuse each nest with the one before it, from the first pair on."""
    now, steps = plan, tuple[Step, ...]()
    tried: set[tuple[Component, Component]] = set()
    while (pair := next((one for one in neighbours(now) if one not in tried), None)) is not None:
        tried.add(pair)
        more = _pair(now, *pair, dependences, whole=whole)
        after = attempted(now, *more) if more else None
        if after is not None:
            now, steps = after, (*steps, *more)
            tried = set()
    return steps


def _pair(
    plan: Plan, one: Component, two: Component, dependences: Sequence[Dependence], *, whole: bool
) -> Script:
    """Two adjacent nests in the same loops except the innermost, the second one delayed if it must be."""
    first, second = handle_of(plan, one) or handle_at(plan, one.last), handle_of(plan, two)
    shared = plan.common_loops(Component.of((*one.positions, *two.positions)))
    most = min(plan.leaf(place).depth for place in (*one.positions, *two.positions))
    if first is None or second is None:
        return ()
    for common in range(most if whole else most - 1, shared, -1):
        delay = delays(plan, one, two, range(shared, common), dependences)
        if delay is None or (common == most and any(delay)):
            continue
        loops = plan.leaf(two.first).loops[shared:common]
        moved = tuple(LoopNumber(amount, loop) for loop, amount in zip(loops, delay, strict=True) if amount)
        return (*((Step(Shift(second, moved)),) if moved else ()), Step(Fuse((first, second), common)))
    return ()
