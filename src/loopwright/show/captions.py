"""Explains a picture of an order in a few sentences, for readers who know only C.

Every sentence depends on what is drawn: which operations the script has, which outlines there are, and
whether a dependence goes wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.show.outlines import Outlines, TileOrder, leans
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.plan import Plan
from loopwright.transform.script import operations as ops

MOST = 3
"""Captions of one picture."""

TILE = (
    "An outline is a tile: all its dots run before the first dot of the next tile, in the order of the "
    "numbers at the corners. Data that a small tile reads again is still in the cache."
)

LEANING = (
    "These tiles are skewed because each dot depends on neighbours on both sides. In a rectangular tile, "
    "one of them would be in a later tile; in a skewed one, all of them are in the same tile or in an "
    "earlier one."
)

HEXAGON = (
    "A tile grows over its first steps and shrinks over its last ones. While it grows, it needs only values "
    "that its neighbours computed before they shrank: tiles in one row are independent, and the tiles in "
    "the gaps between them run next."
)

WRITTEN_OUT = (
    "The dots of an outline are unrolled, one after the other without a loop, so that shared values stay "
    "in registers."
)

BESIDE = "Each outline is one iteration of a parallel loop, and all of them run at the same time."

LINE = "Dots of one outline, or on one line, have the same number: they run at the same time."

ALONE, TOGETHER = "They are independent.", "But some of them depend on others."

CHANGED: Mapping[type[ops.Operation], tuple[str, str]] = {
    ops.Interchange: ("Loops exchanged", "The same dots run in another order."),
    ops.Permute: ("Loops exchanged", "The same dots run in another order."),
    ops.Distribute: ("Loops of their own", "All dots of one statement run before those of the next one."),
    ops.DistributeLegally: (
        "Loops of their own",
        "All dots of one statement run before those of the next one.",
    ),
    ops.Fuse: (
        "One loop for both",
        "The values of one statement are still in the cache when the other uses them.",
    ),
    ops.Shift: (
        "Delayed",
        "A statement runs some iterations later, after those that it depends on.",
    ),
    ops.Reorder: ("Statements exchanged", "The statements of an iteration run in another order."),
    ops.Reverse: ("Backwards", "The loop counts down: the last iteration is the first to run."),
    ops.StripMine: ("Strips", "The loop runs over strips, and inside each over its iterations, as before."),
    ops.Skew: (
        "Skewed",
        "Each iteration of the outer loop starts the inner one further on. This alone does not change "
        "the order, but it makes interchanging or tiling the loops legal.",
    ),
}
"""The effects on the order of operations without outlines."""


@dataclass(frozen=True)
class Caption:
    title: str
    text: str


def captions(
    plan: Plan,
    schedules: Mapping[str, isl.Map],
    found: Outlines,
    late: tuple[int, int] | None,
    *,
    wrong: bool,
) -> tuple[Caption, ...]:
    """For the order after the plan; `late` are the tiles of the two ends of the witness, from 1 on."""
    operations = [one.step.operation for one in plan.history]
    outlined = list(_outlined(plan, found, slanting=leans(schedules.values()), wrong=wrong))
    if late is not None and late[0] > late[1] and found.order is TileOrder.ONE_BY_ONE:
        outlined.append(_too_late(late, operations))
    drawn = {type(one) for one in operations}
    others = [Caption(*CHANGED[kind]) for kind in CHANGED if kind in drawn and not _is_told(kind, outlined)]
    return tuple(dict.fromkeys([*outlined, *others]))[:MOST]


def _is_told(kind: type[ops.Operation], outlined: Sequence[Caption]) -> bool:
    """Whether captions of outlines say what skewing and cutting into strips is for."""
    return bool(outlined) and kind in (ops.Skew, ops.StripMine, ops.Interchange, ops.Permute)


def _outlined(plan: Plan, found: Outlines, *, slanting: bool, wrong: bool) -> Iterator[Caption]:
    if not found.tiles:
        return
    kinds = {one.kind for one in plan.directives}
    match found.order:
        case TileOrder.ONE_BY_ONE if DirectiveKind.UNROLL in kinds:
            yield Caption("Written out", WRITTEN_OUT)
        case TileOrder.ONE_BY_ONE if any(isinstance(one.step.operation, ops.Hexagon) for one in plan.history):
            yield Caption("Hexagons", HEXAGON)
        case TileOrder.ONE_BY_ONE if found.meaning in ("tile", "full tile"):
            yield Caption("Skewed tiles" if slanting and not wrong else "Tiles", TILE)
            if slanting and not wrong:
                yield Caption("Why they lean", LEANING)
        case TileOrder.ONE_BY_ONE:
            yield Caption("Parts", "Each outline has loops of its own; they run one after the other.")
        case TileOrder.BESIDE:
            yield Caption("At the same time", f"{BESIDE} {TOGETHER if wrong else ALONE}")
        case TileOrder.AT_ONCE:
            title = "A wave" if slanting else "At the same time"
            yield Caption(title, f"{LINE} {TOGETHER if wrong else ALONE}")
        case _:
            assert_never(found.order)


def _too_late(late: tuple[int, int], operations: Sequence[ops.Operation]) -> Caption:
    source, sink = late
    upright = any(isinstance(one, ops.Tile) and not one.skew for one in operations)
    instead = " Tiles that lean can wait for neighbours on both sides: add skew to tile." if upright else ""
    return Caption(
        "Why not", f"The red arrow comes from tile {source}, and tile {sink} runs before it.{instead}"
    )
