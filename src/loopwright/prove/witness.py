"""A failed obligation made concrete: the smallest parameter values and instances that show it."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopwright.errors import InternalError
from loopwright.presburger.points import Point, smallest_point
from loopwright.prove.verdict import Instance, Refuted

SENTENCES = {
    "missing": "{0} is never executed",
    "extra": "{0} is executed, but the schedule does not have it",
    "twice": "{0} is executed twice",
    "order": "{0} runs before {1}, but the schedule orders {1} first",
    "parallel": "{0} and {1} run in different iterations of the parallel loop over {loop}, "
    "but the schedule orders them",
    "endless": "the loop over {loop} does not end, and executes nothing more",
}


@dataclass(frozen=True, eq=False)
class Failure:
    """The points where an obligation fails, a set that is not empty.

    Its dimensions are the arguments of the calls `keys`, one after the other, and then, where
    `time_follows`, the time of the last.
    """

    obligation: str
    points: isl.Set
    keys: tuple[tuple[str, int], ...]
    time_follows: bool = False
    loop: str = ""


def refuted(failure: Failure) -> Refuted:
    """The failure's smallest example, in words."""
    point = smallest_point(failure.points)
    if point is None:
        raise InternalError(f"the obligation {failure.obligation!r} fails, but nowhere")
    instances, time = _instances(failure, point)
    shown = [f"{name}({', '.join(map(str, arguments))})" for name, arguments in instances]
    if failure.time_follows:
        shown[-1] += f" at time ({', '.join(map(str, time))})"
    sentence = SENTENCES[failure.obligation].format(*shown, loop=failure.loop)
    values = ", ".join(f"{name} = {value}" for name, value in point.parameters.items())
    return Refuted(
        failure.obligation,
        sentence + (f" for {values}" if values else ""),
        f"{values}: {', '.join(shown)}" if values else ", ".join(shown),
        point.parameters,
        instances,
    )


def _instances(failure: Failure, point: Point) -> tuple[tuple[Instance, ...], tuple[int, ...]]:
    instances: list[Instance] = []
    left = point.coordinates
    for name, count in failure.keys:
        instances.append((name, left[:count]))
        left = left[count:]
    return tuple(instances), left
