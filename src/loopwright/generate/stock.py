"""The stock [Grosser2015, section 4.2]: what is known at the place in the program that is being generated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from loopwright.model.annotations import Annotation
from loopwright.model.schedule import Annotated
from loopwright.presburger.sets import DIM, substitution


@dataclass(frozen=True)
class Stock:
    """Conditions on parameters and outer iterators, and what the iterators stand for.

    `generated`  conditions the outer nodes enforce for certain: loop bounds and strides;
    `pending`    conditions they may enforce, unless inner nodes turn out to imply them;
    `known`      both together;
    `times`      the schedule's own dimensions as functions of the iterators.
    All are over the space of `names`; dimensions from `level` on are still free.
    """

    names: tuple[str, ...]
    level: int
    generated: isl.Set
    pending: isl.Set
    known: isl.Set
    times: isl.MultiAff
    origins: tuple[int | None, ...]
    """For each dimension the schedule dimension it scans; None for those the generator added."""
    annotations: tuple[Annotated, ...] = ()
    """What the schedule says of dimensions, from the root to here."""

    @property
    def dimension(self) -> int | None:
        """The schedule dimension that the current dimension scans."""
        return self.origins[self.level]

    def said(self) -> tuple[Annotation, ...]:
        """What the schedule says of the current dimension, each once."""
        here = (one.annotation for one in self.annotations if one.dimension == self.dimension)
        return tuple(dict.fromkeys(here))

    @property
    def space(self) -> isl.Space:
        return self.generated.get_space()

    @property
    def innermost(self) -> bool:
        return self.level == len(self.names)

    def assume(self, generated: isl.Set | None, pending: isl.Set | None) -> Stock:
        """Add conditions of either kind."""
        stock = self
        if generated is not None:
            stock = replace(
                stock,
                generated=stock.generated.intersect(generated),
                known=stock.known.intersect(generated),
            )
        if pending is not None:
            stock = replace(
                stock, pending=stock.pending.intersect(pending), known=stock.known.intersect(pending)
            )
        return stock

    def enter(self) -> Stock:
        """Go one level deeper."""
        return replace(self, level=self.level + 1)

    def eliminate(self, value: isl.Aff) -> Stock:
        """The current dimension always has this value: no iterator stands for it."""
        return self.substitute(substitution(self.space, self.level, value))

    def substitute(self, plug: isl.MultiAff) -> Stock:
        """The iterators stand for schedule dimensions through `plug`."""
        return replace(self, times=self.times.pullback_multi_aff(plug))

    def widen(self, names: tuple[str, ...], origins: tuple[int | None, ...]) -> Stock:
        """Append dimensions, those with an origin standing for new schedule dimensions."""
        count = len(names)
        first = len(self.names)
        generated = self.generated.add_dims(DIM, count)
        space = generated.get_space()
        identity = isl.MultiAff.identity_on_domain_space(space)
        times = self.times.pullback_multi_aff(identity.drop_dims(isl.dim_type.out, first, count))
        for offset, origin in enumerate(origins):
            if origin is not None:
                times = append(times, identity.get_aff(first + offset))
        return replace(
            self,
            names=self.names + names,
            generated=generated,
            pending=self.pending.add_dims(DIM, count),
            known=self.known.add_dims(DIM, count),
            times=times,
            origins=self.origins + origins,
        )

    def split_level(self) -> Stock:
        """Insert a dimension r after the current one, t: together they are time t + r.

        [Grosser2015, section 5.8]
        """
        at = self.level + 1
        name = f"{self.names[self.level]}_shift"
        generated = self.generated.insert_dims(DIM, at, 1)
        # { [.., t, r, ..] -> [.., t + r, ..] }
        whole = isl.MultiAff.identity_on_domain_space(generated.get_space())
        merged = whole.set_aff(self.level, whole.get_aff(self.level).add(whole.get_aff(at)))
        merged = merged.drop_dims(isl.dim_type.out, at, 1)
        return replace(
            self,
            names=(*self.names[:at], name, *self.names[at:]),
            generated=generated,
            pending=self.pending.insert_dims(DIM, at, 1),
            known=self.known.insert_dims(DIM, at, 1),
            times=self.times.pullback_multi_aff(merged),
            origins=(*self.origins[:at], None, *self.origins[at:]),
        )


def append(function: isl.MultiAff, component: isl.Aff) -> isl.MultiAff:
    """The function with one more component."""
    return function.flat_range_product(isl.MultiAff.from_aff(component))


def initial_stock(context: isl.Set) -> Stock:
    """No dimensions yet, the context known and enforced by nobody's code but the caller's."""
    domain = isl.Set.from_params(context) if context.is_params() else context
    times = isl.MultiAff.zero(domain.get_space().map_from_set())
    universe = isl.Set.universe(domain.get_space())
    return Stock((), 0, domain, universe, domain, times, ())
