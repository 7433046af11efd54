"""Generates expressions from quasi-affine functions, specialised to their place [Grosser2015, section 5.10].

isl writes integer division as ⌊a/m⌋.  C has `/` and `%`, which round towards zero, so the sign of `a` at the
place of evaluation determines the expression:

    f·m·⌊a/m⌋  =  f·a − f·(a mod m)                 and  a mod m = a % m       where a ≥ 0
    ⌊a/m⌋      =  (a + k·m)/m − k                   written `/`                where a + k·m ≥ 0
    ⌊a/m⌋      =  −⌊(−a + m − 1)/m⌋                 written `/`                where a ≤ m − 1
    ⌊a/m⌋                                           written `floord(a, m)`     otherwise
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, FloorDiv, Rem, TruncDiv, Var
from loopwright.loops.sums import LinearSum
from loopwright.loops.traverse import variables
from loopwright.presburger.named import whole
from loopwright.presburger.sets import DIV, IN, PARAM

# A shift by k·m must not drag the size of the data type into the expression.
LARGEST_SHIFT = 4096


@dataclass(frozen=True)
class EvaluationPlace:
    """The place of evaluation of an expression: the names of the dimensions and the known conditions."""

    names: tuple[str, ...]
    known: isl.Set

    def where(self, condition: isl.Set) -> EvaluationPlace:
        return replace(self, known=self.known.intersect(condition))

    def depth(self, expr: Expr) -> int:
        """The level of the innermost iterator in `expr`: -1 if it has only parameters, -2 if constants."""
        depths = {name: level for level, name in enumerate(self.names)}
        return max((depths.get(name, -1) for name in variables(expr)), default=-2)


def written(total: LinearSum) -> Expr:
    """A positive term first, if there is one, then the terms in their order, the constant last.

    They are in the order of the loops, so that compilers can hoist invariants of inner loops.
    """
    terms = total.terms
    first = next((k for k, (coefficient, _) in enumerate(terms) if coefficient > 0), 0)
    ordered = (*terms[first : first + 1], *terms[:first], *terms[first + 1 :])
    return LinearSum(ordered, total.constant).expr()


def _leads_positive(total: LinearSum) -> bool:
    """Whether at least half of the terms are positive."""
    return 2 * sum(coefficient < 0 for coefficient, _ in total.terms) <= len(total.terms)


def expression(function: isl.Aff, place: EvaluationPlace) -> Expr:
    """An expression with the value of `function` wherever `place` is reached."""
    return written(linear(function, place))


def linear(function: isl.Aff, place: EvaluationPlace) -> LinearSum:
    """`function` as a sum; a common denominator divides exactly at `place`."""
    denominator = function.get_denominator_val().to_python()
    if denominator == 1:
        return _integral(function, place)
    scaled = _integral(function.scale_val(function.get_denominator_val()), place)
    outside = LinearSum(tuple((c // denominator, t) for c, t in scaled.terms if c % denominator == 0), 0)
    inside = LinearSum(tuple((c, t) for c, t in scaled.terms if c % denominator), scaled.constant)
    if not inside.terms:
        return outside.plus_constant(inside.constant // denominator)
    inside, moved = _best_constants(inside, denominator, 0, 1, None)
    sign = 1 if _leads_positive(inside) else -1  # an exact quotient changes its sign with its dividend
    quotient = TruncDiv(written(inside if sign == 1 else inside.negated()), denominator)
    return outside.plus_term(sign, quotient).plus_constant(moved)


def _integral(function: isl.Aff, place: EvaluationPlace) -> LinearSum:
    """A sum with integer coefficients: the linear part, then each ⌊a/m⌋."""
    result = LinearSum(_affine_terms(function, place), function.get_constant_val().to_python())
    for position in range(function.dim(DIV)):
        coefficient = function.get_coefficient_val(DIV, position).to_python()
        if coefficient:
            result = _add_floor(result, coefficient, function.get_div(position), place)
    return result


def _affine_terms(function: isl.Aff, place: EvaluationPlace) -> tuple[tuple[int, Expr], ...]:
    """The parameters and then the iterators, each with its coefficient."""
    if function.is_cst():
        return ()
    params = [function.get_dim_name(PARAM, k) or "" for k in range(function.dim(PARAM))]
    return tuple(
        (coefficient.to_python(), Var(name))
        for kind, names in ((PARAM, params), (IN, place.names))
        for k, name in enumerate(names)
        if not (coefficient := function.get_coefficient_val(kind, k)).is_zero()
    )


def _add_floor(total: LinearSum, coefficient: int, division: isl.Aff, place: EvaluationPlace) -> LinearSum:
    """total + coefficient · ⌊a/m⌋ with division = a/m."""
    divisor = division.get_denominator_val().to_python()
    dividend = division.scale_val(division.get_denominator_val())
    sides = [(coefficient, dividend), (-coefficient, _opposite(dividend, divisor))]
    if not _leads_positive(linear(dividend, place)):
        sides.reverse()
    for factor, argument in sides:
        least = _least_shift(argument, divisor, place)
        if least is not None:
            return _add_quotient(total, factor, linear(argument, place), divisor, least)
    factor, argument = sides[0]
    inside, moved = _best_constants(linear(argument, place), divisor, total.constant, factor, None)
    return total.plus_term(factor, FloorDiv(written(inside), divisor)).plus_constant(factor * moved)


def _add_quotient(total: LinearSum, factor: int, dividend: LinearSum, divisor: int, least: int) -> LinearSum:
    """total + factor · ⌊dividend/divisor⌋, the dividend not negative once `least` divisors are added."""
    if factor % divisor == 0:
        # f·m·⌊a/m⌋ = f·a − f·(a mod m), if the sum does not get longer by it
        reduced = total.plus(dividend, factor // divisor)
        if len(reduced.terms) <= len(total.terms):
            shift = max(least, _nearest_shift(dividend.constant, divisor))
            shifted = dividend.plus_constant(shift * divisor)
            return reduced.plus_term(-(factor // divisor), Rem(written(shifted), divisor))
    inside, moved = _best_constants(dividend, divisor, total.constant, factor, least)
    return total.plus_term(factor, TruncDiv(written(inside), divisor)).plus_constant(factor * moved)


def _best_constants(
    dividend: LinearSum, divisor: int, outside: int, factor: int, least: int | None
) -> tuple[LinearSum, int]:
    """(a + k·m, −k) for a k, at least `least`: outside + factor · (⌊(a + k·m)/m⌋ − k) is the same for all k.

    The best text has one zero constant, and a small one inside.
    """
    constant = dividend.constant
    nearest = _nearest_shift(constant, divisor)
    small = [k for k in (0, outside // factor) if abs(k) * divisor <= LARGEST_SHIFT]
    candidates = [k if least is None else max(k, least) for k in (nearest, *small)]

    def cost(k: int) -> tuple[int, int, int, int]:
        inner, outer = constant + k * divisor, outside - factor * k
        return (inner != 0) + (outer != 0), abs(inner), abs(outer), -k

    best = min(candidates, key=cost)
    return dividend.plus_constant(best * divisor), -best


def _nearest_shift(constant: int, divisor: int) -> int:
    """The k for which constant + k·divisor is nearest to zero."""
    return -((2 * constant + divisor - 1) // (2 * divisor))


def _opposite(dividend: isl.Aff, divisor: int) -> isl.Aff:
    """b = −a + m − 1, for which ⌊a/m⌋ = −⌊b/m⌋."""
    amount = whole(divisor - 1)
    return dividend.neg().add_constant_val(amount)


def _least_shift(dividend: isl.Aff, divisor: int, place: EvaluationPlace) -> int | None:
    """The least k with dividend + k·divisor ≥ 0 at `place`, if it is small."""
    least = minimum(dividend, place)
    if least is None:
        return None
    needed = -(least // divisor)
    return None if needed * divisor > LARGEST_SHIFT else needed


def minimum(function: isl.Aff, place: EvaluationPlace) -> int | None:
    """The least integer value of `function` at `place`, if there is one."""
    value = place.known.min_val(function)
    if value.is_nan():  # the place is never reached
        return 0
    return value.floor().to_python() if value.is_rat() else None
