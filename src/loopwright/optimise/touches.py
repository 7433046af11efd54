"""A generated program as the cost model sees it: loops with their trip counts, and what is touched in them.

The loops are entered at the middle of their ranges, which is exact where bounds are affine in one outer
loop, and close elsewhere.  What a call touches is an affine function of the loops around it:

    A[c0 + c1 i + c2 j + ...][...]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.loops.interpreter import evaluate, holds
from loopwright.loops.nodes import Block, Call, For, If, Let, Mark, Node
from loopwright.loops.traverse import subprograms, variables
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.sets import IN, PARAM

LONGEST = 1 << 40
"""A loop whose end is not found takes as many iterations."""

WRITTEN_OUT = 4
"""So many iterations of an inner loop compilers write out, so that the loop around is the innermost."""

COPIES = 40
"""So many statements they write out at most."""


@dataclass(frozen=True)
class Subscripts:
    """An access of a statement: for each dimension the factors of the iterators, and a constant."""

    array: str
    is_write: bool
    factors: tuple[tuple[int, ...], ...] | None
    """None where a subscript is not affine."""
    constants: tuple[int, ...] = ()


@dataclass(frozen=True)
class Touch:
    """An access of a call: the factors of the loops around it, by name, and the value in their middles."""

    array: str
    is_write: bool
    factors: tuple[tuple[tuple[str, int], ...], ...] | None
    middle: tuple[int, ...]

    def factor(self, dimension: int, loop: str) -> int:
        return 0 if self.factors is None else dict(self.factors[dimension]).get(loop, 0)

    def moves_with(self, loop: str) -> bool:
        return self.factors is None or any(name == loop for one in self.factors for name, _ in one)


@dataclass(frozen=True)
class CallCost:
    """A call in a body: its statement and what it touches."""

    statement: str
    touches: tuple[Touch, ...]


@dataclass
class LoopCost:
    """A loop with its trip count; the region itself is one of one iteration."""

    name: str
    trip: float
    executions: float
    is_parallel: bool = False
    is_vector: bool = False
    loops: list[LoopCost] = field(default_factory=list)
    calls: list[CallCost] = field(default_factory=list)
    tests: int = 0
    """Conditions evaluated in each iteration, and minima and maxima in bounds."""

    def inside(self) -> Iterator[LoopCost]:
        """The loop and all loops in it."""
        yield self
        for one in self.loops:
            yield from one.inside()


def subscripts_of(program: Program, sizes: Mapping[str, int]) -> dict[str, tuple[Subscripts, ...]]:
    """The accesses of every statement, each once."""
    return {
        one.name: tuple(dict.fromkeys(_subscripts(one, access, sizes) for access in one.accesses))
        for one in program.statements
    }


def _subscripts(statement: Statement, access: Access, sizes: Mapping[str, int]) -> Subscripts:
    unknown = Subscripts(access.array, access.is_write, None)
    if not access.relation.is_single_valued():
        return unknown
    found: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(access.relation).foreach_piece(lambda _, value: found.append(value))
    if len(found) != 1:
        return unknown
    functions = [found[0].get_aff(k) for k in range(found[0].dim(isl.dim_type.out))]
    if any(one.dim(isl.dim_type.div) > 0 or not one.get_denominator_val().is_one() for one in functions):
        return unknown
    factors = tuple(
        tuple(int(one.get_coefficient_val(IN, k).to_python()) for k in range(statement.depth))
        for one in functions
    )
    constants = tuple(
        int(one.get_constant_val().to_python())
        + sum(
            int(one.get_coefficient_val(PARAM, k).to_python()) * sizes[str(one.get_dim_name(PARAM, k))]
            for k in range(one.dim(PARAM))
        )
        for one in functions
    )
    return Subscripts(access.array, access.is_write, factors, constants)


@dataclass(frozen=True)
class _Named:
    """A loop or a local name on the way: its value is that of `start`, and `offset` more."""

    name: str
    start: Expr
    offset: int = 0
    step: int | None = None
    """None for what is no loop."""


@dataclass(frozen=True)
class _Place:
    """Where the walk is: the values of all names in the middles of the loops, and how they come about."""

    values: Mapping[str, int]
    way: tuple[_Named, ...] = ()

    def inside(self, one: _Named) -> _Place:
        value = evaluate(one.start, self.values) + one.offset
        return _Place({**self.values, one.name: value}, (*self.way, one))

    def steps(self, arguments: Sequence[Expr]) -> dict[str, list[int]]:
        """By how much the arguments change from one iteration of a loop to the next.

        Loops inside whose bounds follow it, such as those over the points of a tile, move along.
        """
        before = [evaluate(one, self.values) for one in arguments]
        found = {}
        for k, loop in enumerate(self.way):
            if loop.step is None:
                continue
            then = {**self.values, loop.name: self.values[loop.name] + loop.step}
            for one in self.way[k + 1 :]:
                then[one.name] = evaluate(one.start, then) + one.offset
            found[loop.name] = [evaluate(one, then) - was for one, was in zip(arguments, before, strict=True)]
        return found


@dataclass(frozen=True)
class _Reader:
    accesses: Mapping[str, tuple[Subscripts, ...]]

    def read(self, node: Node, into: LoopCost, place: _Place) -> None:
        match node:
            case Call(name, arguments):
                into.calls.append(CallCost(name, self._touches(name, arguments, place)))
            case Block(children):
                for child in children:
                    self.read(child, into, place)
            case If(test, then, orelse):
                into.tests += 1
                taken = then if holds(test, place.values) else orelse
                if taken is not None:
                    self.read(taken, into, place)
            case For():
                self._loop(node, into, place)
            case Let(name, value, body):
                self.read(body, into, place.inside(_Named(name, value)))
            case Mark(_, body):
                self.read(body, into, place)
            case _:
                assert_never(node)

    def _loop(self, node: For, into: LoopCost, place: _Place) -> None:
        trip = trip_count(node, place.values)
        if trip == 0:
            return
        if into.name and _is_written_out(node, place):
            for k in range(trip):
                self.read(node.body, into, place.inside(_Named(node.iterator, node.start, node.step * k)))
            return
        is_parallel, is_vector = node.parallel is not None, node.vector is not None
        executions = into.executions * into.trip
        found = LoopCost(node.iterator, trip, executions, is_parallel=is_parallel, is_vector=is_vector)
        into.loops.append(found)
        here = _Named(node.iterator, node.start, node.step * _middle(trip, len(place.way)), node.step)
        self.read(node.body, found, place.inside(here))

    def _touches(self, name: str, arguments: tuple[Expr, ...], place: _Place) -> tuple[Touch, ...]:
        values = [evaluate(one, place.values) for one in arguments]
        steps = place.steps(arguments)
        return tuple(_touch(one, values, steps) for one in self.accesses[name])


def _is_written_out(loop: For, place: _Place) -> bool:
    """Whether a compiler writes out a loop: of a few iterations, counted beforehand, and of little text."""
    return 0 < _copies(loop, place) <= COPIES


def _copies(loop: For, place: _Place) -> int:
    """The statements of a loop that is written out; 0 where it is not."""
    around = {one.name for one in place.way}
    known = not (variables(loop.start) | variables(loop.test)) & around
    if not known or not 0 < (trip := trip_count(loop, place.values)) <= WRITTEN_OUT:
        return 0
    inside = place.inside(_Named(loop.iterator, loop.start))
    parts = list(subprograms(loop.body))
    inner = [one for one in parts if isinstance(one, For)]
    if len(inner) > 1:
        return 0
    calls = sum(isinstance(one, Call) for one in parts)
    return trip * (_copies(inner[0], inside) if inner else calls)


def _touch(access: Subscripts, values: Sequence[int], steps: Mapping[str, Sequence[int]]) -> Touch:
    if access.factors is None:
        return Touch(access.array, access.is_write, None, ())
    factors = tuple(
        tuple(
            (loop, change)
            for loop, moved in steps.items()
            if (change := sum(a * b for a, b in zip(row, moved, strict=True)))
        )
        for row in access.factors
    )
    middle = tuple(
        constant + sum(a * b for a, b in zip(row, values, strict=True))
        for row, constant in zip(access.factors, access.constants, strict=True)
    )
    return Touch(access.array, access.is_write, factors, middle)


def _middle(trip: int, depth: int) -> int:
    """An iteration near the middle, another one for each depth: i = k is as rare there as it is elsewhere."""
    return min(trip - 1, trip * (50 + 3 * depth) // 100)


def trip_count(loop: For, env: Mapping[str, int]) -> int:
    """How often the body runs: by the bound where the test is one, by doubling where it is not."""
    value = evaluate(loop.start, env)
    inside = {**env}

    def runs(count: int) -> bool:
        inside[loop.iterator] = value + count * loop.step
        return holds(loop.test, inside)

    if not runs(0):
        return 0
    high = 1
    while runs(high) and high < LONGEST:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if runs(middle) else (low, middle)
    return high


def costed_loops(node: Node, program: Program, sizes: Mapping[str, int]) -> LoopCost:
    """The whole region as a loop of one iteration."""
    root = LoopCost("", 1, 1)
    _Reader(subscripts_of(program, sizes)).read(node, root, _Place(sizes))
    return root
