"""Copies of cells, which operations on storage add to a region: their text and their place in the order."""

from __future__ import annotations

import islpy as isl

from loopwright.errors import Code
from loopwright.model.program import Program
from loopwright.presburger.dimensions import first
from loopwright.presburger.sets import DIM, DIV, IN, OUT, basic_sets
from loopwright.transform.library.affine_text import affine_text, divided_text
from loopwright.transform.operators import with_length
from loopwright.transform.plan import Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import Position, entry


def with_loops(plan: Plan, loops: int) -> Plan:
    """The plan with vectors long enough for a copy in so many loops."""
    return plan if loops <= plan.loops else with_length(plan, loops)


def copy_schedule(place: Position, depth: int, rank: int) -> isl.Map:
    """{ [t, c] -> (p0, t1, p1, ..., td, pd, c1, 0, c2, 0, ...) }."""
    loops = len(place) - 1
    relation = isl.Map.universe(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, depth + rank, 2 * loops + 1))
    for k, value in enumerate(place):
        relation = relation.fix_val(OUT, 2 * k, isl.Val(value))
    for loop in range(loops):
        if loop < depth + rank:
            relation = relation.equate(IN, loop, OUT, entry(loop))
        else:
            relation = relation.fix_val(OUT, entry(loop), isl.Val(0))
    return relation


def loops_over(program: Program, cells: isl.Set, iterators: tuple[str, ...]) -> str:
    """Loops over a box with the cells as a condition, which says exactly what is copied."""
    heads: list[str] = []
    for k, iterator in enumerate(iterators):
        low, inside = _range(cells, k, iterator)
        start, rest = (affine_text(program, one, iterators) for one in (low, inside))
        heads.append(f"for (int {iterator} = {start}; {rest} >= 0; {iterator}++) ")
    test = membership(program, cells, iterators, cells)
    return f" {''.join(heads)}{f'if ({test}) ' if test else ''}"


def membership(program: Program, points: isl.Set, iterators: tuple[str, ...], domain: isl.Set) -> str:
    """That a point of `domain` is one of these, in C; nothing where all are."""
    tests = [
        " && ".join(_condition(program, one, iterators, domain) for one in _stated(basic))
        for basic in basic_sets(points.compute_divs())
    ]
    return " || ".join(f"({one})" if len(tests) > 1 else one for one in tests if one)


def _range(cells: isl.Set, k: int, iterator: str) -> tuple[isl.Aff, isl.Aff]:
    """A lower bound of dimension k in terms of those before it, and what is not negative up to the last.

    Where those before it give none, the bound of all of them: the condition leaves out what is too much.
    """
    low: isl.Aff | None = None
    rest: isl.Aff | None = None
    inner = first(cells, DIM, k + 1)
    for points in (inner, inner.eliminate(DIM, 0, k)):
        for constraint in points.remove_divs().simple_hull().get_constraints():
            factor = constraint.get_coefficient_val(DIM, k)
            if factor.is_zero():
                continue
            equality = constraint.is_equality()
            if low is None and (factor.is_one() or (equality and factor.is_negone())):
                low = constraint.get_bound(DIM, k)
            if rest is None and (factor.is_neg() or equality):
                rest = constraint.get_aff() if factor.is_neg() else constraint.get_aff().neg()
    if low is None or rest is None:
        raise Misuse(Code.STORAGE, f"the values of {iterator} have no affine bounds", argument="loop")
    return low, rest


def _stated(basic: isl.BasicSet) -> list[isl.Constraint]:
    """The constraints but for those that say what a quotient is."""
    return [one for one in basic.get_constraints() if not one.is_div_constraint()]


def _condition(
    program: Program, constraint: isl.Constraint, iterators: tuple[str, ...], domain: isl.Set
) -> str:
    """`e >= 0`, `e == 0` with quotients, or `e % d == 0`, which is how e = d q reads for some q."""
    value = constraint.get_aff()
    text = divided_text(program, value, iterators, domain)
    if text is not None:
        return f"{text} {'==' if constraint.is_equality() else '>='} 0"
    factors = [value.get_coefficient_val(DIV, k) for k in range(value.dim(DIV))]
    divisors = [abs(int(one.to_python())) for one in factors if not one.is_zero()]
    if len(divisors) > 1 or not constraint.is_equality():
        raise Misuse(Code.STORAGE, "which cells are copied cannot be written as a condition", argument="loop")
    return f"({affine_text(program, value, iterators)}) % {divisors[0]} == 0"
