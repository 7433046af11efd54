"""The two sides of a transformation: the loops of the text and the new loops, each with its timetable."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.loops.expressions import Int, Or
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.model.program import Program, Statement
from loopwright.model.schedule import Schedule
from loopwright.prove.obligations.decisions import Decided, Decision
from loopwright.prove.obligations.timetable import Shape, TimedStatement, Timetable, Vector, timetable
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.reading.loops import text_loops
from loopwright.transform.scheduling import flat_schedule

Side: TypeAlias = tuple[Timetable, Node]


def both_sides(
    original: Program, new: Program, loops: Node, text: Node | None = None
) -> tuple[Side, Side]:
    """`original`, as its text or the loops `text` run it, and `loops`, which run the schedule of `new`."""
    old, later = _aligned(flat_schedule(original), flat_schedule(new))
    text = loops_as_written(original) if text is None else text
    return _side(original, old, text), _side(new, later, loops)


def original_side(original: Program) -> Side:
    """`original`, as its text runs it."""
    schedule, _ = _aligned(flat_schedule(original), flat_schedule(original))
    return _side(original, schedule, loops_as_written(original))


def loops_as_written(original: Program) -> Node:
    """The loops of the text; GaveUp where they are not read."""
    try:
        return opened(text_loops(original))
    except Unreadable as failure:
        raise GaveUp(
            Code.NO_PROOF, f"no proof can be written: the loops of the text are not read: {failure}"
        ) from None


def _side(original: Program, schedule: Schedule, node: Node) -> Side:
    """With the statements in the order of the text, also those without an instance."""
    table = timetable(schedule, node)
    known = {one.name: one for one in table.statements}
    statements = [known.get(one.name) or _never(one, table) for one in original.statements]
    return replace(table, statements=tuple(statements)), node


def _never(statement: Statement, table: Timetable) -> TimedStatement:
    """A statement that has no instance: the text may have a call of it."""
    count = statement.domain.dim(isl.dim_type.set)
    names = tuple(f"never{k}" for k in range(count))
    nothing = isl.Set.empty(statement.domain.get_space())
    time: Decision[Vector] = Decided((Int(0),) * table.width)
    return TimedStatement(statement.name, (Shape(names, Or(()), nothing, time, (), ()),))


def opened(node: Node) -> Node:
    """The same program without blocks in blocks, of one child or of none."""
    match node:
        case Call():
            return node
        case Block(children):
            inside = [opened(child) for child in children]
            flat = [one for part in inside for one in (part.children if isinstance(part, Block) else (part,))]
            return flat[0] if len(flat) == 1 else Block(tuple(flat))
        case If(_, then, orelse):
            return replace(node, then=opened(then), orelse=None if orelse is None else opened(orelse))
        case For(body=body) | Let(body=body) | Remarked(body=body):
            return replace(node, body=opened(body))
        case _:
            assert_never(node)


def _aligned(one: Schedule, other: Schedule) -> tuple[Schedule, Schedule]:
    """With the same context, which names the same parameters in the same order."""
    space = one.context.get_space().align_params(one.domain.get_space())
    space = space.align_params(other.context.get_space()).align_params(other.domain.get_space())
    context = isl.Set.universe(space.params()).intersect(one.context.params())
    return replace(one, context=context), replace(other, context=context)
