"""Proposals: steps worth trying on a program, with their goals and nests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from itertools import chain, combinations
from itertools import count as numbers_from

from loopwright.lazy_dataclass import dataclass
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import (
    Distribute,
    Lift,
    MapBlocks,
    MapThreads,
    Operation,
    Permute,
    Shift,
    Tile,
)
from loopwright.transform.script.steps import Step
from loopwright.transform.vectors import Position


class ProposalKind(Enum):
    INTERCHANGE = "interchange"
    FUSION = "fusion"
    TILING = "tiling"
    PARALLEL = "parallel loop"
    UNROLL_AND_JAM = "unroll and jam"
    DISTRIBUTION = "distribution"
    VECTORS = "vectors"
    REORDERING = "reordering"
    MAPPING = "mapping"


class Aim(Enum):
    """The aim of a proposal for its loops."""

    PARALLEL = auto()
    WAVEFRONT = auto()
    TILE_WAVES = auto()
    INTERCHANGE = auto()
    INTERCHANGE_APART = auto()
    TILES = auto()
    TILES_OF_LOOPS = auto()
    TILES_OF_ROWS = auto()
    TILES_APART = auto()
    FUSION = auto()
    JAM = auto()
    DISTRIBUTION = auto()
    VECTORS = auto()
    REORDERING = auto()
    MAPPING = auto()


@dataclass(frozen=True)
class Goal:
    """An aim, the positions of its loops or statements, and the loops by name."""

    aim: Aim
    where: tuple[Position, ...]
    loops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """Steps, the loops they affect and the `statements` whose order they change.

    Of several with the same `goal` only the first that is legal is of interest.
    """

    kind: ProposalKind
    steps: tuple[Step, ...]
    loops: tuple[str, ...]
    statements: tuple[str, ...]
    goal: Goal
    moved: str | None = None
    """The statement whose own loops are rearranged, if not all are."""
    whole: str | None = None
    """The innermost loop, if it is not tiled."""
    reaches: tuple[Goal, ...] = ()
    """Other goals that need no further proposals if it is legal."""
    unless: tuple[Goal, ...] = ()
    """It is skipped if one of these goals is reached."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(step.operation for step in self.steps)

    @property
    def is_skewed(self) -> bool:
        """Whether its tiles are skewed."""
        return any(isinstance(one, Tile) and one.skew for one in self.operations)

    @property
    def is_shifted(self) -> bool:
        return any(isinstance(one, Shift) for one in self.operations)

    def applied(self, plan: Plan) -> Plan | None:
        """The plan after it; None if the operations do not apply."""
        return attempted(plan, *self.steps)


@dataclass(frozen=True)
class NamedNest:
    """Statements that share exactly the loops `loops`, under a handle that `definition` creates."""

    component: Component
    loops: tuple[str, ...]
    handle: str
    definition: tuple[Step, ...]


def steps_of(*operations: Operation) -> tuple[Step, ...]:
    """The operations as steps that bind no handle."""
    return tuple(Step(one) for one in operations)


def nests(plan: Plan) -> list[NamedNest]:
    """Every innermost set of statements in common loops, and every loop that holds several of those."""
    found: list[NamedNest] = []
    seen: set[Component] = set()
    for leaf in plan.leaves:
        for depth in range(leaf.depth, 0, -1):
            component = inside(plan, leaf.position[:depth])
            if component in seen:
                continue
            seen.add(component)
            nest = _nest(plan, component, leaf.position, leaf.loops[: plan.common_loops(component)])
            found += [] if nest is None else [nest]
    return sorted(found, key=lambda nest: (nest.component.first, len(nest.component.positions)))


def inside(plan: Plan, path: Position) -> Component:
    return Component.of(leaf.position for leaf in plan.leaves if leaf.position[: len(path)] == path)


def _nest(plan: Plan, component: Component, position: Position, loops: tuple[str, ...]) -> NamedNest | None:
    """The nest, under an existing handle or one lifted from a statement's; None without either."""
    name = handle_of(plan, component)
    if name is not None:
        return NamedNest(component, loops, name, ())
    inner, new = handle_at(plan, position), _fresh(plan)
    if inner is None:
        return None
    return NamedNest(component, loops, new, (Step(Lift(inner, len(loops)), (new,)),))


def handle_of(plan: Plan, component: Component) -> str | None:
    """The name of the component, preferably a label rather than a statement's own name."""
    return next((name for name, known in plan.components.items() if known == component), None)


def handle_at(plan: Plan, position: Position) -> str | None:
    """The name of the statements at a position."""
    return handle_of(plan, Component.of([position]))


def handles_at(plan: Plan, positions: Iterable[Position]) -> tuple[str, ...] | None:
    """The names of the statements at each position; None if one has no name."""
    found = [handle_at(plan, position) for position in positions]
    known = tuple(name for name in found if name is not None)
    return known if len(known) == len(found) else None


def _fresh(plan: Plan) -> str:
    names = chain(("L", "Nest", "Loops"), (f"L{k}" for k in numbers_from(2)))
    return next(name for name in names if name not in plan.components)


def fresh(plan: Plan, name: str) -> str:
    """`name`, with underscores appended until it is no handle of the plan."""
    while name in plan.components:
        name += "_"
    return name


_SIZES = {1: (256,), 2: (8, 32), 3: (2, 4, 32)}
"""Threads of a block by the number of loops: a warp along the innermost."""


def mappings(plan: Plan) -> Iterator[Proposal]:
    """Mappings for each statement with loops, in source order."""
    for leaf in plan.leaves:
        handle = handle_at(plan, leaf.position)
        if handle is None or not leaf.loops:
            continue
        goal = Goal(Aim.MAPPING, (leaf.position,))
        statements = plan.statements_at(Component.of([leaf.position]))
        for loops in _bands(leaf.loops):
            for apart in _distributed(plan, leaf, loops):
                steps = (*apart, *_mapped(handle, leaf.loops, loops))
                yield Proposal(ProposalKind.MAPPING, steps, loops, statements, goal)


def _bands(loops: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for count in range(min(len(_SIZES), len(loops)), 0, -1):
        yield from combinations(loops, count)


def _mapped(handle: str, loops: tuple[str, ...], band: tuple[str, ...]) -> tuple[Step, ...]:
    """Tile and map the band without the loops that come after its first one."""
    first = loops.index(band[0])
    order = (*loops[:first], *band, *(loop for loop in loops[first:] if loop not in band))
    counts = tuple(LoopNumber(size, loop) for loop, size in zip(band, _SIZES[len(band)], strict=True))
    operations = (
        Tile(handle, counts),
        MapBlocks(handle, tuple(f"{loop}T" for loop in band)),
        MapThreads(handle, counts),
    )
    moved = steps_of(Permute(handle, order)) if order != loops else ()
    return (*moved, *steps_of(*operations))


def _distributed(plan: Plan, leaf: PlanLeaf, band: tuple[str, ...]) -> Iterator[tuple[Step, ...]]:
    """Nothing if the statement shares no loops; else its distribution."""
    around: Position = leaf.position[: leaf.loops.index(band[0]) + 1]
    others = inside(plan, around).positions
    if len(others) == 1:
        yield ()
        return
    names = [handle_at(plan, position) for position in others]
    if all(name is not None for name in names):
        yield steps_of(Distribute(tuple(name for name in names if name is not None)))
