"""Variables that only carry values from writes to reads: only the values that are read matter.

Let `x` be a temporary of the region, or of the function around it, that is dead after the region: if under θ'
every read of x sees the value of the write it saw under θ, that is, if the value-based flow on x is the same
and no read sees a value from before the region, then reordering the other accesses to x changes nothing.  The
dependences on x are those of storage, and the single x suffices for the new order too.

A parallel loop can privatise such storage.  For a loop at time dimension d, two instances are in the same
iteration if their times agree up to d.  Storage x is private there if

    contained   every read of x in the loop sees a value that was written in the same iteration:
                the value-based flow into the loop's reads stays inside iterations, and none comes
                from before the region;

and the value of x after the loop is not read, or

    last        every iteration writes x, so that the last one leaves what the loop leaves, and if
                the loop has no iteration, nothing reads x afterwards: OpenMP leaves it undefined.

The dependences on x that the loop carries are then not dependences of values: each iteration has its own x
(OpenMP's `private` and `lastprivate`).

Variables declared in the body of a loop are private to each iteration, which must not need another's. The
statements of a source are proved to be those of the original as if a name were one variable throughout.  That
is correct if no value of it flows from one iteration of the loop around its declaration to another, or out of
the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import islpy as isl

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import Node, walk
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import distinct, value_based_flow, with_accesses
from loopwright.model.program import Access, Array, MemorySpace, Program, Statement
from loopwright.presburger.dimensions import first
from loopwright.presburger.named import at_parameters
from loopwright.presburger.sets import DIM, OUT, union_map, union_set, within_effort
from loopwright.prove.legality.parallel import ParallelLoop, inside
from loopwright.prove.legality.times import TimedPiece, comparable, pieces_of
from loopwright.prove.verdict import Proved, Undecided, Verdict
from loopwright.source import Span

_EFFORT = 5_000_000
"""Maximum number of isl operations to decide where a variable can be declared: some seconds."""


@dataclass(frozen=True)
class Private:
    """`array` is private in `loop`; if `last`, the value of the last iteration is live-out."""

    array: str
    loop: str
    last: bool
    statements: tuple[str, ...]
    """The statements executed in the loop."""
    dimension: int
    """The time dimension of the loop."""
    span: Span | None = None
    """Where the loop was marked as parallel."""


def remarks(found: Sequence[Private]) -> list[tuple[str, int]]:
    """Describes what is private where, with the number of variables in each remark."""
    together: dict[tuple[str, tuple[str, ...], bool], list[str]] = {}
    for one in found:
        together.setdefault((one.loop, one.statements, one.last), []).append(one.array)
    return [
        (
            f"every iteration of {loop} has its own {', '.join(sorted(set(names)))}"
            + (", and the last one's is kept" if last else ""),
            len(names),
        )
        for (loop, _, last), names in together.items()
    ]


def touching(program: Program, array: Array) -> Program:
    """The program with only the accesses to one array, and the statements that have some."""
    return with_accesses(program, lambda _, access: access.array == array.name)


def carries_the_same_values(old: Program, new: Program, array: Array) -> bool:
    """Whether `array` is such a temporary of `old`, and stays one in `new`, its statements in another order.

    May-writes leave open which value is seen.
    """
    if not old.is_private(array) or not old.is_dead_after(array):
        return False
    before, after = touching(old, array), touching(new, array)
    if not all(access.must for statement in before.statements for access in statement.writes):
        return False
    flow, live_in = value_based_flow(before)
    new_flow, new_live_in = value_based_flow(after)
    return bool(live_in.is_empty()) and bool(new_live_in.is_empty()) and bool(flow.is_equal(new_flow))


OF_BLOCKS = (MemorySpace.SHARED, MemorySpace.OWN, MemorySpace.PRIVATE)
"""Memory that is private to each block."""


def privatised(
    program: Program, members: Mapping[str, tuple[TimedPiece, ...]], loop: ParallelLoop, array: Array
) -> Private | None:
    """Returns how `array` is private in the loop of `members`, or None; `program` has the new schedule."""
    own = loop.combines or (array.local and not array.rank)
    own = own or (loop.blocks and array.space in OF_BLOCKS)
    if not program.is_private(array) or not own:
        return None
    part = touching(program, array)
    if array.space is MemorySpace.PRIVATE:
        depth = (max(one.schedule.dim(OUT) for one in part.statements) - 1) // 2
        inner = range(loop.dimension, 2 * depth, 2)
        found = program.is_dead_after(array) and any(_is_cleared(part, array, k) for k in inner)
        return _private(array, loop, members) if found else None
    if array.rank and program.is_dead_after(array) and _reads_own_writes(part, loop.dimension):
        return _private(array, loop, members)
    flow, live_in = value_based_flow(part)
    times = _times(program, members, loop.dimension)
    here = times.domain()
    same = times.apply_range(times.reverse())
    contained = flow.intersect_range(here).is_subset(same)
    if not contained or not live_in.intersect_domain(here.intersect(part.domain())).is_empty():
        return None
    wanted = not flow.intersect_domain(here).subtract(same).is_empty() or not program.is_dead_after(array)
    if wanted and (array.rank or not times.range().is_subset(_written(part, times))):
        return None
    if wanted and _is_seen_without_iteration(program, array, times, loop):
        return None
    return _private(array, loop, members, last=wanted)


def _private(
    array: Array, loop: ParallelLoop, members: Mapping[str, tuple[TimedPiece, ...]], *, last: bool = False
) -> Private:
    return Private(array.name, loop.called, last, tuple(members), loop.dimension, loop.span)


def _reads_own_writes(part: Program, dimension: int) -> bool:
    """Whether a write to its cell precedes every read, in the same iteration of a loop at `dimension`.

    Then the last such write is in that iteration too, whichever it is: no value leaves an iteration.  This is
    faster to decide than which write it is.  A read of one of several cells is not decided here.
    """
    for reader in part.statements:
        for read in distinct(reader.reads):
            relation = read.relation.intersect_domain(reader.domain).intersect_params(part.context)
            if not relation.is_single_valued():
                return False
            left = relation.domain()
            for writer in part.statements:
                for write in writer.writes if _may_share(reader, writer, dimension) else ():
                    if write.must and not left.is_empty():
                        left = left.subtract(_written_before(reader, relation, writer, write, dimension))
            if not left.is_empty():
                return False
    return True


def _may_share(one: Statement, two: Statement, dimension: int) -> bool:
    """Whether an iteration of a loop at `dimension` may execute both, as far as constants tell."""
    places = [[_position(statement, k) for k in range(0, dimension, 2)] for statement in (one, two)]
    return all(a is None or b is None or a == b for a, b in zip(*places, strict=True))


def _is_cleared(part: Program, array: Array, dimension: int) -> bool:
    """Whether each iteration of the loops at `dimension` writes all cells before it reads any.

    That holds for the outer loops too.  No read is out of bounds, which is proved for all accesses to the
    array.
    """
    if not all(extent.isdigit() for extent in array.extents):
        return False
    clearing = [one for one in part.statements if not one.reads and all(access.must for access in one.writes)]
    written: dict[str, isl.Set] = {}
    for reader in part.statements:
        if not reader.reads:
            continue
        place = _position(reader, dimension + 1)
        left = first(reader.schedule, OUT, dimension + 1).intersect_domain(reader.domain).range()
        left = left.intersect_params(part.context)
        for writer in clearing:
            before = _position(writer, dimension + 1)
            if place is not None and before is not None and before < place and not left.is_empty():
                if writer.name not in written:
                    written[writer.name] = _all_written(writer, array, dimension)
                left = left.subtract(written[writer.name])
        if not left.is_empty():
            return False
    return True


def _position(statement: Statement, dimension: int) -> int | None:
    """The entry of the statement's time, if it is constant."""
    if dimension >= statement.schedule.dim(OUT):
        return None
    value = statement.schedule.plain_get_val_if_fixed(OUT, dimension)
    return int(value.to_python()) if value.is_int() else None


def _all_written(writer: Statement, array: Array, dimension: int) -> isl.Set:
    """The iterations in which a statement writes all cells of an array."""
    iterations = first(writer.schedule, OUT, dimension + 1).intersect_domain(writer.domain)
    written = iterations.reverse().apply_range(writer.writes[0].relation)
    cells = isl.Set.universe(written.get_space().range())
    for k, extent in enumerate(array.extents):
        cells = cells.lower_bound_val(DIM, k, isl.Val(0)).upper_bound_val(DIM, k, isl.Val(int(extent) - 1))
    missing = isl.Map.from_domain_and_range(iterations.range(), cells).subtract(written)
    return iterations.range().subtract(missing.domain())


def _written_before(
    reader: Statement, relation: isl.Map, writer: Statement, write: Access, dimension: int
) -> isl.Set:
    """The reads that a write to the same cell in the same iteration precedes."""
    mine, theirs = (first(one.schedule, OUT, dimension + 1) for one in (reader, writer))
    cells = relation.apply_range(write.relation.intersect_domain(writer.domain).reverse())
    cells = cells.intersect(mine.apply_range(theirs.reverse()))
    if cells.is_empty():
        return relation.domain().subtract(relation.domain())
    before = isl.Map.lex_gt(reader.schedule.get_space().range())
    order = reader.schedule.apply_range(before).apply_range(writer.schedule.reverse())
    return cells.intersect(order).domain().coalesce()


def _is_seen_without_iteration(
    program: Program, array: Array, times: isl.UnionMap, loop: ParallelLoop
) -> bool:
    """Whether `array` may be read after the loop if the loop had no iteration.

    For an inner loop it is not known which of its runs are empty.
    """
    if loop.dimension > 1:
        return True
    values = {one.name: one.fixed for one in program.parameters if one.fixed is not None}
    empty = at_parameters(program.context, values).subtract(times.domain().params())
    if not program.is_dead_after(array):
        return not empty.is_empty()
    here = times.domain()
    readers = (
        access.relation.domain().intersect(statement.domain)
        for statement in program.statements
        for access in statement.reads
        if access.array == array.name
    )
    reads = union_set(readers, program.context.get_space())
    return not reads.subtract(here).intersect_params(empty).is_empty()


def innermost_scope(program: Program, array: Array) -> int | None:
    """The depth of the innermost loops in which `array` can be declared: no value leaves an iteration.

    None if it must be declared outside of all loops, or if that takes too long to decide.
    """
    schedules = comparable(program, program)
    part = touching(program, array)
    names = tuple(statement.name for statement in part.statements)
    deepest = (max((schedule.dim(OUT) for schedule in schedules.values()), default=1) - 1) // 2
    if array.space in (MemorySpace.SHARED, MemorySpace.OWN) and program.is_dead_after(array):
        own = (depth for depth in reversed(range(deepest)) if _reads_own_writes(part, 2 * depth + 1))
        return next(own, None)
    pieces = {name: pieces_of(name, schedule) for name, schedule in schedules.items()}
    for depth in reversed(range(deepest)):
        loop = ParallelLoop(2 * depth + 1, names)
        try:
            found = within_effort(_EFFORT, partial(privatised, program, inside(loop, pieces), loop, array))
        except isl.Error:
            return None
        if found is not None and not found.last:
            return depth
    return None


def _times(program: Program, members: Mapping[str, tuple[TimedPiece, ...]], dimension: int) -> isl.UnionMap:
    """{ instance -> (t0, ..., td) } for the loop: the iteration of each instance."""
    found = (
        first(program.statement(name).schedule, OUT, dimension + 1).intersect_domain(piece.domain)
        for name, pieces in members.items()
        for piece in pieces
    )
    return union_map(found, program.context.get_space()).intersect_domain(program.domain())


def _written(part: Program, times: isl.UnionMap) -> isl.UnionSet:
    """The iterations that certainly write the array."""
    writers = (
        access.relation.domain().intersect(statement.domain)
        for statement in part.statements
        for access in statement.writes
        if access.must
    )
    return times.intersect_domain(union_set(writers, part.context.get_space())).range()


def declared_in_loops(program: Program) -> Iterator[tuple[str, Node, int, Node]]:
    """Yields the variables of the region that are declared inside a loop.

    Each comes with the innermost loop, its depth, and the declaration.
    """
    local = {array.name for array in program.arrays if array.local}
    around: list[Node] = []
    for node in walk(program.syntax):
        while around and around[-1].end <= node.start:
            around.pop()
        if node.type == "for_statement":
            around.append(node)
        if node.type != "declaration" or not around:
            continue
        for declarator in node.children_by_field_name("declarator"):
            named = declared_name(declarator)
            if named is not None and named[0] in local:
                yield named[0], around[-1], len(around) - 1, node


def prove_scopes(program: Program) -> Verdict:
    """Proves that the variables declared in loops can be private to each iteration."""
    count = 0
    schedules = comparable(program, program)
    pieces = {name: pieces_of(name, schedule) for name, schedule in schedules.items()}
    for name, node, depth, _ in declared_in_loops(program):
        names = tuple(s.name for s in program.statements if node.span.contains(s.body.place))
        loop = ParallelLoop(2 * depth + 1, names)
        array = program.array(name)
        found = privatised(program, inside(loop, pieces), loop, array)
        if found is None or found.last:
            line = node.span.line
            return Undecided(f"a value of {name} may leave an iteration of the loop in line {line}")
        count += 1
    return Proved(count)
