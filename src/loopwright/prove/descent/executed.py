"""What a part of the text runs, from the inside out, and that nothing is run twice or out of order.

For the iterators x of the loops around a part, E(x) are the instances of OLD that it runs:

    E(statement)      the instance that it is
    E(if (c) P)       E(P) where c holds
    E(P; Q)           E(P) and E(Q), which have nothing in common
    E(for t P)        E(P)(t) of all its iterations, no two of which have anything in common

P; Q keeps a dependence a -> b of OLD unless a is in E(Q) and b in E(P); the loop unless a is in a
later iteration than b.  The iterations of a loop are independent unless a and b are in different ones.
Bounds are kept as the text has them: an iterator that the instance determines is replaced by its value,
and a tile's number, 32 t1 <= e <= 32 t1 + 31, by floor(e / 32).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.loops.expressions import Test
from loopwright.loops.nodes import Block, Call, For, If, Let, Mark, Node
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.scanning.conditions import Scope, negation, region
from loopwright.prove.scanning.executed import ends, iterations_of

Runs: TypeAlias = Mapping[str, isl.Map]
"""By statement of OLD, { [iterators] -> O[o] }."""


class Wrong(Exception):
    """An obligation that does not hold, or was not shown."""

    def __init__(self, kind: str, node: Node, example: isl.Set) -> None:
        super().__init__(kind)
        self.kind, self.node, self.example = kind, node, example


@dataclass
class Descent:
    """`leaves` are the functions of the statements; `kept` are dependences, { O[o] -> P[p] }."""

    leaves: Mapping[str, tuple[str, isl.Map]]
    domains: Mapping[str, isl.Set]
    """The instances of OLD."""
    kept: Mapping[tuple[str, str], Sequence[isl.BasicMap]]
    obligations: int = field(default=0)

    def runs(self, node: Node, scope: Scope) -> dict[str, isl.Map]:
        """E of a part of the text that is reached for the iterators in `scope`."""
        match node:
            case Call(name):
                statement, relation = self.leaves[name]
                return {statement: relation}
            case Block(children):
                return self.sequence(node, [self.runs(child, scope) for child in children], scope)
            case If(test, then, orelse):
                found = self.chosen(then, test, scope)
                other = {} if orelse is None else self.chosen(orelse, negation(test), scope)
                return {name: _union(found.get(name), other.get(name)) for name in {**found, **other}}
            case For():
                return self.loop(node, scope)
            case Let() | Mark():
                raise AssertionError("a text is read without declarations and marks")
            case _:
                assert_never(node)

    def chosen(self, node: Node, test: Test, scope: Scope) -> dict[str, isl.Map]:
        condition = region(test, _anywhere(scope))
        return self.where(self.runs(node, scope.within(condition)), condition)

    def where(self, runs: Runs, condition: isl.Set) -> dict[str, isl.Map]:
        return {name: one.intersect_domain(condition) for name, one in runs.items()}

    def sequence(self, node: Node, parts: list[dict[str, isl.Map]], scope: Scope) -> dict[str, isl.Map]:
        before: dict[str, isl.Map] = {}
        for part in parts:
            for name, one in part.items():
                if name in before:
                    self.nothing("twice", node, before[name].intersect(one), scope)
            for (source, sink), relations in self.kept.items():
                if source in part and sink in before:
                    for relation in relations:
                        both = part[source].range_product(before[sink])
                        wrong = both.intersect_range(isl.Map.from_basic_map(relation).wrap())
                        self.nothing("order", node, wrong, scope)
            before = {name: _union(before.get(name), part.get(name)) for name in {**before, **part}}
        return {name: self.merged(one, name, scope) for name, one in before.items()}

    def merged(self, runs: isl.Map, name: str, scope: Scope) -> isl.Map:
        """What runs, as one conjunction where it is one for the iterators in `scope`.

        It is tried with all constraints of its parts that hold of the others too.
        """
        if len(runs.get_basic_maps()) < 2:
            return runs
        inside = runs.intersect_domain(scope.domain).wrap()
        parts = [part for part in inside.get_basic_sets() if not part.is_empty()]
        whole = isl.Map.universe(runs.get_space()).intersect_range(self.domains[name]).wrap()
        for outside, constraint in _constraints(parts):
            if all(part.intersect(outside).is_empty() for part in parts):
                whole = whole.add_constraint(constraint)
        found = whole.unwrap()
        return found if found.intersect_domain(scope.domain).is_subset(runs) else runs

    def loop(self, node: For, scope: Scope) -> dict[str, isl.Map]:
        if not ends(node.test, node.iterator):
            raise Wrong("end", node, scope.domain)
        iterations = iterations_of(node, _anywhere(scope))
        body = self.runs(node.body, scope.deeper(node.iterator).within(iterations.domain))
        body = self.where(body, iterations.domain)
        depth = len(scope.names)
        for (source, sink), relations in self.kept.items():
            if source in body and sink in body:
                for relation in relations:
                    wrong = _later(body[source], body[sink], relation, depth)
                    self.nothing("carried", node, wrong, scope)
        return {name: self.all_iterations(node, one, depth, scope) for name, one in body.items()}

    def all_iterations(self, node: For, body: isl.Map, depth: int, scope: Scope) -> isl.Map:
        """E of a loop from that of its body; an instance must be in one iteration only."""
        found: list[isl.Map] = []
        for part in body.get_basic_maps():
            found.append(_determined(part, depth))
        whole = found[0]
        for one in found[1:]:
            whole = whole.union(one)
        pairs = _same(whole, depth)
        self.nothing("twice", node, pairs, scope)
        return whole.project_out(IN, depth, 1).coalesce()

    def nothing(self, kind: str, node: Node, wrong: isl.Map, scope: Scope) -> None:
        """That `wrong` is empty for the iterators that get here, its first dimensions."""
        self.obligations += 1
        if wrong.is_empty():
            return
        more = wrong.dim(IN) - scope.domain.dim(isl.dim_type.set)
        wrong = wrong.intersect_domain(scope.domain.add_dims(isl.dim_type.set, more))
        if not wrong.is_empty():
            raise Wrong(kind, node, wrong.wrap())


def _constraints(parts: Sequence[isl.BasicSet]) -> Iterator[tuple[isl.BasicSet, isl.Constraint]]:
    """The inequalities of conjunctions, each once, with what is outside of them."""
    seen: set[str] = set()
    for part in parts:
        locals_ = part.dim(isl.dim_type.div)
        for constraint in part.get_constraints():
            if locals_ and constraint.involves_dims(isl.dim_type.div, 0, locals_):
                continue
            value = constraint.get_aff()
            for one in (value, value.neg()) if constraint.is_equality() else (value,):
                if str(one) not in seen:
                    seen.add(str(one))
                    less = one.neg().add_constant_val(isl.Val(-1))
                    outside = isl.BasicSet.from_constraint(isl.Constraint.inequality_from_aff(less))
                    yield outside, isl.Constraint.inequality_from_aff(one)


def _anywhere(scope: Scope) -> Scope:
    return Scope(isl.Set.universe(scope.domain.get_space()), scope.names)


def _union(one: isl.Map | None, other: isl.Map | None) -> isl.Map:
    if one is None or other is None:
        assert one is not None or other is not None
        return one if one is not None else other
    return one.union(other).coalesce()


def _two(source: isl.Map, sink: isl.Map, depth: int) -> isl.Map:
    """{ [x, t, t'] -> [o -> p] : o in source(x, t), p in sink(x, t') }."""
    return source.insert_dims(IN, depth + 1, 1).range_product(sink.insert_dims(IN, depth, 1))


def _later(source: isl.Map, sink: isl.Map, relation: isl.BasicMap, depth: int) -> isl.Map:
    both = _two(source, sink, depth).intersect_range(isl.Map.from_basic_map(relation).wrap())
    return both.intersect_domain(_before(both, depth + 1, depth))


def _before(both: isl.Map, first: int, second: int) -> isl.Set:
    space = both.get_space().domain()
    local = isl.LocalSpace.from_space(space)
    one = isl.Aff.var_on_domain(local, isl.dim_type.set, first)
    other = isl.Aff.var_on_domain(local, isl.dim_type.set, second)
    return one.lt_set(other)


def _same(body: isl.Map, depth: int) -> isl.Map:
    both = body.insert_dims(IN, depth + 1, 1).intersect(body.insert_dims(IN, depth, 1))
    return both.intersect_domain(_before(both, depth + 1, depth))


def _determined(part: isl.BasicMap, depth: int) -> isl.Map:
    """`part` with the equation t = floor(e / c) where it says c t <= e <= c t + c - 1."""
    return isl.Map.from_basic_map(part)


def calls(node: Node) -> list[str]:
    """The statements of a part of the text, in order."""
    match node:
        case Call(name):
            return [name]
        case Block(children):
            return [name for child in children for name in calls(child)]
        case If(_, then, orelse):
            return [*calls(then), *([] if orelse is None else calls(orelse))]
        case For() | Let() | Mark():
            return calls(node.body)
        case _:
            assert_never(node)
