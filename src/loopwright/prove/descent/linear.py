"""Affine expressions as coefficients, and systems of linear equations over the rational numbers.

Also: a few simple constraints that a dependence satisfies, which are tried first.

    { O[o] -> P[p] : l_k <= p_k - o_k <= u_k for every k }

A property of all pairs in the box holds for the dependence, which is a part of it.  A dependence of a stencil
has some thirty constraints, its box two for each dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import islpy as isl

from loopwright.loops.expressions import Expr, FloorDiv, Int, Scaled, Sum, Var
from loopwright.presburger.equalities import reduced_rows
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import IN, OUT

Form: TypeAlias = Mapping[str, Fraction]
"""The coefficients of names; that of "" is the constant.  Zeros are omitted."""
ONE = ""


def form_of(expr: Expr, other: Callable[[Expr], Form | None] = lambda _: None) -> Form | None:
    """The coefficients of an affine expression; what `other` makes of a part that is not a sum of names."""
    match expr:
        case Int(value):
            return combined([(Fraction(value), {ONE: Fraction(1)})])
        case Var(name):
            return {name: Fraction(1)}
        case Scaled(factor, argument):
            inner = form_of(argument, other)
            return None if inner is None else combined([(Fraction(factor), inner)])
        case Sum(terms):
            parts = [form_of(term, other) for term in terms]
            known = [(Fraction(1), part) for part in parts if part is not None]
            return combined(known) if len(known) == len(parts) else None
        case _:
            return other(expr)


def combined(parts: Sequence[tuple[Fraction, Form]]) -> Form:
    """The sum of multiples of forms."""
    found: dict[str, Fraction] = {}
    for factor, form in parts:
        for name, value in form.items():
            found[name] = found.get(name, Fraction(0)) + factor * value
    return {name: value for name, value in found.items() if value}


def difference(one: Form, other: Form) -> Form:
    return combined([(Fraction(1), one), (Fraction(-1), other)])


def substituted(form: Form, values: Mapping[str, Form]) -> Form:
    """`form` with names replaced by their values."""
    return combined([(value, values.get(name, {name: Fraction(1)})) for name, value in form.items()])


def expr_of(form: Form) -> Expr:
    """The floor of a form as an expression."""
    scale = lcm(*(value.denominator for value in form.values())) if form else 1
    terms: list[Expr] = [Scaled(int(value * scale), Var(name)) for name, value in form.items() if name != ONE]
    whole = Sum((*terms, Int(int(form.get(ONE, Fraction(0)) * scale))))
    return whole if scale == 1 else FloorDiv(whole, scale)


def solved(equations: Sequence[Form], unknown: Sequence[str]) -> tuple[dict[str, Form], list[Form]]:
    """The unknowns that the equations `form = 0` determine, and the remaining equations without unknowns.

    An unknown that is determined only together with another one is omitted.
    """
    rows = list(equations)
    pivots: dict[str, Form] = {}
    for name in unknown:
        index = next((k for k, row in enumerate(rows) if row.get(name)), None)
        if index is None:
            continue
        row = rows.pop(index)
        own = combined([(-1 / row[name], {key: value for key, value in row.items() if key != name})])
        rows = [substituted(other, {name: own}) for other in rows]
        pivots = {key: substituted(value, {name: own}) for key, value in pivots.items()}
        pivots[name] = own
    known = {name: value for name, value in pivots.items() if not set(value) & set(unknown)}
    return known, [row for row in rows if row]


def fitted(samples: Sequence[tuple[Mapping[str, int], int]], names: Sequence[str]) -> Form | None:
    """The affine function of `names`, preferring the first, that has these values, or None."""
    columns = [ONE, *names]
    rows = [[*(point.get(name, 1) if name else 1 for name in columns), value] for point, value in samples]
    found = reduced_rows(rows, len(columns) + 1)
    if len(columns) in found:
        return None
    return {columns[at]: Fraction(row[-1], row[at]) for at, row in found.items() if row[-1]}


def box_around(relation: isl.BasicMap) -> isl.Map | None:
    """The box around a dependence, or None if a distance is not bounded by numbers."""
    depth = relation.dim(IN)
    if depth != relation.dim(OUT):
        return None
    pairs = isl.Map.from_basic_map(relation).wrap()
    space = pairs.get_space()
    found = isl.Set.universe(space)
    for k in range(depth):
        distance = coordinate(space, depth + k).sub(coordinate(space, k))
        least, most = pairs.min_val(distance), pairs.max_val(distance)
        if not least.is_int() or not most.is_int():
            return None
        found = found.intersect(distance.ge_set(isl.Aff.val_on_domain_space(space, least)))
        found = found.intersect(distance.le_set(isl.Aff.val_on_domain_space(space, most)))
    return found.unwrap()


def inequalities(parts: Sequence[isl.BasicSet]) -> Iterator[tuple[list[int], isl.Constraint, isl.Constraint]]:
    """Yields the distinct inequalities of conjunctions: which have it, its complement, and itself."""
    found: dict[str, tuple[list[int], isl.Aff]] = {}
    for k, part in enumerate(one.remove_unknown_divs() for one in parts):
        locals_ = part.dim(isl.dim_type.div)
        for constraint in part.get_constraints():
            if locals_ and constraint.involves_dims(isl.dim_type.div, 0, locals_):
                continue
            value = constraint.get_aff()
            for one in (value, value.neg()) if constraint.is_equality() else (value,):
                found.setdefault(str(one), ([], one))[0].append(k)
    for own, value in found.values():
        less = value.neg().add_constant_val(isl.Val(-1))
        yield own, isl.Constraint.inequality_from_aff(less), isl.Constraint.inequality_from_aff(value)
