"""Finds coordinates along which every dependence distance is non-negative, one after the other.

For the loops x_0, ..., x_(k-1) to be tiled and the statements s of a component,

    φ_m(s, x) = x_m + Σ_(l<m) c_(m,l) φ_l(s, x) + d_(s,m)

with factors c ≥ 0 that all statements share and shifts d ≥ 0 of each statement, such that
φ_m(t, y) − φ_m(s, x) ≥ 0 for every dependence s[x] → t[y] inside the component.  By Farkas' lemma
[Feautrier1992] this is a linear condition on c and d (isl's `coefficients`); the least skew is chosen,
preferably by outer loops, and then the least shift.  Tiles along such coordinates can execute one after the
other, with any order inside them that was legal before.

A statement with fewer loops than the deepest one has no x_m for some m.  Its coordinate there may come from
any of its own loops, or be 0: for each m the choice with the least skew and shift is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import memory_based, value_based_flow, with_accesses
from loopwright.model.program import Program
from loopwright.presburger.dimensions import coordinates, equal_in
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM, IN, OUT, maps_of
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import constant, iterators, vector
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import Position, iteration_numbers, pieces

TileCoordinates: TypeAlias = tuple[isl.Aff, ...]
"""φ_0, ..., φ_(k-1) of one statement, functions of the iterators of its loops."""

Embedding: TypeAlias = tuple[int | None, ...]
"""For each tiled loop the statement's own loop used for it; None if it is always at 0."""


@dataclass(frozen=True)
class DependenceEdge:
    """Pairs of iteration vectors of dependent instances, as one vector: x, then y."""

    source: Position
    sink: Position
    pairs: isl.Set
    split: int
    """The number of dimensions of x."""


@dataclass(frozen=True)
class _Solution:
    """factors[m][l] = c_(m,l); shifts[m][s] = d_(s,m), by the index of the statement."""

    factors: tuple[tuple[int, ...], ...]
    shifts: tuple[tuple[int, ...], ...]

    embeddings: dict[Position, Embedding]


def tile_coordinates(
    plan: Plan, component: Component, first: int, count: int
) -> dict[Position, TileCoordinates]:
    """Coordinates for the `count` loops from `first` on, for each statement of the component."""
    edges = list(dependence_edges(plan, component, first))
    positions = component.positions
    solution = _Solution((), (), dict.fromkeys(positions, ()))
    deepest = max(plan.leaf(position).depth for position in positions)
    for m in range(count):
        choices = [_choices(plan.leaf(position).depth, deepest, first, m) for position in positions]
        found = _best_level(solution, edges, choices, m)
        if found is None:
            name = max((plan.leaf(position).loops for position in positions), key=len)[first + m]
            raise Misuse(
                Code.LOOPS_DO_NOT_FIT,
                f"no skewing by outer loops makes all dependences go forwards along {name}",
                hint="tile fewer loops, or reorder the nest first",
            )
        solution = found
    depths = [plan.leaf(position).depth for position in positions]
    return {
        position: _coordinates(solution, position, index, iterators(depth), constant(depth, 0))
        for index, (position, depth) in enumerate(zip(positions, depths, strict=True))
    }


def _choices(depth: int, deepest: int, first: int, m: int) -> list[int | None]:
    """The candidates for tiled loop m: the loop itself, or in a shallower nest any loop, or none."""
    if depth == deepest:
        return [first + m]
    own = list(range(first, depth))
    natural = [loop for loop in own if loop == first + m]
    return [*natural, *(loop for loop in own if loop not in natural), None]


def _best_level(
    solution: _Solution, edges: list[DependenceEdge], choices: list[list[int | None]], m: int
) -> _Solution | None:
    """One more coordinate, by the choice with the least skew, by inner loops first, then the least shift."""
    best: tuple[tuple[int, int, int], _Solution] | None = None
    for chosen in product(*choices):
        embeddings = {
            position: (*known, loop)
            for (position, known), loop in zip(solution.embeddings.items(), chosen, strict=True)
        }
        found = _level(embeddings, edges, solution, m)
        if found is None:
            continue
        factors, shifts = found
        cost = (sum(factors[1:]), sum(factors), sum(shifts))
        if best is None or cost < best[0]:
            extended = _Solution((*solution.factors, factors), (*solution.shifts, shifts), embeddings)
            best = (cost, extended)
        if not any(cost):
            break
    return None if best is None else best[1]


def dependence_edges(plan: Plan, component: Component, first: int) -> Iterator[DependenceEdge]:
    """The dependences between the component's statements inside one iteration of the outer loops."""
    wanted = set(component.positions)
    names = plan.statements_at(component)
    statements = tuple(s for s in plan.original.statements if s.name in names)
    current = {s.name: s for s in plan.program.statements}
    merged: dict[tuple[str, str], isl.Map] = {}
    for source, sink, relation in _constraining(replace(plan.original, statements=statements)):
        known = merged.get((source, sink))
        merged[source, sink] = relation if known is None else known.union(relation)
    for (source, sink), relation in merged.items():
        for p, earlier in pieces(current[source].schedule):
            for q, later in pieces(current[sink].schedule):
                if p in wanted and q in wanted:
                    x = iteration_numbers(earlier, plan.leaf(p).depth)
                    y = iteration_numbers(later, plan.leaf(q).depth)
                    pairs = equal_in(relation.apply_domain(x).apply_range(y), range(first))
                    flat = pairs.intersect_params(plan.program.context).wrap().flatten()
                    if not flat.is_empty():
                        yield DependenceEdge(p, q, without_parameters(flat), plan.leaf(p).depth)


def _constraining(program: Program) -> Iterator[tuple[str, str, isl.Map]]:
    """The dependences to respect: for variables declared in the region, only flow dependences.

    Such a variable is distinct in each iteration; the legality proof of the plan shows that none is
    overwritten before it is read.
    """
    local = {array.name for array in program.arrays if array.local}
    for one in memory_based(program):
        if one.array not in local:
            yield one.source, one.sink, one.relation
    if not local:
        return
    values, _ = value_based_flow(with_accesses(program, lambda _, access: access.array in local))
    for relation in maps_of(values):
        yield relation.get_tuple_name(IN), relation.get_tuple_name(OUT), relation


def _level(
    embeddings: dict[Position, Embedding], edges: list[DependenceEdge], solution: _Solution, m: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """c_(m,0 ... m-1) and d_(s,m): unknowns (c_(m,m-1), ..., c_(m,0), Σd, d_0, ...), the first least."""
    index = {position: k for k, position in enumerate(embeddings)}
    length = m + 1 + len(index)
    unknowns = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, length))
    for k in range(length):
        unknowns = unknowns.lower_bound_val(DIM, k, isl.Val(0))
    unknowns = _total(unknowns, m, range(m + 1, length))
    for edge in edges:
        distances = _distances(replace(solution, embeddings=embeddings), index, edge, m)
        conditions = distances.remove_divs().coefficients().to_set().flatten()
        source, sink = m + 1 + index[edge.source], m + 1 + index[edge.sink]
        unknowns = unknowns.intersect(_conditions_on(unknowns, conditions, m, source, sink))
    if unknowns.is_empty():
        return None
    point = unknowns.lexmin().sample_point()
    values = coordinates(point)
    return tuple(reversed(values[:m])), tuple(values[m + 1 :])


def _total(unknowns: isl.Set, place: int, parts: range) -> isl.Set:
    """x_place = Σ x_parts."""
    local = isl.LocalSpace.from_space(unknowns.get_space())
    total = isl.Aff.zero_on_domain(local).set_coefficient_val(IN, place, isl.Val(-1))
    for part in parts:
        total = total.set_coefficient_val(IN, part, isl.Val(1))
    return unknowns.intersect(total.zero_basic_set().to_set())


def _distances(solution: _Solution, index: dict[Position, int], edge: DependenceEdge, m: int) -> isl.Set:
    """{ (φ_0(y) − φ_0(x), ..., φ_(m-1)(y) − φ_(m-1)(x), y_m − x_m) }"""
    count = int(edge.pairs.dim(DIM))
    both, zero = iterators(count), constant(count, 0)
    x, y = both[: edge.split], both[edge.split :]
    before = _coordinates(solution, edge.source, index[edge.source], x, zero)
    after = _coordinates(solution, edge.sink, index[edge.sink], y, zero)
    here = _iterator(solution.embeddings[edge.source][m], x, zero)
    there = _iterator(solution.embeddings[edge.sink][m], y, zero)
    pairs = zip((*before, here), (*after, there), strict=True)
    distances = vector([later.sub(earlier) for earlier, later in pairs])
    return edge.pairs.apply(isl.Map.from_multi_aff(distances))


def _conditions_on(unknowns: isl.Set, conditions: isl.Set, m: int, source: int, sink: int) -> isl.Set:
    """(constant, c_0 ... c_(m-1), 1) ∈ conditions, where the constant is d_sink − d_source."""
    count = int(unknowns.dim(DIM))
    u = iterators(count)
    values = [u[sink].sub(u[source]), *reversed(u[:m]), constant(count, 1)]
    return conditions.preimage_multi_aff(vector(values))


def _coordinates(
    solution: _Solution, position: Position, index: int, x: Sequence[isl.Aff], zero: isl.Aff
) -> TileCoordinates:
    """The coordinates found so far for a statement, whose iterators are `x`."""
    found: list[isl.Aff] = []
    for m, factors in enumerate(solution.factors):
        value = _iterator(solution.embeddings[position][m], x, zero)
        value = value.add_constant_val(isl.Val(solution.shifts[m][index]))
        for outer, factor in zip(found, factors, strict=True):
            value = value.add(outer.scale_val(isl.Val(factor)))
        found.append(value)
    return tuple(found)


def _iterator(loop: int | None, x: Sequence[isl.Aff], zero: isl.Aff) -> isl.Aff:
    return zero if loop is None else x[loop]
