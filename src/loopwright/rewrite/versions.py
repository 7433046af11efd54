"""Versions of what a block runs: tiles at no border need no tests, those at one only some of them.

    for each block          for each block
      body           -->      if (the block is one of `apart`) body without tests  else  body

The body without tests is what is generated for the tiles of an entry of `Plan.apart` alone.  A loop that a
block runs has parts in the same way: iterations of `Plan.along`, which follow one another, need no tests.

    for r = a .. b            for r = a .. min(b, c - 1)        body
      body            -->     for r = c .. d                    body without tests
                              for r = max(a, c, d + 1) .. b     body

Loops are generated whole: tests of both ends of a loop are one test of a body, which is there once.

With c > d the loop in the middle is empty, and the others have all iterations once.  Like everything that is
generated, the program that comes out is proved to run the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import islpy as isl

from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Compare, Int, Max, Min, Relation, Sum, Test, Var
from loopwright.loops.nodes import Block, For, If, Node
from loopwright.loops.traverse import calls_in, children, subprograms, with_children
from loopwright.model.annotations import BlockLoop, ThreadLoop
from loopwright.model.schedule import LoopType
from loopwright.transform import Plan, to_schedule


@dataclass(frozen=True)
class _Body:
    """What a block runs, and the tests that its number passes."""

    tests: tuple[Test, ...]
    node: Node

    @property
    def calls(self) -> frozenset[str]:
        return calls_in(self.node)


def with_versions(plan: Plan, node: Node) -> Node:
    """`node`, which is generated for the plan, with all versions; a block runs the first that is for it."""
    if plan.along:
        node = _replaced(node, list(_generated(plan, plan.along)), _in_parts)
    for apart in reversed(plan.apart):
        bodies = list(_generated(plan, apart))
        if plan.along:
            both = {name: within.intersect(plan.along[name]) for name, within in apart.items()}
            inner = list(_generated(plan, both))
            bodies = [replace(one, node=_version(one.node, inner, _in_parts)) for one in bodies]
        node = _replaced(node, bodies, _chosen)
    return node


def _generated(plan: Plan, within: Mapping[str, isl.Set]) -> Iterator[_Body]:
    """What the blocks run of these instances."""
    statements = tuple(
        replace(one, domain=one.domain.intersect(within[one.name])) if one.name in within else one
        for one in plan.program.statements
    )
    part = replace(plan, program=replace(plan.program, statements=statements))
    bodies = _bodies(generate(to_schedule(part), GenerationOptions(loop_type=LoopType.ATOMIC)), ())
    return (one for one in bodies if one.calls & within.keys())


def _has_blocks(node: Node) -> bool:
    return any(isinstance(part, For) and part.annotation(BlockLoop) is not None for part in subprograms(node))


def _bodies(node: Node, tests: tuple[Test, ...]) -> Iterator[_Body]:
    if isinstance(node, For) and node.annotation(BlockLoop) is not None:
        own = (Compare(Relation.GE, Var(node.iterator), node.start), node.test)
        if _has_blocks(node.body):
            yield from _bodies(node.body, (*tests, *own))
        else:
            yield _Body((*tests, *own), node.body)
        return
    inside = (*tests, node.test) if isinstance(node, If) and tests and node.orelse is None else tests
    for child in children(node):
        yield from _bodies(child, inside)


def _replaced(node: Node, bodies: list[_Body], joined: Callable[[Node, _Body], Node]) -> Node:
    """Each body of a block joined with the one that runs some of the same."""
    if isinstance(node, For) and node.annotation(BlockLoop) is not None and not _has_blocks(node.body):
        return replace(node, body=_version(node.body, bodies, joined))
    return with_children(node, lambda child: _replaced(child, bodies, joined))


def _version(body: Node, bodies: list[_Body], joined: Callable[[Node, _Body], Node]) -> Node:
    found = [one for one in bodies if one.calls <= calls_in(body)]
    return joined(body, found[0]) if len(found) == 1 else body


def _chosen(body: Node, version: _Body) -> Node:
    return If(And(version.tests), version.node, body)


def _in_parts(body: Node, inner: _Body) -> Node:
    """The loop around threads, in the parts that are shown above."""
    whole, middle = (list(_loops_around_threads(one)) for one in (body, inner.node))
    if len(whole) != 1 or len(middle) != 1:
        return body
    (loop,), (part,) = whole, middle
    match loop.test, part.test:
        case Compare(Relation.LE, Var(name), last), Compare(Relation.LE, Var(other), end) if (
            (name, other) == (loop.iterator, part.iterator) and loop.step == part.step == 1
        ):
            before = Compare(Relation.LE, Var(name), Min((last, Sum((part.start, Int(-1))))))
            after = Max((loop.start, part.start, Sum((end, Int(1)))))
            parts = Block((replace(loop, test=before), part, replace(loop, start=after)))
            return _with(body, loop, parts)
        case _:
            return body


def _loops_around_threads(node: Node) -> Iterator[For]:
    if isinstance(node, For) and any(_is_thread_loop(one) for one in subprograms(node)):
        if not _is_thread_loop(node):
            yield node
        return
    for child in children(node):
        yield from _loops_around_threads(child)


def _is_thread_loop(node: Node) -> bool:
    return isinstance(node, For) and node.annotation(ThreadLoop) is not None


def _with(node: Node, old: Node, new: Node) -> Node:
    return new if node is old else with_children(node, lambda child: _with(child, old, new))
