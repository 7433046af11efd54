"""A search on a fleet beside the same search alone: `python -m benchmarks.fleet [KERNEL or FILE.c ...]`.

The candidates of a program are found by the model, in steps instead of seconds, so that they are the same in
every run.  The best ones are tried twice: by this process, one after the other, and by local workers of Dask.
The same scripts have to be timed or refused with the same texts, the fastest ones have to be proved or not
alike, and the two winners, run in turns, may differ by 5 %.  The exit status is 1 where anything differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf
from pathlib import Path

from benchmarks.optimising import sources
from loopwright.model.dependences import memory_based
from loopwright.optimise.candidates.judging import Judge
from loopwright.optimise.candidates.nests import Script, SearchContext
from loopwright.optimise.candidates.planner import Planner
from loopwright.optimise.fleet.address import Scheduler
from loopwright.optimise.fleet.parcel import UNHURRIED, packed
from loopwright.optimise.fleet.trials import PROVING, TrialsOnFleet, assembled
from loopwright.optimise.fleet.work import Prove
from loopwright.optimise.model.machine import this_machine
from loopwright.optimise.model.sizes import sizes_of
from loopwright.optimise.timing.refining import FINALISTS
from loopwright.optimise.timing.runner import TrialRunner, with_clock
from loopwright.optimise.timing.trials import Task, Timed, Trial, Trials, in_turn
from loopwright.optimise.timing.workshop import TrialsHere, Workshop
from loopwright.read.c.reader import read_c
from loopwright.rewrite.request import Request
from loopwright.run.compiler import find_compiler
from loopwright.transform import plan_of, script_text

USUAL = ("atax", "gemver", "trisolv", "jacobi-2d")
ALIKE = 1.05
AGAIN = 2
"""How often the fastest ones are timed again."""
LONG = 3600.0


@dataclass(frozen=True)
class Tried:
    """One side: seconds by script, texts, and how long it took."""

    seconds: dict[Script, float | None]
    texts: dict[Script, str]
    took: float

    @property
    def best(self) -> list[Script]:
        timed = {script: seconds for script, seconds in self.seconds.items() if seconds is not None}
        return sorted(timed, key=lambda script: timed[script])


def main(words: list[str] | None = None) -> int:
    from distributed import LocalCluster

    arguments = _parser().parse_args(words)
    failures = 0
    with LocalCluster(
        n_workers=arguments.workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        scheduler = Scheduler(cluster.scheduler_address)
        for file in sources(arguments.programs or USUAL):
            line, is_alike = compared(file, scheduler, arguments.trials, arguments.proofs)
            failures += not is_alike
            sys.stdout.write(line)
            sys.stdout.flush()
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--workers", type=int, default=2, help="local workers, of one thread each (2)")
    parser.add_argument("--trials", type=int, default=12, help="scripts to try for each program (12)")
    parser.add_argument("--proofs", type=int, default=3, help="the fastest ones, which are proved too (3)")
    return parser


def compared(file: Path, scheduler: Scheduler, trials: int, proofs: int) -> tuple[str, bool]:
    """A line of figures, and whether both sides say the same."""
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        (program,) = read_c(file)
        plan, request = plan_of(program), Request(file=str(file), script_file="<optimised>")
        runner = TrialRunner(file, Path(folder), compiler, ())
        shop = Workshop((plan,), request, with_clock(runner, program.source.text), wall=UNHURRIED)
        here = TrialsHere(shop)
        there = TrialsOnFleet(assembled(scheduler, compiler), packed(program.source, request, shop.runner))
        scripts = candidates(shop, trials)
        alone, spread = tried(here, scripts, here.texts), tried(there, scripts, there.texts)
        same = alone.seconds.keys() == spread.seconds.keys() and alone.texts == spread.texts
        refused = [script for script in scripts if alone.seconds[script] is None]
        proved = [
            (shop.is_proved(script, PROVING), there.answer(Prove(script, PROVING)))
            for script in alone.best[:proofs]
        ]
        ratio = _ratio(shop, alone, spread)
    is_alike = same and all(ours == theirs for ours, theirs in proved) and ratio < ALIKE
    agreed = sum(ours == theirs for ours, theirs in proved)
    words = f"{len(scripts)} trials {'the same' if same else 'NOT THE SAME'}, {len(refused)} without a time"
    words += f", {agreed} of {len(proved)} proofs alike, winner {ratio:.3f} of the one found alone"
    return f"{file.stem:12} {words}; {alone.took:.1f} s alone, {spread.took:.1f} s spread\n", is_alike


def candidates(shop: Workshop, count: int) -> list[Script]:
    """The first ones that a search would try, found in a number of steps."""
    (plan,) = shop.plans
    setting = SearchContext(
        plan, this_machine(), sizes_of(plan.original, ()), tuple(memory_based(plan.original))
    )
    ticks = iter(range(10**6))
    judge = Judge(plan, setting, 6 * count, clock=lambda: next(ticks))
    found = [Trial(one.script, one.total, one.origin) for one in Planner(judge).ranked()]
    return [one.script for one in islice(in_turn(found, {}), count)]


def tried(trials: Trials, scripts: Sequence[Script], texts: dict[Script, str]) -> Tried:
    """The fastest ones once more, as in a search; no run is stopped early, however busy the machine is."""
    begun = time.monotonic()
    limit = 20 * trials.original(inf)
    seconds: dict[Script, float | None] = {}
    for again in (False, *[True] * AGAIN):
        chosen = Tried(seconds, texts, 0.0).best[:FINALISTS] if again else scripts
        tasks = (Task(script, limit, again) for script in chosen)
        for one in trials.outcomes(tasks, begun + LONG):
            if isinstance(one, Timed):
                known = seconds.get(one.script)
                times = [each for each in (known, one.seconds) if each is not None]
                seconds[one.script] = min(times, default=None)
    return Tried(seconds, texts, time.monotonic() - begun)


def _ratio(shop: Workshop, alone: Tried, spread: Tried) -> float:
    """Seconds of the winner found on the fleet over those of the one found alone, both run here in turns."""
    texts = [alone.texts[alone.best[0]], spread.texts[spread.best[0]]]
    if texts[0] == texts[1]:
        return 1.0
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(5):
        for found, text in zip(seconds, texts, strict=True):
            found.append(shop.seconds(text, LONG, again=True))
    sys.stderr.write(f"alone: {script_text(alone.best[0])}spread: {script_text(spread.best[0])}")
    return min(seconds[1]) / min(seconds[0])


if __name__ == "__main__":
    sys.exit(main())
