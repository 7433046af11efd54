"""Checks a loop nest of the program as a whole [Bao2016, section 5, "Optimized checking of full tiles"].

A nest executes the operations E(p) at the times T, where p are the values of its parameters on entry.  Let
prev(y) be the write before y to the same cell in the original, next its inverse, and src(y, r) the writer of
what the r-th read of y reads.  If, for this p,

    (1) every operation is an instance, and none executes twice;
    (2) prev(y) in E                 runs before y;
    (3) src(y, r) in E               runs before y,
        next(src(y, r)) in E         does not run before y;
    (4) shadow[w(y)]    = code(prev(y))     at the start, for all y in E with prev(y) not in E;
    (5) shadow[r(y)]    = code(src(y, r))   at the start, for all y in E with src(y, r) not in E;

then the check of every single operation of the nest passes, and afterwards

    (6) shadow[w(y)]    = code(y)           for all y in E with next(y) not in E.

Proof: the codes of the writers of one cell differ, so by (4) at most one y in E that writes a cell
has a prev outside E: those writers are consecutive in the original's order, and by (2) they execute in that
order.  So each finds the code of its prev, and a read finds what (3) and (5) state.

The converse is not claimed: if a condition fails, the operations are checked one by one.  (1) to
(3) are conditions on p alone, (4) to (6) loops over cells instead of operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import islpy as isl

from loopwright.check.algorithms.codes import CodeScheme, own_code, previous_code, source_code
from loopwright.check.algorithms.scheme import Group, group_of
from loopwright.check.original.solving import solve
from loopwright.check.original.specification import FixedAccess, Stated
from loopwright.check.original.writers import subscripts
from loopwright.check.program.nests import CheckedNest, Operation
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import only
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM, IN, OUT, PARAM, union, union_map


@dataclass(frozen=True)
class Guess:
    """An iterator x that occurs in no subscript: x = `name` + the value of `along`.

    `name` is computed from the shadow of the first cell of the first site that executes.
    """

    name: str
    group: Group
    iterator: int
    along: int | None
    firsts: tuple[isl.Map, ...]
    """{ [v] -> A[c] } at the first v, site by site."""


@dataclass(frozen=True)
class Bulk:
    """`wrong` contains the parameters for which (1) to (3) do not hold; the other sets are A[cell, code]."""

    nest: CheckedNest
    guesses: tuple[Guess, ...]
    wrong: isl.Set
    before: tuple[isl.Set, ...]
    """(4) and (5)."""
    after: tuple[isl.Set, ...]
    """(6)."""


@dataclass(frozen=True)
class Original:
    """The writer functions of the original between groups `G[x]`, and the cells groups touch."""

    scheme: CodeScheme
    previous: isl.UnionMap
    sources: dict[tuple[int, int], isl.UnionMap]
    """By group and read."""
    following: dict[tuple[int, int], isl.UnionMap]
    """{ y -> next(src(y, r)) }; if nothing was written before, the first writer of the cell."""
    free: dict[int, tuple[int, ...]]
    """By group, the iterators that occur in no subscript."""


def _tuple(group: Group) -> str:
    return f"G{group.number}"


def original(scheme: CodeScheme) -> Original:
    """Return the parts of the original that (1) to (6) refer to."""
    spec, found, groups = scheme.spec, scheme.found, scheme.groups
    names = {member.name: _tuple(group) for group in groups for member in group.members}

    def renamed(parts: Sequence[isl.Map]) -> isl.UnionMap:
        union = isl.UnionMap("{ }")
        for part in parts:
            for side in (IN, OUT):
                old = part.get_tuple_name(side)
                part = part.set_tuple_name(side, names.get(old, old))
            union = union.union(isl.UnionMap.from_map(part))
        return union.coalesce()

    previous = renamed([part for one in spec.statements for part in found.previous(one)])
    sources, following = {}, {}
    for group in groups:
        for number, read in enumerate(group.first.reads):
            if read.array not in found.arrays:
                continue
            source = renamed([part for one in group.members for part in found.before[one.name][number]])
            cells = isl.UnionMap.from_map(_touched(group, number))
            fresh = cells.subtract_domain(source.domain())
            first = renamed(found.arrays[read.array].first)
            sources[group.number, number] = source
            following[group.number, number] = source.apply_range(previous.reverse()).union(
                fresh.apply_range(first)
            )
    free = {one.number: solve(subscripts(one.first), one.depth).free for one in groups}
    return Original(scheme, previous, sources, following, free)


def _touched(group: Group, read: int | None) -> isl.Map:
    """{ G[x] -> A[cell] } of the write or of a read."""

    def of(statement: Stated) -> FixedAccess:
        return statement.write if read is None else statement.reads[read]

    parts = [of(one).relation.set_tuple_name(IN, _tuple(group)) for one in group.members]
    return union(parts).coalesce()


@dataclass(frozen=True)
class _BulkRun:
    """An operation of a nest, the group it is assumed to belong to, and { [v] -> G[x] }."""

    operation: Operation
    group: Group
    instances: isl.Map


def in_bulk(known: Original, nest: CheckedNest) -> Bulk | None:
    """Return the checks of the nest as a whole; None if it has none.  isl.Error after too long."""
    groups = [_group(known.scheme, operation) for operation in nest.operations]
    chosen = [group for group in groups if group is not None]
    if len(chosen) != len(groups):
        return None
    plain = [
        _BulkRun(operation, group, _matching(operation, group))
        for operation, group in zip(nest.operations, chosen, strict=True)
    ]
    possible = _starts(nest).subtract(_union_of_params([_no_instance(run) for run in plain]))
    best: tuple[Bulk, isl.Set] | None = None
    for way in _ways(known, nest, plain):
        runs, guesses = _guessed(known, plain, way)
        found = _checked(known, nest, runs, guesses)
        if found is None:
            continue
        right = _without_guesses(found)
        if best is None or best[1].is_strict_subset(right):
            best = found, right
        if possible.is_subset(right):
            break
    return None if best is None else best[0]


def _starts(nest: CheckedNest) -> isl.Set:
    """The p for which the nest executes at least one operation."""
    return _union_of_params([one.domain.params() for one in nest.operations])


def _without_guesses(bulk: Bulk) -> isl.Set:
    """The p for which the nest is correct provided that the guesses are."""
    right = _starts(bulk.nest).subtract(bulk.wrong)
    return without_parameters(right, [guess.name for guess in bulk.guesses])


def _group(scheme: CodeScheme, operation: Operation) -> Group | None:
    """The group a site is assumed to belong to: the first one that its subscripts are compatible with.

    Sites with iterators outside subscripts in their text are left out.
    """
    site = operation.site
    if any(name in one.statement.iterators for one in site.candidates for name, _ in one.holes):
        return None
    groups: dict[int, Group] = {}
    for one in site.candidates:
        group = group_of(scheme.groups, one.statement)
        if not group.domain.is_empty():
            groups.setdefault(group.number, group)
    if len(groups) == 1:
        return next(iter(groups.values()))
    ways = [(group, _matching(operation, group)) for group in groups.values()]
    fitting = [group for group, found in ways if operation.domain.is_subset(found.domain())]
    possible = [group for group, found in ways if not found.is_empty()]
    return next(iter((*fitting, *possible)), None)


@dataclass(frozen=True)
class _Way:
    """How to compute the iterators that occur in no subscript.

    The last such iterator of a site goes along with the last of `loops`, and so on; those for which
    there is none are invariant in the nest.  Sites of a group may share their guesses.
    """

    loops: tuple[int, ...]
    shared: bool


def _ways(known: Original, nest: CheckedNest, runs: Sequence[_BulkRun]) -> list[_Way]:
    """The ways to try, those with the fewest guesses first."""
    most = max(len(_hidden(known, run)) for run in runs)
    if most == 0:
        return [_Way((), shared=True)]
    depth = max(operation.domain.dim(DIM) for operation in nest.operations)
    once = all(
        operation.write.intersect_domain(operation.domain).is_injective() for operation in nest.operations
    )
    found = [loops for count in range(1, most + 1) for loops in combinations(range(depth), count)]
    directions = [(), *found] if once else [*found, ()]
    is_alone = len({run.group.number for run in runs}) == len(runs)
    ways = [_Way(loops, shared=True) for loops in directions]
    return ways if is_alone else [*ways, *(replace(way, shared=False) for way in ways)]


def _hidden(known: Original, run: _BulkRun) -> tuple[int, ...]:
    """The iterators that neither a subscript nor the domain determines."""
    return tuple(
        one for one in known.free[run.group.number] if not only(run.instances, OUT, one).is_single_valued()
    )


def _matching(operation: Operation, group: Group) -> isl.Map:
    """{ [v] -> G[x] }: the instances that touch the cells the operation touches."""
    instances = operation.write.apply_range(_touched(group, None).reverse())
    for number, cells in enumerate(operation.reads):
        if cells.dim(OUT):
            instances = instances.intersect(cells.apply_range(_touched(group, number).reverse()))
    return instances.intersect_domain(operation.domain).coalesce()


def _guessed(
    known: Original, runs: Sequence[_BulkRun], way: _Way
) -> tuple[list[_BulkRun], tuple[Guess, ...]]:
    """The operations as instances, including the iterators that occur in no subscript."""
    found: list[_BulkRun] = []
    guesses: dict[str, Guess] = {}
    for run in runs:
        instances = run.instances
        hidden = _hidden(known, run)
        first = run.operation.write.intersect_domain(run.operation.domain.lexmin())
        for position, iterator in enumerate(hidden, len(way.loops) - len(hidden)):
            along = way.loops[position] if position >= 0 else None
            owner = f"g{run.group.number}" if way.shared else str(run.operation.site.number)
            name = f"q{owner}_{iterator}"
            instances = _with_guess(instances, name, iterator, along)
            before = guesses.get(name, Guess(name, run.group, iterator, along, ()))
            guesses[name] = replace(before, firsts=(*before.firsts, first))
        found.append(replace(run, instances=instances))
    return found, tuple(guesses.values())


def _with_guess(instances: isl.Map, name: str, iterator: int, along: int | None) -> isl.Map:
    """`instances` with x[iterator] = name + v[along]."""
    position = instances.dim(PARAM)
    instances = instances.add_dims(PARAM, 1).set_dim_name(PARAM, position, name)
    equation = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(instances.get_space()))
    equation = equation.set_coefficient_val(OUT, iterator, isl.Val(1))
    equation = equation.set_coefficient_val(PARAM, position, isl.Val(-1))
    if along is not None and along < instances.dim(IN):
        equation = equation.set_coefficient_val(IN, along, isl.Val(-1))
    return instances.add_constraint(equation)


def _checked(
    known: Original, nest: CheckedNest, runs: Sequence[_BulkRun], guesses: tuple[Guess, ...]
) -> Bulk | None:
    if not all(run.instances.is_single_valued() for run in runs):
        return None
    own = (run.instances.reverse().apply_range(run.operation.time) for run in runs)
    times = union_map(own, isl.UnionMap("{ }").get_space())
    wrong = _union_of_params([_no_instance(run) for run in runs] + _out_of_order(known, runs, times))
    right = times.domain().params().subtract(wrong).coalesce()
    if right.is_empty():
        return None
    executed = times.domain().coalesce()
    if right.n_basic_set() == 1:
        executed = executed.intersect_params(right)
    return Bulk(nest, guesses, wrong, _entry_codes(known, runs, executed), _exit_codes(known, runs, executed))


def _union_of_params(parts: Sequence[isl.Set]) -> isl.Set:
    return union((isl.Set("{ : false }"), *parts)).coalesce()


def _no_instance(run: _BulkRun) -> isl.Set:
    """(1), the p for which some operation of the run is not an instance."""
    return run.operation.domain.subtract(run.instances.domain()).params()


def _pairs(times: isl.UnionMap, relation: isl.UnionMap) -> isl.UnionMap:
    """{ time of y -> time of z } for y, z in E with y -> z in `relation`."""
    return times.reverse().apply_range(relation).apply_range(times)


def _out_of_order(known: Original, runs: Sequence[_BulkRun], times: isl.UnionMap) -> list[isl.Set]:
    """The p for which an instance executes twice, or (2) or (3) does not hold."""
    groups = {run.group.number: run.group for run in runs}
    space = runs[0].operation.time.get_space().range()
    earlier, not_later = isl.Map.lex_gt(space), isl.Map.lex_le(space)
    found = [(times.reverse().apply_range(times), earlier), (_pairs(times, known.previous), not_later)]
    for (number, read), source in known.sources.items():
        group = groups.get(number)
        if group is None or _is_target(group, read):
            continue
        found.append((_pairs(times, source), not_later))
        found.append((_pairs(times, known.following[number, read]), earlier))
    return [pairs.intersect(isl.UnionMap.from_map(order)).params() for pairs, order in found]


def _is_target(group: Group, read: int) -> bool:
    """Whether a read accesses the cell that is written: then (3) is (2) and (5) is (4)."""
    first = group.first
    same = first.reads[read].array == first.write.array
    return same and bool(first.reads[read].relation.is_equal(first.write.relation))


def _entry_codes(known: Original, runs: Sequence[_BulkRun], executed: isl.UnionSet) -> tuple[isl.Set, ...]:
    """(4) and (5): { A[cell, code] }, one set an array."""
    scheme = known.scheme
    spec, found, codes = scheme.spec, scheme.found, scheme.codes
    parts: dict[str, list[isl.Set]] = {}
    for group in {run.group.number: run.group for run in runs}.values():
        here = _members(executed, group)
        first = here.subtract(_members(known.previous.intersect_range(executed).domain(), group))
        code = isl.Map.from_pw_aff(previous_code(spec, found, codes, group))
        parts.setdefault(group.first.write.array, []).append(
            _codes(first, _touched(group, None), code, group)
        )
        for number, read in enumerate(group.first.reads):
            source = known.sources.get((group.number, number))
            if source is None or _is_target(group, number):
                continue
            outside = here.subtract(_members(source.intersect_range(executed).domain(), group))
            code = isl.Map.from_pw_aff(source_code(spec, found, codes, group, number))
            parts.setdefault(read.array, []).append(_codes(outside, _touched(group, number), code, group))
    return _by_array(parts)


def _exit_codes(known: Original, runs: Sequence[_BulkRun], executed: isl.UnionSet) -> tuple[isl.Set, ...]:
    """(6): { A[cell, code] }, one set an array."""
    parts: dict[str, list[isl.Set]] = {}
    following = known.previous.reverse()
    for group in {run.group.number: run.group for run in runs}.values():
        here = _members(executed, group)
        last = here.subtract(_members(following.intersect_range(executed).domain(), group))
        code = isl.Map.from_pw_aff(own_code(known.scheme.codes, group))
        parts.setdefault(group.first.write.array, []).append(_codes(last, _touched(group, None), code, group))
    return _by_array(parts)


def _members(instances: isl.UnionSet, group: Group) -> isl.Set:
    """The instances of one group, { G[x] }."""
    space = group.domain.set_tuple_name(_tuple(group)).get_space()
    return instances.extract_set(space.align_params(instances.get_space()))


def _codes(instances: isl.Set, cells: isl.Map, code: isl.Map, group: Group) -> isl.Set:
    """{ A[cell, code] } of the instances; `code` is { [x] -> [code] }."""
    both = cells.flat_range_product(code.set_tuple_name(IN, _tuple(group)))
    return instances.apply(both.set_tuple_name(OUT, cells.get_tuple_name(OUT)))


def _by_array(parts: dict[str, list[isl.Set]]) -> tuple[isl.Set, ...]:
    totals = [union(sets) for sets in parts.values()]
    return tuple(total.coalesce() for total in totals if not total.is_empty())
