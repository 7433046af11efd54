"""Computes iterators from observed subscripts: LIN(S) · x = RHS(S) of [Bao2016, section 4.2], solved in
advance."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.equalities import reduced_rows
from loopwright.presburger.functions import involved
from loopwright.presburger.sets import DIV, IN, OUT

Row = tuple[int, ...]


@dataclass(frozen=True)
class Solution:
    """x_k = Σ weights[k][j] · (value of row rows[j] − constants[j]) for every iterator k.

    A row is the position of an observed value, or, from `observed` on, an iterator that the observed values
    do not determine: `free` are these iterators.
    """

    rows: tuple[int, ...]
    weights: tuple[tuple[Fraction, ...], ...]
    constants: tuple[int, ...]
    free: tuple[int, ...]

    @property
    def is_integral(self) -> bool:
        """Whether no division is needed."""
        return all(weight.denominator == 1 for row in self.weights for weight in row)


def linear_row(function: isl.PwAff, depth: int) -> tuple[Row, int] | None:
    """Return coefficients and constant of a function that equals one affine expression without divisions."""
    affine = _on_all_pieces(function.coalesce().get_pieces())
    if affine is None:
        return _on_affine_hull(function, depth)
    if affine.get_denominator_val().to_python() != 1 or involved(affine, DIV):
        return None
    row = tuple(affine.get_coefficient_val(IN, k).to_python() for k in range(depth))
    return row, affine.get_constant_val().to_python()


def _on_all_pieces(pieces: Sequence[tuple[isl.Set, isl.Aff]]) -> isl.Aff | None:
    """The function of one piece that is correct on the others too."""
    for _, candidate in pieces:
        others = [(domain, other) for domain, other in pieces if other is not candidate]
        if all(domain.is_subset(candidate.eq_set(other)) for domain, other in others):
            return candidate
    return None


def _on_affine_hull(function: isl.PwAff, depth: int) -> tuple[Row, int] | None:
    """An equation v = Σ a_k · x_k + b that all points of the graph satisfy, if there is one."""
    hull = isl.Map.from_pw_aff(function).affine_hull()
    if hull.is_empty() or hull.dim(DIV):
        return None
    for equation in hull.get_constraints():
        sign = equation.get_coefficient_val(OUT, 0).to_python() if equation.is_equality() else 0
        if abs(sign) == 1:
            row = tuple(-sign * equation.get_coefficient_val(IN, k).to_python() for k in range(depth))
            return row, -sign * equation.get_constant_val().to_python()
    return None


def solve(functions: Sequence[isl.PwAff], depth: int) -> Solution:
    """Choose enough of the values o_k = f_k(x) to determine x, and list the iterators they do not
    determine."""
    chosen: list[int] = []
    matrix: list[Row] = []
    constants: list[int] = []
    for position, function in enumerate(functions):
        linear = linear_row(function, depth)
        if linear is not None and _rank([*matrix, linear[0]]) > len(matrix):
            chosen.append(position)
            matrix.append(linear[0])
            constants.append(linear[1])
    free: list[int] = []
    for iterator in range(depth):
        unit = tuple(int(k == iterator) for k in range(depth))
        if _rank([*matrix, unit]) > len(matrix):
            free.append(iterator)
            matrix.append(unit)
            constants.append(0)
            chosen.append(len(functions) + iterator)
    return Solution(tuple(chosen), _inverse(matrix), tuple(constants), tuple(free))


def _rank(rows: Sequence[Row]) -> int:
    return len(reduced_rows([*map(list, rows)], len(rows[0])))


def _inverse(matrix: Sequence[Row]) -> tuple[tuple[Fraction, ...], ...]:
    size = len(matrix)
    widened = [[*row, *(int(k == index) for k in range(size))] for index, row in enumerate(matrix)]
    solved = reduced_rows(widened, size)
    return tuple(tuple(Fraction(entry, solved[k][k]) for entry in solved[k][size:]) for k in range(size))


def solution_to_c(solution: Solution, values: dict[int, str]) -> tuple[str, ...]:
    """Return each iterator as C; `values` has the C expression of each chosen row."""
    return tuple(_weighted(solution, weights, values) for weights in solution.weights)


def _weighted(solution: Solution, weights: tuple[Fraction, ...], values: dict[int, str]) -> str:
    scale = lcm(*(weight.denominator for weight in weights))
    constant = 0
    terms: list[str] = []
    for row, weight, offset in zip(solution.rows, weights, solution.constants, strict=True):
        factor = int(weight * scale)
        if factor:
            terms.append(values[row] if factor == 1 else f"{factor} * {values[row]}")
            constant -= factor * offset
    if constant or not terms:
        terms.append(str(constant))
    text = " + ".join(terms).replace("+ -", "- ")
    return text if scale == 1 else f"({text}) / {scale}"


def fits_int(function: isl.PwAff, extent: Sequence[tuple[int, int]]) -> bool:
    """Whether no sum of terms of the function overflows an int for iterators in `extent`."""
    for _, affine in function.get_pieces():
        if affine.get_denominator_val().to_python() != 1 or involved(affine, DIV):
            return False
        largest = abs(affine.get_constant_val().to_python())
        for k, (low, high) in enumerate(extent):
            largest += abs(affine.get_coefficient_val(IN, k).to_python()) * max(abs(low), abs(high))
        if largest >= 1 << 30:
            return False
    return True
