"""How C is written: what loops, calls, marks and braces look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from loopwright.emit.expressions import expression_to_c
from loopwright.emit.literals import literal
from loopwright.emit.openmp import can_be_annotated
from loopwright.loops.nodes import Call, For, Node


class Increment(Enum):
    """How a loop counts by one, up or down."""

    POSTFIX = "{0}{1}{1}"
    PREFIX = "{1}{1}{0}"
    ADD = "{0} {1}= 1"
    ASSIGN = "{0} = {0} {1} 1"


class Braces(Enum):
    """Where an opening brace stands."""

    SAME_LINE = "same line"
    OWN_LINE = "own line"


@dataclass(frozen=True)
class Handwriting:
    """`outside` are the iterators the loops assign and a declaration outside of the region makes."""

    indent: str = "  "
    increment: Increment = Increment.ADD
    braces: Braces = Braces.SAME_LINE
    always_braces: bool = False
    outside: frozenset[str] = frozenset()

    def update(self, iterator: str, step: int) -> str:
        """What a loop does to its iterator at the end of each round."""
        sign = "+" if step > 0 else "-"
        if abs(step) == 1:
            return self.increment.value.format(iterator, sign)
        return f"{iterator} {sign}= {literal(abs(step))}"


def plain_call(call: Call) -> list[str]:
    """`S1(i, j + 1);`."""
    return [f"{call.name}({', '.join(expression_to_c(argument) for argument in call.arguments)});"]


def _comment(text: str, body: Node, lines: list[str]) -> list[str]:
    """A mark as a comment that ends where its line does and begins no other."""
    shown = re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in text)).strip()
    shown = re.sub(r"/(?=\*)|\*(?=/)", r"\g<0> ", shown).rstrip("\\/ ").strip()
    return [f"// {shown}", *lines] if shown else lines


def _parallel(loop: For, openmp: bool) -> list[str]:
    return ["#pragma omp parallel for"] if openmp else ["// parallel"]


def _never(mark: str) -> bool:
    return False


@dataclass(frozen=True)
class Style:
    """How a program is to be written.

    `call` gives the lines of a call, `mark` those of what a mark is on, marked, and `parallel` those
    in front of a parallel loop, told whether it is one for OpenMP to share out.
    """

    iterator_type: str = "int"
    openmp: bool = False
    call: Callable[[Call], list[str]] = plain_call
    mark: Callable[[str, Node, list[str]], list[str]] = _comment
    parallel: Callable[[For, bool], list[str]] = _parallel
    hand: Handwriting = field(default_factory=Handwriting)
    types: Mapping[str, str] = field(default_factory=dict)
    """The types of iterators that do not have `iterator_type`."""
    shareable: Callable[[For], bool] = can_be_annotated
    """Whether OpenMP can share out a parallel loop."""
    needs_block: Callable[[str], bool] = _never
    """Whether a mark puts something in front of a statement that belongs into a block with it."""

    def declared(self, iterator: str) -> str:
        """The iterator in the head of its loop, which declares it where nobody else has."""
        if iterator in self.hand.outside:
            return iterator
        return f"{self.types.get(iterator, self.iterator_type)} {iterator}"

    def in_parallel(self) -> Style:
        """Inside a loop that is shared out, where nothing else is."""
        return replace(self, openmp=False)

    def indented(self, lines: Iterable[str]) -> list[str]:
        """Lines one level further in; directives stay in front."""
        return [line if not line or line.startswith("#") else self.hand.indent + line for line in lines]
