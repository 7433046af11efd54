"""A program of LOOP as a transition system: its points, and the steps between them.

A point is a statement, or the head of a loop, where its test is evaluated; a step goes from one point to the
next without passing another.  The paths p_{s,t} of [Namjoshi2016, section 4.2] are chains of steps through
heads, of which there may be any number between two statements: a loop can be empty for many iterations of the
one around it.  A head is like a statement without effect.

At a head, the iterator has a value before which no earlier value failed the test:

    i = start + k step, k >= 0, and the test holds of start, start + step, ..., i - step
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import calls_of, substituted, substituted_expr, variables
from loopwright.presburger.dimensions import later_by_last
from loopwright.presburger.named import space_of
from loopwright.prove.obligations.formulas import conjunction, formula_of
from loopwright.prove.scanning.conditions import IteratorScope, negation, region
from loopwright.prove.scanning.executed import is_upper_bound

Values: TypeAlias = Mapping[str, ex.Expr]


@dataclass(frozen=True)
class ProgramPoint:
    """A statement or loop head; the source guarantees `invariant` of the iterators `names` there.

    `call` is the statement; for a head, the first one in the loop, and `loop` is the number of loops around
    the head.
    """

    names: tuple[str, ...]
    invariant: ex.Test
    call: Call
    loop: int | None = None

    @property
    def is_head(self) -> bool:
        return self.loop is not None


@dataclass(frozen=True)
class Transition:
    """A conditional transition to a point, or to the end of the program (None).

    `values` are the target's iterators that change, in terms of those at the source.
    """

    condition: ex.Test
    target: int | None
    values: Values = field(default_factory=dict)

    def when(self, condition: ex.Test) -> Transition:
        return Transition(conjunction([condition, self.condition]), self.target, self.values)


@dataclass(frozen=True)
class Steps:
    """A transition system: `entry` are the arrows from the start, `arrows[k]` those from point k."""

    points: tuple[ProgramPoint, ...]
    entry: tuple[Transition, ...]
    arrows: tuple[tuple[Transition, ...], ...]


def steps_of(program: Node) -> Steps:
    """The points and steps of a program; loops without statements are left out."""
    building = _Building([], [])
    entry = building.enter(_plain(program, {}), (), ex.TRUE, (Transition(ex.TRUE, None),))
    return Steps(tuple(building.points), entry, tuple(building.arrows))


def _plain(node: Node, values: Values) -> Node:
    """`node` without declarations and marks, with the declared names replaced by their values."""
    match node:
        case Call(name, arguments):
            return Call(name, tuple(substituted_expr(one, values) for one in arguments))
        case Block(children):
            return Block(tuple(_plain(child, values) for child in children))
        case If(test, then, orelse):
            other = Block(()) if orelse is None else _plain(orelse, values)
            return If(substituted(test, values), _plain(then, values), other)
        case For(iterator, start, test, step, body):
            inner = {name: value for name, value in values.items() if name != iterator}
            first = substituted_expr(start, values)
            return For(iterator, first, substituted(test, inner), step, _plain(body, inner))
        case Let(name, value, body):
            return _plain(body, {**values, name: substituted_expr(value, values)})
        case Remarked(_, body):
            return _plain(body, values)
        case _:
            assert_never(node)


@dataclass
class _Building:
    """Points and arrows found so far."""

    points: list[ProgramPoint]
    arrows: list[tuple[Transition, ...]]

    def enter(
        self, node: Node, names: tuple[str, ...], known: ex.Test, after: tuple[Transition, ...]
    ) -> tuple[Transition, ...]:
        """The transitions into `node`, where `after` are those that follow it; all in terms of `names`."""
        match node:
            case Call():
                self.points.append(ProgramPoint(names, known, node))
                self.arrows.append(after)
                return (Transition(ex.TRUE, len(self.points) - 1),)
            case Block(children):
                for child in reversed(children):
                    after = self.enter(child, names, known, after)
                return after
            case If(test, then, orelse):
                yes = self.enter(then, names, conjunction([known, test]), after)
                no = self.enter(orelse or Block(()), names, conjunction([known, ex.Not(test)]), after)
                return (*(one.when(test) for one in yes), *(one.when(ex.Not(test)) for one in no))
            case For():
                call = next(iter(calls_of(node)), None)
                return after if call is None else self._loop(node, call, names, known, after)
            case Let() | Remarked():
                raise AssertionError("declarations and marks were taken out before")
            case _:
                assert_never(node)

    def _loop(
        self, loop: For, call: Call, names: tuple[str, ...], known: ex.Test, after: tuple[Transition, ...]
    ) -> tuple[Transition, ...]:
        here = (*names, loop.iterator)
        head, inside = _reached(loop, here)
        self.points.append(ProgramPoint(here, conjunction([known, head]), call, len(names)))
        self.arrows.append(())
        place = len(self.points) - 1
        following = ex.Sum((ex.Var(loop.iterator), ex.Int(loop.step)))
        back = (Transition(ex.TRUE, place, {loop.iterator: following}),)
        body = self.enter(loop.body, here, conjunction([known, inside]), back)
        self.arrows[place] = (
            *(one.when(loop.test) for one in body),
            *(one.when(ex.Not(loop.test)) for one in after),
        )
        return (Transition(ex.TRUE, place, {loop.iterator: loop.start}),)


def _reached(loop: For, names: tuple[str, ...]) -> tuple[ex.Test, ex.Test]:
    """The conditions on the iterator at the head of a loop, and in its body.

    If a test that fails for a value fails for all greater values, only the previous value is tested; for any
    other test, like `i != n`, all previous values are.
    """
    steps = _progression(loop)
    if not is_upper_bound(loop.test, loop.iterator):
        head = conjunction([steps, _never_failed(loop, steps, names)])
        return head, conjunction([head, loop.test])
    again = substituted(loop.test, {loop.iterator: ex.Sum((ex.Var(loop.iterator), ex.Int(-loop.step)))})
    begun = ex.Or((ex.Compare(ex.Relation.EQ, ex.Var(loop.iterator), loop.start), again))
    return conjunction([steps, begun]), conjunction([steps, loop.test])


def _never_failed(loop: For, steps: ex.Test, names: tuple[str, ...]) -> ex.Test:
    """No earlier value fails the test; isl eliminates the quantifier, and Inv checks its result."""
    parameters = sorted((variables(steps) | variables(loop.test)) - set(names))
    space = isl.Set.universe(space_of(parameters, names))
    everywhere = IteratorScope(space, {name: k for k, name in enumerate(names)})
    values = everywhere.within(region(steps, everywhere))
    failed = values.domain.intersect(region(negation(loop.test), values))
    return formula_of(values.domain.subtract(later_by_last(failed)).gist(values.domain), names)


def _progression(loop: For) -> ex.Test:
    """i = start + k step, k >= 0."""
    least = ex.Compare(ex.Relation.GE, ex.Var(loop.iterator), loop.start)
    if loop.step == 1:
        return least
    distance = ex.Sum((ex.Var(loop.iterator), ex.Scaled(-1, loop.start)))
    return conjunction([least, ex.Compare(ex.Relation.EQ, ex.Rem(distance, loop.step), ex.Int(0))])


def lexicographic(left: Sequence[ex.Expr], right: Sequence[ex.Expr]) -> ex.Test:
    """left ≺ right; constants are compared at once."""
    for k, (a, b) in enumerate(zip(left, right, strict=True)):
        if isinstance(a, ex.Int) and isinstance(b, ex.Int):
            if a.value != b.value:
                return ex.TRUE if a.value < b.value else ex.Or(())
            continue
        rest = lexicographic(left[k + 1 :], right[k + 1 :])
        equal = conjunction([ex.Compare(ex.Relation.EQ, a, b), rest])
        return ex.Or((ex.Compare(ex.Relation.LT, a, b), equal))
    return ex.Or(())
