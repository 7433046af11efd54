"""Recovers the original loops from unrolled and jammed ones.

    for (t = a; t <= e - 7; t += 8) { P at t, t + 1, ..., t + 7, jammed }
    for (; t <= e; t++) P                                                  is    for (t = a; t <= e; t++) P

in another order: jammed, the parts of P execute one after the other, each for all eight values of t.

    jam(S)          S at t, S at t + 1, ...              jam(P; Q)         jam(P); jam(Q)
    jam(for x P)    for x jam(P), if neither its bounds nor its step depend on t

Consecutive statements are repeated as a whole, or one by one.  The order of the source is recorded, and it
must preserve all dependences (`Descent.kept_jammed`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int, Sum
from loopwright.loops.nodes import Block, Call, For, If, Node
from loopwright.loops.traverse import variables, with_children
from loopwright.prove.descent.instances import Claims
from loopwright.prove.descent.linear import ONE, substituted
from loopwright.prove.descent.reading import limit, value_after


@dataclass(frozen=True)
class Jam:
    """The unrolling factor of a loop; `one_by_one` if each statement is repeated separately."""

    factor: int
    one_by_one: bool


@dataclass(frozen=True)
class Unjammed:
    """The loops, and those of them that are jammed in the source, by number."""

    loops: Node
    jams: Mapping[int, Jam]


def unjammed(loops: Node, claims: Mapping[str, Claims], said: Callable[[For], bool]) -> Unjammed:
    """The loops of a source without its unrolling; `said` tells whether a loop is marked as independent."""
    work = _Unjamming(claims, said, {})
    return Unjammed(work.node(loops), work.jams)


def parts_of(node: Node) -> list[Node]:
    """The parts that execute one after the other, with blocks flattened."""
    if isinstance(node, Block):
        return [part for child in node.children for part in parts_of(child)]
    return [node]


@dataclass
class _Unjamming:
    claims: Mapping[str, Claims]
    said: Callable[[For], bool]
    jams: dict[int, Jam]

    def node(self, node: Node) -> Node:
        if isinstance(node, Block):
            return self.block([self.node(part) for part in parts_of(node)])
        return with_children(node, self.node)

    def block(self, parts: list[Node]) -> Node:
        found: list[Node] = []
        for part in parts:
            whole = self.joined(found[-1], part) if found else None
            if whole is None:
                found.append(part)
            else:
                found[-1] = whole
        return Block(tuple(found))

    def joined(self, main: Node, rest: Node) -> For | None:
        """The loop that `main` and `rest` were generated from, or None."""
        if not isinstance(main, For) or not isinstance(rest, For) or main.iterator != rest.iterator:
            return None
        most, least = limit(rest.test, rest.iterator), limit(main.test, main.iterator)
        factor = main.step
        if rest.step != 1 or factor < 2 or most is None or least != Sum((most, Int(1 - factor))):
            return None
        if rest.start != value_after(main.start, least, factor) or self.said(main) or self.said(rest):
            return None
        order = self.order(parts_of(main.body), parts_of(rest.body), rest.iterator, factor)
        if order is None or rest.dimension is None:
            return None
        self.jams[rest.dimension] = Jam(factor, order)
        return replace(rest, start=main.start)

    def order(self, main: list[Node], rest: list[Node], iterator: str, factor: int) -> bool | None:
        """Whether `main` is `rest` jammed: False for statements repeated as a whole, True for one by one."""
        ones = [list(group) for _, group in groupby(rest, key=lambda part: isinstance(part, Call))]
        one_by_one = False
        for part in ones:
            if isinstance(part[0], Call):
                size = len(part) * factor
                copies, main = main[:size], main[size:]
                found = self.copies(copies, part, iterator, factor)
                if found is None:
                    return None
                one_by_one = one_by_one or found
                continue
            for one in part:
                if not main:
                    return None
                inner = self.inside(main[0], one, iterator, factor)
                if inner is None:
                    return None
                one_by_one, main = one_by_one or inner, main[1:]
        return None if main else one_by_one

    def copies(self, copies: list[Node], calls: list[Node], iterator: str, factor: int) -> bool | None:
        """Whether these are the calls for t, t + 1, ...: False if as a whole, True if one by one."""
        if len(copies) != len(calls) * factor:
            return None
        as_whole = [(call, k) for k in range(factor) for call in calls]
        singly = [(call, k) for call in calls for k in range(factor)]
        for one_by_one, wanted in ((False, as_whole), (True, singly)):
            if all(self.is_copy(one, *other, iterator) for one, other in zip(copies, wanted, strict=True)):
                return one_by_one
        return None

    def is_copy(self, copy: Node, call: Node, distance: int, iterator: str) -> bool:
        """Whether `copy` is `call` at t + distance, with all iterators known from their text."""
        if not isinstance(copy, Call) or not isinstance(call, Call):
            return False
        mine, theirs = self.claims[copy.name], self.claims[call.name]
        if [one.statement.name for one in mine] != [one.statement.name for one in theirs]:
            return False
        if any(one.missing for one in (*mine, *theirs)):
            return False
        step = {ONE: Fraction(distance)} if distance else {}
        moved = {iterator: {iterator: Fraction(1), **step}}
        return all(
            one.known[name] == substituted(form, moved)
            for one, other in zip(mine, theirs, strict=True)
            for name, form in other.known.items()
        )

    def inherits(self, main: For, rest: For) -> bool:
        """Whether both loops agree; one jammed in a part of the source counts as jammed everywhere."""
        assert main.dimension is not None and rest.dimension is not None, "loops of a text have numbers"
        mine, theirs = self.jams.get(main.dimension), self.jams.get(rest.dimension)
        if mine is not None and theirs is None:
            self.jams[rest.dimension] = mine
        return mine is None or theirs is None or mine == theirs

    def inside(self, main: Node, rest: Node, iterator: str, factor: int) -> bool | None:
        match main, rest:
            case For() as one, For() as other:
                same = (one.iterator, one.start, one.test, one.step) == (
                    other.iterator,
                    other.start,
                    other.test,
                    other.step,
                )
                bounds = variables(one.start) | variables(one.test)
                if not same or iterator in bounds or self.said(one) != self.said(other):
                    return None
                if not self.inherits(one, other):
                    return None
                return self.order(parts_of(one.body), parts_of(other.body), iterator, factor)
            case If(test, then, None), If(same_test, other_then, None):
                if test != same_test or iterator in variables(test):
                    return None
                return self.order(parts_of(then), parts_of(other_then), iterator, factor)
            case _:
                return None
