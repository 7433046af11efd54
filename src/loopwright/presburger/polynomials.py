"""Sums of products of names: the value of `(i * n + j) * m + k` before it is known which of them are rows."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import everywhere, number, parameter_names, row_length, variable, whole
from loopwright.presburger.sets import DIV, PARAM

MOST_PIECES = 64
Monomial = tuple[str, ...]
"""Sorted names; a square has its name twice."""


@dataclass(frozen=True)
class Polynomial:
    """`terms` by their coefficients; `atoms` are the functions that are not plain sums, by name."""

    terms: Mapping[Monomial, int]
    atoms: Mapping[str, isl.PwAff]

    def atom(self, name: str) -> isl.PwAff:
        """The factor that a name of a term denotes."""
        return self.atoms.get(name) or variable(name)

    def plus(self, other: Polynomial, factor: int = 1) -> Polynomial:
        """self + factor * other."""
        terms = dict(self.terms)
        for monomial, multiple in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor * multiple
        return _kept(terms, {**self.atoms, **other.atoms})

    def times(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for one, factor in self.terms.items():
            for another, multiple in other.terms.items():
                monomial = tuple(sorted((*one, *another)))
                terms[monomial] = terms.get(monomial, 0) + factor * multiple
        return _kept(terms, {**self.atoms, **other.atoms})


ZERO = Polynomial({}, {})


def _kept(terms: Mapping[Monomial, int], atoms: Mapping[str, isl.PwAff]) -> Polynomial:
    left = {monomial: factor for monomial, factor in terms.items() if factor}
    used = {name for monomial in left for name in monomial}
    return Polynomial(left, {name: value for name, value in atoms.items() if name in used})


def of_affine(value: isl.PwAff) -> Polynomial:
    """A sum by its terms; a quotient, a minimum or another function in pieces is an atom.

    8 * floor(m / 8) + 1 has the atom floor(m / 8), with the factor 8.
    """
    pieces = value.get_pieces()
    if len(pieces) == 1 and pieces[0][0].plain_is_universe():
        function = pieces[0][1]
        if function.get_denominator_val().is_one():
            terms: dict[Monomial, int] = {(): int(function.get_constant_val().to_python())}
            for place, name in enumerate(parameter_names(function)):
                terms[(name,)] = int(function.get_coefficient_val(PARAM, place).to_python())
            quotients: dict[str, isl.PwAff] = {}
            for place in range(function.dim(DIV)):
                quotient = isl.PwAff.from_aff(function.get_div(place).floor()).drop_unused_params()
                quotients[str(quotient)] = quotient
                terms[(str(quotient),)] = int(function.get_coefficient_val(DIV, place).to_python())
            return _kept(terms, quotients)
    text = str(value)
    return Polynomial({(text,): 1}, {text: value})


def as_affine(value: Polynomial, known: Mapping[str, int] | None = None) -> isl.PwAff | None:
    """The function it is, where it multiplies nothing, or only names whose values are known."""
    result = number(0)
    for monomial, factor in value.terms.items():
        if len(monomial) > 1:
            return as_affine(at_values(value, known)) if known else None
        atom = value.atom(monomial[0]) if monomial else number(1)
        result = result.add(atom.scale_val(whole(factor)))
    return result


def at_values(value: Polynomial, known: Mapping[str, int]) -> Polynomial:
    """The polynomial with numbers for the names whose values are known."""
    result = ZERO
    for monomial, factor in value.terms.items():
        for name in monomial:
            factor *= known.get(name, 1)
        rest = tuple(name for name in monomial if name not in known)
        result = result.plus(Polynomial({rest: factor}, value.atoms))
    return result


def length_at(text: str, known: Mapping[str, int]) -> int | None:
    """The length of an array's rows, such as `m + 1`, where the values of its names are known."""
    found = at_values(of_affine(row_length(text)), known).terms
    return found.get((), 0) if set(found) <= {()} else None


def in_pieces(value: Polynomial) -> list[tuple[isl.Set, Polynomial]]:
    """The polynomial for each part of what its atoms are made of: there they are sums, or quotients such as
    floor(j / 2), which stay atoms; none if there are too many parts."""
    found: list[tuple[isl.Set, Polynomial]] = [(everywhere(), value)]
    for name, atom in value.atoms.items():
        pieces = atom.get_pieces()
        if len(found) * len(pieces) > MOST_PIECES:
            return []
        parts = [(piece, of_affine(isl.PwAff.from_aff(function))) for piece, function in pieces]
        found = [
            (where.intersect(piece), replaced(one, name, part))
            for where, one in found
            for piece, part in parts
        ]
    return found


def replaced(value: Polynomial, name: str, part: Polynomial) -> Polynomial:
    """`value` with a sum in place of a name."""
    result = ZERO
    for monomial, factor in value.terms.items():
        rest = tuple(one for one in monomial if one != name)
        term = Polynomial({rest: factor}, value.atoms)
        for _ in range(len(monomial) - len(rest)):
            term = term.times(part)
        result = result.plus(term)
    return result
