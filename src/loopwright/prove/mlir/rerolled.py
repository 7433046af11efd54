"""Loops that were unrolled, and what is left over, as the one loop they were:

    for (i = a; i < m; i += k s) { B(i); B(i + s); ...; B(i + (k - 1) s) }
    for (i = b; i < c; i += s) B(i)

    -->  for (i = a; i < c; i += s) B(i)

where, whatever the loops around, both together run B for the same values of i, the first loop for smaller
ones than the second.  A proof by values then has fewer statements to tell apart, and sums over one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import islpy as isl

from loopwright.loops.expressions import Expr, Int, Sum, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import calls_in, variables
from loopwright.presburger.sets import IN, OUT, union
from loopwright.prove.descent.linear import ONE, Form, form_of, substituted
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, Term
from loopwright.prove.mlir.function import AffineFunction
from loopwright.prove.scanning.executed import executed, runs

Around: TypeAlias = Callable[[Node], Node]
"""The loops and conditions around a place, with something else in it."""


def rerolled(function: AffineFunction, context: isl.Set) -> AffineFunction:
    """The function with its unrolled loops put together, for sizes in `context`."""
    loops = _Rerolling(function, context).node(function.loops, (), lambda inner: inner)
    left = calls_in(loops)
    own = {name: one for name, one in function.computations.items() if name in left}
    return replace(function, loops=loops, computations=own)


class _Rerolling:
    def __init__(self, function: AffineFunction, context: isl.Set) -> None:
        self.computations = function.computations
        self.context = context

    def node(self, node: Node, outer: tuple[str, ...], around: Around) -> Node:
        match node:
            case Block(children):
                parts = [self.node(child, outer, around) for child in children]
                return Block(self.joined([one for one in parts if one != Block(())], outer, around))
            case For():
                body = self.node(
                    node.body, (*outer, node.iterator), lambda inner: around(replace(node, body=inner))
                )
                return replace(node, body=body)
            case If(test, then, orelse):
                yes = self.node(then, outer, lambda inner: around(If(test, inner)))
                no = orelse and self.node(orelse, outer, lambda inner: around(If(test, Block(()), inner)))
                return If(test, yes, no)
            case Call() | Let() | Remarked():
                return node

    def joined(self, parts: list[Node], outer: tuple[str, ...], around: Around) -> tuple[Node, ...]:
        """Neighbours that are one loop, as one."""
        made: list[Node] = []
        for part in parts:
            whole = self.whole(made[-1], part, outer, around) if made else None
            made[-1:] = [whole] if whole is not None else [*made[-1:], part]
        return tuple(made)

    def whole(self, main: Node, rest: Node, outer: tuple[str, ...], around: Around) -> For | None:
        """One loop for two, if they are an unrolled loop and what is left over."""
        if not isinstance(main, For) or not isinstance(rest, For) or main.annotations or rest.annotations:
            return None
        copies, left = divmod(main.step, rest.step) if rest.step > 0 else (0, 0)
        bodies = _calls(main.body), _calls(rest.body)
        if copies < 2 or left or bodies[0] is None or bodies[1] is None:
            return None
        if len(bodies[0]) != copies * len(bodies[1]):
            return None
        for place, name in enumerate(bodies[0]):
            copy, other = divmod(place, len(bodies[1]))
            at: Form = {main.iterator: Fraction(1), ONE: Fraction(copy * rest.step)}
            moved = {rest.iterator: at}
            if not _same(self.computations[name], self.computations[bodies[1][other]], moved):
                return None
        whole = replace(rest, start=main.start)
        first = [
            self.values(main, Sum((Var(main.iterator), Int(copy * rest.step))), outer, around)
            for copy in range(copies)
        ]
        second, all_of_them = (self.values(one, Var(one.iterator), outer, around) for one in (rest, whole))
        before = union(first)
        late = before.lex_ge_set(second)
        for place in range(len(outer)):
            late = late.equate(IN, place, OUT, place)
        return whole if late.is_empty() and before.union(second).is_equal(all_of_them) else None

    def values(self, loop: For, value: Expr, outer: tuple[str, ...], around: Around) -> isl.Set:
        """{ [outer iterators, value] } of the iterations of a loop."""
        call = Call("one", (*map(Var, outer), value))
        (run,) = runs(executed(around(replace(loop, body=call)), self.context))
        return run.domain.apply(isl.Map.from_multi_pw_aff(run.arguments))


def _calls(node: Node) -> list[str] | None:
    """The statements of a body that has nothing else."""
    match node:
        case Call(name):
            return [name]
        case Block(children):
            parts = [_calls(child) for child in children]
            known = [part for part in parts if part is not None]
            return [name for part in known for name in part] if len(known) == len(parts) else None
        case _:
            return None


def _same(one: Computation, other: Computation, moved: Mapping[str, Form]) -> bool:
    """Whether `one` does what `other` does with other values of the iterators."""
    return len(one.assignments) == len(other.assignments) and all(
        mine.is_conditional == its.is_conditional
        and _equal(mine.target, its.target, moved)
        and _equal(mine.value, its.value, moved)
        for mine, its in zip(one.assignments, other.assignments, strict=True)
    )


def _equal(one: Term, other: Term, moved: Mapping[str, Form]) -> bool:
    match one, other:
        case CellTerm(array, subscripts, kind), CellTerm(its_array, its_subscripts, its_kind):
            return (array, kind, len(subscripts)) == (its_array, its_kind, len(its_subscripts)) and all(
                _equal_integers(*pair, moved) for pair in zip(subscripts, its_subscripts, strict=True)
            )
        case Index(value, kind), Index(its_value, its_kind):
            return kind == its_kind and _equal_integers(value, its_value, moved)
        case Apply(operator, arguments, kind), Apply(its_operator, its_arguments, its_kind):
            return (operator, kind, len(arguments)) == (its_operator, its_kind, len(its_arguments)) and all(
                _equal(*pair, moved) for pair in zip(arguments, its_arguments, strict=True)
            )
        case _:
            return one == other


def _equal_integers(one: Expr, other: Expr, moved: Mapping[str, Form]) -> bool:
    mine, its = form_of(one), form_of(other)
    if mine is None or its is None:
        return one == other and not variables(other) & moved.keys()
    return mine == substituted(its, moved)
