"""What comparing two programs answers, and what the answer rests on."""

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
    """The answer, and what it rests on; `notes` explain a no, where that is possible."""

    verdict: Verdict
    notes: tuple[Note, ...] = ()
    trusted: tuple[str, ...] = ()
    way: str = ""
    """How it was proved: "along its loops", "by instances" or "by values"."""
    texts: ComparedTexts | None = None
    """By instances: what was compared."""


@dataclass(frozen=True)
class OnlyFor:
    """The sizes that both files define, where not all are proved; and some for which it is wrong."""

    sizes: dict[str, int]
    not_for: dict[str, int]

    def __str__(self) -> str:
        other = f"but not for {values_text(self.not_for)}" if self.not_for else "not decided for other sizes"
        return f"holds for {values_text(self.sizes)}, as both files define it, {other}"


@dataclass(frozen=True)
class Agreement:
    """Two files compute the same: how much was proved, in which ways, and what it rests on."""

    obligations: int
    ways: tuple[str, ...]
    assumptions: tuple[str, ...]
    texts: tuple[ComparedTexts | None, ...] = ()
    """Of each region that was compared by instances, what was compared."""
    contract: str = ""
    """What is said of floating-point numbers, where there are some."""
    only_for: OnlyFor | None = None
    """Where it does not hold for all sizes."""
