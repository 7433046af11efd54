"""Schedule trees [Grosser2015, section 6]: the instances to execute, and their order.

A flat schedule, a union map from instances to time vectors, is a tree of one band.  All sets
and maps are isl's; a tree is immutable.  Statement instances are named tuples; the space of an
unnamed statement has the name "".
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TypeAlias

import islpy as isl

from loopwright.display import Displayed
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import Annotation


class LoopType(Enum):
    """How the pieces of a schedule dimension become loops (5.4, 5.5)."""

    DEFAULT = "default"
    ATOMIC = "atomic"
    SEPARATE = "separate"
    UNROLL = "unroll"


@dataclass(frozen=True)
class Member:
    """One dimension of a band."""

    loop_type: LoopType = LoopType.DEFAULT
    isolated_loop_type: LoopType = LoopType.DEFAULT
    """The loop type inside the isolated part."""
    coincident: bool = False


@dataclass(frozen=True)
class Band:
    """Instances are ordered lexicographically by `schedule`, instances -> [t0, ..., t(n-1)].

    `isolate` maps outer schedule dimensions to the part of this band's dimensions to generate separately
    [Grosser2015, section 5.6].  `options` are the position-dependent ones of a flat schedule, `[t0, ...] ->
    unroll[d]`, `separate[d]`, `atomic[d]` or `separation_class[[d] -> [k]]`.
    """

    schedule: isl.UnionMap
    members: tuple[Member, ...]
    child: Tree
    permutable: bool = False
    isolate: isl.Map | None = None
    options: isl.UnionMap | None = None


@dataclass(frozen=True)
class Filter:
    """Only the instances in `filter` go on."""

    filter: isl.UnionSet
    child: Tree


@dataclass(frozen=True)
class Sequence:
    """The children one after the other."""

    children: tuple[Filter, ...]


@dataclass(frozen=True)
class AnyOrder:
    """The children in any order, even interleaved: isl's set node."""

    children: tuple[Filter, ...]


@dataclass(frozen=True)
class Context:
    """Holds of the parameters and the outer schedule dimensions; may name new parameters."""

    context: isl.Set
    child: Tree


@dataclass(frozen=True)
class Guard:
    """What follows runs only where `guard` holds of the parameters and outer dimensions."""

    guard: isl.Set
    child: Tree


@dataclass(frozen=True)
class Mark:
    """A remark of the schedule's author; it means nothing."""

    name: str
    child: Tree


@dataclass(frozen=True)
class Annotated:
    """Every loop below that scans schedule dimension `dimension`, counted from the root, has `annotation`."""

    annotation: Annotation
    dimension: int
    child: Tree


@dataclass(frozen=True)
class Extension:
    """Adds instances: `extension` maps outer schedule dimensions to them."""

    extension: isl.UnionMap
    child: Tree


@dataclass(frozen=True)
class Expansion:
    """Replaces each instance by those `expansion` maps it to."""

    expansion: isl.UnionMap
    child: Tree


@dataclass(frozen=True)
class Leaf:
    """Instances that come this far together run in any order."""


Tree: TypeAlias = (
    Band | Filter | Sequence | AnyOrder | Context | Guard | Mark | Annotated | Extension | Expansion | Leaf
)

LEAF = Leaf()


@dataclass(frozen=True)
class Schedule(Displayed):
    """The instances (`domain`), the conditions on the parameters (`context`) and the order (`tree`).

    `arguments` holds, for statements whose calls do not simply name the instance, the argument
    transformation T of [Courant2021, section 2]: a map from instances to the tuple of arguments.
    """

    domain: isl.UnionSet
    context: isl.Set
    tree: Tree
    arguments: dict[str, isl.Map] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line; `str(schedule.domain)` is isl's notation."""
        sets = self.domain.get_set_list()
        names = sorted(str(sets.get_at(k).get_tuple_name()) for k in range(sets.n_set()))
        return f"<Schedule of {', '.join(dict.fromkeys(names))}>"
