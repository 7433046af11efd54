"""What a proof answers: yes, no with a witness, or why there is no answer."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass

Instance: TypeAlias = tuple[str, tuple[int, ...]]
"""A statement's name and the arguments of the call that is its execution."""


ROUNDING = "bit-identical when built with -ffp-contract=off, equal up to contraction otherwise"
REORDERED = "equal up to the rounding of sums and products, which are computed in another order"
"""The contract for floating-point numbers: a compiler may fuse a product and a sum in one order of the loops
and not in another, unless it is told not to."""


def rounding(loose: str) -> str:
    """The contract where both texts round alike; `loose` is an option of the build by which none need do."""
    return f"bit-identical when built with -ffp-contract=off and without {loose}" if loose else ROUNDING


@dataclass(frozen=True)
class Proved:
    """All obligations hold, for every parameter value in the context."""

    obligations: int


@dataclass(frozen=True)
class Refuted:
    """One obligation fails. `witness` is an example, complete with parameter values."""

    obligation: str
    """Which: "missing", "extra", "twice", "too few", "too many", "order", "parallel", "unsaid",
    "endless" or "overflow"; of a text against its model, "Inv", "Rank1" or "Rank2".
    """
    message: str
    """What is wrong, for every reader, as one sentence about the witness."""
    witness: str
    """The parameter values and the instances, as in "n = 4: S1(0, 3)"."""
    parameters: dict[str, int] = field(default_factory=dict)
    instances: tuple[Instance, ...] = ()
    cell: tuple[str, tuple[int, ...]] | None = None
    """The cell that ends up with another value, where that is what is wrong."""
    inputs: tuple[tuple[str, tuple[int, ...], float], ...] = ()
    """Arrays, subscripts and what they hold at first for that cell to differ; all else that is read is 0."""


@dataclass(frozen=True)
class Undecided:
    """Neither proved nor wrong, as far as could be seen."""

    reason: str
    sizes: dict[str, int] = field(default_factory=dict, compare=False)
    """Parameter values at which something is wrong, perhaps."""
    hints: tuple[dict[str, int], ...] = field(default=(), compare=False)
    """Parameter values for which a run may show a difference."""
    unread: bool = field(default=False, compare=False)
    """Whether that is because a statement was not read: another wording may tell more."""


Verdict: TypeAlias = Proved | Refuted | Undecided


CHECKED, SEQUENTIAL, NOT_CHECKED, NOTHING = "checked", "sequential only", "not checked", "about nothing"
"""What is known of a proof.  Sequential only: of parallel loops the sequential order is checked.  About
nothing: there are no parameters, or no instances, that it could be about."""
VERIFIED = "verified checker"


@dataclass(frozen=True)
class ProofStatus:
    """Who answers for a proof (isl alone, cvc5, coq or the verified checker), and what is known of it."""

    by: str
    status: str
    detail: str = ""
    asked: bool = True
    """Whether the user wants the verified checker to be asked."""

    def line(self) -> str | None:
        """What people are told; None where there is nothing to tell beyond isl's proof."""
        who = "Coq" if self.by == "coq" else f"the {VERIFIED}"
        match self.status:
            case "checked" if self.by in (VERIFIED, "coq") and self.detail:
                return f"checked by {who} ({self.detail})"
            case "sequential only":
                return f"checked by {who}, parallel loops in sequential order only ({self.detail})"
            case "not checked" if self.asked:
                return f"not checked by the {VERIFIED}, because {self.detail}"
            case "about nothing":
                return f"this proof is about nothing: {self.detail}"
            case _:
                return None
