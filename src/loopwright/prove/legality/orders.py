"""Explains why one instance executes before another.

The first entry in which two times (p0, j1, p1, ...) differ decides.  If it is a position, the two are in the
same iteration of the loops around it, and one precedes the other in the source; if it is an iteration number,
one is in an earlier iteration of that loop.
"""

from __future__ import annotations

from loopwright.lazy_dataclass import dataclass
from loopwright.prove.legality.violation import Occurrence


@dataclass(frozen=True)
class PlacedInstance:
    """An instance with its time in one of the two programs, and the names of the loops around it there."""

    name: str
    shown: str
    time: tuple[int, ...]
    loops: tuple[str, ...]
    values: dict[str, int]

    def iteration(self, loop: int) -> str:
        """`i = 4`: the iteration number of the loop, or the source's iterator if the loop counts down."""
        number = self.time[2 * loop + 1]
        if loop >= len(self.loops):
            return str(number)
        name = self.loops[loop]
        return f"{name} = {self.values[name] if self.direction(loop) < 0 else number}"

    def direction(self, loop: int) -> int:
        """-1 if the iteration number is the negated iterator of the source, 0 if both are 0, else 1."""
        own = self.values.get(self.loops[loop]) if loop < len(self.loops) else None
        number = self.time[2 * loop + 1]
        return 0 if own == number == 0 else -1 if own == -number else 1


def as_written(occurrence: Occurrence) -> PlacedInstance:
    """The instance in the source's loops, named by their iterators; these may be reordered already."""
    values = dict(zip(occurrence.iterators, occurrence.instance, strict=True))
    numbers = zip(occurrence.iterators, occurrence.instance, occurrence.before[1::2], strict=False)
    own = tuple(name for name, value, number in numbers if abs(value) == abs(number))
    loops = own if own == occurrence.iterators else ()
    return PlacedInstance(occurrence.name, short(occurrence), occurrence.before, loops, values)


def transformed(occurrence: Occurrence) -> PlacedInstance:
    values = dict(zip(occurrence.iterators, occurrence.instance, strict=True))
    return PlacedInstance(occurrence.name, short(occurrence), occurrence.after, occurrence.loops, values)


def short(occurrence: Occurrence) -> str:
    """S1(0, 1)."""
    return f"{occurrence.name}({', '.join(map(str, occurrence.instance))})"


def order(one: PlacedInstance, other: PlacedInstance) -> str:
    """`A(0), then B(1): ...`, for instances in this order."""
    return f"{one.shown}, then {other.shown}: {_reason(one, other)}"


def at_once(one: PlacedInstance, other: PlacedInstance) -> str:
    """The text for two instances with the same time."""
    where = _iterations(one, other, min(len(one.loops), len(other.loops)))
    return f"{one.shown} and {other.shown} at the same time{f', iteration {where}' if where else ''}"


def apart(one: PlacedInstance, other: PlacedInstance, loop: str) -> str:
    """The text for two instances in different iterations of a parallel loop."""
    depth = _decisive(one, other) // 2
    return (
        f"{one.shown} in iteration {one.iteration(depth)} of {loop}, {other.shown} in "
        f"{other.iteration(depth)}: nothing says which is first"
    )


def _decisive(one: PlacedInstance, other: PlacedInstance) -> int:
    pairs = zip(one.time, other.time, strict=True)
    return next(k for k, (mine, theirs) in enumerate(pairs) if mine != theirs)


def _reason(one: PlacedInstance, other: PlacedInstance) -> str:
    entry = _decisive(one, other)
    loop = entry // 2
    if entry % 2 == 0:
        first = one.name if one.name != other.name else "the first"
        where = _iterations(one, other, loop)
        return f"both in iteration {where}, where {first} stands first" if where else f"{first} stands first"
    around = _iterations(one, other, loop)
    inside = f" (both in {around})" if around else ""
    mine, theirs = one.iteration(loop), other.iteration(loop)
    directions = {one.direction(loop), other.direction(loop)}
    which = "the outermost loop" if loop == 0 else f"the loop at depth {loop + 1}"
    if loop >= len(one.loops) and loop >= len(other.loops):
        return f"{which} runs iteration {mine} before {theirs}{inside}"
    if one.loops[loop : loop + 1] == other.loops[loop : loop + 1] and directions != {1, -1}:
        down = ", counting down" if -1 in directions else ""
        return f"iteration {mine} runs before {theirs}{down}{inside}"
    if directions == {1, -1}:
        mine, theirs = (f"iteration {it.time[entry]}, {it.iteration(loop)}" for it in (one, other))
    return f"{which} runs {mine} of {one.name} before {theirs} of {other.name}{inside}"


def _iterations(one: PlacedInstance, other: PlacedInstance, loops: int) -> str:
    """The iterations of the loops that both share; a loop may have a name for each of them."""
    texts: list[str] = []
    for loop in range(loops):
        mine, theirs = one.iteration(loop), other.iteration(loop)
        texts.append(mine if mine == theirs else f"{mine} of {one.name} and {theirs} of {other.name}")
    return ", ".join(texts)
