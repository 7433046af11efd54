"""Which coordinates are affine functions of others: linear algebra on isl's affine hulls."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import islpy as isl

Row: TypeAlias = list[Fraction]


@dataclass(frozen=True)
class AffineForm:
    """`coefficients` · p + `rest` · (parameters, 1), for vectors p of iterators."""

    coefficients: tuple[Fraction, ...]
    rest: tuple[Fraction, ...]


def affine_forms(relation: isl.Map) -> tuple[AffineForm | None, ...]:
    """For a relation [p] -> [t], each t_k as an affine function of p on the relation, where it is one.

    Of the equal functions it is the one in the outermost iterators: inner iterators that depend
    on outer ones have been replaced.
    """
    depth, width = relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out)
    hidden, rows = _equalities(relation)
    reduced = reduced_rows(rows, hidden + width + depth)
    return tuple(_form(reduced, hidden, k, width, depth) for k in range(width))


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
    """The affine hull's equalities; the columns are hidden variables, t, p from the innermost, parameters, 1."""
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
