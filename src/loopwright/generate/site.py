"""The place in the schedule tree whose dimensions are being generated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.generate.grafts import Graft
from loopwright.generate.options import Options
from loopwright.generate.stock import Stock
from loopwright.model.schedule import Band, LoopType, Member, Tree

Executed: TypeAlias = tuple[isl.Map, ...]
"""The executed relation [Grosser2015, section 4.1]: for each statement, a map from schedule points."""

Inner: TypeAlias = Callable[["Run", Stock, Executed], list[Graft]]

MOST_COPIES = 120
"""Copies of a statement that cutting loops may make, all nested cuts together."""


@dataclass(frozen=True)
class Run:
    """What one run of the generator shares: the user's options and what is counted."""

    options: Options
    arguments: dict[str, isl.Map]
    hints: bool
    """Whether calls name their schedule point, for schedules that are not single-valued."""
    prefix: str
    """What iterator names start with."""
    copies: Iterator[int]
    cuts: int = MOST_COPIES
    """Into how many pieces what is generated here may still be cut."""

    def count_copy(self) -> None:
        limit = self.options.max_statements
        if limit is not None and next(self.copies) >= limit:
            raise GaveUp(
                Code.SIZE,
                f"the program has more than {limit} statement copies",
                hint="raise --max-statements, or ask for less separation or unrolling",
            )


@dataclass(frozen=True)
class Site:
    """A band under generation, and what follows when its last dimension has been entered."""

    run: Run
    band: Band
    first_time: int
    """The schedule dimension that the band's first member is."""
    inner: Inner
    options: Mapping[str, isl.UnionMap] = field(default_factory=dict)
    """The band's position-dependent options by what they ask for (see `regions`)."""
    isolated: bool = False
    unordered: bool = False
    """The band's dimensions carry no order: its loops may run in parallel [Quillere2000, section 6.3]."""

    @property
    def child(self) -> Tree:
        return self.band.child

    @property
    def splits(self) -> bool:
        """Whether the band asks for parts of its dimensions to be treated apart."""
        return self.band.isolate is not None or bool(self.options)

    def cut(self, ways: int) -> Site:
        """The site in one of the pieces of a loop: each has its share of the cuts that are left."""
        return self if ways <= 1 else replace(self, run=replace(self.run, cuts=self.run.cuts // ways))

    def inside_isolation(self) -> Site:
        return replace(self, isolated=True)

    def member(self, stock: Stock) -> Member | None:
        """The band member the current dimension scans; None for one the generator added."""
        origin = stock.origins[stock.level]
        return None if origin is None else self.band.members[origin - self.first_time]

    def loop_type(self, stock: Stock) -> LoopType:
        """How the band or the user wants the dimension broken up [Grosser2015, section 5.4]."""
        member = self.member(stock)
        if member is None:
            return LoopType.DEFAULT
        chosen = member.isolated_loop_type if self.isolated else member.loop_type
        if chosen is LoopType.DEFAULT:
            chosen = self.run.options.loop_type
        options = self.run.options
        if chosen is LoopType.SEPARATE and (
            stock.level < options.separate_from
            or (options.separate_depth is not None and stock.level >= options.separate_depth)
        ):
            return LoopType.ATOMIC
        return chosen


    def unrolls(self, stock: Stock) -> bool:
        """Whether values of the current dimension are written out (5.5)."""
        return self.loop_type(stock) is LoopType.UNROLL or LoopType.UNROLL.value in self.options


def restrict(executed: Executed, domain: isl.Set) -> Executed:
    """The executed relation on part of the schedule domain."""
    restricted = (relation.intersect_domain(domain) for relation in executed)
    return tuple(relation for relation in restricted if not relation.is_empty())
