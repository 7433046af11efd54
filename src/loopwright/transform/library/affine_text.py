"""Affine functions of iterators and parameters as C."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.c.declarations import as_signed
from loopwright.model.program import Program, Statement
from loopwright.presburger.functions import coefficient, involved
from loopwright.presburger.named import parameter_names
from loopwright.presburger.sets import DIV, IN, PARAM


def affine_text(program: Program, value: isl.Aff, iterators: Sequence[str]) -> str:
    """An affine function of the first iterators, and of parameters."""
    return _joined(_terms(program, value, iterators), value)


def quasi_affine_text(program: Program, value: isl.Aff, statement: Statement) -> str | None:
    """A function of a statement's iterators, with divisions."""
    return divided_text(program, value, statement.iterators, statement.domain)


def divided_text(program: Program, value: isl.Aff, iterators: Sequence[str], domain: isl.Set) -> str | None:
    """The same with divisions, which C rounds towards zero: None where one may be negative or is nested.

    floor((-1 - e) / d) = -1 - floor(e / d) and floor((e + d) / d) = 1 + floor(e / d), so that one of
    e, -1 - e and d - 1 - e has to be positive.
    """
    terms = _terms(program, value, iterators)
    for k in range(value.dim(DIV)):
        factor = coefficient(value, DIV, k)
        if not factor:
            continue
        divisor = int(value.get_div(k).get_denominator_val().to_python())
        number = value.get_div(k).scale_val(isl.Val(divisor))
        if involved(number, DIV):
            return None
        if _may_be_negative(program, number, domain):
            number = number.neg().add_constant_val(isl.Val(-1))
            value = value.add_constant_val(isl.Val(-factor))
            factor = -factor
        if _may_be_negative(program, number, domain):
            number = number.add_constant_val(isl.Val(divisor))
            value = value.add_constant_val(isl.Val(-factor))
        if _may_be_negative(program, number, domain):
            return None
        text = _joined(_terms(program, number, iterators), number)
        terms.append((factor, f"({text if text.isidentifier() else f'({text})'} / {divisor})"))
    return _joined(terms, value)


def _may_be_negative(program: Program, number: isl.Aff, domain: isl.Set) -> bool:
    negative = isl.PwAff.from_aff(number).neg().pos_set().intersect(domain)
    return not negative.intersect_params(program.context).is_empty()


def _terms(program: Program, value: isl.Aff, iterators: Sequence[str]) -> list[tuple[int, str]]:
    texts = {one.name: _signed(program, one.text) for one in program.parameters}
    names = [(IN, k, name) for k, name in enumerate(iterators[: value.dim(IN)])]
    parameters = parameter_names(value.get_domain_space())
    names += [(PARAM, k, texts.get(name, name)) for k, name in enumerate(parameters)]
    factors = [(coefficient(value, kind, k), name) for kind, k, name in names]
    return [(factor, name) for factor, name in factors if factor]


def _signed(program: Program, size: str) -> str:
    declared = program.file.declarations
    variable = declared.visible(size, program.region)
    return size if variable is None else as_signed(size, declared.resolved(variable.type))


def _joined(terms: list[tuple[int, str]], value: isl.Aff) -> str:
    constant = int(value.get_constant_val().to_python())
    if not terms:
        return str(constant)
    if len(terms) == 1 and terms[0][0] == 1 and not constant:
        return terms[0][1]
    ordered = sorted(terms, key=lambda term: term[0] < 0)
    return "".join(_term(k, factor, name) for k, (factor, name) in enumerate(ordered)) + _constant(constant)


def _term(place: int, factor: int, name: str) -> str:
    number = "" if abs(factor) == 1 else f"{abs(factor)} * "
    text = name if name.isidentifier() or name.startswith("(") else f"({name})"
    if place == 0:
        return f"{'-' if factor < 0 else ''}{number}{text}"
    return f" {'-' if factor < 0 else '+'} {number}{text}"


def _constant(value: int) -> str:
    return "" if not value else f" {'-' if value < 0 else '+'} {abs(value)}"
