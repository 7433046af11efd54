"""Times that tell instances apart, where a schedule gives several the same time.

The time of an instance is followed by its place in the program: the positions in blocks and the
iterators on the way to the call that runs it.  That the program runs by strictly increasing longer
times implies that it runs in the order of the schedule, and nothing twice (`untied` in `proofs/Checker.v`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.loops.expressions import Expr, Int
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.prove.certificates.specification import chosen, shapes_of
from loopwright.prove.obligations.decisions import mapped
from loopwright.prove.obligations.timetable import Timetable, Vector
from loopwright.prove.obligations.witnesses import Witness, witness

Position: TypeAlias = tuple[int | str, ...]
"""Of a call: numbers are those of children; of iterators, the number of the dimension as text."""


def ties(table: Timetable, program: Node) -> list[Vector]:
    """For each shape, the place in the program of an instance."""
    positions = _padded(program)
    found: list[Vector] = []
    for _, shape in shapes_of(table):
        tree = witness(shape)
        found.append(() if tree is None else chosen(mapped(tree, lambda one: _at(positions, one))))
    return found


def _at(positions: list[Position], found: Witness) -> Vector:
    entries: list[Expr] = []
    for part in positions[found.position]:
        entries.append(Int(part) if isinstance(part, int) else found.iterators[int(part)])
    return tuple(entries)


def with_positions(table: Timetable, program: Node) -> Timetable:
    """The timetable with longer times."""
    positions = _padded(program)
    count = len(positions[0]) if positions else 0
    times = {k: _longer(one, positions[k]) for k, one in table.times.items()}
    return replace(table, width=table.width + count, times=times)


def _longer(times: isl.Map, position: Position) -> isl.Map:
    width = times.dim(isl.dim_type.out)
    found = times.add_dims(isl.dim_type.out, len(position))
    for k, part in enumerate(position):
        if isinstance(part, int):
            found = found.fix_val(isl.dim_type.out, width + k, isl.Val(part))
        else:
            found = found.equate(isl.dim_type.in_, int(part), isl.dim_type.out, width + k)
    return found


def _padded(program: Node) -> list[Position]:
    found = list(_positions(program, (), 0))
    width = max(map(len, found), default=0)
    return [(*one, *[0] * (width - len(one))) for one in found]


def _positions(node: Node, so_far: Position, depth: int) -> Iterator[Position]:
    """Of each call, in the order of the text."""
    match node:
        case Call():
            yield so_far
        case Block(children):
            for k, child in enumerate(children):
                yield from _positions(child, (*so_far, k), depth)
        case If(_, then, orelse):
            yield from _positions(then, so_far, depth)
            if orelse is not None:
                yield from _positions(orelse, so_far, depth)
        case For(body=body):
            yield from _positions(body, (*so_far, str(depth)), depth + 1)
        case Let(body=body):
            yield from _positions(body, so_far, depth + 1)
        case Remarked(body=body):
            yield from _positions(body, so_far, depth)
        case _:
            assert_never(node)
