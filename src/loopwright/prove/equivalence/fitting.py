"""Iterators the text of a statement does not show, fitted from small runs.

Instances that are the same operation on the same cells write the same cells, so no order that
changes nothing can exchange them: the k-th of them in NEW is the k-th in OLD.  Runs for a few sizes
give pairs of instances, and their affine hull gives the iterators of OLD as functions of those of
NEW and of the sizes.  It is a guess: what is made of it has to be proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import islpy as isl

from loopwright.errors import GaveUp
from loopwright.loops import nodes as loops
from loopwright.loops.expressions import Expr, Var
from loopwright.loops.interpreter import execute
from loopwright.model.program import Program, Statement
from loopwright.presburger.sets import IN, OUT, PARAM
from loopwright.prove.equivalence.traces import Sizes, is_possible
from loopwright.prove.text.c_expressions import Words
from loopwright.prove.text.instances import sides
from loopwright.prove.text.loops import text_loops
from loopwright.prove.text.operation import Different, aligned

LARGEST_RUN = 2500
ENOUGH_RUNS = 8
MOST_POINTS = 60
"""Pairs of instances a function is fitted to, for each two statements."""

Edge = tuple[str, str]
"""A statement of NEW and one of OLD with the same text."""
Instance = tuple[str, tuple[int, ...]]


def fitted(old: Program, new: Program, edges: Sequence[Edge]) -> dict[Edge, isl.Map]:
    """For statements (n, o), { N[n] -> O[o] } as the runs have it; nothing where they do not fit."""
    samples: dict[Edge, list[tuple[Sizes, tuple[int, ...], tuple[int, ...]]]] = {}
    for group in _groups(old, new, edges):
        for sizes in islice(_sizes(old.context), ENOUGH_RUNS):
            found = _paired(group, sizes)
            if found is None:
                break
            for (o, before), (n, after) in found:
                samples.setdefault((n, o), []).append((sizes, after, before))
    return {
        edge: _hull(points, new.statement(edge[0]), old.statement(edge[1]))
        for edge, points in samples.items()
    }


@dataclass(frozen=True)
class _Group:
    """The loops around the statements that do the same, which say with which values they do it."""

    old: loops.Node
    new: loops.Node
    depths: Mapping[Edge, int]
    """By side, "old" or "new", and statement: how many of the values are its iterators."""


def _groups(old: Program, new: Program, edges: Sequence[Edge]) -> Iterator[_Group]:
    before, after = sides(old), sides(new)
    for members in _components(edges):
        first = min(name for side, name in members if side == "old")
        try:
            values = {
                (side, name): tuple(
                    one.new for one in aligned(before[first], (before if side == "old" else after)[name])
                )
                for side, name in sorted(members)
            }
        except Different:
            continue
        depths = {
            (side, name): (old if side == "old" else new).statement(name).depth for side, name in values
        }
        yield _Group(_only(old, "old", values), _only(new, "new", values), depths)


def _components(edges: Sequence[Edge]) -> list[set[Edge]]:
    """The statements ("new", n) and ("old", o) that edges connect."""
    found: list[set[Edge]] = []
    for n, o in edges:
        touched = [one for one in found if ("new", n) in one or ("old", o) in one]
        merged = set().union({("new", n), ("old", o)}, *touched)
        found = [one for one in found if one not in touched] + [merged]
    return found


def _only(program: Program, side: str, values: Mapping[Edge, tuple[Expr, ...]]) -> loops.Node:
    """The loops with the statements of one group in them."""

    def call(statement: Statement, words: Words) -> loops.Node:
        key = (side, statement.name)
        if key not in values:
            return loops.EMPTY
        return loops.Call(statement.name, (*(Var(name) for name in statement.iterators), *values[key]))

    return text_loops(program, call)


def _sizes(context: isl.Set) -> Iterator[Sizes]:
    """Small sizes that are not in step with each other."""
    names = [str(context.get_dim_name(PARAM, k)) for k in range(context.dim(PARAM))]
    for size in (4, 5, 6, 3, 7, 8, 9):
        for turn in (0, 1):
            values = {name: size + ((place + turn) * (size + 1)) % 4 for place, name in enumerate(names)}
            if is_possible(context, values):
                yield values


def _paired(group: _Group, sizes: Sizes) -> list[tuple[Instance, Instance]] | None:
    """The k-th instance of OLD and of NEW that do the same; None if there are not as many."""
    seen = [_seen(loop, side, group, sizes) for loop, side in ((group.old, "old"), (group.new, "new"))]
    before, after = seen
    if before is None or after is None or before.keys() != after.keys():
        return None
    if any(len(before[key]) != len(after[key]) for key in before):
        return None
    return [pair for key in before for pair in zip(before[key], after[key], strict=True)]


def _seen(
    loop: loops.Node, side: str, group: _Group, sizes: Sizes
) -> dict[tuple[int, ...], list[Instance]] | None:
    """The instances in order, by the values they are run with."""
    found: dict[tuple[int, ...], list[Instance]] = {}
    try:
        for name, values in islice(execute(loop, sizes, 4 * LARGEST_RUN), LARGEST_RUN):
            depth = group.depths[side, name]
            found.setdefault(values[depth:], []).append((name, values[:depth]))
    except GaveUp:
        return None
    return found


def _hull(
    points: list[tuple[Sizes, tuple[int, ...], tuple[int, ...]]], new: Statement, old: Statement
) -> isl.Map:
    """All pairs that satisfy the equations which these do."""
    space = new.domain.get_space().map_from_domain_and_range(old.domain.get_space())
    step = max(1, len(points) // MOST_POINTS)
    hull = isl.BasicMap.empty(space)
    for sizes, after, before in points[::step]:
        point = isl.BasicMap.universe(space)
        for kind, values in ((IN, after), (OUT, before)):
            for place, value in enumerate(values):
                point = point.fix_val(kind, place, isl.Val(value))
        for name, value in sizes.items():
            point = point.fix_val(PARAM, point.find_dim_by_name(PARAM, name), isl.Val(value))
        if not point.is_subset(hull):
            hull = hull.union(point).affine_hull()
    return isl.Map.from_basic_map(hull)
