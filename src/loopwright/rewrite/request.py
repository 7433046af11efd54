"""Requests and outcomes, as values light enough for the command line to load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING

from loopwright.errors import Illegal
from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress
from loopwright.prove.verdict import ProofStatus
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.source import Source

if TYPE_CHECKING:
    from loopwright.model.program import Program

MODEL = "the model matches the source"
RANKING = "Inv, Rank1 and Rank2 hold for the source, by cvc5"
KEPT = "every dependence is preserved"
STORAGE = "with the new storage every read sees the same value, and live-out values are there"
LOOPS = "the loops execute the schedule"
TEXT = "the new source executes the schedule, statement by statement"
KERNELS = "launches, blocks, phases and threads keep the order of the source, and names keep their meaning"
SCOPES = "variables are declared where their values are needed"
MARKED = "marked loops have independent iterations"
INHERITED = "the new source executes the schedule, and its distributed loops stay independent"
"""The proofs made for every region, as far as each applies."""


@dataclass(frozen=True)
class ProverRequest:
    """The prover that must agree besides isl (`cvc5` or `coq`), the path of the proof, the time limit."""

    prover: str = "isl"
    path: str | None = None
    seconds: float | None = None


class TargetName(Enum):
    """The target of new source: C, which refuses mapped loops, or a GPU, where they become kernels."""

    C = "c"
    CUDA = "cuda"


@dataclass(frozen=True, kw_only=True)
class RewriteOptions:
    """Options for printing plans."""

    target: TargetName = TargetName.C
    openmp: bool = False
    allow_reassociation: bool = False
    guard: bool = False
    """Remaining assumptions are tested at run time; if one fails, the original loops run."""
    prove: bool = True
    prover: ProverRequest = field(default_factory=ProverRequest)


@dataclass(frozen=True)
class Request(RewriteOptions):
    """A C file and the script for it.

    Regions that no operation of the script names keep their source; without a script every region gets
    new loops that run in the author's order.
    """

    file: str
    script: str | None = None
    script_file: str = "<script>"
    reading: ReadOptions = AS_MARKED
    steps: bool = False
    directives: bool = False
    """The OpenMP directives at the loops of the file are the script."""

    def programs(self) -> tuple[Program, ...]:
        """The regions of the file."""
        from loopwright.read.c.reader import read_c  # what reads C takes time to load

        return read_c(self.file, self.reading)

    def known_numbers(self) -> str:
        """The sizes of the regions with known values in the file: `n = 3, m = 4 or 5`."""
        known = {one.text: one.known for program in self.programs() for one in program.parameters}
        return ", ".join(f"{name} = {' or '.join(map(str, own))}" for name, own in known.items() if own)


@dataclass(frozen=True)
class StatementReport:
    """A statement of the original; `copies` is the number of its copies in the new source."""

    name: str
    label: str | None
    line: int
    text: str
    iterators: tuple[str, ...]
    copies: int


@dataclass(frozen=True)
class LoopReport:
    """A loop of the new source, inside `depth` others; `statements` are all statements in it.

    An iteration does the work of `unrolled` iterations of directly inner loops, which are unrolled.
    """

    iterator: str
    depth: int
    parallel: bool
    vector: bool
    unrolled: int
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Proof:
    """A theorem that was proved, for all parameters."""

    what: str
    obligations: int


@dataclass(frozen=True)
class AssumptionReport:
    """An assumption of the region, and its status: proved, guarded or assumed."""

    kind: str
    text: str
    standing: str


@dataclass(frozen=True)
class RegionReport:
    """The results for one region; a `kept` one has its old source."""

    line: int
    statements: tuple[StatementReport, ...]
    loops: tuple[LoopReport, ...]
    proofs: tuple[Proof, ...]
    assumptions: tuple[str, ...]
    """What is left to believe."""
    kept: bool = False
    proof: ProofStatus | None = None
    """The prover responsible for the proof; None if there is none."""
    tried: tuple[AssumptionReport, ...] = ()
    """All assumptions that were tried, including proved ones."""
    contract: str = ""
    """The floating-point contract, if there are floating-point numbers."""


@dataclass(frozen=True)
class Outcome:
    """The new source, and the results about it; `steps` are the regions after each operation."""

    source: Source
    regions: tuple[RegionReport, ...]
    steps: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    """The messages of provers other than isl."""
    notes: tuple[str, ...] = ()
    """Requests that the source could not express."""
    kernels: Source | None = None
    """The source of the kernels that `source` launches."""

    @property
    def left(self) -> int:
        """The number of remaining assumptions."""
        return sum(len(region.assumptions) for region in self.regions)


def for_all_or_known_sizes(
    request: Request, run: Callable[[Request, Progress], Outcome], progress: Progress
) -> Outcome:
    """Retry an illegal script for the sizes known in the file.

    If it fails there with the same instances, the smallest sizes are the example.
    """
    try:
        return run(request, progress)
    except Illegal as illegal:
        numbers, error = request.known_numbers(), illegal
        if not numbers or request.reading.at_numbers:
            raise
    progress("asking again, for the numbers of the file")
    try:
        found = run(replace(request, reading=replace(request.reading, at_numbers=True)), progress)
    except Illegal as other:
        raise error if _violating(error) == _violating(other) else other from None
    return replace(found, notes=(f"proved for {numbers}, as in the file", *found.notes))


def _violating(error: Illegal) -> list[tuple[object, ...]]:
    """The instances of an error, without the sizes."""
    violations = (error.diagnostic.details or {}).get("violations", ())
    return [
        (one["kind"], one["array"], one["cell"], *((end["statement"], end["instance"]) for end in ends))
        for one in violations
        for ends in [(one["first"], one["second"])]
    ]
