"""The result of comparing two programs, and its assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopwright.errors import Note
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.points import values_text
from loopwright.prove.verdict import Verdict

if TYPE_CHECKING:
    from loopwright.prove.equivalence.instances import ComparedTexts

REASSOCIATION = "sums and products may be computed in any order"


@dataclass(frozen=True)
class Equivalence:
    """The verdict and its assumptions; `notes` explain a negative answer, if possible."""

    verdict: Verdict
    notes: tuple[Note, ...] = ()
    trusted: tuple[str, ...] = ()
    way: str = ""
    """How it was proved: "along its loops", "by instances" or "by values"."""
    texts: ComparedTexts | None = None
    """The compared programs, if compared by instances."""


@dataclass(frozen=True)
class OnlyFor:
    """The sizes that both files define, if not all are proved, and some sizes for which it is refuted."""

    sizes: dict[str, int]
    not_for: dict[str, int]

    def __str__(self) -> str:
        other = f"but not for {values_text(self.not_for)}" if self.not_for else "not decided for other sizes"
        return f"holds for {values_text(self.sizes)}, as both files define it, {other}"


@dataclass(frozen=True)
class Agreement:
    """Two files compute the same: the obligations proved, in which ways, under which assumptions."""

    obligations: int
    ways: tuple[str, ...]
    assumptions: tuple[str, ...]
    texts: tuple[ComparedTexts | None, ...] = ()
    """For each region compared by instances, the compared programs."""
    contract: str = ""
    """The contract for floating-point results, or ""."""
    only_for: OnlyFor | None = None
    """The sizes for which it holds, if not all."""
