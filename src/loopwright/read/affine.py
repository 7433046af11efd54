"""What an affine expression or condition means: isl's piecewise expressions and sets.

`/` rounds down, except inside `floor`, `ceil` and `[ ]`, which round whatever is in them; `%`
is never negative.  Divisors are positive constants and a product has one constant factor.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product

import islpy as isl

from loopwright.errors import BadInput, Code
from loopwright.read.formula import (
    Binary,
    Call,
    Chain,
    Choice,
    Exists,
    Formula,
    Junction,
    Name,
    Negative,
    Not,
    Number,
    Sum,
    Truth,
    parse_condition,
    parse_expressions,
)
from loopwright.read.scope import Scope
from loopwright.read.text import mistake
from loopwright.read.tokens import Token
from loopwright.source import Source

COMPARE: dict[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "=": isl.PwAff.eq_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}


FACTORS = "write sums of iterators and parameters with constant factors, such as 2 * i + n"


def condition(source: Source, start: int, end: int, scope: Scope) -> isl.Set:
    """The points of the scope's space where the condition `text[start:end]` holds."""
    return Meaning(source).truth(parse_condition(source, start, end), scope)


def expressions(source: Source, start: int, end: int, scope: Scope) -> list[isl.PwAff]:
    """The values of the expressions that `text[start:end]` lists."""
    return [Meaning(source).number(one, scope) for one in parse_expressions(source, start, end)]


@dataclass(frozen=True)
class Meaning:
    """Evaluation in a scope, with errors placed in the source."""

    source: Source

    def error(self, at: Token, message: str, hint: str | None = None, code: Code = Code.GRAMMAR) -> BadInput:
        return mistake(self.source, at.offset, message, hint=hint, length=max(1, len(at.text)), code=code)

    def truth(self, formula: Formula, scope: Scope) -> isl.Set:
        """The points where a condition holds."""
        match formula:
            case Truth(at):
                return scope.truth(at.text == "true")
            case Chain(_, operands, operators):
                return self._chain(operands, operators, scope)
            case Junction(_, conjunction, arguments):
                sets = [self.truth(argument, scope) for argument in arguments]
                return reduce(isl.Set.intersect if conjunction else isl.Set.union, sets)
            case Not(_, argument):
                return self.truth(argument, scope).complement()
            case Exists(_, names, body):
                return self._exists(names, body, scope)
            case _:
                raise self.error(formula.at, "a number where a condition should be", "compare it: i >= 0")

    def _chain(
        self, operands: tuple[tuple[Formula, ...], ...], operators: tuple[Token, ...], scope: Scope
    ) -> isl.Set:
        values = [[self.number(one, scope) for one in operand] for operand in operands]
        holds = scope.truth(True)
        for operator, (left, right) in zip(operators, pairwise(values), strict=True):
            for first, second in product(left, right):
                holds = holds.intersect(COMPARE[operator.text](first, second))
        return holds

    def _exists(self, names: tuple[Token, ...], body: Formula, scope: Scope) -> isl.Set:
        inner = scope
        for name in names:
            if inner.knows(name.text):
                raise self.error(name, f"the name {name.text} is used twice")
            inner = inner.with_dimensions((name.text,))
        return scope.without(self.truth(body, inner))

    def number(self, formula: Formula, scope: Scope, exact: bool = False) -> isl.PwAff:
        """The value of an expression; `exact`: it will be rounded, so division need not."""
        match formula:
            case Name(at):
                return self._variable(at, scope)
            case Number(at):
                return scope.constant(int(at.text))
            case Negative(_, argument):
                return self.number(argument, scope, exact).neg()
            case Sum(_, terms):
                return reduce(isl.PwAff.add, [self.number(term, scope, exact) for term in terms])
            case Binary(at, operator, left, right):
                first, second = self.number(left, scope, exact), self.number(right, scope, exact)
                return self._binary(at, operator, first, second, exact)
            case Call(at, function, arguments):
                return self._call(at, function, arguments, scope)
            case Choice(_, test, then, orelse):
                holds = self.truth(test, scope).indicator_function()
                return holds.cond(self.number(then, scope, exact), self.number(orelse, scope, exact))
            case _:
                raise self.error(formula.at, "a condition where a number should be")

    def _variable(self, at: Token, scope: Scope) -> isl.PwAff:
        if scope.knows(at.text):
            return scope.variable(at.text)
        known = [*scope.dimensions, *scope.parameters]
        near = difflib.get_close_matches(at.text, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known) or 'no name at all'}"
        raise self.error(at, f"unknown name {at.text}", hint)

    def _binary(
        self, at: Token, operator: str, first: isl.PwAff, second: isl.PwAff, exact: bool
    ) -> isl.PwAff:
        if operator != "*":
            return self._divided(at, operator, first, second, exact)
        if not (_is_constant(first) or _is_constant(second)):
            raise self.error(at, "a product of two variables is not affine", FACTORS, Code.NOT_AFFINE)
        return first.mul(second)

    def _divided(
        self, at: Token, operator: str, first: isl.PwAff, second: isl.PwAff, exact: bool
    ) -> isl.PwAff:
        divisor = second.max_val() if _is_constant(second) else None
        if divisor is None or not divisor.is_int() or not divisor.is_pos():
            raise self.error(at, "a division by anything but a positive constant", FACTORS, Code.NOT_AFFINE)
        if operator == "%":
            return first.mod_val(divisor)
        quotient = first.scale_down_val(divisor)
        return quotient if exact else quotient.floor()

    def _call(self, at: Token, function: str, arguments: tuple[Formula, ...], scope: Scope) -> isl.PwAff:
        exact = function not in ("min", "max")
        values = [self.number(argument, scope, exact) for argument in arguments]
        match function:
            case "min":
                return reduce(isl.PwAff.min, values)
            case "max":
                return reduce(isl.PwAff.max, values)
            case "floor":
                return values[0].floor()
            case "ceil":
                return values[0].ceil()
            case _:
                quotient = self._divided(at, "/", values[0], values[1], exact=True)
                return quotient.floor() if function == "floord" else quotient.ceil()


def _is_constant(value: isl.PwAff) -> bool:
    """Is it one number, whatever the variables?"""
    return bool(value.is_cst()) and value.n_piece() == 1
