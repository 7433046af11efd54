"""Sums of products of names: what `(i * n + j) * m + k` is before it is known which of them are rows."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import number, variable, whole
from loopwright.presburger.sets import PARAM

Monomial = tuple[str, ...]
"""Sorted names; a square has its name twice."""


@dataclass(frozen=True)
class SumOfProducts:
    """`terms` by their coefficients; `atoms` are the functions that are no plain sums, by a name for each."""

    terms: Mapping[Monomial, int]
    atoms: Mapping[str, isl.PwAff]


def of_affine(value: isl.PwAff) -> SumOfProducts:
    """A sum by its terms; a quotient, a minimum or another function in pieces is an atom."""
    pieces = value.get_pieces()
    if len(pieces) == 1 and pieces[0][0].plain_is_universe():
        function = pieces[0][1]
        if function.dim(isl.dim_type.div) == 0 and function.get_denominator_val().is_one():
            terms: dict[Monomial, int] = {(): int(function.get_constant_val().to_python())}
            for place in range(function.dim(PARAM)):
                name = str(function.get_dim_name(PARAM, place))
                terms[(name,)] = int(function.get_coefficient_val(PARAM, place).to_python())
            return SumOfProducts({key: factor for key, factor in terms.items() if factor}, {})
    text = str(value)
    return SumOfProducts({(text,): 1}, {text: value})


def total(first: SumOfProducts, second: SumOfProducts, sign: int = 1) -> SumOfProducts:
    """first + sign * second."""
    terms = dict(first.terms)
    for monomial, factor in second.terms.items():
        terms[monomial] = terms.get(monomial, 0) + sign * factor
    return _kept(terms, {**first.atoms, **second.atoms})


def product(first: SumOfProducts, second: SumOfProducts) -> SumOfProducts:
    terms: dict[Monomial, int] = {}
    for one, factor in first.terms.items():
        for other, multiple in second.terms.items():
            monomial = tuple(sorted((*one, *other)))
            terms[monomial] = terms.get(monomial, 0) + factor * multiple
    return _kept(terms, {**first.atoms, **second.atoms})


def _kept(terms: Mapping[Monomial, int], atoms: Mapping[str, isl.PwAff]) -> SumOfProducts:
    left = {monomial: factor for monomial, factor in terms.items() if factor}
    used = {name for monomial in left for name in monomial}
    return SumOfProducts(left, {name: value for name, value in atoms.items() if name in used})


def as_affine(value: SumOfProducts) -> isl.PwAff | None:
    """The function it is, where it multiplies nothing."""
    result = number(0)
    for monomial, factor in value.terms.items():
        if len(monomial) > 1:
            return None
        atom = number(1)
        if monomial:
            atom = value.atoms.get(monomial[0]) or variable(monomial[0])
        result = result.add(atom.scale_val(whole(factor)))
    return result
