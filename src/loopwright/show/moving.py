"""The data of a moving picture: instances, their times before and after, the cells they access.

web/src/picture.ts draws and animates it; this module computes all numbers.  All statements of a region are in
one picture, those that share a loop in one panel of it, and every loop has an axis: which of them are drawn
is chosen by the reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, Program, Statement, statement_text
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.parallel import ParallelLoop
from loopwright.prove.legality.plans import parallel_loops
from loopwright.prove.legality.violation import Violation
from loopwright.show.captions import Caption, captions
from loopwright.show.groups import DrawnGroup, beside, panels_of
from loopwright.show.layout import apart
from loopwright.show.outlines import Outlines, TileOrder, cut_loops, outlines
from loopwright.show.scene import axis_names, free_storage, is_broken, label_of, place_of, spans_of
from loopwright.show.small import (
    Cell,
    Coordinates,
    DirectDependence,
    Instance,
    TouchedCells,
    Window,
    fixed,
    lengthened,
    matters,
    times,
    touched_cells,
    window_at,
    window_of,
)
from loopwright.transform.plan import Plan

MOST = 900
"""Instances in a picture; above it the sizes have to be smaller."""

EXTENTS = (14, 8, 4, 3, 2)
"""How many iterations of a loop are drawn, by the number of loops that are nested."""

SEEN = 3
"""Axes that are drawn at once."""

LONGEST = (24, 14, 7, 4, 3, 2)
"""How many a reader may ask for."""


@dataclass(frozen=True)
class MovingStatement:
    name: str
    label: str
    text: str
    line: int
    panel: int


@dataclass(frozen=True)
class MovingInstance:
    """`where` is one value for each axis of the panel; `before` and `after` are the steps it runs in."""

    statement: int
    at: Coordinates
    where: Coordinates
    before: int
    after: int
    tile: int
    """The number of its tile, from 1 on; 0 where it is in none."""
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]
    text: str


@dataclass(frozen=True)
class MovingArrow:
    """A dependence between two instances, by their numbers; `free` says why it need not be kept."""

    source: int
    sink: int
    kind: str
    array: int
    broken: bool
    free: str = ""


@dataclass(frozen=True)
class MovingPanel:
    """The iterators along each axis; `outside` are the values (axis, value) that no loop has."""

    axes: tuple[str, ...]
    outside: tuple[tuple[int, int], ...]
    seen: tuple[int, ...]
    """The axes that are drawn where the reader has not chosen others."""
    beside: int | None
    """The axis along which the statements of one iteration stand side by side; None: in a square."""


@dataclass(frozen=True)
class SizeControl:
    """A parameter: its value in the picture, and the values that a reader may choose."""

    name: str
    value: int
    least: int
    most: int


@dataclass(frozen=True)
class MovingPicture:
    statements: tuple[MovingStatement, ...]
    panels: tuple[MovingPanel, ...]
    arrays: tuple[str, ...]
    instances: tuple[MovingInstance, ...]
    arrows: tuple[MovingArrow, ...]
    sizes: tuple[SizeControl, ...]
    tile: str
    """What an outline is; empty where there is none."""
    tiles_in_order: bool
    witness: tuple[int, int] | None
    """The two instances of the violation that is explained."""
    notes: tuple[str, ...]
    captions: tuple[Caption, ...]
    """What the order after the script means."""

    def data(self) -> dict[str, Any]:
        """For JSON; an instance is a list, since there are many."""
        found = asdict(replace(self, instances=(), arrows=()))
        found["instances"] = [list(vars(one).values()) for one in self.instances]
        found["arrows"] = [list(vars(one).values()) for one in self.arrows]
        return found


@dataclass(frozen=True)
class _Drawn:
    """What is computed once for a picture; times are vectors, and `order` is that of the text."""

    plan: Plan
    panels: tuple[DrawnGroup, ...]
    window: Window
    order: tuple[Instance, ...]
    after: Mapping[Instance, Coordinates]
    schedules: Mapping[str, isl.Map]
    found: Outlines
    touched: TouchedCells

    @property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(statement for panel in self.panels for statement in panel.statements)


def moving_picture(
    plan: Plan, verdict: LegalityVerdict, sizes: Mapping[str, int] | None = None, note: str = ""
) -> MovingPicture | None:
    """The picture of a region for these sizes, or for small ones; None where there is nothing to draw.

    `note` is about its tiles.
    """
    first = verdict.violations[0] if verdict.violations else None
    drawn = _drawn(plan, first, sizes)
    if drawn is None:
        return None
    program, numbers = plan.original, {one: k for k, one in enumerate(drawn.order)}
    instances, witness = _instances(drawn), _witness(first, numbers)
    late = None if witness is None else (instances[witness[0]].tile, instances[witness[1]].tile)
    return MovingPicture(
        statements=tuple(
            _statement(program, one, k) for k, panel in enumerate(drawn.panels) for one in panel.statements
        ),
        panels=tuple(_panel(panel, drawn) for panel in drawn.panels),
        arrays=tuple(array.name for array in program.arrays),
        instances=instances,
        arrows=_arrows(drawn, numbers, free_storage(verdict, program)),
        sizes=_sizes(program, drawn.statements, drawn.window),
        tile=drawn.found.meaning if drawn.found.tiles else "",
        tiles_in_order=drawn.found.order is TileOrder.ONE_BY_ONE,
        witness=witness,
        notes=(*((note,) if note and drawn.found.tiles else ()), *_notes(drawn)),
        captions=captions(plan, drawn.schedules, drawn.found, late, wrong=first is not None),
    )


def _drawn(plan: Plan, violation: Violation | None, sizes: Mapping[str, int] | None) -> _Drawn | None:
    broken = None if violation is None else (violation.first.statement, violation.second.statement)
    panels = panels_of(plan.original, plan.program, broken)
    statements = [statement for panel in panels for statement in panel.statements]
    schedules = {one.name: plan.program.statement(one.name).schedule for one in statements}
    window = _window(plan.original, panels, schedules, violation, sizes)
    if window is None:
        return None
    before = times(statements, {one.name: one.schedule for one in statements}, window)
    if not 0 < len(before) <= MOST:
        return None
    after = times(statements, schedules, window)
    order = tuple(sorted(before, key=lambda one: (before[one], one)))
    found = outlines(plan, statements, schedules, after)
    tile_of = dict.fromkeys(order, 0) | {one: tile.number for tile in found.tiles for one in tile.instances}
    parts = [part for panel in panels for part in apart(panel, _seen(panel, schedules), window, tile_of)]
    return _Drawn(
        plan, tuple(parts), window, order, after, schedules, found,
        touched_cells(plan.original, statements, window),
    )  # fmt: skip


def _window(
    program: Program,
    panels: Sequence[DrawnGroup],
    schedules: Mapping[str, isl.Map],
    violation: Violation | None,
    sizes: Mapping[str, int] | None,
) -> Window | None:
    """The sizes asked for, as far as the context allows them; else the violation's, or small ones."""
    statements = [statement for panel in panels for statement in panel.statements]
    if not statements:
        return None
    drawn = max(len(panel.axes) for panel in panels)
    small = window_of(program, statements, drawn, violation.parameters if violation else None, EXTENTS)
    if small is not None and violation is None and drawn > SEEN:
        seen = {name: own for panel in panels for name, own in _seen_loops(panel, schedules).items()}
        small = lengthened(program, statements, small, seen, EXTENTS[SEEN - 1], MOST)
    if small is None or not sizes:
        return small
    values = {name: sizes.get(name, value) for name, value in small.parameters.items()}
    if fixed(program.context, values).is_empty():
        return small
    windows = (window_at(statements, values, extent) for extent in range(2 * longest(drawn), 0, -1))
    return next((one for one in windows if one.most_instances <= MOST), small)


def seen_axes(axes: int, cut: Collection[int] = ()) -> tuple[int, ...]:
    """The axes that are drawn at first: of more than three, the innermost of those cut into tiles.

    Where one or none is, its neighbours from the inside are drawn beside it.
    """
    if axes <= SEEN:
        return tuple(range(axes))
    inside = [k for k in reversed(range(axes)) if k not in cut]
    chosen = sorted(cut, reverse=True)[:SEEN] + inside[: max(0, (2 if cut else SEEN) - len(cut))]
    return tuple(sorted(chosen))


def _seen(panel: DrawnGroup, schedules: Mapping[str, isl.Map]) -> tuple[int, ...]:
    cut = {
        axis
        for one in panel.statements
        for k in cut_loops(schedules[one.name])
        if (axis := panel.placed[one.name][k]) is not None
    }
    return seen_axes(len(panel.axes), cut)


def _seen_loops(panel: DrawnGroup, schedules: Mapping[str, isl.Map]) -> dict[str, set[int]]:
    """The loops of each statement that go along the axes drawn at first."""
    seen = _seen(panel, schedules)
    return {name: {k for k, axis in enumerate(own) if axis in seen} for name, own in panel.placed.items()}


def longest(loops: int) -> int:
    """How many iterations of one of so many nested loops a reader may ask for."""
    return LONGEST[min(max(loops, 1), len(LONGEST)) - 1]


def _sizes(program: Program, statements: Sequence[Statement], window: Window) -> tuple[SizeControl, ...]:
    """The parameters that decide what runs, from 1 to what can still be drawn."""
    more = longest(max(one.depth for one in statements)) // 2
    chosen = [name for name in program.params if name in window.parameters and matters(name, statements)]
    values = [(name, window.parameters[name]) for name in chosen]
    return tuple(SizeControl(name, value, min(1, value), value + more) for name, value in values)


def _statement(program: Program, statement: Statement, panel: int) -> MovingStatement:
    place = statement.body.place
    text = " ".join(place.text.split()) + statement.body.terminator
    return MovingStatement(statement.name, label_of(program, statement.name), text, place.line, panel)


def _panel(group: DrawnGroup, drawn: _Drawn) -> MovingPanel:
    spans = spans_of(group, drawn.window)
    lacking = {axis for placed in group.placed.values() for axis in set(range(len(spans))) - set(placed)}
    ends = [(axis, *spans[axis]) for axis in sorted(lacking)]
    outside = [(axis, value) for axis, low, high in ends for value in (low - 1, high + 1)]
    return MovingPanel(axis_names(group), tuple(outside), _seen(group, drawn.schedules), beside(group))


def _instances(drawn: _Drawn) -> tuple[MovingInstance, ...]:
    panel_of = {one.name: panel for panel in drawn.panels for one in panel.statements}
    names = [statement.name for statement in drawn.statements]
    spans = {id(panel): spans_of(panel, drawn.window) for panel in drawn.panels}
    tile_of = {one: tile.number for tile in drawn.found.tiles for one in tile.instances}
    steps = _steps(drawn.plan, drawn.after)
    return tuple(
        MovingInstance(
            statement=names.index(one[0]),
            at=one[1],
            where=place_of(panel_of[one[0]], one, spans[id(panel_of[one[0]])]),
            before=k,
            after=steps[one],
            tile=tile_of.get(one, 0),
            reads=drawn.touched.reads.get(one, ()),
            writes=drawn.touched.writes.get(one, ()),
            text=_text(drawn.plan.original, one),
        )
        for k, one in enumerate(drawn.order)
    )


def _text(program: Program, instance: Instance) -> str:
    """The statement with the values of this instance in it."""
    statement = program.statement(instance[0])
    values = dict(zip(statement.iterators, map(str, instance[1]), strict=True))
    return " ".join(statement_text(statement, values).split())


def _steps(plan: Plan, after: Mapping[Instance, Coordinates]) -> dict[Instance, int]:
    """In which step each instance runs, if iterations of parallel loops run at once: from 0 on."""
    found: dict[Instance, int] = {}
    _clock(sorted(after.items(), key=lambda item: (item[1], item[0])), 0, 0, parallel_loops(plan), found)
    return found


def _clock(
    timed: Sequence[tuple[Instance, Coordinates]],
    entry: int,
    start: int,
    loops: Sequence[ParallelLoop],
    found: dict[Instance, int],
) -> int:
    """Number the instances whose times agree before `entry`, from `start` on; the step after the last."""
    if entry == len(timed[0][1]):
        found.update({instance: start + k for k, (instance, _) in enumerate(timed)})
        return start + len(timed)
    end = start
    for _, members in groupby(timed, key=lambda item: item[1][entry]):
        own = list(members)
        is_parallel = any(_is_in(own[0][1], loop, entry) for loop in loops)
        end = max(end, _clock(own, entry + 1, start if is_parallel else end, loops, found))
    return end


def _is_in(time: Coordinates, loop: ParallelLoop, entry: int) -> bool:
    """Whether the entry of the time counts the iterations of this loop."""
    path = loop.positions or ()
    return loop.dimension == entry and all(a == b for a, b in zip(time[:entry:2], path, strict=False))


def _arrows(
    drawn: _Drawn, numbers: Mapping[Instance, int], free: Mapping[str, str]
) -> tuple[MovingArrow, ...]:
    loops = parallel_loops(drawn.plan)
    arrays = [array.name for array in drawn.plan.original.arrays]

    def arrow(one: DirectDependence) -> MovingArrow:
        broken = is_broken(drawn.after[one.source], drawn.after[one.sink], loops)
        why = free.get(arrays[one.array], "") if broken else ""
        source, sink = numbers[one.source], numbers[one.sink]
        return MovingArrow(source, sink, one.kind.value, one.array, broken and not why, why)

    return tuple(arrow(one) for one in drawn.touched.dependences(drawn.order))


def _witness(violation: Violation | None, numbers: Mapping[Instance, int]) -> tuple[int, int] | None:
    if violation is None:
        return None
    ends = [numbers.get((one.statement, one.instance)) for one in (violation.first, violation.second)]
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def _notes(drawn: _Drawn) -> tuple[str, ...]:
    found = ["only a corner of the nest is drawn"] if drawn.window.clipped else []
    unknown = ["what else pointers lead to" if one == ELSEWHERE else one for one in drawn.touched.unknown]
    if unknown:
        why = "their subscripts depend on data, or multiply iterators by sizes"
        found.append(f"accesses to {', '.join(unknown)} are not drawn: {why}")
    return tuple(found)
