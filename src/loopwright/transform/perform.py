"""Applies operations and scripts to a plan, and reports each error at its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import MemorySpace
from loopwright.transform import operators
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.library import contraction, dividing, expansion, loops, packing, statements, tiling
from loopwright.transform.library.loops import SizedLoop
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import function_of
from loopwright.transform.script import operations as ops
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.script.formulas import map_of, set_of
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step, close_to
from loopwright.transform.vectors import Position

WARPS, FETCHED = "warps", "fetch"
"""The name of the number of warps among the sizes of `stream`."""


def performed(plan: Plan, *steps: Step) -> Plan:
    """The plan after some steps."""
    for step in steps:
        plan = _after(plan, step)
    return plan


def attempted(plan: Plan, *steps: Step) -> Plan | None:
    """The plan after some steps; None if one of them does not apply."""
    try:
        return performed(plan, *steps)
    except BadInput:
        return None


def _after(plan: Plan, step: Step) -> Plan:
    """The plan after one step, with the step in its history."""
    try:
        result = _performed(plan, step.operation)
    except BadInput as error:
        if error.span is not None:
            raise
        raise _placed(error, step) from None
    after = result.plan
    for name, component in zip(step.binds, result.handles, strict=False):
        after = after.named(name, component)
    return after.remember(step)


def _placed(error: BadInput, step: Step) -> BadInput:
    """The error at its place in the source; for a step without one, with the faulty argument."""
    argument, item = (error.argument, error.item) if isinstance(error, Misuse) else (None, 0)
    message = error.message
    if step.origin is None and argument is not None:
        message += f" (argument {argument} of {step.operation.name})"
    return BadInput(error.code, message, span=step.place(argument, item), hint=error.hint)


@dataclass(frozen=True)
class OperationResult:
    """The plan after an operation, and the components it returns."""

    plan: Plan
    handles: tuple[Component, ...] = ()


def _performed(plan: Plan, operation: ops.Operation) -> OperationResult:
    """Apply an operation; each family has its own function."""
    if isinstance(operation, ops.Operator):
        return _operator(plan, operation)
    if isinstance(operation, ops.NestOperation):
        return OperationResult(_nest(plan, _component(plan, operation.target), operation))
    if isinstance(operation, ops.StatementOperation):
        return _statements(plan, operation)
    if isinstance(operation, ops.DirectiveOperation):
        return OperationResult(_directed(plan, plan.component(operation.target, "target"), operation))
    if isinstance(operation, ops.StorageOperation):
        return _stored(plan, operation)
    if isinstance(operation, ops.MappingOperation):
        return OperationResult(_mapped(plan, plan.component(operation.target, "target"), operation))
    if isinstance(operation, ops.CompilerOperation):
        return OperationResult(plan)  # the history records it, and the printer reads that
    assert_never(operation)


def _stored(plan: Plan, operation: ops.StorageOperation) -> OperationResult:
    match operation:
        case ops.Expand(variable, names):
            return OperationResult(expansion.expand(plan, variable, names))
        case ops.Contract(variable, count, ring):
            contracted = contraction.ring if ring else contraction.contract
            return OperationResult(contracted(plan, variable, count))
        case ops.Rename(variable, target):
            component = plan.component(target, "target")
            return OperationResult(contraction.rename(plan, variable, component))
        case ops.Pack(variable, target, name):
            component = plan.component(target, "target")
            depth = 0 if name is None else loop_called(plan, component, name, "loop") + 1
            after, copy = packing.pack(plan, variable, component, depth, _packing(operation))
            return OperationResult(after, (copy,))
        case ops.Pad(variable, amount):
            return OperationResult(contraction.pad(plan, variable, amount))
        case ops.SplitSum(target):
            after, one, two = dividing.split_sum(plan, plan.component(target, "target"))
            return OperationResult(after, (one, two))
        case ops.Pretest():
            return _tested(plan, operation)
        case ops.Overlap(target, sizes, whole):
            component = plan.component(target, "target")
            from loopwright.transform.library import overlapping

            numbers = _sized(plan, component, sizes, "sizes")
            after, tiles, copies = overlapping.overlap(plan, component, numbers, whole=whole)
            return OperationResult(after, (tiles, copies))
        case ops.Stream(target, sizes, prefetch, trimmed):
            component = plan.component(target, "target")
            loops_too = tuple(one for one in sizes if one.loop not in (WARPS, FETCHED))
            warps, fetched = (
                sum(one.number for one in sizes if one.loop == name) for name in (WARPS, FETCHED)
            )
            from loopwright.transform.library import streaming

            numbers = _sized(plan, component, loops_too, "sizes")
            fetched = fetched or (streaming.FETCHED if prefetch else 0)
            after, *parts = streaming.stream(
                plan, component, numbers, warps=warps, fetched=fetched, trimmed=trimmed
            )
            return OperationResult(after, tuple(parts))
        case _:
            assert_never(operation)


def _tested(plan: Plan, operation: ops.Pretest) -> OperationResult:
    from loopwright.transform.library import pretesting

    component = plan.component(operation.target, "target")
    depth = loop_called(plan, component, operation.loop, "loop") + 1
    after, test = pretesting.pretest(plan, component, depth)
    return OperationResult(after, (test,))


def _packing(operation: ops.Pack) -> packing.PackingOptions:
    if operation.shared and operation.registers:
        raise Misuse(Code.STORAGE, "a copy is in one memory, shared or registers", argument="registers")
    space = MemorySpace.SHARED if operation.shared else MemorySpace.OWN if operation.registers else None
    return packing.PackingOptions(
        operation.transposed, operation.written, operation.reused, operation.scaled, space
    )


def _component(plan: Plan, target: str | None) -> Component:
    """The component of that name; without one, everything."""
    if target is None:
        return Component.of(leaf.position for leaf in plan.leaves)
    return plan.component(target, "target")


def _operator(plan: Plan, operation: ops.Operator) -> OperationResult:
    match operation:
        case ops.Realign(first, second, common):
            one, two = plan.component(first, "first"), plan.component(second, "second")
            return OperationResult(operators.realign(plan, one, two, common))
        case ops.Lift(target, loop):
            return OperationResult(plan, (operators.lift(plan, plan.component(target, "target"), loop),))
        case ops.Affine(target, function):
            component, params = plan.component(target, "target"), plan.program.params
            relation = map_of(function, params)
            known = function_of(relation, function.new_iterators(params), function.input_names)
            return OperationResult(operators.affine(plan, component, known))
        case ops.Isplit(target, condition, common):
            component = plan.component(target, "target")
            predicate = set_of(condition, plan.program.params)
            after, one, two = operators.isplit(plan, component, predicate, common)
            return OperationResult(after, (one, two))
        case _:
            assert_never(operation)


def _nest(plan: Plan, component: Component, operation: ops.NestOperation) -> Plan:
    def loop(name: str, argument: str) -> int:
        return loop_called(plan, component, name, argument)

    match operation:
        case ops.Interchange(_, first, second):
            return loops.interchange(plan, component, loop(first, "first"), loop(second, "second"))
        case ops.Permute(_, order):
            return loops.permute(plan, component, _loops(plan, component, order, "order"))
        case ops.Skew(_, name, along, factor):
            return loops.skew(plan, component, loop(name, "loop"), loop(along, "along"), factor)
        case ops.Shift(_, amounts):
            for one in _sized(plan, component, amounts, "amounts"):
                plan = loops.shift(plan, component, one.loop, one.size)
            return plan
        case ops.Reverse(_, names):
            for depth in _loops(plan, component, names, "loops"):
                plan = loops.reverse(plan, component, depth)
            return plan
        case ops.StripMine(_, name, size):
            return loops.strip_mine(plan, component, loop(name, "loop"), size)
        case ops.Tile():
            return _tiled(plan, component, operation)
        case ops.Unroll(_, name, times):
            return tiling.unroll(plan, component, loop(name, "loop"), times)
        case ops.UnrollAndJam(_, factors):
            tiles = _sized(plan, component, factors, "factors")
            return tiling.unroll_and_jam(plan, component, tiles)
        case ops.FromZero():
            return loops.from_zero(plan, component)
        case _:
            assert_never(operation)


def _tiled(plan: Plan, component: Component, operation: ops.Tile) -> Plan:
    """Tile; sizes without loops apply to the innermost loops."""
    sizes, skewed = operation.sizes, operation.skew
    if sizes[0].loop is None:
        tiles = tiling.innermost(plan, component, [one.number for one in sizes], skewed=skewed)
    else:
        tiles = _sized(plan, component, sizes, "sizes", everywhere=not skewed)
    return tiling.tile(plan, component, tiles, skewed=skewed, full=operation.full)


def _statements(plan: Plan, operation: ops.StatementOperation) -> OperationResult:
    match operation:
        case ops.Fuse(targets, common):
            after, found = statements.fuse(plan, _in_order(plan, targets), common)
        case ops.Distribute(targets, common):
            after, found = statements.distribute(plan, _in_order(plan, targets), common)
        case ops.DistributeLegally(target):
            after, found = statements.distribute_legally(plan, _component(plan, target))
        case ops.Sink(target, nest, value):
            sunk, into = plan.component(target, "target"), plan.component(nest, "nest")
            after, found = statements.sink(plan, sunk, into, value)
        case ops.Reorder(first, second):
            one, two = plan.component(first, "first"), plan.component(second, "second")
            earlier, later = (two, one) if two.last < one.first else (one, two)
            return OperationResult(operators.exchanged(plan, earlier, later))
        case ops.Hexagon(target, sizes, in_buffers):
            component = plan.component(target, "target")
            from loopwright.transform.library import hexagons, staging

            tiled = staging.staged if in_buffers else hexagons.hexagon
            after, one, two = tiled(plan, component, _sized(plan, component, sizes, "sizes"))
            return OperationResult(after, (one, two))
        case _:
            assert_never(operation)
    return OperationResult(after, (found,))


def _in_order(plan: Plan, targets: tuple[str, ...]) -> list[Component]:
    """The components in the order of the program."""
    named = [plan.component(name, "targets", item) for item, name in enumerate(targets)]
    return sorted(named, key=lambda component: component.first)


def _directed(plan: Plan, component: Component, operation: ops.DirectiveOperation) -> Plan:
    match operation:
        case ops.Parallelize(_, names):
            kind = DirectiveKind.PARALLEL
        case ops.Vectorize(_, names):
            kind = DirectiveKind.VECTORIZE
        case ops.Separate(_, names):
            kind = DirectiveKind.SEPARATE
        case ops.Isolate(_, name, points):
            loop = loop_called(plan, component, name, "loop")
            tiles = _loops(plan, component, points, "points")
            return plan.directed(DirectiveKind.ISOLATE, component, loop, points=tiles)
        case _:
            assert_never(operation)
    for loop in _loops(plan, component, names, "loops"):
        plan = plan.directed(kind, component, loop)
    return plan


def _mapped(plan: Plan, component: Component, operation: ops.MappingOperation) -> Plan:
    match operation:
        case ops.MapBlocks(_, names):
            return loops.to_blocks(plan, component, _loops(plan, component, names, "loops"))
        case ops.MapThreads(_, counts):
            for part in _by_depths(plan, component, [one.loop for one in counts]):
                plan = loops.to_threads(plan, part, _sized(plan, part, counts, "counts"))
            return plan
        case _:
            assert_never(operation)


def _by_depths(plan: Plan, component: Component, names: Sequence[str | None]) -> list[Component]:
    """The component in parts that have the loops at the same depths; whole if one lacks some of them."""
    parts: dict[tuple[int, ...], list[Position]] = {}
    for position in component.positions:
        loops = plan.leaf(position).loops
        known = [name for name in names if name is not None]
        if not set(known) <= set(loops):
            return [component]
        parts.setdefault(tuple(map(loops.index, known)), []).append(position)
    return [Component.of(positions) for positions in parts.values()]


def _loops(plan: Plan, component: Component, names: tuple[str, ...], argument: str) -> tuple[int, ...]:
    return tuple(loop_called(plan, component, name, argument, item) for item, name in enumerate(names))


def _sized(
    plan: Plan,
    component: Component,
    numbers: tuple[LoopNumber, ...],
    argument: str,
    *,
    everywhere: bool = True,
) -> list[SizedLoop]:
    """Each number with its loop."""
    return [
        SizedLoop(loop_called(plan, component, one.loop, argument, item, everywhere=everywhere), one.number)
        for item, one in enumerate(numbers)
        if one.loop is not None
    ]


def loop_called(
    plan: Plan, component: Component, name: str, argument: str, item: int = 0, *, everywhere: bool = True
) -> int:
    """The depth, from 0, of the loop with iterator `name` around the component's statements.

    All of them must have it at that depth, unless not `everywhere`: then one is enough.
    """
    leaves = [plan.leaf(position) for position in component.positions]
    depths = {leaf.loops.index(name) for leaf in leaves if name in leaf.loops}
    if not depths:
        known = list(dict.fromkeys(loop for leaf in leaves for loop in leaf.loops))
        near = close_to(name, known)
        hint = (f"did you mean {near}? " if near else "") + f"its loops are {', '.join(known) or 'none'}"
        message = f"no loop of the component has the iterator {name}"
        raise Misuse(Code.NO_ITERATOR, message, argument=argument, item=item, hint=hint)
    depth = min(depths)
    others = [leaf.position for leaf in leaves if leaf.loops[depth : depth + 1] != (name,)]
    if len(depths) > 1 or (everywhere and others):
        names = ", ".join(plan.statements_at(Component.of(others)))
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"{name} is loop {depth + 1} of some statements of the component, but does not enclose {names}",
            argument=argument,
            item=item,
            hint="use a handle on the statements that the loop encloses",
        )
    return depth
