"""What a proof answers: yes, no with a witness, or why there is no answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Instance: TypeAlias = tuple[str, tuple[int, ...]]
"""A statement's name and the arguments of the call that is its execution."""


@dataclass(frozen=True)
class Proved:
    """All obligations hold, for every parameter value in the context."""

    obligations: int


@dataclass(frozen=True)
class Refuted:
    """One obligation fails. `witness` is an example, complete with parameter values."""

    obligation: str
    """Which: "missing", "extra", "twice", "too few", "too many", "order", "parallel", "unsaid" or
    "endless"; of a text against its model, "Inv", "Rank1" or "Rank2".
    """
    message: str
    """What is wrong, for every reader, as one sentence about the witness."""
    witness: str
    """The parameter values and the instances, as in "n = 4: S1(0, 3)"."""
    parameters: dict[str, int] = field(default_factory=dict)
    instances: tuple[Instance, ...] = ()


@dataclass(frozen=True)
class Undecided:
    """Neither proved nor wrong, as far as could be seen."""

    reason: str


Verdict: TypeAlias = Proved | Refuted | Undecided
