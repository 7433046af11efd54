"""Checks that a parallel loop carries no dependence.

For a loop at time dimension d: no a -> b with θ'(a) and θ'(b) equal before d and different at d.

The lanes of a vector run together, one statement after the other, and a statement reads before it writes. So
a vector loop without inner loops may carry an anti-dependence a -> b, a read before a write, if the statement
of a precedes that of b, or is the same: it is preserved however many iterations run together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence, DependenceKind
from loopwright.presburger.sets import union
from loopwright.prove.legality.precedence import PairOrder, carried, pair_orders
from loopwright.prove.legality.times import TimedPiece, TimeEntry, closer
from loopwright.source import Span


@dataclass(frozen=True)
class ParallelLoop:
    """The loop at time dimension `dimension` around `statements`.

    `positions` are the constants p0, p1, ... of the dimensions outside it, if only the part of the statements
    there is meant (a split one has several).  `name` is its name, `span` the place in the script that marks
    it.  A loop that `combines` gives its iterations private results and combines them, as OpenMP's
    `reduction` clause does; in others, the steps of a reduction conflict whatever the user assumes about
    their operator. A loop of `blocks` gives each of its iterations its own copy of the storage that their
    threads share. A loop of `lanes` may carry forward anti-dependences in its body. `private` is storage that
    is proved to be private to each iteration; a loop that `privatises` makes more storage private if that is
    correct. Iterations with times that differ by `near` or more run in order, if that is known.
    """

    dimension: int
    statements: tuple[str, ...]
    name: str = ""
    positions: tuple[int, ...] | None = None
    span: Span | None = None
    combines: bool = True
    private: frozenset[str] = frozenset()
    privatises: bool = False
    blocks: bool = False
    lanes: bool = False
    near: int | None = None

    @property
    def called(self) -> str:
        return self.name or f"time dimension {self.dimension}"


Pieces = Mapping[str, tuple[TimedPiece, ...]]


def inside(loop: ParallelLoop, pieces: Pieces) -> dict[str, tuple[TimedPiece, ...]]:
    """The pieces executed in the loop: those named, and those in the same loop.

    Two pieces may share the loop unless a constant outside it differs.
    """
    parts = [piece for name in loop.statements for piece in pieces[name]]
    named = [piece for piece in parts if _at(piece, loop.positions, loop.dimension)]
    found: dict[str, tuple[TimedPiece, ...]] = {}
    for name, own in pieces.items():
        sharing = tuple(part for part in own if any(_together(part, one, loop.dimension) for one in named))
        if sharing:
            found[name] = sharing
    return found


def _at(piece: TimedPiece, positions: tuple[int, ...] | None, dimension: int) -> bool:
    """Whether the constants at p0, p1, ... outside the loop are `positions`."""
    own = piece.entries[:dimension:2]
    return positions is None or all(
        not isinstance(entry, int) or entry == position
        for entry, position in zip(own, positions, strict=False)
    )


def _together(one: TimedPiece, other: TimedPiece, dimension: int) -> bool:
    return not any(
        isinstance(a, int) and isinstance(b, int) and a != b
        for a, b in zip(one.entries[:dimension], other.entries[:dimension], strict=True)
    )


def kept_by_lanes(loop: ParallelLoop, pieces: Pieces, dependence: Dependence) -> bool:
    """Whether this is a forward anti-dependence in the body of a vector loop."""
    members = inside(loop, pieces)
    bodies = {name: [one.entries[loop.dimension + 1 :] for one in own] for name, own in members.items()}
    is_body = all(isinstance(entry, int) for own in bodies.values() for body in own for entry in body)
    if not loop.lanes or dependence.kind is not DependenceKind.ANTI or not is_body:
        return False
    places = [[_place(body) for body in bodies[name]] for name in (dependence.source, dependence.sink)]
    return max(places[0]) <= min(places[1])


def _place(body: tuple[TimeEntry, ...]) -> tuple[int, ...]:
    return tuple(entry for entry in body if isinstance(entry, int))


def carried_by(
    loop: ParallelLoop, pieces: Pieces, dependences: tuple[Dependence, ...]
) -> Iterator[tuple[Dependence, isl.Set | None]]:
    """Yields each dependence inside the loop with the pairs that the loop carries, or None for none."""
    members = inside(loop, pieces)
    for dependence in dependences:
        if dependence.array in loop.private:
            continue
        if dependence.source in members and dependence.sink in members:
            first, second = members[dependence.source], members[dependence.sink]
            orders = pair_orders(first, second, dependence.relation.get_space())
            if loop.near is None:
                yield dependence, carried(dependence.relation, orders, loop.dimension)
            else:
                yield dependence, _carried_near(dependence.relation, orders, loop.dimension, loop.near)


def _carried_near(
    relation: isl.Map, orders: tuple[PairOrder, ...], dimension: int, near: int
) -> isl.Set | None:
    """The pairs that a loop carries whose times differ by less than `near` there, or None for none."""
    found: list[isl.Set] = []
    for order in orders:
        pairs = carried(relation, (order,), dimension)
        if pairs is not None:
            close = pairs.intersect(closer(order.first, order.second, dimension, near, relation.get_space()))
            found += [] if close.is_empty() else [close]
    return union(found) if found else None
