"""The tree of ifs around a list of grafts that becomes the body of one node [Grosser2015, section 5.9]."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce

import islpy as isl

from loopwright.generate.conditions import condition
from loopwright.generate.expressions import Place
from loopwright.generate.grafts import Graft
from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import Block, If, Node
from loopwright.presburger.sets import DIV, constraint_count, shared_constraints


@dataclass
class _Branching:
    """An if under construction [Grosser2015, example 5.18]: both branches may grow at their ends.

    `condition` and `complement` are what is known in the two branches; the second is costly, and
    few ifs have an else.
    """

    test: isl.Set
    place: Place
    condition: isl.Set
    then: list[Node | _Branching]
    orelse: list[Node | _Branching] = field(default_factory=list)

    @cached_property
    def complement(self) -> isl.Set:
        return self.place.known.subtract(self.test).coalesce()


def nest(grafts: list[Graft], place: Place) -> Node:
    """One node for a list of grafts: a tree of ifs around them, in order wherever two of them can run."""
    program: list[Node | _Branching] = []
    for graft in _simplest_first(_merge_twins(grafts)):
        guard = graft.guard.gist(place.known)
        inside = guard.intersect(graft.enforced).intersect(place.known) if program else guard
        if not inside.is_empty():
            _append(program, graft.node, guard, inside, place)
    return _block(program)


def _merge_twins(grafts: list[Graft]) -> list[Graft]:
    """Neighbours with the same text that never run together are one, under either guard."""
    result: list[Graft] = []
    for graft in grafts:
        last = result[-1] if result else None
        if last is not None and last.node == graft.node and last.guard.is_disjoint(graft.guard):
            guard = last.guard.union(graft.guard).coalesce()
            enforced = last.enforced.union(graft.enforced)
            result[-1] = Graft(graft.node, guard, enforced)
        else:
            result.append(graft)
    return result


def _simplest_first(grafts: list[Graft]) -> list[Graft]:
    """Of neighbours that exclude each other the one with the shortest guard first, the others in its else."""
    result: list[Graft] = []
    choices: list[Graft] = []
    for graft in grafts:
        if not all(graft.guard.is_disjoint(other.guard) for other in choices):
            result.extend(_with_first(choices))
            choices = []
        choices.append(graft)
    return result + _with_first(choices)


def _with_first(choices: list[Graft]) -> list[Graft]:
    if len(choices) < 2:
        return choices
    lengths = [constraint_count(graft.guard) for graft in choices]
    first = lengths.index(min(lengths))
    return [choices[first], *choices[:first], *choices[first + 1 :]]


def _append(
    program: list[Node | _Branching], node: Node, guard: isl.Set, inside: isl.Set, place: Place
) -> None:
    """Put `node` at the end of `program`, in the deepest branch that `inside` implies.

    `inside`, part of what is known, is where `node` has anything to execute.  The last if's branches
    exclude each other, so that the end of either one is the end of the program for whoever runs there.
    """
    last = program[-1] if program else None
    if isinstance(last, _Branching):
        if inside.is_subset(last.condition):
            return _append(last.then, node, guard, inside, Place(place.names, last.condition))
        if inside.is_disjoint(last.condition):
            return _append(last.orelse, node, guard, inside, Place(place.names, last.complement))
    rest = guard if guard.plain_is_universe() else simplified(guard, place.known)
    if rest.plain_is_universe():
        return program.append(node)
    around = _around_both(last, rest) if isinstance(last, _Branching) else None
    if around is not None:
        program[-1] = around
        return _append(around.then, node, guard, inside, Place(place.names, around.condition))
    return program.append(_Branching(rest, place, place.known.intersect(rest), [node]))


def _around_both(last: _Branching, guard: isl.Set) -> _Branching | None:
    """The last if inside one for the conditions that its test and `guard` both name, if there are such.

    if (a && b) S; if (a && c) T;  -->  if (a) { if (b) S; if (c) T; }
    """
    tests, others = _conjuncts(last.test), _conjuncts(guard)
    shared = [one for one in tests if any(one.plain_is_equal(other) for other in others)]
    if last.orelse or not shared:
        return None
    common = reduce(isl.Set.intersect, shared)
    inside = last.place.where(common)
    inner = _Branching(last.test.gist(inside.known), inside, last.condition, last.then)
    return _Branching(common, last.place, inside.known, [inner])


def _conjuncts(condition: isl.Set) -> list[isl.Set]:
    """The constraints of a conjunction without integer divisions, each by itself; none of others."""
    pieces = condition.get_basic_sets()
    if len(pieces) != 1 or pieces[0].dim(DIV) > 0:
        return []
    return [isl.BasicSet.from_constraint(one).to_set() for one in pieces[0].get_constraints()]


def simplified(guard: isl.Set, known: isl.Set) -> isl.Set:
    """The guard in the light of what is known, without a disjunction if there is a way."""
    rest = guard.gist(known).coalesce()
    if rest.n_basic_set() > 1:
        hull = shared_constraints(rest).to_set()
        if hull.intersect(known).is_subset(rest):
            return hull.gist(known)
    elif known.n_basic_set() > 1:
        return _without_implied(rest, known)
    return rest


def _without_implied(guard: isl.Set, known: isl.Set) -> isl.Set:
    """A conjunction without the constraints that the others imply, where what is known is a disjunction.

    isl's gist drops a constraint only where it follows from one of all disjuncts.
    """
    needed = _conjuncts(guard)
    if not needed:
        return guard
    for number in reversed(range(len(needed))):
        others = needed[:number] + needed[number + 1 :]
        if reduce(isl.Set.intersect, others, known).is_subset(needed[number]):
            needed = others
    return reduce(isl.Set.intersect, needed, isl.Set.universe(guard.get_space()))


def _block(items: list[Node | _Branching]) -> Node:
    nodes: list[Node] = []
    for item in items:
        node = _if_node(item) if isinstance(item, _Branching) else item
        nodes.extend(node.children if isinstance(node, Block) else [node])
    return nodes[0] if len(nodes) == 1 else Block(tuple(nodes))


def _if_node(branching: _Branching) -> Node:
    test = condition(branching.test, branching.place)
    then = _block(branching.then)
    if test == TRUE:
        return then
    return If(test, then, _block(branching.orelse) if branching.orelse else None)
