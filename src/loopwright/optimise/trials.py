"""Scripts made into programs and timed; programs with the same text are run once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import inf
from pathlib import Path

from loopwright.emit.region import new_source
from loopwright.errors import BadInput, GaveUp, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.nests import Script
from loopwright.optimise.runner import TrialRunner
from loopwright.progress import silent
from loopwright.prove.legality.plans import prove_plan
from loopwright.rewrite.pipeline import rewritten
from loopwright.rewrite.request import Request
from loopwright.rewrite.scripts import applied, loops_of
from loopwright.run.supervise import within
from loopwright.run.timing import Times
from loopwright.transform import Plan, to_schedule
from loopwright.transform.script.operations import Tile

WORTH = 0.97
"""A program is faster if it takes less than this much of the time: by less, runs differ by chance."""

SLOW = 1.3
"""A run that takes longer than this many times the fastest one is stopped."""

PATIENCE = 10.0
"""Seconds it may take to make the text of a script: one that takes longer is too large."""

LONGEST = 60.0
"""Seconds a run of the original may take."""


@dataclass(frozen=True)
class Trial:
    """A script, the cycles it was estimated to take, and the seconds it took; None where it was not timed."""

    script: Script
    cycles: float
    origin: str
    seconds: float | None = None


def kinds(script: Script) -> tuple[str, ...]:
    """What a script does, without names and sizes: each kind of step once, slanted tiles by themselves."""
    found = []
    for step in script:
        is_slanted = isinstance(step.operation, Tile) and step.operation.skew
        found.append(f"{type(step.operation).__name__}{' skew' * is_slanted}")
    return tuple(dict.fromkeys(found))


def in_turn(candidates: Sequence[Trial], known: Mapping[Script, float]) -> Iterator[Trial]:
    """Which candidate is timed next; `known` has the seconds of those that were, and grows meanwhile.

    First the best of each kind, in the order of the model; then, of the kinds in the order of their shortest
    times, the next ones: kinds of scripts differ more than the model can tell, sizes less.
    """
    waiting: dict[tuple[str, ...], list[Trial]] = {}
    for one in candidates:
        if one.script:
            waiting.setdefault(kinds(one.script), []).append(one)
    begun: dict[tuple[str, ...], list[Script]] = {}
    while waiting:
        fresh = [kind for kind in waiting if kind not in begun]
        kind = fresh[0] if fresh else min(waiting, key=lambda one: _shortest(begun[one], known))
        one = waiting[kind].pop(0)
        waiting = {kind: more for kind, more in waiting.items() if more}
        begun.setdefault(kind, []).append(one.script)
        yield one


def _shortest(scripts: Sequence[Script], known: Mapping[Script, float]) -> float:
    return min((known[one] for one in scripts if one in known), default=inf)


@dataclass
class Trials:
    """What was run so far; `best` is the shortest time."""

    plans: tuple[Plan, ...]
    request: Request
    runner: TrialRunner
    best: float
    known: dict[str, float] = field(default_factory=dict)
    """Seconds by text."""
    programs: dict[str, Path] = field(default_factory=dict)
    texts: dict[Script, str] = field(default_factory=dict)

    def seconds(self, script: Script) -> float | None:
        """None where no program can be made of the script, or a run is not worth its end."""
        try:
            text = within(PATIENCE, lambda _: self._text(script), silent, wall=PATIENCE)
            if text not in self.known:
                self.programs[text] = self.runner.program(text, f"trial{len(self.programs)}")
                self.known[text] = self._run(self.programs[text])
        except (BadInput, GaveUp, InternalError):
            return None
        self.texts[script] = text
        self.best = min(self.best, self.known[text])
        return self.known[text]

    def again(self, script: Script) -> float:
        """The shorter one of the time that is known and of another run."""
        text = self.texts[script]
        try:
            again = self.runner.seconds(self.programs[text], self.best * SLOW)
        except (BadInput, GaveUp):
            return self.known[text]
        self.known[text] = min(self.known[text], again)
        return self.known[text]

    def _text(self, script: Script) -> str:
        """The C file; the clauses of parallel loops come from the proof of their independence."""
        plans = applied(script, self.plans).plans
        if not self.request.openmp:
            return rewritten(plans, replace(self.request, prove=False), silent).source.text
        allowed = self.request.allow_reassociation
        loops = [
            loops_of(
                plan,
                generate(to_schedule(plan), GenerationOptions()),
                prove_plan(plan, allow_reassociation=allowed),
            )
            for plan in plans
            if plan.history
        ]
        return new_source(loops, openmp=True).text if loops else plans[0].original.source.text

    def _run(self, program: Path) -> float:
        """Disturbances make a run longer: a run that looks good is repeated, and the shorter time counts."""
        limit = self.best * SLOW
        seconds = self.runner.seconds(program, limit)
        if seconds < self.best / WORTH:
            seconds = min(seconds, self.runner.seconds(program, limit))
        return seconds


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """By time; of those as fast as the fastest, but for chance, the shortest script first."""
    timed = [(one.seconds, one) for one in trials if one.seconds is not None]
    fastest = min((seconds for seconds, _ in timed), default=0.0)

    def rank(pair: tuple[float, Trial]) -> tuple[bool, int, float]:
        seconds, one = pair
        is_slower = seconds * WORTH > fastest
        return is_slower, 0 if is_slower else len(one.script), seconds

    return [one for _, one in sorted(timed, key=rank)]


def compared(runner: TrialRunner, original: Path, new: Path, rounds: int) -> tuple[Times, Times]:
    """Runs of the two in turns."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for seconds, program in zip(found, (original, new), strict=True):
            seconds.append(runner.seconds(program, LONGEST))
    return Times(tuple(found[0])), Times(tuple(found[1]))
