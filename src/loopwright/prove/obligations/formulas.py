"""Presburger formulas as plain data, in the language of LOOP's own expressions and tests.

A formula is a `Test` over named integers: linear terms, division by constants, minima, maxima and
conditionals, comparisons and their combinations; no quantifiers.  This file turns isl's sets and quasi-affine
functions into such data, for provers other than isl.  An `Obligation` is a formula that has no integer
solution; nothing in it depends on a prover.  `Answer` is the prover's answer to an obligation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Protocol, TypeAlias

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.sums import LinearSum
from loopwright.loops.traverse import subterms
from loopwright.source import Span


def _sides(total: LinearSum) -> tuple[ex.Expr, ex.Expr]:
    """a and b without negative factors, such that a sum is b − a."""
    left = LinearSum(tuple((-f, term) for f, term in total.terms if f < 0), max(-total.constant, 0))
    right = LinearSum(tuple((f, term) for f, term in total.terms if f > 0), max(total.constant, 0))
    return left.expr(), right.expr()


def linear_of(function: isl.Aff, names: Sequence[str]) -> tuple[LinearSum, int]:
    """The function times its denominator, and the denominator; `names` are those of its dimensions."""
    denominator = int(function.get_denominator_val().to_python())
    scaled = function.scale_val(function.get_denominator_val())
    terms: dict[ex.Expr, int] = {}
    for position, factor in _coefficients(scaled, isl.dim_type.param):
        terms[ex.Var(str(scaled.get_dim_name(isl.dim_type.param, position)))] = factor
    for position, factor in _coefficients(scaled, isl.dim_type.in_):
        terms[ex.Var(names[position])] = terms.get(ex.Var(names[position]), 0) + factor
    for position, factor in _coefficients(scaled, isl.dim_type.div):
        floor = _floor(scaled.get_div(position), names)
        terms[floor] = terms.get(floor, 0) + factor
    found = tuple((factor, term) for term, factor in terms.items() if factor)
    return LinearSum(found, int(scaled.get_constant_val().to_python())), denominator


def _coefficients(function: isl.Aff, kind: isl.dim_type) -> Iterator[tuple[int, int]]:
    """Yields the positions with nonzero coefficients, and the coefficients."""
    for position in range(function.dim(kind)):
        factor = function.get_coefficient_val(kind, position)
        if not factor.is_zero():
            yield position, int(factor.to_python())


def _floor(division: isl.Aff, names: Sequence[str]) -> ex.Expr:
    inside, denominator = linear_of(division, names)
    if denominator == 1:
        return inside.expr()
    return ex.FloorDiv(inside.expr(), denominator)


def expr_of(function: isl.Aff, names: Sequence[str]) -> ex.Expr:
    """A function as an expression, which is an integer wherever it is used: its denominator divides it."""
    inside, denominator = linear_of(function, names)
    return inside.expr() if denominator == 1 else ex.FloorDiv(inside.expr(), denominator)


def exprs_of(function: isl.MultiAff, names: Sequence[str]) -> tuple[ex.Expr, ...]:
    """The values of a function with several results as expressions."""
    return tuple(expr_of(function.get_at(k), names) for k in range(function.dim(isl.dim_type.out)))


def inequality_of(constraint: isl.Constraint, names: Sequence[str]) -> ex.Compare:
    """The constraint with each term on the side where it is positive."""
    found, _ = linear_of(constraint.get_aff(), names)
    divisor = gcd(found.constant, *(factor for factor, _ in found.terms))
    if divisor > 1:
        found = LinearSum(tuple((f // divisor, term) for f, term in found.terms), found.constant // divisor)
    if found.constant == -1 and not constraint.is_equality():
        left, right = _sides(LinearSum(found.terms))
        return ex.Compare(ex.Relation.LT, left, right)
    left, right = _sides(found)
    return ex.Compare(ex.Relation.EQ if constraint.is_equality() else ex.Relation.LE, left, right)


def formula_of(points: isl.Set, names: Sequence[str]) -> ex.Test:
    """The condition for a point `names` to be in `points`: a disjunction of conjunctions."""
    known = points.compute_divs().coalesce().remove_redundancies()
    parts = [_conjunction(piece, names) for piece in known.get_basic_sets() if not piece.is_empty()]
    return disjunction(parts)


def _conjunction(piece: isl.BasicSet, names: Sequence[str]) -> ex.Test:
    for position in range(piece.dim(isl.dim_type.div)):
        if piece.get_div(position).is_nan():
            raise InternalError(Code.INTERNAL, f"an integer division without a defined value in {piece}")
    return conjunction([inequality_of(one, names) for one in piece.get_constraints()])


def conjunction(parts: Sequence[ex.Test]) -> ex.Test:
    """The conjunction, with nested conjunctions flattened."""
    return _joined(parts, ex.And, ex.FALSE)


def disjunction(parts: Sequence[ex.Test]) -> ex.Test:
    """The disjunction, with nested disjunctions flattened."""
    return _joined(parts, ex.Or, ex.TRUE)


def _joined(parts: Sequence[ex.Test], kind: type[ex.And | ex.Or], decisive: ex.Test) -> ex.Test:
    flat = [one for part in parts for one in (part.arguments if isinstance(part, kind) else (part,))]
    unique = tuple(dict.fromkeys(flat))
    return decisive if decisive in unique else unique[0] if len(unique) == 1 else kind(unique)


def equal(left: Sequence[ex.Expr], right: Sequence[ex.Expr]) -> ex.Test:
    return conjunction([ex.Compare(ex.Relation.EQ, a, b) for a, b in zip(left, right, strict=True)])


def before(left: Sequence[ex.Expr], right: Sequence[ex.Expr]) -> ex.Test:
    """left ≺ right, lexicographically: in the first position where they differ, left is smaller."""
    ways: list[ex.Test] = []
    for k, (a, b) in enumerate(zip(left, right, strict=True)):
        ways.append(conjunction([equal(left[:k], right[:k]), ex.Compare(ex.Relation.LT, a, b)]))
    return disjunction(ways) if ways else ex.FALSE


def names_in(test: ex.Test) -> tuple[str, ...]:
    """The names a formula mentions, in the order of their first occurrence."""
    return tuple(dict.fromkeys(term.name for term in subterms(test) if isinstance(term, ex.Var)))


@dataclass(frozen=True)
class Obligation:
    """States that `given` implies `wanted`: given ∧ ¬wanted has no integer solution.

    `meaning` is a sentence, and `span` the place in the source that it is about, if there is one.
    """

    name: str
    meaning: str
    given: ex.Test
    wanted: ex.Test
    span: Span | None = None

    @property
    def violated(self) -> ex.Test:
        return conjunction([self.given, ex.Not(self.wanted)])

    @property
    def variables(self) -> tuple[str, ...]:
        return names_in(self.violated)


@dataclass(frozen=True)
class Holds:
    """The formula has no integer solution."""


@dataclass(frozen=True)
class Fails:
    """These values are a solution; a prover that finds none gives none."""

    values: dict[str, int]


@dataclass(frozen=True)
class NotDecided:
    """Neither: the limit was reached, or the prover gave up."""

    reason: str


Answer: TypeAlias = Holds | Fails | NotDecided


class Prover(Protocol):
    """Decides obligations, one answer for each."""

    @property
    def name(self) -> str: ...

    def decide(self, obligations: Sequence[Obligation]) -> tuple[Answer, ...]: ...
