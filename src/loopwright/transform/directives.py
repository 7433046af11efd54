"""Directives of loops: when an operation changes a loop, they move with it or prevent the change."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from enum import Enum

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span
from loopwright.transform.relations import IterationFunction
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import Position, entry


class DirectiveKind(Enum):
    """A requested property of generated loops other than the order of their iterations."""

    PARALLEL = "parallel"
    VECTORIZE = "vectorize"
    BLOCK = "block"
    THREAD = "thread"
    UNROLL = "unroll"
    SEPARATE = "separate"
    ISOLATE = "isolate"


@dataclass(frozen=True)
class LoopDirective:
    """A requested property of the loops at depth `loop` (from 0) around the statements at `positions`.

    PARALLEL   its iterations run in any order;
    VECTORIZE  the same, and the compiler is asked for vector instructions;
    BLOCK      the same, and they are distributed among the blocks of a GPU along `axis`;
    THREAD     the same, among the `factor` threads of a block along `axis`;
    UNROLL     its iterations are unrolled completely: there are at most `factor` of them;
    SEPARATE   statements with different bounds get loops of their own;
    ISOLATE    iterations of the loops 0 to `loop` in which each loop of `points` runs over all of
               its tile are generated separately, so that they need no minimum, maximum or guard.
    """

    kind: DirectiveKind
    statements: tuple[str, ...]
    positions: tuple[Position, ...]
    loop: int
    factor: int | None = None
    points: tuple[int, ...] = ()
    axis: str = ""
    span: Span | None = None
    """The operation of the script that requested it."""

    @property
    def dimension(self) -> int:
        """The entry of the schedule vector that the directive applies to."""
        return entry(self.loop)

    @property
    def paths(self) -> tuple[Position, ...]:
        """(p0, ..., p_loop) of each loop that the directive applies to."""
        return tuple(sorted({position[: self.loop + 1] for position in self.positions}))


REVERSIBLE = frozenset((DirectiveKind.UNROLL, DirectiveKind.SEPARATE, DirectiveKind.ISOLATE))
"""Directives that do not depend on the direction of a loop."""


def carried_through(
    directives: Iterable[LoopDirective], changed: Collection[Position], function: IterationFunction
) -> tuple[LoopDirective, ...]:
    """The directives after `affine` at the positions `changed`: each follows the iterator it names."""
    found: list[LoopDirective] = []
    for directive in directives:
        here = tuple(position for position in directive.positions if position in changed)
        elsewhere = tuple(position for position in directive.positions if position not in changed)
        if elsewhere:
            found.append(replace(directive, positions=elsewhere))
        if here:
            found.append(_followed(replace(directive, positions=here), function))
    return tuple(found)


def _followed(directive: LoopDirective, function: IterationFunction) -> LoopDirective:
    or_reversed = directive.kind in REVERSIBLE
    concerned = (directive.loop, *directive.points)
    loops = [function.moved_loop(loop, or_reversed=or_reversed) for loop in concerned]
    if any(loop is None for loop in loops):
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"this changes a loop that is already marked '{directive.kind.value}'",
            hint=f"put '{directive.kind.value}' after the operations that create its loop",
        )
    known = [loop for loop in loops if loop is not None]
    return replace(directive, loop=known[0], points=tuple(known[1:]))
