"""Searches for the fastest script for a C file, and proves it.

    read -> candidates, ranked by the model -> the best ones compiled and timed -> the winner proved whole

During the search only legality is proved: illegal scripts are not run.  The fastest script is finally proved
as `loopwright transform` proves it; if that fails, the next one is.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.arguments import file_named
from loopwright.c.macros import refuse_unknown_sizes
from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.judging import GIVEN, Estimated, Judge
from loopwright.optimise.candidates.nests import Script, SearchContext, script_of
from loopwright.optimise.candidates.planner import LITTLE, Planner
from loopwright.optimise.candidates.reasons import Reasoned, apart, reasoned, together
from loopwright.optimise.fleet.address import Scheduler, demand_dask
from loopwright.optimise.fleet.parcel import packed
from loopwright.optimise.model.machine import Machine, MachineKind, this_machine, this_site
from loopwright.optimise.model.sizes import sizes_of
from loopwright.optimise.proving import COPIED, PATIENT, first_proved, kept_for_proofs
from loopwright.optimise.timing.driver import driver_for
from loopwright.optimise.timing.refining import Timing
from loopwright.optimise.timing.results import IN_MEMORY, Results, results
from loopwright.optimise.timing.runner import TrialRunner, has_main, may_have_main, with_clock
from loopwright.optimise.timing.trials import WORTH, Trial, Trials, ranked
from loopwright.optimise.timing.workshop import ROUNDS, TrialsHere, Workshop
from loopwright.progress import Progress, silent
from loopwright.prove.legality.reductions import ordering
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.text import load
from loopwright.rewrite.pipeline import rewritten
from loopwright.rewrite.request import Outcome, Request
from loopwright.rewrite.scripts import applied
from loopwright.run.compiler import Compiler, find_compiler
from loopwright.run.supervise import within
from loopwright.run.timing import Times
from loopwright.transform import Plan, plan_of

if TYPE_CHECKING:
    from loopwright.optimise.fleet.trials import Fleet

ESTIMATING, TIMING = 0.3, 0.65
"""The parts of the budget after which candidates are complete, and after which the last one is timed."""

ESTIMATING_SHARED, TIMING_SHARED = 0.4, 0.72
"""The same for several threads: what is best for one is found first."""

ESTIMATING_GIVEN, TIMING_GIVEN = 0.25, 0.55
"""The same with an initial script: its successors and their proofs are long."""

SURE = 0.75
"""The model's choice needs at most this part of the original's cycles: closer estimates are unreliable."""

FASTER = 0.96
"""A result that takes more than this part of the original's time, timed alternately, is rejected."""

COMPARING = 0.2
"""The part of the remaining time reserved for alternating runs at the end; without them, trials are
compared."""

OPINION, ASIDE = 3.0, 0.1
"""Seconds for the verified checker, and its largest part of the time of a proof."""

MOST_TOGETHER = 60
"""The number of scripts for a whole file that are combined from those for each region."""


@dataclass(frozen=True)
class Optimised:
    """The result; no `steps` means that nothing faster was found."""

    steps: tuple[Reasoned, ...]
    outcome: Outcome | None
    machine: Machine
    tried: tuple[Trial, ...]
    """The best estimated scripts, and all timed ones, the best first."""
    estimated: int
    illegal: int
    predicted: float
    """Cycles of the original over those of the result, by the model."""
    original: Times | None = None
    new: Times | None = None
    """The times in seconds, if programs were run."""
    is_unproved: bool = False
    """Whether there were faster scripts, but none of them was proved in the time left."""
    is_untimed: bool = False  # the original was too slow: the result is the model's

    def __repr__(self) -> str:
        if self.outcome is None:
            return f"<Optimised: nothing faster, of {len(self.tried)} scripts>"
        lines = [f"<Optimised {self.ratio:.2f} times as fast:", *(str(one.step) for one in self.steps)]
        return "\n  ".join(lines) + ">"

    @property
    def ratio(self) -> float:
        """The speedup: measured if anything was run, else by the model."""
        if self.original is None or self.new is None:
            return self.predicted
        return min(self.original.seconds) / min(self.new.seconds)

    @property
    def script(self) -> str:
        """The steps as a script, each after its reason."""
        return "".join(f"# {one.reason}\n{one.step}\n" for one in self.steps)


@dataclass(frozen=True)
class Search:
    """Options of the search: the machine, seconds, threads, sizes ("N=2000"); whether to run nothing.

    Programs are timed `on` the workers of a scheduler, or here; times are stored in the file `results`.
    """

    budget: float = 60.0
    model: bool = False
    threads: int = 1
    defines: tuple[str, ...] = ()
    machine: Machine | None = None
    on: Scheduler | None = None
    results: str = IN_MEMORY
    start: Script = ()
    """An initial script, such as one found for one thread."""

    @property
    def estimating(self) -> float:
        alone = ESTIMATING if self.threads == 1 else ESTIMATING_SHARED
        return ESTIMATING_GIVEN if self.start else alone

    @property
    def timing(self) -> float:
        alone = TIMING if self.threads == 1 else TIMING_SHARED
        return TIMING_GIVEN if self.start else alone


def optimise_file(path: str | Path, search: Search, reading: ReadOptions = AS_MARKED) -> Optimised:
    """`optimise` with gcc, for sizes that the file names."""
    refuse_unknown_sizes(load(path), [one.partition("=")[0] for one in search.defines])
    flags = (*reading.compiled.arguments, *(f"-D{one}" for one in search.defines))
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        runner = TrialRunner(Path(file_named(path)), Path(folder), find_compiler(), flags)
        reading = replace(reading, compiled=CompilerOptions(flags))
        request = Request(file=str(path), script_file="<optimised>", reading=reading)
        return optimise(request, runner, search, silent)


def optimise(request: Request, runner: TrialRunner, search: Search, progress: Progress) -> Optimised:
    """Return the fastest script for the file of `request` found within the budget.

    An interrupt ends only the search: the result is the best so far, by the model if nothing was timed yet.
    """
    fleet = None if search.on is None else _fleet(search.on, runner.compiler, progress)
    begun = time.monotonic()
    progress(f"reading {request.file}")
    programs = request.programs()
    plans = apart([plan_of(one) for one in programs])
    machine = search.machine or (this_machine() if fleet is None else fleet.machine)
    if not any(one.statements for one in programs):
        return Optimised((), None, machine, (), 0, 0, 1.0)
    until = begun + search.budget * (0.5 if search.model else search.estimating)
    planners = _planners(plans, request, search, machine, until, progress)
    found, is_interrupted = _searched(planners)
    all_found = _Found(plans, request, planners, tuple(_combined(found, plans)))
    end = begun + search.budget
    if search.model or is_interrupted:
        return _best_by_model(all_found, end, progress)
    slowest = max(one.judge.slowest for one in planners) if search.start else inf
    ends = end - kept_for_proofs(search.budget, 1 - search.timing, slowest), end
    return _best_by_time(all_found, runner, search, fleet, ends, progress)


def _fleet(scheduler: Scheduler, compiler: Compiler, progress: Progress) -> Fleet:
    """The workers of a scheduler; Dask is imported only on request."""
    demand_dask()
    from loopwright.optimise.fleet.trials import assembled

    progress(f"asking the workers of {scheduler.address}")
    return assembled(scheduler, compiler)


def _planners(
    plans: Sequence[Plan],
    request: Request,
    search: Search,
    machine: Machine,
    until: float,
    progress: Progress,
) -> list[Planner]:
    """One planner per region, with equal parts of the time."""
    now = time.monotonic()
    given = [script_of(one) for one in applied(search.start, plans).plans]
    proving = search.budget * (1.0 - (0.5 if search.model else search.timing))
    copies = PATIENT * proving > COPIED
    return [
        Planner(
            Judge(
                plan,
                _context(plan, machine, search, copies=copies),
                now + (until - now) * number / len(plans),
                progress,
                request.allow_reassociation,
                search.threads,
            ),
            alone=len(plans) == 1,
            start=given[number - 1],
        )
        for number, plan in enumerate(plans, 1)
    ]


def _context(plan: Plan, machine: Machine, search: Search, *, copies: bool) -> SearchContext:
    sizes = sizes_of(plan.original, search.defines)
    return SearchContext(plan, machine, sizes, ordering(plan.original), copies, search.threads)


def _searched(planners: Sequence[Planner]) -> tuple[list[list[Estimated]], bool]:
    """The scripts that the planners find, the cheapest first, and whether an interrupt ended the search."""
    try:
        return [planner.ranked() for planner in planners], False
    except KeyboardInterrupt:
        return [planner.judge.found() or [planner.judge.original()] for planner in planners], True


def _combined(found: Sequence[list[Estimated]], plans: Sequence[Plan]) -> list[Trial]:
    """Scripts for the whole file: each script of a region, with the best of all other regions."""
    if len(found) == 1:
        return [Trial(one.script, one.total, one.origin) for one in found[0]]
    best = [min(one, key=lambda script: script.total) for one in found]
    several = [
        ([*best[:number], one, *best[number + 1 :]], one.origin)
        for number, region in enumerate(found)
        for one in region
    ]
    several.sort(key=lambda one: sum(part.total for part in one[0]))
    combined: dict[Script, Trial] = {}
    for parts, origin in several[:MOST_TOGETHER]:
        script = together([part.script for part in parts], plans)
        if script is not None:
            combined.setdefault(script, Trial(script, sum(part.total for part in parts), origin))
    return sorted(combined.values(), key=lambda one: (not one.origin.startswith(GIVEN), one.cycles))


@dataclass(frozen=True)
class _Found:
    """The scripts found by the planners of a file's regions, the cheapest first."""

    plans: tuple[Plan, ...]
    request: Request
    planners: Sequence[Planner]
    candidates: tuple[Trial, ...]

    @property
    def machine(self) -> Machine:
        return self.planners[0].judge.setting.machine

    @property
    def cycles(self) -> float:
        """The cycles of the original."""
        return sum(planner.judge.original().total for planner in self.planners)

    def result(self, best: Trial | None, outcome: Outcome | None, tried: Iterable[Trial]) -> Optimised:
        """The result by the model, without times."""
        script = best.script if best is not None else ()
        return Optimised(
            reasoned(script, self.plans, self.machine),
            outcome,
            self.machine,
            tuple(tried),
            sum(len(planner.judge.known) for planner in self.planners),
            sum(planner.judge.refused for planner in self.planners),
            self.cycles / best.cycles if best is not None else 1.0,
        )


def _better_by_model(found: _Found) -> list[Trial]:
    """The scripts that the model clearly prefers, the cheapest first; of equally cheap ones the shortest."""
    sure = SURE * sum(planner.judge.as_compiled() for planner in found.planners)
    better = [one for one in found.candidates if one.cycles < sure]
    least = min((one.cycles for one in better), default=0.0)

    def rank(one: Trial) -> tuple[bool, int, float]:
        is_dearer = one.cycles * (1 - LITTLE) > least
        return is_dearer, 0 if is_dearer else len(one.script), one.cycles

    return sorted(better, key=rank)


def _best_by_model(found: _Found, end: float, progress: Progress) -> Optimised:
    better = _better_by_model(found)
    best, outcome = _proved(better, found, end, progress)
    result = found.result(best, outcome, found.candidates)
    return replace(result, is_unproved=outcome is None and bool(better))


def _best_by_time(
    found: _Found,
    runner: TrialRunner,
    search: Search,
    fleet: Fleet | None,
    ends: tuple[float, float],
    progress: Progress,
) -> Optimised:
    source = found.plans[0].original.source
    runner = with_clock(_with_main(found, runner, search), source.text)
    with _trials(Workshop(found.plans, found.request, runner), search, fleet) as (trials, kept):
        progress("running the original")
        try:
            seconds = trials.original(ends[0])
        except (KeyboardInterrupt, GaveUp) as why:  # or one run takes longer than all trials may
            return replace(_best_by_model(found, ends[1], progress), is_untimed=isinstance(why, GaveUp))
        judge = found.planners[0].judge if len(found.planners) == 1 else None
        timing = Timing(found.candidates, kept, seconds, ends[0], progress)
        tried = ranked([Trial((), found.cycles, "as written", seconds), *timing.run(trials, judge)])
    better = [one for one in tried if (one.seconds or 0.0) < seconds * WORTH]
    better.sort(key=lambda one: one.script in timing.doubtful)
    if not any(timing.found):  # an interrupt came, or the time was over, before a script was timed
        better = _better_by_model(found)
    kept_back = min(ROUNDS * seconds * (1 + WORTH), COMPARING * (ends[1] - time.monotonic()))
    chosen = next((one.script for one in _better_by_model(found)), ())
    best, outcome = _proved(better, found, ends[1] - kept_back, progress, chosen)
    original = new = Times((seconds,))
    is_unproved = outcome is None and bool(better)
    if outcome is not None:
        progress("comparing")
        original, new = _compared(trials, outcome, (seconds, best), ends[1])
    if min(new.seconds) > FASTER * min(original.seconds):
        best, outcome, new = None, None, original
    return replace(found.result(best, outcome, tried), original=original, new=new, is_unproved=is_unproved)


def _compared(
    trials: Trials, outcome: Outcome, known: tuple[float, Trial | None], end: float
) -> tuple[Times, Times]:
    """The times of both, run alternately; after an interrupt or without time for that, those of the
    trials."""
    seconds, best = known
    timed = seconds if best is None or best.seconds is None else best.seconds
    try:
        if (left := end - time.monotonic()) > seconds + timed or best is None or best.seconds is None:
            return trials.compared(outcome.source.text, left)
    except (KeyboardInterrupt, GaveUp):  # or a compiler that takes longer than there is time
        pass
    return Times((seconds,)), Times((timed,))


@contextmanager
def _trials(workshop: Workshop, search: Search, fleet: Fleet | None) -> Iterator[tuple[Trials, Results]]:
    """The `Trials` that time programs, and the store of times."""
    request, runner = workshop.request, workshop.runner
    if fleet is None and search.results == IN_MEMORY:
        with results(IN_MEMORY, "", MachineKind("", ""), request.file) as kept:
            yield TrialsHere(workshop), kept
        return
    parcel = packed(workshop.plans[0].original.source, request, runner)
    site = this_site(runner.compiler) if fleet is None else fleet.site
    trials: Trials = TrialsHere(workshop)
    if fleet is not None:
        from loopwright.optimise.fleet.trials import TrialsOnFleet

        trials = TrialsOnFleet(fleet, parcel)
    with results(search.results, parcel.digest, site, request.file) as kept:
        yield trials, kept


def _with_main(found: _Found, runner: TrialRunner, search: Search) -> TrialRunner:
    """The runner, with a main function for a file that has none, even by the compiler's options."""
    if has_main(found.plans[0].original.source.text) or any(map(may_have_main, runner.flags)):
        return runner
    programs = [plan.original for plan in found.plans]
    sizes = [planner.judge.setting.sizes for planner in found.planners]
    return replace(runner, driver=driver_for(programs, sizes, search.defines, runner.threads))


def _proved(
    candidates: Sequence[Trial], found: _Found, end: float, progress: Progress, model: Script = ()
) -> tuple[Trial | None, Outcome | None]:
    """The first script that can be proved completely in the time left, by `first_proved`."""

    def prove(one: Trial, limit: float) -> Outcome:
        work = _proof(applied(one.script, found.plans).plans, found.request, min(OPINION, ASIDE * limit))
        return within(limit, work, progress, wall=limit)

    return first_proved(candidates, prove, lambda: end - time.monotonic(), model)


def _proof(plans: tuple[Plan, ...], request: Request, opinion: float) -> Callable[[Progress], Outcome]:
    brief = replace(request.prover, seconds=request.prover.seconds or opinion)
    return lambda progress: rewritten(plans, replace(request, prover=brief), progress)
