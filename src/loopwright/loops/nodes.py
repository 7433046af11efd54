"""The statements of LOOP [Courant2021, figure 9]: what a generated program is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from loopwright.loops.expressions import Expr, Test


@dataclass(frozen=True, slots=True)
class Call:
    """One execution of a statement, `name(arguments);`.

    `time` is the schedule point this execution stands for, in terms of the iterators.  It is
    given only where an instance has several (a schedule that is not single-valued) and is a
    hint: the prover checks it against the schedule.
    """

    name: str
    arguments: tuple[Expr, ...]
    time: tuple[Expr, ...] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """The children in order; `Block(())` does nothing."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class If:
    test: Test
    then: Node
    orelse: Node | None = None


@dataclass(frozen=True, slots=True)
class For:
    """`for (int iterator = start; test; iterator += step) body`, the step positive.

    The loop ends at the first value for which `test` fails, as in C; a `test` of TRUE never ends it.
    A `parallel` loop may run its iterations in any order.
    """

    iterator: str
    start: Expr
    test: Test
    step: int
    body: Node
    parallel: bool = False


@dataclass(frozen=True, slots=True)
class Let:
    """`int name = value;` in front of `body`: a loop of one iteration."""

    name: str
    value: Expr
    body: Node


@dataclass(frozen=True, slots=True)
class Mark:
    """A remark of the schedule's author on `body`; it means nothing."""

    text: str
    body: Node


Node: TypeAlias = Call | Block | If | For | Let | Mark

EMPTY = Block(())
