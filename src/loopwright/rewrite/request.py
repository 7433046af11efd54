"""What the user asks for: a file, a script, and how the result is to be written and proved."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ProverRequest:
    """Who has to agree besides isl (`cvc5` or `coq`), where the proof goes, how long it may take."""

    prover: str = "isl"
    path: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """How plans become text."""

    openmp: bool = False
    allow_reassociation: bool = False
    prove: bool = True
    prover: ProverRequest = field(default_factory=ProverRequest)


@dataclass(frozen=True)
class Request(Wishes):
    """A C file and the script for it.

    Regions no operation of the script names keep their text; without a script every region gets
    new loops that run in the author's order.
    """

    file: str
    script: str | None = None
    script_file: str = "<script>"
    pure: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    steps: bool = False
