"""Where in the region the reader is: the loops around, the values that get there, the position."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from loopwright.model.source import TextRange
from loopwright.read.c.names import Setting


@dataclass(frozen=True, slots=True)
class Loop:
    """A `for` around the reader; `direction` is 1 if it counts up, -1 if it counts down."""

    iterator: str
    direction: int
    place: TextRange


@dataclass(frozen=True)
class Frame:
    """`domain` is the set of values of iterators and parameters that reach this place.

    `positions` are those of the loops around, p0 to p(d-1) of section 3.2; `values` are the local
    integers known to be affine.
    """

    setting: Setting
    domain: isl.Set
    loops: tuple[Loop, ...] = ()
    positions: tuple[int, ...] = ()
    values: tuple[tuple[str, isl.PwAff], ...] = ()

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(loop.iterator for loop in self.loops)

    def value(self, name: str) -> isl.PwAff | None:
        return dict(self.values).get(name)

    def where(self, test: isl.Set) -> Frame:
        """The frame inside an `if`."""
        return replace(self, domain=self.domain.intersect(test).coalesce())

    def bind(self, name: str, value: isl.PwAff) -> Frame:
        """The frame behind `int name = value;`."""
        return replace(self, values=(*self.values, (name, value)))

    def inside(self, loop: Loop, position: int, domain: isl.Set) -> Frame:
        """The frame in the body of `loop`, the `position`-th child of its surroundings."""
        return replace(
            self, loops=(*self.loops, loop), positions=(*self.positions, position), domain=domain
        )

    def known(self) -> isl.Set:
        """All that is known here, the context included."""
        return self.domain.intersect(self.setting.context)
