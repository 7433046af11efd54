"""What a prover answers about an obligation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.prove.obligations.formulas import Obligation


@dataclass(frozen=True)
class Holds:
    """The formula has no integer solution."""


@dataclass(frozen=True)
class Fails:
    """These values are a solution; none are given by a prover that finds none."""

    values: dict[str, int]


@dataclass(frozen=True)
class NotDecided:
    """Neither: the budget ran out, or the prover says so."""

    reason: str


Answer: TypeAlias = Holds | Fails | NotDecided


class Prover(Protocol):
    """Decides obligations, one answer for each."""

    @property
    def name(self) -> str: ...

    def decide(self, obligations: Sequence[Obligation]) -> tuple[Answer, ...]: ...
