"""In order, and nothing twice: the program's tree walked down, as steps of a Coq proof.

Where iterators and numbers are the places of the time (`order_slots`), one obligation for each call
is enough; so it is where a loop's iterator is the next place of the time of everything in it
(`order_loop`), and where there are times between the children of a block (`order_block`).  isl says
where this is so.  Elsewhere all pairs of calls are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from textwrap import wrap
from typing import TypeAlias, TypeVar, assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Expr, FloorDiv, Int, Relation, Sum, Test, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.substitution import substituted_expr
from loopwright.presburger.dimensions import first
from loopwright.presburger.equalities import AffineForm
from loopwright.presburger.named import parameter_names, rename_parameters
from loopwright.presburger.sets import IN
from loopwright.prove.coq.arithmetic import vector
from loopwright.prove.coq.names import branch, variable
from loopwright.prove.coq.places import (
    TimedCall,
    by_child,
    count_calls,
    entry,
    iterator_place,
    shared,
    slots,
    timed,
)
from loopwright.prove.coq.words import is_marked
from loopwright.prove.obligations.formulas import Linear, expr_of
from loopwright.prove.obligations.timetable import Timetable, pieces_of
from loopwright.prove.scanning.conditions import IteratorScope, negation, region, value
from loopwright.prove.scanning.executed import bound_by, iterations_of, runs

Vector: TypeAlias = tuple[Expr, ...]
Item = TypeVar("Item", isl.Set, isl.Map)


@dataclass(frozen=True, eq=False)
class WalkPosition:
    """Where the walk is: for which iterators it gets there, and what they are called in Coq."""

    scope: IteratorScope
    iterators: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def depth(self) -> int:
        return len(self.iterators)

    def names(self, parameters: Mapping[str, str]) -> dict[str, str]:
        return {**parameters, **dict(zip(self.iterators, self.shown, strict=True))}

    def entered(self, loop: For, parameters: Mapping[str, str]) -> WalkPosition:
        fresh = variable(loop.iterator, [*self.shown, *parameters.values()])
        inside = iterations_of(loop, self.scope)
        return WalkPosition(inside, (*self.iterators, loop.iterator), (*self.shown, fresh))

    def entered_let(self, let: Let) -> WalkPosition:
        """Inside of a let, which counts as a loop of one iteration."""
        inside = bound_by(let, self.scope)
        shown = (*self.shown, variable(let.name, self.shown))
        return WalkPosition(inside, (*self.iterators, let.name), shown)

    def where(self, test: Test) -> WalkPosition:
        return replace(self, scope=self.scope.within(region(test, self.scope)))


@dataclass(frozen=True)
class Order:
    """The steps of the proof."""

    strict: bool
    """No two instances have the same time."""
    lines: tuple[str, ...]


def order_steps(table: Timetable, program: Node, parameters: Mapping[str, str], entry: str) -> Order:
    """`entry` names the parameters, where the walk needs them."""
    calls = [timed(table, run) for run in runs(table.tree)]
    strict = _strict(calls)
    walk = Walk(table, parameters, "" if strict else "_weak")
    start = IteratorScope(isl.Set.from_params(table.context), {})
    return Order(strict, (entry, *walk.lines(program, calls, WalkPosition(start, (), ()))))


def _strict(calls: Sequence[TimedCall]) -> bool:
    """Whether no two executions have the same time."""
    ranges = [one.times.range() for one in calls]
    if not all(one.times.is_injective() for one in calls):
        return False
    return all(a.is_disjoint(b) for k, a in enumerate(ranges) for b in ranges[:k])


@dataclass(frozen=True, eq=False)
class Walk:
    table: Timetable
    parameters: Mapping[str, str]
    weak: str
    known: dict[TimedCall, isl.PwMultiAff] = field(default_factory=dict)
    """Times that were asked for before."""

    def lines(self, node: Node, calls: Sequence[TimedCall], place: WalkPosition) -> list[str]:
        count = shared(calls, place.depth) if calls else 0
        found = slots(node, calls, place.iterators, count)
        if calls and found is not None:
            step = f"order_slots {vector(self.common(calls, count, place), {})} {found}."
            return wrap(step, 96, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        match node:
            case Call():
                return ["order_call."]
            case Block(children):
                return self.block(children, calls, place)
            case If(test, then, orelse):
                first = count_calls(then)
                other = place.where(negation(test))
                yes = self.lines(then, calls[:first], place.where(test))
                no = ["order_call."] if orelse is None else self.lines(orelse, calls[first:], other)
                return ["order_if.", *branch(yes), *branch(no)]
            case For():
                mark = ["order_let."] if is_marked(node) else []
                return [*mark, *self.loop(node, calls, place)]
            case Let():
                # a let has no variable of its own in Coq to name in what follows
                return [f"order_pairs{self.weak}."]
            case Remarked(body=body):
                return ["order_let.", *self.lines(body, calls, place)]
            case _:
                assert_never(node)

    def loop(self, loop: For, calls: Sequence[TimedCall], place: WalkPosition) -> list[str]:
        inner = place.entered(loop, self.parameters)
        key = iterator_place(calls, place.depth)
        if key is None:
            head = f"order_iterations{self.weak} as {inner.shown[-1]}."
        else:
            common = self.common(calls, key, place)
            head = f"order_loop {vector(common, {})} as {inner.shown[-1]}."
        return [head, *self.lines(loop.body, calls, inner)]

    def common(self, calls: Sequence[TimedCall], count: int, place: WalkPosition) -> Vector:
        """The first places, which are the same functions of the outer iterators in all calls."""
        found: list[Expr] = []
        for k in range(count):
            match entry(calls, k, place.depth):
                case AffineForm() as form:
                    found.append(self.expr(form, place))
                case int(iterator):
                    found.append(Var(place.shown[iterator]))
                case None:
                    break
        return tuple(found)

    def expr(self, form: AffineForm, place: WalkPosition) -> Expr:
        found = Linear(form.rest[-1])
        for factor, name in zip(form.coefficients, place.shown, strict=False):
            found = found.plus(factor, Var(name)) if factor else found
        for factor, name in zip(form.rest[:-1], self.table.parameters, strict=True):
            found = found.plus(factor, Var(self.parameters[name])) if factor else found
        return found.expr() if form.denominator == 1 else FloorDiv(found.expr(), form.denominator)

    # -- blocks --------------------------------------------------------------------------------

    def block(self, children: Sequence[Node], calls: Sequence[TimedCall], place: WalkPosition) -> list[str]:
        if not children:
            return ["order_call."]
        parts = by_child(children, calls)
        cuts = self.cuts(children, parts, place)
        if cuts is None:
            head = f"order_siblings{self.weak}."
        else:
            head = f"order_block [{'; '.join(vector(cut, {}) for cut in cuts)}]."
        inside = [self.lines(child, mine, place) for child, mine in zip(children, parts, strict=True)]
        if len(inside) == 1:
            return [head, *inside[0]]
        return [head, *(line for one in inside for line in branch(one))]

    def cuts(
        self, children: Sequence[Node], parts: Sequence[Sequence[TimedCall]], place: WalkPosition
    ) -> list[Vector] | None:
        """Times between the children, each after all of one and not after any of the next."""
        found: list[Vector] = []
        for k in range(len(children) - 1):
            for cut in self.candidates(children[k : k + 2], parts[k : k + 2], place):
                if self.between(parts[k], cut, place, -1) and self.between(parts[k + 1], cut, place, 1):
                    if found and not self.grows(found[-1], cut, place):
                        continue
                    found.append(cut)
                    break
            else:
                return None
        return found

    def candidates(
        self, children: Sequence[Node], pair: Sequence[Sequence[TimedCall]], place: WalkPosition
    ) -> Iterator[Vector]:
        """Where the later child begins, after where the earlier ends, and the bounds of their loops."""
        everything = [one for part in pair for one in part]
        if not everything:
            return
        count = shared(everything, place.depth)
        common = self.common(everything, count, place)
        if count == self.table.width:
            return
        for end in range(count + 1, self.table.width + 1):
            if entry(pair[1], end - 1, place.depth) is not None:
                yield (*common, *self.common(pair[1], end, place)[count:])
            else:
                break
        if entry(pair[0], count, place.depth) is not None:
            *_, last = self.common(pair[0], count + 1, place)
            yield (*common, Sum((last, Int(1))))
        for bound in self.bounds(children, place):
            yield (*common, bound)
        for extreme in self.extremes(pair, place):
            yield from (extreme[:end] for end in range(count + 1, self.table.width + 1))

    def extremes(self, pair: Sequence[Sequence[TimedCall]], place: WalkPosition) -> Iterator[Vector]:
        """The first time of the later child, and what comes after the last of the earlier."""
        for part, beyond in ((pair[1], 0), (pair[0], 1)):
            if part:
                times = self.times(part, place.depth)
                pieces = pieces_of(times.lexmax() if beyond else times.lexmin())
                if len(pieces) == 1:
                    function = pieces[0][1]
                    *most, last = (expr_of(function.get_at(k), place.shown) for k in range(self.table.width))
                    yield (*most, Sum((last, Int(beyond))) if beyond else last)

    def times(self, calls: Sequence[TimedCall], depth: int) -> isl.Map:
        """The times of all calls, for each value of the outer iterators."""
        inner = [first(one.times, IN, depth) for one in calls]
        return self.renamed(reduce(isl.Map.union, inner))

    def bounds(self, children: Sequence[Node], place: WalkPosition) -> Iterator[Expr]:
        """Where the loops of two neighbours end and start."""
        first, second = children
        renamed: dict[str, Expr] = {name: Var(new) for name, new in place.names(self.parameters).items()}
        for loop in _first_loops(second):
            yield substituted_expr(loop.start, renamed)
        for loop in _first_loops(first):
            for bound in _upper_bounds(loop):
                yield substituted_expr(bound, renamed)

    def scope(self, domain: isl.Set, place: WalkPosition) -> IteratorScope:
        return IteratorScope(domain, {name: k for k, name in enumerate(place.shown)})

    def between(self, calls: Sequence[TimedCall], cut: Vector, place: WalkPosition, side: int) -> bool:
        """Whether all times are before the cut (−1), or none is (+1)."""
        return all(self.beside(one, cut, place, side) for one in calls)

    def beside(self, call: TimedCall, cut: Vector, place: WalkPosition, side: int) -> bool:
        """Place by place: what is not decided by the places before it, by their text or by isl."""
        if not call.runs:
            return True
        decided = next((k for k, one in enumerate(cut) if self.shown(call, k, place) != one), len(cut))
        if decided == len(cut):
            return side > 0
        match self.shown(call, decided, place), cut[decided]:
            case Int(here), Int(there):
                return (here - there) * side > 0
        times = self.functions(call)
        scope = self.scope(self.renamed(call.run.domain), place)
        same = self.renamed(call.times).domain()
        for k, one in enumerate(cut[decided:], decided):
            time, limit = times.get_at(k), value(one, scope)
            wrong = time.gt_set(limit) if side < 0 else time.lt_set(limit)
            if not same.is_disjoint(wrong):
                return False
            same = same.intersect(time.eq_set(limit))
            if same.is_empty():
                return True
        return side > 0

    def shown(self, call: TimedCall, k: int, place: WalkPosition) -> Expr | None:
        """Place k of the time, where it is a function of the iterators around."""
        form = call.forms[k]
        return None if form is None or len(form.coefficients) > place.depth else self.expr(form, place)

    def functions(self, call: TimedCall) -> isl.PwMultiAff:
        """The time as a function of the iterators."""
        if call not in self.known:
            self.known[call] = isl.PwMultiAff.from_map(self.renamed(call.times))
        return self.known[call]

    def renamed(self, item: Item) -> Item:
        """Parameters under the names they have in the proof."""
        if all(name == shown for name, shown in self.parameters.items()):
            return item
        return rename_parameters(item, {name: self.parameters[name] for name in parameter_names(item)})

    def grows(self, first: Vector, second: Vector, place: WalkPosition) -> bool:
        """Whether the second cut is not before the first."""
        same = self.renamed(place.scope.domain)
        scope = self.scope(same, place)
        wrong = isl.Set.empty(same.get_space())
        for a, b in zip(first, second, strict=False):
            x, y = value(a, scope), value(b, scope)
            wrong = wrong.union(same.intersect(y.lt_set(x)))
            same = same.intersect(y.eq_set(x))
        if len(first) > len(second):
            wrong = wrong.union(same)
        return bool(wrong.is_empty())


def _first_loops(node: Node) -> Iterator[For]:
    """The outermost loops that a child of a block begins with."""
    match node:
        case For():
            yield node
        case If(_, then, _):
            yield from _first_loops(then)
        case Remarked(body=body):
            yield from _first_loops(body)
        case Block(children):
            for child in children:
                yield from _first_loops(child)
        case _:
            return


def _upper_bounds(loop: For) -> Iterator[Expr]:
    """The first value after the loop."""
    match loop.test:
        case Compare(Relation.LE, Var(name), limit) if name == loop.iterator:
            yield Sum((limit, Int(1)))
        case Compare(Relation.LT, Var(name), limit) if name == loop.iterator:
            yield limit
