"""Iterations that run in one vector: of `omp simd safelen(k)` those that are fewer than k apart.

What the text of one iteration does first is done first in a vector: all lanes read before they write, so
that a dependence on what stands later in the text is kept.  OpenMP 5.0 says so and 4.5 does not; no answer
rests on it.
"""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl

from loopwright.c.loops import loop_iterator
from loopwright.c.syntax import Node
from loopwright.c.tokens import packed
from loopwright.model.dependences import Dependence
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.legality.violation import Violation
from loopwright.prove.text.clauses import linear_steps, may_run_in_order, number_in_clause


def in_one_vector(
    argument: str, loop: Node, depth: int, found: tuple[Dependence, ...]
) -> tuple[Dependence, ...]:
    """Without those whose two iterations are in different vectors: `simd safelen(k)` keeps their order.

    k iterations or more lie between them if the iterator, which counts by s, differs by k s.
    """
    length, step = number_in_clause(argument, "safelen"), _step(loop)
    if length is None or "parallel" in argument or step is None:
        return found
    near: list[Dependence] = []
    for one in found:
        relation = one.relation.subtract(_far_apart(one.relation.get_space(), depth, length * step))
        if not relation.is_empty():
            near.append(replace(one, relation=relation, shape=None))
    return tuple(near)


def is_kept(argument: str, found: object) -> bool:
    """Whether a dependence between iterations may be kept: one thread runs both, or all lanes of a vector do
    first what stands first in the text, read before they write, and write one after the other.
    """
    if may_run_in_order(argument):
        return True
    if "parallel" in argument or not isinstance(found, Violation):
        return False
    if found.first.span == found.second.span:
        return found.kind != "flow"
    return found.first.span.start < found.second.span.start


def _step(loop: Node) -> int | None:
    """By how much the iterator changes, up or down, where that is a number."""
    update = loop.child_by_field_name("update")
    if update is None or update.type == "update_expression":
        return None if update is None else 1
    by = re.fullmatch(r"\w+\s*[-+]=\s*([1-9]\d{0,8})", update.text)
    return None if by is None else int(by[1])


def _far_apart(space: isl.Space, depth: int, distance: int) -> isl.Map:
    """Instances of the same iterations around a loop, at least so far apart in it."""
    same = isl.Map.universe(space)
    for place in range(depth):
        same = same.equate(IN, place, OUT, place)
    local = isl.LocalSpace.from_space(space)
    found = isl.Map.empty(space)
    for sign in (1, -1):
        apart = isl.Constraint.inequality_alloc(local).set_constant_val(isl.Val(-distance))
        apart = apart.set_coefficient_val(OUT, depth, isl.Val(sign))
        apart = apart.set_coefficient_val(IN, depth, isl.Val(-sign))
        found = found.union(same.add_constraint(apart))
    return found


def not_linear(argument: str, loop: Node, iterators: frozenset[str]) -> str | None:
    """The first name in a `linear` clause that is not the iterator of the loop, with its step."""
    update = loop.child_by_field_name("update")
    for name, step in linear_steps(argument).items():
        text = "" if update is None else packed(update.text)
        counts = {f"{name}++": 1, f"++{name}": 1, f"{name}--": -1, f"--{name}": -1}
        counts |= {f"{name}+={step}": step, f"{name}-={-step}": step}
        if name != loop_iterator(loop) or counts.get(text) != step or len(iterators) > 1:
            return name
    return None
