"""Makes a failed obligation concrete: the smallest parameter values and instances that show it.

If an obligation failed with chosen times, the program is run to see whether it is wrong.  For given
parameters the k-th execution of an instance is matched with the k-th of its times.  If the times are totally
ordered, the run is right iff it is right under that matching.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from math import prod
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Node
from loopwright.presburger.dimensions import all_points
from loopwright.presburger.named import at_parameters, without_parameters
from loopwright.presburger.points import Point, smallest_point, values_text
from loopwright.prove.scanning.meaning import AnyPosition, BandDimension, Column, Meaning
from loopwright.prove.scanning.targets import CallTimes
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
    """The points where an obligation fails, a nonempty set.

    Its dimensions are the arguments of the calls `keys`, in order, and then, if `time_follows`, the time of
    the last.
    """

    obligation: str
    points: isl.Set
    keys: tuple[tuple[str, int], ...]
    time_follows: bool = False
    chosen: bool = False
    """Whether it depends on times chosen among several, so that the choice may be wrong."""
    loop: str = ""


def refuted(failure: Failure) -> Refuted:
    """The failure's smallest example as a refutation."""
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
    """A refutation with these instances and parameters; `at` is appended to the last instance."""
    shown = [f"{name}({', '.join(map(str, arguments))})" for name, arguments in instances]
    if shown:
        shown[-1] += at
    values = values_text(parameters)
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


LIMIT = 20_000
"""The limit on executions; ten times as many loop iterations are allowed."""

Times: TypeAlias = dict[Instance, list[tuple[int, ...]]]


def replayed(
    known: Meaning, timed: tuple[CallTimes, ...], program: Node, parameters: dict[str, int]
) -> Refuted | None:
    """Returns an error in the run of `program` for these parameters, or None if none is found."""
    if (
        len(parameters) < known.context.dim(isl.dim_type.param)
        or at_parameters(known.context, parameters).is_empty()
    ):
        return None
    times = _times(known, timed, parameters)
    if times is None:
        return None
    try:
        run = list(islice(execute(program, parameters, 10 * LIMIT), LIMIT))
    except GaveUp:
        return None
    if len(run) == LIMIT:
        return None
    wrong = _counted(times, run)
    ordered = not any(isinstance(column, AnyPosition) for leaf in known.leaves for column in leaf.columns)
    if wrong is None and ordered:
        wrong = _misordered(times, run)
    return None if wrong is None else sentence(wrong[0], parameters, wrong[1])


def _counted(times: Times, run: list[Instance]) -> tuple[str, tuple[Instance, ...]] | None:
    executed = Counter(run)
    for one in sorted({*times, *executed}):
        wanted, done = len(times.get(one, ())), executed[one]
        if done < wanted:
            return ("missing" if not done else "too few"), (one,)
        if done > wanted:
            return ("extra" if not wanted else "twice" if wanted == 1 else "too many"), (one,)
    return None


def _misordered(times: Times, run: list[Instance]) -> tuple[str, tuple[Instance, ...]] | None:
    left = {one: iter(sorted(vectors)) for one, vectors in times.items()}
    last: tuple[tuple[int, ...], Instance] | None = None
    for one in run:
        time = next(left[one])
        if last is not None and time < last[0]:
            return "order", (last[1], one)
        last = (time, one)
    return None


def _times(known: Meaning, timed: tuple[CallTimes, ...], parameters: dict[str, int]) -> Times | None:
    """The times of every instance, or None if there are too many."""
    found: Times = {}
    left = LIMIT
    for one in timed:
        points = _points(one.times, parameters, left)
        if points is None:
            return None
        left -= len(points)
        count = one.key[1]
        for point in points:
            time = _time(known.leaves[one.leaf].columns, point[count:])
            found.setdefault((one.key[0], point[:count]), []).append(time)
    return found


def _time(columns: tuple[Column, ...], bands: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        bands[column.index] if isinstance(column, BandDimension) else column.index for column in columns
    )


def _points(relation: isl.Map, parameters: dict[str, int], limit: int) -> list[tuple[int, ...]] | None:
    """All (arguments, band dimensions), sorted, or None if there are more than `limit`."""
    points = without_parameters(at_parameters(relation.wrap().flatten(), parameters))
    if not points.is_bounded() or _volume(points) > 10 * LIMIT:
        return None
    found = all_points(points)
    return sorted(found) if len(found) <= limit else None


def _volume(points: isl.Set) -> int:
    """The number of points of the smallest box around the set."""
    if points.is_empty():
        return 0
    sides = [points.dim_max_val(k).sub(points.dim_min_val(k)) for k in range(points.dim(isl.dim_type.set))]
    return prod(int(side.to_python()) + 1 for side in sides)
