"""cvc5, an SMT solver, as a prover of obligations: a second opinion.

It decides without isl; the obligations it is given are built with isl's sets.

Integers are unbounded in both LOOP and SMT-LIB.  SMT-LIB's `div` by a positive constant rounds
towards minus infinity; C's rounds towards zero, and is written out.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import reduce
from importlib.util import find_spec
from time import process_time
from typing import Any, assert_never

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.interpreter import holds
from loopwright.loops.traverse import substituted
from loopwright.prove.obligations.formulas import Answer, Fails, Holds, NotDecided, Obligation, names_in

KINDS = {
    ex.Relation.EQ: "EQUAL",
    ex.Relation.NE: "DISTINCT",
    ex.Relation.LE: "LEQ",
    ex.Relation.LT: "LT",
    ex.Relation.GE: "GEQ",
    ex.Relation.GT: "GT",
}

_NOT_ASKED = "not asked"
_TIMEOUT = "TIMEOUT"
PATIENCE = 16
QUICK = 0.1
"""Seconds in which most obligations are decided many times over."""
TOGETHER = 200
"""Maximum number of obligations that are asked together at first."""


def is_installed() -> bool:
    return find_spec("cvc5") is not None


def demand_cvc5() -> None:
    """Raises GaveUp, with instructions, if cvc5 is not installed."""
    _module()


def _module() -> Any:
    try:
        return importlib.import_module("cvc5")
    except ImportError:
        raise GaveUp(
            Code.MISSING_PROGRAM,
            "cvc5 is not installed",
            hint="install it with: pip install 'loopwright[cvc5]'",
        ) from None


@dataclass(frozen=True)
class Cvc5:
    seconds: float = 5.0
    """The time limit per obligation."""
    name: str = "cvc5"

    def decide(self, obligations: Sequence[Obligation]) -> tuple[Answer, ...]:
        """Decides the obligations; raises `GaveUp`, with instructions, if cvc5 is not installed.

        One solver that is used repeatedly is four times as fast as a new one each time, but does not simplify
        as much: a new one is asked what it cannot decide at once.  Formulas that differ only in the names of
        their variables, as those of similar nests do, are asked once. Before that, a limited number are asked
        together: if none of them can fail, all hold.
        """
        module = _module()
        if len(obligations) <= TOGETHER and self._all_hold(module, obligations):
            return (Holds(),) * len(obligations)
        answers: dict[ex.Test, dict[str, int] | str | None] = {}
        found: list[Answer] = []
        common = _solver(module, min(QUICK, self.seconds), incremental=True)
        for one in obligations:
            violated = one.violated
            names = names_in(violated)
            plain = {name: f"v{k}" for k, name in enumerate(names)}
            question = substituted(violated, {name: ex.Var(short) for name, short in plain.items()})
            answer = answers.get(question, _NOT_ASKED)
            if answer is _NOT_ASKED:
                answer = common.solution(question, tuple(plain.values()))
                if isinstance(answer, str):
                    answer = self._alone(module, question, tuple(plain.values()))
                    common = _solver(module, min(QUICK, self.seconds), incremental=True)
                answers[question] = answer
            found.append(self._answer(one.name, violated, plain, answer))
        return tuple(found)

    def _all_hold(self, module: Any, obligations: Sequence[Obligation]) -> bool:
        violated = ex.Or(tuple(one.violated for one in obligations))
        solver = _solver(module, min(QUICK * len(obligations), self.seconds), incremental=False)
        return solver.solution(violated, names_in(violated)) is None

    def _alone(self, module: Any, question: ex.Test, names: tuple[str, ...]) -> dict[str, int] | str | None:
        """Asks a new solver, which measures wall-clock time: the limit is doubled repeatedly, up to
        `PATIENCE` times, if other programs had the processor."""
        limit = self.seconds
        while True:
            start = process_time()
            answer = _solver(module, limit, incremental=False).solution(question, names)
            is_spent = process_time() - start > 0.8 * self.seconds or limit >= PATIENCE * self.seconds
            if not isinstance(answer, str) or not answer.endswith(_TIMEOUT) or is_spent:
                return answer
            limit *= 2

    def _answer(
        self, name: str, violated: ex.Test, plain: Mapping[str, str], solution: dict[str, int] | str | None
    ) -> Answer:
        match solution:
            case None:
                return Holds()
            case str(reason):
                return NotDecided(f"cvc5 could not decide within {self.seconds:g} s: {reason}")
            case found:
                values = {own: found[short] for own, short in plain.items()}
                if not holds(violated, values):
                    raise InternalError(Code.INTERNAL, f"cvc5's values do not refute {name}: {values}")
                return Fails(values)


def _solver(module: Any, seconds: float, *, incremental: bool) -> _Solver:
    manager = module.TermManager()
    solver = module.Solver(manager)
    solver.setLogic("QF_LIA")
    solver.setOption("produce-models", "true")
    solver.setOption("incremental", "true" if incremental else "false")
    solver.setOption("tlimit-per", str(int(seconds * 1000)))
    return _Solver(module.Kind, manager, solver, incremental)


@dataclass(frozen=True)
class _Solver:
    """One solver and its terms; a name is always the same integer."""

    kind: Any
    manager: Any
    solver: Any
    incremental: bool
    variables: dict[str, Any] = field(default_factory=dict)

    def solution(self, test: ex.Test, names: Sequence[str]) -> dict[str, int] | str | None:
        """Values for which `test` holds; None if there are none; or the reason why it is not known."""
        integer = self.manager.getIntegerSort()
        for name in names:
            if name not in self.variables:
                self.variables[name] = self.manager.mkConst(integer, f"v{len(self.variables)}")
        if self.incremental:
            self.solver.push()
        self.solver.assertFormula(self.test(test))
        answer = self.solver.checkSat()
        found: dict[str, int] | str | None = None
        if answer.isSat():
            terms = {name: self.solver.getValue(self.variables[name]) for name in names}
            found = {name: int(term.getIntegerValue()) for name, term in terms.items()}
        elif not answer.isUnsat():
            found = str(answer.getUnknownExplanation())
        if self.incremental:
            self.solver.pop()
        return found

    def make(self, kind: Any, *arguments: Any) -> Any:
        return self.manager.mkTerm(kind, *arguments)

    def many(self, kind: Any, terms: list[Any], none: Any) -> Any:
        return none if not terms else terms[0] if len(terms) == 1 else self.make(kind, *terms)

    def number(self, value: int) -> Any:
        return self.manager.mkInteger(str(value))

    def expr(self, expr: ex.Expr) -> Any:
        kind = self.kind
        match expr:
            case ex.Int(value):
                return self.number(value)
            case ex.Var(name):
                return self.variables[name]
            case ex.Sum(terms):
                return self.many(kind.ADD, [self.expr(term) for term in terms], self.number(0))
            case ex.Scaled(factor, argument):
                return self.make(kind.MULT, self.number(factor), self.expr(argument))
            case ex.FloorDiv(argument, divisor):
                return self.floor(self.expr(argument), divisor)
            case ex.TruncDiv(argument, divisor):
                return self.truncated(self.expr(argument), divisor)
            case ex.Rem(argument, divisor):
                value = self.expr(argument)
                whole = self.make(kind.MULT, self.number(divisor), self.truncated(value, divisor))
                return self.make(kind.SUB, value, whole)
            case ex.Min(arguments):
                return reduce(lambda a, b: self.choose(kind.LEQ, a, b), map(self.expr, arguments))
            case ex.Max(arguments):
                return reduce(lambda a, b: self.choose(kind.GEQ, a, b), map(self.expr, arguments))
            case ex.Select(test, then, orelse):
                return self.make(kind.ITE, self.test(test), self.expr(then), self.expr(orelse))
            case _:
                assert_never(expr)

    def choose(self, comparison: Any, a: Any, b: Any) -> Any:
        return self.make(self.kind.ITE, self.make(comparison, a, b), a, b)

    def floor(self, value: Any, divisor: int) -> Any:
        if divisor <= 0:
            raise InternalError(Code.INTERNAL, f"a division by {divisor}")
        return self.make(self.kind.INTS_DIVISION, value, self.number(divisor))

    def truncated(self, value: Any, divisor: int) -> Any:
        """C's division: ⌊a/d⌋ where a ≥ 0, and −⌊−a/d⌋ elsewhere."""
        kind = self.kind
        negative = self.make(kind.NEG, self.floor(self.make(kind.NEG, value), divisor))
        positive = self.make(kind.GEQ, value, self.number(0))
        return self.make(kind.ITE, positive, self.floor(value, divisor), negative)

    def test(self, test: ex.Test) -> Any:
        kind = self.kind
        match test:
            case ex.Compare(relation, left, right):
                return self.make(getattr(kind, KINDS[relation]), self.expr(left), self.expr(right))
            case ex.And(arguments):
                return self.many(kind.AND, [self.test(one) for one in arguments], self.manager.mkTrue())
            case ex.Or(arguments):
                return self.many(kind.OR, [self.test(one) for one in arguments], self.manager.mkFalse())
            case ex.Not(argument):
                return self.make(kind.NOT, self.test(argument))
            case _:
                assert_never(test)
