"""Quasi-affine functions: those that a map is made of, coordinates, coefficients."""

from __future__ import annotations

import islpy as isl

from loopwright.presburger.extremes import pieces_of_function
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
