"""Proves that copies stage an array, tile by tile: then every read sees its value.

P' executes the instances of P in the order of P, and copies besides.  A tile consists of what runs at times
with the same first m entries: it is contiguous in the order.  Accesses of an array A in it may be to a buffer
B instead.  With

    L(p), R(p), W(p), S(p)   the cells of A that tile p copies to B, that its moved accesses read and write,
                             and that it copies back,

P' leaves in A after every tile what P does, if

    placed     in a tile a cell of B represents one cell of A in all copies and moved accesses, and a cell of
               A has one cell of B;
    order      in a tile copies to B precede, and copies from B follow all other uses of A and B;
    complete   R(p) and S(p) are part of L(p) + W(p), R(p) even of L(p), and W(p) is part of S(p);
    apart      what else is accessed in tile p, in P or by other copies, is no cell of L(p), R(p), W(p) or
               S(p); if B is not written, only what else is written counts.

By induction over the tiles A is the same at the start of each, B holds in a tile the values of these cells of
A in P, and what is copied back is what P leaves.  None of this depends on which write a read sees, so each
question is small.  An array that is not staged this way is not an error: its values are compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import first, padded
from loopwright.presburger.sets import OUT, union
from loopwright.prove.legality.times import TimeEntry, pieces_of
from loopwright.prove.legality.values import moves


@dataclass(frozen=True, eq=False)
class Running:
    """A statement of P' at its time; unless it is a copy, its instances are those of `old` by `instance`."""

    statement: Statement
    time: isl.Map
    entries: tuple[TimeEntry, ...]
    old: Statement | None
    instance: isl.Map

    def tile(self, depth: int) -> isl.Map:
        """{ instance -> p }"""
        return first(self.time, OUT, depth)


@dataclass(frozen=True, eq=False)
class _BufferAccess:
    """An access to a buffer: { instance -> B[b] }, where P has { instance -> A[c] }."""

    run: Running
    access: Access
    array: str
    at: isl.Map
    cell: isl.Map

    @property
    def kind(self) -> int:
        """The order of uses in a tile: copies to B, moved accesses, copies from B."""
        return 1 if self.run.old is not None else 0 if self.access.is_write else 2

    def cells(self, depth: int) -> isl.Map:
        """{ p -> A[c] }"""
        return self.run.tile(depth).reverse().apply_range(self.cell)

    def placed(self, depth: int) -> tuple[isl.Map, isl.Map]:
        """{ [p, b] -> A[c] } and { [p, c] -> B[b] }"""
        tile = self.run.tile(depth)
        places = (tile.flat_range_product(one.reset_tuple_id(OUT)) for one in (self.at, self.cell))
        at, cell = (one.reverse() for one in places)
        return at.apply_range(self.cell), cell.apply_range(self.at)


def is_staged(before: Program, after: Program, instances: Mapping[str, tuple[Statement, isl.Map]]) -> bool:
    """Whether `after` is `before` with buffers.

    `instances` gives, for the statements of `after` that are not copies, the statement of `before`, and {
    instance of `after` -> instance of `before` }.
    """
    length = max(one.schedule.dim(OUT) for one in (*before.statements, *after.statements))
    runs: list[Running] = []
    for statement in after.statements:
        time = statement.schedule.intersect_domain(statement.domain).intersect_params(after.context)
        time = padded(time, length).reset_tuple_id(OUT)
        parts = pieces_of(statement.name, time)
        if len(parts) != 1:
            return False
        same = isl.Map.identity(time.domain().get_space().map_from_set())
        old, instance = instances.get(statement.name, (None, same))
        runs.append(Running(statement, time, parts[0].entries, old, instance))
    made = {array.name for array in after.arrays} - {array.name for array in before.arrays}
    found = [use for run in runs for use in _uses(run, made)]
    uses = [use for use in found if use is not None]
    if len(uses) < len(found) or not _has_same_order([one for one in runs if one.old is not None]):
        return False
    return all(_is_buffer([use for use in uses if use.access.array == name], runs) for name in sorted(made))


def _uses(run: Running, made: set[str]) -> Iterator[_BufferAccess | None]:
    """Yields the accesses to buffers; None for one that is not understood."""
    accesses = run.statement.accesses
    if run.old is None:
        own, others = ([one for one in accesses if (one.array in made) is new] for new in (True, False))
        pairs = list(zip(own, others, strict=False))
        if len(accesses) != 2 or len(pairs) != 1:
            yield None
    else:
        pairs = [(new, old) for new, old in zip(accesses, run.old.accesses, strict=True)]
    for new, old in pairs:
        if new.array not in made:
            if run.old is not None and moves(old, new, run.instance):
                yield None
            continue
        at = new.relation.intersect_domain(run.time.domain())
        cell = run.instance.intersect_domain(run.time.domain()).apply_range(old.relation)
        yield _BufferAccess(run, new, old.array, at, cell)


def _has_same_order(runs: Sequence[Running]) -> bool:
    """Whether the statements execute once and in the order they have in P.

    An entry of a time is the same function in both programs, or a constant in both: of two different
    constants, the same one is smaller in both programs.
    """
    known = [(run, _numbers_before(run)) for run in runs]
    for (one, mine), (other, theirs) in combinations_with_replacement(known, 2):
        if mine is None or theirs is None:
            return False
        for pair in zip(mine, one.entries, theirs, other.entries, strict=True):
            match pair:
                case int(a), int(a1), int(b), int(b1):
                    if (a < b, a > b) != (a1 < b1, a1 > b1):
                        return False
                    if a != b:
                        break
                case (int(a), int(a1), None, _) | (None, _, int(a), int(a1)):
                    if a != a1:
                        return False
                case _:
                    pass
    return True


def _numbers_before(run: Running) -> tuple[int | None, ...] | None:
    """The entries of the time in P that are constants; None if the others are not those of P', too."""
    assert run.old is not None
    if not run.instance.is_injective() or not run.time.domain().is_subset(run.instance.domain()):
        return None
    schedule = run.old.schedule.intersect_domain(run.old.domain)
    time = run.instance.intersect_domain(run.time.domain()).apply_range(padded(schedule, len(run.entries)))
    parts = [one.to_map() for one in time.reset_tuple_id(OUT).get_basic_maps() if not one.is_empty()]
    if not parts:
        return None
    time, same = union(parts), run.time
    numbers: list[int | None] = []
    for k, entry in enumerate(run.entries):
        if not isinstance(entry, int):
            numbers.append(None)
            continue
        value = time.plain_get_val_if_fixed(OUT, k)
        if not value.is_int():
            return None
        numbers.append(int(value.to_python()))
        same = same.eliminate(OUT, k, 1).fix_val(OUT, k, value)
    return tuple(numbers) if time.is_subset(same) else None


def _is_buffer(uses: Sequence[_BufferAccess], runs: Sequence[Running]) -> bool:
    """Whether a buffer holds cells of one array, tile by tile."""
    depth = _tile_depth(uses)
    arrays = {one.array for one in uses}
    if depth is None or len(arrays) != 1:
        return False
    (array,) = arrays
    return _is_apart(uses, runs, array, depth) and _is_complete(uses, depth) and _is_placed(uses, depth)


def _tile_depth(uses: Sequence[_BufferAccess]) -> int | None:
    """m: the depth that separates copies from other uses of a tile, in their order."""
    found: list[int] = []
    for k, one in enumerate(uses):
        for other in uses[:k]:
            place = _parting(one.run.entries, other.run.entries)
            if one.kind != other.kind and place is not None:
                found.append(place)
    depth = max(found, default=None)
    if depth is None:
        return None
    for k, one in enumerate(uses):
        for other in uses[:k]:
            mine, theirs = one.run.entries, other.run.entries
            place = _parting(mine, theirs)
            if one.kind == other.kind or (place is not None and place < depth):
                continue
            early, late = (mine[depth], theirs[depth])[:: 1 if one.kind < other.kind else -1]
            if not (isinstance(early, int) and isinstance(late, int) and early < late):
                return None
    return depth


def _parting(one: Sequence[TimeEntry], other: Sequence[TimeEntry]) -> int | None:
    """The first entry in which two times are different constants."""
    for k, (mine, theirs) in enumerate(zip(one, other, strict=True)):
        if isinstance(mine, int) and isinstance(theirs, int) and mine != theirs:
            return k
    return None


def _is_apart(uses: Sequence[_BufferAccess], runs: Sequence[Running], array: str, depth: int) -> bool:
    """Whether nothing else in the tiles accesses, in a conflicting way, the cells that the buffer holds."""
    writing = any(one.access.is_write and one.kind == 1 for one in uses)
    staged = union([one.cells(depth) for one in uses])
    tiles = staged.domain()
    for run in runs:
        others = [one for one in _otherwise(run, array, uses) if writing or one.is_write]
        tile = run.tile(depth)
        if not others or tile.range().is_disjoint(tiles):
            continue
        instances = run.time.domain()
        for one in others:
            cells = run.instance.intersect_domain(instances).apply_range(one.relation)
            if not staged.is_disjoint(tile.reverse().apply_range(cells)):
                return False
    return True


def _otherwise(run: Running, array: str, uses: Sequence[_BufferAccess]) -> list[Access]:
    """The accesses to an array, in P or by copies, that the uses of a buffer do not replace."""
    buffer = uses[0].access.array
    if run.old is not None:
        pairs = zip(run.statement.accesses, run.old.accesses, strict=True)
        return [old for new, old in pairs if old.array == array and new.array != buffer]
    if any(one.run is run for one in uses):
        return []
    return [one for one in run.statement.accesses if one.array == array]


def _is_complete(uses: Sequence[_BufferAccess], depth: int) -> bool:
    """R(p) is part of L(p), W(p) of S(p), and S(p) of L(p) + W(p)."""
    nothing = isl.Map.empty(uses[0].cells(depth).get_space())
    loaded, read, written, set_, stored = nothing, nothing, nothing, nothing, nothing
    for one in uses:
        cells = one.cells(depth)
        match one.kind:
            case 0:
                loaded = loaded.union(cells)
            case 2:
                stored = stored.union(cells)
            case _ if one.access.is_write:
                written = written.union(cells)
                set_ = set_.union(cells) if one.access.must else set_
            case _:
                read = read.union(cells)
    held = loaded.union(set_).coalesce()
    return bool(
        read.is_subset(loaded.coalesce()) and written.is_subset(stored.coalesce()) and stored.is_subset(held)
    )


def _is_placed(uses: Sequence[_BufferAccess], depth: int) -> bool:
    """Whether { [p, b] -> c } and { [p, c] -> b } are functions."""
    both = zip(*(one.placed(depth) for one in uses), strict=True)
    return all(union(parts).coalesce().is_single_valued() for parts in both)
