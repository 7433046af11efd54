"""The answers of a proof: yes, no with a witness, or why there is no answer."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass

Instance: TypeAlias = tuple[str, tuple[int, ...]]
"""A statement's name and the arguments of the call that executes it."""


ROUNDING = "bit-identical when built with -ffp-contract=off, equal up to contraction otherwise"
REORDERED = "equal up to the rounding of sums and products, which are computed in another order"
"""The contract for floating-point numbers: a compiler may fuse a product and a sum in one order of the loops
and not in another, unless an option forbids that."""


def rounding(loose: str) -> str:
    """The contract if both sources round alike; `loose` is a build option that permits other rounding."""
    return f"bit-identical when built with -ffp-contract=off and without {loose}" if loose else ROUNDING


@dataclass(frozen=True)
class Proved:
    """All obligations hold, for every parameter value in the context."""

    obligations: int


@dataclass(frozen=True)
class Refuted:
    """One obligation fails. `witness` is an example with all parameter values."""

    obligation: str
    """Which: "missing", "extra", "twice", "too few", "too many", "order", "parallel", "unsaid",
    "endless" or "overflow"; of a source against its model, "Inv", "Rank1" or "Rank2".
    """
    message: str
    """What is wrong, for users, as one sentence about the witness."""
    witness: str
    """The parameter values and the instances, as in "n = 4: S1(0, 3)"."""
    parameters: dict[str, int] = field(default_factory=dict)
    instances: tuple[Instance, ...] = ()
    cell: tuple[str, tuple[int, ...]] | None = None
    """The cell that ends up with another value, if that is what is wrong."""
    inputs: tuple[tuple[str, tuple[int, ...], float], ...] = ()
    """Arrays, subscripts and initial values for which that cell differs; all else that is read is 0."""


@dataclass(frozen=True)
class Undecided:
    """Neither proved nor refuted."""

    reason: str
    sizes: dict[str, int] = field(default_factory=dict, compare=False)
    """Parameter values at which something may be wrong."""
    hints: tuple[dict[str, int], ...] = field(default=(), compare=False)
    """Parameter values for which a run may show a difference."""
    unread: bool = field(default=False, compare=False)
    """Whether the reason is that a statement could not be read: another form of the source may help."""


Verdict: TypeAlias = Proved | Refuted | Undecided


CHECKED, SEQUENTIAL, NOT_CHECKED, NOTHING = "checked", "sequential only", "not checked", "about nothing"
"""The status of a proof.  Sequential only: parallel loops are checked in sequential order.  About nothing:
there are no parameter values, or no instances, that it could be about."""
VERIFIED = "verified checker"


@dataclass(frozen=True)
class ProofStatus:
    """What confirmed a proof (isl alone, cvc5, coq or the verified checker), and its status."""

    by: str
    status: str
    detail: str = ""
    asked: bool = True
    """Whether the user wants the verified checker to be asked."""

    def line(self) -> str | None:
        """The line for users; None if there is nothing to report beyond isl's proof."""
        who = "Coq" if self.by == "coq" else f"the {VERIFIED}"
        match self.status:
            case "checked" if self.by in (VERIFIED, "coq") and self.detail:
                return f"checked by {who} ({self.detail})"
            case "sequential only":
                return f"checked by {who}, parallel loops in sequential order only ({self.detail})"
            case "not checked" if self.asked:
                return f"not checked by the {VERIFIED}, because {self.detail}"
            case "about nothing":
                return f"this proof is vacuous: {self.detail}"
            case _:
                return None
