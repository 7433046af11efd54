"""What the one number in the shadow of a cell says about the writes it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import islpy as isl

from loopwright.check.algorithms.groups import Group


class Scheme(Protocol):
    """A meaning of shadows; texts are C over the iterators, or the subscripts, called `names`.

    0 is a cell nothing has written.  `size` is the number of bytes of a shadow cell by array.
    """

    @property
    def name(self) -> str: ...

    @property
    def groups(self) -> tuple[Group, ...]: ...

    @property
    def size(self) -> dict[str, int]: ...

    def fits_int(self, group: Group) -> bool:
        """Whether `before`, `source` and `after` can be computed in int arithmetic on the domain."""

    def before(self, group: Group, names: Sequence[str]) -> str:
        """The shadow of the cell an instance writes, before it does."""

    def source(self, group: Group, read: int, names: Sequence[str]) -> str:
        """The shadow of the cell of a read."""

    def after(self, group: Group, names: Sequence[str]) -> str:
        """The shadow of the cell once it is written; `c` is what it was."""

    def last(self, array: str, names: Sequence[str]) -> str:
        """The shadow of a cell of the WriteSet at the end."""

    def linear_before(self, group: Group) -> isl.PwAff | None:
        """`before` where it is linear and may help to find the iterators."""

    def linear_source(self, group: Group, read: int) -> isl.PwAff | None:
        """`source` where it is linear and may help to find the iterators."""

    def guess(self, group: Group, free: tuple[int, ...], names: Sequence[str]) -> tuple[str, ...]:
        """Iterators that nothing else determines, from the shadow and the cell; GaveUp if it cannot."""
