"""Annotated trees, and the conditions to hoist from a list of them [Grosser2015, sections 4.4 and 5.9]."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from loopwright.loops.nodes import Node
from loopwright.presburger.sets import DIM, involves, shared_constraints, union


@dataclass(frozen=True)
class Graft:
    """A piece of program with what it still needs and what it gives.

    `guard`     must be enforced around `node`, here or further out;
    `enforced`  holds of every instance that `node` executes;
    `copies`    of how many values of inner dimensions `node` is one, because they are written out.
    """

    node: Node
    guard: isl.Set
    enforced: isl.Set
    copies: int = 1

    def guarded(self, extra: isl.Set) -> Graft:
        return replace(self, guard=self.guard.intersect(extra))

    def without_dimension(self, position: int, count: int = 1) -> Graft:
        """The same graft in a space without dimensions that its conditions no longer mention."""
        return replace(
            self,
            guard=self.guard.project_out(DIM, position, count),
            enforced=self.enforced.project_out(DIM, position, count).remove_unknown_divs(),
        )


def most_copies(grafts: list[Graft]) -> int:
    return max(graft.copies for graft in grafts)


def shared_enforced(grafts: list[Graft], level: int | None) -> isl.Set:
    """What every instance below satisfies, said without the dimension `level`."""
    everything = union(graft.enforced for graft in grafts)
    hull = shared_constraints(everything.coalesce()).to_set()
    return _without(hull, level)


def hoistable_guard(grafts: list[Graft], known: isl.Set, level: int | None) -> isl.Set:
    """The conditions all guards share and that do not depend on `level` [Grosser2015, section 5.9].

    Equal guards are hoisted whole; otherwise a constraint of some guard is shared if every
    graft's guard, known and enforced conditions imply it.
    """
    first = grafts[0].guard
    if all(graft.guard.plain_is_universe() for graft in grafts):
        return first
    same = all(graft.guard.plain_is_equal(first) for graft in grafts[1:])
    if same and (level is None or not involves(first, level)):
        return first
    candidates = [independent(graft.guard, level) for graft in grafts]
    if len(grafts) == 1:
        return shared_constraints(candidates[0]).to_set()
    whole = union(graft.guard.intersect(graft.enforced).intersect(known) for graft in grafts)
    if whole.is_empty():
        return isl.Set.universe(known.get_space())
    listed = isl.SetList.alloc(known.get_ctx(), len(grafts))
    for guard in candidates:
        listed = listed.add(guard)
    return whole.unshifted_simple_hull_from_set_list(listed).to_set()


def independent(guard: isl.Set, level: int | None) -> isl.Set:
    """Only the constraints that do not depend on `level`."""
    if level is None or not involves(guard, level):
        return guard
    return guard.remove_divs_involving_dims(DIM, level, 1).drop_constraints_involving_dims(DIM, level, 1)


def _without(domain: isl.Set, level: int | None) -> isl.Set:
    """Project `level` out, keeping only what can be said without quantifiers."""
    if level is None or not involves(domain, level):
        return domain
    return domain.eliminate(DIM, level, 1).remove_unknown_divs()
