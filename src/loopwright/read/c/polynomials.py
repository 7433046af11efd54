"""Index expressions that multiply iterators by parameters: `(i * n + j) * m + k`.

A polynomial over atoms: names, and affine expressions that are not plain sums (`i / 2`, `min(i, 3)`).
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from loopwright.c.declarations import is_integer_type
from loopwright.c.references import Subscript, is_subtracted
from loopwright.c.syntax import Node, field, named_children, operator
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import names_of, number, parameter_names, variable, whole
from loopwright.presburger.sets import PARAM
from loopwright.read.c.affine import affine
from loopwright.read.c.frames import Frame, Polynomial
from loopwright.read.c.index_calls import called_expression

Monomial = tuple[str, ...]
"""Names of atoms, sorted; one that is squared stands twice."""


def polynomial(node: Node, frame: Frame) -> Polynomial:
    """The integer expression `node`; NotAffine where some part is neither a product nor affine."""
    match node.type:
        case "parenthesized_expression" if len(named_children(node)) == 1:
            return polynomial(named_children(node)[0], frame)
        case "unary_expression" if operator(node) in ("-", "+"):
            inner = polynomial(field(node, "argument"), frame)
            return _sum(_ZERO, inner, -1) if operator(node) == "-" else inner
        case "cast_expression" if _is_wide(node, frame):
            return polynomial(field(node, "value"), frame)
        case "binary_expression" if operator(node) in ("+", "-", "*"):
            left, right = polynomial(field(node, "left"), frame), polynomial(field(node, "right"), frame)
            if operator(node) == "*":
                return _product(left, right)
            return _sum(left, right, 1 if operator(node) == "+" else -1)
        case "call_expression" if (inside := called_expression(node, frame, affine)) is not None:
            return polynomial(*inside)
        case "identifier" if (local := frame.local(node.text)) is not None:
            return local.polynomial or of_affine(affine(node, frame))
        case _:
            return of_affine(affine(node, frame))


def subscript_polynomial(subscript: Subscript, frame: Frame) -> Polynomial:
    """The sum of the terms of a subscript."""
    total = _ZERO
    for term in subscript:
        total = _sum(total, polynomial(term, frame), -1 if is_subtracted(term) else 1)
    return total


def of_affine(value: isl.PwAff) -> Polynomial:
    """A plain sum by its terms; any other affine expression is an atom of its own."""
    pieces = value.get_pieces()
    if len(pieces) == 1 and pieces[0][0].plain_is_universe():
        function = pieces[0][1]
        is_whole = function.get_denominator_val().is_one()
        if is_whole and function.dim(isl.dim_type.div) == 0:
            terms: dict[Monomial, int] = {(): _integer(function.get_constant_val())}
            for position, name in enumerate(parameter_names(function)):
                terms[(name,)] = _integer(function.get_coefficient_val(PARAM, position))
            names = {name: variable(name) for monomial in terms for name in monomial}
            return _cleaned(terms, names)
    name = str(value)
    return Polynomial({(name,): 1}, {name: value})


def as_affine(terms: Mapping[Monomial, int], atoms: Mapping[str, isl.PwAff]) -> isl.PwAff | None:
    """The polynomial as an affine expression; None where it has products."""
    value = number(0)
    for monomial, factor in terms.items():
        if len(monomial) > 1:
            return None
        atom = atoms[monomial[0]] if monomial else number(1)
        value = value.add(atom.scale_val(whole(factor)))
    return value


@dataclass(frozen=True)
class Split:
    """A monomial as the product of an iterator, or 1, and of parameters."""

    iterator: str | None
    stride: Monomial
    factor: int


def split_terms(value: Polynomial, iterators: tuple[str, ...]) -> tuple[Split, ...] | None:
    """Each monomial apart; None where one has a product of iterators."""
    found = []
    for monomial, factor in value.terms.items():
        moving = [name for name in monomial if not set(iterators).isdisjoint(names_of(value.atoms[name]))]
        if len(moving) > 1:
            return None
        still = tuple(name for name in monomial if name not in moving)
        found.append(Split(moving[0] if moving else None, still, factor))
    return tuple(found)


_ZERO = Polynomial({}, {})


def _sum(left: Polynomial, right: Polynomial, sign: int) -> Polynomial:
    terms = dict(left.terms)
    for monomial, factor in right.terms.items():
        terms[monomial] = terms.get(monomial, 0) + sign * factor
    return _cleaned(terms, {**left.atoms, **right.atoms})


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    terms: dict[Monomial, int] = {}
    for one, factor in left.terms.items():
        for other, multiple in right.terms.items():
            monomial = tuple(sorted((*one, *other)))
            terms[monomial] = terms.get(monomial, 0) + factor * multiple
    return _cleaned(terms, {**left.atoms, **right.atoms})


def _cleaned(terms: Mapping[Monomial, int], atoms: Mapping[str, isl.PwAff]) -> Polynomial:
    kept = {monomial: factor for monomial, factor in terms.items() if factor != 0}
    used = {name for monomial in kept for name in monomial}
    return Polynomial(kept, {name: value for name, value in atoms.items() if name in used})


def _integer(value: isl.Val) -> int:
    return int(value.to_python())


def _is_wide(node: Node, frame: Frame) -> bool:
    kind = field(node, "type").text
    return is_integer_type(frame.setting.declarations.resolved(kind))
