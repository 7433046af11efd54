"""Chooses parameter values to run programs with, from the schedule alone.

They are the same for every generator: the largest of a list for which the context holds and
the number of instances is neither tiny nor huge.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import islpy as isl

from loopwright.model.schedule import Context, Schedule, Tree

EQUAL_VALUES = (100, 80, 64, 50, 40, 32, 24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1)
RANDOM_SPANS = (100, 100, 60, 60, 30, 30, 12, 12, 6, 6) * 3

Valuation = dict[str, int]


@dataclass(frozen=True)
class Range:
    """How many executions a run should have: one below `least` is taken only for want of better."""

    least: int
    most: int


def parameters(schedule: Schedule) -> tuple[str, ...]:
    """The names of the parameters, in the order of their appearance."""
    spaces = [schedule.domain.get_space(), schedule.context.get_space(), *_tree_spaces(schedule.tree)]
    names = (
        space.get_dim_name(isl.dim_type.param, k)
        for space in spaces
        for k in range(space.dim(isl.dim_type.param))
    )
    return tuple(dict.fromkeys(name for name in names if name))


def _tree_spaces(tree: Tree) -> list[isl.Space]:
    """The spaces of the sets and maps in a tree: any of them may name a parameter."""
    own: list[isl.Space] = []
    for value in vars(tree).values():
        if isinstance(value, isl.Set | isl.Map | isl.UnionSet | isl.UnionMap):
            own.append(value.get_space())
        elif isinstance(value, tuple):
            own += [space for child in value if hasattr(child, "child") for space in _tree_spaces(child)]
    return own + (_tree_spaces(tree.child) if hasattr(tree, "child") else [])


def choose(schedule: Schedule, count: Callable[[Valuation], int | None], wanted: Range) -> Valuation | None:
    """Values for which `count`, None for more than `wanted.most`, is in the wanted range.

    None where the schedule has no instance, or too many, for all that were tried.
    """
    best: tuple[int, Valuation] | None = None
    for candidate in _candidates(schedule):
        executions = count(candidate)
        if executions is None:
            continue
        if best is None or executions > best[0]:
            best = executions, candidate
        if executions >= wanted.least:
            break
    return best[1] if best and best[0] else None


def _candidates(schedule: Schedule) -> Iterator[Valuation]:
    names = parameters(schedule)
    context = _whole_context(schedule)
    if not names:
        yield {}
        return
    source = random.Random(0)
    equal = ([value] * len(names) for value in EQUAL_VALUES)
    mixed = ([source.randint(0, span) for _ in names] for span in RANDOM_SPANS)
    for values in (*equal, *mixed):
        candidate = dict(zip(names, values, strict=True))
        if not context.intersect_params(fixed(candidate)).is_empty():
            yield candidate
    lively = context.intersect(_params(schedule.domain))
    point = lively.sample_point()
    if not point.is_void():
        yield {name: _coordinate(point, name) for name in names}


def fixed(values: Valuation) -> isl.Set:
    """The parameter set in which the parameters have the given values."""
    equations = " and ".join(f"{name} = {value}" for name, value in values.items())
    return isl.Set(f"[{', '.join(values)}] -> {{ : {equations or 'true'} }}")


def _coordinate(point: isl.Point, name: str) -> int:
    at = point.get_space().find_dim_by_name(isl.dim_type.param, name)
    return int(point.get_coordinate_val(isl.dim_type.param, at).to_python()) if at >= 0 else 0


def _whole_context(schedule: Schedule) -> isl.Set:
    """What holds of the parameters, by the schedule and by a context node at the top of its tree."""
    context = _params(schedule.context)
    match schedule.tree:
        case Context(inner, _) if inner.is_params() or inner.dim(isl.dim_type.set) == 0:
            return context.intersect(_params(inner))
        case _:
            return context


def _params(points: isl.Set | isl.UnionSet) -> isl.Set:
    return points if isinstance(points, isl.Set) and points.is_params() else points.params()
