"""Generates the starting points of the search: ways in which the statements of a region share loops.

As written; distributed; fused with adjacent nests; statements with fewer loops sunk into those of their nest;
the end of an iteration fused with the next one; blocks of a loop around everything; and the schedules of isl
(`scheduler`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import islpy as isl

from loopwright.model.dependences import Dependence
from loopwright.model.program import Statement
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    is_perfect,
    is_tiled,
    script_of,
    targets,
)
from loopwright.optimise.candidates.scheduler import formula_of, one_function
from loopwright.presburger.dimensions import only, split
from loopwright.presburger.sets import OUT
from loopwright.read.formula import Formula, Negative
from loopwright.transform.plan import Component, Plan
from loopwright.transform.proposals import proposals
from loopwright.transform.script import operations as ops
from loopwright.transform.script.formulas import AffineMap, all_of, compared, symbols
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.nest_operations import Shift
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, ProposalKind, handles_at
from loopwright.transform.vectors import Position, pieces

WHOLE, BLOCK = 1 << 20, 120
"""The size of a tile that contains every iteration of a loop, and of those inside it."""

TILE = (64, 128)
"""The tile sizes of two loops in which sums are pushed."""

MOST = 9
"""The most statements of a nest that are moved together."""


def around(plan: Plan, setting: SearchContext) -> Iterator[tuple[Script, str]]:
    """Starting points derived from a plan, each with a description."""
    done = script_of(plan)
    yield from ((script, "neighbours joined") for script in fusions(plan, setting.dependences))
    yield from (((*done, *steps), "statements in another order") for steps in _exchanged(plan))
    for nest in targets(plan):
        if is_perfect(plan, nest) or len(nest.component.positions) > MOST:
            continue
        yield from (((*done, *steps), "blocks of the second loop") for steps in _blocks(plan, nest))
        yield from (((*done, *steps), "one nest of all statements") for steps in _embedded(plan, nest))
        yield from (((*done, *steps), "a sum pushed, not pulled") for steps in _turned(plan, nest))
        yield from (((*done, *steps), "a sum pushed, in tiles") for steps in _turned(plan, nest, TILE))
        yield from (((*done, *steps), "joined with the next iteration") for steps in _rotated(plan, nest))
        yield from (((*done, *steps), "loops over rows and columns") for steps in _along_rows(plan, nest))


def fusions(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Script]:
    """Fuse adjacent nests, the second one delayed if necessary."""
    for one in proposals(plan, dependences):
        if one.kind is ProposalKind.FUSION:
            yield (*script_of(plan), *_named_alike(plan, one.operations), *one.steps)


def _named_alike(plan: Plan, operations: Sequence[ops.Operation]) -> Script:
    """Reorder the loops of the second nest by the names of the first, if no name has the same place."""
    match operations[-1]:
        case ops.Fuse(targets=(one, two), common=int(common)):
            first, second = (plan.leaf(plan.component(name).first).loops[:common] for name in (one, two))
        case _:
            return ()
    if first == second or not set(first) & set(second) or len(operations) > 1 or len(first) != len(second):
        return ()
    inputs = symbols(f"{name}_" for name in second)
    same = all_of([compared(a, "=", b) for a, b in zip(first, inputs, strict=True)])
    return (Step(ops.Affine(two, AffineMap(inputs, symbols(first), same))),)


def _exchanged(plan: Plan) -> Iterator[Script]:
    """Distribute the statements of a body, and swap two that combine values in an array.

    for j:  x[j] = max(x[j], x[j - 1]);  x[j] = max(x[j], 0)
        -->   for j: x[j] = max(x[j], 0);   for j: x[j] = max(x[j], x[j - 1])
    """
    updated = {
        one.name: {access.array for access in one.writes} & {access.array for access in one.reads}
        for one in plan.program.statements
    }
    bodies: dict[tuple[int, ...], list[Position]] = {}
    for leaf in plan.leaves:
        bodies.setdefault(leaf.position[:-1], []).append(leaf.position)
    for places in bodies.values():
        known = handles_at(plan, places)
        if known is None or len(known) < 2 or not plan.leaf(places[0]).depth:
            continue
        apart = Step(ops.Distribute(known, plan.leaf(places[0]).depth - 1))
        arrays = [
            {array for name in plan.statements_at(Component.of([place])) for array in updated[name]}
            for place in places
        ]
        for k, (one, two) in enumerate(pairwise(known)):
            if arrays[k] & arrays[k + 1]:
                yield apart, Step(ops.Reorder(one, two))


def _blocks(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """Put blocks of the second loop around the first one, so that the data of a block stay in the cache."""
    deepest = max((plan.leaf(position).loops for position in nest.component.positions), key=len)
    if len(nest.loops) == 1 and len(deepest) > 2:
        sizes = (LoopNumber(WHOLE, deepest[0]), LoopNumber(BLOCK, deepest[1]))
        yield (*nest.definition, Step(ops.Tile(nest.handle, sizes, skew=True)))


def _turned(plan: Plan, nest: NamedNest, tile: tuple[int, ...] = ()) -> Iterator[Script]:
    """Interchange the innermost loop of the last statement with the one that it shares with the rest.

    for j:  x[j];  for k < j: x[j] += x[k] a[k][j]   -->   for j:  x[j];  for k > j: x[k] += x[j] a[j][k]

    With a tile, in tiles of all loops that they share: rows that are read stay in a cache, and tiles on a
    diagonal are independent.
    """
    positions, shared = nest.component.positions, len(nest.loops)
    depths = [plan.leaf(position).depth for position in positions]
    names = handles_at(plan, positions[-2:])
    expected = [shared] * (len(depths) - 1) + [shared + 1]
    if shared < 2 or names is None or len(names) < 2 or depths != expected:
        return
    before, last = names
    outer, inner = plan.leaf(positions[-1]).loops[shared - 1 :]
    if tile and (len(tile) != shared or is_tiled(plan, nest)):
        return
    sizes = tuple(map(LoopNumber, tile, nest.loops))
    tiles = (*nest.definition, Step(ops.Tile(nest.handle, sizes))) if sizes else ()
    common = shared + len(tile)
    apart, turned = ops.Distribute((before, last), common - 1), ops.Interchange(last, outer, inner)
    yield (*tiles, Step(apart), Step(turned), Step(ops.Fuse((before, last), common)))


def _along_rows(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """Turn diagonals into rows: two shared loops over the subscripts of the write, rows up or down.

    for l: for i: x[i][i + l] = ...   -->   for r = -n .. 0:  for c: x[-r][c] = ...

    Statements share the row loop, and each has its own loop over the columns.
    """
    positions, shared = nest.component.positions, len(nest.loops)
    names = handles_at(plan, positions)
    places = {place: one for one in plan.program.statements for place, _ in pieces(one.schedule)}
    if shared != 2 or names is None:
        return
    cells = [
        cell
        for place in positions
        if (cell := _written_cell(places[place], plan.leaf(place).loops)) is not None
    ]
    if len(cells) < len(names) or all(one == symbols(nest.loops) for one in cells):
        return
    for is_up in (True, False):
        moved = []
        for name, place, (row, column) in zip(names, positions, cells, strict=True):
            loops = symbols(plan.leaf(place).loops)
            outputs = (Negative(row) if is_up else row, column, *loops[shared:])
            moved.append(ops.Affine(name, AffineMap(loops, outputs)))
        joined = [ops.Fuse(pair, 1) for pair in pairwise(names)]
        yield tuple(map(Step, (*((ops.Distribute(names),) if joined else ()), *moved, *joined)))


def _written_cell(statement: Statement, loops: Sequence[str]) -> tuple[Formula, Formula] | None:
    """The two subscripts of the one cell that is written, by the loops; None if they are not affine."""
    (access, *others) = statement.writes
    if others or access.relation.dim(OUT) != 2 or statement.depth != len(loops):
        return None
    parts = [one_function(only(access.relation, OUT, k)) for k in range(2)]
    row, column = (None if one is None else formula_of(one, loops) for one in parts)
    return None if row is None or column is None else (row, column)


def _rotated(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """Delay a loop at the end of a body by an iteration, and fuse it with the first loop of the body.

    for k:  for i: s += y[i];  ...  for i: y[i] = z[i]
        -->   for k:  for i: { y[i] = z[i] (of the iteration before); s += y[i] }  ...
    """
    positions, shared = nest.component.positions, len(nest.loops)
    known = handles_at(plan, positions)
    inner = [k for k, position in enumerate(positions) if plan.leaf(position).depth > shared]
    apart = len({position[: shared + 1] for position in positions}) == len(positions)
    if known is None or not apart or not shared or len(inner) < 3:
        return
    first, last = inner[0], inner[-1]
    depth = plan.leaf(positions[first]).depth
    if plan.leaf(positions[last]).depth != depth:
        return
    moved = known[last]
    operations: list[ops.Operation] = [Shift(moved, (LoopNumber(1, nest.loops[-1]),))]
    operations += (ops.Reorder(name, moved) for name in reversed(known[first:last]))
    operations.append(ops.Fuse((moved, known[first]), depth))
    yield tuple(Step(one) for one in operations)


def _embedded(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """Sink statements into the innermost loops, one iteration before their first or after their last.

    { [i] -> [i, j] : j = (least j) - 1 }   or   { [i] -> [i, j] : j = (largest j) + 1 }
    """
    positions = nest.component.positions
    depths = [plan.leaf(position).depth for position in positions]
    known, shared = handles_at(plan, positions), len(nest.loops)
    if max(depths) != shared + 1 or min(depths) != shared or known is None:
        return
    deep = [k for k, depth in enumerate(depths) if depth > shared]
    ends = _ends(plan, nest, deep)
    if ends is None:
        return
    loops = plan.leaf(positions[deep[0]]).loops
    operations: list[ops.Operation] = []
    for k, name in enumerate(known):
        if k not in deep:
            value = ends[0] if k < deep[0] else ends[1]
            inputs = symbols(loops[:shared])
            operations.append(ops.Affine(name, AffineMap(inputs, (*inputs, value))))
    operations.append(ops.Fuse(known, shared + 1))
    yield tuple(Step(one) for one in operations)


def _ends(plan: Plan, nest: NamedNest, deep: list[int]) -> tuple[Formula, Formula] | None:
    """One less than the first value of the innermost loop, and one more than the last."""
    found: set[tuple[str, str]] = set()
    ends: tuple[Formula, Formula] | None = None
    shared = len(nest.loops)
    for k in deep:
        position = nest.component.positions[k]
        loops = plan.leaf(position).loops
        component = Component.of([position])
        for points in plan.iterations(component, shared + 1):
            inner = split(points, shared)
            low, high = one_function(inner.lexmin()), one_function(inner.lexmax())
            if low is None or high is None:
                return None
            low, high = low.add_constant_val(isl.Val(-1)), high.add_constant_val(isl.Val(1))
            ends = formula_of(low, loops[:shared]), formula_of(high, loops[:shared])
            found.add((str(ends[0]), str(ends[1])))
    return ends if len(found) == 1 else None
