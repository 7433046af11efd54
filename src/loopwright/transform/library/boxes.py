"""Computes the points that accesses touch in an iteration, with affine bounds; each point is a cell.

    by cells    { [t, c] }    a point is a cell, at index c - l(t) of a copy
    by loops    { [t, u] }    a point is an iteration of the loops u that the cell A[f(t, u)] depends on, and
                              its index is u - l(t): each thread that runs u has its own index
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import first
from loopwright.presburger.functions import coordinate, functions_of, involved
from loopwright.presburger.named import parameter_names
from loopwright.presburger.sets import DIM, DIV, IN, OUT, PARAM, union
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import iteration_numbers, loops_of


@dataclass(frozen=True, eq=False)
class PackedAccess:
    """An access of a statement at one position, and the schedule of the statement there."""

    statement: Statement
    access: Access
    piece: isl.Map


@dataclass(frozen=True, eq=False)
class Box:
    """`points` { [t, p] } are copied; from `lows`, functions of t, there are `extents` of each coordinate.

    `cells` are the subscripts of A[c] as functions of (t, p); `loops` the loops that p counts, if it does.
    """

    points: isl.Set
    lows: tuple[isl.Aff, ...]
    extents: tuple[isl.Aff, ...]
    cells: tuple[isl.Aff, ...]
    loops: tuple[int, ...] | None = None

    @property
    def rank(self) -> int:
        return len(self.lows)

    def coordinate(self, one: PackedAccess, k: int) -> isl.PwAff:
        """{ S[i] -> p_k } of an access."""
        if self.loops is None:
            relation = one.access.relation.intersect_domain(one.statement.domain)
            return isl.PwMultiAff.from_map(relation).get_pw_aff(k)
        numbers = iteration_numbers(one.piece, self.loops[k] + 1)
        return isl.PwMultiAff.from_map(numbers).get_pw_aff(self.loops[k])


def box_of_cells(program: Program, accesses: Sequence[PackedAccess], depth: int, name: str) -> Box:
    """The cells of an iteration of the loops around the copy, with affine bounds."""
    points = touched_cells(program, accesses, depth)
    lows, extents = _bounds_of(points, depth, name)
    cells = [coordinate(points.get_space(), k) for k in range(depth, points.dim(DIM))]
    return Box(points, lows, extents, tuple(cells))


def box_of_loops(program: Program, accesses: Sequence[PackedAccess], depth: int, name: str) -> Box:
    """The iterations of the loops inside of the copy's on which the cell depends, and bounds of them."""
    functions, *others = [_cell_function(one, name) for one in accesses]
    if any(not a.plain_is_equal(b) for one in others for a, b in zip(functions, one, strict=True)):
        message = f"the accesses to {name} are to several cells in an iteration"
        raise Misuse(Code.STORAGE, message, argument="registers", hint="pack statements of one access each")
    inner = tuple(
        k
        for k in range(depth, functions[0].dim(IN))
        if any(not one.get_coefficient_val(IN, k).is_zero() for one in functions)
    )
    points = touched_points(program, accesses, depth, inner)
    lows, extents = _bounds_of(points, depth, name)
    cells = tuple(on_points(one, points.get_space(), (*range(depth), *inner)) for one in functions)
    return Box(points, lows, extents, cells, inner)


def touched_cells(program: Program, accesses: Sequence[PackedAccess], depth: int) -> isl.Set:
    """{ [t, c] : an access touches cell c in iteration t = (t1, ..., td) of the loops around the copy }."""
    found: list[isl.Set] = []
    for one in accesses:
        times = iteration_numbers(one.piece, depth)
        touched = times.reverse().apply_range(one.access.relation).intersect_params(program.context)
        found.append(touched.reset_tuple_id(OUT).wrap().flatten())
    return _together(found)


def touched_points(
    program: Program, accesses: Sequence[PackedAccess], depth: int, inner: tuple[int, ...]
) -> isl.Set:
    """{ [t, u] : an access executes in iteration t of the loops around the copy and u of `inner` loops }."""
    found: list[isl.Set] = []
    for one in accesses:
        loops = loops_of(one.piece)
        numbers = iteration_numbers(one.piece, loops).range().intersect_params(program.context)
        for k in reversed(range(depth, loops)):
            if k not in inner:
                numbers = numbers.project_out(DIM, k, 1)
        found.append(numbers)
    return _together(found)


def _together(found: Sequence[isl.Set]) -> isl.Set:
    return union(found).coalesce().remove_redundancies()


def _cell_function(one: PackedAccess, name: str) -> tuple[isl.Aff, ...]:
    """{ [j] -> c } of the iteration numbers, without divisions."""
    numbers = iteration_numbers(one.piece, loops_of(one.piece))
    relation = numbers.reverse().apply_range(one.access.relation.intersect_domain(one.statement.domain))
    found = functions_of(relation)
    functions = [found[0].get_at(k) for k in range(found[0].dim(OUT))]
    if len(found) > 1 or any(one.dim(DIV) for one in functions):
        message = f"the cell of {name} is not an affine function of the loops"
        raise Misuse(Code.STORAGE, message, argument="registers")
    return tuple(functions)


def _bounds_of(points: isl.Set, depth: int, name: str) -> tuple[tuple[isl.Aff, ...], tuple[isl.Aff, ...]]:
    """Lower bounds and extents of the coordinates."""
    found = [_extent(points, depth, k, name) for k in range(depth, points.dim(DIM))]
    return tuple(low for low, _ in found), tuple(extent for _, extent in found)


def _extent(cells: isl.Set, depth: int, k: int, name: str) -> tuple[isl.Aff, isl.Aff]:
    """A lower bound of subscript k in terms of t, and the least constant bound on their number."""
    best: tuple[tuple[int, int], isl.Aff, isl.Aff] | None = None
    for low in _lower_bounds(cells, depth, k):
        space = cells.get_space()
        distance = coordinate(space, k).sub(on_points(low, space)).add_constant_val(isl.Val(1))
        numbers = cells.apply(isl.Map.from_aff(distance))
        for bound in _upper_bounds(numbers):
            weight = parameter_count(bound), int(bound.get_constant_val().to_python())
            if best is None or weight < best[0]:
                best = weight, low, bound
    if best is None:
        message = f"the cells of {name} that are read in an iteration have no affine bounds"
        raise Misuse(Code.STORAGE, message, argument="variable")
    return best[1], best[2]


def _lower_bounds(cells: isl.Set, depth: int, k: int) -> list[isl.Aff]:
    """Functions of t that are lower bounds of subscript k."""
    others = cells.project_out(DIM, k + 1, cells.dim(DIM) - k - 1).project_out(DIM, depth, k - depth)
    found: list[isl.Aff] = []
    for constraint in others.compute_divs().simple_hull().remove_unknown_divs().get_constraints():
        if not _bounds(constraint, depth, below=True):
            continue
        bound = constraint.get_bound(DIM, depth)
        if not bound.dim(DIV) and bound.get_denominator_val().is_one():
            numbers = first(others, DIM, depth).get_space()
            found.append(on_points(bound, numbers))
    return found


def _bounds(constraint: isl.Constraint, k: int, *, below: bool) -> bool:
    """Whether it is a bound of dimension k itself, not of a multiple of it."""
    factor = constraint.get_coefficient_val(DIM, k)
    unit = factor.is_one() or factor.is_negone()
    right = constraint.is_equality() or factor.is_one() == below
    return unit and right and not constraint.is_div_constraint()


def parameter_count(bound: isl.Aff) -> int:
    """The number of parameters of a function."""
    return len(involved(bound, PARAM))


def on_points(function: isl.Aff, space: isl.Space, loops: Sequence[int] | None = None) -> isl.Aff:
    """A function of t as one of (t, p), or of t alone; of all iteration numbers as one of some."""
    result = on_space(function, space)
    for place, loop in enumerate(range(min(function.dim(IN), result.dim(IN))) if loops is None else loops):
        result = result.set_coefficient_val(IN, place, function.get_coefficient_val(IN, loop))
    return result


def on_space(function: isl.Aff, space: isl.Space) -> isl.Aff:
    """The constant and the parameters of a function, on another space."""
    result = isl.Aff.zero_on_domain_space(space.align_params(function.get_domain_space().params()))
    result = result.set_constant_val(function.get_constant_val())
    for p, name in enumerate(parameter_names(function.get_domain_space())):
        place = result.get_domain_space().find_dim_by_name(PARAM, name)
        result = result.set_coefficient_val(PARAM, place, function.get_coefficient_val(PARAM, p))
    return result


def _upper_bounds(numbers: isl.Set) -> list[isl.Aff]:
    found: list[isl.Aff] = []
    for hull in (numbers.compute_divs().coalesce().simple_hull(), numbers.remove_divs().simple_hull()):
        for constraint in hull.remove_unknown_divs().get_constraints():
            if not _bounds(constraint, 0, below=False):
                continue
            bound = constraint.get_bound(DIM, 0)
            if not bound.dim(DIV) and bound.get_denominator_val().is_one():
                found.append(bound)
    return found


def implied_subscripts(points: isl.Set, depth: int) -> set[int]:
    """The subscripts that follow from others in each iteration of the loops around, as along a diagonal."""
    implied: set[int] = set()
    own = range(points.dim(DIM) - depth)
    equal = [one for one in points.affine_hull().get_constraints() if one.is_equality()]
    for k in reversed(own):
        for one in equal:
            factors = [int(one.get_coefficient_val(DIM, depth + other).to_python()) for other in own]
            others = {other for other in own if factors[other] and other != k}
            if abs(factors[k]) == 1 and others and not others & implied:
                implied.add(k)
    return implied
