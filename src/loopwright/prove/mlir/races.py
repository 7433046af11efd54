"""Parallel loops are independent: no two iterations touch one cell, one of them writing it.

For the loop of iterator number d around statements a and b:
no a[i] and b[j] with i and j equal before d, different at d, and a common cell that one of them writes.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Block, Call, For, If, Node
from loopwright.presburger.dimensions import equal_in
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.equivalence.flow import Flow
from loopwright.prove.mlir.function import AffineFunction
from loopwright.prove.verdict import Proved, Refuted


@dataclass(frozen=True, eq=False)
class _ArrayTouch:
    """{ S[i] -> A[x] }: what a statement reads or writes."""

    statement: str
    array: str
    cells: isl.Map
    is_write: bool


def independent(function: AffineFunction, context: isl.Set) -> Proved | Refuted:
    """Whether the iterations of every parallel loop may run in any order, or at the same time."""
    loops = list(_parallel(function.loops, 0))
    if not loops:
        return Proved(0)
    touches = list(_touches(function, function.flow(context)))
    obligations = 0
    for depth, members in loops:
        inside = [one for one in touches if one.statement in members]
        written = {one.array for one in inside if one.is_write}
        for first in (one for one in inside if one.is_write):
            for second in (one for one in inside if one.array in written and one.array == first.array):
                obligations += 1
                pairs = equal_in(first.cells.apply_range(second.cells.reverse()), range(depth))
                apart = pairs.intersect(_different(pairs, depth)).intersect_params(context)
                if not apart.is_empty():
                    return _race(function, first, second, apart, depth)
    return Proved(obligations)


def _parallel(node: Node, depth: int) -> Iterator[tuple[int, frozenset[str]]]:
    """The parallel loops: how many loops are around each, and the statements inside."""
    match node:
        case For():
            if node.parallel is not None:
                yield depth, frozenset(_calls(node.body))
            yield from _parallel(node.body, depth + 1)
        case Block(children):
            for child in children:
                yield from _parallel(child, depth)
        case If(_, then, orelse):
            yield from _parallel(then, depth)
            if orelse is not None:
                yield from _parallel(orelse, depth)
        case _:
            return


def _calls(node: Node) -> Iterator[str]:
    match node:
        case Call(name):
            yield name
        case Block(children):
            for child in children:
                yield from _calls(child)
        case If(_, then, orelse):
            yield from _calls(then)
            if orelse is not None:
                yield from _calls(orelse)
        case For(body=body):
            yield from _calls(body)


def _touches(function: AffineFunction, flow: Flow) -> Iterator[_ArrayTouch]:
    for name, one in function.computations.items():
        for place, assignment in enumerate(one.assignments):
            key = name if len(one.assignments) == 1 else f"{name}.{place}"
            definition = flow.definitions[key]
            for cell in dict.fromkeys((assignment.target, *assignment.cells)):
                cells = definition.relation(cell.subscripts, cell.array).set_tuple_name(IN, name)
                if cell == assignment.target:
                    yield _ArrayTouch(name, cell.array, cells, is_write=True)
                if cell in assignment.cells:
                    yield _ArrayTouch(name, cell.array, cells, is_write=False)


def _different(pairs: isl.Map, depth: int) -> isl.Map:
    everything = isl.Map.universe(pairs.get_space())
    return everything.subtract(everything.equate(IN, depth, OUT, depth))


def _race(
    function: AffineFunction, first: _ArrayTouch, second: _ArrayTouch, pairs: isl.Map, depth: int
) -> Refuted:
    point = smallest_point(pairs.wrap())
    assert point is not None
    own = len(function.iterators[first.statement])
    values = point.coordinates[:own], point.coordinates[own:]
    shown = []
    for touch, at in zip((first, second), values, strict=True):
        names = function.iterators[touch.statement]
        instance = values_text(dict(zip(names, at, strict=True)))
        place = function.places[touch.statement]
        how = "writes" if touch.is_write else "reads"
        shown.append(f"line {place.line} ({place.text.strip()}) {how} it for {instance}")
    sizes = values_text(point.parameters)
    iterator = function.iterators[first.statement][depth]
    message = f"iterations of the parallel loop over {iterator} touch one cell of {first.array}"
    witness = f"{sizes}: {shown[0]}, {shown[1]}" if sizes else f"{shown[0]}, {shown[1]}"
    return Refuted("parallel", message, witness, point.parameters)
