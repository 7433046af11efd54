"""Generates loops from a description of a schedule, and proves them before printing; used by `codegen`."""

from __future__ import annotations

import time
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.emit.c import printed_loops, to_c
from loopwright.errors import REPORT, Code, GaveUp, Illegal, about
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Node
from loopwright.loops.traverse import size
from loopwright.model.schedule import Schedule
from loopwright.presburger.named import parameter_names
from loopwright.progress import Progress
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import ProofStatus, Proved, Refuted, Undecided, Verdict
from loopwright.read.schedules import read_schedule, schedule_span
from loopwright.rewrite.opinions import CVC5_AGREES, FINDING, coq_proof, second_opinion
from loopwright.rewrite.request import ProverRequest

if TYPE_CHECKING:
    from loopwright.prove.certificates.status import Tries


@dataclass(frozen=True)
class GenerationRequest:
    """A description, with options to generate, print and prove its loops."""

    file: str
    options: GenerationOptions = field(default_factory=GenerationOptions)
    prove: bool = True
    standalone: bool = False
    openmp: bool = False
    prover: ProverRequest = field(default_factory=ProverRequest)
    form: str | None = None
    """The format of the description; by default the suffix of the file's name."""


@dataclass(frozen=True)
class GenerationStats:
    """The size of the program, and times; the time to prove is None if nothing was proved."""

    loops: int
    ifs: int
    statements: int
    generate_s: float
    prove_s: float | None
    obligations: int | None


@dataclass(frozen=True)
class Generated:
    """The program as source and as loops; `remarks` are the messages of provers other than isl."""

    code: str
    schedule: Schedule
    loops: Node
    stats: GenerationStats
    remarks: tuple[str, ...] = ()
    proof: ProofStatus | None = None
    """The prover responsible for the proof; None if there is none."""


def generated(request: GenerationRequest, progress: Progress) -> Generated:
    """Read, generate, prove and print; raises unless all proofs succeed."""
    progress(f"reading {request.file}")
    schedule = read_schedule(request.file, request.form)
    progress("generating loops")
    start = time.perf_counter()
    with about(lambda: schedule_span(request.file)):
        node = generate(schedule, request.options)
    made = time.perf_counter()
    obligations = None
    if request.prove:
        progress("proving the loops right")
        obligations = _proved(prove_scan(schedule, node))
    proved = time.perf_counter()
    progress("printing the program")
    with about(lambda: schedule_span(request.file)):
        code = _text(request, schedule, node)
    remarks, proof = _opinion(request, schedule, node, code, progress) if request.prove else ((), None)
    counts = size(node)
    times = made - start, proved - made if request.prove else None
    stats = GenerationStats(counts.loops, counts.ifs, counts.calls, *times, obligations)
    return Generated(code, schedule, node, stats, remarks, proof)


def _tries(request: GenerationRequest, schedule: Schedule, node: Node, code: str) -> Tries:
    """The proofs to try on the loops and, if possible, on their source."""
    from loopwright.prove.certificates.status import PrintedLoops, scan_tries

    if request.standalone or _has_texts(request):
        return scan_tries(schedule, node)
    printed = printed_loops(node, _parameters(schedule), openmp=request.openmp)
    return scan_tries(schedule, node, PrintedLoops(code, printed))


def _text(request: GenerationRequest, schedule: Schedule, node: Node) -> str:
    """The source of the loops, with the statement texts of the description, if it has them."""
    if _has_texts(request) and not request.standalone:
        from loopwright.emit.region import described_text
        from loopwright.read.openscop import read_openscop

        return described_text(node, read_openscop(request.file), openmp=request.openmp)
    parameters = _parameters(schedule)
    return to_c(node, standalone=request.standalone, parameters=parameters, openmp=request.openmp)


def _has_texts(request: GenerationRequest) -> bool:
    """Whether the description has the texts of its statements."""
    return request.form == "scop" or request.file.endswith(".scop")


def _parameters(schedule: Schedule) -> tuple[str, ...]:
    """The parameters in the order of the description: the context's, then others of the domain."""
    return parameter_names(schedule.context.get_space().align_params(schedule.domain.get_space()))


def _opinion(
    request: GenerationRequest, schedule: Schedule, node: Node, code: str, progress: Progress
) -> tuple[tuple[str, ...], ProofStatus]:
    """The message of the requested prover, if it is not isl, and the one responsible for the proof."""
    from loopwright.prove.certificates.status import about_nothing, certified, tried

    asked = request.prover
    nothing = about_nothing(schedule, asked.prover)
    match asked.prover:
        case "cvc5":
            from loopwright.prove.obligations.scanning import scanning_obligations

            said = second_opinion(scanning_obligations(schedule, node), asked.seconds, progress)
            return (said,), nothing or CVC5_AGREES
        case "coq":
            from loopwright.prove.certificates.endless import beginning
            from loopwright.prove.certificates.files import program_file
            from loopwright.prove.obligations.timetable import timetable

            progress("writing the proof")
            limit = FINDING if asked.seconds is None else asked.seconds
            found = certified(_tries(request, schedule, node, code), limit)
            title = f"Loops for {Path(request.file).name}"
            begun = beginning(schedule, node)
            run = timetable(schedule, node) if begun is None else timetable(begun.schedule, begun.program)
            text = program_file(found, run, code, title, None if begun is None else begun.last)
            return coq_proof((text,), asked.path, asked.seconds, progress), nothing or found.status
        case _:
            progress("asking the verified checker")
            return (), nothing or tried(_tries(request, schedule, node, code))


def _proved(verdict: Verdict) -> int:
    """The number of obligations, if all hold."""
    match verdict:
        case Proved(obligations):
            return obligations
        case Refuted():
            raise Illegal(
                Code.WRONG_LOOPS,
                f"the generated program is wrong: {verdict.message}",
                witness=verdict.witness,
                hint=f"this is a bug in Loopwright, and nothing was printed; {REPORT}",
            )
        case Undecided(reason):
            raise GaveUp(
                Code.UNDECIDED,
                f"the generated program could not be proved: {reason}",
                hint="nothing was printed; --no-prove prints the program without a proof",
            )
