"""Finds coordinates that are affine functions of others, or constant modulo a number, by linear algebra on
isl's affine hulls.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass

Row: TypeAlias = list[int]
"""An equality: the sum of the entries times the columns' variables is 0."""


@dataclass(frozen=True)
class AffineForm:
    """(`coefficients` · p + `rest` · (parameters, 1)) / `denominator`, for vectors p of iterators.

    Equal functions are equal forms: the denominator is positive, no integer but 1 divides it and all
    the rest, and the coefficients of inner iterators that are 0 are left out.
    """

    coefficients: tuple[int, ...]
    rest: tuple[int, ...]
    denominator: int = 1


@dataclass(frozen=True, eq=False)
class AffineValues:
    """The consequences of the equalities of a relation [p] -> [t].

    `forms` has each t_k as an affine function of p, where it is one.  Of the functions equal on
    the relation it is the one in the outermost iterators.  `known` are the equalities of p alone,
    by the iterator they are solved for, counted from the innermost; the columns are p from the
    innermost, the parameters, 1.
    """

    depth: int
    forms: tuple[AffineForm | None, ...]
    known: dict[int, Row]

    def normal(self, form: AffineForm) -> AffineForm:
        """The function in the outermost iterators that is equal to `form`, one of p, on the relation."""
        left_out = [0] * (self.depth - len(form.coefficients))
        row: Row = [-form.denominator, *left_out, *reversed(form.coefficients), *form.rest]
        for column, equality in self.known.items():
            row = _without(row, column + 1, [0, *equality])
        return _solved_for_first(row, self.depth)


def affine_hull(relation: isl.Map) -> isl.BasicMap:
    """The equalities that hold on all of a relation, taking one disjunct after the other into account.

    isl's own hull of a union gives each disjunct the hidden variables of all others first: 19 disjuncts
    have been seen to take seconds that way, and 95 minutes.
    """
    hulls = [one.affine_hull() for one in relation.get_basic_maps()]
    if not hulls:
        return relation.affine_hull()
    return reduce(lambda one, other: one.union(other).affine_hull(), hulls)


def affine_values(relation: isl.Map) -> AffineValues:
    """The equalities of t and p in the affine hull of a relation [p] -> [t]."""
    depth, width = relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out)
    hidden, rows = _equalities(relation)
    first = hidden + width
    reduced = reduced_rows(rows, first + depth)
    known = {column - first: row[first:] for column, row in reduced.items() if column >= first}
    return AffineValues(depth, tuple(_form(reduced, hidden, k, width, depth) for k in range(width)), known)


def is_plainly_injective(relation: isl.Map) -> bool:
    """Whether equalities alone give p from t, for a relation [p] -> [t].  False is not an answer."""
    depth, width = relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out)
    hidden, rows = _equalities(relation)
    unknown = [row[:hidden] + row[hidden + width : hidden + width + depth] for row in rows]
    solved = reduced_rows(unknown, hidden + depth)
    return all(_solves(solved.get(hidden + k), hidden + k) for k in range(depth))


def _solves(row: Row | None, column: int) -> bool:
    return row is not None and not any(entry for at, entry in enumerate(row) if at != column)


def _equalities(relation: isl.Map) -> tuple[int, list[Row]]:
    """The affine hull's equalities; the columns are hidden variables, t, p from the innermost, parameters, 1.

    The number of hidden variables comes first.
    """
    hull = affine_hull(relation)
    hidden = hull.dim(isl.dim_type.div)
    depth, width = hull.dim(isl.dim_type.in_), hull.dim(isl.dim_type.out)
    end = depth + width
    return hidden, [
        [*row[end : end + hidden], *row[depth:end], *reversed(row[:depth]), *row[end + hidden :]]
        for row in _equality_rows(hull.wrap().flatten())
    ]


def _equality_rows(points: isl.BasicSet) -> list[Row]:
    """The columns are the dimensions, hidden variables, the parameters, 1.

    As a text in the format of PolyLib, where the first column is 0 for an equality: isl gives entries of its
    matrices one by one only, which takes four times as long.
    """
    printer = isl.Printer.to_str(points.get_ctx()).set_output_format(isl.format.POLYLIB)
    _, *lines = printer.print_basic_set(points).get_str().splitlines()
    return [[int(word) for word in line.split()[1:]] for line in lines if line.lstrip().startswith("0 ")]


def reduced_rows(rows: list[Row], pivots: int) -> dict[int, Row]:
    """Gauss and Jordan: each of the first `pivots` columns that can be solved for, with its row.

    The column's entry is 0 in all other rows, and positive in its own.
    """
    solved: dict[int, Row] = {}
    left = rows
    for column in range(pivots):
        row = next((row for row in left if row[column]), None)
        if row is None:
            continue
        pivot = row if row[column] > 0 else [-entry for entry in row]
        left = [_without(other, column, pivot) for other in left if other is not row]
        solved = {at: _without(other, column, pivot) for at, other in solved.items()}
        solved[column] = pivot
    return solved


def _without(row: Row, column: int, pivot: Row) -> Row:
    """`row` with `column` eliminated by the row `pivot`, whose entry there is positive."""
    factor, lead = row[column], pivot[column]
    if not factor:
        return row
    combined = [lead * a - factor * b for a, b in zip(row, pivot, strict=True)]
    divisor = gcd(*combined)
    return [entry // divisor for entry in combined] if divisor > 1 else combined


def _form(reduced: dict[int, Row], hidden: int, k: int, width: int, depth: int) -> AffineForm | None:
    row = reduced.get(hidden + k)
    if row is None or any(row[column] for column in range(hidden + width) if column != hidden + k):
        return None
    return _solved_for_first([row[hidden + k], *row[hidden + width :]], depth)


def _solved_for_first(row: Row, depth: int) -> AffineForm:
    """The first column's variable, from an equality whose next columns are p from the innermost."""
    divisor = gcd(*row) * (-1 if row[0] > 0 else 1)
    denominator, *rest = (entry // divisor for entry in row)
    outer_first = list(reversed(rest[:depth]))
    while outer_first and outer_first[-1] == 0:
        outer_first.pop()
    return AffineForm(tuple(outer_first), tuple(rest[depth:]), -denominator)


def graph_of(form: AffineForm, domain: isl.Set) -> isl.Map:
    """{ p -> [t] : t = form(p) } for the p of a domain, which has as many iterators as the form, or more."""
    space = domain.get_space().from_domain().add_dims(isl.dim_type.out, 1)
    equal = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(space))
    equal = equal.set_coefficient_val(isl.dim_type.out, 0, -form.denominator)
    for kind, entries in ((isl.dim_type.in_, form.coefficients), (isl.dim_type.param, form.rest[:-1])):
        for k, entry in enumerate(entries):
            equal = equal.set_coefficient_val(kind, k, entry)
    equal = equal.set_constant_val(form.rest[-1])
    return isl.Map.universe(space).add_constraint(equal).intersect_domain(domain)


Modulus: TypeAlias = tuple[int, int]
"""A coordinate and what it is taken modulo; modulo 0 it is the value itself."""
Residues: TypeAlias = dict[Modulus, int]


def residues(points: isl.Set) -> Residues:
    """Residues that all points have, read off the equalities of the affine hull."""
    hull = affine_hull(isl.Map.from_range(points)).range()
    count, hidden = hull.dim(isl.dim_type.set), hull.dim(isl.dim_type.div)
    found: Residues = {}
    for row in _equality_rows(hull):
        axes = [k for k, entry in enumerate([*row[:count], *row[count + hidden : -1]]) if entry]
        factors = [abs(entry) for entry in row[count : count + hidden] if entry]
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
