"""Sums of products of names: what `(i * n + j) * m + k` is before it is known which of them are rows."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import everywhere, number, variable, whole
from loopwright.presburger.sets import PARAM

Monomial = tuple[str, ...]
"""Sorted names; a square has its name twice."""


@dataclass(frozen=True)
class SumOfProducts:
    """`terms` by their coefficients; `atoms` are the functions that are not plain sums, by name."""

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


def at_values(value: SumOfProducts, known: Mapping[str, int]) -> SumOfProducts:
    """The polynomial with numbers for the names whose values are known."""
    result = SumOfProducts({}, {})
    for monomial, factor in value.terms.items():
        for name in monomial:
            factor *= known.get(name, 1)
        rest = tuple(name for name in monomial if name not in known)
        result = total(result, SumOfProducts({rest: factor}, value.atoms))
    return result


def in_pieces(value: SumOfProducts, most: int = 64) -> list[tuple[isl.Set, SumOfProducts]]:
    """A polynomial without atoms for each part of what its atoms are made of; none if they are not sums."""
    found: list[tuple[isl.Set, SumOfProducts]] = [(everywhere(), value)]
    for name, atom in value.atoms.items():
        pieces = atom.get_pieces()
        if len(found) * len(pieces) > most:
            return []
        parts = [(piece, of_affine(isl.PwAff.from_aff(function))) for piece, function in pieces]
        if any(part.atoms for _, part in parts):
            return []
        found = [
            (where.intersect(piece), replaced(one, name, part))
            for where, one in found
            for piece, part in parts
        ]
    return found


def replaced(value: SumOfProducts, name: str, part: SumOfProducts) -> SumOfProducts:
    """`value` with a sum in place of a name."""
    result = SumOfProducts({}, {})
    for monomial, factor in value.terms.items():
        rest = tuple(one for one in monomial if one != name)
        term = SumOfProducts({rest: factor}, value.atoms)
        for _ in range(len(monomial) - len(rest)):
            term = product(term, part)
        result = total(result, term)
    return result


def as_affine(value: SumOfProducts, known: Mapping[str, int] | None = None) -> isl.PwAff | None:
    """The function it is, where it multiplies nothing, or only names whose values are known."""
    result = number(0)
    for monomial, factor in value.terms.items():
        if len(monomial) > 1:
            return as_affine(at_values(value, known)) if known else None
        atom = number(1)
        if monomial:
            atom = value.atoms.get(monomial[0]) or variable(monomial[0])
        result = result.add(atom.scale_val(whole(factor)))
    return result
