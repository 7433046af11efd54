"""The parameters of a region: numbers that it does not change, and their values if the file gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from loopwright.c.types import CType
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.points import values_text
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that does not change in the region.

    `name` is an identifier; `text` is what the author wrote, the same unless that is an
    expression such as `POLYBENCH_LOOP_BOUND(4000, n)` or `grid->n`.
    """

    name: str
    text: str
    values: tuple[int, int] | None = None
    """The least and the greatest value that its type or its definition allows, where that is known."""
    numbers: tuple[int, ...] = ()
    """All values that a variable of the function can have there, if it is assigned these numbers only."""
    type: CType | None = None
    """That of its text in C, where the file shows it."""

    @property
    def fixed(self) -> int | None:
        """Its only possible value."""
        return self.known[0] if len(self.known) == 1 else None

    @property
    def known(self) -> tuple[int, ...]:
        """Its few possible values, if the file shows them."""
        least, greatest = self.values or (0, 1)
        return (least,) if least == greatest else self.numbers


@dataclass(frozen=True, slots=True)
class ShownCall:
    """Parameters of a region that are numbers, where the function is called or always (`place` is None)."""

    place: Span | None
    numbers: tuple[tuple[str, int], ...]
    is_computed: bool = False
    """Whether the file computes them before the region, whatever calls the function."""

    def __str__(self) -> str:
        told = values_text(dict(self.numbers))
        how = "as computed before" if self.is_computed else "as it is called in"
        return told if self.place is None else f"{told}, {how} line {self.place.line}"


def known_cases(parameters: Iterable[Parameter], calls: Iterable[ShownCall]) -> tuple[ShownCall, ...]:
    """Combinations of parameter values: each known value of one of them, and those of calls."""
    always = {one.name: value for one in parameters if (value := one.fixed) is not None}
    several = [(one.name, value) for one in parameters for value in one.numbers]
    found = [always | {name: value} for name, value in several if name not in always] or [always]
    own = tuple(ShownCall(None, tuple(one.items())) for one in found if one)
    given = (replace(one, numbers=tuple((always | dict(one.numbers)).items())) for one in calls)
    return own + tuple(given)
