"""Computes what a part of the source executes, and proves that nothing is executed twice or out of order.

For the iterators x of the loops around a part, E(x) are the instances of OLD that it executes:

    E(statement)      the instance that it is
    E(if (c) P)       E(P) where c holds
    E(P; Q)           E(P) and E(Q), which are disjoint
    E(for t P)        E(P)(t) of all its iterations, which are pairwise disjoint

P; Q preserves a dependence a -> b of OLD unless a is in E(Q) and b in E(P); the loop unless a is in a later
iteration than b.  The iterations of a loop are independent unless a and b are in different ones.

Bounds are simplified: an iterator that the instance determines is replaced by its value, and a tile's number,
32 t1 <= e <= 32 t1 + 31, by floor(e / 32).  The union of what many parts execute is written as one
conjunction if possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Test
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import IN
from loopwright.prove.descent.linear import box_around, inequalities
from loopwright.prove.descent.unjam import Jam, parts_of
from loopwright.prove.scanning.conditions import IteratorScope, negation, region
from loopwright.prove.scanning.executed import ends, iterations_of

Runs: TypeAlias = Mapping[str, isl.Map]
"""By statement of OLD, { [iterators] -> O[o] }."""


class Wrong(Exception):
    """An obligation that is false or not shown."""

    def __init__(self, kind: str, node: Node | None, example: isl.Set) -> None:
        super().__init__(kind)
        self.kind, self.node, self.example = kind, node, example


@dataclass(frozen=True)
class Race:
    """Dependences from `pair[0]` to `pair[1]` between the iterations of a loop that should be independent.

    Points of `example` are iterators, among them those of the loop at `places`, and the two instances.
    """

    loop: For
    pair: tuple[str, str]
    example: isl.Set
    places: tuple[int, int]


@dataclass
class Descent:
    """`leaves` are the functions of the statements; `kept` are dependences, { O[o] -> P[p] }."""

    leaves: Mapping[str, tuple[tuple[str, isl.Map], ...]]
    domains: Mapping[str, isl.Set]
    """The instances of OLD."""
    kept: Mapping[tuple[str, str], Sequence[isl.BasicMap]]
    independent: frozenset[int] = frozenset()
    """Loops marked as independent, by their numbers."""
    jams: Mapping[int, Jam] = field(default_factory=dict)
    """Loops that the source has unrolled and jammed, by their numbers."""
    windows: dict[int, int] = field(default_factory=dict)
    """For the jammed loops around: their places among the iterators, and how many values execute together."""
    races: list[Race] = field(default_factory=list)
    obligations: int = 0
    boxes: dict[tuple[str, str], list[isl.Map | None]] = field(init=False)
    """A box around each of the dependences, in their order."""
    known: dict[tuple[object, ...], isl.Set] = field(default_factory=dict)
    """The sets of conditions and of loop iterations, by the iterators around them: many are repeated."""

    def __post_init__(self) -> None:
        self.boxes = {pair: [box_around(one) for one in several] for pair, several in self.kept.items()}

    def runs(self, node: Node, scope: IteratorScope) -> dict[str, isl.Map]:
        """E of a part of the source that is reached for the iterators in `scope`."""
        match node:
            case Call(name):
                return self.statement(node, self.leaves[name], scope)
            case Block(children):
                return self.sequence(node, [self.runs(child, scope) for child in children], scope)
            case If(test, then, orelse):
                found = self.chosen(then, test, scope)
                other = {} if orelse is None else self.chosen(orelse, negation(test), scope)
                both = {name: _union(found.get(name), other.get(name)) for name in {**found, **other}}
                return {name: one.coalesce() for name, one in both.items()}
            case For():
                return self.loop(node, scope)
            case Let() | Remarked():
                raise AssertionError("a text is read without declarations and marks")
            case _:
                assert_never(node)

    def statement(
        self, node: Call, own: tuple[tuple[str, isl.Map], ...], scope: IteratorScope
    ) -> dict[str, isl.Map]:
        """The instance of a statement; if it may be several, the one that OLD has."""
        if len(own) == 1:
            return dict(own)
        found: dict[str, isl.Map] = {}
        known = isl.Set.empty(scope.domain.get_space())
        for name, relation in own:
            found[name] = relation.intersect_range(self.domains[name]).subtract_domain(known)
            known = known.union(found[name].domain())
        if not scope.domain.is_subset(known):
            raise Wrong("extra", node, scope.domain.subtract(known))
        return found

    def chosen(self, node: Node, test: Test, scope: IteratorScope) -> dict[str, isl.Map]:
        condition = self.region(test, scope)
        return self.where(self.runs(node, scope.within(condition)), condition)

    def region(self, test: Test, scope: IteratorScope) -> isl.Set:
        key = (test, *scope.names.items())
        if key not in self.known:
            self.known[key] = region(test, _anywhere(scope))
        return self.known[key]

    def iterations(self, node: For, scope: IteratorScope) -> isl.Set:
        key = (node.iterator, node.start, node.test, node.step, *scope.names.items())
        if key not in self.known:
            self.known[key] = iterations_of(node, _anywhere(scope)).domain
        return self.known[key]

    def where(self, runs: Runs, condition: isl.Set) -> dict[str, isl.Map]:
        return {name: one.intersect_domain(condition) for name, one in runs.items()}

    def sequence(
        self, node: Node, parts: list[dict[str, isl.Map]], scope: IteratorScope
    ) -> dict[str, isl.Map]:
        before: dict[str, isl.Map] = {}
        for part in parts:
            for name, one in part.items():
                if name in before:
                    self.nothing("twice", node, before[name].intersect(one), scope)
            for source, sink, relation, box in self.dependences():
                is_both = source in part and sink in before
                if is_both and not self.is_in_order(part[source], before[sink], box, scope):
                    self.in_order(node, part[source], before[sink], relation, scope)
            before = {name: _union(before.get(name), part.get(name)) for name in {**before, **part}}
        return {name: self.merged(one, name, scope) for name, one in before.items()}

    def in_order(
        self, node: Node, source: isl.Map, sink: isl.Map, relation: isl.BasicMap, scope: IteratorScope
    ) -> None:
        """Proves that nothing in `sink`, which executes first, depends on what is in `source`.

        The composed relations have fewer dimensions than their product, which shows more if the proof fails.
        """
        kept = isl.Map.from_basic_map(relation)
        if self.is_in_order(source, sink, kept, scope):
            return
        both = source.range_product(sink).intersect_range(kept.wrap())
        self.nothing("order", node, both, scope)

    def is_in_order(self, source: isl.Map, sink: isl.Map, kept: isl.Map | None, scope: IteratorScope) -> bool:
        """Whether nothing in `sink` depends on what is in `source`; counts an obligation if so."""
        if kept is None:
            return False
        reached = source.apply_range(kept).intersect(sink)
        if not reached.is_empty() and not reached.intersect_domain(scope.domain).is_empty():
            return False
        self.obligations += 1
        return True

    def dependences(self) -> Iterator[tuple[str, str, isl.BasicMap, isl.Map | None]]:
        """Yields the statements, the dependence between them, and a box around it."""
        for (source, sink), relations in self.kept.items():
            for relation, box in zip(relations, self.boxes[source, sink], strict=True):
                yield source, sink, relation, box

    def merged(self, runs: isl.Map, name: str, scope: IteratorScope) -> isl.Map:
        """The instances executed, as one conjunction if they are one for the iterators in `scope`.

        It tries the constraints of the parts that hold in the other parts too, and those of the domain of the
        statement, if they hold in all parts: as isl finds them, over the rationals, and then each separately.
        """
        if runs.n_basic_map() < 2:
            return runs
        runs = runs.coalesce()
        if runs.n_basic_map() < 2:
            return runs
        inside = runs.intersect_domain(scope.domain).wrap()
        whole = isl.Map.universe(runs.get_space()).intersect_range(self.domains[name]).wrap()
        if not inside.is_subset(whole):
            return runs
        found = whole.intersect(isl.Set.from_basic_set(inside.unshifted_simple_hull())).unwrap()
        if found.n_basic_map() == 1 and found.intersect_domain(scope.domain).is_subset(runs):
            return found
        parts = [part for part in inside.get_basic_sets() if not part.is_empty()]
        order = list(range(len(parts)))
        for own, outside, constraint in inequalities(parts):
            if whole.add_constraint(outside).is_empty():
                continue  # it follows from the others
            apart = (k for k in order if k not in own and not parts[k].add_constraint(outside).is_empty())
            broken = next(apart, None)
            if broken is None:
                whole = whole.add_constraint(constraint)
            else:  # it is likely to break the next one too
                order.remove(broken)
                order.insert(0, broken)
        found = whole.unwrap()
        return found if found.intersect_domain(scope.domain).is_subset(runs) else runs

    def loop(self, node: For, scope: IteratorScope) -> dict[str, isl.Map]:
        if not ends(node.test, node.iterator):
            raise Wrong("end", node, scope.domain)
        iterations = self.iterations(node, scope)
        depth, inside = len(scope.names), scope.deeper(node.iterator).within(iterations)
        jam = None if node.dimension is None else self.jams.get(node.dimension)
        if jam is not None:
            self.kept_jammed(node.body, inside, depth, jam)
            self.windows[depth] = jam.factor
        body = self.where(self.runs(node.body, inside), iterations)
        self.windows.pop(depth, None)
        for source, sink, relation, box in self.dependences():
            if source not in body or sink not in body:
                continue
            if box is None or not _later(body[source], body[sink], box, depth).is_empty():
                exact = isl.Map.from_basic_map(relation)
                self.nothing("carried", node, _later(body[source], body[sink], exact, depth), scope)
            else:
                self.obligations += 1
            if node.dimension in self.independent:
                self.independent_of(node, (source, sink), relation, body, scope)
        return {name: self.all_iterations(node, one, depth, scope) for name, one in body.items()}

    def independent_of(
        self, node: For, pair: tuple[str, str], relation: isl.BasicMap, body: Runs, scope: IteratorScope
    ) -> None:
        """Proves that no later iteration depends on an earlier one; if one does, it is a race."""
        source, sink = (body[name] for name in pair)
        depth = len(scope.names)
        try:
            if self.windows:
                both = _product(source, sink, relation, self.windows | {depth: 0})
                for first, second in ((depth, 2 * depth + 1), (2 * depth + 1, depth)):
                    self.nothing("race", node, both.intersect_domain(_before(both, first, second)), None)
            else:
                exact = isl.Map.from_basic_map(relation)
                self.nothing("race", node, _earlier(source, sink, exact, depth), scope)
        except Wrong as found:
            places = (depth, 2 * depth + 1) if self.windows else (depth, depth + 1)
            self.races.append(Race(node, pair, found.example, places))

    def kept_jammed(self, node: Node, scope: IteratorScope, at: int, jam: Jam) -> None:
        """Proves that dependences between iterations that execute together are preserved.

        Before an iteration is over, the later ones have passed it: in earlier parts, and in earlier
        iterations of the inner loops.
        """
        parts = parts_of(node)
        groups = [[part] for part in parts]
        if not jam.one_by_one:
            groups = [list(group) for _, group in groupby(parts, key=lambda part: isinstance(part, Call))]
            groups = [
                one
                for group in groups
                for one in ([group] if isinstance(group[0], Call) else [[p] for p in group])
            ]
        runs = [self.where(self.runs(Block(tuple(group)), scope), scope.domain) for group in groups]
        for later, one in enumerate(runs):
            for earlier in runs[:later]:
                self.kept_between(node, one, earlier, at, jam, None)
        for part in parts:
            match part:
                case If(test, then, orelse):
                    for branch, where in ((then, test), (orelse, negation(test))):
                        if branch is not None:
                            self.kept_jammed(branch, scope.within(self.region(where, scope)), at, jam)
                case For():
                    inside = scope.deeper(part.iterator).within(self.iterations(part, scope))
                    body = self.where(self.runs(part.body, inside), inside.domain)
                    self.kept_between(part, body, body, at, jam, len(scope.names))
                    self.kept_jammed(part.body, inside, at, jam)

    def kept_between(
        self, node: Node, later: Runs, earlier: Runs, at: int, jam: Jam, loop: int | None
    ) -> None:
        """Proves that no dependence leads from `later` at t to `earlier` at t' > t and, in a loop, x' < x."""
        for (source, sink), relations in self.kept.items():
            if source not in later or sink not in earlier:
                continue
            for relation in relations:
                free = self.windows | {at: jam.factor} | ({} if loop is None else {loop: 0})
                both = _product(later[source], earlier[sink], relation, free)
                depth = both.dim(IN) // 2
                both = both.intersect_domain(_before(both, at, depth + at))
                if loop is not None:
                    both = both.intersect_domain(_before(both, depth + loop, loop))
                self.nothing("order", node, both, None)

    def all_iterations(self, node: For, body: isl.Map, depth: int, scope: IteratorScope) -> isl.Map:
        """E of a loop from that of its body; proves that each instance is in one iteration only."""
        self.nothing("twice", node, _same(body, depth), scope)
        return body.project_out(IN, depth, 1).coalesce()

    def nothing(self, kind: str, node: Node, wrong: isl.Map, scope: IteratorScope | None) -> None:
        """Proves that `wrong` is empty for the iterators that are reached, its first dimensions."""
        self.obligations += 1
        if wrong.is_empty():
            return
        if scope is None:
            raise Wrong(kind, node, wrong.wrap())
        more = wrong.dim(IN) - scope.domain.dim(isl.dim_type.set)
        wrong = wrong.intersect_domain(scope.domain.add_dims(isl.dim_type.set, more))
        if not wrong.is_empty():
            raise Wrong(kind, node, wrong.wrap())


def _anywhere(scope: IteratorScope) -> IteratorScope:
    return IteratorScope(isl.Set.universe(scope.domain.get_space()), scope.names)


def _union(one: isl.Map | None, other: isl.Map | None) -> isl.Map:
    if one is None:
        assert other is not None, "one of them runs the statement"
        return other
    return one if other is None else one.union(other)


def _two(source: isl.Map, sink: isl.Map, depth: int) -> isl.Map:
    """{ [x, t, t'] -> [o -> p] : o in source(x, t), p in sink(x, t') }."""
    return source.insert_dims(IN, depth + 1, 1).range_product(sink.insert_dims(IN, depth, 1))


def _later(source: isl.Map, sink: isl.Map, relation: isl.Map, depth: int) -> isl.Map:
    both = _two(source, sink, depth).intersect_range(relation.wrap())
    return both.intersect_domain(_before(both, depth + 1, depth))


def _earlier(source: isl.Map, sink: isl.Map, relation: isl.Map, depth: int) -> isl.Map:
    both = _two(source, sink, depth).intersect_range(relation.wrap())
    return both.intersect_domain(_before(both, depth, depth + 1))


def _product(source: isl.Map, sink: isl.Map, relation: isl.BasicMap, free: Mapping[int, int]) -> isl.Map:
    """{ [x, y] -> [o -> p] : o in source(x), p in sink(y) }, x and y equal but for the places in `free`.

    There they differ by less than the given number, or arbitrarily if that is 0.
    """
    both = source.product(sink).intersect_range(isl.Map.from_basic_map(relation).wrap()).flatten_domain()
    depth = source.dim(IN)
    for k in range(depth):
        if k not in free:
            both = both.equate(IN, k, IN, depth + k)
        elif free[k]:
            space = both.get_space().domain()
            one, other = coordinate(space, k), coordinate(space, depth + k)
            width = isl.Aff.val_on_domain_space(space, isl.Val(free[k]))
            both = both.intersect_domain(one.sub(other).lt_set(width)).intersect_domain(
                other.sub(one).lt_set(width)
            )
    return both


def _before(both: isl.Map, first: int, second: int) -> isl.Set:
    space = both.get_space().domain()
    return coordinate(space, first).lt_set(coordinate(space, second))


def _same(body: isl.Map, depth: int) -> isl.Map:
    both = body.insert_dims(IN, depth + 1, 1).intersect(body.insert_dims(IN, depth, 1))
    return both.intersect_domain(_before(both, depth + 1, depth))
