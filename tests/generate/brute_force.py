"""What a schedule means, by enumeration: for given parameter values, every instance and its time.

Nothing here knows how programs are generated or proved.  A time is a path through the schedule
tree: the values at each band and the child taken at each sequence or set.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl

from loopwright.loops.interpreter import ExecutedCall
from loopwright.model.schedule import (
    Annotated,
    AnyOrder,
    Band,
    Context,
    Expansion,
    Extension,
    Filter,
    Guard,
    Leaf,
    Mark,
    Schedule,
    Sequence,
    Tree,
)

Point: TypeAlias = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, order=True)
class Step:
    """One node of a path: the values of a band or the number of a child."""

    values: tuple[int, ...]
    ordered: bool = True
    is_band: bool = True


@dataclass(frozen=True)
class Timed:
    instance: Point
    path: tuple[Step, ...] = ()

    def then(self, step: Step) -> Timed:
        return Timed(self.instance, (*self.path, step))

    def outer(self) -> tuple[int, ...]:
        """The values of the bands so far: what an extension or a guard can refer to."""
        return tuple(value for step in self.path if step.is_band for value in step.values)


def expected(schedule: Schedule, values: dict[str, int]) -> list[Timed]:
    """Every execution the schedule asks for, each with its time, in no particular order."""
    here = fixed(values)
    domain = schedule.domain.intersect_params(here)
    timed = _walk(schedule.tree, [Timed(point) for point in points(domain)], here)
    return [Timed(instance, one.path) for one in timed for instance in _call(schedule, one, here)]


def allowed(schedule: Schedule, values: dict[str, int]) -> bool:
    """Whether the context, and the context nodes of the tree, admit the values."""
    here = fixed(values)
    known = [schedule.context]
    tree = schedule.tree
    while isinstance(tree, Context):
        known.append(tree.context)
        tree = tree.child
    return not any(one.params().intersect(here).is_empty() for one in known)


def _call(schedule: Schedule, one: Timed, here: isl.Set) -> list[Point]:
    """The call that an instance is: its arguments by the argument transformation, if it has one."""
    name, _ = one.instance
    if name not in schedule.arguments:
        return [one.instance]
    image = _images(isl.UnionMap.from_map(schedule.arguments[name]), [one], here)
    return [(name, values) for _, values in image[one.instance]]


def _walk(tree: Tree, timed: list[Timed], here: isl.Set) -> list[Timed]:
    match tree:
        case Leaf():
            return timed
        case Band(schedule=relation):
            images = _images(relation, timed, here)
            later = [one.then(Step(values)) for one in timed for _, values in images[one.instance]]
            return _walk(tree.child, later, here)
        case Filter(filter=kept):
            chosen = set(points(kept.intersect(_set(timed)).intersect_params(here)))
            return _walk(tree.child, [one for one in timed if one.instance in chosen], here)
        case Sequence(children) | AnyOrder(children):
            ordered = isinstance(tree, Sequence)
            return [
                result
                for k, child in enumerate(children)
                for result in _walk(child, [one.then(Step((k,), ordered, False)) for one in timed], here)
            ]
        case Context() | Mark() | Annotated():
            return _walk(tree.child, timed, here)
        case Guard(guard):
            return _walk(tree.child, [one for one in timed if _holds(guard, one.outer(), here)], here)
        case Extension(extension):
            return _walk(tree.child, [*timed, *_added(extension, timed, here)], here)
        case Expansion(expansion):
            images = _images(expansion, timed, here)
            expanded = [Timed(new, one.path) for one in timed for new in images[one.instance]]
            return _walk(tree.child, expanded, here)


def _added(extension: isl.UnionMap, timed: list[Timed], here: isl.Set) -> list[Timed]:
    """The instances an extension adds at each time there is something to run already."""
    times = {one.path: one.outer() for one in timed}
    anonymous = [Timed(("", outer)) for outer in times.values()]
    images = _images(extension, anonymous, here)
    return [Timed(new, path) for path, outer in times.items() for new in images["", outer]]


def _holds(guard: isl.Set, outer: tuple[int, ...], here: isl.Set) -> bool:
    if guard.is_params():
        return not guard.intersect_params(here).is_empty()
    inside = isl.UnionSet.from_set(guard).intersect(_set([Timed(("", outer))])).intersect_params(here)
    return not inside.is_empty()


def _images(relation: isl.UnionMap, timed: Iterable[Timed], here: isl.Set) -> dict[Point, list[Point]]:
    """What `relation` maps each of the instances to."""
    narrowed = relation.intersect_domain(_set(timed)).intersect_params(here).project_out_all_params()
    images: dict[Point, list[Point]] = defaultdict(list)
    maps: list[isl.Map] = []
    narrowed.foreach_map(maps.append)
    for one in maps:
        source, target = (_name(one.get_space(), side) for side in (isl.dim_type.in_, isl.dim_type.out))
        arity = one.dim(isl.dim_type.in_)
        for values in _coordinates(one.wrap().flatten()):
            images[source, values[:arity]].append((target, values[arity:]))
    return images


def points(instances: isl.UnionSet) -> list[Point]:
    """The points of a set without free parameters."""
    sets: list[isl.Set] = []
    instances.project_out_all_params().foreach_set(sets.append)
    return [
        (_name(one.get_space(), isl.dim_type.set), values) for one in sets for values in _coordinates(one)
    ]


def _coordinates(one: isl.Set) -> list[tuple[int, ...]]:
    if not one.is_bounded():
        raise ValueError(f"enumeration of an unbounded set: {one}")
    found: list[isl.Point] = []
    one.flatten().foreach_point(found.append)
    axes = range(one.dim(isl.dim_type.set))
    return sorted(
        tuple(int(p.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in axes) for p in found
    )


def _set(timed: Iterable[Timed]) -> isl.UnionSet:
    shown = (f"{name}[{', '.join(map(str, values))}]" for name, values in {one.instance for one in timed})
    return isl.UnionSet(f"{{ {'; '.join(sorted(shown))} }}")


def _name(space: isl.Space, side: isl.dim_type) -> str:
    return (space.get_tuple_name(side) or "") if space.has_tuple_name(side) else ""


def fixed(values: dict[str, int]) -> isl.Set:
    """The parameter set in which the parameters have the given values."""
    equations = " and ".join(f"{name} = {value}" for name, value in values.items())
    return isl.Set(f"[{', '.join(values)}] -> {{ : {equations or 'true'} }}")


def earlier(one: tuple[Step, ...], other: tuple[Step, ...]) -> bool:
    """Whether the schedule puts the first path strictly before the second."""
    for left, right in zip(one, other, strict=False):
        if left.values != right.values:
            return left.ordered and left.values < right.values
    return False


def mistake(wanted: Iterable[Timed], executions: Iterable[ExecutedCall]) -> str | None:
    """Why `executions` is not one of the runs the schedule allows, or None.

    An instance with several times runs once for each: its first execution is for the first.
    """
    wanted, executions = list(wanted), list(executions)
    asked, found = Counter(one.instance for one in wanted), Counter(executions)
    if asked != found:
        return f"missing {sorted((asked - found).items())}, extra {sorted((found - asked).items())}"
    times: dict[Point, list[tuple[Step, ...]]] = defaultdict(list)
    for one in sorted(wanted, key=lambda timed: timed.path, reverse=True):
        times[one.instance].append(one.path)
    run = [(execution, times[execution].pop()) for execution in executions]
    for position, (late, path) in enumerate(run):
        for soon, other in run[:position]:
            if earlier(path, other):
                return f"{soon} runs before {late}, which is to run first"
    return None
