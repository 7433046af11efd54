"""The meaning of affine expressions and conditions: isl's piecewise expressions and sets.

`/` rounds down, except inside `floor`, `ceil` and `[ ]`, which round their whole argument; `%` is never
negative.  Divisors are positive constants and a product has one constant factor.
"""

from __future__ import annotations

import difflib
from functools import reduce
from itertools import pairwise, product

import islpy as isl

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import first
from loopwright.presburger.named import COMPARED, space_of
from loopwright.read import formula as fm
from loopwright.read.formula_grammar import parse_condition, parse_expressions
from loopwright.source import Source, Span


@dataclass(frozen=True)
class FormulaScope:
    """The parameters and the dimensions of an unnamed tuple, by name."""

    parameters: tuple[str, ...]
    dimensions: tuple[str, ...] = ()

    @property
    def space(self) -> isl.Space:
        return space_of(self.parameters, self.dimensions)

    def knows(self, name: str) -> bool:
        return name in self.dimensions or name in self.parameters

    def variable(self, name: str) -> isl.PwAff:
        """The value of a name in this scope."""
        local = isl.LocalSpace.from_space(self.space)
        if name in self.dimensions:
            aff = isl.Aff.var_on_domain(local, isl.dim_type.set, self.dimensions.index(name))
        else:
            aff = isl.Aff.var_on_domain(local, isl.dim_type.param, self.parameters.index(name))
        return isl.PwAff.from_aff(aff)

    def constant(self, value: int) -> isl.PwAff:
        number = isl.Val.read_from_str(isl.DEFAULT_CONTEXT, str(value))
        return isl.PwAff.from_aff(isl.Aff.val_on_domain(isl.LocalSpace.from_space(self.space), number))

    def truth(self, *, value: bool) -> isl.Set:
        return isl.Set.universe(self.space) if value else isl.Set.empty(self.space)

    def with_dimensions(self, names: tuple[str, ...]) -> FormulaScope:
        return FormulaScope(self.parameters, self.dimensions + names)

    def without(self, inner: isl.Set) -> isl.Set:
        """The projection of `inner` onto this scope: `exists` of all its further dimensions."""
        return first(inner, isl.dim_type.set, len(self.dimensions))




FACTORS = "write sums of iterators and parameters with constant factors, such as 2 * i + n"


def condition(source: Source, start: int, end: int, scope: FormulaScope) -> isl.Set:
    """The points of the scope's space where the condition `text[start:end]` holds."""
    return truth(parse_condition(source, start, end), scope)


def expressions(source: Source, start: int, end: int, scope: FormulaScope) -> list[isl.PwAff]:
    """The values of the expressions that `text[start:end]` lists."""
    return [number(one, scope) for one in parse_expressions(source, start, end)]


def _mistake(at: Span | None, message: str, hint: str | None = None, code: Code = Code.GRAMMAR) -> BadInput:
    return BadInput(code, message, span=at, hint=hint)


def truth(formula: fm.Formula, scope: FormulaScope) -> isl.Set:
    """The points where a condition holds."""
    match formula:
        case fm.Truth(value):
            return scope.truth(value=value)
        case fm.Chain(operands, operators):
            return _chain(operands, operators, scope)
        case fm.Junction(conjunction, arguments):
            sets = [truth(argument, scope) for argument in arguments]
            return reduce(isl.Set.intersect if conjunction else isl.Set.union, sets)
        case fm.Complement(argument):
            return truth(argument, scope).complement()
        case fm.Exists(names, body):
            return _exists(names, body, scope)
        case _:
            raise _mistake(formula.at, "a number where a condition should be", "compare it: i >= 0")


def _chain(
    operands: tuple[tuple[fm.Formula, ...], ...], operators: tuple[str, ...], scope: FormulaScope
) -> isl.Set:
    values = [[number(one, scope) for one in operand] for operand in operands]
    holds = scope.truth(value=True)
    for operator, (left, right) in zip(operators, pairwise(values), strict=True):
        for one, other in product(left, right):
            holds = holds.intersect(COMPARED["==" if operator == "=" else operator](one, other))
    return holds


def _exists(names: tuple[fm.Symbol, ...], body: fm.Formula, scope: FormulaScope) -> isl.Set:
    inner = scope
    for name in names:
        if inner.knows(name.text):
            raise _mistake(name.at, f"the name {name.text} is defined twice")
        inner = inner.with_dimensions((name.text,))
    return scope.without(truth(body, inner))


def number(formula: fm.Formula, scope: FormulaScope, *, exact: bool = False) -> isl.PwAff:
    """The value of an expression; `exact`: it is rounded later, so division need not round."""
    match formula:
        case fm.Symbol():
            return _variable(formula, scope)
        case fm.Numeral(value):
            return scope.constant(value)
        case fm.Negative(argument):
            return number(argument, scope, exact=exact).neg()
        case fm.Addition(terms):
            return reduce(isl.PwAff.add, [number(term, scope, exact=exact) for term in terms])
        case fm.Multiplicative(operator, left, right, at):
            first, second = number(left, scope, exact=exact), number(right, scope, exact=exact)
            return _binary(at, operator, first, second, exact=exact)
        case fm.FunctionCall(function, arguments, at):
            return _call(at, function, arguments, scope)
        case fm.Selection(test, then, orelse):
            holds = truth(test, scope).indicator_function()
            return holds.cond(number(then, scope, exact=exact), number(orelse, scope, exact=exact))
        case _:
            raise _mistake(formula.at, "a condition where a number should be")


def _variable(name: fm.Symbol, scope: FormulaScope) -> isl.PwAff:
    if scope.knows(name.text):
        return scope.variable(name.text)
    known = [*scope.dimensions, *scope.parameters]
    near = difflib.get_close_matches(name.text, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"known names: {', '.join(known) or 'none'}"
    raise _mistake(name.at, f"unknown name {name.text}", hint)


def _binary(at: Span | None, operator: str, first: isl.PwAff, second: isl.PwAff, *, exact: bool) -> isl.PwAff:
    if operator != "*":
        return _divided(at, operator, first, second, exact=exact)
    if not (_is_constant(first) or _is_constant(second)):
        raise _mistake(at, "a product of two variables is not affine", FACTORS, Code.NOT_AFFINE)
    return first.mul(second)


def _divided(
    at: Span | None, operator: str, first: isl.PwAff, second: isl.PwAff, *, exact: bool
) -> isl.PwAff:
    divisor = second.max_val() if _is_constant(second) else None
    if divisor is None or not divisor.is_int() or not divisor.is_pos():
        raise _mistake(at, "a division by anything but a positive constant", FACTORS, Code.NOT_AFFINE)
    if operator == "%":
        return first.mod_val(divisor)
    quotient = first.scale_down_val(divisor)
    return quotient if exact else quotient.floor()


def _call(
    at: Span | None, function: str, arguments: tuple[fm.Formula, ...], scope: FormulaScope
) -> isl.PwAff:
    exact = function not in ("min", "max")
    values = [number(argument, scope, exact=exact) for argument in arguments]
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
            quotient = _divided(at, "/", values[0], values[1], exact=True)
            return quotient.floor() if function == "floord" else quotient.ceil()


def _is_constant(value: isl.PwAff) -> bool:
    """Whether a value is a single number, independent of the variables."""
    return bool(value.is_cst()) and value.n_piece() == 1
