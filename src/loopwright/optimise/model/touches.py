"""The cost model's view of a generated program: loops with their trip counts and accesses.

The loops are entered at the middle of their ranges, which is exact where bounds are affine in one outer
loop, and close elsewhere.  What a call touches is an affine function of the loops around it:

    A[c0 + c1 i + c2 j + ...][...]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import assert_never

import islpy as isl

from loopwright.emit.openmp import is_uneven
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.loops.interpreter import evaluate, holds
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import subprograms, variables
from loopwright.model.program import Access, MemorySpace, Program, Statement
from loopwright.optimise.model.balance import trip_count, weights
from loopwright.presburger.functions import coefficient, functions_of
from loopwright.presburger.sets import DIV, IN, PARAM

WRITTEN_OUT = 4
"""The largest trip count for complete unrolling of an inner loop, which makes the outer one innermost."""

COPIES = 40
"""The most statements they unroll."""

PEELED = 16
"""Loops of so many iterations are written out before vectors are made; longer ones become vectors first.

Only sums in one cell count as such: what could be a vector loop costs much the same either way."""

WIDEST = 48
"""A vector loop of a known number of iterations, up to this, is written out as vectors."""


@dataclass(frozen=True)
class Subscripts:
    """An access of a statement: for each dimension the factors of the iterators, and a constant."""

    array: str
    is_write: bool
    factors: tuple[tuple[int, ...], ...] | None
    """None where a subscript is not affine."""
    constants: tuple[int, ...] = ()
    folded: tuple[Folded, ...] = ()
    """The subscripts, where they are affine but for quotients."""


@dataclass(frozen=True)
class Folded:
    """[(f . x + c + m_1 q_1 + ...) / d] of iterators x, with quotients q of the same kind."""

    factors: tuple[int, ...]
    constant: int
    denominator: int = 1
    quotients: tuple[tuple[int, Folded], ...] = ()

    def at(self, values: Sequence[int]) -> int:
        found = self.constant + sum(a * b for a, b in zip(self.factors, values, strict=True))
        return (found + sum(m * q.at(values) for m, q in self.quotients)) // self.denominator


@dataclass(frozen=True)
class CallTouch:
    """An access of a call: the factors of the loops around it, by name, and the value in their middles."""

    array: str
    is_write: bool
    factors: tuple[tuple[tuple[str, int], ...], ...] | None
    middle: tuple[int, ...]

    def moves_with(self, loop: str) -> bool:
        return self.factors is None or any(name == loop for one in self.factors for name, _ in one)


@dataclass(frozen=True)
class CallCost:
    """A call in a body: its statement and what it touches; a vector of `lanes` calls counts as one."""

    statement: str
    touches: tuple[CallTouch, ...]
    lanes: int = 1


@dataclass
class LoopCost:
    """A loop with its trip count; the region itself is one of one iteration."""

    name: str
    trip: float
    executions: float
    is_parallel: bool = False
    work: tuple[float, ...] = ()
    """Of a parallel loop, what each of its iterations does, or some at equal distances."""
    is_dealt: bool = False
    """Whether neighbouring iterations go to different threads."""
    is_outlined: bool = False
    """Whether it is in a parallel loop, which compilers make a function of its own."""
    loops: list[LoopCost] = field(default_factory=list)
    calls: list[CallCost] = field(default_factory=list)
    tests: int = 0
    """Conditions evaluated in each iteration, and minima and maxima in bounds."""
    is_vector: bool = False
    """Whether a pragma says that its iterations do not depend on each other."""
    meeting: frozenset[str] = frozenset()
    """Arrays that a compiler must assume to overlap here."""

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
    found = functions_of(access.relation)
    if len(found) != 1:
        return unknown
    functions = [found[0].get_aff(k) for k in range(found[0].dim(isl.dim_type.out))]
    values = tuple(_folded(one, statement.depth, sizes) for one in functions)
    if any(one.quotients or one.denominator > 1 for one in values):
        return Subscripts(access.array, access.is_write, None, folded=values)
    factors, constants = tuple(one.factors for one in values), tuple(one.constant for one in values)
    return Subscripts(access.array, access.is_write, factors, constants)


def _folded(function: isl.Aff, depth: int, sizes: Mapping[str, int]) -> Folded:
    """The value of an affine function with quotients, or of the quotient it is, rounded down."""
    denominator = int(function.get_denominator_val().to_python())
    whole = function.scale_val(isl.Val(denominator))
    params = {str(whole.get_dim_name(PARAM, k)): k for k in range(whole.dim(PARAM))}
    constant = int(whole.get_constant_val().to_python()) + sum(
        coefficient(whole, PARAM, k) * sizes[name]
        for name, k in params.items()
        if coefficient(whole, PARAM, k)
    )
    quotients = tuple(
        (factor, _folded(whole.get_div(k), depth, sizes))
        for k in range(whole.dim(DIV))
        if (factor := coefficient(whole, DIV, k))
    )
    factors = tuple(coefficient(whole, IN, k) for k in range(depth))
    return Folded(factors, constant, denominator, quotients)


@dataclass(frozen=True)
class _Named:
    """A loop or a local name on the way: its value is that of `start`, and `offset` more."""

    name: str
    start: Expr
    offset: int = 0
    step: int | None = None
    """None for what is not a loop."""


@dataclass(frozen=True)
class _Place:
    """Where the walk is: the values of all names in the middles of the loops, and how they come about."""

    values: Mapping[str, int]
    way: tuple[_Named, ...] = ()

    def inside(self, one: _Named) -> _Place:
        value = evaluate(one.start, self.values) + one.offset
        return _Place({**self.values, one.name: value}, (*self.way, one))

    def steps(self, arguments: Sequence[Expr]) -> dict[str, list[int]]:
        """The change of the arguments from one iteration of a loop to the next.

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
    lanes: Mapping[str, int]
    """How many elements of what a statement touches a vector holds."""
    shared: frozenset[str] = frozenset()
    """Arrays that a compiler must assume to overlap where threads share them."""

    def read(self, node: Node, into: LoopCost, place: _Place, lanes: int = 1) -> None:
        match node:
            case Call(name, arguments):
                into.calls.append(CallCost(name, self._touches(name, arguments, place), lanes))
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
            case Remarked(_, body):
                self.read(body, into, place)
            case _:
                assert_never(node)

    def _loop(self, node: For, into: LoopCost, place: _Place) -> None:
        trip = trip_count(node, place.values)
        if trip == 0:
            return
        lanes = self._in_vectors(node, trip) if into.name else 1
        if lanes > 1 or (into.name and _is_written_out(node, place)):
            self._written_out(node, into, place, trip, lanes)
            return
        executions = into.executions * into.trip
        found = LoopCost(node.iterator, trip, executions)
        if node.parallel is not None:
            found.is_parallel, found.is_dealt = True, is_uneven((node,))
            found.work = weights(node, trip, place.values)
        found.is_outlined = into.is_outlined or found.is_parallel
        found.is_vector = node.vector is not None
        found.meeting = self.shared if found.is_outlined else frozenset()
        here = _Named(node.iterator, node.start, node.step * _middle(trip, len(place.way)), node.step)
        self.read(node.body, found, place.inside(here))
        if into.name and _is_written_out(node, place, PEELED) and _is_sum(found):
            self._written_out(node, into, place, trip)
        else:
            into.loops.append(found)

    def _written_out(self, node: For, into: LoopCost, place: _Place, trip: int, lanes: int = 1) -> None:
        for k in range(0, trip, lanes):
            there = place.inside(_Named(node.iterator, node.start, node.step * k))
            self.read(node.body, into, there, lanes)

    def _in_vectors(self, node: For, trip: int) -> int:
        """The lanes of a vector loop that is written out as whole vectors; 1 of another loop."""
        if node.vector is None or not isinstance(node.body, Call) or not PEELED < trip <= WIDEST:
            return 1
        lanes = self.lanes[node.body.name]
        return lanes if trip % lanes == 0 and is_constant(node) else 1

    def _touches(self, name: str, arguments: tuple[Expr, ...], place: _Place) -> tuple[CallTouch, ...]:
        values = [evaluate(one, place.values) for one in arguments]
        steps = place.steps(arguments)
        return tuple(_touch(one, values, steps) for one in self.accesses[name])


def is_constant(loop: For) -> bool:
    """Whether a loop runs from one number to another."""
    return variables(loop.start) | variables(loop.test) <= {loop.iterator}


def _is_sum(loop: LoopCost) -> bool:
    """Whether an innermost loop writes a cell again and again."""
    written = (one for call in loop.calls for one in call.touches if one.is_write)
    return not loop.loops and any(not one.moves_with(loop.name) for one in written)


def _is_written_out(loop: For, place: _Place, most: int = WRITTEN_OUT) -> bool:
    """Whether a compiler unrolls a loop completely: a small constant trip count, and a small body."""
    return 0 < _copies(loop, place, most) <= COPIES


def _copies(loop: For, place: _Place, most: int = WRITTEN_OUT) -> int:
    """The statements of an unrolled loop; 0 if it is not unrolled."""
    around = {one.name for one in place.way}
    known = not (variables(loop.start) | variables(loop.test)) & around
    if not known or not 0 < (trip := trip_count(loop, place.values)) <= most:
        return 0
    inside = place.inside(_Named(loop.iterator, loop.start))
    parts = list(subprograms(loop.body))
    inner = [one for one in parts if isinstance(one, For) and one.vector is None]
    if inner and not all(one is inner[0] or one in subprograms(inner[0].body) for one in inner):
        return 0
    calls = sum(isinstance(one, Call) for one in parts)
    return trip * (_copies(inner[0], inside) if inner else calls)


def _touch(access: Subscripts, values: Sequence[int], steps: Mapping[str, Sequence[int]]) -> CallTouch:
    if access.factors is None:
        return _folded_touch(access, values, steps)
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
    return CallTouch(access.array, access.is_write, factors, middle)


def _folded_touch(access: Subscripts, values: Sequence[int], steps: Mapping[str, Sequence[int]]) -> CallTouch:
    """The same with quotients; nothing is known of other subscripts."""
    if not access.folded:
        return CallTouch(access.array, access.is_write, None, ())
    middle = tuple(one.at(values) for one in access.folded)
    moved = {loop: [a + b for a, b in zip(values, step, strict=True)] for loop, step in steps.items()}
    factors = tuple(
        tuple((loop, change) for loop, there in moved.items() if (change := one.at(there) - here))
        for one, here in zip(access.folded, middle, strict=True)
    )
    return CallTouch(access.array, access.is_write, factors, middle)


def _middle(trip: int, depth: int) -> int:
    """An iteration near the middle, another one for each depth: i = k is as rare there as it is elsewhere."""
    return min(trip - 1, trip * (50 + 3 * depth) // 100)


def costed_loops(
    node: Node, program: Program, sizes: Mapping[str, int], lanes: Mapping[str, int]
) -> LoopCost:
    """The whole region as a loop of one iteration."""
    root = LoopCost("", 1, 1)
    _Reader(subscripts_of(program, sizes), lanes, overlapping(program)).read(node, root, _Place(sizes))
    return root


def overlapping(program: Program) -> frozenset[str]:
    """What compilers must assume to overlap in a function made of a parallel loop, where `restrict` is lost:
    all that is not declared inside, if some of the author's arrays are accessed by pointers."""
    named = [one for one in program.arrays if one.dimensions]
    outside = [one for one in named if not one.local or one.space is MemorySpace.HEAP]
    is_lost = any(one.layout is not None and one.layout.is_pointer for one in outside if not one.local)
    return frozenset(one.name for one in outside) if is_lost else frozenset()
