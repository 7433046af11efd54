"""A failed obligation made concrete: the smallest parameter values and instances that show it."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.presburger.points import Point, smallest_point
from loopwright.prove.verdict import Instance, Refuted

SENTENCES = {
    "missing": "{0} is never executed",
    "extra": "{0} is executed, but the schedule does not have it",
    "twice": "{0} is executed twice",
    "too few": "{0} is executed, but not as many times as the schedule has it",
    "too many": "{0} is executed more times than the schedule has it",
    "order": "{0} runs before {1}, but the schedule orders {1} first",
    "parallel": "{0} and {1} run in different iterations of the parallel loop over {loop}, "
    "but the schedule orders them",
    "unsaid": "{0} and {1} run in different iterations of the loop over {loop}, which are to be independent, "
    "but the loop does not say so",
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
    chosen: bool = False
    """Whether it depends on times chosen among several, so that the choice may be what is wrong."""
    loop: str = ""


def refuted(failure: Failure) -> Refuted:
    """The failure's smallest example, in words."""
    point = smallest_point(failure.points)
    if point is None:
        raise InternalError(Code.INTERNAL, f"the obligation {failure.obligation!r} fails, but nowhere")
    instances, time = _instances(failure, point)
    at = f" at time ({', '.join(map(str, time))})" if failure.time_follows else ""
    return sentence(failure.obligation, point.parameters, instances, at=at, loop=failure.loop)


def sentence(
    obligation: str,
    parameters: dict[str, int],
    instances: tuple[Instance, ...],
    *,
    at: str = "",
    loop: str = "",
) -> Refuted:
    """What is wrong, said of these instances for these parameters; `at` tells more of the last."""
    shown = [f"{name}({', '.join(map(str, arguments))})" for name, arguments in instances]
    if shown:
        shown[-1] += at
    values = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    message = SENTENCES[obligation].format(*shown, loop=loop) + (f" for {values}" if values else "")
    witness = ": ".join(part for part in (values, ", ".join(shown)) if part)
    return Refuted(obligation, message, witness, parameters, instances)


def _instances(failure: Failure, point: Point) -> tuple[tuple[Instance, ...], tuple[int, ...]]:
    instances: list[Instance] = []
    left = point.coordinates
    for name, count in failure.keys:
        instances.append((name, left[:count]))
        left = left[count:]
    return tuple(instances), left
