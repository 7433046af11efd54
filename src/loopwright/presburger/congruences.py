"""Residues: sets whose points have a coordinate in one class modulo a constant."""

from __future__ import annotations

from typing import TypeAlias

import islpy as isl

from loopwright.presburger.equalities import affine_hull

Modulus: TypeAlias = tuple[int, int]
"""A coordinate and what it is taken modulo; modulo 0 it is the value itself."""
Residues: TypeAlias = dict[Modulus, int]


def residues(points: isl.Set) -> Residues:
    """Residues that all points have, read off the equalities of the affine hull."""
    hull = affine_hull(isl.Map.from_range(points)).range()
    count, hidden = hull.dim(isl.dim_type.set), hull.dim(isl.dim_type.div)
    order = (isl.dim_type.set, isl.dim_type.param, isl.dim_type.div, isl.dim_type.cst)
    matrix = hull.equalities_matrix(*order)
    found: Residues = {}
    for number in range(matrix.rows()):
        row = [int(matrix.get_element_val(number, k).to_python()) for k in range(matrix.cols())]
        axes = [k for k, entry in enumerate(row[: -1 - hidden]) if entry]
        factors = [abs(entry) for entry in row[-1 - hidden : -1] if entry]
        if len(axes) == 1 and axes[0] < count and abs(row[axes[0]]) == 1 and len(factors) <= 1:
            modulus = factors[0] if factors else 0
            value = -row[-1] * row[axes[0]]
            found[axes[0], modulus] = value % modulus if modulus else value
    return found


def are_apart(one: Residues, other: Residues) -> bool:
    """Whether points with these residues cannot be the same.  False is not an answer."""
    return any(other.get(modulus, value) != value for modulus, value in one.items())


def in_class(points: isl.Set, modulus: Modulus, value: int) -> isl.Set:
    """The points with this residue, the modulus positive."""
    axis, divisor = modulus
    space = isl.LocalSpace.from_space(points.get_space())
    coordinate = isl.Aff.var_on_domain(space, isl.dim_type.set, axis)
    remainder = coordinate.mod_val(isl.Val.read_from_str(points.get_ctx(), str(divisor)))
    wanted = isl.Val.read_from_str(points.get_ctx(), str(value))
    return points.intersect(remainder.eq_set(isl.Aff.val_on_domain_space(points.get_space(), wanted)))
