"""Computes the `isplit` condition for the iterations of a nest that fill whole blocks of some loops.

With blocks of s iterations of i, the block of x is { y : [y_i / s] = [x_i / s], y_k = x_k elsewhere }, and it
lies in the domain if every bound c i + r >= 0 holds on all of it:

    c s [i/s] + r >= 0                  where c > 0
    c (s [i/s] + s - 1) + r >= 0        where c < 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto

import islpy as isl

from loopwright.optimise.candidates.nests import Script, loops_in
from loopwright.presburger.functions import coefficient
from loopwright.presburger.sets import DIM, PARAM
from loopwright.read import formula as fm
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.formulas import (
    AffineSet,
    all_of,
    compared,
    iterations_where,
    plus,
    set_of,
    symbols,
    times,
)
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Isplit
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh


class Bounds(Enum):
    """The kinds of bounds of a nest that blocks must respect."""

    ALL = auto()
    LOOPS = auto()
    """Bounds of one loop by another, such as a diagonal."""
    PARAMETERS = auto()
    """The others."""
    ALONE = auto()
    """Bounds of a loop by no other one."""


def whole_blocks(
    plan: Plan, component: Component, blocks: Mapping[str, int], kept: Bounds = Bounds.ALL
) -> AffineSet | None:
    """The condition, if each domain is one polyhedron and some block is not whole; else None.

    For several statements, the blocks that are whole for one of them: the conditions of all, and those of
    one.  A statement that executes only on a line or a plane has no blocks.
    """
    loops = plan.leaf(component.first).loops
    domains = {str(one.coalesce()): one for one in plan.iterations(component, len(loops))}
    solid = [one for one in domains.values() if one.affine_hull().is_universe()]
    found = [_tests(plan, one, loops, blocks, kept) for one in solid]
    demands = [one for one in found if one]
    if not demands or len(demands) < len(found):
        return None
    common = [one for one in demands[0] if all(one in other for other in demands)]
    single = [tuple(one for one in demand if one not in common) for demand in demands]
    if len(demands) > 1 and all(single):
        common.append(fm.Junction(conjunction=False, arguments=tuple(map(all_of, single))))
    return iterations_where(loops, *common) if common else None


def split_whole(plan: Plan, nest: NamedNest, factors: Sequence[LoopNumber]) -> Script:
    """Split off the whole blocks, before the rest; no step if all are whole."""
    component = plan.component(nest.handle)
    loops = plan.leaf(component.first).loops
    blocks = {one.loop: one.number for one in factors if one.loop is not None}
    condition = whole_blocks(plan, component, blocks)
    if condition is None:
        return ()
    shared = next((k for k in range(len(loops)) if not plan.sharing(component, k).positions), 0)
    rest = fresh(plan, f"{nest.handle}Rest")
    return (Step(Isplit(nest.handle, condition, shared), (nest.handle, rest)),)


def _tests(
    plan: Plan, domain: isl.Set, loops: Sequence[str], blocks: Mapping[str, int], kept: Bounds
) -> tuple[fm.Formula, ...] | None:
    """The conditions of a domain's bounds on a block, without redundant ones; None for a union.

    Bounds by quotients, such as those of an earlier split, are ignored: they end with larger blocks.
    """
    parts = domain.remove_divs().coalesce().remove_redundancies().get_basic_sets()
    if len(parts) != 1:
        return None
    bounds = parts[0].get_constraints()
    if any(bound.is_equality() for bound in bounds):
        return None
    names, params = symbols(loops), plan.program.params
    bounds = [bound for bound in bounds if kept is Bounds.ALL or _has(bound, kept)]
    sides = dict.fromkeys(_in_whole_block(bound, loops, blocks) for bound in bounds)
    tests = [compared(side[0], "<=", side[1]) for side in sides if side is not None]
    known = domain.intersect_params(plan.program.context)
    return tuple(one for one in tests if not known.is_subset(set_of(AffineSet(names, one), params)))


def _has(bound: isl.Constraint, kept: Bounds) -> bool:
    """Whether the bound is of this kind: a bound by parameters is by no loop."""
    if kept is Bounds.ALONE:
        return len(loops_in(bound)) == 1
    params = range(bound.space.dim(PARAM))
    named = any(coefficient(bound, PARAM, k) for k in params)
    return named == (kept is Bounds.PARAMETERS)


def _in_whole_block(
    bound: isl.Constraint, loops: Sequence[str], blocks: Mapping[str, int]
) -> tuple[fm.Formula, fm.Formula] | None:
    """low <= high, the bound for a whole block; None if it does not depend on the block."""
    constant = int(bound.get_constant_val().to_python())
    low: list[fm.Formula] = []
    high: list[fm.Formula] = []
    matters = False
    for k, loop in enumerate(loops):
        factor = coefficient(bound, DIM, k)
        if not factor:
            continue
        size = blocks.get(loop)
        term: fm.Formula = fm.Symbol(loop)
        if size is not None:
            block = fm.FunctionCall("floor", (fm.Multiplicative("/", fm.Symbol(loop), fm.Numeral(size)),))
            term = times(size, block)
            constant += factor * (size - 1) if factor < 0 else 0
            matters = True
        (high if factor > 0 else low).append(_multiple(abs(factor), term))
    for k in range(bound.space.dim(PARAM)):
        factor = coefficient(bound, PARAM, k)
        if factor:
            name = fm.Symbol(str(bound.space.get_dim_name(PARAM, k)))
            (high if factor > 0 else low).append(_multiple(abs(factor), name))
    if not matters:
        return None
    if constant:
        (high if constant > 0 else low).append(fm.Numeral(abs(constant)))
    return _sum(low), _sum(high)


def _multiple(factor: int, term: fm.Formula) -> fm.Formula:
    return term if factor == 1 else times(factor, term)


def _sum(terms: Sequence[fm.Formula]) -> fm.Formula:
    return plus(*terms) if len(terms) > 1 else terms[0] if terms else fm.Numeral(0)
