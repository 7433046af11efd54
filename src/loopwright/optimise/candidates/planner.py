"""The model-based search: scripts for one region, ranked by the estimated cycles of their programs.

First the structures: the region as written, distributed, the same after expanding temporaries that prevent
distribution, and as scheduled by isl.  Then, nest by nest, the phases of `moves`; each phase keeps the few
best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import islice, takewhile

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.columns import columns
from loopwright.optimise.candidates.flight import pipelines
from loopwright.optimise.candidates.judging import GIVEN, Estimated, Judge
from loopwright.optimise.candidates.nests import Phase, Script, is_written_out, nest_of, targets, tiles_copied
from loopwright.optimise.candidates.orders import ORDERING
from loopwright.optimise.candidates.scheduler import Fusion, scheduled
from loopwright.optimise.candidates.storage import (
    contractions,
    expansions,
    packings,
    renamings,
    rings,
    split_sums,
)
from loopwright.optimise.candidates.structures import around, fusions
from loopwright.optimise.candidates.sums import register_sums
from loopwright.optimise.candidates.threads import ends, parallelise, shared_by_threads
from loopwright.optimise.candidates.tiles import BLOCKING
from loopwright.progress import Progress
from loopwright.transform import Plan
from loopwright.transform.script.operations import DistributeLegally, Widen
from loopwright.transform.script.steps import Step
from loopwright.transform.vectors import pieces

WIDTH = 3
"""The number of scripts kept after each phase."""

SHARE = 0.5
"""The part of the time for the first structure; the rest get what it leaves."""

FIRST = 0.5
"""The part of the time for the statements as written, and for each of them in loops of its own."""

STRUCTURES = 4
"""The number of ways to share loops that are tried."""

ORDERED = 0.4
"""The part of the time for ordering the loops of all structures."""

NEAR = 2.0
"""A structure is near the best one up to this factor on its cost."""

SMALL = 0.2
"""Another order that saves less than this part of a nest is rejected: it hinders other moves."""

LITTLE = 0.01
"""Blocks of a nest that save less than this part of all cycles are rejected: their proofs may take long."""

FEW = 4
"""The fusions of adjacent nests that are tried first."""

CERTAIN = 2
"""The least number of scripts of a phase to try, regardless of time."""

AWAITED = 0.8
"""The part of the remaining time added for parallelising the initial script."""

HOPEFUL = 3.0
"""A structure that costs more than so many times the cheapest one is not blocked first."""

EXPANDED = "temporaries expanded, "

SCHEDULING = 1.0
"""The time limit in seconds for isl's scheduler."""

COPYING: tuple[Phase, ...] = (register_sums, columns)
"""Blocks with tiles that are copied: made of nests without others."""

WORTH, WORTH_AN_ORDER = 0.005, 0.001
"""A nest with a smaller part of the cycles is not blocked, and not put into another order.

A small nest weighs more once the rest are fast."""


@dataclass
class Planner:
    """The search in one region; with `alone`, the only one of its file."""

    judge: Judge
    alone: bool = True
    start: Script = ()
    """The initial scripts of the search."""
    liked: dict[Phase, int] = field(default_factory=dict)
    """The index of the best script of a phase where it was last tried."""

    def ranked(self) -> list[Estimated]:
        """All legal scripts that were found, the cheapest first, with the original.

        The usual structures are tried before others: they usually contain the best script.
        """
        self._given()
        parts = ends(self.judge)
        self.judge.deadline = next(parts)
        usual = list(self._usual())
        begun = self.judge.clock()
        ordered = self._ordered(usual, begun + FIRST * ORDERED * self._left(begun))
        ordered += self._pipelined(self.judge.original())
        ordered += self._joined([self.judge.original()], "neighbours joined", FEW)
        cheapest = min(one.total for one in ordered)
        hopeful = [one for one in ordered if one.total < HOPEFUL * cheapest]
        self._blocked(sorted(hopeful, key=lambda one: one.promise), FIRST)
        self.judge.deadline = next(parts)
        parallelise(self.judge, 1)
        self.judge.deadline = next(parts)
        known = {start.script for start in usual}
        others = [one for one in self._structures() if one.script not in known]
        begun = self.judge.clock()
        ordered += self._ordered(others, begun + ORDERED * self._left(begun))
        ordered += self._joined(sorted(ordered, key=_rank)[:2], "ordered, then joined")
        self._blocked(self._promising(ordered), 1.0)
        self.judge.deadline = next(parts)
        parallelise(self.judge, WIDTH)
        self._widened(_kept(self.judge.found(), WIDTH))
        return sorted(self.judge.found(), key=lambda one: not one.origin.startswith(GIVEN))

    def _given(self) -> None:
        """The initial script, also parallelised for several threads."""
        if not self.start:
            return
        self.judge.original()  # it gives the execution counts of statements
        one = self.judge.estimated(self.start, GIVEN)
        if one is None:
            raise GaveUp(
                Code.TIME,
                "the script given by --start is not legal, or could not be judged in time",
                hint="'loopwright transform' says which step is refused",
            )
        if self.judge.threads > 1:
            end = self.judge.deadline
            self.judge.deadline += AWAITED * max(0.0, self._left(self.judge.clock()))
            list(shared_by_threads(self.judge, one))
            self.judge.deadline = end

    def _widened(self, pool: list[Estimated]) -> None:
        """The best scripts, and the shortest of equally cheap ones, with the widest vectors.

        Compilers use these only on request.
        """
        wide = Step(Widen())
        near = (one for one in self.judge.found() if one.total * (1 - LITTLE) <= pool[0].total)
        lean = min(near, key=lambda one: len(one.script))
        for one in (*pool, lean) if self.judge.setting.machine.widest else ():
            if wide not in one.script:
                self.judge.estimated((*one.script, wide), f"{one.origin}, wide vectors", late=True)

    def _usual(self) -> Iterator[Estimated]:
        """As written, and distributed; then with obstacles to distribution removed.

        A scalar that holds a sum keeps its statements in the same loops and fixes the order of these; a
        matrix read down its columns prevents vectors.  If costly statements still share loops, isl's
        scheduler may find another order in which they do not.
        """
        original = self.judge.original()
        apart = [original, *self._apart(original)]
        yield from apart
        expanded = self._expanded()[-1:]
        freed = [one for start in expanded for one in self._apart(start, EXPANDED)]
        yield from freed
        for start, after in ((original, apart[-1]), *zip(expanded, freed, strict=False)):
            if not after.is_separate:
                yield from self._scheduled(start, EXPANDED if start.script else "", (Fusion.SCC,))
        parted = list(self._parted())
        yield from parted
        for start in (*apart[-1:], *freed, *parted):
            yield from self._packed(start)

    def _parted(self) -> Iterator[Estimated]:
        """Split sums into parts added in sequence, if reassociation is allowed."""
        script = split_sums(self.judge.plan) if self.judge.allow_reassociation else ()
        if script and (one := self.judge.estimated(script, "sums split")) is not None:
            yield from self._apart(one, "sums split, ")

    def _left(self, now: float) -> float:
        """The seconds until this part of the search ends."""
        return self.judge.deadline - now

    def _ordered(self, starts: Sequence[Estimated], until: float) -> list[Estimated]:
        """Find the best loop order of each structure, each in its part of the time."""
        begun = self.judge.clock()
        found: list[Estimated] = []
        for number, start in enumerate(starts, 1):
            found += self._improved([start], ORDERING, 1, begun + (until - begun) * number / len(starts))
        return found

    def _blocked(self, ordered: Sequence[Estimated], part: float) -> None:
        """Block the nests of some structures, in this part of the remaining time."""
        begun = self.judge.clock()
        for number, one in enumerate(ordered):
            share = SHARE + (1 - SHARE) * number / max(1, len(ordered) - 1)
            self._improved([one], BLOCKING, WIDTH, begun + share * part * self._left(begun))

    def _promising(self, ordered: list[Estimated]) -> list[Estimated]:
        """The cheapest structures; first those whose costly statements have separate loops, if they are near.

        Blocking is most effective on a perfect nest of one statement.
        """
        cheapest = min(one.total for one in ordered)
        groups: dict[frozenset[str], Estimated] = {}
        for one in sorted(ordered, key=lambda one: (not one.is_separate, _rank(one))):
            groups.setdefault(self._costly_nests(one), one)
        best = sorted(groups.values(), key=_rank)
        near = [one for one in best if one.total < NEAR * cheapest and one.is_separate]
        return [*near, *(one for one in best if one not in near)][:STRUCTURES]

    def _costly_nests(self, one: Estimated) -> frozenset[str]:
        """The key by which structures are equal: nests of costly statements, their loops, the storage."""
        found: dict[int, dict[str, tuple[str, ...]]] = {}
        for name in one.costly:
            ((place, _), *_) = pieces(one.plan.program.statement(name).schedule)
            found.setdefault(place[0], {})[name] = one.plan.leaf(place).loops
        storage = [str(one.plan.history[change.step].step) for change in one.plan.storage]
        return frozenset([*map(str, found.values()), *storage])

    def _pipelined(self, start: Estimated) -> list[Estimated]:
        """Pipeline all stages row by row, with few rows of intermediate results."""
        found = []
        for script in pipelines(start.plan, self.judge.setting_of(start.plan).dependences):
            one = self.judge.estimated(script, "row by row")
            stored = () if one is None else ((*script, *steps) for steps in rings(one.plan))
            known = (self.judge.estimated(more, "row by row, few rows") for more in stored)
            few = next((more for more in known if more is not None), None)
            found += [more for more in (one, few) if more is not None]
        return found

    def _joined(self, starts: Sequence[Estimated], origin: str, most: int | None = None) -> list[Estimated]:
        """Fuse adjacent nests; the first fusions of each start."""
        found = []
        for start in starts:
            for script in islice(fusions(start.plan, self.judge.setting.dependences), most):
                one = None if self.judge.is_over() else self.judge.estimated(script, origin)
                found += [] if one is None else self._contracted(one)
        return found

    def _contracted(self, joined: Estimated) -> list[Estimated]:
        """The plan unchanged, and with the smallest legal storage for intermediate results of a nest."""
        found = [joined]
        for steps in contractions(joined.plan):
            tried = ((*found[-1].script, step) for step in steps)
            known = (self.judge.estimated(script, f"{joined.origin}, few rows") for script in tried)
            found += islice((one for one in known if one is not None), 1)
        return found

    def _structures(self) -> Iterator[Estimated]:
        """Other ways to share loops and storage, each once; those found immediately come first."""
        original = self.judge.original()
        starts = [original, *self._apart(original)]
        for one in starts if starts[-1].plan.leaves != self.judge.plan.leaves else starts[:1]:
            for script, origin in around(one.plan, self.judge.setting):
                more = None if self.judge.is_over() else self.judge.estimated(script, origin)
                if more is not None:
                    yield more
        yield from self._scheduled(original)
        for start in reversed(self._expanded()):
            yield from self._apart(start, EXPANDED)
            yield from self._scheduled(start, EXPANDED)
        for start in (original, *self._expanded()):
            yield from self._packed(next(self._apart(start), start))

    def _apart(self, start: Estimated, title: str = "") -> Iterator[Estimated]:
        """Each statement in loops of its own, as far as that is legal."""
        if self.alone and len(start.plan.leaves) > 1:
            script = (*start.script, Step(DistributeLegally()))
            one = self.judge.estimated(script, f"{title}distributed as far as it is legal")
            if one is not None:
                yield one

    def _scheduled(
        self, start: Estimated, title: str = "", kinds: Iterable[Fusion] = Fusion
    ) -> Iterator[Estimated]:
        """The fusions of a plan's statements by isl's scheduler."""
        scripts: dict[Script, str] = {}
        for fusion in kinds:
            if self.judge.is_over():
                return
            try:
                script = self.judge.limited(self._proposal(start.plan, fusion), SCHEDULING)
            except (GaveUp, InternalError):
                continue
            if script:
                scripts.setdefault(script, f"isl's schedule: {fusion.value}")
        for script, origin in scripts.items():
            one = self.judge.estimated((*start.script, *script), f"{title}{origin}")
            if one is not None:
                yield one

    def _proposal(self, plan: Plan, fusion: Fusion) -> Callable[[Progress], Script | None]:
        return lambda _: scheduled(plan, self.judge.setting_of(plan).dependences, fusion)

    def _packed(self, start: Estimated) -> Iterator[Estimated]:
        """Pack matrices for statements in separate loops."""
        for script in packings(start.plan):
            packed = None if self.judge.is_over() else self.judge.estimated(script, "matrices transposed")
            if packed is not None:
                yield packed

    def _expanded(self) -> list[Estimated]:
        """Expand all possible temporaries, along few loops, along more, along all."""
        plan, judge = self.judge.plan, self.judge
        if judge.is_over():
            return []
        own = [steps for steps in renamings(plan) if judge.estimated(steps, "expanded") is not None]
        scripts: list[Script] = [tuple(step for steps in own for step in steps)] if own else []
        choices = [] if own else expansions(plan)
        for number in range(max(map(len, choices), default=0)):
            scripts.append(self._legal([one[min(number, len(one) - 1)] for one in choices]))
        found = [judge.estimated(script, "temporaries expanded") for script in scripts if script]
        return [one for one in found if one is not None]

    def _legal(self, steps: Sequence[Step]) -> Script:
        """All steps if they are legal together, else those that are legal alone."""
        script = tuple(steps)
        if not script or self.judge.estimated(script, "temporaries expanded") is not None:
            return script
        return tuple(step for step in script if self.judge.estimated((step,), "expanded") is not None)

    def _improved(
        self, pool: list[Estimated], phases: Sequence[Phase], width: int, until: float
    ) -> list[Estimated]:
        """Improve the nests of a structure, costly ones first, each in time proportional to its cycles.

        The judge records the results too.
        """
        start = pool[0]
        nests = [start.plan.statements_at(target.component) for target in targets(start.plan)]
        weights = {names: sum(start.cycles[name] for name in names) / start.total for names in nests}
        least = WORTH_AN_ORDER if phases is ORDERING else WORTH
        costly = [names for names in nests if weights[names] >= least]
        if phases is BLOCKING:
            costly.sort(key=lambda names: -weights[names])  # an outer one before its inner ones
        for number, names in enumerate(costly):
            now = self.judge.clock()
            part = weights[names] / sum(weights[one] for one in costly[number:])
            end = now + part * (until - now)
            before = pool
            for phase in phases:
                pool = self._extended(pool, names, phase, width, end)
            if phases is BLOCKING:
                for phase in COPYING:
                    copied = self._extended(before, names, phase, width, end)
                    others = (one for one in copied if one not in pool)
                    pool = _kept(sorted([*pool, *others], key=_rank), width)
            saved = before[0].total - pool[0].total
            wanted = LITTLE * before[0].total
            if saved < (wanted if phases is BLOCKING else SMALL * weights[names] * start.total):
                pool = before
            pool = _kept(pool, 1 if len(names) == 1 else width)
        return pool

    def _extended(
        self, pool: list[Estimated], names: tuple[str, ...], phase: Phase, width: int, until: float
    ) -> list[Estimated]:
        """The best scripts of a phase for one nest; winners of other nests are tried first."""
        found = dict.fromkeys(one.script for one in pool)
        numbers: dict[Script, int] = {}
        for one in pool:
            nest = nest_of(one.plan, names)
            if nest is None or is_written_out(one.plan, nest) or self.judge.is_over():
                continue
            made = phase(one.plan, nest, self.judge.setting_of(one.plan))
            scripts = list(takewhile(lambda _: not self.judge.is_over(), made))
            numbers |= {script: number for number, script in enumerate(scripts)}
            liked = self.liked.get(phase)
            for tried, script in enumerate(sorted(scripts, key=lambda script: numbers[script] != liked)):
                if self.judge.clock() > (until if tried >= CERTAIN else self.judge.deadline):
                    break
                after = self.judge.estimated(script, one.origin, (names, one))
                if after is not None:
                    found[after.script] = None
        known = [self.judge.known[script] for script in found]
        best = _kept(sorted((one for one in known if one is not None), key=_rank), width)
        if best and best[0].script in numbers:
            self.liked[phase] = numbers[best[0].script]
        return best


def _kept(pool: list[Estimated], count: int) -> list[Estimated]:
    """The best scripts, and the best without copied tiles, which take long to prove."""
    plain = next((k for k, one in enumerate(pool) if not tiles_copied(one.script)), 0)
    return [*pool[:count], *(pool[plain : plain + 1] if plain >= count else ())]


def _rank(one: Estimated) -> tuple[float, int]:
    return one.rank
