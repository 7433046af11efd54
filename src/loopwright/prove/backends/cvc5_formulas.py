"""Formulas given to cvc5, an SMT solver: a second opinion that shares nothing with isl.

Integers are unbounded in both LOOP and SMT-LIB.  SMT-LIB's `div` by a positive constant rounds
towards minus infinity; C's rounds towards zero, and is written out.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, assert_never

from loopwright.errors import BadInput
from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Not,
    Or,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    Test,
    TruncDiv,
    Var,
)

INSTALL = "install it with: pip install 'loopwright[cvc5]'"


@dataclass(frozen=True)
class Unsatisfiable:
    """There is no solution."""


@dataclass(frozen=True)
class Solution:
    values: dict[str, int]


@dataclass(frozen=True)
class Unknown:
    reason: str


Answer = Unsatisfiable | Solution | Unknown


def cvc5_solver(milliseconds: int = 10_000) -> Cvc5:
    """A solver; `BadInput` with what to do where cvc5 is not installed."""
    try:
        module: Any = importlib.import_module("cvc5")
    except ImportError:
        raise BadInput("cvc5 is not installed", hint=INSTALL) from None
    manager = module.TermManager()
    solver = module.Solver(manager)
    solver.setLogic("QF_LIA")
    solver.setOption("produce-models", "true")
    solver.setOption("incremental", "true")
    solver.setOption("tlimit-per", str(milliseconds))
    return Cvc5(module.Kind, manager, solver)


@dataclass
class Cvc5:
    """One solver, asked again and again; names are the same integers each time."""

    kind: Any
    manager: Any
    solver: Any
    names: dict[str, Any] = field(default_factory=dict)

    def solve(self, test: Test) -> Answer:
        """Integers for which `test` holds."""
        self.solver.push()
        try:
            self.solver.assertFormula(self._test(test))
            result = self.solver.checkSat()
            if result.isUnsat():
                return Unsatisfiable()
            if not result.isSat():
                return Unknown(str(result.getUnknownExplanation()))
            return Solution(
                {name: int(self.solver.getValue(term).getIntegerValue()) for name, term in self.names.items()}
            )
        finally:
            self.solver.pop()

    def _apply(self, kind: Any, *terms: Any) -> Any:
        return self.manager.mkTerm(kind, *terms)

    def _many(self, kind: Any, terms: list[Any], none: Any) -> Any:
        return none if not terms else terms[0] if len(terms) == 1 else self._apply(kind, *terms)

    def _variable(self, name: str) -> Any:
        if name not in self.names:
            self.names[name] = self.manager.mkConst(self.manager.getIntegerSort(), name)
        return self.names[name]

    def _int(self, value: int) -> Any:
        return self.manager.mkInteger(value)

    def _expr(self, expr: Expr) -> Any:
        kind = self.kind
        match expr:
            case Int(value):
                return self._int(value)
            case Var(name):
                return self._variable(name)
            case Sum(terms):
                return self._many(kind.ADD, [self._expr(term) for term in terms], self._int(0))
            case Scaled(factor, argument):
                return self._apply(kind.MULT, self._int(factor), self._expr(argument))
            case FloorDiv(argument, divisor):
                return self._apply(kind.INTS_DIVISION, self._expr(argument), self._int(divisor))
            case TruncDiv(argument, divisor):
                return self._truncated(self._expr(argument), divisor)
            case Rem(argument, divisor):
                dividend = self._expr(argument)
                whole = self._apply(kind.MULT, self._int(divisor), self._truncated(dividend, divisor))
                return self._apply(kind.SUB, dividend, whole)
            case Min(arguments):
                return reduce(lambda a, b: self._chosen(kind.LEQ, a, b), [self._expr(a) for a in arguments])
            case Max(arguments):
                return reduce(lambda a, b: self._chosen(kind.GEQ, a, b), [self._expr(a) for a in arguments])
            case Select(test, then, orelse):
                return self._apply(kind.ITE, self._test(test), self._expr(then), self._expr(orelse))
            case _:
                assert_never(expr)

    def _chosen(self, comparison: Any, one: Any, other: Any) -> Any:
        return self._apply(self.kind.ITE, self._apply(comparison, one, other), one, other)

    def _truncated(self, dividend: Any, divisor: int) -> Any:
        kind, number = self.kind, self._int(divisor)
        up = self._apply(kind.INTS_DIVISION, dividend, number)
        negated = self._apply(kind.NEG, dividend)
        down = self._apply(kind.NEG, self._apply(kind.INTS_DIVISION, negated, number))
        return self._apply(kind.ITE, self._apply(kind.GEQ, dividend, self._int(0)), up, down)

    def _test(self, test: Test) -> Any:
        kind = self.kind
        match test:
            case Compare(relation, left, right):
                return self._compared(relation, self._expr(left), self._expr(right))
            case And(arguments):
                return self._many(kind.AND, [self._test(one) for one in arguments], self.manager.mkTrue())
            case Or(arguments):
                return self._many(kind.OR, [self._test(one) for one in arguments], self.manager.mkFalse())
            case Not(argument):
                return self._apply(kind.NOT, self._test(argument))
            case _:
                assert_never(test)

    def _compared(self, relation: Relation, left: Any, right: Any) -> Any:
        kind = self.kind
        match relation:
            case Relation.EQ:
                return self._apply(kind.EQUAL, left, right)
            case Relation.NE:
                return self._apply(kind.NOT, self._apply(kind.EQUAL, left, right))
            case Relation.LE:
                return self._apply(kind.LEQ, left, right)
            case Relation.LT:
                return self._apply(kind.LT, left, right)
            case Relation.GE:
                return self._apply(kind.GEQ, left, right)
            case Relation.GT:
                return self._apply(kind.GT, left, right)
            case _:
                assert_never(relation)
