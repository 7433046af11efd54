"""The executed map of a program, from the program alone ([Grosser2015, section 4.1], read backwards).

Each call of the program is executed once for each vector of iterators in its `domain`, which its loops,
bounds, strides and guards define; the arguments are a function of that vector.  The tree of calls keeps what
determines the order of execution: blocks, alternatives and loops.

Executions are ordered by their paths.  Code after an infinite loop comes after infinitely many executions, as
in the schedule's own order.  Whether a loop terminates is decided by how its test changes as the iterator
grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import count
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import counted_up, variables
from loopwright.model.annotations import Independent
from loopwright.presburger.dimensions import earlier_by_last, later_by_last
from loopwright.prove.scanning.conditions import IteratorScope, multiples, negation, region, value


@dataclass(frozen=True, eq=False)
class Run:
    """A call: executed with `arguments(p)` for each vector p of iterators in `domain`."""

    position: int
    """The position of the call in the source, counted from 0."""
    name: str
    domain: isl.Set
    arguments: isl.MultiPwAff
    hint: isl.MultiPwAff | None

    @property
    def depth(self) -> int:
        return int(self.domain.dim(isl.dim_type.set))


@dataclass(frozen=True, eq=False)
class InOrder:
    """The parts in sequence, for the same iterators in `domain`."""

    domain: isl.Set
    parts: tuple[Executed, ...]


@dataclass(frozen=True, eq=False)
class Either:
    """At most one of the parts, for the same iterators in `domain`."""

    domain: isl.Set
    parts: tuple[Executed, ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """`body` once for each value of the iterator that is dimension `depth`, in increasing order."""

    depth: int
    iterator: str
    step: int
    said: Kinds
    """The kinds of independence that the loop is marked with."""
    endless: isl.Set | None
    """The iterations after which the test never fails, unless its form shows that there are none."""
    body: Executed


Kinds: TypeAlias = frozenset[type[Independent]]
"""The kinds of loop whose iterations may execute in any order."""
Executed: TypeAlias = Run | InOrder | Either | Repeat


def executed(program: Node, context: isl.Set) -> Executed:
    """The calls that `program` executes for parameters in `context`, a parameter set that names them all."""
    return _executed(program, IteratorScope(isl.Set.from_params(context), {}), count())


def runs(tree: Executed) -> tuple[Run, ...]:
    """The calls, in source order."""
    return tuple(one for one in _subtrees(tree) if isinstance(one, Run))


def loops(tree: Executed) -> tuple[Repeat, ...]:
    """The loops, outer before inner."""
    return tuple(one for one in _subtrees(tree) if isinstance(one, Repeat))


def _subtrees(tree: Executed) -> Iterator[Executed]:
    """Yields the tree and its subtrees, outer before inner, in source order."""
    yield tree
    match tree:
        case Run():
            return
        case InOrder(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from _subtrees(part)
        case Repeat(body=body):
            yield from _subtrees(body)
        case _:
            assert_never(tree)


def common_domain(tree: Executed) -> isl.Set:
    """The iterators that all of `tree` shares: each of its calls is executed only for extensions of them."""
    match tree:
        case Run(domain=domain) | InOrder(domain) | Either(domain):
            return domain
        case Repeat(body=body):
            return common_domain(body)
        case _:
            assert_never(tree)


def _executed(node: Node, scope: IteratorScope, positions: count[int]) -> Executed:
    match node:
        case Call(name, arguments, time):
            hint = None if time is None else vector_values(time, scope)
            return Run(next(positions), name, scope.domain, vector_values(arguments, scope), hint)
        case Block(children):
            return _in_order(scope.domain, [_executed(child, scope, positions) for child in children])
        case If(test, then, None):
            return _executed(then, scope.within(region(test, scope)), positions)
        case If(test, then, Block() | Call() | If() | For() | Let() | Remarked() as orelse):
            yes = _executed(then, scope.within(region(test, scope)), positions)
            no = _executed(orelse, scope.within(region(negation(test), scope)), positions)
            return Either(scope.domain, (yes, no))
        case For():
            return _loop(node, scope, positions)
        case Let():
            return _executed(node.body, bound_by(node, scope), positions)
        case Remarked(_, body):
            return _executed(body, scope, positions)
        case _:
            raise InternalError(
                Code.INTERNAL, f"the prover does not know the program node {type(node).__name__}"
            )


def _in_order(domain: isl.Set, parts: list[Executed]) -> InOrder:
    """The parts in sequence, with nested blocks of the same iterators flattened."""
    depth = domain.dim(isl.dim_type.set)
    flat: list[Executed] = []
    for part in parts:
        inside = isinstance(part, InOrder) and part.domain.dim(isl.dim_type.set) == depth
        flat.extend(part.parts if isinstance(part, InOrder) and inside else (part,))
    return InOrder(domain, tuple(flat))


def vector_values(entries: tuple[ex.Expr, ...], scope: IteratorScope) -> isl.MultiPwAff:
    """The values of several expressions as a function of the iterators."""
    space = scope.domain.get_space().from_domain().add_dims(isl.dim_type.out, len(entries))
    values = isl.PwAffList.alloc(scope.domain.get_ctx(), len(entries))
    for entry in entries:
        values = values.add(value(entry, scope))
    return isl.MultiPwAff.from_pw_aff_list(space, values)


def bound_by(let: Let, scope: IteratorScope) -> IteratorScope:
    """The scope inside a let: its name has the given value, whose own variables are the outer ones."""
    inner, outer_names, fresh = _entered(let.name, scope)
    equal = ex.Compare(ex.Relation.EQ, ex.Var(fresh), let.value)
    return inner.within(region(equal, IteratorScope(inner.domain, outer_names)))


def _entered(name: str, scope: IteratorScope) -> tuple[IteratorScope, dict[str, int], str]:
    """The scope inside a declaration, the outer names including a fresh name for the new one, and that name.

    The scope of a declaration begins after its initial value.
    """
    inner = scope.deeper(name)
    fresh = f"{name} declared"
    return inner, {**scope.names, fresh: inner.names[name]}, fresh


def _loop(loop: For, scope: IteratorScope, positions: count[int]) -> Repeat:
    loop = counted_up(loop) if loop.step < 0 else loop
    iterations = iterations_of(loop, scope)
    body = _executed(loop.body, iterations, positions)
    endless = None if ends(loop.test, loop.iterator) else _unstopped(loop, scope, iterations)
    depth = scope.domain.dim(isl.dim_type.set)
    said = frozenset(type(one) for one in loop.annotations if isinstance(one, Independent))
    return Repeat(depth, loop.iterator, loop.step, said, endless, body)


def iterations_of(loop: For, scope: IteratorScope) -> IteratorScope:
    """The values start, start + step, ... before the first for which the test fails; the step is positive."""
    if loop.step <= 0:
        raise InternalError(Code.INTERNAL, f"the loop over {loop.iterator} has step {loop.step}")
    steps = _steps(loop, scope)
    accepted = steps.within(region(loop.test, steps))
    if is_upper_bound(loop.test, loop.iterator):
        return accepted
    return IteratorScope(accepted.domain.subtract(later_by_last(_failing(loop, steps))), accepted.names)


def _steps(loop: For, scope: IteratorScope) -> IteratorScope:
    """The values start, start + step, ..."""
    inner, outer_names, fresh = _entered(loop.iterator, scope)
    start = IteratorScope(inner.domain, outer_names)
    steps = inner.within(region(ex.Compare(ex.Relation.GE, ex.Var(fresh), loop.start), start))
    if loop.step > 1:
        distance = value(ex.Var(fresh), start).sub(value(loop.start, start))
        steps = steps.within(multiples(distance, loop.step))
    return steps


def _failing(loop: For, steps: IteratorScope) -> isl.Set:
    return steps.domain.intersect(region(negation(loop.test), steps))


def _unstopped(loop: For, scope: IteratorScope, iterations: IteratorScope) -> isl.Set:
    """The iterations after which no step fails the test: the loop does not terminate from there."""
    return iterations.domain.subtract(earlier_by_last(_failing(loop, _steps(loop, scope))))


class Growth(Enum):
    """How an expression depends on the iterator."""

    FREE = "does not mention it"
    UP = "never falls, and passes every bound"
    DOWN = "never rises, and passes every bound"
    UNKNOWN = "may do anything"


FLIPPED = {Growth.UP: Growth.DOWN, Growth.DOWN: Growth.UP}


def growth(expr: ex.Expr, iterator: str) -> Growth:
    """The growth of an expression: all of LOOP's operators but `%` and `?:` are monotone in each argument."""
    if iterator not in variables(expr):
        return Growth.FREE
    match expr:
        case ex.Var():
            return Growth.UP
        case ex.Scaled(factor, argument):
            inner = growth(argument, iterator)
            return Growth.FREE if factor == 0 else inner if factor > 0 else FLIPPED.get(inner, inner)
        case ex.FloorDiv(argument) | ex.TruncDiv(argument):
            return growth(argument, iterator)
        case ex.Sum(terms):
            return _all_that_move(terms, iterator)
        case ex.Min(arguments) | ex.Max(arguments):
            directions = {growth(one, iterator) for one in arguments}
            return directions.pop() if len(directions) == 1 else Growth.UNKNOWN
        case _:
            return Growth.UNKNOWN


def _all_that_move(terms: tuple[ex.Expr, ...], iterator: str) -> Growth:
    """The common direction of the terms that depend on the iterator."""
    directions = [growth(term, iterator) for term in terms]
    moving = [one for one in directions if one is not Growth.FREE]
    if not moving:
        return Growth.FREE
    return moving[0] if all(one is moving[0] for one in moving) else Growth.UNKNOWN


def is_upper_bound(test: ex.Test, iterator: str) -> bool:
    """Whether `test`, once it fails, fails for all greater values of the iterator."""
    if iterator not in variables(test):
        return True
    match test:
        case ex.Compare(relation, left, right):
            return _bounds(relation, left, right, iterator)
        case ex.And(arguments) | ex.Or(arguments):
            return all(is_upper_bound(one, iterator) for one in arguments)
        case ex.Not(argument):
            return is_upper_bound(negation(argument), iterator)
    return False


def ends(test: ex.Test, iterator: str) -> bool:
    """Whether `test` fails for all large enough values of the iterator."""
    match test:
        case ex.Compare(relation, left, right):
            return _bounds(relation, left, right, iterator)
        case ex.And(arguments):
            return any(ends(one, iterator) for one in arguments)
        case ex.Or(arguments):
            return all(ends(one, iterator) for one in arguments)
        case ex.Not(argument):
            return ends(negation(argument), iterator)
    return False


def _bounds(relation: ex.Relation, left: ex.Expr, right: ex.Expr, iterator: str) -> bool:
    """Whether this is `left <= right`, the left side growing and the right side not, not both free."""
    if relation in (ex.Relation.GE, ex.Relation.GT):
        return _bounds(ex.MIRRORED[relation], right, left, iterator)
    if relation in (ex.Relation.EQ, ex.Relation.NE):
        return False
    sides = growth(left, iterator), growth(right, iterator)
    return sides in ((Growth.UP, Growth.FREE), (Growth.FREE, Growth.DOWN), (Growth.UP, Growth.DOWN))
