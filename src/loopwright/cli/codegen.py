"""`loopwright codegen FILE`: loops from a polyhedral description, proved before they are printed."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loopwright.cli.diagnostics import as_json, exit_code, show, verdict_word
from loopwright.cli.outcome import failures_named, placed, write_out
from loopwright.cli.progress import progress_line
from loopwright.cli.prover import (
    add_prover_options,
    answers,
    code_path,
    proof_path,
    prover_request,
    report,
)
from loopwright.errors import REPORT, BadInput, Code, GaveUp, Illegal, LoopwrightError
from loopwright.progress import Progress
from loopwright.source import Span

if TYPE_CHECKING:
    from loopwright.generate.context import Options
    from loopwright.loops.nodes import Node
    from loopwright.model.schedule import Schedule
    from loopwright.prove.verdict import Verdict

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Job:
    """What the user asked for."""

    file: str
    arguments: argparse.Namespace
    prove: bool
    standalone: bool
    openmp: bool


@dataclass(frozen=True)
class Stats:
    """What `--stats` prints; the time to prove is None where nothing was."""

    loops: int
    ifs: int
    statements: int
    generate_s: float
    prove_s: float | None
    obligations: int | None


@dataclass(frozen=True)
class Outcome:
    code: str
    stats: Stats
    remarks: tuple[str, ...] = ()
    """What provers other than isl said."""


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "codegen",
        help="write the loops that run a schedule",
        description="Write the loops that run every instance of a schedule once, in order. "
        "Nothing is printed that was not proved, unless --no-prove says so.",
    )
    parser.set_defaults(run=codegen)
    parser.add_argument("file", metavar="FILE", help="a .poly, .in, .st, .cloog or .scop file")
    _add_generator_options(parser.add_argument_group("the generator"))
    _add_output_options(parser.add_argument_group("what is printed"))
    limits = parser.add_argument_group("limits (exit status 3)")
    limits.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="give up after so long")
    limits.add_argument("--max-statements", type=_positive, metavar="N", help="most statement copies")
    limits.add_argument("--max-unroll", type=_positive, metavar="N", help="most copies of an unrolled loop")


def _add_generator_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    loop_types = ("default", "separate", "atomic", "unroll")
    add("--loop-type", choices=loop_types, default="default", help="of dimensions that name none themselves")
    add("--separate-from", type=_natural, metavar="N", help="separate at depth N and deeper only")
    add("--separate-depth", type=_natural, metavar="N", help="stop separating at depth N: bounds code size")
    add("--upper-bound", choices=("single", "conjunction"), default="single", help="min, or && in the test")
    add("--no-nested-bounds", action="store_true", help="keep conditions that inner loops enforce anyway")
    add("--split-bounds", action="store_true", help="remove min and max from bounds by splitting loops")
    add("--dead-loops", action="store_true", help="separate a second time, so that no loop is empty")


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-o", "--output", metavar="PATH", help="write there instead of to standard output")
    add("--standalone", action="store_true", help="a file that compiles alone, helper macros included")
    add("--openmp", action="store_true", help="an OpenMP pragma in front of each outermost parallel loop")
    add("--json", action="store_true", help="code, verdict, figures and diagnostics as JSON")
    add("--no-prove", action="store_true", help="print the program without a proof")
    add_prover_options(add)
    add("--stats", action="store_true", help="size and times, to standard error")


def _natural(text: str) -> int:
    return _number(text, int, 0)


def _positive(text: str) -> int:
    return _number(text, int, 1)


def _seconds(text: str) -> float:
    return _number(text, float, 0.001)


def _number(text: str, kind: Callable[[str], N], least: float) -> N:
    """The number an option is given, at least `least`."""
    try:
        number = kind(text)
    except ValueError:
        number = kind("-1")
    if not least <= number < 1e12:
        what = "a whole number" if kind is int else "a number"
        raise argparse.ArgumentTypeError(f"'{text}' is not {what} from {least} on")
    return number


def codegen(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    file = arguments.file
    job = Job(file, arguments, not arguments.no_prove, arguments.standalone, arguments.openmp)
    try:
        outcome = failures_named(lambda: _run(job, arguments.timeout))
        text = _json(job, outcome) if arguments.json else outcome.code
        failures_named(lambda: _write(text, code_path(arguments)))
    except LoopwrightError as error:
        return _fail(placed(error, file), file, arguments.json)
    report(outcome.remarks)
    if arguments.stats:
        _print_stats(outcome.stats)
    return 0


def _options(arguments: argparse.Namespace) -> Options:
    from loopwright.generate.context import Options
    from loopwright.model.schedule import LoopType

    limits = {"separate_from": arguments.separate_from, "max_unroll": arguments.max_unroll}
    return Options(
        loop_type=LoopType(arguments.loop_type),
        separate_depth=arguments.separate_depth,
        single_upper_bound=arguments.upper_bound == "single",
        nested_bounds=not arguments.no_nested_bounds,
        split_bounds=arguments.split_bounds,
        dead_loops=arguments.dead_loops,
        max_statements=arguments.max_statements,
        **{name: value for name, value in limits.items() if value is not None},
    )


def _run(job: Job, timeout: float | None) -> Outcome:
    prover_request(job.arguments)
    with progress_line(sys.stderr) as progress:
        if timeout is None:
            return _work(job, progress)
        from loopwright.run.supervise import within

        return within(timeout, lambda progress: failures_named(lambda: _work(job, progress)), progress)


def _work(job: Job, progress: Progress) -> Outcome:
    """Read, generate, prove, print; `say` hears what is being done."""
    progress(f"reading {job.file}")
    from loopwright.read.schedules import read_schedule

    schedule = read_schedule(job.file)
    progress("generating loops")
    from loopwright.generate.program import generate
    from loopwright.loops.measure import size
    from loopwright.prove.scanning.scan import prove_scan

    start = time.perf_counter()
    node = generate(schedule, _options(job.arguments))
    generated = time.perf_counter()
    obligations = None
    if job.prove:
        progress("proving the loops right")
        obligations = _proved(prove_scan(schedule, node))
    proved = time.perf_counter()
    progress("printing the program")
    code = _text(job, schedule, node)
    remarks = _other_prover(job, schedule, node, progress) if job.prove else ()
    counts = size(node)
    times = generated - start, proved - generated if job.prove else None
    return Outcome(code, Stats(counts.loops, counts.ifs, counts.calls, *times, obligations), remarks)


def _text(job: Job, schedule: Schedule, node: Node) -> str:
    """The loops; where the description has the texts of its statements, with them."""
    from loopwright.emit.c import to_c

    if job.file.endswith(".scop") and not job.standalone:
        from loopwright.emit.region import described_text
        from loopwright.read.openscop import read_openscop

        return described_text(node, read_openscop(job.file), openmp=job.openmp)
    return to_c(node, standalone=job.standalone, parameters=_parameters(schedule), openmp=job.openmp)


def _other_prover(job: Job, schedule: Schedule, node: Node, progress: Progress) -> tuple[str, ...]:
    """What the prover that was asked for says, if it is not isl."""
    arguments = job.arguments
    match arguments.prover:
        case "cvc5":
            from loopwright.prove.obligations.scanning import scanning_obligations
            from loopwright.rewrite.opinions import second_opinion

            return (second_opinion(scanning_obligations(schedule, node), arguments.prover_timeout, progress),)
        case "coq":
            from loopwright.prove.coq.program_file import program_file
            from loopwright.rewrite.opinions import coq_proof

            progress("writing the proof")
            text = program_file(schedule, node, f"Loops for {Path(job.file).name}")
            return coq_proof((text,), proof_path(arguments), arguments.prover_timeout, progress)
        case _:
            return ()


def _proved(verdict: Verdict) -> int:
    """The number of obligations that hold, where all do."""
    from loopwright.prove.verdict import Proved, Refuted, Undecided

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


def _parameters(schedule: Schedule) -> tuple[str, ...]:
    """The parameters in the order of the description: the context's, then others of the domain."""
    from loopwright.presburger.named import parameter_names

    return parameter_names(schedule.context.get_space().align_params(schedule.domain.get_space()))


def _json(job: Job, outcome: Outcome) -> str:
    verdict = "proved" if job.prove else "not proved"
    provers = answers(job.arguments.prover, outcome.remarks)
    return _dump(job.file, verdict, outcome.code, asdict(outcome.stats), [], provers)


def _dump(
    file: str,
    verdict: str,
    code: str | None,
    stats: dict[str, Any] | None,
    diagnostics: list[Any],
    provers: Sequence[Mapping[str, str]] = (),
) -> str:
    found = {
        "file": file,
        "verdict": verdict,
        "code": code,
        "stats": stats,
        "provers": list(provers),
        "diagnostics": diagnostics,
    }
    return json.dumps(found, indent=2) + "\n"


def _write(text: str, output: str | None) -> None:
    if output is None:
        write_out(text)
        return
    try:
        Path(output).write_text(text)
    except OSError as error:
        raise BadInput(
            Code.FILE, f"cannot be written: {error.strerror}", span=Span.start_of(output)
        ) from None


def _fail(error: LoopwrightError, file: str, json_output: bool) -> int:
    if json_output:
        write_out(_dump(file, verdict_word(error), None, None, [as_json(error, file)]))
    show(error, sys.stderr, file)
    return exit_code(error)


def _print_stats(stats: Stats) -> None:
    parts = [
        f"{stats.loops} loops, {stats.ifs} ifs, {stats.statements} statement copies",
        f"generated in {stats.generate_s * 1000:.1f} ms",
    ]
    if stats.prove_s is not None:
        parts.append(f"proved in {stats.prove_s * 1000:.1f} ms ({stats.obligations} obligations)")
    print("; ".join(parts), file=sys.stderr)
