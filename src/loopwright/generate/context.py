"""The context of generation [Grosser2015, section 4.2]: everything that determines the code generated at a
place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.generate.grafts import Graft
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import Annotation
from loopwright.model.schedule import LEAF, Annotated, Band, LoopType, Member
from loopwright.presburger.sets import DIM, OUT, substitution

Executed: TypeAlias = tuple[isl.Map, ...]
"""The executed relation [Grosser2015, section 4.1]: for each statement, a map from schedule points."""

MOST_COPIES = 120
"""How many copies of a statement cutting loops may make, over all nested cuts."""


@dataclass(frozen=True)
class GenerationOptions:
    """Options of the user for the generator, besides the schedule's own."""

    loop_type: LoopType = LoopType.DEFAULT
    """The loop type of every schedule dimension that does not name its own."""
    separate_from: int = 0
    """Separation starts at this depth: outer loops stay perfectly nested [Quillere2000, section 6.1]."""
    separate_depth: int | None = None
    """Separation stops at this depth: deeper dimensions are atomic, which bounds code size."""
    single_upper_bound: bool = True
    """`c0 <= min(a, b)` rather than `c0 <= a && c0 <= b` [Grosser2015, section 5.3]."""
    nested_bounds: bool = True
    """Drop conditions that inner loops enforce anyway [Grosser2015, example 5.5]."""
    split_bounds: bool = False
    """Remove min and max from loop bounds by splitting outer loops [Quillere2000, section 7]."""
    dead_loops: bool = False
    """Separate again, by the contexts in which inner loops are not empty [Quillere2000, section 6]."""
    max_statements: int | None = None
    """Give up when the program grows beyond this many statement copies."""
    max_unroll: int = 100_000
    """Give up rather than unroll a loop into more copies than this."""


@dataclass(frozen=True)
class GenerationRun:
    """The state shared by all places of one program."""

    options: GenerationOptions
    arguments: dict[str, isl.Map]
    hints: bool
    """Whether calls name their schedule point, for schedules that are not single-valued."""
    prefix: str
    """The prefix of iterator names."""
    copies: Iterator[int]

    def count_copy(self) -> None:
        limit = self.options.max_statements
        if limit is not None and next(self.copies) >= limit:
            raise GaveUp(
                Code.SIZE,
                f"the program has more than {limit} statement copies",
                hint="raise --max-statements, or ask for less separation or unrolling",
            )


@dataclass(frozen=True)
class BandSite:
    """A band under generation, and the continuation after its last dimension has been entered."""

    band: Band
    first_time: int
    """The schedule dimension of the band's first member."""
    inner: Inner
    options: Mapping[str, isl.UnionMap] = field(default_factory=dict)
    """The band's position-dependent options by their target (see `pieces.options_by_name`)."""
    isolated: bool = False
    """Whether this is the isolated part of the band."""
    unordered: bool = False
    """The band's dimensions carry no order: its loops may run in parallel [Quillere2000, section 6.3]."""

    @property
    def splits(self) -> bool:
        """Whether the band requests separate treatment of parts of its dimensions."""
        return self.band.isolate is not None or bool(self.options)


@dataclass(frozen=True)
class GenerationContext:
    """Conditions on parameters and outer iterators, the meaning of the iterators, and the band.

    `generated`  conditions that the outer nodes definitely enforce: loop bounds and strides;
    `pending`    conditions they may enforce, unless inner nodes turn out to imply them;
    `known`      both together;
    `times`      the schedule's own dimensions as functions of the iterators.
    All are over the space of `names`; dimensions from `level` on are still free.
    """

    run: GenerationRun
    site: BandSite
    names: tuple[str, ...]
    level: int
    generated: isl.Set
    pending: isl.Set
    known: isl.Set
    times: isl.MultiAff
    origins: tuple[int | None, ...]
    """For each dimension the schedule dimension it scans; None for those the generator added."""
    annotations: tuple[Annotated, ...] = ()
    """The annotations of dimensions by the schedule, from the root to here."""
    cuts: int = MOST_COPIES
    """The number of pieces into which the code here may still be cut."""

    @staticmethod
    def initial(run: GenerationRun, context: isl.Set) -> GenerationContext:
        """The initial context, without dimensions; known facts about the parameters need no test."""
        domain = isl.Set.from_params(context) if context.is_params() else context
        times = isl.MultiAff.zero(domain.get_space().map_from_set())
        universe = isl.Set.universe(domain.get_space())
        outside = BandSite(Band(isl.UnionMap.empty(domain.get_space()), (), LEAF), 0, lambda c, e: [])
        return GenerationContext(run, outside, (), 0, domain, universe, domain, times, ())

    @property
    def options(self) -> GenerationOptions:
        return self.run.options

    @property
    def space(self) -> isl.Space:
        return self.generated.get_space()

    @property
    def innermost(self) -> bool:
        """Whether all dimensions of the band have been entered."""
        return self.level == len(self.names)

    @property
    def dimension(self) -> int | None:
        """The schedule dimension that the current dimension scans."""
        return self.origins[self.level]

    @property
    def member(self) -> Member | None:
        """The band member the current dimension scans; None for one the generator added."""
        origin = self.dimension
        return None if origin is None else self.site.band.members[origin - self.site.first_time]

    @property
    def loop_type(self) -> LoopType:
        """The loop type of the dimension, by the band or by the user [Grosser2015, section 5.4]."""
        member, options = self.member, self.options
        if member is None:
            return LoopType.DEFAULT
        chosen = member.isolated_loop_type if self.site.isolated else member.loop_type
        if chosen is LoopType.DEFAULT:
            chosen = options.loop_type
        if chosen is LoopType.SEPARATE and (
            self.level < options.separate_from
            or (options.separate_depth is not None and self.level >= options.separate_depth)
        ):
            return LoopType.ATOMIC
        return chosen

    @property
    def unrolls(self) -> bool:
        """Whether the current dimension is unrolled [Grosser2015, section 5.5]."""
        return self.loop_type is LoopType.UNROLL or LoopType.UNROLL.value in self.site.options

    def said(self) -> tuple[Annotation, ...]:
        """The distinct annotations of the current dimension by the schedule."""
        here = (one.annotation for one in self.annotations if one.dimension == self.dimension)
        return tuple(dict.fromkeys(here))

    def annotated(self, annotation: Annotated) -> GenerationContext:
        return replace(self, annotations=(*self.annotations, annotation))

    def cut(self, ways: int) -> GenerationContext:
        """The context in one of the pieces of a loop: each has its share of the cuts that are left."""
        return self if ways <= 1 else replace(self, cuts=self.cuts // ways)

    def inside_isolation(self) -> GenerationContext:
        return replace(self, site=replace(self.site, isolated=True))

    def assume(self, generated: isl.Set | None, pending: isl.Set | None) -> GenerationContext:
        """Add conditions of either kind."""
        context = self
        if generated is not None:
            context = replace(
                context,
                generated=context.generated.intersect(generated),
                known=context.known.intersect(generated),
            )
        if pending is not None:
            context = replace(
                context, pending=context.pending.intersect(pending), known=context.known.intersect(pending)
            )
        return context

    def enter(self) -> GenerationContext:
        """Go one level deeper."""
        return replace(self, level=self.level + 1)

    def eliminate(self, value: isl.Aff) -> GenerationContext:
        """The current dimension always has this value: it has no iterator."""
        return self.substitute(substitution(self.space, self.level, value))

    def substitute(self, plug: isl.MultiAff) -> GenerationContext:
        """Define the schedule dimensions as functions of the iterators by `plug`."""
        return replace(self, times=self.times.pullback_multi_aff(plug))

    def widen(
        self, site: BandSite, names: tuple[str, ...], origins: tuple[int | None, ...]
    ) -> GenerationContext:
        """Append the dimensions of a band, where those with an origin are new schedule dimensions."""
        count = len(names)
        first = len(self.names)
        generated = self.generated.add_dims(DIM, count)
        identity = isl.MultiAff.identity_on_domain_space(generated.get_space())
        times = self.times.pullback_multi_aff(identity.drop_dims(OUT, first, count))
        for offset, origin in enumerate(origins):
            if origin is not None:
                times = times.flat_range_product(isl.MultiAff.from_aff(identity.get_aff(first + offset)))
        return replace(
            self,
            site=site,
            names=self.names + names,
            generated=generated,
            pending=self.pending.add_dims(DIM, count),
            known=self.known.add_dims(DIM, count),
            times=times,
            origins=self.origins + origins,
        )

    def split_level(self) -> GenerationContext:
        """Insert a dimension r after the current one, t: together they are time t + r.

        [Grosser2015, section 5.8]
        """
        at = self.level + 1
        name = f"{self.names[self.level]}_shift"
        generated = self.generated.insert_dims(DIM, at, 1)
        # { [.., t, r, ..] -> [.., t + r, ..] }
        whole = isl.MultiAff.identity_on_domain_space(generated.get_space())
        merged = whole.set_aff(self.level, whole.get_aff(self.level).add(whole.get_aff(at)))
        merged = merged.drop_dims(OUT, at, 1)
        return replace(
            self,
            names=(*self.names[:at], name, *self.names[at:]),
            generated=generated,
            pending=self.pending.insert_dims(DIM, at, 1),
            known=self.known.insert_dims(DIM, at, 1),
            times=self.times.pullback_multi_aff(merged),
            origins=(*self.origins[:at], None, *self.origins[at:]),
        )


Inner: TypeAlias = Callable[[GenerationContext, Executed], list[Graft]]
"""Generates the subtree below a band, given the context inside all of its dimensions."""


def restrict(executed: Executed, domain: isl.Set) -> Executed:
    """The executed relation on part of the schedule domain."""
    restricted = (relation.intersect_domain(domain) for relation in executed)
    return tuple(relation for relation in restricted if not relation.is_empty())
