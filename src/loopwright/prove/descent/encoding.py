"""Encodes programs of LOOP as rows of numbers, which `native.c` executes.

A statement is given each distinct sum of names in its columns once.  What cannot be encoded raises
`NotNative`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field as field_of
from hashlib import blake2b
from itertools import chain
from typing import TypeAlias, assert_never

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import EMPTY, Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.sums import LinearSum
from loopwright.loops.traverse import children, terms, variables, with_children
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.terms import CellTerm, Index, Term, TermAssignment, shape_of
from loopwright.prove.equivalence.traces import Runnable

MOST_SUBSCRIPTS, MOST_GIVEN = 6, 24
"""The same limits as in `native.c`."""
LARGEST = 1 << 60


class NotNative(Exception):
    """The programs cannot be compiled: integers are too large, or there is no compiler."""


Row: TypeAlias = tuple[int, ...]
SUM, FLOOR, TRUNCATED, REMAINDER, MINIMUM, MAXIMUM, CHOICE, VARIABLE = range(8)
RELATIONS = [*ex.Relation]
AND, OR, NOT = range(len(RELATIONS), len(RELATIONS) + 3)
CALL, BLOCK, IF, FOR, RANGE, EVEN, LET = range(7)


@dataclass(frozen=True)
class GivenValues:
    """The values passed to a computation; each of its columns is one of them plus a number."""

    values: tuple[ex.Expr, ...]
    columns: tuple[tuple[int, int], ...]


@dataclass
class Encoder:
    """The state while two programs are encoded; expressions are identified by their `id`."""

    arrays: dict[str, int]
    variables: dict[str, int] = field_of(default_factory=dict)
    expressions: dict[int, Row] = field_of(default_factory=dict)
    shapes: dict[Term, int] = field_of(default_factory=dict)
    values: list[TermAssignment] = field_of(default_factory=list)
    """The first assignment of each shape."""
    made: list[tuple[Computation, GivenValues]] = field_of(default_factory=list)
    starts: list[int] = field_of(default_factory=list)
    does: list[int] = field_of(default_factory=list)
    weights: list[Row] = field_of(default_factory=list)

    def program(self, run: Runnable) -> Row:
        known: dict[tuple[int, int], tuple[GivenValues, int, Row]] = {}
        numbers: dict[str, int] = {}
        for name, one in run.computations.items():
            key = id(one.assignments), id(one.columns)  # copies of a statement share a function
            if key not in known:
                given = self.given(one)
                does = self.statement(one, given)
                known[key] = given, len(self.does), weights_of((*does,))
                self.does += does
            numbers[name] = len(self.made)
            self.made.append((one, known[key][0]))
            self.starts.append(known[key][1])
            self.weights.append(known[key][2])
        return self.node(run.loops, numbers)

    def given(self, one: Computation) -> GivenValues:
        """The distinct sums of names in its columns."""
        values: dict[tuple[tuple[Row, int], ...], tuple[int, ex.Expr]] = {}
        columns: list[tuple[int, int]] = []
        for column in one.columns:
            terms, number = self.summed(column)
            place, _ = values.setdefault((*terms.items(),), (len(values), ex.Sum((column, ex.Int(-number)))))
            columns.append((place, number))
        if len(values) > MOST_GIVEN or any(abs(number) >= LARGEST for _, number in columns):
            raise NotNative
        return GivenValues(tuple(value for _, value in values.values()), tuple(columns))

    def statement(self, one: Computation, given: GivenValues) -> list[int]:
        """The encoding of what a statement does."""

        def cell(place: CellTerm) -> Row:
            if len(place.subscripts) > MOST_SUBSCRIPTS:
                raise NotNative
            array = self.arrays.setdefault(place.array, len(self.arrays))
            at = (part for subscript in place.subscripts for part in given.columns[one.columns[subscript]])
            return array, len(place.subscripts), *at

        def integer(index: Index) -> Row:
            return -1, *given.columns[one.columns[index.value]]

        found = [len(one.assignments)]
        for assignment in one.assignments:
            parts: list[Row] = []
            shape = shape_of(assignment.value, parts, integer, cell)
            number = self.shapes.setdefault(shape, len(self.shapes))
            if number == len(self.values):
                self.values.append(assignment)
            target = cell(assignment.target)
            found += [number, len(parts), *chain(*parts), *target]
        return found

    def node(self, node: Node, numbers: Mapping[str, int]) -> Row:
        match node:
            case Call(name):
                number = numbers[name]
                return CALL, number, *chain(*map(self.expression, self.made[number][1].values))
            case Block(children):
                return BLOCK, len(children), *chain(*(self.node(child, numbers) for child in children))
            case If(test, then, orelse):
                first = self.node(then, numbers)
                second = () if orelse is None else self.node(orelse, numbers)
                rest = (*self.test(test), len(first), *first, *second)
                return IF, len(rest), *rest
            case For(iterator, start, test, step, body):
                last = last_of(node)
                inside = EVEN if _is_even(iterator, body) else RANGE
                kind, until = (FOR, self.test(test)) if last is None else (inside, self.encoded(last))
                head = (self.variable(iterator), step, *self.expression(start), *until)
                rest = (*head, *self.node(body, numbers))
                return kind, len(rest), *rest
            case Let(name, value, body):
                return LET, self.variable(name), *self.expression(value), *self.node(body, numbers)
            case Remarked(_, body):
                return self.node(body, numbers)
            case _:
                assert_never(node)

    def variable(self, name: str) -> int:
        return self.variables.setdefault(name, len(self.variables))

    def expression(self, expr: ex.Expr) -> Row:
        if id(expr) not in self.expressions:
            self.expressions[id(expr)] = self.encoded(expr)
        return self.expressions[id(expr)]

    def summed(self, expr: ex.Expr) -> tuple[dict[Row, int], int]:
        """An expression as a sum of multiples of parts that are not sums, and a number."""
        total, found = LinearSum().plus_expr(1, expr), dict[Row, int]()
        for times, term in total.terms:
            part = self.expression(term)
            found[part] = found.get(part, 0) + times
        return {part: times for part, times in found.items() if times}, total.constant

    def encoded(self, expr: ex.Expr) -> Row:
        match expr:
            case ex.Var(name):
                return VARIABLE, self.variable(name)
            case ex.Int() | ex.Scaled() | ex.Sum():
                terms, number = self.summed(expr)
                return SUM, len(terms), number, *chain(*((times, *part) for part, times in terms.items()))
            case ex.FloorDiv(argument, divisor) if divisor > 0:
                return FLOOR, divisor, *self.expression(argument)
            case ex.TruncDiv(argument, divisor) if divisor > 0:
                return TRUNCATED, divisor, *self.expression(argument)
            case ex.Rem(argument, divisor) if divisor > 0:
                return REMAINDER, divisor, *self.expression(argument)
            case ex.Min(arguments):
                return MINIMUM, len(arguments), *chain(*map(self.expression, arguments))
            case ex.Max(arguments):
                return MAXIMUM, len(arguments), *chain(*map(self.expression, arguments))
            case ex.Select(test, then, orelse):
                return CHOICE, 0, *self.test(test), *self.expression(then), *self.expression(orelse)
            case _:
                raise NotNative

    def test(self, test: ex.Test) -> Row:
        match test:
            case ex.Compare(relation, left, right):
                return RELATIONS.index(relation), 0, *self.expression(left), *self.expression(right)
            case ex.And(arguments):
                return AND, len(arguments), *chain(*map(self.test, arguments))
            case ex.Or(arguments):
                return OR, len(arguments), *chain(*map(self.test, arguments))
            case ex.Not(argument):
                return NOT, 0, *self.test(argument)
            case _:
                assert_never(test)


def _is_even(iterator: str, body: Node) -> bool:
    """Whether each iteration executes as much as any other: no bound or condition inside has its number."""
    own = () if isinstance(body, Call) else terms(body)
    return all(iterator not in variables(term) for term in own) and all(
        _is_even(iterator, child) for child in children(body)
    )


def weights_of(statement: Row) -> Row:
    """A number for an execution of an encoded statement, and one for each integer that it is given.

    They add up what is read and written where: each part of the statement has its own factors.
    """
    found, at = [0] * (MOST_GIVEN + 1), 1

    def add(*key: int) -> None:
        """Adds what is given, plus a number, with the factor that belongs to the key."""
        place, number = statement[at : at + 2]
        factor = _factor(*key)
        found[1 + place] += factor
        found[0] += factor * number

    for which in range(statement[0]):
        shape, count = statement[at : at + 2]
        found[0] += _factor(which, shape)
        at += 2
        for part in range(count + 1):  # the last one is the target
            array, rank = (-1, 1) if statement[at] < 0 else statement[at : at + 2]
            at += 1 if array < 0 else 2
            for k in range(rank):
                add(which, shape, part - count, array, k)
                at += 2
    return tuple([_in_a_word(one) for one in found])


def _factor(*key: int) -> int:
    digest = blake2b(repr(key).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _in_a_word(number: int) -> int:
    """The number modulo 2^64, between -2^63 and 2^63."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def last_of(loop: For) -> ex.Expr | None:
    """The maximum of the iterator, or minimum for a negative step, if the test states nothing else."""
    match loop.test:
        case ex.Compare(relation, ex.Var(name), end) if name == loop.iterator and name not in variables(end):
            match relation, loop.step > 0:
                case (ex.Relation.LE, True) | (ex.Relation.GE, False):
                    return end
                case (ex.Relation.LT, True):
                    return ex.Sum((end, ex.Int(-1)))
                case (ex.Relation.GT, False):
                    return ex.Sum((end, ex.Int(1)))
    return None


def without_calls(node: Node) -> Node:
    """The loops without their calls, but with blocks and conditions: a run takes as many iterations."""
    if isinstance(node, For):
        return with_children(node, without_calls)
    inside = with_children(node, without_calls)
    match inside:
        case Block(children):
            return Block(tuple(one for one in children if one != EMPTY))
        case Call() | If(_, Block(()), None | Block(())) | Let(body=Block(())):
            return EMPTY
        case Remarked(_, body):
            return body
    return inside
