"""The scanning proof: a program executes exactly its schedule (the design's obligations 1 to 4).

For all parameters in the context: 1 nothing missing, 2 nothing extra, 3 nothing twice, 4 nothing out of
order.  Besides, a loop is marked as independent exactly where its iterations are not ordered, or must be
independent; and a loop whose test does not end it never continues with nothing left to execute.

Obligations 1 to 3 are checked target by target.  A loop that does not terminate is correct only while there
is something left to execute.

The module also recognises programs that execute the same calls in the same order because they differ in form
only. Iterators may have other names, and affine expressions and comparisons other forms: `i < n` is `i <= n -
1`, and a loop that counts down by i is one that counts up by -i.  Remarks, loop annotations and nested blocks
are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.model.annotations import IndependentLoops
from loopwright.model.schedule import Schedule
from loopwright.presburger.dimensions import earlier_by_last, first
from loopwright.presburger.equalities import Residues, are_apart, in_class, is_plainly_injective, residues
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import DIM, isl_failures
from loopwright.prove.scanning.executed import Executed, Repeat, Run, executed, loops, runs
from loopwright.prove.scanning.meaning import Meaning, meaning
from loopwright.prove.scanning.order import order
from loopwright.prove.scanning.targets import CallTimes, Target, TargetExecutions, match, timed_calls
from loopwright.prove.scanning.witness import Failure, refuted, replayed
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict

NEARBY = 4
"""How many parameter values are tried to confirm a failure by a run."""


@isl_failures("isl failed during the proof")
def prove_scan(schedule: Schedule, program: Node, independent: Sequence[IndependentLoops] = ()) -> Verdict:
    """Proves that `program` executes each instance of `schedule` once for each of its times, in order.

    A loop marked as independent must scan a dimension that `schedule`, or `independent`, marks.
    """
    known = meaning(schedule)
    timed = timed_calls(schedule, known)
    if isinstance(timed, Undecided):
        return timed
    tree = executed(program, known.context)
    matched = match(known, timed, runs(tree), independent)
    if isinstance(matched, Undecided):
        point = smallest_point(known.context)
        return _seen_wrong(known, timed, program, {} if point is None else point.parameters) or matched
    obligations = chain(coverage(matched.targets, matched.strays), order(tree, matched.pieces), endless(tree))
    count = 0
    for failure in obligations:
        if failure is not None:
            answer = refuted(failure)
            return _confirmed(answer, known, timed, program) if failure.chosen else answer
        count += 1
    return Proved(count)


def _confirmed(answer: Refuted, known: Meaning, timed: tuple[CallTimes, ...], program: Node) -> Verdict:
    """Confirms a failure that may be due to the choice of times: only a run makes it a refutation."""
    seen = _seen_wrong(known, timed, program, answer.parameters)
    reason = f"not with the times chosen for instances that have several: {answer.message}"
    return Undecided(reason) if seen is None else seen


def _seen_wrong(
    known: Meaning, timed: tuple[CallTimes, ...], program: Node, parameters: dict[str, int]
) -> Refuted | None:
    """A failure in a run for these parameters, or for slightly greater ones."""
    nearby = ({name: value + more for name, value in parameters.items()} for more in range(NEARBY))
    return next(filter(None, (replayed(known, timed, program, values) for values in nearby)), None)


Range: TypeAlias = tuple[isl.Set, Residues]
"""The points that a call reaches, and the residues they all have."""


def coverage(targets: tuple[Target, ...], strays: tuple[Run, ...]) -> Iterator[Failure | None]:
    """Yields None for each obligation that holds, and the failure for one that does not."""
    for run in strays:
        yield _stray(run)
    for target in targets:
        ranges = [
            (reached, residues(reached)) for reached in (one.points.range() for one in target.executions)
        ]
        for reached, _ in ranges:
            yield _extra(reached, target)
        yield from _missing(target, ranges)
        yield from _twice(target, ranges)


def _stray(run: Run) -> Failure | None:
    if run.domain.is_empty():
        return None
    executed = run.arguments.as_map().intersect_domain(run.domain).range()
    return Failure("extra", executed, ((run.name, run.arguments.dim(isl.dim_type.out)),))


def _failure(kind: str, target: Target, points: isl.Set) -> Failure:
    several = target.several_times
    return Failure(kind, points, (target.key,), time_follows=several, chosen=several)


def _extra(reached: isl.Set, target: Target) -> Failure | None:
    """range(E) − D = ∅, for one call."""
    if reached.is_subset(target.wanted):
        return None
    return _failure("extra", target, reached.subtract(target.wanted))


def _missing(target: Target, ranges: list[Range]) -> Iterator[Failure | None]:
    """D − range(E) = ∅."""
    for wanted, reached in _by_residue(target.wanted, ranges):
        union = reduce(isl.Set.union, reached, isl.Set.empty(wanted.get_space()))
        covered = wanted.is_subset(union)
        yield None if covered else _failure("missing", target, wanted.subtract(union))


def _by_residue(wanted: isl.Set, ranges: list[Range]) -> Iterator[tuple[isl.Set, list[isl.Set]]]:
    """Yields parts of `wanted`, each with the ranges that can contain points of it.

    Unrolling makes many calls, each of one residue class; isl is fast only class by class.
    """
    held = Counter(modulus for _, known in ranges for modulus in known if modulus[1] > 0)
    most = min(held, key=lambda one: (-held[one], one), default=None)
    if most is None or held[most] < 4 or most[1] > held[most] * 4:
        yield wanted, [reached for reached, _ in ranges]
        return
    for value in range(most[1]):
        inside = [(reached, known) for reached, known in ranges if known.get(most, value) == value]
        left = [(reached, {one: known[one] for one in known if one != most}) for reached, known in inside]
        yield from _by_residue(in_class(wanted, most, value), left)


def _twice(target: Target, ranges: list[Range]) -> Iterator[Failure | None]:
    """Checks that E is injective: each call alone, and the calls against each other."""
    for one in target.executions:
        yield _again(one, target)
    for k, (mine, known) in enumerate(ranges):
        for other, known_of_other in ranges[:k]:
            disjoint = are_apart(known, known_of_other) or mine.is_disjoint(other)
            yield None if disjoint else _failure("twice", target, mine.intersect(other))


def _again(execution: TargetExecutions, target: Target) -> Failure | None:
    """Checks that no two iterator vectors reach the same point."""
    points = execution.points
    if is_plainly_injective(points) or _is_hull_injective(points) or points.is_injective():
        return None
    pairs = points.apply_range(points.reverse())
    different = pairs.subtract(isl.Map.identity(pairs.get_space()))
    return _failure("twice", target, different.domain().apply(points))


def _is_hull_injective(points: isl.Map) -> bool:
    """Whether a larger relation of one piece reaches no point twice: then neither do its parts.

    isl compares every two pieces, which can take a hundred times as long.
    """
    return points.n_basic_map() > 1 and bool(isl.Map.from_basic_map(points.simple_hull()).is_injective())


def endless(tree: Executed) -> Iterator[Failure | None]:
    """Checks that iterations of a loop that may not end are, or precede, ones that execute something."""
    for loop in loops(tree):
        if loop.endless is not None:
            yield _in_vain(loop, loop.endless)


def _in_vain(loop: Repeat, iterations: isl.Set) -> Failure | None:
    nothing = isl.Set.empty(iterations.get_space())
    useful = reduce(isl.Set.union, (_iterations(run.domain, loop.depth) for run in runs(loop.body)), nothing)
    idle = iterations.subtract(useful)
    if idle.is_empty():
        return None
    idle = idle.subtract(earlier_by_last(useful))
    return None if idle.is_empty() else Failure("endless", idle.params(), (), loop=loop.iterator)


def _iterations(domain: isl.Set, depth: int) -> isl.Set:
    return first(domain, DIM, depth + 1)


Form: TypeAlias = tuple[object, ...]
"""The canonical form of a test or a program: equal forms mean the same."""
Atom: TypeAlias = str | int | Form
"""A parameter, an iterator as the number of loops around it, or a form; `()` is the number 1."""
Linear: TypeAlias = frozenset[tuple[Atom, int]]
"""A sum of atoms with nonzero factors."""
Values: TypeAlias = Mapping[str, Linear]


@dataclass(frozen=True)
class ScannedLoops:
    """Loops that were proved to execute a schedule, with the number of obligations."""

    loops: Node
    obligations: int

    def are(self, other: Node) -> bool:
        """Whether `other` is the same program.  False means unknown."""
        return _program(self.loops, {}, 0) == _program(other, {}, 0)


def _program(node: Node, values: Values, depth: int) -> tuple[Form, ...]:
    """The forms of the parts that execute in sequence, inside `depth` loops; `values` are those of names."""
    match node:
        case Call(name, arguments, time):
            hint = None if time is None else _all(time, values)
            return (("call", name, _all(arguments, values), hint),)
        case Block(children):
            return tuple(one for child in children for one in _program(child, values, depth))
        case If(test, then, orelse):
            other = () if orelse is None else _program(orelse, values, depth)
            return (("if", _test(test, values), _program(then, values, depth), other),)
        case For(iterator, start, test, step, body):
            inner = {**values, iterator: frozenset({(depth, 1)})}
            inside = _program(body, inner, depth + 1)
            return (("for", _linear(start, values), _test(test, inner), step, inside),)
        case Let(name, value, body):
            return _program(body, {**values, name: _linear(value, values)}, depth)
        case Remarked(_, body):
            return _program(body, values, depth)
        case _:
            assert_never(node)


def _test(test: ex.Test, values: Values) -> Form:
    """The form of a test; comparisons are of a sum with 0: a < b is b - a - 1 >= 0."""
    match test:
        case ex.And(tests) | ex.Or(tests):
            return (type(test), *(_test(one, values) for one in tests))
        case ex.Not(negated):
            return (ex.Not, _test(negated, values))
        case ex.Compare(relation, left, right):
            sign = -1 if relation in (ex.Relation.LE, ex.Relation.LT) else 1
            parts = [(_linear(left, values), sign), (_linear(right, values), -sign)]
            if relation in (ex.Relation.LT, ex.Relation.GT):
                parts.append((_number(1), -1))
            kind = relation if relation in (ex.Relation.EQ, ex.Relation.NE) else ex.Relation.GE
            return (kind, _sum(parts))
        case _:
            assert_never(test)


def _linear(expr: ex.Expr, values: Values) -> Linear:
    """The form of an expression; max(a, b) is -min(-a, -b)."""
    match expr:
        case ex.Int(value):
            return _number(value)
        case ex.Var(name):
            return values.get(name, frozenset({(name, 1)}))
        case ex.Sum(terms):
            return _sum([(one, 1) for one in _all(terms, values)])
        case ex.Scaled(factor, argument):
            return _sum([(_linear(argument, values), factor)])
        case ex.FloorDiv(argument, divisor) | ex.TruncDiv(argument, divisor) | ex.Rem(argument, divisor):
            return frozenset({((type(expr), _linear(argument, values), divisor), 1)})
        case ex.Min(arguments) | ex.Max(arguments):
            sign = 1 if isinstance(expr, ex.Min) else -1
            return frozenset({((ex.Min, *(_sum([(one, sign)]) for one in _all(arguments, values))), sign)})
        case ex.Select(test, then, orelse):
            form = (ex.Select, _test(test, values), _linear(then, values), _linear(orelse, values))
            return frozenset({(form, 1)})
        case _:
            assert_never(expr)


def _all(given: Sequence[ex.Expr], values: Values) -> tuple[Linear, ...]:
    return tuple(_linear(one, values) for one in given)


def _number(value: int) -> Linear:
    return frozenset({((), value)} if value else ())


def _sum(parts: Sequence[tuple[Linear, int]]) -> Linear:
    total: Counter[Atom] = Counter()
    for linear, factor in parts:
        for atom, own in linear:
            total[atom] += factor * own
    return frozenset((atom, factor) for atom, factor in total.items() if factor)
