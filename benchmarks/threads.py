"""What `loopwright optimise --threads 2` finds, and what keeps it from twice the speed: `make bench-threads`.

    python -m benchmarks.threads [KERNEL ...] [--budget S] [--limit S] [--json FILE] [--scripts FOLDER]

Each search begins with the best script for one thread that is known: that in benchmarks/found, or the shipped
one.  The text that it finds then runs in turns, on the first two cores that the process may use, with Pluto's
parallel text (../shared/peers) beside it:

    found, pluto   times as fast on two threads as gcc -O3 -march=native makes the original
    itself         the text on two threads over the same text on one
    limit          what two cores can do: 2 * seconds of the text on one thread / seconds of two copies of it
                   that run side by side.  Threads can be above it only where they share what copies do not
    share          itself / limit
    busy           the part of the time that threads compute: less is work that is not even, or waits
    slower         processor time of two threads over that of one: more is data that each fetches for itself
    alone          the text on two threads over the script for one thread on one

With --scripts nothing is searched: the scripts FOLDER/KERNEL.lw are timed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.optimising import PEERS, sources
from loopwright.errors import BadInput, LoopwrightError
from loopwright.optimise.optimising import Search, optimise
from loopwright.optimise.timing.runner import TrialRunner
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.benchmark import PROCESSOR_TIME
from loopwright.run.compiler import FAST, find_compiler
from loopwright.run.timing import geometric_mean
from loopwright.transform.script.steps import parse_script

COLUMNS = ("found", "pluto", "itself", "limit", "share", "busy", "slower", "alone")
MOST_ROUNDS, LONG = 12, 8.0
"""Programs run so many times, or for so many seconds."""

THREADS = 2
FOUND = Path(__file__).parent / "found"


@dataclass(frozen=True)
class Shared:
    """One kernel: ratios by column, the shortest seconds of each version, the script; or a failure."""

    kernel: str
    ratios: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    script: str = ""
    failure: str = ""


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each search (60)")
    parser.add_argument("--limit", type=float, default=36000.0, help="seconds after which nothing is begun")
    parser.add_argument("--scripts", type=Path, metavar="FOLDER", help="time these, and search nothing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write times and scripts to this file")
    given = parser.parse_args(words)
    cores = sorted(os.sched_getaffinity(0))[:THREADS]
    if len(cores) < THREADS:
        raise SystemExit("two threads need two cores")
    begun, rows = time.monotonic(), []
    sys.stdout.write(f"{'kernel':16}" + "".join(f"{name:>9}" for name in COLUMNS) + "\n")
    for file in sources(given.kernels):
        if time.monotonic() - begun > given.limit:
            break
        if file.with_suffix(".lw").is_file():
            rows.append(measured(file, given.budget, given.scripts, cores))
            sys.stdout.write(_line(rows[-1]))
            sys.stdout.flush()
            if given.json is not None:
                given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    sys.stdout.write(_summary([row for row in rows if row.ratios]))
    return 0


def _line(row: Shared) -> str:
    if row.failure:
        return f"{row.kernel:16} {row.failure}\n"
    return f"{row.kernel:16}" + "".join(f"{row.ratios.get(name, math.nan):9.2f}" for name in COLUMNS) + "\n"


def _summary(rows: Sequence[Shared]) -> str:
    known = {name: [row.ratios[name] for row in rows if name in row.ratios] for name in COLUMNS}
    means = (f"{geometric_mean(known[name]):9.2f}" if known[name] else f"{'-':>9}" for name in COLUMNS)
    both = [row for row in rows if "pluto" in row.ratios]
    ahead = sum(row.ratios["found"] > row.ratios["pluto"] for row in both)
    text = f"{'geometric mean':16}{''.join(means)}\n"
    return f"{text}found is ahead of Pluto's parallel text on {ahead} of {len(both)}\n"


def measured(file: Path, budget: float, scripts: Path | None, cores: Sequence[int]) -> Shared:
    """One kernel: the search first, then all versions in turns."""
    known = FOUND / f"{file.stem}.lw"
    start = known if known.is_file() else file.with_suffix(".lw")
    original, begun = file.read_text(), start.read_text()
    try:
        with tempfile.TemporaryDirectory(prefix="loopwright-") as name:
            runner = TrialRunner(file, Path(name), find_compiler(), (), threads=THREADS)
            alone = transformed(Request(file=str(file), script=begun, prove=False), silent).source.text
            if scripts is None:
                request = Request(file=str(file), script_file="<optimised>", openmp=True)
                search = Search(budget=budget, threads=THREADS, start=parse_script(begun, str(start)))
                found = optimise(request, runner, search, silent)
                text, script = original if found.outcome is None else found.outcome.source.text, found.script
            else:
                script = (scripts / f"{file.stem}.lw").read_text()
                made = Request(file=str(file), script=script, openmp=True, prove=False)
                text = transformed(made, silent).source.text
            seconds = _in_turns(_programs(runner, original, alone, text), cores)
            return Shared(file.stem, _ratios(seconds), seconds, script)
    except (LoopwrightError, OSError) as failure:
        return Shared(file.stem, failure=str(failure).splitlines()[0])


def _programs(runner: TrialRunner, original: str, alone: str, text: str) -> dict[str, Path]:
    """The original, the script for one thread, what was found, also by the processor's clock, Pluto's."""
    found = {
        "gcc": runner.program(original, "gcc"),
        "alone": runner.program(alone, "alone"),
        "two": runner.program(text, "two"),
        "processor": runner.program(text, "processor", (*FAST, PROCESSOR_TIME)),
    }
    peer = PEERS / "pluto" / f"{runner.source.stem}.par.c"
    try:
        return {**found, "pluto": runner.program(peer.read_text(), "pluto")} if peer.is_file() else found
    except BadInput as failure:
        sys.stderr.write(f"{runner.source.stem}: Pluto's text is left out: {failure}\n")
        return found


def _in_turns(programs: dict[str, Path], cores: Sequence[int]) -> dict[str, float]:
    """The shortest seconds of each version; "one" and "pair" are the text that was found, on one thread."""
    begun, least = time.monotonic(), dict[str, float]()

    def keep(name: str, *running: subprocess.Popen[str]) -> None:
        least[name] = min(least.get(name, math.inf), max(map(_seconds, running)))

    for turn in range(MOST_ROUNDS):
        if turn > 1 and time.monotonic() - begun > LONG:
            break
        keep("one", _started(programs["two"], cores[:1]))
        keep("two", _started(programs["two"], cores))
        keep("pair", *(_started(programs["two"], [core]) for core in cores))
        keep("alone", _started(programs["alone"], cores[:1]))
        keep("processor", _started(programs["processor"], cores))
        if "pluto" in programs:
            keep("pluto", _started(programs["pluto"], cores))
        if turn < 2:
            keep("gcc", _started(programs["gcc"], cores[:1]))
    return least


def _started(program: Path, cores: Sequence[int]) -> subprocess.Popen[str]:
    """The program, a thread on each core; by the processor's clock, threads that wait do not count."""
    setting = {**os.environ, "OMP_NUM_THREADS": str(len(cores))}
    if program.name == "processor":
        setting["OMP_WAIT_POLICY"] = "passive"
    command = ["taskset", "-c", ",".join(map(str, cores)), str(program), "--time"]
    return subprocess.Popen(command, env=setting, stdout=subprocess.PIPE, text=True)


def _seconds(running: subprocess.Popen[str]) -> float:
    """What a program prints; a peer's that fails takes forever."""
    output = running.communicate(timeout=120.0)[0]
    return float(output) if running.returncode == 0 and output.strip() else math.inf


def _ratios(seconds: dict[str, float]) -> dict[str, float]:
    one, two, processor = seconds["one"], seconds["two"], seconds["processor"]
    itself, limit = one / two, THREADS * one / seconds["pair"]
    found = {"found": seconds["gcc"] / two, "itself": itself, "limit": limit, "share": itself / limit}
    found |= {"busy": processor / THREADS / two, "slower": processor / one, "alone": seconds["alone"] / two}
    return found | ({"pluto": seconds["gcc"] / seconds["pluto"]} if "pluto" in seconds else {})


if __name__ == "__main__":
    sys.exit(main())
