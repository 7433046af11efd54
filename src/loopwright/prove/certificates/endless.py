"""Infinite loops: theorems about all their finite prefixes.

The theorems of `proofs/` are about programs that terminate.  For a program whose last loop is infinite they
are about its prefixes: with a new parameter, the last value of the loop's iterator, the program terminates.
For all values of that parameter it executes the instances whose time is no later, each once, in order.  So
every instance is executed after finitely many others, by all prefixes that are long enough.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Compare, Int, Relation, Sum, Var
from loopwright.loops.nodes import Block, For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.schedule import Schedule
from loopwright.presburger.named import parameter_names
from loopwright.presburger.sets import sorted_maps
from loopwright.prove.scanning.conditions import IteratorScope, value
from loopwright.prove.scanning.meaning import TimedLeaf, meaning


@dataclass(frozen=True, eq=False)
class FirstIterations:
    """A schedule up to a time, a program up to an iteration, and the parameter for both."""

    schedule: Schedule
    program: Node
    last: str


def beginning(schedule: Schedule, program: Node) -> FirstIterations | None:
    """The prefix of a program whose only infinite loop is outermost and last; None for others."""
    before, loop = _parted(program)
    if loop is None or loop.dimension is None or any(_is_endless(one) for one in subprograms(loop.body)):
        return None
    if any(_is_endless(one) for child in before for one in subprograms(child)):
        return None
    known = meaning(schedule)
    iterators = [one.iterator for one in subprograms(program) if isinstance(one, For)]
    last = _unused("last", (*parameter_names(known.context.get_space()), *iterators))
    test = Compare(Relation.LE, Var(loop.iterator), Var(last))
    stopped = Block((*before, replace(loop, test=test)))
    context = known.context.align_params(isl.Set(f"[{last}] -> {{ : }}").get_space())
    scope = IteratorScope(isl.Set.from_params(context), {})
    follows = value(loop.start, scope).le_set(value(Sum((Var(last), Int(1))), scope))
    instances = [_until(leaf, loop.dimension, last) for leaf in known.leaves]
    domain = schedule.domain.intersect(reduce(isl.UnionSet.union, instances))
    within = context.intersect(follows.params())
    return FirstIterations(replace(schedule, domain=domain, context=within), stopped, last)


def _parted(program: Node) -> tuple[tuple[Node, ...], For | None]:
    """The code before the last loop, and that loop, if it is infinite and has step 1."""
    match program:
        case For(step=1) if _is_endless(program):
            return (), program
        case Block((*before, For(step=1) as end)) if _is_endless(end):
            return tuple(before), end
        case _:
            return (), None


def _is_endless(node: Node) -> bool:
    return isinstance(node, For) and node.test == And(())


def _unused(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "_"
    return name


def _until(leaf: TimedLeaf, dimension: int, last: str) -> isl.UnionSet:
    """The instances at times up to the last."""
    found = isl.UnionSet(f"[{last}] -> {{ }}")
    for times in sorted_maps(leaf.times):
        if times.dim(isl.dim_type.out) <= dimension:
            found = found.union(isl.UnionSet.from_set(times.domain()))
            continue
        aligned = times.align_params(isl.Set(f"[{last}] -> {{ : }}").get_space())
        range_space = isl.LocalSpace.from_space(aligned.get_space().range())
        time = isl.Aff.var_on_domain(range_space, isl.dim_type.set, dimension)
        at = aligned.find_dim_by_name(isl.dim_type.param, last)
        limit = isl.Aff.var_on_domain(range_space, isl.dim_type.param, at)
        found = found.union(isl.UnionSet.from_set(aligned.intersect_range(time.le_set(limit)).domain()))
    return found
