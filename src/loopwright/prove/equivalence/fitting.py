"""Iterators the text of a statement does not show, fitted from small runs.

Instances that are the same operation on the same cells write the same cells, so no order that
changes nothing can exchange them: the k-th of them in NEW is the k-th in OLD.  Runs for a few sizes
give pairs of instances, and their affine hull gives the iterators of OLD as functions of those of
NEW and of the sizes.  It is a guess: what is made of it has to be proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import islpy as isl

from loopwright.errors import GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import nodes as loops
from loopwright.loops.expressions import Expr, Var
from loopwright.loops.interpreter import execute
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import at
from loopwright.presburger.named import at_parameters, parameter_names
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.equivalence.traces import Sizes, is_possible
from loopwright.prove.reading.c_expressions import Words
from loopwright.prove.reading.loops import sides, text_loops
from loopwright.prove.reading.operation import Different, aligned

LARGEST_RUN = 5000
"""Iterations of loops."""
ENOUGH_RUNS = 8
MOST_POINTS = 60
"""Pairs of instances a function is fitted to, for each two statements."""

Edge = tuple[str, str]
"""A statement of NEW and one of OLD with the same text."""
Instance = tuple[str, tuple[int, ...]]


def fitted(old: Program, new: Program, edges: Sequence[Edge]) -> dict[Edge, isl.Map]:
    """For statements (n, o), { N[n] -> O[o] } as the runs have it; nothing where they do not fit."""
    samples: dict[Edge, list[tuple[Sizes, tuple[int, ...], tuple[int, ...]]]] = {}
    runs = _runs(old, new, edges)
    for sizes in islice(_sizes(old.context), ENOUGH_RUNS):
        for (o, before), (n, after) in _paired(runs, sizes):
            samples.setdefault((n, o), []).append((sizes, after, before))
    return {
        edge: _hull(points, new.statement(edge[0]), old.statement(edge[1]))
        for edge, points in samples.items()
    }


@dataclass(frozen=True)
class _Runs:
    """The loops around the statements in question, which say with which values these are run."""

    old: loops.Node
    new: loops.Node
    groups: Mapping[Edge, int]
    """By side, "old" or "new", and statement: those with the same number do the same."""
    depths: Mapping[Edge, int]
    """How many of the values are iterators."""


def _runs(old: Program, new: Program, edges: Sequence[Edge]) -> _Runs:
    known = {"old": sides(old), "new": sides(new)}
    values: dict[Edge, tuple[Expr, ...]] = {}
    groups: dict[Edge, int] = {}
    for number, members in enumerate(_components(edges)):
        first = known["old"][min(name for side, name in members if side == "old")]
        try:
            own = {(s, name): tuple(one.new for one in aligned(first, known[s][name])) for s, name in members}
        except Different:
            continue
        values |= own
        groups |= dict.fromkeys(own, number)
    depths = {(side, name): (old if side == "old" else new).statement(name).depth for side, name in values}
    return _Runs(_only(old, "old", values), _only(new, "new", values), groups, depths)


def _components(edges: Sequence[Edge]) -> list[set[Edge]]:
    """The statements ("new", n) and ("old", o) that edges connect."""
    found: list[set[Edge]] = []
    for n, o in edges:
        touched = [one for one in found if ("new", n) in one or ("old", o) in one]
        merged = set().union({("new", n), ("old", o)}, *touched)
        found = [one for one in found if one not in touched] + [merged]
    return found


def _only(program: Program, side: str, values: Mapping[Edge, tuple[Expr, ...]]) -> loops.Node:
    """The loops with the statements in question in them."""

    def call(statement: Statement, words: Words) -> loops.Node:
        key = (side, statement.name)
        if key not in values:
            return loops.EMPTY
        return loops.Call(statement.name, (*(Var(name) for name in statement.iterators), *values[key]))

    return text_loops(program, call)


def _sizes(context: isl.Set) -> Iterator[Sizes]:
    """Small sizes that are not in step with each other."""
    names = parameter_names(context)
    for size in (4, 5, 6, 3, 7, 8, 9):
        for turn in (0, 1):
            values = {name: size + ((place + turn) * (size + 1)) % 4 for place, name in enumerate(names)}
            if is_possible(context, values):
                yield values


def _paired(runs: _Runs, sizes: Sizes) -> Iterator[tuple[Instance, Instance]]:
    """The k-th instance of OLD and of NEW that do the same, where there are as many of both."""
    before, after = _seen(runs.old, "old", runs, sizes), _seen(runs.new, "new", runs, sizes)
    unlike = {key[0] for key in {*before, *after} if len(before.get(key, ())) != len(after.get(key, ()))}
    for key, instances in before.items():
        if key[0] not in unlike:
            yield from zip(instances, after[key], strict=True)


def _seen(
    loop: loops.Node, side: str, runs: _Runs, sizes: Sizes
) -> dict[tuple[int, tuple[int, ...]], list[Instance]]:
    """The instances in order, by group and by the values they are run with; none if they are too many."""
    found: dict[tuple[int, tuple[int, ...]], list[Instance]] = {}
    try:
        for name, values in execute(loop, sizes, LARGEST_RUN):
            depth = runs.depths[side, name]
            key = (runs.groups[side, name], values[depth:])
            found.setdefault(key, []).append((name, values[:depth]))
    except GaveUp:
        return {}
    return found


def _hull(
    points: list[tuple[Sizes, tuple[int, ...], tuple[int, ...]]], new: Statement, old: Statement
) -> isl.Map:
    """All pairs that satisfy the equations which these do."""
    space = new.domain.get_space().map_from_domain_and_range(old.domain.get_space())
    step = max(1, len(points) // MOST_POINTS)
    hull = isl.BasicMap.empty(space)
    for sizes, after, before in points[::step]:
        point = at(at(isl.BasicMap.universe(space), IN, after), OUT, before)
        point = at_parameters(point, sizes)
        if not point.is_subset(hull):
            hull = hull.union(point).affine_hull()
    return isl.Map.from_basic_map(hull)
