"""cvc5 as a prover of obligations: a second opinion that shares nothing with isl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, assert_never

import cvc5

from loopwright.errors import InternalError
from loopwright.loops import expressions as ex
from loopwright.prove.backends.interface import Answer, Fails, Holds, Unknown
from loopwright.prove.obligations.scanning import Obligation

RELATIONS = {
    ex.Relation.LE: cvc5.Kind.LEQ,
    ex.Relation.LT: cvc5.Kind.LT,
    ex.Relation.GE: cvc5.Kind.GEQ,
    ex.Relation.GT: cvc5.Kind.GT,
    ex.Relation.EQ: cvc5.Kind.EQUAL,
}


@dataclass(frozen=True)
class Cvc5:
    seconds: float = 5.0
    """For each obligation."""
    name: str = "cvc5"

    def decide(self, obligations: Sequence[Obligation]) -> tuple[Answer, ...]:
        return tuple(self._decide(one) for one in obligations)

    def _decide(self, obligation: Obligation) -> Answer:
        manager = cvc5.TermManager()
        solver = cvc5.Solver(manager)
        solver.setLogic("QF_LIA")
        solver.setOption("produce-models", "true")
        solver.setOption("tlimit-per", str(int(self.seconds * 1000)))
        integer = manager.getIntegerSort()
        variables = {name: manager.mkConst(integer, f"v{k}") for k, name in enumerate(obligation.variables)}
        solver.assertFormula(_Terms(manager, variables).test(obligation.violated))
        answer = solver.checkSat()
        if answer.isUnsat():
            return Holds()
        if answer.isSat():
            values = {name: solver.getValue(term).getIntegerValue() for name, term in variables.items()}
            return Fails({name: int(value) for name, value in values.items()})
        return Unknown(f"cvc5 could not decide within {self.seconds:g} s: {answer.getUnknownExplanation()}")


@dataclass(frozen=True)
class _Terms:
    """Formulas as cvc5's terms."""

    manager: Any
    variables: dict[str, Any]

    def make(self, kind: Any, *arguments: Any) -> Any:
        return self.manager.mkTerm(kind, *arguments)

    def number(self, value: int) -> Any:
        return self.manager.mkInteger(str(value))

    def expr(self, expr: ex.Expr) -> Any:
        match expr:
            case ex.Int(value):
                return self.number(value)
            case ex.Var(name):
                return self.variables[name]
            case ex.Sum(terms):
                return reduce(
                    lambda a, b: self.make(cvc5.Kind.ADD, a, b), map(self.expr, terms), self.number(0)
                )
            case ex.Scaled(factor, argument):
                return self.make(cvc5.Kind.MULT, self.number(factor), self.expr(argument))
            case ex.FloorDiv(argument, divisor):
                return self.floor(self.expr(argument), divisor)
            case ex.TruncDiv(argument, divisor):
                return self.truncated(self.expr(argument), divisor)
            case ex.Rem(argument, divisor):
                value = self.expr(argument)
                whole = self.make(cvc5.Kind.MULT, self.number(divisor), self.truncated(value, divisor))
                return self.make(cvc5.Kind.SUB, value, whole)
            case ex.Min(arguments):
                return reduce(lambda a, b: self.choose(cvc5.Kind.LEQ, a, b), map(self.expr, arguments))
            case ex.Max(arguments):
                return reduce(lambda a, b: self.choose(cvc5.Kind.GEQ, a, b), map(self.expr, arguments))
            case ex.Select(test, then, orelse):
                return self.make(cvc5.Kind.ITE, self.test(test), self.expr(then), self.expr(orelse))
            case _:
                assert_never(expr)

    def choose(self, kind: Any, a: Any, b: Any) -> Any:
        return self.make(cvc5.Kind.ITE, self.make(kind, a, b), a, b)

    def floor(self, value: Any, divisor: int) -> Any:
        """SMT-LIB's div rounds down for positive divisors."""
        if divisor <= 0:
            raise InternalError(f"a division by {divisor}")
        return self.make(cvc5.Kind.INTS_DIVISION, value, self.number(divisor))

    def truncated(self, value: Any, divisor: int) -> Any:
        """C's: ⌊a/d⌋ where a ≥ 0, and −⌊−a/d⌋ elsewhere."""
        negative = self.make(cvc5.Kind.NEG, self.floor(self.make(cvc5.Kind.NEG, value), divisor))
        positive = self.make(cvc5.Kind.GEQ, value, self.number(0))
        return self.make(cvc5.Kind.ITE, positive, self.floor(value, divisor), negative)

    def test(self, test: ex.Test) -> Any:
        match test:
            case ex.Compare(ex.Relation.NE, left, right):
                return self.make(cvc5.Kind.DISTINCT, self.expr(left), self.expr(right))
            case ex.Compare(relation, left, right):
                return self.make(RELATIONS[relation], self.expr(left), self.expr(right))
            case ex.And(arguments):
                parts = [self.test(one) for one in arguments]
                return reduce(lambda a, b: self.make(cvc5.Kind.AND, a, b), parts, self.manager.mkTrue())
            case ex.Or(arguments):
                parts = [self.test(one) for one in arguments]
                return reduce(lambda a, b: self.make(cvc5.Kind.OR, a, b), parts, self.manager.mkFalse())
            case ex.Not(argument):
                return self.make(cvc5.Kind.NOT, self.test(argument))
            case _:
                assert_never(test)
