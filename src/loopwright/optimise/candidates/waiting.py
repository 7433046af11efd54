"""Loops in two parts: first the iterations that others of the loop wait for, then those that threads share.

    for i:  for j < min(i, b):  x[i] = f(x[i], x[j])     -->     i < b, in order;  i >= b, in any order

With d(i, i') the dependences that the loop carries in one iteration of the loops around it, o, nothing waits
for i > l(o), where l(o) >= max { i : d(i, i') in o } is affine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from loopwright.model.dependences import Dependence
from loopwright.optimise.candidates.nests import Script, SearchContext, fresh, script_of
from loopwright.optimise.candidates.scheduler import formula_of
from loopwright.presburger.dimensions import equal_in, split
from loopwright.presburger.functions import functions_of
from loopwright.presburger.named import at_parameters
from loopwright.presburger.sets import IN, OUT, PARAM, union
from loopwright.read.formula import Chain, Symbol
from loopwright.transform.plan import Plan
from loopwright.transform.script.formulas import AffineSet
from loopwright.transform.script.operations import Isplit, Parallelize, Reorder
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest
from loopwright.transform.vectors import iteration_numbers, pieces

LEAST = 32
"""Iterations that the second part has at least, for some iteration of the loops around."""


def cut_after(plan: Plan, nest: NamedNest, loop: str, setting: SearchContext) -> Iterator[Script]:
    """A loop in two parts, of which threads share the second; not an innermost one.

    Statements of a nest that stand in different loops are not cut together.
    """
    depth, loops = nest.loops.index(loop), plan.leaf(nest.component.first).loops
    if depth == len(loops) - 1 or any(plan.leaf(place).loops != loops for place in nest.component.positions):
        return
    sources = _sources(plan, nest, depth, setting.dependences)
    if sources is None or sources.is_empty():
        return
    after, before = fresh(plan, "After"), fresh(plan, "Before")
    for last in _ends(split(sources, depth)):
        if _is_passed(plan, nest, depth, last, setting.sizes):
            test = Chain(((Symbol(loop),), (formula_of(last, loops[:depth]),)), (">",))
            parts = Isplit(nest.handle, AffineSet(tuple(map(Symbol, loops)), test), depth)
            steps = Step(parts, (after, before)), Step(Reorder(after, before))
            yield (*script_of(plan), *nest.definition, *steps, Step(Parallelize(after, (loop,))))


def _sources(
    plan: Plan, nest: NamedNest, depth: int, dependences: Sequence[Dependence]
) -> isl.Set | None:
    """The iterations of the loop, with those around it, that a later one waits for."""
    numbers: dict[str, list[isl.Map]] = {}
    for statement in plan.program.statements:
        for place, piece in pieces(statement.schedule):
            if place in nest.component.positions:
                numbers.setdefault(statement.name, []).append(iteration_numbers(piece, depth + 1))
    found: list[isl.Set] = []
    for one in dependences:
        for source in numbers.get(one.source, ()):
            for sink in numbers.get(one.sink, ()):
                pairs = one.relation.apply_domain(source).apply_range(sink)
                pairs = pairs.order_lt(IN, depth, OUT, depth)
                pairs = equal_in(pairs, range(depth))
                found.append(pairs.domain().intersect_params(plan.program.context))
    return union(found).coalesce() if found else None


def _ends(sources: isl.Map) -> list[isl.Aff]:
    """Affine functions of the loops around that no source passes, those without parameters first."""
    found = [value.get_aff(0) for value in functions_of(sources.lexmax())]
    plain = [one for one in found if not one.dim(isl.dim_type.div) and one.get_denominator_val().is_one()]
    plain.sort(key=lambda one: one.involves_dims(PARAM, 0, one.dim(PARAM)))
    ends = {str(one): one for one in plain}.values()
    return [one for one in ends if sources.is_subset(_side(sources, one, passed=False))]


def _side(values: isl.Map, end: isl.Aff, *, passed: bool) -> isl.Map:
    """{ o -> i : i > end(o) }, or its complement."""
    space = values.range().space
    return isl.Map.from_aff(end).apply_range(isl.Map.lex_lt(space) if passed else isl.Map.lex_ge(space))


def _is_passed(plan: Plan, nest: NamedNest, depth: int, end: isl.Aff, sizes: Mapping[str, int]) -> bool:
    """Whether the loop has many iterations that nothing waits for."""
    for points in plan.iterations(nest.component, depth + 1):
        after = split(at_parameters(points, sizes), depth)
        after = after.intersect(_side(after, end, passed=True))
        apart = after.reverse().apply_range(after).deltas()
        if not apart.is_empty() and apart.dim_max_val(0).ge(isl.Val(LEAST - 1)):
            return True
    return False
