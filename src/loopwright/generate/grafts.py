"""Grafts: pieces of program with the conditions they need [Grosser2015, sections 4.4 and 5.9].

Their common conditions are hoisted; the rest becomes a tree of ifs around them.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property, reduce

import islpy as isl

from loopwright.generate.conditions import condition
from loopwright.generate.expressions import EvaluationPlace
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import Block, If, Node
from loopwright.presburger.sets import DIM, DIV, constraint_count, involves, shared_constraints, union


@dataclass(frozen=True)
class Graft:
    """A piece of program with the guards it needs and the conditions it enforces.

    `guard`     must be enforced around `node`, here or further out;
    `enforced`  holds of every instance that `node` executes;
    `copies`    how many values of inner dimensions are written out in this list of grafts.
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
    """The conditions that every instance below satisfies, without the dimension `level`."""
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
    """Project `level` out, keeping only constraints without quantifiers."""
    if level is None or not involves(domain, level):
        return domain
    return domain.eliminate(DIM, level, 1).remove_unknown_divs()


@dataclass
class _Branching:
    """An if under construction [Grosser2015, example 5.18]: both branches may grow at their ends.

    `condition` and `complement` are the facts known in the two branches; the second is costly, and
    few ifs have an else.
    """

    test: isl.Set
    place: EvaluationPlace
    condition: isl.Set
    then: list[Node | _Branching]
    orelse: list[Node | _Branching] = field(default_factory=list)

    @cached_property
    def complement(self) -> isl.Set:
        return self.place.known.subtract(self.test).coalesce()


def nest(grafts: list[Graft], place: EvaluationPlace) -> Node:
    """One node for a list of grafts: a tree of ifs around them, in order if two of them can execute."""
    program: list[Node | _Branching] = []
    for graft in _simplest_first(_merge_twins(grafts)):
        guard = graft.guard.gist(place.known)
        inside = guard.intersect(graft.enforced).intersect(place.known) if program else guard
        if not inside.is_empty():
            _append(program, graft.node, guard, inside, place)
    return _block(program)


def _merge_twins(grafts: list[Graft]) -> list[Graft]:
    """Merge adjacent equal nodes that never execute together, under either guard."""
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
    """Order mutually exclusive adjacent grafts: the shortest guard first, the rest in its else."""
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
    program: list[Node | _Branching], node: Node, guard: isl.Set, inside: isl.Set, place: EvaluationPlace
) -> None:
    """Put `node` at the end of `program`, in the deepest branch that `inside` implies.

    `inside`, part of what is known, is where `node` executes anything.  The branches of the last if
    exclude each other: in each of them, the end of the branch is the end of the program.
    """
    last = program[-1] if program else None
    if isinstance(last, _Branching):
        if inside.is_subset(last.condition):
            return _append(last.then, node, guard, inside, EvaluationPlace(place.names, last.condition))
        if inside.is_disjoint(last.condition):
            return _append(last.orelse, node, guard, inside, EvaluationPlace(place.names, last.complement))
    rest = guard if guard.plain_is_universe() else simplified(guard, place.known)
    if rest.plain_is_universe():
        return program.append(node)
    around = _around_both(last, rest) if isinstance(last, _Branching) else None
    if around is not None:
        program[-1] = around
        return _append(around.then, node, guard, inside, EvaluationPlace(place.names, around.condition))
    return program.append(_Branching(rest, place, place.known.intersect(rest), [node]))


def _around_both(last: _Branching, guard: isl.Set) -> _Branching | None:
    """Put an if with the common conditions of its test and `guard` around the last if, if there are any.

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
    """The constraints of a conjunction without integer divisions, one by one; none for other conditions."""
    pieces = condition.get_basic_sets()
    if len(pieces) != 1 or pieces[0].dim(DIV) > 0:
        return []
    return [isl.BasicSet.from_constraint(one).to_set() for one in pieces[0].get_constraints()]


def simplified(guard: isl.Set, known: isl.Set) -> isl.Set:
    """The guard simplified by what is known, without a disjunction if possible."""
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
