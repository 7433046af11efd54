"""Converts a plan to a schedule for the generator.

The positions of the vectors become sequences, the iteration numbers bands, so each loop can have its own
options.  `flat_schedule` is the same order as one band over the whole vector: it is not rearranged, so loops
are proved against it.
"""

from __future__ import annotations

from typing import assert_never

import islpy as isl

from loopwright.model import schedule as trees
from loopwright.model.annotations import BlockLoop, Independent, Parallel, ThreadLoop, Vector
from loopwright.model.program import Program
from loopwright.presburger.dimensions import first, split
from loopwright.presburger.sets import DIM, OUT, union
from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.plan import Plan
from loopwright.transform.vectors import Position, at, entry, iteration_numbers, pieces


def annotation_of(directive: LoopDirective) -> Independent | None:
    """The annotation of a loop by a directive; other directives are options of its band."""
    match directive.kind:
        case DirectiveKind.PARALLEL:
            return Parallel()
        case DirectiveKind.VECTORIZE:
            return Vector()
        case DirectiveKind.BLOCK:
            return BlockLoop(axis=directive.axis)
        case DirectiveKind.THREAD:
            return ThreadLoop(axis=directive.axis, count=directive.factor or 1)
        case DirectiveKind.UNROLL | DirectiveKind.SEPARATE | DirectiveKind.ISOLATE:
            return None
        case _:
            assert_never(directive.kind)


def flat_schedule(program: Program) -> trees.Schedule:
    """All instances ordered by their schedule vectors."""
    schedule = program.schedule()
    length = program.statements[0].schedule.dim(OUT) if program.statements else 0
    if length == 0:
        return trees.Schedule(program.domain(), program.context, trees.LEAF)
    band = trees.Band(schedule, (trees.Member(),) * length, trees.LEAF)
    return trees.Schedule(program.domain(), program.context, band)


def to_schedule(plan: Plan) -> trees.Schedule:
    """The schedule with the plan's directives.

    A parallel or vector loop is below an annotation of the schedule dimension it scans, which is the depth of
    the loop, 0 the outermost.
    """
    program = plan.program
    if not program.statements:
        return trees.Schedule(program.domain(), program.context, trees.LEAF)
    return trees.Schedule(program.domain(), program.context, _subtree(plan, (), 0))


def _subtree(plan: Plan, path: Position, loop: int) -> trees.Tree:
    """The subtree below the positions `path`: a sequence of its children, each in its loops."""
    below = [leaf for leaf in plan.leaves if leaf.position[: len(path)] == path]
    children = sorted({leaf.position[: loop + 1] for leaf in below})
    if len(children) == 1:
        return _loops(plan, children[0], loop)
    parts = (trees.Filter(_instances(plan, child), _loops(plan, child, loop)) for child in children)
    return trees.Sequence(tuple(parts))


def _instances(plan: Plan, path: Position) -> isl.UnionSet:
    """The statement instances below a node of the syntax tree."""
    program = plan.program
    found = isl.UnionSet.empty(program.context.get_space())
    for statement in program.statements:
        if _is_beside(statement.schedule, path):
            continue
        for position, piece in pieces(statement.schedule):
            if position[: len(path)] == path:
                found = found.union(isl.UnionSet.from_set(piece.domain().intersect(statement.domain)))
    return found.intersect_params(program.context)


def _is_beside(schedule: isl.Map, path: Position) -> bool:
    """Whether the constants of its times show that no instance is below `path`."""
    for level, place in enumerate(path):
        value = schedule.plain_get_val_if_fixed(OUT, 2 * level)
        if value.is_int() and value.to_python() != place:
            return True
    return False


def _loops(plan: Plan, path: Position, loop: int) -> trees.Tree:
    """The band of the loops from `loop` on that are perfectly nested, with the subtree inside."""
    start, annotations = loop, _annotations(plan, path, loop)
    while True:
        below = [leaf for leaf in plan.leaves if leaf.position[: len(path)] == path]
        if all(leaf.depth <= loop for leaf in below):
            break
        loop += 1
        children = sorted({leaf.position[: loop + 1] for leaf in below})
        if len(children) > 1:
            break
        path = children[0]
        if _annotations(plan, path, loop):
            break
    tree: trees.Tree = trees.LEAF
    if loop > start:
        tree = _band(plan, path[: loop + 1], range(start, loop), _subtree(plan, path[:loop], loop))
    for annotation in reversed(annotations):
        tree = trees.Annotated(annotation, start, tree)
    return tree


def _annotations(plan: Plan, path: Position, loop: int) -> list[Independent]:
    """The annotations, one of each kind, in the order of the kinds."""
    here = [d for d in plan.directives if d.loop == loop and path[: loop + 1] in d.paths]
    found = {d.kind: annotation_of(d) for d in sorted(here, key=lambda d: list(DirectiveKind).index(d.kind))}
    return [annotation for annotation in found.values() if annotation is not None]


def _band(plan: Plan, path: Position, loops: range, child: trees.Tree) -> trees.Band:
    members = tuple(_member(plan, path, loop) for loop in loops)
    return trees.Band(_order(plan, path, loops), members, child, isolate=_isolate(plan, path, loops))


def _member(plan: Plan, path: Position, loop: int) -> trees.Member:
    """The band member; only full strips are unrolled by a factor, or in a kernel; the rest stays a loop."""
    here = [d for d in plan.directives if path[: d.loop + 1] in d.paths]
    kinds = {d.kind for d in here if d.loop == loop}
    kind = trees.LoopType.SEPARATE if DirectiveKind.SEPARATE in kinds else trees.LoopType.DEFAULT
    if DirectiveKind.UNROLL not in kinds:
        return trees.Member(kind, kind)
    by_factor = all(d.factor is not None for d in here if d.loop == loop and d.kind is DirectiveKind.UNROLL)
    isolated = [d for d in here if d.kind is DirectiveKind.ISOLATE and loop in d.points]
    full = bool(isolated) and (by_factor or all(in_kernel(plan, d) for d in isolated))
    return trees.Member(kind if full else trees.LoopType.UNROLL, trees.LoopType.UNROLL)


def _order(plan: Plan, path: Position, loops: range) -> isl.UnionMap:
    """Instances below `path` -> the iteration numbers of `loops`."""
    program = plan.program
    shorter = path[: loops.start + 1]
    order = isl.UnionMap.empty(program.context.get_space())
    for statement in program.statements:
        if _is_beside(statement.schedule, shorter):
            continue
        schedule = statement.schedule.intersect_range(at(statement.schedule, shorter))
        values = first(schedule, OUT, entry(loops.stop))
        for loop in reversed(range(loops.stop + 1)):
            values = values.project_out(OUT, 2 * loop, 1)
            if 0 < loop <= loops.start:
                values = values.project_out(OUT, 2 * loop - 1, 1)
        order = order.union(isl.UnionMap.from_map(values.intersect_domain(statement.domain)))
    return order.intersect_params(program.context)


def _isolate(plan: Plan, path: Position, loops: range) -> isl.Map | None:
    """{ outer loops -> this band's loops : full for every directive on these loops }."""
    isolated: isl.Set | None = None
    for directive in plan.directives:
        if directive.kind is DirectiveKind.ISOLATE and _concerns(directive, path, loops):
            if loops.start <= directive.loop and in_kernel(plan, directive):
                continue
            part = _extended(full_part(plan, directive), loops.stop)
            isolated = part if isolated is None else isolated.intersect(part)
    if isolated is None:
        return None
    return split(isolated, loops.start)


def in_kernel(plan: Plan, directive: LoopDirective) -> bool:
    """Whether blocks of a GPU run the loops to split: each block tests whether its tile is full."""
    return any(
        one.kind is DirectiveKind.BLOCK
        and one.loop <= directive.loop
        and set(one.positions) & set(directive.positions)
        for one in plan.directives
    )


def _concerns(directive: LoopDirective, path: Position, loops: range) -> bool:
    """Whether the band's loops are among those to split, or among the point loops of a full tile."""
    here = any(path[: directive.loop + 1] == other[: len(path)] for other in directive.paths)
    return here and (directive.loop >= loops.start or any(point in loops for point in directive.points))


def _extended(part: isl.Set, count: int) -> isl.Set:
    """A set over the first loops as one over `count` of them."""
    known = part.dim(DIM)
    if known > count:
        return first(part, DIM, count)
    return part.add_dims(DIM, count - known)


def full_part(plan: Plan, directive: LoopDirective) -> isl.Set:
    """The iteration vectors (j1, ..., j(L+1)) in which every point loop runs over all of its tile.

    [Grosser2015, section 5.6].  For the loops 0 to L of a directive and its point loops, two instances
    of a statement are neighbours if they agree in the iteration numbers of all loops but the point
    loops.  A prefix of iteration numbers is full if no neighbour of an instance scheduled there is
    missing:

        full = θ(D) − θ(neighbours(D) − D),   θ cut after loop L.

    θ itself bounds the neighbours: a tile loop [i/32] leaves the point loop i 32 values.
    """
    wanted = set(directive.positions)
    scheduled: list[isl.Set] = []
    partial: list[isl.Set] = []
    for statement in plan.program.statements:
        for position, piece in pieces(statement.schedule):
            if position not in wanted:
                continue
            prefix = iteration_numbers(piece, directive.loop + 1)
            instances = statement.domain.intersect(piece.domain()).intersect_params(plan.program.context)
            missing = instances.apply(_neighbours(piece, directive.points)).subtract(instances)
            missing = missing.intersect_params(plan.program.context)
            scheduled.append(instances.apply(prefix))
            partial.append(missing.apply(prefix))
    if not scheduled:
        return isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, directive.loop + 1))
    return union(scheduled).subtract(union(partial)).coalesce()


def _neighbours(piece: isl.Map, points: tuple[int, ...]) -> isl.Map:
    """{ x -> y : θ(x) and θ(y) agree but for the point loops }, at one position."""
    others = piece
    for loop in sorted(points, reverse=True):
        others = others.project_out(OUT, entry(loop), 1)
    return others.apply_range(others.reverse())
