"""Hexagonal tiles of a time loop and a space loop, classical tiles of the other loops [Grosser2014].

The K statements of a step run at the logical times τ = K t + k.  Every dependence has Δτ >= 1 and, along the
space loop s, -δ1 Δτ <= Δs <= δ0 Δτ.  A tile has 2H rows, H = h + 1: it grows for H rows, by δ1 cells to the
left and by δ0 to the right, and shrinks for H rows, by δ0 from the left and by δ1 from the right.  With a
the row in the tile and b the cell, counted from the first one of row 0, which has w cells:

    0 <= a < 2H
    -δ1 a <= b <= w - 1 + δ0 a                                                       (it grows)
    -δ1 h + δ0 (a - H) <= b <= w - 1 + δ0 h - δ1 (a - H)                             (it shrinks)

Left and right of a growing tile are shrinking tiles, which are earlier; a shrinking tile does not depend on
the tiles next to it.  So there are two phases of independent tiles:

    phase 0:   a = τ + H - 2H T     b = s - W S - D T                    W = 2w + (δ0 + δ1) h
    phase 1:   a = τ     - 2H T     b = s - W S - D T - w - δ0 h         D = (δ0 - δ1) h

At each time the rows of both phases have W cells together, and the next tile of a phase begins with the row
that the last one ended with, which gives D.  The order is [T, phase, S, R.., t, s, r..], where a classical
tile of another loop r is R = [(r + δ1 a) / size], where its own δ1 makes dependences non-negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import DIM
from loopwright.transform.directives import carried_through
from loopwright.transform.library.loops import SizedLoop, refuse_others
from loopwright.transform.library.skewing import DependenceEdge, dependence_edges
from loopwright.transform.plan import Component, Plan, repositioned
from loopwright.transform.relations import IterationFunction, constant, function_of, iterators, vector
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import Position, padded, pieces, rewritten

STEEPEST = 16
"""The largest slope that is searched for."""


@dataclass(frozen=True)
class Slopes:
    """The least δ0, δ1 >= 0 such that -δ1 Δτ <= Δs <= δ0 Δτ for every dependence, along one loop."""

    forwards: int
    backwards: int


@dataclass(frozen=True)
class Hexagons:
    """The tiles of loop `first` and the loops inside it; `times` are k of each statement."""

    first: int
    times: dict[Position, int]
    half: int
    """H, in logical times."""
    width: int
    """w, of the first row."""
    slopes: tuple[Slopes, ...]
    """The slopes of the hexagonal loop, then of each classical one."""
    sizes: tuple[int, ...]
    """The sizes of the classical tiles."""

    @property
    def count(self) -> int:
        """The number of tiled loops."""
        return len(self.slopes) + 1

    def relation(self, position: Position, phase: int) -> isl.Map:
        """{ [.., t, s, r..] -> [.., T, S, R.., t, s, r..] } of the instances in the tiles of a phase."""
        outer = [f"x{k}" for k in range(self.first)]
        points = ["t", "s", *(f"r{k}" for k in range(len(self.sizes)))]
        tiles = ["T", "S", *(f"R{k}" for k in range(len(self.sizes)))]
        left, right = self.slopes[0].backwards, self.slopes[0].forwards
        h, w = self.half - 1, self.width
        period, drift = 2 * w + (left + right) * h, (right - left) * h
        time = f"{len(self.times)} t + {self.times[position]} + {0 if phase else self.half}"
        begin = w + right * h if phase else 0
        tests = [
            f"a = {time} - {2 * self.half} T and b = s - {period} S - {drift} T - {begin}",
            f"0 <= a < {2 * self.half} and -{left} a <= b <= {w - 1} + {right} a",
            f"-{left * h} + {right} * (a - {self.half}) <= b",
            f"b <= {w - 1 + right * h} - {left} * (a - {self.half})",
        ]
        for k, (size, slope) in enumerate(zip(self.sizes, self.slopes[1:], strict=True)):
            tests.append(f"{size} R{k} <= r{k} + {slope.backwards} a < {size} R{k} + {size}")
        before, after = ", ".join([*outer, *points]), ", ".join([*outer, *tiles, *points])
        return isl.Map(f"{{ [{before}] -> [{after}] : exists (a, b : {' and '.join(tests)}) }}")


def hexagon(
    plan: Plan, component: Component, tiles: Sequence[SizedLoop]
) -> tuple[Plan, Component, Component]:
    """Return the plan with tiles of a component, and the parts of its two phases."""
    shape = hexagons_of(plan, component, tiles)
    first, count = shape.first, shape.count
    images: dict[Position, tuple[Position, ...]] = {}
    names: dict[Position, tuple[str, ...]] = {}
    functions: dict[Position, tuple[IterationFunction, IterationFunction]] = {}
    for position in component.positions:
        functions[position] = _functions(plan, shape, position)
        images[position] = tuple(
            (*position[: first + 1], phase, *(0,) * (count - 1), *position[first + 1 :]) for phase in (0, 1)
        )
        names[position] = functions[position][0].loop_names(plan.leaf(position).loops)
    directives = plan.directives
    for position, (one, _) in functions.items():
        directives = carried_through(directives, {position}, one)
    schedules: dict[str, isl.Map] = {}
    for statement in plan.program.statements:
        found = isl.Map.empty(padded(statement.schedule, plan.loops + count).get_space())
        for position, piece in pieces(statement.schedule):
            for part in _parts(piece, functions.get(position), images.get(position, ())):
                found = found.union(padded(part, plan.loops + count))
        schedules[statement.name] = found
    moved = replace(plan, directives=directives).rescheduled(schedules)
    phases = [Component.of(images[position][k] for position in component.positions) for k in (0, 1)]
    return repositioned(moved, images, names), phases[0], phases[1]


def _parts(
    piece: isl.Map,
    functions: tuple[IterationFunction, IterationFunction] | None,
    places: tuple[Position, ...],
) -> Iterator[isl.Map]:
    """The two phases of the tiled instances; the rest is unchanged."""
    if functions is None:
        yield piece
        return
    for function, place in zip(functions, places, strict=True):
        yield rewritten(piece, function.relation, place)


def _functions(
    plan: Plan, shape: Hexagons, position: Position
) -> tuple[IterationFunction, IterationFunction]:
    loops = plan.leaf(position).loops[: shape.first + shape.count]
    names: list[str | None] = [None] * (len(loops) + shape.count)
    own = range(shape.first, shape.first + shape.count)
    names[shape.first : shape.first + shape.count] = [f"{loops[k]}T" for k in own]
    one, two = (function_of(shape.relation(position, phase), tuple(names)) for phase in (0, 1))
    return one, two


def hexagons_of(plan: Plan, component: Component, tiles: Sequence[SizedLoop]) -> Hexagons:
    """The shape for these sizes and dependences."""
    first, loops = tiles[0].loop, [one.loop for one in tiles]
    if len(loops) < 2 or loops != list(range(first, first + len(loops))):
        message = "hexagons are of a time loop and the loops right inside it, named from the outside in"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="sizes", hint="hexagon(L, t=4, i=16, j=32)")
    if plan.common_loops(component) <= first:
        message = "the statements do not share the time loop"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint="fuse them first")
    refuse_others(plan, component, first)
    times = {position: k for k, position in enumerate(component.positions)}
    rows = tiles[0].size * len(times)
    if rows % 2:
        message = f"a tile of {rows} times, which has no middle"
        raise Misuse(Code.ARGUMENTS, message, argument="sizes", hint="give an even number of steps")
    edges = list(dependence_edges(plan, component, first))
    names = plan.leaf(component.first).loops
    slopes = tuple(_slopes(edges, times, first, one.loop, names[one.loop]) for one in tiles[1:])
    least = max(1, slopes[0].forwards, slopes[0].backwards)
    if tiles[1].size < least:
        message = f"the first row of a tile has {tiles[1].size} cells, and dependences reach over {least}"
        raise Misuse(Code.ARGUMENTS, message, argument="sizes", item=1, hint=f"give at least {least}")
    sizes = tuple(one.size for one in tiles[2:])
    return Hexagons(first, times, rows // 2, tiles[1].size, slopes, sizes)


def _slopes(
    edges: Sequence[DependenceEdge], times: dict[Position, int], first: int, loop: int, name: str
) -> Slopes:
    distances = [_distances(edge, times, first, loop) for edge in edges]
    if any(not one.intersect(_where("tau <= 0")).is_empty() for one in distances):
        message = "a dependence is between two instances of one statement in one step, or goes back in it"
        hint = "hexagons are for steps whose statements depend on earlier ones only"
        raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=hint)
    found: list[int] = []
    for sign in ("", "-"):
        for slope in range(STEEPEST + 1):
            if all(one.intersect(_where(f"{sign}s > {slope} tau")).is_empty() for one in distances):
                found.append(slope)
                break
        else:
            message = f"dependences along {name} reach over more than {STEEPEST} cells in one time"
            hint = "hexagons are for stencils, which read cells at constant distances"
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=hint)
    return Slopes(found[0], found[1])


def _where(condition: str) -> isl.Set:
    return isl.Set(f"{{ [tau, s] : {condition} }}")


def _distances(edge: DependenceEdge, times: dict[Position, int], first: int, loop: int) -> isl.Set:
    """{ (Δτ, Δs) }"""
    count = int(edge.pairs.dim(DIM))
    both = iterators(count)
    x, y = both[: edge.split], both[edge.split :]
    steps = y[first].sub(x[first]).scale_val(isl.Val(len(times)))
    later = times[edge.sink] - times[edge.source]
    distance = vector([steps.add(constant(count, later)), y[loop].sub(x[loop])])
    return edge.pairs.apply(isl.Map.from_multi_aff(distance))
