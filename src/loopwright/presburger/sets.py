"""Sets over schedule dimensions: projections, approximations and pieces.

Schedule dimensions have no names: a "level" is the position of the one that is being generated, counted
from the outermost.  For tuples in general see `dimensions`, for parameters `named`.

Unions over several spaces: made of sets and maps, and taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import islpy as isl

from loopwright.errors import Code, InternalError

DIM = isl.dim_type.set
PARAM = isl.dim_type.param
IN = isl.dim_type.in_
OUT = isl.dim_type.out
DIV = isl.dim_type.div


def integer(value: isl.Val) -> int:
    """An integer.  `get_num_si` answers 0 to what a machine word does not hold; text holds everything."""
    return value.get_num_si() or (0 if value.is_zero() else int(value.to_python()))


def eliminate_inner(domain: isl.Set, level: int) -> isl.Set:
    """Forget the dimensions inside `level`, keeping the space."""
    inner = domain.dim(DIM) - level - 1
    return domain.eliminate(DIM, level + 1, inner) if inner > 0 else domain


def eliminate_unknown(domain: isl.Set, level: int) -> isl.Set:
    """Fourier-Motzkin away what no loop bound at `level` can say [Grosser2015, section 5.2].

    Existential variables without an explicit form, and integer divisions that depend on the
    level itself, go; the result is an over-approximation without new disjuncts.

    isl 0.27 loses points of some sets here; written otherwise, the same set keeps them.
    """
    if not any(piece.dim(DIV) for piece in domain.get_basic_sets()):
        return domain
    for form in (isl.Set.copy, isl.Set.compute_divs, isl.Set.detect_equalities, isl.Set.remove_divs):
        found = form(domain).remove_unknown_divs().remove_divs_involving_dims(DIM, level, 1)
        if domain.is_subset(found):
            return found
    raise InternalError(Code.ISL, f"isl loses points of {domain} when it removes divisions")


def local_domain(domain: isl.Set, level: int) -> isl.Set:
    """The local schedule domain of [Grosser2015, section 5.2]: `domain` as loop bounds may describe it.

    Coalescing may replace two divisions by a variable without an explicit form, which then has to go.
    """
    local = eliminate_unknown(eliminate_inner(domain, level), level).coalesce()
    return eliminate_unknown(local, level)


def involves(piece: isl.Set | isl.BasicSet, level: int) -> bool:
    return bool(piece.involves_dims(DIM, level, 1))


def has_lower_bound(domain: isl.Set, level: int) -> bool:
    """Whether dimension `level` is bounded from below for given outer dimensions.

    isl takes an equality with a hidden variable for a bound, so that these have to go first.
    """
    return bool(domain.remove_divs().dim_has_lower_bound(DIM, level))


def has_upper_bound(domain: isl.Set, level: int) -> bool:
    """Whether dimension `level` is bounded from above for given outer dimensions."""
    return bool(domain.remove_divs().dim_has_upper_bound(DIM, level))


Points = TypeVar("Points", isl.Set, isl.Map, isl.UnionMap)


def union(sets: Iterable[Points]) -> Points:
    """The union of at least one set, or of maps."""
    items = list(sets)
    result = items[0]
    for item in items[1:]:
        result = result.union(item)
    return result


def box(points: isl.Set) -> isl.Set:
    """{ x : for each k there is a point with this x_k }."""
    result = isl.Set.universe(points.get_space())
    count = points.dim(DIM)
    for k in range(count):
        result = result.intersect(points.eliminate(DIM, k + 1, count - k - 1).eliminate(DIM, 0, k))
    return result.coalesce()


def shared_constraints(domain: isl.Set) -> isl.BasicSet:
    """The constraints of the disjuncts that hold on all of `domain` (the simple hull)."""
    return domain.unshifted_simple_hull()


def basic_sets(domain: isl.Set) -> list[isl.BasicSet]:
    """The disjuncts, none of them empty."""
    return [piece for piece in domain.get_basic_sets() if not piece.is_empty()]


def disjoint_pieces(domain: isl.Set, level: int) -> list[isl.BasicSet]:
    """Split into disjoint disjuncts that loop bounds at `level` can describe.

    Each disjunct is approximated first; intervals that fit together become one, and single values
    then take their points away from the intervals, so that they are not swallowed by them.
    """
    pieces = [local for piece in basic_sets(domain) for local in basic_sets(_local(piece, level))]
    if len(pieces) < 2:
        return pieces
    values = [piece for piece in pieces if has_one_value(piece, level)]
    intervals = [piece.to_set() for piece in pieces if not has_one_value(piece, level)]
    values.sort(key=lambda piece: -equality_count(piece))
    pieces = values + (basic_sets(union(intervals).coalesce()) if intervals else [])
    taken = isl.Set.empty(domain.get_space())
    result: list[isl.BasicSet] = []
    for piece in pieces:
        rest = piece.to_set().subtract(taken).make_disjoint()
        result.extend(basic_sets(eliminate_unknown(rest, level)))
        taken = taken.union(piece.to_set())
    return merge_overlapping(result)


def _local(piece: isl.BasicSet, level: int) -> isl.Set:
    return eliminate_unknown(piece.to_set(), level)


def has_one_value(piece: isl.BasicSet, level: int) -> bool:
    """Whether an equality gives dimension `level` in terms of the outer ones."""
    return any(
        constraint.is_equality() and constraint.involves_dims(DIM, level, 1)
        for constraint in piece.get_constraints()
    )


def equality_count(piece: isl.BasicSet) -> int:
    return sum(bool(constraint.is_equality()) for constraint in piece.get_constraints())


def merge_overlapping(pieces: list[isl.BasicSet]) -> list[isl.BasicSet]:
    """Replace pieces that overlap by their shared constraints until none do."""
    result: list[isl.BasicSet] = []
    for piece in pieces:
        merged = piece
        while True:
            clash = next((k for k, other in enumerate(result) if not merged.is_disjoint(other)), None)
            if clash is None:
                break
            merged = shared_constraints(merged.to_set().union(result.pop(clash).to_set()))
        result.append(merged)
    return result


def before(domain: isl.Set, level: int) -> isl.Set:
    """The points that come before some point of `domain` at `level`, outer dimensions equal."""
    return domain.apply(_outer_equal(domain.get_space(), level).order_gt(IN, level, OUT, level))


def after(domain: isl.Set, level: int) -> isl.Set:
    """The points that come after some point of `domain` at `level`, outer dimensions equal."""
    return domain.apply(_outer_equal(domain.get_space(), level).order_lt(IN, level, OUT, level))


def _outer_equal(space: isl.Space, level: int) -> isl.Map:
    """{ x -> y : the dimensions outside `level` are equal }."""
    result = isl.Map.universe(space.map_from_set())
    for outer in range(level):
        result = result.equate(IN, outer, OUT, outer)
    return result


def value_map(domain: isl.Set, level: int) -> isl.Map:
    """{ x -> [x[level]] : x in domain }, the domain no longer depending on `level`."""
    result = isl.Map.from_domain(domain).add_dims(OUT, 1)
    return result.equate(IN, level, OUT, 0).eliminate(IN, level, 1)


def substitution(space: isl.Space, level: int, value: isl.Aff) -> isl.MultiAff:
    """The function that puts `value` for dimension `level` and keeps the others."""
    return isl.MultiAff.identity_on_domain_space(space).set_aff(level, value)


def constraint_count(domain: isl.Set) -> int:
    return sum(piece.n_constraint() for piece in domain.get_basic_sets())


@contextmanager
def isl_failures(what: str) -> Iterator[None]:
    """Raise failures of isl as `InternalError`; a context manager or decorator."""
    try:
        yield
    except isl.Error as failure:
        raise InternalError(Code.ISL, f"{what}: {failure}") from failure


_Result = TypeVar("_Result")


def within_effort(effort: int, work: Callable[[], _Result]) -> _Result:
    """The result of `work` within this number of isl operations, the same on any machine; or isl.Error."""
    context = isl.DEFAULT_CONTEXT
    before = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(effort)
    try:
        return work()
    finally:
        context.set_max_operations(before)
        context.reset_operations()


def union_set(sets: Iterable[isl.Set], space: isl.Space) -> isl.UnionSet:
    """All points of the sets; `space` has the parameters where there is none."""
    found = isl.UnionSet.empty(space)
    for one in sets:
        found = found.union(isl.UnionSet.from_set(one))
    return found


def union_map(maps: Iterable[isl.Map], space: isl.Space) -> isl.UnionMap:
    """All pairs of the maps; `space` has the parameters where there is none."""
    found = isl.UnionMap.empty(space)
    for one in maps:
        found = found.union(isl.UnionMap.from_map(one))
    return found


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, one a space."""
    found: list[isl.Set] = []
    union.foreach_set(found.append)
    return found


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, one a space."""
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return found


def sorted_maps(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, in an order that does not depend on hashing."""
    return sorted(maps_of(union), key=lambda one: str(one.get_space()))


def nonempty_maps(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union that relate something."""
    return [one for one in maps_of(union) if not one.is_empty()]
