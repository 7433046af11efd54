"""Coordinates along which every dependence goes forwards, found one after the other.

For the loops x_0, ..., x_(k-1) to be tiled and the statements s of a component,

    φ_m(s, x) = x_m + Σ_(l<m) c_(m,l) φ_l(s, x) + d_(s,m)

with factors c ≥ 0 that all statements share and shifts d ≥ 0 of each statement, such that
φ_m(t, y) − φ_m(s, x) ≥ 0 for every dependence s[x] → t[y] inside the component.  By Farkas' lemma
this is a linear condition on c and d (isl's `coefficients`); the least skew is taken, by outer
loops rather than by inner ones, and with it the least shift.  Tiles cut along such coordinates can
run one after the other, whatever the order inside them, as long as that was right before.

A statement with fewer loops than the others has no x_m for some m; it stands at 0 there, and each
choice of the missing loops is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TypeAlias

import islpy as isl

from loopwright.model.dependences import memory_based
from loopwright.presburger.sets import DIM, IN, OUT, PARAM
from loopwright.transform.plan import Component, Misuse, Plan
from loopwright.transform.vectors import Position, iteration_numbers, pieces


@dataclass(frozen=True)
class Coordinates:
    """φ_0, ..., φ_(k-1) of one statement in terms of its loops x0, x1, ... (isl's notation)."""

    expressions: tuple[str, ...]


Embedding: TypeAlias = tuple[int | None, ...]
"""For each tiled loop the statement's own loop that is it, or None: it stands still there."""


@dataclass(frozen=True)
class _Edge:
    """Pairs of iteration vectors (x, y), one behind the other, of dependent instances."""

    source: Position
    sink: Position
    pairs: isl.Set
    split: int
    """How many of the dimensions are x."""


@dataclass(frozen=True)
class _Solution:
    """factors[m][l] = c_(m,l); shifts[m][s] = d_(s,m), by the index of the statement."""

    factors: tuple[tuple[int, ...], ...]
    shifts: tuple[tuple[int, ...], ...]

    @property
    def cost(self) -> tuple[int, int, int]:
        """Skew by anything but the outermost loop, all skew, all shifts."""
        inner = sum(sum(row[1:]) for row in self.factors)
        return inner, sum(map(sum, self.factors)), sum(map(sum, self.shifts))


def tile_coordinates(plan: Plan, component: Component, first: int, count: int) -> dict[Position, Coordinates]:
    """Coordinates for the `count` loops from `first` on, for each statement of the component."""
    edges = list(_edges(plan, component, first))
    positions = component.positions
    choices = [_embeddings(plan.leaf(position).depth, first, count) for position in positions]
    best: tuple[_Solution, tuple[Embedding, ...]] | None = None
    failure = 0
    for chosen in product(*choices):
        solution = _solve(dict(zip(positions, chosen, strict=True)), edges, count)
        if isinstance(solution, int):
            failure = max(failure, solution)
        elif best is None or solution.cost < best[0].cost:
            best = (solution, chosen)
    if best is None:
        name = max((plan.leaf(position).loops for position in positions), key=len)[first + failure]
        raise Misuse(
            f"no skew by the loops around it makes all dependences go forwards along {name}",
            hint="tile fewer loops, or give the nest another order first",
        )
    return {
        position: _expressions(best[0], index, best[1][index], count)
        for index, position in enumerate(positions)
    }


def _embeddings(depth: int, first: int, count: int) -> list[Embedding]:
    """Which of the tiled loops the statement's own loops from `first` on can be, in order."""
    own = max(0, min(depth - first, count))
    found: list[Embedding] = []
    for places in combinations(range(count), own):
        numbered = {place: first + k for k, place in enumerate(places)}
        found.append(tuple(numbered.get(place) for place in range(count)))
    return found


def _edges(plan: Plan, component: Component, first: int) -> Iterator[_Edge]:
    """The dependences between the component's statements inside one iteration of the outer loops."""
    wanted = set(component.positions)
    names = plan.statements_at(component)
    statements = tuple(s for s in plan.original.statements if s.name in names)
    current = {s.name: s for s in plan.program.statements}
    merged: dict[tuple[str, str], isl.Map] = {}
    for dependence in memory_based(replace(plan.original, statements=statements)):
        key = dependence.source, dependence.sink
        known = merged.get(key)
        merged[key] = dependence.relation if known is None else known.union(dependence.relation)
    for (source, sink), relation in merged.items():
        for p, earlier in pieces(current[source].schedule):
            for q, later in pieces(current[sink].schedule):
                if p in wanted and q in wanted:
                    x = iteration_numbers(earlier, plan.leaf(p).depth)
                    y = iteration_numbers(later, plan.leaf(q).depth)
                    pairs = relation.apply_domain(x).apply_range(y)
                    for loop in range(first):
                        pairs = pairs.equate(IN, loop, OUT, loop)
                    flat = pairs.intersect_params(plan.program.context).wrap().flatten()
                    if not flat.is_empty():
                        flat = flat.project_out(PARAM, 0, flat.dim(PARAM))
                        yield _Edge(p, q, flat, plan.leaf(p).depth)


def _solve(embeddings: dict[Position, Embedding], edges: list[_Edge], count: int) -> _Solution | int:
    """The least factors and shifts, or the number of the loop for which there are none."""
    solution = _Solution((), ())
    for m in range(count):
        found = _level(embeddings, edges, solution, m)
        if found is None:
            return m
        factors, shifts = found
        solution = _Solution((*solution.factors, factors), (*solution.shifts, shifts))
    return solution


def _level(
    embeddings: dict[Position, Embedding], edges: list[_Edge], solution: _Solution, m: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """c_(m,0 ... m-1) and d_(s,m): unknowns (c_(m,m-1), ..., c_(m,0), Σd, d_0, ...), the first least."""
    index = {position: k for k, position in enumerate(embeddings)}
    length = m + 1 + len(index)
    unknowns = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, length))
    for k in range(length):
        unknowns = unknowns.lower_bound_val(DIM, k, isl.Val(0))
    unknowns = _total(unknowns, m, range(m + 1, length))
    for edge in edges:
        distances = _distances(embeddings, index, edge, solution, m)
        conditions = distances.remove_divs().coefficients().to_set().flatten()
        source, sink = m + 1 + index[edge.source], m + 1 + index[edge.sink]
        unknowns = unknowns.intersect(_conditions_on(unknowns, conditions, m, source, sink))
    if unknowns.is_empty():
        return None
    point = unknowns.lexmin().sample_point()
    values = [int(point.get_coordinate_val(DIM, k).to_python()) for k in range(length)]
    return tuple(reversed(values[:m])), tuple(values[m + 1 :])


def _total(unknowns: isl.Set, place: int, parts: range) -> isl.Set:
    """x_place = Σ x_parts."""
    local = isl.LocalSpace.from_space(unknowns.get_space())
    total = isl.Aff.zero_on_domain(local).set_coefficient_val(IN, place, isl.Val(-1))
    for part in parts:
        total = total.set_coefficient_val(IN, part, isl.Val(1))
    return unknowns.intersect(total.zero_basic_set().to_set())


def _distances(
    embeddings: dict[Position, Embedding],
    index: dict[Position, int],
    edge: _Edge,
    solution: _Solution,
    m: int,
) -> isl.Set:
    """{ (φ_0(y) − φ_0(x), ..., φ_(m-1)(y) − φ_(m-1)(x), y_m − x_m) }"""
    names_x = [f"x{k}" for k in range(edge.split)]
    names_y = [f"y{k}" for k in range(edge.pairs.dim(DIM) - edge.split)]
    before = _expressions(solution, index[edge.source], embeddings[edge.source], m, "x").expressions
    after = _expressions(solution, index[edge.sink], embeddings[edge.sink], m, "y").expressions
    last = f"({_iterator(embeddings[edge.sink][m], 'y')}) - ({_iterator(embeddings[edge.source][m], 'x')})"
    outputs = [*(f"({b}) - ({a})" for a, b in zip(before, after, strict=True)), last]
    step = isl.Map(f"{{ [{', '.join(names_x + names_y)}] -> [{', '.join(outputs)}] }}")
    return edge.pairs.apply(step)


def _conditions_on(unknowns: isl.Set, conditions: isl.Set, m: int, source: int, sink: int) -> isl.Set:
    """(constant, c_0 ... c_(m-1), 1) ∈ conditions, where the constant is d_sink − d_source."""
    names = [f"u{k}" for k in range(unknowns.dim(DIM))]
    factors = [names[m - 1 - k] for k in range(m)]
    values = [f"{names[sink]} - {names[source]}", *factors, "1"]
    return conditions.preimage_multi_aff(isl.MultiAff(f"{{ [{', '.join(names)}] -> [{', '.join(values)}] }}"))


def _expressions(
    solution: _Solution, index: int, embedding: Embedding, count: int, variable: str = "x"
) -> Coordinates:
    """φ_0, ..., φ_(count-1) of a statement as text."""
    found: list[str] = []
    for m in range(count):
        terms = [_iterator(embedding[m], variable), str(solution.shifts[m][index])]
        terms += [f"{c} * ({found[k]})" for k, c in enumerate(solution.factors[m]) if c]
        found.append(" + ".join(terms))
    return Coordinates(tuple(found))


def _iterator(loop: int | None, variable: str) -> str:
    return "0" if loop is None else f"{variable}{loop}"
