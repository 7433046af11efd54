"""Generates versions of block bodies: interior tiles need no tests, those at one border only some.

    for each block          for each block
      body           -->      if (the block is one of `apart`) body without tests  else  body

The body without tests is generated for only the tiles of an entry of `Plan.apart`.  A loop of a block is
split in the same way: consecutive iterations of `Plan.along` need no tests.

    for r = a .. b            for r = a .. min(b, c - 1)        body
      body            -->     for r = c .. d                    body without tests
                              for r = max(a, c, d + 1) .. b     body

Loops are generated whole: tests of both ends of a loop are one test of a body, which occurs once.

With c > d the loop in the middle is empty, and the others have all iterations once.  Like all generated code,
the resulting program is proved to execute the schedule.

A test inside a kernel that is uniform over its blocks, such as whether it is the last one, is evaluated once,
before the launch: the smaller kernel has fewer instructions in each step.

    for each block            if (test)  for each block  body with `part`
      body { if (test) part }   -->   else  for each block  body without it

Full tiles of kernels: a block tests once for each tile whether it is full.

    for each tile            for each tile
      body            -->      if (the tile is full) body of full tiles  else  body

The first body is generated for the full tiles that `isolate` names, with loops unrolled on request.  All
other tiles execute the second, which is generated for all tiles: one body for all borders is the shortest,
and only full tiles must be fast.  So the loops of the others are tested iteration by iteration.  The
resulting program is proved to execute the schedule, like all generated code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from loopwright.emit.cuda.predication import Lengths, predicated
from loopwright.generate.conditions import condition
from loopwright.generate.context import GenerationOptions
from loopwright.generate.expressions import EvaluationPlace
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import TRUE, And, Compare, Int, Max, Min, Relation, Sum, Test, Var
from loopwright.loops.nodes import Block, For, If, Let, Node
from loopwright.loops.traverse import calls_in, children, is_said, subprograms, variables, with_children
from loopwright.model.annotations import BlockLoop, ThreadLoop
from loopwright.model.schedule import LoopType
from loopwright.transform import Plan, to_schedule
from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.scheduling import full_part, in_kernel
from loopwright.transform.vectors import Position, iteration_numbers, pieces


@dataclass(frozen=True)
class _Body:
    """A block's body, with the tests that its number passes."""

    tests: tuple[Test, ...]
    node: Node

    @property
    def calls(self) -> frozenset[str]:
        return calls_in(self.node)


def with_versions(plan: Plan, node: Node) -> Node:
    """`node`, the program of the plan, with all versions; a block executes the first that applies."""
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
    """The block bodies for these instances."""
    statements = tuple(
        replace(one, domain=one.domain.intersect(within[one.name])) if one.name in within else one
        for one in plan.program.statements
    )
    part = replace(plan, program=replace(plan.program, statements=statements))
    bodies = _bodies(generate(to_schedule(part), GenerationOptions(loop_type=LoopType.ATOMIC)), ())
    return (one for one in bodies if one.calls & within.keys())


def with_launches(node: Node) -> Node:
    """Split each kernel with a test uniform over its blocks into two, of which one is launched."""
    if not is_said(node, BlockLoop):
        return with_children(node, with_launches)
    parts = list(subprograms(node))
    own = {one.iterator if isinstance(one, For) else one.name for one in parts if isinstance(one, For | Let)}
    tests = [one for part in parts if isinstance(part, If) and part.orelse is None for one in _all(part.test)]
    alike = list(dict.fromkeys(one for one in tests if not variables(one) & own))
    if len(alike) != 1:
        return node
    return If(alike[0], _answered(node, alike[0], holds=True), _answered(node, alike[0], holds=False))


def _all(test: Test) -> tuple[Test, ...]:
    return test.arguments if isinstance(test, And) else (test,)


def _answered(node: Node, test: Test, *, holds: bool) -> Node:
    """The node specialised to a known result of a test."""
    if isinstance(node, If) and node.orelse is None and test in _all(node.test):
        if not holds:
            return Block(())
        rest = tuple(one for one in _all(node.test) if one != test)
        inner = _answered(node.then, test, holds=holds)
        return replace(node, test=And(rest) if len(rest) > 1 else rest[0], then=inner) if rest else inner
    return with_children(node, lambda child: _answered(child, test, holds=holds))


def _has_blocks(node: Node) -> bool:
    return any(is_said(part, BlockLoop) for part in subprograms(node))


def _bodies(node: Node, tests: tuple[Test, ...]) -> Iterator[_Body]:
    if is_said(node, BlockLoop):
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
    """Join each block body with its version."""
    if is_said(node, BlockLoop) and not _has_blocks(node.body):
        return replace(node, body=_version(node.body, bodies, joined))
    return with_children(node, lambda child: _replaced(child, bodies, joined))


def _version(body: Node, bodies: list[_Body], joined: Callable[[Node, _Body], Node]) -> Node:
    found = [one for one in bodies if one.calls <= calls_in(body)]
    return joined(body, found[0]) if len(found) == 1 else body


def _chosen(body: Node, version: _Body) -> Node:
    return If(And(version.tests), version.node, body)


def _in_parts(body: Node, inner: _Body) -> Node:
    """The loop around threads, in the parts shown above."""
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
    if isinstance(node, For) and any(is_said(one, ThreadLoop) for one in subprograms(node)):
        if not is_said(node, ThreadLoop):
            yield node
        return
    for child in children(node):
        yield from _loops_around_threads(child)


def _with(node: Node, old: Node, new: Node) -> Node:
    return new if node is old else with_children(node, lambda child: _with(child, old, new))


@dataclass(frozen=True, eq=False)
class _Tiles:
    """The full tiles at a place in the program: the numbers of the loops down to that over tiles."""

    path: Position
    statements: frozenset[str]
    full: isl.Set

    @property
    def depth(self) -> int:
        return len(self.path)


def full_tile_loops(plan: Plan, lengths: Lengths) -> Node | None:
    """The loops with a version for full tiles; None if no kernel has any, or not in one nest."""
    isolated = [one for one in plan.directives if one.kind is DirectiveKind.ISOLATE and in_kernel(plan, one)]
    paths = dict.fromkeys(path for one in isolated for path in one.paths)
    tiles = [_tiles_at(plan, path, isolated) for path in paths]
    if not tiles:
        return None
    rest = tuple(one for one in plan.directives if one not in isolated)
    plain = tuple(
        one for one in rest if one.kind is not DirectiveKind.UNROLL or not _is_for_full(one, isolated)
    )
    node = generate(to_schedule(replace(plan, directives=plain)), GenerationOptions())
    full = generate(to_schedule(_restricted(replace(plan, directives=rest), tiles)), GenerationOptions())
    for one in tiles:
        bodies = [loop.body for loop in _loops_over(full, one)]
        places = list(_loops_over(node, one))
        if len(bodies) != 1 or len(places) != 1:
            return None
        node = _joined(node, one, bodies[0], (), lengths)
    return node


def _tiles_at(plan: Plan, path: Position, isolated: Sequence[LoopDirective]) -> _Tiles:
    """The tiles that are full for every directive on these tiles."""
    here = [one for one in isolated if path in one.paths]
    statements = frozenset(
        statement.name
        for statement in plan.program.statements
        for position, _ in pieces(statement.schedule)
        if position[: len(path)] == path
    )
    full = reduce(isl.Set.intersect, (full_part(plan, one) for one in here))
    return _Tiles(path, statements, full.coalesce())


def _is_for_full(unroll: LoopDirective, isolated: Sequence[LoopDirective]) -> bool:
    return any(unroll.loop in one.points and set(unroll.positions) & set(one.positions) for one in isolated)


def _restricted(plan: Plan, tiles: Sequence[_Tiles]) -> Plan:
    """The plan for only the full tiles."""
    statements = []
    for statement in plan.program.statements:
        domain = statement.domain
        for position, piece in pieces(statement.schedule):
            for one in tiles:
                if position[: one.depth] == one.path:
                    others = domain.subtract(piece.domain())
                    kept = iteration_numbers(piece, one.depth).intersect_range(one.full).domain()
                    domain = others.union(domain.intersect(kept))
        statements.append(replace(statement, domain=domain.coalesce()))
    return replace(plan, program=replace(plan.program, statements=tuple(statements)))


def _loops_over(node: Node, tiles: _Tiles) -> Iterator[For]:
    """The loops over these tiles."""
    if isinstance(node, For) and node.dimension == tiles.depth - 1 and calls_in(node) <= tiles.statements:
        yield node
        return
    for child in children(node):
        yield from _loops_over(child, tiles)


def _joined(node: Node, tiles: _Tiles, body: Node, names: tuple[str, ...], lengths: Lengths) -> Node:
    """The program with both versions; `names` are those of the loops around."""
    if isinstance(node, For | Let):
        names = (*names, node.iterator if isinstance(node, For) else node.name)
    is_theirs = calls_in(node) <= tiles.statements
    if not (isinstance(node, For) and node.dimension == tiles.depth - 1 and is_theirs):
        return with_children(node, lambda child: _joined(child, tiles, body, names, lengths))
    place = EvaluationPlace(names, isl.Set.universe(tiles.full.get_space()))
    test = condition(tiles.full, place)
    if test == TRUE:
        return replace(node, body=body)
    return replace(node, body=If(test, body, predicated(node.body, lengths, tested=True)))
