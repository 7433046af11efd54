"""Loopwright's generator against isl's, on the same inputs, in one run.

    python -m benchmarks.codegen [FILES] [--instructions callgrind|interpreter|none] [--jobs N] [--json OUT]

Compares the time to generate, the size of the programs and what running them costs for each
statement instance, and gives the time of the proof: as ratios, with totals, the geometric mean
and the worst ten.  Times are processor time, since a machine may have other things to do.
Exit 1 if a file was not generated, not proved, or took more than 5 s.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import islpy as isl

from benchmarks.instructions import Compiled, can_count_instructions
from benchmarks.peer import peer_generate
from benchmarks.report import Row, failures, print_report
from benchmarks.running_cost import cost
from benchmarks.valuation import Range, Valuation, choose, parameters
from loopwright.errors import BadInput, Code, GaveUp, LoopwrightError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.nodes import Node
from loopwright.loops.traverse import size
from loopwright.model.schedule import Band, Leaf, LoopType, Member, Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read.schedules import read_schedule

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("LOOPWRIGHT_CORPUS", ROOT.parent / "shared" / "corpus"))
COMPILED = Range(least=1_000, most=200_000)
LIMIT_S = 30
"""A file that takes longer is given up."""
INTERPRETED = Range(least=100, most=2_000)


def measure(path: Path, name: str, repetitions: int) -> Row:
    """Both generators on one file, each timed as the best of some repetitions, and the proof."""
    row = Row(name)
    try:
        schedule = read_schedule(path)
        with at_most(LIMIT_S, "generating"):
            ours, row.generate_s = _timed(schedule, repetitions)
        started = time.process_time()
        with at_most(LIMIT_S, "proving"):
            verdict = prove_scan(schedule, ours)
        row.prove_s = time.process_time() - started
    except BadInput as refusal:
        _refused(row, path, refusal)
        return row
    except (LoopwrightError, RecursionError, isl.Error) as error:
        row.failure = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        return row
    if not isinstance(verdict, Proved):
        row.failure = f"{type(verdict).__name__}: {verdict}"[:160]
    row.ours = size(ours)
    try:
        peers, row.peer_s = peer_program(path, schedule, repetitions)
        row.peers = size(peers)
    except (isl.Error, NoPeer) as error:
        row.note = f"isl: {error}".splitlines()[0][:120]
    return row


def _refused(row: Row, path: Path, refusal: BadInput) -> None:
    """A file that is refused counts as failed, unless isl has no program for it either."""
    try:
        peer_program(path, read_schedule(path), 1)
    except isl.Error:
        row.note = f"refused, as by isl: {refusal.message}"
    except (BadInput, NoPeer):
        pass
    if not row.note:
        row.failure = f"BadInput: {refusal.message}"


@contextmanager
def at_most(seconds: int, doing: str) -> Iterator[None]:
    """Gives up what is inside after some seconds of processor time."""

    def stop(_signal: int, _frame: object) -> None:
        raise GaveUp(Code.TIME, f"{doing} took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _timed(schedule: Schedule, repetitions: int) -> tuple[Node, float]:
    best = float("inf")
    for _ in range(repetitions):
        started = time.process_time()
        node = generate(schedule, GenerationOptions())
        best = min(best, time.process_time() - started)
        if best > 1:
            break
    return node, best


class NoPeer(Exception):
    """isl's generator has no input that means the same."""


def peer_program(path: Path, schedule: Schedule, repetitions: int) -> tuple[Node, float]:
    """isl's program for the file, or for the same schedule where isl cannot read the file."""
    with TemporaryDirectory() as folder:
        if path.suffix not in (".in", ".st"):
            text = _as_flat_text(schedule)
            path = Path(folder) / "same.in"
            path.write_text(text)
        results = [peer_generate(path) for _ in range(repetitions)]
    return results[0][0], min(seconds for _, seconds in results)


def _as_flat_text(schedule: Schedule) -> str:
    """The schedule as isl's flat input, if its tree is at most one band."""
    match schedule.tree:
        case Band(schedule=times, members=members, child=Leaf()):
            executed = times.intersect_domain(schedule.domain)
            return f"{executed}\n{schedule.context}\n{_options(members)}\n"
        case Leaf():
            executed = isl.UnionMap.from_domain_and_range(schedule.domain, isl.UnionSet("{ [] }"))
            return f"{executed}\n{schedule.context}\n{{ }}\n"
        case _:
            raise NoPeer("its flat input cannot hold this schedule")


def _options(members: tuple[Member, ...]) -> str:
    times = ", ".join(f"t{k}" for k in range(len(members)))
    asked = (
        f"[{times}] -> {member.loop_type.value}[{k}]"
        for k, member in enumerate(members)
        if member.loop_type != LoopType.DEFAULT
    )
    return f"{{ {'; '.join(asked)} }}"


def run_cost(job: tuple[Path, Row, str]) -> Row:
    """Adds to the row what running the two programs costs.

    They are generated once more: isl's objects cannot be sent from process to process.
    """
    path, row, how = job
    if row.ours is None or row.peers is None or row.failure:
        return row
    schedule = read_schedule(path)
    ours, (peers, _) = generate(schedule, GenerationOptions()), peer_program(path, schedule, 1)
    try:
        if how == "callgrind":
            _count_instructions(row, schedule, ours, peers)
        else:
            _count_operations(row, schedule, ours, peers)
    except GaveUp as error:
        row.note = f"not run: {error}"
    return row


def _count_instructions(row: Row, schedule: Schedule, ours: Node, peers: Node) -> None:
    names = parameters(schedule)
    with TemporaryDirectory() as folder:
        peer = Compiled(peers, names, Path(folder), "peer")
        values = choose(schedule, lambda v: peer.executions(v, COMPILED.most), COMPILED)
        if values is None:
            row.note = "no values of the parameters give a run of moderate length"
            return
        own = Compiled(ours, names, Path(folder), "own")
        row.executions = peer.executions(values, COMPILED.most) or 0
        if own.executions(values, COMPILED.most) != row.executions:
            row.failure = f"executes {own.executions(values, COMPILED.most)} instances, isl {row.executions}"
            return
        row.values = values
        row.ours_run, row.peers_run = own.instructions(values), peer.instructions(values)


def _count_operations(row: Row, schedule: Schedule, ours: Node, peers: Node) -> None:
    def executions(values: Valuation) -> int | None:
        try:
            return cost(peers, values, limit=2 * INTERPRETED.most).executions
        except GaveUp:
            return None

    values = choose(schedule, executions, INTERPRETED)
    if values is None:
        row.note = "no values of the parameters give a run of moderate length"
        return
    own, peer = cost(ours, values, limit=100 * INTERPRETED.most), cost(peers, values)
    if own.executions != peer.executions:
        row.failure = f"executes {own.executions} instances, isl {peer.executions}"
        return
    row.values, row.executions = values, peer.executions
    row.ours_run, row.peers_run = own.operations, peer.operations


def main() -> int:
    arguments = _arguments()
    files = arguments.files or sorted(p for p in CORPUS.rglob("*") if p.suffix in (".in", ".st", ".cloog"))
    if not files:
        print(f"bench-codegen: no files given and no corpus at {CORPUS}", file=sys.stderr)
        return 2
    how = arguments.instructions or ("callgrind" if can_count_instructions() else "interpreter")
    rows = []
    for number, path in enumerate(files):
        _progress(f"generating and proving {number + 1}/{len(files)} {path.name}")
        whole = path.resolve()
        name = str(whole.relative_to(CORPUS)) if whole.is_relative_to(CORPUS) else str(path)
        rows.append(measure(path, name, arguments.repetitions))
    if how != "none":
        _progress("running the programs")
        with ProcessPoolExecutor(arguments.jobs) as pool:
            jobs = [(path, row, how) for path, row in zip(files, rows, strict=True)]
            rows = list(pool.map(run_cost, jobs, chunksize=4))
    _progress("")
    print_report(rows, how)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return 1 if failures(rows) else 0


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--instructions", choices=("callgrind", "interpreter", "none"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="OUT")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
