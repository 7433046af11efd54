"""From a C file that runs to the fastest script for it that was found, proved.

While it searches, only legality is proved: what is illegal is not run.  The script that is the fastest in
the end is proved as `loopwright transform` proves it; where that is not possible, the next one is.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.c.choice import BY_PRAGMAS, Choice
from loopwright.errors import BadInput, Code, GaveUp
from loopwright.model.dependences import Dependence, memory_based
from loopwright.progress import Progress, silent
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import rewritten
from loopwright.rewrite.request import Outcome, Request
from loopwright.rewrite.scripts import applied
from loopwright.run.compiler import find_compiler
from loopwright.run.supervise import within
from loopwright.run.timing import Times
from loopwright.source import Span
from loopwright.transform import Plan, Step, plan_of, script_text
from loopwright.tune.moves import Script, moves
from loopwright.tune.runner import TrialRunner, prepared
from loopwright.tune.search import WORTH, Trial, search

LONGEST = 60.0
"""Seconds a run of the original may take."""

PATIENCE = 15.0
"""Seconds it may take to make the text of a script: one that takes longer is too large."""

ROUNDS = 3
"""Runs of the original and of the result, in turns, for the figures that are reported."""


@dataclass(frozen=True)
class Tuned:
    """The result; without `steps` nothing was found to be faster."""

    steps: Script
    original: Times
    tuned: Times
    outcome: Outcome | None
    tried: int
    illegal: int

    @property
    def ratio(self) -> float:
        return self.original.median / self.tuned.median

    @property
    def script(self) -> str:
        """The steps as a script."""
        return script_text(self.steps)


@dataclass
class _Candidates:
    """The trials so far; scripts that make the same text are run once."""

    plans: tuple[Plan, ...]
    dependences: tuple[tuple[Dependence, ...], ...]
    request: Request
    runner: TrialRunner
    progress: Progress
    deadline: float
    best: float
    texts: dict[str, float] = field(default_factory=dict)
    illegal: int = 0

    def extensions(self, script: Script) -> Iterator[Script]:
        for plan, known in zip(self.applied(script), self.dependences, strict=True):
            yield from ((*script, *move) for move in moves(plan, known))

    def measure(self, script: Script, limit: float) -> float | None:
        """How fast the script's program is, where it is legal, can be made and is fast enough."""
        self.progress(f"trying {script[-1]} (best so far: {self.best:.3g} s)")
        try:
            text = within(PATIENCE, lambda progress: self._text(script), silent)
            if text is not None and text not in self.texts:
                self.texts[text] = self._run(text, limit)
        except (BadInput, GaveUp):
            return None
        if text is None:
            self.illegal += 1
            return None
        seconds = self.texts[text]
        self.best = min(self.best, seconds)
        return seconds if seconds <= limit else None

    def _text(self, script: Script) -> str | None:
        """The C file the script makes; None where it is not legal."""
        plans = self.applied(script)
        if not self._is_legal(plans):
            return None
        return rewritten(plans, replace(self.request, prove=False), silent).source.text

    def is_over(self) -> bool:
        return time.monotonic() > self.deadline

    def applied(self, script: Script) -> tuple[Plan, ...]:
        return applied(script, self.plans).plans

    def _is_legal(self, plans: Sequence[Plan]) -> bool:
        allowed = self.request.allow_reassociation
        return all(
            prove_plan(plan, dependences=known, allow_reassociation=allowed).proved
            for plan, known in zip(plans, self.dependences, strict=True)
            if plan.history
        )

    def _run(self, text: str, limit: float) -> float:
        """Disturbances make a run longer: a run that looks good is repeated, and the shorter time counts."""
        program = self.runner.program(text, "trial")
        seconds = self.runner.seconds(program, limit)
        if seconds < self.best / WORTH:
            seconds = min(seconds, self.runner.seconds(program, limit))
        return seconds


def tune_file(
    path: str | Path, *, budget: float = 60.0, defines: Sequence[str] = (), choice: Choice = BY_PRAGMAS
) -> Tuned:
    """`tune` with gcc, `defines` being sizes such as "N=1000"."""
    flags = tuple(f"-D{one}" for one in defines)
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        runner = TrialRunner(Path(path), Path(folder), find_compiler(), flags)
        return tune(Request(file=str(path), script_file="<tuned>", choice=choice), runner, budget, silent)


def tune(request: Request, runner: TrialRunner, budget: float, progress: Progress) -> Tuned:
    """The fastest script for the file of `request` that `budget` seconds are enough to find."""
    progress(f"reading {request.file}")
    programs = read_c(request.file, pure=request.pure, assume=request.assume, choice=request.choice)
    plans = tuple(plan_of(one) for one in programs)
    source = plans[0].original.source
    progress("running the original")
    program, runner = prepared(runner, source.text)
    original = min(runner.seconds(program, LONGEST) for _ in range(2))
    if original < 0.01:
        raise BadInput(
            Code.RUN,
            f"the original takes {original * 1000:.1f} ms, too short to tell one program from another",
            span=Span.start_of(source.path),
            hint="give a larger problem size, with -D N=2000 for example",
        )
    known = tuple(tuple(memory_based(plan.original)) for plan in plans)
    progress("searching")
    candidates = _Candidates(plans, known, request, runner, progress, time.monotonic() + budget, original)
    trials = search(original, candidates.extensions, candidates.measure, candidates.is_over)
    steps, outcome = _proved(trials, candidates)
    new = program if outcome is None else runner.program(outcome.source.text, "tuned")
    times = _compared(runner, program, new, progress)
    return Tuned(steps, times["original"], times["tuned"], outcome, len(candidates.texts), candidates.illegal)


def _proved(trials: list[Trial[Step]], candidates: _Candidates) -> tuple[Script, Outcome | None]:
    """The first script of which everything can be proved; the empty one is the program as it is."""
    for trial in trials:
        if not trial.script:
            break
        try:
            return trial.script, rewritten(
                candidates.applied(trial.script), candidates.request, candidates.progress
            )
        except GaveUp:
            continue
    return (), None


def _compared(runner: TrialRunner, original: Path, tuned: Path, progress: Progress) -> dict[str, Times]:
    programs = {"original": original, "tuned": tuned}
    found: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(ROUNDS):
        progress(f"timing, round {turn + 1} of {ROUNDS}")
        for name, program in programs.items():
            found[name].append(runner.seconds(program, LONGEST))
    return {name: Times(tuple(seconds)) for name, seconds in found.items()}
