"""Two programs of LOOP run side by side by a C program of ours, many times as fast as by Python.

Loops and statements are rows of numbers, which `native.c` runs.  A value is the hash of what it is made of:
two that are equal by accident hide a difference, no more.  No text of the user's is compiled.  Integers are
those of Python: where one does not fit, the run is given up.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field as field_of
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TypeAlias, assert_never

from loopwright.c.typed.options import PLAIN
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import free_variables
from loopwright.prove.coq.check import cache_folder
from loopwright.prove.descent.running import TooLong, last_of, summed
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.running import Pair, Steps, compared
from loopwright.prove.equivalence.terms import CellTerm, Index, Term, shape_of
from loopwright.prove.equivalence.traces import CellKey, Runnable, Sizes, StatementRun
from loopwright.prove.verdict import Refuted

MOST_SUBSCRIPTS, MOST_GIVEN, WIDTH_OUT, MOST_PLACES = 6, 24, 9, 6
"""As in `native.c`; the last is how many cells are told of."""
MOST_PARTS = 120_000
"""Numbers of executions that lead to a cell: with more, they are not told."""
LARGEST = 1 << 60
SECONDS = 20.0
FLAGS = ("-O2", "-w", "-fwrapv", "-shared", "-fPIC")
Numbers: TypeAlias = "ctypes.Array[ctypes.c_longlong]"


class NotNative(Exception):
    """Programs that are not compiled: for integers that are too large, or for want of a compiler."""


@dataclass(frozen=True)
class _Given:
    """What a computation is given, of which each of its columns is one and a number."""

    values: tuple[ex.Expr, ...]
    columns: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class NativePair:
    """Two programs, compiled; a run of both is kept until the next one."""

    pair: Pair
    library: ctypes.CDLL
    rows: tuple[Numbers, ...]
    """Both programs; what the statements do, where each begins in that, how many integers each is given, and
    where a run looks for cells first."""
    computations: tuple[tuple[Computation, _Given], ...]
    variables: tuple[str, ...]
    """By their numbers, those that loops count by among them."""
    parameters: frozenset[str]
    arrays: tuple[str, ...]
    """By their numbers: those that count first."""

    def run(self, sizes: Sizes, most: int) -> int:
        """Run both, with so many iterations of loops at most for each; how many it took."""
        begun = [sizes[name] if name in self.parameters else 0 for name in self.variables]
        if any(abs(value) >= LARGEST for value in begun):
            raise TooLong
        self.library.start(*self.rows[2:])
        left: list[int] = []
        for which in (0, 1):
            left.append(self.library.run(which, self.rows[which], _numbers(begun), most))
            if left[-1] < 0:
                raise TooLong
        return 2 * most - sum(left)

    def different(self) -> list[tuple[int, CellKey]]:
        """Cells with two values at the end, by their numbers: those that both runs are done with first."""
        out = (ctypes.c_longlong * (MOST_PLACES * WIDTH_OUT))()
        count = self.library.different(len(self.pair.arrays), out)
        rows = [out[k * WIDTH_OUT : (k + 1) * WIDTH_OUT] for k in range(count)]
        return [(row[0], (self.arrays[row[1]], tuple(row[3 : 3 + row[2]]))) for row in rows]

    def leading_to(self, cell: int = -1) -> Steps | None:
        """What leads to the value of a cell, or all executions; None where that is long."""
        found: list[tuple[StatementRun, ...]] = []
        out = (ctypes.c_longlong * MOST_PARTS)()
        for side in (0, 1):
            used = self.library.leading_to(side, cell, MOST_PARTS, out)
            if used < 0:
                return None
            found.append(tuple(reversed([*self._steps(out[:used])])))
        return found[0], found[1]

    def _steps(self, words: Sequence[int]) -> Iterator[StatementRun]:
        at = 0
        while at < len(words):
            computation, given = self.computations[words[at]]
            values = words[at + 1 : at + 1 + len(given.values)]
            yield StatementRun(computation, tuple([values[k] + more for k, more in given.columns]))
            at += 1 + len(given.values)

    @property
    def differs(self) -> bool:
        """Whether the last run left other values."""
        return bool(self.different())

    def confirmed(self, sizes: Sizes) -> Refuted | None:
        """The difference in values, if there is one, and the original stays inside its arrays.

        The executions of long runs are not listed to look at all of their cells.
        """
        old = self.pair.runs[0]
        if not self.is_inside(old, sizes):
            return None
        steps = self.leading_to() if old.fresh else ((), ())
        if steps is None or not old.is_defined(steps[0], sizes):
            return None
        for number, place in self.different():
            parts = self.leading_to(number)
            found = None if parts is None else compared(self.pair, parts, sizes, only=place)
            if isinstance(found, Refuted):
                return found
        steps = self.leading_to()
        found = None if steps is None else compared(self.pair, steps, sizes)
        return found if isinstance(found, Refuted) else None

    def is_inside(self, old: Runnable, sizes: Sizes) -> bool:
        """Whether the first program stayed inside its arrays."""
        least, most = 1 << 60, -(1 << 60)
        out = _numbers([least, most] * (MOST_GIVEN * len(self.computations)))
        self.library.spans(out)
        spans: list[tuple[Computation, list[tuple[int, int]]]] = []
        for number, (computation, given) in enumerate(self.computations):
            own = out[number * 2 * MOST_GIVEN : (number + 1) * 2 * MOST_GIVEN]
            if given.values and own[0] != least:
                columns = [(own[2 * k] + more, own[2 * k + 1] + more) for k, more in given.columns]
                spans.append((computation, columns))
        return old.contains(spans, sizes)


def _numbers(values: Sequence[int]) -> Numbers:
    return (ctypes.c_longlong * max(1, len(values)))(*values)


def native_pair(pair: Pair) -> NativePair:
    """Both programs; NotNative where that cannot be done."""
    encoder = _Encoder({name: k for k, name in enumerate(pair.arrays)})
    programs = [encoder.program(run) for run in pair.runs]
    made, widths = tuple(encoder.made), [len(given.values) for _, given in encoder.made]
    rows = [*programs, encoder.does, encoder.starts, widths, [0] * len(encoder.does)]
    if any(row and max(max(row), -min(row)) >= LARGEST for row in rows):
        raise NotNative
    arrays, library, names = tuple(encoder.arrays), _library(), tuple(encoder.variables)
    free = frozenset[str]().union(*(free_variables(run.loops) for run in pair.runs))
    found = NativePair(pair, library, tuple(map(_numbers, rows)), made, names, free, arrays)
    weakref.finalize(found, library.finish)
    return found


def _library() -> ctypes.CDLL:
    """`native.c` with memory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "native.so"
        place.write_bytes(compiled_runner())
        try:
            library = ctypes.CDLL(str(place))
        except OSError:
            raise NotNative from None
    number, numbers = ctypes.c_longlong, ctypes.c_void_p
    library.start.argtypes = [numbers, numbers, numbers, numbers]
    library.run.argtypes = [number, numbers, numbers, number]
    library.different.argtypes = [number, numbers]
    library.leading_to.argtypes = [number, number, number, numbers]
    library.spans.argtypes = [numbers]
    library.finish.argtypes = []
    for function in (library.run, library.different, library.leading_to):
        function.restype = number
    return library


@cache
def compiled_runner() -> bytes:
    """`native.c`, compiled by the compiler of this machine, once for all runs of the command."""
    source = Path(__file__).parent / "native.c"
    words = [*PLAIN.program(), *FLAGS]
    made_of = hashlib.sha256("\0".join([*words, platform.platform(), source.read_text()]).encode())
    kept = cache_folder() / f"native-{made_of.hexdigest()[:16]}.so"
    try:
        return kept.read_bytes()
    except OSError:
        found = _compiled(words, source)
    with suppress(OSError):  # then it is compiled again the next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as new:
            new.write(found)
        os.replace(new.name, kept)
    return found


def _compiled(words: Sequence[str], source: Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "native.so"
        own = {**os.environ, "TMPDIR": folder}
        try:
            command = [*words, "-o", str(place), str(source)]
            subprocess.run(command, capture_output=True, check=True, timeout=SECONDS, env=own)
            return place.read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise NotNative from None


Row: TypeAlias = tuple[int, ...]
SUM, FLOOR, TRUNCATED, REMAINDER, MINIMUM, MAXIMUM, CHOICE, VARIABLE = range(8)
RELATIONS = [*ex.Relation]
AND, OR, NOT = range(len(RELATIONS), len(RELATIONS) + 3)
CALL, BLOCK, IF, FOR, RANGE, LET = range(6)


@dataclass
class _Encoder:
    """What is known while two programs are made rows of numbers; expressions are known by their `id`."""

    arrays: dict[str, int]
    variables: dict[str, int] = field_of(default_factory=dict)
    expressions: dict[int, Row] = field_of(default_factory=dict)
    shapes: dict[Term, int] = field_of(default_factory=dict)
    made: list[tuple[Computation, _Given]] = field_of(default_factory=list)
    starts: list[int] = field_of(default_factory=list)
    does: list[int] = field_of(default_factory=list)

    def program(self, run: Runnable) -> Row:
        known: dict[tuple[int, int], tuple[_Given, int]] = {}
        numbers: dict[str, int] = {}
        for name, one in run.computations.items():
            key = id(one.assignments), id(one.columns)  # copies of a statement are the same function
            if key not in known:
                known[key] = self.given(one), len(self.does)
                self.does += self.statement(one, known[key][0])
            numbers[name] = len(self.made)
            self.made.append((one, known[key][0]))
            self.starts.append(known[key][1])
        return self.node(run.loops, numbers)

    def given(self, one: Computation) -> _Given:
        """The sums of names in its columns, each once."""
        values: dict[tuple[tuple[Row, int], ...], tuple[int, ex.Expr]] = {}
        columns: list[tuple[int, int]] = []
        for column in one.columns:
            terms, number = summed(column, self.expression)
            place, _ = values.setdefault((*terms.items(),), (len(values), ex.Sum((column, ex.Int(-number)))))
            columns.append((place, number))
        if len(values) > MOST_GIVEN or any(abs(number) >= LARGEST for _, number in columns):
            raise NotNative
        return _Given(tuple(value for _, value in values.values()), tuple(columns))

    def statement(self, one: Computation, given: _Given) -> list[int]:
        """What it does."""

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
                kind, until = (FOR, self.test(test)) if last is None else (RANGE, self.encoded(last))
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

    def encoded(self, expr: ex.Expr) -> Row:
        match expr:
            case ex.Var(name):
                return VARIABLE, self.variable(name)
            case ex.Int() | ex.Scaled() | ex.Sum():
                terms, number = summed(expr, self.expression)
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
