"""Full tiles of kernels: a block asks once for each tile whether it is full.

    for each tile            for each tile
      body            -->      if (the tile is full) body of full tiles  else  body

The first body is what is generated for the full tiles that `isolate` names, where loops are unrolled if that
is asked for.  All other tiles run the second, which is generated for all tiles: without the difference
between one border and another there is the least text, and only full tiles have to be fast.  So the loops of
the others are tested iteration by iteration.  The program that comes out is proved to run the schedule, like
everything that is generated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from loopwright.emit.cuda.predication import Lengths, predicated
from loopwright.generate.conditions import condition
from loopwright.generate.context import GenerationOptions
from loopwright.generate.expressions import EvaluationPlace
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import For, If, Let, Node
from loopwright.loops.traverse import calls_in, children, with_children
from loopwright.transform import Plan, to_schedule
from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.scheduling import full_part, in_kernel
from loopwright.transform.vectors import Position, iteration_numbers, pieces


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
    """The loops with a version for full tiles; None where no kernel has any, or not in one nest."""
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
    """What is full for every directive about these tiles."""
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
    """The plan for the full tiles alone."""
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
