"""The obligations for a program to execute its schedule, for any prover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TypeAlias, assert_never

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import substituted, substituted_expr, variables
from loopwright.model.schedule import Schedule
from loopwright.prove.obligations.decisions import choices, opposite
from loopwright.prove.obligations.formulas import Obligation, before, conjunction, disjunction, equal
from loopwright.prove.obligations.timetable import Shape, Timetable, Vector, times_at, timetable
from loopwright.prove.obligations.witnesses import witness
from loopwright.source import Span

FAR = 2**32
"""Farther than any factor or divisor moves an iterator from where two sides of a test meet."""


@dataclass(frozen=True)
class ReachedCall:
    """A call with the conditions under which it is reached, over variables of its own."""

    position: int
    name: str
    arguments: Vector
    hint: Vector
    path: tuple[ex.Test, ...]
    values: tuple[str, ...]
    """The variables of the surrounding iterators and lets, outermost first."""

    def renamed(self, outer: int) -> ReachedCall:
        """The same call for another execution, with renamed iterators except for the first `outer`."""
        new = {name: ex.Var(f"{name}#") for name in self.values[outer:]}
        return ReachedCall(
            self.position,
            self.name,
            tuple(substituted_expr(one, new) for one in self.arguments),
            tuple(substituted_expr(one, new) for one in self.hint),
            tuple(substituted(one, new) for one in self.path),
            (*self.values[:outer], *(f"{name}#" for name in self.values[outer:])),
        )


@dataclass(frozen=True)
class _Scope:
    """The known conditions at a place of the program, and the variable of each name."""

    names: dict[str, ex.Expr]
    path: tuple[ex.Test, ...] = ()
    values: tuple[str, ...] = ()

    def expr(self, expr: ex.Expr) -> ex.Expr:
        return substituted_expr(expr, self.names)

    def test(self, test: ex.Test) -> ex.Test:
        return substituted(test, self.names)

    def where(self, *tests: ex.Test) -> _Scope:
        return _Scope(self.names, (*self.path, *tests), self.values)

    def entered(self, name: str) -> _Scope:
        fresh, taken = (
            name,
            {*self.values, *(one.name for one in self.names.values() if isinstance(one, ex.Var))},
        )
        while fresh in taken:
            fresh += "_"
        return _Scope({**self.names, name: ex.Var(fresh)}, self.path, (*self.values, fresh))


Pair: TypeAlias = tuple[ReachedCall, ReachedCall, tuple[ex.Test, ...]]


def scanning_obligations(schedule: Schedule, program: Node) -> Iterator[Obligation]:
    """The design's obligations 1 to 4, and termination of the loops, for `program` to execute `schedule`."""
    yield from table_obligations(timetable(schedule, program), program)


def table_obligations(
    table: Timetable, program: Node, spans: Mapping[str, Span] | None = None
) -> Iterator[Obligation]:
    """The same from a timetable; `spans` are the places of the statements, by name, if known."""
    places = spans or {}
    scope = _Scope({name: ex.Var(name) for name in table.parameters})
    walk = _Walk(table)
    found = list(walk.reached(program, scope))
    yield from walk.endings(program, scope)
    yield from _missing(table, found, places)
    for call in found:
        yield _extra(table, call, places)
    walk = _Walk(table)
    yield from _ordered(table, walk.pairs(program, scope), places)


class _Walk:
    """Counts the calls in the order of the walk."""

    def __init__(self, table: Timetable) -> None:
        self.table = table
        self.position = 0
        self.loops = 0

    def reached(self, node: Node, scope: _Scope) -> Iterator[ReachedCall]:
        """Yields the calls of `node`, in source order."""
        match node:
            case Call(name, arguments):
                hint = self.table.hint(self.position)
                values = tuple(map(scope.expr, arguments)), tuple(map(scope.expr, hint))
                yield ReachedCall(self.position, name, *values, scope.path, scope.values)
                self.position += 1
            case _:
                for child, inner in _children(node, scope):
                    yield from self.reached(child, inner)

    def endings(self, node: Node, scope: _Scope) -> Iterator[Obligation]:
        """Yields obligations that a loop's test holds up to some value and not after it."""
        if isinstance(node, For):
            yield from self._ending(node, scope)
        for child, inner in _children(node, scope):
            yield from self.endings(child, inner)

    def _ending(self, loop: For, scope: _Scope) -> Iterator[Obligation]:
        number, self.loops = self.loops, self.loops + 1
        inner = _inside(loop, scope)
        later = _Scope({**inner.names, loop.iterator: ex.Var(f"{inner.values[-1]}#")})
        known = (self.table.known, *scope.path, *_strided(loop, scope, inner.values[-1]))
        first, second = ex.Var(inner.values[-1]), ex.Var(f"{inner.values[-1]}#")
        yield Obligation(
            f"interval_{number}",
            f"where the test of the loop over {loop.iterator} holds it holds at all earlier iterations",
            conjunction(
                [
                    *known,
                    *_strided(loop, scope, second.name),
                    ex.Compare(ex.Relation.LE, first, second),
                    later.test(loop.test),
                ]
            ),
            inner.test(loop.test),
        )
        limit = limit_of(loop.test, loop.iterator)
        reason = ex.FALSE if limit is None else ex.Compare(ex.Relation.LE, first, inner.expr(limit))
        yield Obligation(
            f"end_{number}",
            f"the test of the loop over {loop.iterator} fails from some value on",
            conjunction([self.table.known, *scope.path, inner.test(loop.test)]),
            reason,
        )

    def pairs(self, node: Node, scope: _Scope) -> Iterator[Pair]:
        """Yields executions of two calls, the earlier first, at the point where their paths part."""
        match node:
            case Call():
                self.position += 1
            case Block(children):
                parts: list[list[ReachedCall]] = []
                start = self.position
                for child in children:
                    parts.append(list(self.reached(child, scope)))
                for k, mine in enumerate(parts):
                    for theirs in parts[k + 1 :]:
                        for a, b in product(mine, theirs):
                            yield a, b.renamed(len(scope.values)), ()
                self.position = start
                for child in children:
                    yield from self.pairs(child, scope)
            case For(body=body):
                start = self.position
                inner = _inside(node, scope)
                calls = list(self.reached(body, inner))
                depth = len(scope.values)
                order = ex.Compare(ex.Relation.LT, ex.Var(inner.values[-1]), ex.Var(f"{inner.values[-1]}#"))
                for a, b in product(calls, repeat=2):
                    yield a, b.renamed(depth), (order,)
                self.position = start
                yield from self.pairs(body, inner)
            case _:
                for child, deeper in _children(node, scope):
                    yield from self.pairs(child, deeper)


def _children(node: Node, scope: _Scope) -> Iterator[tuple[Node, _Scope]]:
    """Yields the children of `node`, each with its scope."""
    match node:
        case Call():
            return
        case Block(children):
            for child in children:
                yield child, scope
        case If(test, then, orelse):
            yield then, scope.where(scope.test(test))
            if orelse is not None:
                yield orelse, scope.where(ex.Not(scope.test(test)))
        case For(body=body):
            yield body, _inside(node, scope)
        case Let(name, value, body):
            inner = scope.entered(name)
            yield body, inner.where(ex.Compare(ex.Relation.EQ, ex.Var(inner.values[-1]), scope.expr(value)))
        case Remarked(body=body):
            yield body, scope
        case _:
            assert_never(node)


def _inside(loop: For, scope: _Scope) -> _Scope:
    inner = scope.entered(loop.iterator)
    return inner.where(*_strided(loop, scope, inner.values[-1]), inner.test(loop.test))


def _strided(loop: For, scope: _Scope, value: str) -> tuple[ex.Test, ...]:
    """The conditions that `value` is the start or a whole number of steps after it."""
    if loop.step <= 0:
        raise InternalError(Code.INTERNAL, f"the loop over {loop.iterator} counts by {loop.step}")
    start = scope.expr(loop.start)
    above = ex.Compare(ex.Relation.LE, start, ex.Var(value))
    if loop.step == 1:
        return (above,)
    distance = ex.Sum((ex.Var(value), ex.Scaled(-1, start)))
    return above, ex.Compare(ex.Relation.EQ, ex.Rem(distance, loop.step), ex.Int(0))


def limit_of(test: ex.Test, iterator: str) -> ex.Expr | None:
    """An upper bound of the iterator if the test holds, or None if none is found."""
    match test:
        case ex.Compare(ex.Relation.LE | ex.Relation.LT | ex.Relation.EQ, ex.Var(name), right) if (
            name == iterator
        ):
            return right if iterator not in variables(right) else None
        case ex.Compare(ex.Relation.GE | ex.Relation.GT, left, ex.Var(name)) if name == iterator:
            return left if iterator not in variables(left) else None
        case ex.Compare(ex.Relation.NE):
            return None
        case ex.Compare(_, left, right) if iterator in variables(left) | variables(right):
            zero: dict[str, ex.Expr] = {iterator: ex.Int(0)}
            gap = ex.Sum((substituted_expr(right, zero), ex.Scaled(-1, substituted_expr(left, zero))))
            return ex.Scaled(FAR, ex.Sum((ex.Max((gap, ex.Scaled(-1, gap))), ex.Int(1))))
        case ex.Compare():
            return None
        case ex.And(arguments):
            return next((one for part in arguments if (one := limit_of(part, iterator)) is not None), None)
        case ex.Or(arguments):
            limits = [limit_of(part, iterator) for part in arguments]
            known = tuple(one for one in limits if one is not None)
            return ex.Max(known) if known and len(known) == len(limits) else None
        case ex.Not():
            return None
        case _:
            assert_never(test)


def _missing(
    table: Timetable, calls: Sequence[ReachedCall], spans: Mapping[str, Span]
) -> Iterator[Obligation]:
    """D − range(E) = ∅: a call and its iterations for every instance."""
    for statement in table.statements:
        for shape in statement.shapes:
            if shape.domain == ex.FALSE:
                continue
            tree = witness(shape)
            label = f"missing_{statement.name or 'statement'}_{len(shape.arguments)}"
            meaning = f"every instance of {statement.name or 'the statement'} is run"
            given = conjunction([table.known, shape.domain])
            span = spans.get(statement.name)
            if tree is None:
                yield Obligation(label, meaning, given, ex.FALSE, span)
                continue
            for number, (way, found) in enumerate(choices(tree)):
                call = calls[found.position]
                cases = [test if holds else opposite(test) for test, holds in way]
                at = dict(zip(call.values, found.iterators, strict=True))
                point = tuple(ex.Var(name) for name in (*shape.arguments, *shape.times))
                event = [substituted_expr(one, at) for one in (*call.arguments, *call.hint)]
                wanted = [*(substituted(one, at) for one in call.path), equal(event, point)]
                yield Obligation(
                    f"{label}_{number}", meaning, conjunction([given, *cases]), conjunction(wanted), span
                )


def _shape(table: Timetable, call: ReachedCall) -> Shape | None:
    for statement in table.statements:
        if statement.name == call.name:
            fitting = [one for one in statement.shapes if len(one.arguments) == len(call.arguments)]
            return fitting[0] if fitting else None
    return None


def _extra(table: Timetable, call: ReachedCall, spans: Mapping[str, Span]) -> Obligation:
    """range(E) − D = ∅, for one call."""
    shape = _shape(table, call)
    wanted: ex.Test = ex.FALSE
    if shape is not None:
        event = dict(zip((*shape.arguments, *shape.times), (*call.arguments, *call.hint), strict=True))
        wanted = substituted(shape.domain, event)
    return Obligation(
        f"extra_{call.position}",
        f"call {call.position}, of {call.name or 'the statement'}, runs only instances of the schedule",
        conjunction([table.known, *call.path]),
        wanted,
        spans.get(call.name),
    )


def _times(table: Timetable, call: ReachedCall) -> Iterator[tuple[tuple[ex.Test, ...], Vector]]:
    """Yields the call's time, case by case."""
    shape = _shape(table, call)
    if shape is None:
        return
    if shape.times:
        yield (), call.hint
        return
    yield from times_at(shape, call.arguments)


def _ordered(table: Timetable, pairs: Iterator[Pair], spans: Mapping[str, Span]) -> Iterator[Obligation]:
    """States that no two executions contradict the schedule, and none are of the same instance."""
    for number, (a, b, order) in enumerate(pairs):
        for (some, first), (other, second) in product(_times(table, a), _times(table, b)):
            given = conjunction(list(dict.fromkeys([table.known, *a.path, *b.path, *order, *some, *other])))
            same = (
                equal((*a.arguments, *a.hint), (*b.arguments, *b.hint))
                if a.name == b.name and len(a.arguments) == len(b.arguments)
                else ex.FALSE
            )
            wanted = disjunction([before(first, second), conjunction([equal(first, second), ex.Not(same)])])
            yield Obligation(
                f"order_{number}_{a.position}_{b.position}",
                f"call {a.position} before call {b.position} is in the schedule's order, and not the same",
                given,
                wanted,
                spans.get(b.name),
            )
