"""Translates LOOP's expressions and tests exactly into isl's quasi-affine functions and sets.

A scope is a set of iterator vectors with the iterators' names; parameters are parameters. The semantics are
those of the interpreter: `TruncDiv` and `Rem` are C's, which round towards zero, and become floors only where
the argument is proved nonnegative in the scope.
"""

from __future__ import annotations

from functools import reduce
from typing import assert_never

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.presburger.named import COMPARED


@dataclass(frozen=True)
class IteratorScope:
    """The iterator vectors that reach a place in the program, and the dimension of each name."""

    domain: isl.Set
    names: dict[str, int]

    def within(self, condition: isl.Set) -> IteratorScope:
        return IteratorScope(self.domain.intersect(condition), self.names)

    def deeper(self, name: str) -> IteratorScope:
        """The scope with one more dimension, called `name`, which may hide an outer one."""
        depth = self.domain.dim(isl.dim_type.set)
        return IteratorScope(self.domain.add_dims(isl.dim_type.set, 1), {**self.names, name: depth})

    def local_space(self) -> isl.LocalSpace:
        return isl.LocalSpace.from_space(self.domain.get_space())


def value(expr: ex.Expr, scope: IteratorScope) -> isl.PwAff:
    """The value of `expr` as a function of the iterators."""
    match expr:
        case ex.Int(number):
            return isl.PwAff.val_on_domain(isl.Set.universe(scope.domain.get_space()), _val(scope, number))
        case ex.Var(name):
            return isl.PwAff.var_on_domain(scope.local_space(), *_place(name, scope))
        case ex.Sum() | ex.Scaled():
            found = isl.Aff.zero_on_domain(scope.local_space())
            others: list[isl.PwAff] = []
            for part, factor in _collected(expr, scope, others).items():
                if part is None:
                    found = found.set_constant_val(_val(scope, factor))
                else:
                    kind, position = _place(part, scope)
                    kind = isl.dim_type.in_ if kind == isl.dim_type.set else kind
                    found = found.set_coefficient_val(kind, position, _val(scope, factor))
            return reduce(isl.PwAff.add, others, isl.PwAff.from_aff(found))
        case ex.FloorDiv(argument, divisor):
            return _floor(value(argument, scope), divisor)
        case ex.TruncDiv(argument, divisor):
            return _truncated(value(argument, scope), divisor, scope)
        case ex.Rem(argument, divisor):
            dividend = value(argument, scope)
            return dividend.sub(_truncated(dividend, divisor, scope).scale_val(_val(scope, divisor)))
        case ex.Min(arguments):
            return reduce(isl.PwAff.min, (value(one, scope) for one in arguments)).coalesce()
        case ex.Max(arguments):
            return reduce(isl.PwAff.max, (value(one, scope) for one in arguments)).coalesce()
        case ex.Select(test, then, orelse):
            return _select(region(test, scope), value(then, scope), value(orelse, scope))
        case _:
            assert_never(expr)


def _collected(expr: ex.Expr, scope: IteratorScope, others: list[isl.PwAff]) -> dict[str | None, int]:
    """The coefficients of names in a sum, that of 1 under None; other terms are appended to `others`."""
    found: dict[str | None, int] = {}

    def add(part: ex.Expr, factor: int) -> None:
        match part:
            case ex.Int(number):
                found[None] = found.get(None, 0) + factor * number
            case ex.Var(name):
                found[name] = found.get(name, 0) + factor
            case ex.Sum(terms):
                for term in terms:
                    add(term, factor)
            case ex.Scaled(more, argument):
                add(argument, factor * more)
            case _:
                other = value(part, scope)
                others.append(other if factor == 1 else other.scale_val(_val(scope, factor)))

    add(expr, 1)
    return found


def _val(scope: IteratorScope, number: int) -> isl.Val:
    return isl.Val.read_from_str(scope.domain.get_ctx(), str(number))


def _place(name: str, scope: IteratorScope) -> tuple[isl.dim_type, int]:
    """The dimension of the iterator vectors, or the parameter, that a name denotes."""
    if name in scope.names:
        return isl.dim_type.set, scope.names[name]
    position = scope.domain.find_dim_by_name(isl.dim_type.param, name)
    if position < 0:
        raise InternalError(
            Code.INTERNAL, f"the program uses {name!r}, which is neither an iterator nor a parameter"
        )
    return isl.dim_type.param, position


def _floor(dividend: isl.PwAff, divisor: int) -> isl.PwAff:
    """⌊dividend / divisor⌋."""
    if divisor <= 0:
        raise InternalError(Code.INTERNAL, f"the program divides by {divisor}: divisors are positive")
    return dividend.scale_down_val(isl.Val.read_from_str(dividend.get_ctx(), str(divisor))).floor()


def _truncated(dividend: isl.PwAff, divisor: int, scope: IteratorScope) -> isl.PwAff:
    """C's `/`: ⌊a/d⌋ where a ≥ 0, and −⌊−a/d⌋ elsewhere."""
    nonnegative = dividend.nonneg_set()
    down = _floor(dividend, divisor)
    if scope.domain.is_subset(nonnegative):
        return down
    return _select(nonnegative, down, _floor(dividend.neg(), divisor).neg())


def _select(test: isl.Set, then: isl.PwAff, orelse: isl.PwAff) -> isl.PwAff:
    inside, outside = then.intersect_domain(test), orelse.intersect_domain(test.complement())
    return inside.union_add(outside)


def region(test: ex.Test, scope: IteratorScope) -> isl.Set:
    """The points where `test` holds."""
    match test:
        case ex.Compare(relation, left, right):
            return _compared(relation, left, right, scope)
        case ex.And(arguments):
            everywhere = isl.Set.universe(scope.domain.get_space())
            return reduce(isl.Set.intersect, (region(one, scope) for one in arguments), everywhere)
        case ex.Or(arguments):
            nowhere = isl.Set.empty(scope.domain.get_space())
            return reduce(isl.Set.union, (region(one, scope) for one in arguments), nowhere)
        case ex.Not(argument):
            return region(negation(argument), scope)
        case _:
            assert_never(test)


def negation(test: ex.Test) -> ex.Test:
    """The negation of `test`, without `Not`."""
    match test:
        case ex.Compare(relation, left, right):
            return ex.Compare(ex.NEGATED[relation], left, right)
        case ex.And(arguments):
            return ex.Or(tuple(negation(one) for one in arguments))
        case ex.Or(arguments):
            return ex.And(tuple(negation(one) for one in arguments))
        case ex.Not(argument):
            return argument
        case _:
            assert_never(test)


def _compared(relation: ex.Relation, left: ex.Expr, right: ex.Expr, scope: IteratorScope) -> isl.Set:
    """Compares with a minimum or maximum by conjunctions or disjunctions, which cost isl less: x ≤ min(a, b)
    iff x ≤ a and x ≤ b; and whether a remainder is 0 does not depend on rounding."""
    match relation, left, right:
        case ex.Relation.LE | ex.Relation.LT, _, ex.Min(arguments):
            return region(ex.And(tuple(ex.Compare(relation, left, one) for one in arguments)), scope)
        case ex.Relation.LE | ex.Relation.LT, _, ex.Max(arguments):
            return region(ex.Or(tuple(ex.Compare(relation, left, one) for one in arguments)), scope)
        case ex.Relation.LE | ex.Relation.LT, ex.Max(arguments), _:
            return region(ex.And(tuple(ex.Compare(relation, one, right) for one in arguments)), scope)
        case ex.Relation.LE | ex.Relation.LT, ex.Min(arguments), _:
            return region(ex.Or(tuple(ex.Compare(relation, one, right) for one in arguments)), scope)
        case ex.Relation.GE | ex.Relation.GT, _, _:
            return _compared(ex.MIRRORED[relation], right, left, scope)
        case ex.Relation.EQ | ex.Relation.NE, ex.Rem(argument, divisor), ex.Int(0):
            return _divisibility(relation, value(argument, scope), divisor)
    return COMPARED[relation.value](value(left, scope), value(right, scope))


def _divisibility(relation: ex.Relation, dividend: isl.PwAff, divisor: int) -> isl.Set:
    remainder = dividend.mod_val(isl.Val.read_from_str(dividend.get_ctx(), str(divisor)))
    return remainder.zero_set() if relation is ex.Relation.EQ else remainder.non_zero_set()


def multiples(argument: isl.PwAff, divisor: int) -> isl.Set:
    """The points where `argument` is a multiple of `divisor`."""
    return _divisibility(ex.Relation.EQ, argument, divisor)
