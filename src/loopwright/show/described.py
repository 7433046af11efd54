"""The moving picture of loops generated from a description: their instances and order.

A description has no text and no accesses, so there is one order and no dependences.  The order is
that of the loops themselves: the interpreter of LOOP runs them for small sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from loopwright.errors import GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.interpreter import ExecutedCall, execute
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import children, subprograms
from loopwright.model.schedule import Schedule
from loopwright.presburger.named import at_parameters, parameter_names
from loopwright.presburger.points import smallest_point
from loopwright.show.moving import (
    EXTENTS,
    MOST,
    MovingInstance,
    MovingPanel,
    MovingPicture,
    MovingStatement,
    SizeControl,
    longest,
    seen_axes,
)
from loopwright.show.small import LARGEST, Coordinates

SET = isl.dim_type.set

FUEL = 6 * MOST
"""The most loop iterations, and calls, executed for a picture."""


@dataclass(frozen=True)
class DescribedLoops:
    """The loops of a description, proved to run its schedule."""

    schedule: Schedule
    node: Node

    @property
    def parameters(self) -> tuple[str, ...]:
        return parameter_names(self.schedule.domain.params().align_params(self.schedule.context.get_space()))


@dataclass(frozen=True)
class _FirstCalls:
    """The first calls for these sizes; `whole` if there are no others."""

    calls: tuple[ExecutedCall, ...]
    whole: bool

    @property
    def spans(self) -> dict[tuple[str, int], tuple[int, int]]:
        """The least and the greatest value of each argument of each statement."""
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for name, at in self.calls:
            for k, value in enumerate(at):
                low, high = found.get((name, k), (value, value))
                found[name, k] = min(low, value), max(high, value)
        return found

    def corner(self, extent: int) -> _FirstCalls:
        """The calls whose arguments are among the first `extent` values, no more than can be drawn."""
        spans = self.spans
        kept = [
            (name, at)
            for name, at in self.calls
            if all(value < spans[name, k][0] + extent for k, value in enumerate(at))
        ]
        return _FirstCalls(tuple(kept[:MOST]), self.whole and len(kept) == len(self.calls) <= MOST)


def described_picture(loops: DescribedLoops, sizes: Mapping[str, int] | None = None) -> MovingPicture | None:
    """The picture for these sizes, as far as the context allows them; None if nothing is drawn."""
    panels = _panels(loops.node)
    depth = max((len(call.arguments) for panel in panels for call in panel), default=0)
    small = _small(loops, EXTENTS[max(0, min(depth, len(EXTENTS)) - 1)]) if depth else None
    if small is None:
        return None
    values = {name: (sizes or {}).get(name, value) for name, value in small.items()}
    if sizes and at_parameters(loops.schedule.context, values).is_empty():
        values = small
    run = _run(loops.node, values).corner(2 * longest(depth))
    numbers = {name: k for k, panel in enumerate(panels) for name in _names(panel)}
    drawn = tuple(call for call in run.calls if call[0] in numbers)
    if not drawn:
        return None
    names = tuple(numbers)
    return MovingPicture(
        statements=tuple(MovingStatement(one, one, _text(loops, one), 0, numbers[one]) for one in names),
        panels=tuple(_panel(loops.schedule, panel, drawn) for panel in panels),
        arrays=(),
        instances=tuple(_instances(panels, numbers, drawn)),
        arrows=(),
        sizes=_sizes(values, small, depth),
        tile="",
        tiles_in_order=False,
        witness=None,
        notes=() if run.whole else ("only a corner of the loops is drawn",),
        captions=(),
    )


def _panels(node: Node) -> list[list[Call]]:
    """The calls below each outermost loop; loops that call the same statement share a panel."""
    found: list[list[Call]] = []
    for loop in _outermost(node):
        own = [call for call in _calls(loop) if call.arguments]
        names = set(_names(own))
        shared = [panel for panel in found if names & set(_names(panel))]
        found = [panel for panel in found if panel not in shared]
        found.append([call for panel in shared for call in panel] + own)
    return [panel for panel in found if panel]


def _outermost(node: Node) -> Iterator[Node]:
    """The loops and calls that no loop is around."""
    if isinstance(node, For | Call):
        yield node
    else:
        for child in children(node):
            yield from _outermost(child)


def _calls(node: Node) -> list[Call]:
    return [one for one in subprograms(node) if isinstance(one, Call)]


def _names(calls: Sequence[Call]) -> list[str]:
    return list(dict.fromkeys(call.name for call in calls))


def _small(loops: DescribedLoops, extent: int) -> dict[str, int] | None:
    """Sizes for which every argument takes a few values: each in turn grows for as long as that holds."""
    running = loops.schedule.domain.params().intersect(loops.schedule.context)
    point = smallest_point(running)
    if point is None:
        return None
    values = {name: point.parameters.get(name, 0) for name in loops.parameters}
    first, growing = dict(values), list(values)
    while growing:
        name = growing.pop(0)
        larger = {**values, name: values[name] + 1}
        if larger[name] - first[name] <= LARGEST and _fits(loops, larger, extent):
            values = larger
            growing.append(name)
    return values


def _fits(loops: DescribedLoops, values: Mapping[str, int], extent: int) -> bool:
    if at_parameters(loops.schedule.context, values).is_empty():
        return False
    run = _run(loops.node, values)
    return run.whole and all(high - low < extent for low, high in run.spans.values())


def _run(node: Node, values: Mapping[str, int]) -> _FirstCalls:
    calls: list[ExecutedCall] = []
    try:
        for call in execute(node, values, FUEL):
            calls.append(call)
            if len(calls) == FUEL:
                return _FirstCalls(tuple(calls), whole=False)
    except GaveUp:  # what ran before the limit is drawn, and said not to be all
        return _FirstCalls(tuple(calls), whole=False)
    return _FirstCalls(tuple(calls), whole=True)


def _panel(schedule: Schedule, panel: Sequence[Call], drawn: Sequence[ExecutedCall]) -> MovingPanel:
    """The axes are the arguments of the deepest statement."""
    deepest = _deepest(panel)
    spans = _spans(panel, drawn)
    shallowest = min(len(call.arguments) for call in panel)
    ends = [(axis, *spans[axis]) for axis in range(shallowest, len(spans))]
    outside = [(axis, value) for axis, low, high in ends for value in (low - 1, high + 1)]
    axes = _iterators(schedule, deepest)
    return MovingPanel(axes, tuple(outside), seen_axes(len(axes)), beside=None)


def _deepest(panel: Sequence[Call]) -> Call:
    return max(panel, key=lambda call: len(call.arguments))


def _spans(panel: Sequence[Call], drawn: Sequence[ExecutedCall]) -> list[tuple[int, int]]:
    names = set(_names(panel))
    own = [at for name, at in drawn if name in names]
    axes = range(len(_deepest(panel).arguments))
    values = [[at[axis] for at in own if axis < len(at)] for axis in axes]
    return [(min(one, default=0), max(one, default=0)) for one in values]


def _iterators(schedule: Schedule, call: Call) -> tuple[str, ...]:
    """The names that the description has for them, else i0, i1 and so on."""
    count = len(call.arguments)
    sets = schedule.domain.get_set_list()
    found = [sets.get_at(k) for k in range(sets.n_set())]
    own = next((one for one in found if one.get_tuple_name() == call.name and one.dim(SET) == count), None)
    names = [None if own is None else own.get_dim_name(SET, k) for k in range(count)]
    return tuple(name or f"i{k}" for k, name in enumerate(names))


def _instances(
    panels: Sequence[Sequence[Call]], numbers: Mapping[str, int], drawn: Sequence[ExecutedCall]
) -> Iterator[MovingInstance]:
    spans = [_spans(panel, drawn) for panel in panels]
    names = list(numbers)
    for step, (name, at) in enumerate(drawn):
        panel = panels[numbers[name]]
        where = _place(name, at, panel, spans[numbers[name]])
        yield MovingInstance(names.index(name), at, where, step, step, 0, (), (), _call_text(name, at))


def _place(
    name: str, at: Coordinates, panel: Sequence[Call], spans: Sequence[tuple[int, int]]
) -> Coordinates:
    """Its arguments along the axes; where it has no more, before the others or after them."""
    order = _names(panel)
    is_after = order.index(name) > order.index(_deepest(panel).name)
    return (*at, *(high + 1 if is_after else low - 1 for low, high in spans[len(at) :]))


def _text(loops: DescribedLoops, name: str) -> str:
    call = next(one for one in _calls(loops.node) if one.name == name)
    return _call_text(name, _iterators(loops.schedule, call))


def _call_text(name: str, arguments: Sequence[object]) -> str:
    return f"{name}({', '.join(map(str, arguments))});"


def _sizes(values: Mapping[str, int], small: Mapping[str, int], depth: int) -> tuple[SizeControl, ...]:
    more = longest(depth) // 2
    return tuple(
        SizeControl(name, value, min(1, value), max(small[name], value) + more)
        for name, value in values.items()
    )
