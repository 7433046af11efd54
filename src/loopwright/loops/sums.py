"""Expressions of LOOP as sums: constant + Σ coefficient · term."""

from __future__ import annotations

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int, Scaled, Sum


@dataclass(frozen=True)
class LinearSum:
    """constant + Σ coefficient · term, the terms distinct expressions without a constant factor."""

    terms: tuple[tuple[int, Expr], ...] = ()
    constant: int = 0

    def plus(self, other: LinearSum, factor: int = 1) -> LinearSum:
        collected = {term: coefficient for coefficient, term in self.terms}
        for coefficient, term in other.terms:
            collected[term] = collected.get(term, 0) + factor * coefficient
        return _sum_of(collected, self.constant + factor * other.constant)

    def plus_term(self, coefficient: int, term: Expr) -> LinearSum:
        return self.plus(LinearSum(((coefficient, term),)))

    def plus_constant(self, constant: int) -> LinearSum:
        return LinearSum(self.terms, self.constant + constant)

    def plus_expr(self, factor: int, expr: Expr) -> LinearSum:
        """The sum plus factor · expr, with the sums and multiples inside of it expanded."""
        collected = {term: coefficient for coefficient, term in self.terms}
        constant = _collected(expr, factor, collected)
        return _sum_of(collected, self.constant + constant)

    def negated(self) -> LinearSum:
        return LinearSum().plus(self, -1)

    def expr(self) -> Expr:
        """The terms in their order, the constant last."""
        parts = [term if coefficient == 1 else Scaled(coefficient, term) for coefficient, term in self.terms]
        if self.constant or not parts:
            parts.append(Int(self.constant))
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def _sum_of(collected: dict[Expr, int], constant: int) -> LinearSum:
    return LinearSum(tuple((factor, term) for term, factor in collected.items() if factor), constant)


def _collected(expr: Expr, factor: int, terms: dict[Expr, int]) -> int:
    """Adds the terms of factor · expr to `terms`; returns its constant."""
    match expr:
        case Int(number):
            return factor * number
        case Sum(parts):
            return sum(_collected(part, factor, terms) for part in parts)
        case Scaled(by, argument):
            return _collected(argument, factor * by, terms)
        case _:
            terms[expr] = terms.get(expr, 0) + factor
            return 0


def difference(left: Expr, right: Expr) -> LinearSum:
    """left − right."""
    return LinearSum().plus_expr(1, left).plus_expr(-1, right)
