"""Quasi-affine functions: pieces of maps, coordinates, coefficients.

Greatest and least values isl (0.27) finds wrongly in some sets with divisions:

    { [z] : 0 <= z <= 6 and z < m - m mod 3 and z mod 3 = 0 }

has the greatest element 3 for m = 7, for which isl gives 0 where other dimensions are beside it.  It finds
some others to be empty when it looks for the least value.  So consequences of a bound are tested on the set,
and isl's results are checked.
"""

from __future__ import annotations

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.presburger.sets import DIM


def functions_of(relation: isl.Map) -> list[isl.MultiAff]:
    """The functions of the pieces of a single-valued map."""
    return [function for _, function in pieces_of_function(relation)]


def identity(points: isl.Set) -> isl.Map:
    """{ x -> x : x in points }."""
    return isl.Map.identity(points.get_space().map_from_set()).intersect_domain(points)


def coordinate(space: isl.Space, k: int) -> isl.Aff:
    """{ x -> x_k }, for the x of a space."""
    return isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), DIM, k)


def coefficient(function: isl.Aff | isl.Constraint, kind: isl.dim_type, k: int) -> int:
    """That of dimension `k` of a kind, where it is an integer."""
    return int(function.get_coefficient_val(kind, k).to_python())


def involved(function: isl.Aff, kind: isl.dim_type) -> list[int]:
    """The dimensions of a kind that a function has, integer divisions not looked into."""
    return [k for k in range(function.dim(kind)) if not function.get_coefficient_val(kind, k).is_zero()]


def is_between(values: isl.Set, first: isl.PwAff, end: isl.PwAff) -> bool:
    """Whether all of a set of integers are at least `first` and less than `end`."""
    assert values.dim(DIM) == 1
    low, high = (isl.Set.from_pw_aff(one) for one in (first, end))
    plain = values.reset_tuple_id()
    return bool(plain.lex_lt_set(low).is_empty() and plain.lex_ge_set(high).is_empty())


def pieces_of_function(function: isl.Map) -> list[tuple[isl.Set, isl.MultiAff]]:
    """A single-valued map as quasi-affine functions on disjoint domains.

    What equations do not show isl finds by least values.
    """
    found: list[tuple[isl.Set, isl.MultiAff]] = []

    def visit(domain: isl.Set, part: isl.MultiAff) -> None:
        found.append((domain, part))

    whole = isl.PwMultiAff.from_map(function)
    whole.foreach_piece(visit)
    if not (_has_equations(function) or function.is_subset(isl.Map.from_pw_multi_aff(whole))):
        raise InternalError(Code.ISL, "isl did not find the pieces of a function")
    return found


def _has_equations(function: isl.Map) -> bool:
    """Whether the map is one function, whose equations isl has, so that it looks for no least values."""
    return function.n_basic_map() == 1 and bool(function.plain_is_single_valued())
