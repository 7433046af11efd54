"""Versions of what a block runs: tiles at no border need no tests, those at one only some of them.

    for each block          for each block
      body           -->      if (the block is one of `apart`) body without tests  else  body

The body without tests is what is generated for the tiles of an entry of `Plan.apart` alone.  Like everything
that is generated, the program that comes out is proved to run the schedule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Compare, Relation, Test, Var
from loopwright.loops.nodes import Call, For, If, Node
from loopwright.loops.traverse import children, subprograms, with_children
from loopwright.model.annotations import BlockLoop
from loopwright.transform import Plan, to_schedule


@dataclass(frozen=True)
class _Body:
    """What a block runs, and the tests that its number passes."""

    tests: tuple[Test, ...]
    node: Node

    @property
    def calls(self) -> frozenset[str]:
        return _calls(self.node)


def with_versions(plan: Plan, node: Node) -> Node:
    """`node`, which is generated for the plan, with all versions; a block runs the first that is for it."""
    for apart in reversed(plan.apart):
        statements = tuple(
            replace(one, domain=one.domain.intersect(apart[one.name])) if one.name in apart else one
            for one in plan.program.statements
        )
        part = replace(plan, program=replace(plan.program, statements=statements))
        bodies = list(_bodies(generate(to_schedule(part), GenerationOptions()), ()))
        node = _joined(node, [one for one in bodies if one.calls & apart.keys()])
    return node


def _calls(node: Node) -> frozenset[str]:
    return frozenset(part.name for part in subprograms(node) if isinstance(part, Call))


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


def _joined(node: Node, bodies: list[_Body]) -> Node:
    if isinstance(node, For) and node.annotation(BlockLoop) is not None and not _has_blocks(node.body):
        found = [one for one in bodies if one.calls <= _calls(node.body)]
        if len(found) != 1:
            return node
        return replace(node, body=If(And(found[0].tests), found[0].node, node.body))
    return with_children(node, lambda child: _joined(child, bodies))
