"""Inv, Rank1 and Rank2 of [Namjoshi2016, section 4.2] for every step of a program, as obligations.

For a step from point s with iterators i to point t with iterators j, and all parameters,

    Inv     i in dom(s)  implies  j in dom(t)
    Rank1   i in dom(s)  implies  θ(s, i) ≺ θ(t, j)
    Rank2   i in dom(s), k in dom(u), θ(s, i) ≺ θ(u, k)  implies  not θ(u, k) ≺ θ(t, j)

where u is any statement; s may be the start, before all times, and t the end, after them.  The steps come
from the source, domains and times from the model.  Heads of loops are points too: their domain is given by
the source, and their time is just before the iteration they begin.  By the theorem of that section, with
heads as statements without effect, the source then executes the model's schedule.  The conditions of the
source at a point are exact: values that violate an obligation are a state that the source reaches, and the
model is wrong.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import FALSE, TRUE, Compare, Expr, Int, Relation, Test, Var
from loopwright.loops.interpreter import evaluate
from loopwright.loops.traverse import substituted, substituted_expr, variables
from loopwright.model.program import Program, Statement
from loopwright.presburger.functions import functions_of
from loopwright.presburger.points import values_text
from loopwright.presburger.sets import isl_failures
from loopwright.prove.obligations.formulas import (
    Fails,
    NotDecided,
    Obligation,
    Prover,
    conjunction,
    disjunction,
    expr_of,
    formula_of,
)
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.reading.loops import text_loops
from loopwright.prove.text.steps import ProgramPoint, Steps, Transition, lexicographic, steps_of
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict


@dataclass(frozen=True)
class Modelled:
    """A statement's domain and time as formulas over its iterators."""

    statement: Statement
    domain: Test
    time: tuple[Expr, ...]

    @cached_property
    def _own(self) -> dict[str, Expr]:
        """Fresh names for the iterators of another instance."""
        name = self.statement.name
        return {iterator: Var(f"{iterator} of {name}") for iterator in self.statement.iterators}

    @cached_property
    def instance(self) -> Test:
        """The domain condition of that instance."""
        return substituted(self.domain, self._own)

    @cached_property
    def instance_time(self) -> tuple[Expr, ...]:
        """The time of that instance."""
        return tuple(_folded(substituted_expr(entry, self._own)) for entry in self.time)


def prove_ranking(program: Program, prover: Prover) -> Verdict:
    """Proves with `prover` that the source executes the model's schedule."""
    try:
        obligations = list(ranking_obligations(program))
    except Unreadable as failure:
        return Undecided(str(failure))
    for one, answer in zip(obligations, prover.decide(obligations), strict=True):
        match answer:
            case Fails(values):
                shown = values_text(values)
                message = f"{one.name} does not hold: {one.meaning}, says {prover.name}"
                return Refuted(one.name, message, shown or "for all values", values)
            case NotDecided(reason):
                return Undecided(f"{one.name}, {one.meaning}: {reason}")
    return Proved(len(obligations))


def ranking_obligations(program: Program) -> Iterator[Obligation]:
    """Yields all obligations, step by step; raises Unreadable if the loops have no form in LOOP."""
    loops = text_loops(program)
    with isl_failures("isl could not write the loops as formulas"):
        steps = steps_of(loops)
        system = _System(program, steps, {s.name: _modelled(s, program) for s in program.statements})
    context = formula_of(program.context, ())
    for arrow in steps.entry:
        yield from system.step(None, arrow, context)
    for source, arrows in zip(steps.points, steps.arrows, strict=True):
        for arrow in arrows:
            yield from system.step(source, arrow, context)


def _modelled(statement: Statement, program: Program) -> Modelled:
    domain = formula_of(statement.domain.intersect_params(program.context), statement.iterators)
    return Modelled(statement, domain, _time(statement))


def _time(statement: Statement) -> tuple[Expr, ...]:
    found = functions_of(statement.schedule)
    if len(found) != 1:
        raise InternalError(
            Code.INTERNAL, f"the schedule of {statement.name} as read is not one affine function"
        )
    count = found[0].dim(isl.dim_type.out)
    return tuple(expr_of(found[0].get_at(k), statement.iterators) for k in range(count))


@dataclass(frozen=True)
class _Column:
    """The statements by one entry of their times: sorted by it if it is constant."""

    constants: tuple[int, ...]
    sorted: tuple[Modelled, ...]
    others: tuple[Modelled, ...]

    @staticmethod
    def of(position: int, model: tuple[Modelled, ...]) -> _Column:
        known, others = [], []
        for one in model:
            entry = one.instance_time[position]
            if isinstance(entry, Int):
                known.append((entry.value, one))
            else:
                others.append(one)
        known.sort(key=lambda pair: pair[0])
        return _Column(tuple(value for value, _ in known), tuple(one for _, one in known), tuple(others))

    def within(self, low: float, high: float) -> tuple[Modelled, ...]:
        """The statements whose constant is from `low` to `high`, and those without a constant."""
        first, last = bisect_left(self.constants, low), bisect_right(self.constants, high)
        return (*self.sorted[first:last], *self.others)


@dataclass(frozen=True)
class _System:
    program: Program
    steps: Steps
    model: dict[str, Modelled]

    def step(self, source: ProgramPoint | None, arrow: Transition, context: Test) -> Iterator[Obligation]:
        target = None if arrow.target is None else self.steps.points[arrow.target]
        here = TRUE if source is None else self._holds(source)
        path = conjunction([context, here, arrow.condition])
        where = f"from {self._named(source, 'the start')} to {self._named(target, 'the end')}"
        early = None if source is None else self._time(source)
        late = None if target is None else self._moved_time(target, arrow)
        if target is not None:
            kept = substituted(self._holds(target), arrow.values)
            yield Obligation("Inv", f"{where}, what is reached is in its domain", path, kept)
        if early is not None and late is not None:
            yield Obligation("Rank1", f"{where}, time moves on", path, lexicographic(early, late))
        skipped = conjunction([path, self._between(early, late)])
        yield Obligation("Rank2", f"{where}, no instance has its time between", skipped, FALSE)

    def _holds(self, point: ProgramPoint) -> Test:
        """What holds at a point: the conditions of the source, and the domain of a statement."""
        if point.is_head:
            return point.invariant
        known = self.model[point.call.name]
        values = dict(zip(known.statement.iterators, point.call.arguments, strict=True))
        return conjunction([point.invariant, substituted(known.domain, values)])

    def _time(self, point: ProgramPoint) -> tuple[Expr, ...]:
        known = self.model[point.call.name]
        values = dict(zip(known.statement.iterators, point.call.arguments, strict=True))
        time = tuple(_folded(substituted_expr(one, values)) for one in known.time)
        if point.loop is None:
            return time
        begun = (*time[: 2 * point.loop + 2], Int(-1))
        return (*begun, *(Int(0),) * (len(time) - len(begun)))

    def _moved_time(self, target: ProgramPoint, arrow: Transition) -> tuple[Expr, ...]:
        return tuple(_folded(substituted_expr(one, arrow.values)) for one in self._time(target))

    def _between(self, early: tuple[Expr, ...] | None, late: tuple[Expr, ...] | None) -> Test:
        """States that some instance k of some statement has its time between the two.

        p·a ≺ θ ≺ p·b  iff  θ = p·c and a ≺ c ≺ b: if the two times share a prefix p, constants in the rest
        mostly decide at once, and the formula does not grow with the number of statements.
        """
        shared = 0 if early is None or late is None else _shared_prefix(early, late)
        prefix = () if early is None else early[:shared]
        begin = None if early is None else early[shared:]
        end = None if late is None else late[shared:]
        near = self._near(prefix, begin, end)
        return disjunction([_instance_between(one, prefix, begin, end) for one in near])

    def _near(
        self, prefix: tuple[Expr, ...], begin: tuple[Expr, ...] | None, end: tuple[Expr, ...] | None
    ) -> Sequence[Modelled]:
        """The statements that no constant of their time rules out; few, for separate nests."""
        ranges: list[tuple[int, float, float]]
        ranges = [(k, one.value, one.value) for k, one in enumerate(prefix) if isinstance(one, Int)]
        low = begin[0].value if begin and isinstance(begin[0], Int) else -inf
        high = end[0].value if end and isinstance(end[0], Int) else inf
        if self.by_constant and len(prefix) < len(self.by_constant):
            ranges.append((len(prefix), low, high))
        choices = [self.by_constant[k].within(low, high) for k, low, high in ranges]
        return min(choices, key=len, default=tuple(self.model.values()))

    @cached_property
    def by_constant(self) -> tuple[_Column, ...]:
        """The statements by each entry of their times."""
        model = tuple(self.model.values())
        width = min((len(one.time) for one in model), default=0)
        return tuple(_Column.of(k, model) for k in range(width))

    def _named(self, point: ProgramPoint | None, otherwise: str) -> str:
        if point is None:
            return otherwise
        line = self.program.source.line_of(self.model[point.call.name].statement.body.place.start)
        return f"{'a loop around ' if point.is_head else ''}line {line}"


def _shared_prefix(early: tuple[Expr, ...], late: tuple[Expr, ...]) -> int:
    """The length of the common prefix of two times."""
    pairs = enumerate(zip(early, late, strict=True))
    return next((k for k, (a, b) in pairs if a != b), len(early))


def _instance_between(
    one: Modelled, prefix: tuple[Expr, ...], begin: tuple[Expr, ...] | None, end: tuple[Expr, ...] | None
) -> Test:
    """θ = prefix·c for an instance of the statement, and begin ≺ c ≺ end."""
    head, rest = one.instance_time[: len(prefix)], one.instance_time[len(prefix) :]
    if any(isinstance(a, Int) and isinstance(b, Int) and a != b for a, b in zip(prefix, head, strict=True)):
        return FALSE
    after = TRUE if begin is None else lexicographic(begin, rest)
    if after == FALSE:
        return FALSE
    ahead = TRUE if end is None else lexicographic(rest, end)
    if ahead == FALSE:
        return FALSE
    same = [Compare(Relation.EQ, a, b) for a, b in zip(prefix, head, strict=True) if a != b]
    return conjunction([one.instance, *same, after, ahead])


def _folded(expr: Expr) -> Expr:
    """An expression without variables is replaced by its constant value."""
    return expr if variables(expr) else Int(evaluate(expr, {}))
