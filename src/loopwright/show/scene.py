"""The data of a picture: dots, their order, dependences, tiles, and violations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from loopwright.c.tokens import bracketed
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence
from loopwright.model.program import Program
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.parallel import ParallelLoop
from loopwright.prove.legality.plans import parallel_loops
from loopwright.prove.legality.violation import Violation
from loopwright.show.groups import DrawnGroup
from loopwright.show.outlines import DrawnTile, Outlines, outlines
from loopwright.show.small import Coordinates, Instance, Window, pairs_of, times, window_of
from loopwright.transform.plan import Plan


@dataclass(frozen=True)
class Dot:
    """An instance, where it is drawn, and its place in both orders, from 1 on."""

    instance: Instance
    where: Coordinates
    kind: int
    """Which statement of the picture it is an instance of."""
    before: int
    after: int
    counted: Coordinates = ()
    """Its iteration numbers after the script."""


@dataclass(frozen=True)
class Arrow:
    """A dependence: `source` has to run before `sink`; `broken` if it does not, in the new order."""

    source: Instance
    sink: Instance
    broken: bool


@dataclass(frozen=True)
class Broken:
    """The two instances that are named, and what they do."""

    first: Instance
    second: Instance
    first_text: str
    second_text: str


@dataclass(frozen=True)
class Scene:
    """`axes` from the outermost drawn loop inwards; `changed` tells whether the two orders differ."""

    axes: tuple[str, ...]
    statements: tuple[str, ...]
    dots: tuple[Dot, ...]
    arrows: tuple[Arrow, ...]
    outlines: Outlines
    broken: Broken | None
    parameters: dict[str, int]
    notes: tuple[str, ...]
    labels: tuple[str, ...] = ()
    """What the statements are called in the legend: with the label they have in the source."""
    outside: frozenset[tuple[int, int]] = frozenset()
    """(axis, value): where only statements are drawn that have no loop along the axis."""

    @property
    def changed(self) -> bool:
        return any(dot.before != dot.after for dot in self.dots)

    @property
    def recounted(self) -> bool:
        """Whether nothing changes but the values of the iterators."""
        return not self.changed and any(dot.counted != dot.instance[1] for dot in self.dots if dot.counted)

    @property
    def tiles(self) -> tuple[DrawnTile, ...]:
        return self.outlines.tiles


def scene_of(
    plan: Plan, group: DrawnGroup, dependences: Iterable[Dependence], verdict: LegalityVerdict
) -> Scene | None:
    """The picture of a group of statements; None where none of them ever runs.

    Dependences that the proof found not to count are left out where the new order does not keep them.
    """
    violations, free = verdict.violations, free_storage(verdict, plan.original)
    names = {statement.name for statement in group.statements}
    about = [one for one in violations if {one.first.statement, one.second.statement} <= names]
    start = about[0].parameters if about else None
    window = window_of(plan.original, group.statements, len(group.axes), start)
    if window is None:
        return None
    window = _sliced(group, window)
    before = times(group.statements, {s.name: s.schedule for s in group.statements}, window)
    schedules = {name: plan.program.statement(name).schedule for name in sorted(names)}
    after = times(group.statements, schedules, window)
    arrows = _arrows(plan, group, dependences, window, after, free)
    return Scene(
        axes=axis_names(group),
        statements=tuple(statement.name for statement in group.statements),
        dots=_dots(group, window, before, after),
        arrows=_essential(arrows, before),
        outlines=outlines(plan, group.statements, schedules, after),
        broken=_named(plan.original, arrows, about, before),
        parameters=window.parameters,
        notes=_remarks(group, window),
        labels=tuple(label_of(plan.original, statement.name) for statement in group.statements),
        outside=frozenset(
            (axis, value)
            for axis, (low, high) in enumerate(spans_of(group, window))
            for value in (low - 1, high + 1)
        ),
    )


def label_of(program: Program, name: str) -> str:
    own = _own_label(program, name)
    return f"{name} ({own})" if own else name


def _own_label(program: Program, name: str) -> str | None:
    """The label that stands on this statement alone."""
    return next(iter(program.labels_on(program.statement(name))), None)


def _sliced(group: DrawnGroup, window: Window) -> Window:
    """Loops without an axis stand still at their first value."""
    ranges = {
        name: tuple(
            values if group.placed[name][k] is not None else values[:1] for k, values in enumerate(own)
        )
        for name, own in window.ranges.items()
    }
    return Window(window.parameters, ranges, window.clipped)


def axis_names(group: DrawnGroup) -> tuple[str, ...]:
    """The iterators along each axis, the deepest statement's first."""
    names = [[axis] for axis in group.axes]
    for statement in group.statements:
        for iterator, axis in zip(statement.iterators, group.placed[statement.name], strict=True):
            if axis is not None and iterator not in names[axis]:
                names[axis].append(iterator)
    return tuple(", ".join(own) for own in names)


def _remarks(group: DrawnGroup, window: Window) -> tuple[str, ...]:
    found: list[str] = []
    if window.clipped:
        found.append("only a corner of the nest is drawn")
    for statement in group.statements:
        placed = group.placed[statement.name]
        still = [
            f"{name} = {values.start}"
            for name, axis, values in zip(
                statement.iterators, placed, window.ranges[statement.name], strict=True
            )
            if axis is None and len(values) > 0
        ]
        if still:
            found.append(f"{statement.name} is drawn for {', '.join(still)}")
    return (*found, *_missing(group))


def _missing(group: DrawnGroup) -> Iterator[str]:
    """Which statements lack a loop that the picture has an axis for."""
    lacking: dict[str, list[str]] = {}
    for statement in group.statements:
        placed = group.placed[statement.name]
        missing = ", ".join(name for axis, name in enumerate(group.axes) if axis not in placed)
        if missing:
            lacking.setdefault(missing, []).append(statement.name)
    for missing, names in lacking.items():
        yield f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} no loop over {missing}"


def _dots(
    group: DrawnGroup,
    window: Window,
    before: Mapping[Instance, Coordinates],
    after: Mapping[Instance, Coordinates],
) -> tuple[Dot, ...]:
    first, second = _ranks(before), _ranks(after)
    names = [statement.name for statement in group.statements]
    spans = spans_of(group, window)
    return tuple(
        Dot(
            instance,
            place_of(group, instance, spans),
            names.index(instance[0]),
            first[instance],
            second.get(instance, 0),
            after.get(instance, ())[1 : 2 * len(instance[1]) : 2],
        )
        for instance in sorted(before, key=lambda one: first[one])
    )


def _ranks(found: Mapping[Instance, Coordinates]) -> dict[Instance, int]:
    ordered = sorted(found, key=lambda one: (found[one], one))
    return {instance: k + 1 for k, instance in enumerate(ordered)}


def spans_of(group: DrawnGroup, window: Window) -> list[tuple[int, int]]:
    """The least and the greatest value along each axis."""
    values: list[list[int]] = [[] for _ in group.axes]
    for name, placed in group.placed.items():
        for axis, span in zip(placed, window.ranges[name], strict=True):
            if axis is not None and len(span) > 0:
                values[axis] += [span[0], span[-1]]
    return [(min(own, default=0), max(own, default=0)) for own in values]


def place_of(group: DrawnGroup, instance: Instance, spans: Sequence[tuple[int, int]]) -> Coordinates:
    """Its iterators along the axes; without a loop there, before the others or after them."""
    name, coordinates = instance
    placed = group.placed[name]
    deepest = max(group.statements, key=lambda statement: statement.depth)
    order = [statement.name for statement in group.statements]
    is_after = order.index(name) > order.index(deepest.name)
    outside = [high + 1 if is_after else low - 1 for low, high in spans]
    for axis, value in zip(placed, coordinates, strict=True):
        if axis is not None:
            outside[axis] = value
    return tuple(outside)


def _arrows(
    plan: Plan,
    group: DrawnGroup,
    dependences: Iterable[Dependence],
    window: Window,
    after: Mapping[Instance, Coordinates],
    free: Collection[str],
) -> list[Arrow]:
    known = {statement.name: statement for statement in group.statements}
    loops = parallel_loops(plan)
    counts: dict[tuple[Instance, Instance], bool] = {}
    for one in dependences:
        if one.source in known and one.sink in known:
            for pair in pairs_of(one.relation, known[one.source], known[one.sink], window):
                counts[pair] = counts.get(pair, False) or one.array not in free
    found = [
        (Arrow(source, sink, is_broken(after[source], after[sink], loops)), counts[source, sink])
        for source, sink in counts
        if source in after and sink in after
    ]
    return [arrow for arrow, is_needed in found if is_needed or not arrow.broken]


def is_broken(first: Coordinates, second: Coordinates, loops: Sequence[ParallelLoop]) -> bool:
    """θ'(a) ≺ θ'(b) does not hold, or a parallel loop has them in different iterations."""
    return first >= second or any(_apart(first, second, loop) for loop in loops)


def free_storage(verdict: LegalityVerdict, program: Program) -> dict[str, str]:
    """Arrays whose dependences need not be kept, each with the reason that the proof has."""
    combined = [one for one in program.statements if one.name in verdict.exact and verdict.proved]
    found = {
        access.array: "numbers are combined in another order, to the same bits"
        for one in combined
        for access in one.writes
    }
    found |= {one.array: "its steps may be combined in any order" for one in verdict.reassociations}
    found |= dict.fromkeys(verdict.temporaries, "every read sees the same value")
    return found | {one.array: f"every iteration of {one.loop} has its own" for one in verdict.private}


def _apart(first: Coordinates, second: Coordinates, loop: ParallelLoop) -> bool:
    place = loop.dimension
    path = loop.positions or ()
    inside = all(value == wanted for value, wanted in zip(first[:place:2], path, strict=False))
    return inside and first[:place] == second[:place] and first[place] != second[place]


def _essential(arrows: Sequence[Arrow], before: Mapping[Instance, Coordinates]) -> tuple[Arrow, ...]:
    """The arrows that no chain of others stands for (the transitive reduction): all the rest follow."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_edges_from((arrow.source, arrow.sink) for arrow in arrows)
    kept = set(networkx.transitive_reduction(graph).edges)
    left = [arrow for arrow in arrows if (arrow.source, arrow.sink) in kept]
    return tuple(sorted(left, key=lambda arrow: (arrow.broken, before[arrow.source], before[arrow.sink])))


def _named(
    program: Program,
    arrows: Sequence[Arrow],
    violations: Sequence[Violation],
    before: Mapping[Instance, Coordinates],
) -> Broken | None:
    """The violation the proof found, where the picture has it; otherwise the first broken arrow."""
    broken = {(arrow.source, arrow.sink) for arrow in arrows if arrow.broken}
    for one in violations:
        first = (one.first.statement, one.first.instance)
        second = (one.second.statement, one.second.instance)
        if (first, second) in broken:
            cell = one.array + bracketed(one.cell)
            texts = [
                f"{_called(program, end)} {'writes' if touched.is_write else 'reads'} {cell}"
                for end, touched in ((first, one.first_access), (second, one.second_access))
            ]
            return Broken(first, second, *texts)
    if not broken:
        return None
    first, second = min(broken, key=lambda pair: (before[pair[1]], before[pair[0]]))
    return Broken(first, second, _called(program, first), _called(program, second))


def _called(program: Program, instance: Instance) -> str:
    name, coordinates = instance
    return f"{_own_label(program, name) or name}({', '.join(map(str, coordinates))})"
