"""Which coordinates are affine functions of others: linear algebra on isl's affine hulls."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import islpy as isl

Row: TypeAlias = list[Fraction]


@dataclass(frozen=True)
class AffineForm:
    """`coefficients` · p + `rest` · (parameters, 1), for vectors p of iterators."""

    coefficients: tuple[Fraction, ...]
    rest: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class AffineValues:
    """What equalities say of a relation [p] -> [t].

    `forms` has each t_k as an affine function of p, where it is one.  Of the functions equal on
    the relation it is the one in the outermost iterators.  `known` are the equalities of p alone:
    for each iterator that depends on others, counted from the innermost, a row with a 1 for it;
    the columns are p from the innermost, the parameters, 1.
    """

    forms: tuple[AffineForm | None, ...]
    known: dict[int, Row]

    def normal(self, form: AffineForm) -> AffineForm:
        """The function in the outermost iterators that is equal to `form` on the relation."""
        row: Row = [*reversed(form.coefficients), *form.rest]
        for column, unit in self.known.items():
            row = _without(row, column, unit)
        depth = len(form.coefficients)
        return AffineForm(tuple(reversed(row[:depth])), tuple(row[depth:]))


def affine_values(relation: isl.Map) -> AffineValues:
    """What the affine hull of a relation [p] -> [t] says of t and of p."""
    depth, width = relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out)
    hidden, rows = _equalities(relation)
    first = hidden + width
    reduced = reduced_rows(rows, first + depth)
    known = {column - first: row[first:] for column, row in reduced.items() if column >= first}
    return AffineValues(tuple(_form(reduced, hidden, k, width, depth) for k in range(width)), known)


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
    hull = relation.affine_hull()
    hidden = hull.dim(isl.dim_type.div)
    depth, width = hull.dim(isl.dim_type.in_), hull.dim(isl.dim_type.out)
    order = (isl.dim_type.div, isl.dim_type.out, isl.dim_type.in_, isl.dim_type.param, isl.dim_type.cst)
    matrix = hull.equalities_matrix(*order)
    columns = list(range(matrix.cols()))
    first = hidden + width
    columns[first : first + depth] = reversed(columns[first : first + depth])
    rows = [
        [Fraction(matrix.get_element_val(row, column).to_python()) for column in columns]
        for row in range(matrix.rows())
    ]
    return hidden, rows


def reduced_rows(rows: list[Row], pivots: int) -> dict[int, Row]:
    """Gauss and Jordan: each of the first `pivots` columns that can be solved for, with its row."""
    solved: dict[int, Row] = {}
    left = [list(row) for row in rows]
    for column in range(pivots):
        row = next((row for row in left if row[column]), None)
        if row is None:
            continue
        left.remove(row)
        lead = row[column]
        unit = [entry / lead for entry in row]
        left = [_without(other, column, unit) for other in left]
        solved = {at: _without(other, column, unit) for at, other in solved.items()}
        solved[column] = unit
    return solved


def _without(row: Row, column: int, unit: Row) -> Row:
    """`row` with `column` eliminated by the row `unit`, which has a 1 there."""
    factor = row[column]
    return [a - factor * b for a, b in zip(row, unit, strict=True)] if factor else row


def _form(reduced: dict[int, Row], hidden: int, k: int, width: int, depth: int) -> AffineForm | None:
    row = reduced.get(hidden + k)
    if row is None or any(row[column] for column in range(hidden + width) if column != hidden + k):
        return None
    inner_first = row[hidden + width : hidden + width + depth]
    rest = row[hidden + width + depth :]
    return AffineForm(tuple(-entry for entry in reversed(inner_first)), tuple(-entry for entry in rest))


def graph_of(form: AffineForm, domain: isl.Set) -> isl.Map:
    """{ p -> [t] : t = form(p) } on a domain of as many iterators as the form has."""
    scale = lcm(*(entry.denominator for entry in (*form.coefficients, *form.rest)))
    space = domain.get_space().from_domain().add_dims(isl.dim_type.out, 1)
    equal = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(space))
    equal = equal.set_coefficient_val(isl.dim_type.out, 0, -scale)
    for kind, entries in ((isl.dim_type.in_, form.coefficients), (isl.dim_type.param, form.rest[:-1])):
        for k, entry in enumerate(entries):
            equal = equal.set_coefficient_val(kind, k, int(entry * scale))
    equal = equal.set_constant_val(int(form.rest[-1] * scale))
    return isl.Map.universe(space).add_constraint(equal).intersect_domain(domain)
