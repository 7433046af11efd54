"""Runs two programs of LOOP side by side in C, many times as fast as in Python.

Loops and statements are rows of numbers, which `native.c` executes.  A value is the hash of what it is
computed from: a collision can only hide a difference.  No user source is compiled.  Integers are those of
Python: if one does not fit, the run is given up.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import platform
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from loopwright.c.typed.options import PLAIN
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.traverse import free_variables
from loopwright.prove.coq.check import cache_folder
from loopwright.prove.descent.doubles import formulas_of
from loopwright.prove.descent.encoding import (
    LARGEST,
    MOST_GIVEN,
    MOST_SUBSCRIPTS,
    Encoder,
    GivenValues,
    NotNative,
    without_calls,
)
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.pairs import Pair
from loopwright.prove.equivalence.refuting import Steps
from loopwright.prove.equivalence.running import MOST_NUMBERED, MeasuredRuns, compared, told_by
from loopwright.prove.equivalence.traces import CellKey, Runnable, Sizes, StatementRun
from loopwright.prove.equivalence.within_rows import Lengths, in_rows, lengths_of, within_rows
from loopwright.prove.verdict import Refuted

WIDTH_OUT, MOST_PLACES = 9, 6
"""The same limits as in `native.c`; the last is how many cells are reported."""
FEW_PARTS, MOST_PARTS, LONG_PARTS = 2_000, 120_000, 600_000
"""Maximum length of the list of executions that lead to a cell, above the first of which values are measured
in doubles; where longer runs are worthwhile."""
SECONDS = 20.0
FLAGS = ("-O2", "-w", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC")
PARTS_IN_C = ("native.c", "after_runs.c")
Numbers: TypeAlias = "ctypes.Array[ctypes.c_longlong]"


class TooLong(Exception):
    """A run exceeds its iteration limit."""


@dataclass(frozen=True)
class NativePair:
    """Two compiled programs; a run of both is kept until the next one."""

    pair: Pair
    library: ctypes.CDLL
    rows: tuple[Numbers, ...]
    """Both programs, and the loops of the first; the encoded statements, where each begins, how many integers
    each is given, and where a run looks up cells first."""
    weights: Numbers
    """Of the statements, where executions are added up."""
    computations: tuple[tuple[Computation, GivenValues], ...]
    variables: tuple[str, ...]
    """By number, including loop iterators."""
    parameters: frozenset[str]
    formulas: tuple[Numbers, Numbers] | None
    """What assignments compute in doubles, and where that of each shape begins; None if sums may be
    reordered, or no number may be infinite."""
    arrays: tuple[str, ...]
    """By number: the live-out ones first."""

    def run(self, sizes: Sizes, most: int, lengths: Numbers | None = None) -> int:
        """Runs both, with at most `most` loop iterations each; returns how many they took.

        With `lengths` of rows, an access beyond a row is one to the next row.
        """
        self.library.start(*self.rows[3:], lengths)
        return self._taken(0, 0, sizes, most) + self._taken(1, 1, sizes, most)

    def count(self, sizes: Sizes, most: int) -> int:
        """Returns how many iterations the first program takes, faster than a run does."""
        self.library.start(*self.rows[3:], None)
        return self._taken(0, 2, sizes, most)

    def executes_alike(self, sizes: Sizes, most: int) -> tuple[bool, int]:
        """Whether sums over the executions of both are equal, and how many iterations of loops that took.

        Loops whose iterations all execute as much are not run through, which makes this faster than a run; a
        difference may be harmless.
        """
        self.library.start(*self.rows[3:], None)
        found, taken = (ctypes.c_longlong * 2)(), 0
        for side in (0, 1):
            begun, place = _numbers(self._begun(sizes)), ctypes.byref(found, side * 8)
            left = self.library.sum_of(self.rows[side], begun, most, self.weights, place)
            if left < 0:
                raise TooLong
            taken += most - left
        return found[0] == found[1], taken

    def _begun(self, sizes: Sizes) -> list[int]:
        """The variables at the beginning."""
        begun = [sizes[name] if name in self.parameters else 0 for name in self.variables]
        if any(abs(value) >= LARGEST for value in begun):
            raise TooLong
        return begun

    def _taken(self, side: int, row: int, sizes: Sizes, most: int) -> int:
        left: int = self.library.run(side, self.rows[row], _numbers(self._begun(sizes)), most)
        if left < 0:
            raise TooLong
        return most - left

    def different(self) -> list[tuple[int, CellKey]]:
        """Cells with different final values, by number: those that both runs finish first."""
        out = (ctypes.c_longlong * (MOST_PLACES * WIDTH_OUT))()
        count = self.library.different(len(self.pair.arrays), out)
        return self._places(out[: count * WIDTH_OUT])

    def leading_to(self, cell: int = -1, most: int = MOST_PARTS) -> Steps | None:
        """The executions that lead to the value of a cell, or all; None if there are too many."""
        found: list[tuple[StatementRun, ...]] = []
        out = (ctypes.c_longlong * most)()
        for side in (0, 1):
            used = self.library.leading_to(side, cell, most, out, None, None)
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
        """Whether the last run left different values."""
        return bool(self.different())

    def confirmed(self, sizes: Sizes, most: int = MOST_PARTS) -> Refuted | None:
        """The difference in values, if there is one, and the original stays in bounds.

        The executions of long runs are not listed to examine all of their cells.  If the second program
        leaves rows, both are run again with rows that follow each other.
        """
        old = self.pair.runs[0]
        if not self.is_inside(old, sizes):
            return None
        steps = self.leading_to() if old.fresh else ((), ())
        if steps is None or not old.is_defined(steps[0], sizes):
            return None
        limited = in_rows(self.pair.runs)
        is_in_rows = self.is_inside(limited, sizes, side=1)
        lengths = None if is_in_rows else self._by_number(lengths_of(limited, sizes))  # used until the end
        if lengths is not None:
            try:
                self.run(sizes, LARGEST, lengths)
            except TooLong:
                return None
        for number, place in self.different():
            parts = self.leading_to(number, min(most, FEW_PARTS))
            if parts is None:
                measured = self._measured(number, place) if lengths is None else None
                told = None if measured is None else told_by(self.pair, measured, sizes)
                if told is not None:
                    return told
                parts = self.leading_to(number, most)
            if parts is not None and lengths is not None:
                parts = within_rows(parts, self.pair.runs, sizes)
            found = None if parts is None else compared(self.pair, parts, sizes, only=place)
            if isinstance(found, Refuted):
                return found
            if parts is not None and sum(map(len, parts)) > MOST_NUMBERED:
                break
        steps = self.leading_to()
        found = None if steps is None else compared(self.pair, steps, sizes)
        return found if isinstance(found, Refuted) else None

    def _measured(self, cell: int, place: CellKey) -> MeasuredRuns | None:
        """Two different values of a cell in doubles, where inputs of 0 and 1 in turn lead to them."""
        if self.formulas is None:
            return None
        read, values, found = ctypes.create_string_buffer(self.library.cells_seen() + 1), [], []
        out, value = (ctypes.c_longlong * MOST_PARTS)(), ctypes.c_double()
        for side in (0, 1):
            seen = ctypes.create_string_buffer(len(self.computations))
            used = self.library.leading_to(side, cell, MOST_PARTS, out, seen, read)
            if used < 0 or not self.library.measured(side, cell, *self.formulas, ctypes.byref(value)):
                return None
            values.append(value.value)
            found.append(tuple(reversed([*self._steps(out[:used])])))
        if not all(map(math.isfinite, values)) or values[0] == values[1]:
            return None
        places = (ctypes.c_longlong * (len(read) * WIDTH_OUT))()
        count = self.library.places_of(read, places)
        inputs = tuple(one for _, one in self._places(places[: count * WIDTH_OUT]))
        return MeasuredRuns(place, (values[0], values[1]), inputs, (found[0], found[1]))

    def _places(self, words: Sequence[int]) -> list[tuple[int, CellKey]]:
        """Cells by their numbers, and where they are."""
        rows = (words[k : k + WIDTH_OUT] for k in range(0, len(words), WIDTH_OUT))
        return [(row[0], (self.arrays[row[1]], tuple(row[3 : 3 + row[2]]))) for row in rows]

    def _by_number(self, lengths: Lengths) -> Numbers:
        """The lengths of rows by array and subscript, 0 where there is no limit."""
        rows = [[one or 0 for one in lengths.get(name, ())] for name in self.arrays]
        return _numbers([one for row in rows for one in (*row, *[0] * MOST_SUBSCRIPTS)[:MOST_SUBSCRIPTS]])

    def is_inside(self, program: Runnable, sizes: Sizes, side: int = 0) -> bool:
        """Whether the first program, or the second, stayed in bounds."""
        least, most = 1 << 60, -(1 << 60)
        out = _numbers([least, most] * (MOST_GIVEN * len(self.computations)))
        self.library.spans(side, out)
        spans: list[tuple[Computation, list[tuple[int, int]]]] = []
        for number, (computation, given) in enumerate(self.computations):
            own = out[number * 2 * MOST_GIVEN : (number + 1) * 2 * MOST_GIVEN]
            if given.values and own[0] != least:
                columns = [(own[2 * k] + more, own[2 * k + 1] + more) for k, more in given.columns]
                spans.append((computation, columns))
        return program.contains(spans, sizes)


def _numbers(values: Sequence[int]) -> Numbers:
    return (ctypes.c_longlong * max(1, len(values)))(*values)


def native_pair(pair: Pair) -> NativePair:
    """Compiles both programs; raises NotNative if that is not possible."""
    encoder = Encoder({name: k for k, name in enumerate(pair.arrays)})
    programs = [encoder.program(run) for run in pair.runs]
    programs.append(encoder.node(without_calls(pair.runs[0].loops), {}))
    made, widths = tuple(encoder.made), [len(given.values) for _, given in encoder.made]
    rows = [*programs, encoder.does, encoder.starts, widths, [0] * len(encoder.does)]
    if any(row and max(max(row), -min(row)) >= LARGEST for row in rows):
        raise NotNative
    arrays, library, names = tuple(encoder.arrays), _library(), tuple(encoder.variables)
    free = frozenset[str]().union(*(free_variables(run.loops) for run in pair.runs))
    weights = _numbers([*chain(*encoder.weights)])
    is_relaxed = pair.reassociate or pair.finite
    doubles = None if is_relaxed else formulas_of(encoder.values)
    formulas = None if doubles is None else (_numbers(doubles.rows), _numbers(doubles.where))
    found = NativePair(
        pair, library, tuple(map(_numbers, rows)), weights, made, names, free, formulas, arrays
    )
    weakref.finalize(found, library.finish)
    return found


def _library() -> ctypes.CDLL:
    """Loads `native.c` with memory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "native.so"
        place.write_bytes(compiled_runner())
        try:
            library = ctypes.CDLL(str(place))
        except OSError:
            raise NotNative from None
    number, numbers = ctypes.c_longlong, ctypes.c_void_p
    library.start.argtypes = [numbers] * 5
    library.run.argtypes = [number, numbers, numbers, number]
    library.sum_of.argtypes = [numbers, numbers, number, numbers, numbers]
    library.different.argtypes = [number, numbers]
    library.leading_to.argtypes = [number, number, number, numbers, numbers, numbers]
    library.measured.argtypes = [number, number, numbers, numbers, numbers]
    library.places_of.argtypes = [numbers, numbers]
    library.cells_seen.argtypes = []
    library.spans.argtypes = [number, numbers]
    library.finish.argtypes = []
    counting = library.different, library.leading_to, library.places_of, library.cells_seen
    for function in (library.run, library.sum_of, *counting):
        function.restype = number
    return library


@cache
def compiled_runner() -> bytes:
    """`native.c`, compiled by the compiler of this machine, once for all runs of the command."""
    text = "".join((Path(__file__).parent / name).read_text() for name in PARTS_IN_C)
    words = [*PLAIN.program(), *FLAGS]
    made_of = hashlib.sha256("\0".join([*words, platform.platform(), text]).encode())
    kept = cache_folder() / f"native-{made_of.hexdigest()[:16]}.so"
    try:
        return kept.read_bytes()
    except OSError:
        found = _compiled(words, text)
    with suppress(OSError):  # if this fails, it is compiled again the next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as new:
            new.write(found)
        os.replace(new.name, kept)
    return found


def _compiled(words: Sequence[str], text: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "native.c", Path(folder) / "native.so"
        source.write_text(text)
        own = {**os.environ, "TMPDIR": folder}
        try:
            command = [*words, "-o", str(place), str(source)]
            subprocess.run(command, capture_output=True, check=True, timeout=SECONDS, env=own)
            return place.read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise NotNative from None
