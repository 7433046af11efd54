"""The search by the model alone: scripts for one region, ranked by what their programs are estimated to take.

First the structures: the region as written, distributed, and as isl's scheduler would have it.  Then, nest
by nest, the phases of `moves`; of each phase the few best are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loopwright.errors import BadInput, GaveUp, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.model.dependences import memory_based
from loopwright.optimise.cost import Estimate, estimate
from loopwright.optimise.nests import Phase, Script, Setting, is_written_out, nest_of, part_with, targets
from loopwright.optimise.orders import ORDERING, parallel
from loopwright.optimise.scheduler import Fusion, scheduled
from loopwright.optimise.storage import expansions, packings, renamings
from loopwright.optimise.structures import around, fusions
from loopwright.optimise.tiles import BLOCKING
from loopwright.progress import Progress, silent
from loopwright.prove.legality.plans import is_kept, prove_plan
from loopwright.run.supervise import within
from loopwright.transform import Plan, to_schedule
from loopwright.transform.plan import Component
from loopwright.transform.script.operations import DistributeLegally
from loopwright.transform.script.steps import Step
from loopwright.transform.vectors import pieces

WIDTH = 3
"""How many scripts are kept after each phase."""

PATIENCE = 3.0
"""Seconds the proof of legality and the loops of one script may take."""

SHARE = 0.5
"""The part of the time that the first structure may take; what it leaves, the others have."""

FIRST = 0.5
"""The part of the time for the statements as written, and for each of them in loops of its own."""

STRUCTURES = 4
"""How many ways to share loops are worked out."""

ORDERED = 0.4
"""The part of the time in which the loops of all structures are brought into order."""

SEQUENTIAL = 0.5
"""The part of that time before parallel loops are tried, where there are threads for them."""

NEAR, COSTLY = 2.0, 0.1
"""A structure is near the best one up to so many times its cost; a statement of this part is costly."""

FAR = 8.0
"""A statement that seems to run so many times less often than it does is not judged."""

WORTH = 0.02
"""A nest with a smaller part of the cycles is left alone."""


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


@dataclass
class Planner:
    """The search in one region; `refused` counts the scripts that are not legal."""

    plan: Plan
    setting: Setting
    deadline: float
    progress: Progress = silent
    alone: bool = True
    allow_reassociation: bool = False
    threads: int = 1
    known: dict[Script, Estimated | None] = field(default_factory=dict)
    settings: dict[Script, Setting] = field(default_factory=dict)
    runs: dict[str, float] = field(default_factory=dict)
    refused: int = 0

    clock: Callable[[], float] = time.monotonic

    def is_over(self) -> bool:
        return self.clock() > self.deadline

    def original(self) -> Estimated:
        found = self.estimated((), "as written")
        assert found is not None, "a program as it was written is legal"
        return found

    def ranked(self) -> list[Estimated]:
        """All legal scripts that were found, the cheapest first, with the original.

        The statements as written, and each in loops of its own, are worked out before other structures are
        thought of: mostly the best script is one of those.
        """
        begun = self.clock()
        starts = [self.original(), *self._apart(self.original())]
        usual = self._ordered(starts, begun + FIRST * ORDERED * self._left(begun))
        self._blocked(sorted(usual, key=_rank), FIRST)
        others = [one for one in self._structures() if one.script not in {start.script for start in starts}]
        begun = self.clock()
        ordered = [*usual, *self._ordered(others, begun + ORDERED * self._left(begun))]
        ordered += self._joined(sorted(ordered, key=_rank)[:2])
        self._blocked(self._promising(ordered), 1.0)
        if self.threads > 1:
            self._parallelised(self.found()[:WIDTH])
        return self.found()

    def _left(self, now: float) -> float:
        """The seconds for scripts of one thread."""
        return (self.deadline - now) * (1.0 if self.threads == 1 else SEQUENTIAL)

    def _ordered(self, starts: Sequence[Estimated], until: float) -> list[Estimated]:
        """The loops of each structure in their best order, each in its part of the time."""
        begun = self.clock()
        found: list[Estimated] = []
        for number, start in enumerate(starts, 1):
            end = begun + (until - begun) * number / len(starts)
            found += self._improved([start], ORDERING, 1, end)
        return found

    def _blocked(self, ordered: Sequence[Estimated], part: float) -> None:
        """Blocks of the nests of some structures, in this part of the time that is left."""
        begun = self.clock()
        left = part * self._left(begun)
        for number, one in enumerate(ordered):
            share = SHARE + (1 - SHARE) * number / max(1, len(ordered) - 1)
            self._improved([one], BLOCKING, WIDTH, begun + share * left)

    def _promising(self, ordered: list[Estimated]) -> list[Estimated]:
        """The cheapest structures; first those of them whose costly statements stand alone, if they are near.

        Blocks make most of a perfect nest of one statement.
        """
        cheapest = min(one.total for one in ordered)
        groups: dict[frozenset[str], Estimated] = {}
        for one in sorted(ordered, key=lambda one: (not self._is_separate(one), _rank(one))):
            groups.setdefault(self._costly_nests(one), one)
        best = sorted(groups.values(), key=_rank)
        near = [one for one in best if one.total < NEAR * cheapest and self._is_separate(one)]
        return [*near, *(one for one in best if one not in near)][:STRUCTURES]

    def _costly_nests(self, one: Estimated) -> frozenset[str]:
        """What makes two structures the same: nests of costly statements, their loops, the storage."""
        found: dict[int, dict[str, tuple[str, ...]]] = {}
        for name in self._costly(one):
            ((place, _), *_) = pieces(one.plan.program.statement(name).schedule)
            found.setdefault(place[0], {})[name] = one.plan.leaf(place).loops
        storage = [str(one.plan.history[change.step].step) for change in one.plan.storage]
        return frozenset([*map(str, found.values()), *storage])

    def _costly(self, one: Estimated) -> list[str]:
        return [name for name, cycles in one.cycles.items() if cycles > COSTLY * one.total]

    def _is_separate(self, one: Estimated) -> bool:
        """Whether the statements that cost most stand alone in their outermost loops."""
        places = [pieces(one.plan.program.statement(name).schedule)[0][0] for name in self._costly(one)]
        return not any(one.plan.sharing(Component.of([place]), 0).positions for place in places)

    def _parallelised(self, pool: list[Estimated]) -> None:
        """The outermost nests of the best scripts with a parallel loop, the first one that is legal."""
        for one in pool:
            now = one
            for top in sorted({leaf.position[0] for leaf in one.plan.leaves}):
                nest = next((n for n in targets(now.plan) if n.component.first[0] == top), None)
                if nest is None or self.is_over():
                    continue
                for script in parallel(now.plan, nest, self.setting):
                    after = self.estimated(script, f"{one.origin}, among threads")
                    if after is not None and after.total < now.total:
                        now = after
                        break

    def _joined(self, ordered: list[Estimated]) -> list[Estimated]:
        """Neighbours in the same loops, now that their loops are in order."""
        found = []
        for start in ordered:
            for script in fusions(start.plan, self.setting.dependences):
                one = None if self.is_over() else self.estimated(script, "ordered, then joined")
                found += [] if one is None else [one]
        return found

    def found(self) -> list[Estimated]:
        """What is known to be legal so far, the cheapest first."""
        found = [one for one in self.known.values() if one is not None]
        return sorted(found, key=_rank)

    def _structures(self) -> Iterator[Estimated]:
        """Other ways to share loops and storage, each once."""
        found = [self.original()]
        for one in [*self._shared(self.original()), *self._stored()]:
            found.append(one)
            yield one
        for one in found[: 2 if found[1:] and found[1].plan.leaves != self.plan.leaves else 1]:
            for script, origin in around(one.plan, self.setting):
                more = None if self.is_over() else self.estimated(script, origin)
                if more is not None:
                    yield more

    def _apart(self, start: Estimated, title: str = "") -> Iterator[Estimated]:
        """Each statement in loops of its own, as far as that is legal."""
        if self.alone and len(start.plan.leaves) > 1:
            script = (*start.script, Step(DistributeLegally()))
            one = self.estimated(script, f"{title}distributed as far as it is legal")
            if one is not None:
                yield one

    def _shared(self, start: Estimated, title: str = "") -> Iterator[Estimated]:
        """What the statements of a plan share: nothing where that is legal, or what isl's scheduler says."""
        yield from self._apart(start, title)
        scripts: dict[Script, str] = {}
        for fusion in Fusion:
            try:
                script = within(PATIENCE, self._scheduled(start.plan, fusion), silent, wall=2 * PATIENCE)
            except (GaveUp, InternalError):
                continue
            if script:
                scripts.setdefault(script, f"isl's schedule: {fusion.value}")
        for script, origin in scripts.items():
            one = self.estimated((*start.script, *script), f"{title}{origin}")
            if one is not None:
                yield one

    def _stored(self) -> Iterator[Estimated]:
        """The same with other storage; matrices are copied for statements that stand apart."""
        starts = [self.original(), *self._expanded()]
        for start in starts[1:]:
            yield from self._shared(start, "temporaries expanded, ")
        for start in starts:
            apart = next(self._apart(start), start)
            for script in packings(apart.plan):
                packed = None if self.is_over() else self.estimated(script, "matrices transposed")
                if packed is not None:
                    yield packed

    def _expanded(self) -> Iterator[Estimated]:
        """All temporaries that can be expanded, along few loops, along more, along all."""
        scripts: dict[int, Script] = {}
        own = [steps for steps in renamings(self.plan) if self.estimated(steps, "expanded") is not None]
        scripts |= {-1: tuple(step for steps in own for step in steps)} if own else {}
        for choices in expansions(self.plan) if not own else ():
            for number, step in enumerate(choices):
                if not self.is_over() and self.estimated((step,), "expanded") is not None:
                    scripts[number] = (*scripts.get(number, ()), step)
        for script in scripts.values():
            one = self.estimated(script, "temporaries expanded")
            if one is not None:
                yield one

    def _scheduled(self, plan: Plan, fusion: Fusion) -> Callable[[Progress], Script | None]:
        return lambda _: scheduled(plan, self._setting(plan).dependences, fusion)

    def _setting(self, plan: Plan) -> Setting:
        """With the dependences of what the plan's changes of storage made."""
        steps = tuple(plan.history[change.step].step for change in plan.storage)
        if steps not in self.settings:
            known = replace(self.setting, dependences=tuple(memory_based(plan.original)))
            self.settings[steps] = known if plan.storage else self.setting
        return self.settings[steps]

    def _improved(
        self, pool: list[Estimated], phases: Sequence[Phase], width: int, until: float
    ) -> list[Estimated]:
        """The nests of a structure, the outer ones first; what is found is in `known` too."""
        start = pool[0]
        for target in targets(start.plan):
            names = start.plan.statements_at(target.component)
            if sum(start.cycles[name] for name in names) < WORTH * start.total:
                continue
            for phase in phases:
                if self.clock() > until:
                    return pool
                pool = self._extended(pool, names, phase, width)
            pool = pool[: 1 if len(names) == 1 else width]
        return pool

    def _extended(
        self, pool: list[Estimated], names: tuple[str, ...], phase: Phase, width: int
    ) -> list[Estimated]:
        found = dict.fromkeys(one.script for one in pool)
        for one in pool:
            nest = nest_of(one.plan, names)
            if nest is None or is_written_out(one.plan, nest):
                continue
            for script in phase(one.plan, nest, self._setting(one.plan)):
                if self.is_over():
                    break
                after = self.estimated(script, one.origin, (names, one))
                if after is not None:
                    found[after.script] = None
        known = [self.known[script] for script in found]
        legal = [one for one in known if one is not None]
        return sorted(legal, key=_rank)[:width]

    def estimated(
        self, script: Script, origin: str, known: tuple[tuple[str, ...], Estimated] | None = None
    ) -> Estimated | None:
        """None where the script has no meaning, is not legal or takes too long to judge.

        `known` is a script in which all but some statements cost the same, with their names.
        """
        if script not in self.known:
            last = f": {script[-1]}" if script else ""
            self.progress(f"estimating script {len(self.known) + 1}{last}")
            self.known[script] = self._judged(script, origin, known)
        return self.known[script]

    def _judged(
        self, script: Script, origin: str, known: tuple[tuple[str, ...], Estimated] | None
    ) -> Estimated | None:
        try:
            plan = self._performed(script)
            part = plan if known is None else part_with(plan, known[0])
            before = None if known is None else known[1].plan
            found = within(PATIENCE, lambda _: self._cost(plan, part, before), silent, wall=2 * PATIENCE)
        except (BadInput, GaveUp, InternalError):
            return None
        if found is None:
            self.refused += 1
            return None
        if not script:
            self.runs.update(found.runs)
        cycles = self._corrected(found)
        others = {} if known is None else known[1].cycles
        return None if cycles is None else Estimated(script, plan, {**others, **cycles}, origin)

    def _performed(self, script: Script) -> Plan:
        """The plan after a script, from the longest beginning of it that is known."""
        for count in range(len(script), 0, -1):
            known = self.known.get(script[:count])
            if known is not None:
                return known.plan.perform(*script[count:])
        return self.plan.perform(*script)

    def _is_stored(self, plan: Plan) -> bool:
        """Whether the changes of storage, and the order they were made in, are proved already."""
        if not plan.storage:
            return False
        begun = tuple(one.step for one in plan.history[: plan.storage[-1].step + 1])
        return len(begun) < len(plan.history) and self.known.get(begun) is not None

    def _cost(self, plan: Plan, part: Plan, before: Plan | None) -> Estimate | None:
        """What the statements of a part of the plan cost; None where the plan is not legal.

        `before` is one that is, from which the plan was made.
        """
        dependences, allowed = self._setting(plan).dependences, self.allow_reassociation
        if plan.storage and not self._is_stored(plan):
            is_legal = prove_plan(plan, allow_reassociation=allowed).proved
        else:
            is_legal = is_kept(plan, dependences, before=before, allow_reassociation=allowed)
        if not is_legal:
            return None
        node = generate(to_schedule(part), GenerationOptions())
        return estimate(node, part.program, self.setting.sizes, self.setting.machine, self.threads)


    def _corrected(self, found: Estimate) -> Mapping[str, float] | None:
        """Cycles for as many runs of each statement as the program as written has.

        Where the middles of loops are not like the rest of them, as in slanted tiles, it seems to run more
        often or less; where a statement that counts seems hardly to run, nothing is known.
        """
        original = self.known.get(())
        costly = [] if original is None else self._costly(original)
        cycles = dict(found.cycles)
        for name, runs in found.runs.items():
            wanted = self.runs.get(name, runs)
            if runs * FAR < wanted and name in costly:
                return None
            cycles[name] *= wanted / runs if runs else 1.0
        return cycles


def _rank(one: Estimated) -> tuple[float, int]:
    return one.total, len(one.script)
