"""Turns scripts for one file into sources, programs and times on one machine.

A script becomes a C file and then a program, which is run; or the script is proved completely.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field, replace
from math import ceil, inf
from pathlib import Path

from loopwright.emit.region import new_source
from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script
from loopwright.optimise.model.sizes import SUPPOSED, sizes_of
from loopwright.optimise.timing.runner import TrialRunner, original_program
from loopwright.optimise.timing.trials import WORTH, Task, Timed
from loopwright.progress import silent
from loopwright.prove.legality.plans import prove_plan
from loopwright.rewrite.pipeline import rewritten
from loopwright.rewrite.request import Request
from loopwright.rewrite.scripts import applied, loops_of
from loopwright.run.compiler import LONGEST as SLOWEST
from loopwright.run.supervise import within
from loopwright.run.timing import Times
from loopwright.source import Span
from loopwright.transform import Plan, to_schedule

SLOW = 1.3
"""A run that takes longer than this many times the fastest one is stopped."""

PATIENCE = 10.0
"""Seconds it may take to make the text of a script: one that takes longer is too large."""

LONGEST = 60.0
"""The time limit in seconds for a run of the original."""

SHORTEST, SHORTEST_OF_ITS_OWN = 0.01, 0.001
"""Seconds a run of the original has to take, so that one program can be told from another: fewer where it
prints the time of its regions itself."""

ROUNDS, MOST_ROUNDS, LONG = 3, 15, 1.5
"""Runs of the original and of the result, in turns, for the figures that are reported: at least so many, and
of short programs more, in so many seconds."""

SEVERAL, LEAST = 8, 1.0
"""The original runs twice where there is time for so many runs; no run has fewer seconds than these."""

REPEATED, BRIEF = 5, 0.15
"""A program that looks good is run up to so many times, in so many seconds; one that takes longer, twice."""


@dataclass
class Workshop:
    """The machine this runs on; `programs` are those that are compiled already, by text."""

    plans: tuple[Plan, ...]
    request: Request
    runner: TrialRunner
    wall: float = PATIENCE
    """Seconds on the clock in which a text is made, or none."""
    programs: dict[str, Path] = field(default_factory=dict)
    until: float = inf
    """When the last run is to end, by the clock."""

    def original(self) -> float:
        """The seconds of the file as it is; one run of it is enough where there is no time for many."""
        source = self.plans[0].original.source
        program = self._program(source.text)
        begun = time.monotonic()
        seconds = self._run(program, LONGEST)
        now = time.monotonic()
        again = 1 if (now - begun) * SEVERAL < self.until - now else 0
        more = again + min(REPEATED, int(BRIEF / max(seconds, SHORTEST)))
        seconds = min([seconds, *(self._run(program, LONGEST) for _ in range(more))])
        least = SHORTEST_OF_ITS_OWN if self.runner.prints_time else SHORTEST
        if seconds < least:
            larger = self._size(10 * least / max(seconds, least / 100))
            raise BadInput(
                Code.RUN,
                f"the original takes {seconds * 1000:.1f} ms, too short to tell one program from another",
                span=Span.start_of(source.path),
                hint=f"give larger sizes, such as {larger}, or use the model alone: --model",
            )
        return seconds

    def _size(self, factor: float) -> str:
        """The option that makes one size of the program larger by a factor."""
        original = self.plans[0].original
        name = next(iter(original.params), "N")
        is_macro = any(one.name == name for one in original.file.macros)
        value = sizes_of(original, ()).get(name, SUPPOSED) * ceil(factor)
        return f"{'-D' if is_macro else '--size'} {name}={value}"

    def text(self, script: Script) -> str:
        """The C file that a script makes."""
        wall = min(self.wall, self._left())
        return within(min(PATIENCE, wall), lambda _: self._text(script), silent, wall=wall)

    def seconds(self, text: str, best: float, *, again: bool = False) -> float:
        """Disturbances make a run longer: a run that looks good is repeated, and the shortest time counts.

        Where threads share the work each disturbance makes all of them wait, and a run looks bad: the first
        one counts only if the second is no better.
        """
        program, limit = self._program(text), best * SLOW
        seconds = self._run(program, limit)
        if not again and self.runner.threads > 1 and seconds >= best / WORTH:
            seconds = min(seconds, self._run(program, limit))
        if not again and seconds < best / WORTH:
            more = max(1, min(REPEATED, int(BRIEF / max(seconds, SHORTEST))))
            seconds = min([seconds, *(self._run(program, limit) for _ in range(more))])
        return seconds

    def _run(self, program: Path, limit: float) -> float:
        """The seconds of a run that ends within the limit."""
        return self.runner.seconds(program, limit, self._left())

    def _left(self) -> float:
        """The time limit in seconds for work started now."""
        return max(LEAST, self.until - time.monotonic())

    def is_proved(self, script: Script, limit: float) -> bool:
        """Whether a script can be proved completely within so many seconds."""
        try:
            plans = applied(script, self.plans).plans
            wall = max(limit, self.wall)
            within(limit, lambda progress: rewritten(plans, self.request, progress), silent, wall=wall)
        except (BadInput, GaveUp, InternalError):
            return False
        return True

    def compared(self, text: str, seconds: float) -> tuple[Times, Times]:
        """Runs of the original and of another text, in turns: as many as so many seconds are enough for."""
        begun = time.monotonic()
        self.until = begun + seconds
        programs = [self._program(one) for one in (self.plans[0].original.source.text, text)]
        found: tuple[list[float], list[float]] = ([], [])
        while len(found[1]) < ROUNDS or (len(found[1]) < MOST_ROUNDS and sum(map(sum, found)) < LONG):
            for times, program in zip(found, programs, strict=True):
                times.append(self.runner.seconds(program, LONGEST))
            turns, spent = len(found[1]), time.monotonic() - begun
            if spent * (turns + 1) / turns > seconds:
                break
        return Times(tuple(found[0])), Times(tuple(found[1]))

    def _program(self, text: str) -> Path:
        if text not in self.programs:
            if text == self.plans[0].original.source.text:
                self.programs[text] = original_program(self.runner, text)
            else:
                name, left = f"trial{len(self.programs)}", min(SLOWEST, self._left())
                self.programs[text] = self.runner.program(text, name, seconds=left)
        return self.programs[text]

    def _text(self, script: Script) -> str:
        """The clauses of parallel loops come from the proof of their independence."""
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


@dataclass
class TrialsHere:
    """`Trials` in the workshop of this machine, one after the other; equal texts are run once."""

    workshop: Workshop
    known: dict[str, float] = field(default_factory=dict)
    """Seconds by text."""
    texts: dict[Script, str] = field(default_factory=dict)

    def original(self, until: float) -> float:
        self.workshop.until = until
        return self.workshop.original()

    def outcomes(self, tasks: Iterator[Task], until: float) -> Iterator[Timed]:
        """Whoever makes the tasks looks at the clock: there is no other one at work."""
        self.workshop.until = until
        for task in tasks:
            try:
                yield Timed(task.script, self._seconds(task))
            except (BadInput, GaveUp, InternalError) as failure:
                yield Timed(task.script, None, failure.diagnostic.message)

    def compared(self, text: str, seconds: float) -> tuple[Times, Times]:
        return self.workshop.compared(text, seconds)

    def _seconds(self, task: Task) -> float:
        text = self.texts.get(task.script) or self.workshop.text(task.script)
        self.texts[task.script] = text
        if task.again or text not in self.known:
            self.known[text] = self.workshop.seconds(text, task.best, again=task.again)
        return self.known[text]
