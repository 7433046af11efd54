"""Judges a script: applies it, proves it legal, generates its loops and estimates their cost by the model.

Only legality is proved here; the winner of the search is proved completely at its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TypeVar

from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script, SearchContext, is_box, part_with
from loopwright.optimise.candidates.pretests import of_hits
from loopwright.optimise.model.cost import Estimate, estimate
from loopwright.progress import Progress, silent
from loopwright.prove.legality.plans import is_kept, prove_plan
from loopwright.prove.legality.reductions import ordering
from loopwright.run.supervise import Work, within
from loopwright.transform import Plan, to_schedule
from loopwright.transform.perform import performed
from loopwright.transform.plan import Component
from loopwright.transform.script.operations import Hexagon, Interchange, Permute
from loopwright.transform.vectors import pieces

T = TypeVar("T")

PATIENCE = 3.0
"""The time limit in seconds for the legality proof and the loops of one script."""

SHAPED = 4.0
"""The factor on that limit for tiles that grow and shrink: their schedules have many pieces."""

STORED = 2.5
"""The factor on that limit for changed storage: the value of every read must be determined."""

GIVEN, AWAITED = "as given", 8.0
"""What a script is that the search begins with, how the origin of what is made of it begins, and how many
times as long it may take: all others are made of it."""

LEAST = 1.0
"""The least seconds for work that is started before the deadline."""

COSTLY = 0.1
"""A statement with this part of the cycles is costly."""

ALONE = 0.85
"""A structure with costly statements in separate loops is blocked before others that cost this part of it."""

FAR = 8.0
"""A statement whose execution count is underestimated by this factor is not judged."""


@dataclass(frozen=True)
class Estimated:
    """A legal script, the plan after it and the cycles of its statements."""

    script: Script
    plan: Plan
    cycles: Mapping[str, float]
    origin: str = ""

    @property
    def total(self) -> float:
        return sum(self.cycles.values())

    @property
    def rank(self) -> tuple[float, int]:
        """The sort key: the cheapest first, then the shortest."""
        return self.total, len(self.script)

    def cost_of(self, component: Component) -> float:
        return sum(self.cycles[name] for name in self.plan.statements_at(component))

    @property
    def costly(self) -> list[str]:
        return [name for name, cycles in self.cycles.items() if cycles > COSTLY * self.total]

    @property
    def _costly_leaves(self) -> list[Component]:
        schedules = (self.plan.program.statement(name).schedule for name in self.costly)
        return [Component.of([pieces(schedule)[0][0]]) for schedule in schedules]

    @property
    def is_separate(self) -> bool:
        """Whether the costliest statements are alone in their outermost loops."""
        return not any(self.plan.sharing(leaf, 0).positions for leaf in self._costly_leaves)

    @property
    def promise(self) -> float:
        """The estimated cost after blocking: less if costly statements have loops of their own."""
        own = [
            sum(not self.plan.sharing(leaf, k).positions for k in range(self.plan.leaf(leaf.first).depth))
            for leaf in self._costly_leaves
        ]
        return self.total * (ALONE if min(own, default=0) > 1 else 1.0)


@dataclass
class Judge:
    """The scripts of one region that are `known`; `refused` counts those that are not legal."""

    plan: Plan
    setting: SearchContext
    deadline: float
    progress: Progress = silent
    allow_reassociation: bool = False
    threads: int = 1
    clock: Callable[[], float] = time.monotonic
    known: dict[Script, Estimated | None] = field(default_factory=dict)
    settings: dict[Script, SearchContext] = field(default_factory=dict)
    runs: dict[str, float] = field(default_factory=dict)
    shares: dict[tuple[Script, tuple[str, ...]], float] = field(default_factory=dict)
    refused: int = 0
    slowest: float = 0.0
    """The longest time in seconds of a legal script."""

    def is_over(self) -> bool:
        return self.clock() > self.deadline

    def limited(self, work: Work[T], seconds: float = PATIENCE, least: float = LEAST) -> T:
        """The result of `work`, limited to this processor time and about twice as much wall-clock time.

        Work started shortly before the deadline gets at least `least` seconds.
        """
        left = max(least, self.deadline - self.clock())
        return within(min(seconds, left), work, silent, wall=min(2 * seconds, left))

    def original(self) -> Estimated:
        found = self.estimated((), "as written")
        if found is None:
            raise GaveUp(Code.TIME, "the loops of the region as written are too many for the cost model")
        return found

    def as_compiled(self) -> float:
        """The cycles of the region as written, with the loop order that its compiler gives perfect nests.

        gcc interchanges loops itself if their bounds are invariant in the nest and the new order goes along
        rows; a script gets no credit for that.
        """
        known = self.known.items()
        found = [one.total for script, one in known if one is not None and self._only_exchanges(script)]
        return min(found, default=self.original().total)

    def _only_exchanges(self, script: Script) -> bool:
        """Whether all steps of a script interchange rectangular loops, as a compiler does."""
        return all(
            isinstance(step.operation, Permute | Interchange)
            and (component := self.plan.components.get(step.operation.target)) is not None
            and is_box(self.plan, component)
            for step in script
        )

    def found(self) -> list[Estimated]:
        """The scripts proved legal so far, the cheapest first."""
        found = [one for one in self.known.values() if one is not None]
        return sorted(found, key=lambda one: one.rank)

    def setting_of(self, plan: Plan) -> SearchContext:
        """The setting with the dependences of the program after the plan's changes of storage."""
        steps = tuple(plan.history[change.step].step for change in plan.storage)
        if steps not in self.settings:
            known = replace(self.setting, dependences=ordering(plan.original))
            self.settings[steps] = known if plan.storage else self.setting
        return self.settings[steps]

    def estimated(
        self,
        script: Script,
        origin: str,
        known: tuple[tuple[str, ...], Estimated] | None = None,
        *,
        late: bool = False,
    ) -> Estimated | None:
        """Judge a script; None if it does not apply, is not legal or takes too long to judge.

        `known` is a script in which all but the named statements cost the same.  After the deadline only
        essential scripts and `late` ones are judged.
        """
        if script not in self.known:
            if script and not late and origin != GIVEN and self.is_over():
                return None
            last = f": {script[-1]}" if script else ""
            self.progress(f"estimating script {len(self.known) + 1}{last}")
            begun = time.monotonic()
            self.known[script] = self._judged(script, origin, known)
            if self.known[script] is not None:
                self.slowest = max(self.slowest, time.monotonic() - begun)
        return self.known[script]

    def _judged(
        self, script: Script, origin: str, known: tuple[tuple[str, ...], Estimated] | None
    ) -> Estimated | None:
        try:
            begun, rest = self._begun(script)
            plan, proved = performed(begun, *rest), len(begun.storage)
            whole = _divided(plan)
            names = () if known is None else known[0]
            before = None if known is None else known[1].plan
            had = () if before is None else before.program.statements
            new = {one.name for one in plan.program.statements} - {one.name for one in had}
            parts = (one for one, name in whole.items() if name in names and one not in new)
            part = plan if known is None else part_with(plan, (*names, *parts, *sorted(new)))
            shaped = any(isinstance(step.operation, Hexagon) for step in script)
            is_stored = len(plan.storage) > proved
            patience = PATIENCE * (4 if not script else SHAPED if shaped else STORED if is_stored else 1)
            least = LEAST if script else patience  # the original is the reference for comparisons
            if origin == GIVEN:
                patience = AWAITED * PATIENCE
                least = min(patience, 2 * (self.deadline - self.clock()))
            found = self.limited(lambda _: self._cost(plan, part, before, proved), patience, least)
        except (BadInput, GaveUp, InternalError):
            return None
        if found is None:
            self.refused += 1
            return None
        if not script:
            self.runs.update(found.runs)
        cycles = self._corrected(found, plan)
        if cycles is None or known is None:
            return None if cycles is None else Estimated(script, plan, cycles, origin)
        share = self._share(*known)
        inside = {name: share * spent for name, spent in cycles.items()}
        return Estimated(script, plan, {**known[1].cycles, **inside}, origin)

    def _share(self, names: tuple[str, ...], start: Estimated) -> float:
        """The cost of statements among others relative to their cost alone: others leave data in caches."""
        if (start.script, names) not in self.shares:
            self.shares[start.script, names] = 1.0
            part = part_with(start.plan, names)
            try:
                alone = self.limited(lambda _: self._estimate(start.plan, part))
            except (GaveUp, InternalError):
                return 1.0
            cycles = self._corrected(alone, start.plan) or {}
            if spent := sum(cycles.values()):
                self.shares[start.script, names] = sum(start.cycles[name] for name in cycles) / spent
        return self.shares[start.script, names]

    def _begun(self, script: Script) -> tuple[Plan, Script]:
        """The plan after the longest beginning of a script that is known to be legal, and the other steps."""
        for count in range(len(script), 0, -1):
            if (known := self.known.get(script[:count])) is not None:
                return known.plan, script[count:]
        return self.plan, script

    def _cost(self, plan: Plan, part: Plan, before: Plan | None, proved: int) -> Estimate | None:
        """The cost of the statements of a part of the plan; None if the plan is not legal.

        `before` is a legal plan that it extends; so many of its changes of storage are `proved`.
        """
        dependences, allowed = self.setting_of(plan).dependences, self.allow_reassociation
        if len(plan.storage) > proved:
            is_legal = prove_plan(plan, allow_reassociation=allowed, known=plan.storage[:proved]).proved
        else:
            is_legal = is_kept(plan, dependences, before=before, allow_reassociation=allowed)
        return self._estimate(plan, part) if is_legal else None

    def _estimate(self, plan: Plan, part: Plan) -> Estimate:
        """The cost of the statements of a part of the plan."""
        node = generate(to_schedule(part), GenerationOptions())
        machine = self.setting.machine.widened if plan.is_widened else self.setting.machine
        return estimate(node, part.program, self.setting.sizes, machine, self.threads)

    def _corrected(self, found: Estimate, plan: Plan) -> Mapping[str, float] | None:
        """Cycles for as many runs of each statement, with what storage made parts of it, as written.

        If the middles of loops are not representative, as in slanted tiles, the estimated execution counts
        are wrong; if a costly statement seems hardly to execute, there is no estimate.
        """
        whole, original = _divided(plan), self.known.get(())
        costly = [] if original is None else original.costly
        cycles = dict(found.cycles)
        together: dict[str, float] = {}
        for name, runs in found.runs.items():
            together[whole.get(name, name)] = together.get(whole.get(name, name), 0.0) + runs
        for name in found.runs:
            runs = together[whole.get(name, name)]
            wanted = self.runs.get(whole.get(name, name), runs)
            if runs * FAR < wanted and name in costly:
                return None
            cycles[name] *= wanted / runs if runs else 1.0
        return of_hits(plan, cycles)


def _divided(plan: Plan) -> dict[str, str]:
    """Which statement as written each part is of that has storage of its own."""
    whole: dict[str, str] = {}
    for change in plan.storage:
        whole |= {part: whole.get(name, name) for part, name in change.division.items()}
    return whole
