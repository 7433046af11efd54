"""`loopwright codegen FILE`: loops from a polyhedral description, proved before they are printed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopwright.cli.diagnostics import REPORT, as_json, exit_code, show, verdict_word
from loopwright.cli.outcome import failures_named, placed
from loopwright.errors import BadInput, GaveUp, Illegal, LoopwrightError, Span

if TYPE_CHECKING:
    from loopwright.generate.options import Options
    from loopwright.model.schedule import Schedule
    from loopwright.prove.verdict import Verdict


class LoopTypeName(StrEnum):
    default = "default"
    separate = "separate"
    atomic = "atomic"
    unroll = "unroll"


class UpperBound(StrEnum):
    single = "single"
    conjunction = "conjunction"


@dataclass(frozen=True)
class Job:
    """What the user asked for."""

    file: str
    options: Callable[[], Options]
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


def codegen(
    file: Annotated[str, typer.Argument(help="A .poly, .in, .st or .cloog file.", show_default=False)],
    loop_type: Annotated[
        LoopTypeName, typer.Option(help="How dimensions that do not say so themselves become loops.")
    ] = LoopTypeName.default,
    separate_from: Annotated[int, typer.Option(min=0, help="Separate only at this depth and deeper.")] = 0,
    separate_depth: Annotated[
        int | None, typer.Option(min=0, help="Stop separating at this depth, which bounds code size.")
    ] = None,
    upper_bound: Annotated[
        UpperBound, typer.Option(help="One upper bound with min, or a conjunction of comparisons.")
    ] = UpperBound.single,
    nested_bounds: Annotated[
        bool, typer.Option(help="Drop conditions that inner loops enforce anyway.")
    ] = True,
    split_bounds: Annotated[
        bool, typer.Option("--split-bounds", help="Remove min and max from bounds by splitting loops.")
    ] = False,
    dead_loops: Annotated[
        bool, typer.Option("--dead-loops", help="Separate a second time, so that no loop is empty.")
    ] = False,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="Print a file that compiles alone, helper macros included.")
    ] = False,
    openmp: Annotated[
        bool, typer.Option("--openmp", help="Print an OpenMP pragma in front of parallel loops.")
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove/--no-prove", help="Prove the program before printing it.")
    ] = True,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print code, verdict, figures and diagnostics as JSON.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Print size and times to standard error.")] = False,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Give up after so many seconds.", show_default=False)
    ] = None,
    max_statements: Annotated[
        int | None, typer.Option(min=1, help="Give up beyond so many statement copies.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write there instead of to standard output.")
    ] = None,
) -> None:
    """Write the loops that run every instance of a schedule once, in order.

    Nothing is printed that was not proved, unless --no-prove says so.
    """

    def options() -> Options:
        from loopwright.generate.options import Options
        from loopwright.model.schedule import LoopType

        return Options(
            loop_type=LoopType(loop_type.value),
            separate_from=separate_from,
            separate_depth=separate_depth,
            single_upper_bound=upper_bound is UpperBound.single,
            nested_bounds=nested_bounds,
            split_bounds=split_bounds,
            dead_loops=dead_loops,
            max_statements=max_statements,
        )

    job = Job(file, options, prove, standalone, openmp)
    try:
        outcome = failures_named(lambda: _run(job, timeout))
        text = _json(job, outcome) if json_output else outcome.code
        failures_named(lambda: _write(text, output))
    except LoopwrightError as error:
        _fail(placed(error, file), file, json_output)
    else:
        if stats:
            _print_stats(outcome.stats)


def _run(job: Job, timeout: float | None) -> Outcome:
    if timeout is None:
        return _work(job, lambda doing: None)
    from loopwright.cli.supervise import within

    return within(timeout, lambda say: failures_named(lambda: _work(job, say)))


def _work(job: Job, say: Callable[[str], None]) -> Outcome:
    """Read, generate, prove, print; `say` hears what is being done."""
    say(f"reading {job.file}")
    from loopwright.emit.c import to_c
    from loopwright.generate import generate
    from loopwright.loops.measure import size
    from loopwright.read import read_schedule

    schedule = read_schedule(job.file)
    say("generating loops")
    start = time.perf_counter()
    node = generate(schedule, job.options())
    generated = time.perf_counter()
    obligations = None
    if job.prove:
        say("proving the loops right")
        from loopwright.prove.scanning import prove_scan

        obligations = _proved(prove_scan(schedule, node))
    proved = time.perf_counter()
    say("printing the program")
    code = to_c(node, standalone=job.standalone, parameters=_parameters(schedule), openmp=job.openmp)
    counts = size(node)
    times = generated - start, proved - generated if job.prove else None
    return Outcome(code, Stats(counts.loops, counts.ifs, counts.calls, *times, obligations))


def _proved(verdict: Verdict) -> int:
    """The number of obligations that hold, where all do."""
    from loopwright.prove.verdict import Proved, Refuted, Undecided

    match verdict:
        case Proved(obligations):
            return obligations
        case Refuted():
            raise Illegal(
                f"the generated program is wrong: {verdict.message}",
                witness=verdict.witness,
                hint=f"this is a bug in Loopwright, and nothing was printed; {REPORT}",
            )
        case Undecided(reason):
            raise GaveUp(
                f"the generated program could not be proved: {reason}",
                hint="nothing was printed; --no-prove prints the program without a proof",
            )


def _parameters(schedule: Schedule) -> tuple[str, ...]:
    """The parameters in the order of the description: the context's, then others of the domain."""
    import islpy as isl

    space = schedule.context.get_space().align_params(schedule.domain.get_space())
    count = space.dim(isl.dim_type.param)
    return tuple(str(space.get_dim_name(isl.dim_type.param, k)) for k in range(count))


def _json(job: Job, outcome: Outcome) -> str:
    verdict = "proved" if job.prove else "not proved"
    return _dump(job.file, verdict, outcome.code, asdict(outcome.stats), [])


def _dump(
    file: str, verdict: str, code: str | None, stats: dict[str, Any] | None, diagnostics: list[Any]
) -> str:
    found = {"file": file, "verdict": verdict, "code": code, "stats": stats, "diagnostics": diagnostics}
    return json.dumps(found, indent=2) + "\n"


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", span=Span(str(output), 1, 1)) from None


def _fail(error: LoopwrightError, file: str, json_output: bool) -> None:
    if json_output:
        sys.stdout.write(_dump(file, verdict_word(error), None, None, [as_json(error, file)]))
    show(error, sys.stderr, file)
    raise typer.Exit(exit_code(error))


def _print_stats(stats: Stats) -> None:
    parts = [
        f"{stats.loops} loops, {stats.ifs} ifs, {stats.statements} statement copies",
        f"generated in {stats.generate_s * 1000:.1f} ms",
    ]
    if stats.prove_s is not None:
        parts.append(f"proved in {stats.prove_s * 1000:.1f} ms ({stats.obligations} obligations)")
    print("; ".join(parts), file=sys.stderr)
