"""States a program and its schedule, or a whole transformation, as a problem for the checker.

If a schedule gives several instances the same time, longer times distinguish them.

The time of an instance is followed by its place in the program: the positions in blocks and the iterators on
the path to the call that executes it.  If the program executes by strictly increasing longer times, it
executes in the order of the schedule, and nothing twice (`untied` in `proofs/Checker.v`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import islpy as isl

from loopwright.c.syntax import is_dereference, walk
from loopwright.c.types import INT, LONG, Integer
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Block, For, If, Let, Node, Remarked
from loopwright.loops.traverse import NodePath, paths_to_calls
from loopwright.model.program import Program
from loopwright.prove.certificates.guides import guide
from loopwright.prove.certificates.specification import (
    NO_DIFFERENCES,
    AllowedDifferences,
    refuse_other_arguments,
    shapes_of,
    specification,
    time_of,
    touches,
)
from loopwright.prove.certificates.temporaries import Way, padded_ways, reused, storage, tag_in, way_along
from loopwright.prove.coq.words import (
    Words,
    expr,
    is_marked,
    listed,
    name,
    names,
    printed,
    program,
    region,
    test,
    vector,
)
from loopwright.prove.legality.reductions import reductions
from loopwright.prove.obligations.cells import touched
from loopwright.prove.obligations.formulas import formula_of
from loopwright.prove.obligations.legality import both_sides
from loopwright.prove.obligations.timetable import Timetable, Vector
from loopwright.prove.obligations.witnesses import Witness, witness, witnesses
from loopwright.prove.reading.c_expressions import Unreadable, words_of
from loopwright.prove.reading.helper_macros import is_helper
from loopwright.prove.reading.integer_types import integer_types


def scan_problem(table: Timetable, node: Node, *, tied: bool = False, text: str | None = None) -> str:
    """The problem that `node` executes `table`; raises GaveUp if it has no such form.

    `tied`: instances may have equal times, and are distinguished by their places in the program.  With the
    `text` of `node`, the checker reads that, and its answer is about what it read.
    """
    given = program(node, table.hint) if text is None else printed(text, node, table.hint)
    return " ".join(("scan", *specification(table), *given, *proposal(table, node, tied=tied)))


@dataclass(frozen=True, eq=False)
class ChangeProblem:
    """Both programs of a transformation, each as a term and, if available, as a source."""

    head: Sequence[str]
    old: tuple[Callable[[], Words], Callable[[], Words]]
    new: tuple[Callable[[], Words], Callable[[], Words] | None]
    proposals: Sequence[str]

    @property
    def terms(self) -> str:
        return self._of(self.old[0], self.new[0])

    @property
    def with_original(self) -> str:
        """The problem with the original as its source, which shows the accesses of statements."""
        return self._of(self.old[1], self.new[0])

    @property
    def texts(self) -> str | None:
        return None if self.new[1] is None else self._of(self.old[1], self.new[1])

    def _of(self, old: Callable[[], Words], new: Callable[[], Words]) -> str:
        return " ".join((*self.head, *old(), *new(), *self.proposals))


def change_problem(
    original: Program,
    new: Program,
    loops: Node,
    allowed: AllowedDifferences = NO_DIFFERENCES,
    written: str | None = None,
    text: Node | None = None,
) -> ChangeProblem:
    """The problem that the source and `loops`, which run the schedule of `new`, leave the same memory.

    Loops marked as independent may execute their iterations in any order.  `written` is the source of
    `loops`, and `text` the loops of the original, if they are not those of its source.
    """
    private, temporaries = allowed.private, allowed.temporaries
    (old, text), (later, _) = both_sides(original, new, loops, text)
    steps = reductions(original) if allowed.combining else {}
    combining = {one: steps[one] for one in allowed.combining if not steps[one].carried}
    uses = {use.statement: use for use in touched(original, combining)}
    times = {name: time_of(shape) for name, shape in shapes_of(later)}
    names = [name for name, _ in shapes_of(old)]
    refuse_other_arguments(old, later)
    kind = "reused" if temporaries else "private" if private else "change"
    stored: Words = iter(())
    if temporaries:
        unlike = (*temporaries, *(one.array for one in private))
        stored = reused(original, old, uses, tuple(dict.fromkeys(unlike)))
    elif private:
        stored = storage(original, later, loops, uses, private)
    head = (
        kind,
        *specification(old),
        *listed([times[name] for name in names], vector),
        *listed([uses[name] for name in names], touches),
        *stored,
    )
    before = partial(program, text, old.hint), partial(region, original.region.text, text, old.hint)
    read = None if written is None else partial(region, written, loops, later.hint)
    after = partial(program, loops, later.hint), read
    return ChangeProblem(head, before, after, (*proposal(old, text), *proposal(later, loops)))


READ_FUNCTIONS = ("min", "max", "floord")
"""The functions that `proofs/Parser.v` knows."""


@dataclass(frozen=True)
class RangeProblem:
    """The words of a range problem; `kinds` are the types of names that are not ints."""

    words: str
    kinds: tuple[Integer, ...]


def range_problem(text: Program) -> RangeProblem:
    """The problem that no loop or subscript of a source computes a value that its type cannot hold.

    The parameters have values that the file and their types allow.  The checker reads the source; it is given
    the types of names.
    """
    known_words = words_of(text)
    for part in walk(text.syntax):
        if is_dereference(part):
            raise Unreadable(f"what '{part.text}' is computed from is not known")
        if part.text in READ_FUNCTIONS and not is_helper(part.text, known_words.macros):
            raise Unreadable(f"'{part.text}' may not be what its name says")
    known = formula_of(isl.Set.from_params(text.facts.params()), ())
    sizes = (*names([one.name for one in text.parameters]), *test(known), "0")
    kinds = integer_types(text)
    told = listed(list(kinds.items()), lambda one: (name(one[0]), *_range(one[1])))
    words = ("range", *sizes, *_range(INT), *_range(LONG), *told, name(text.region.text))
    return RangeProblem(" ".join(words), tuple(dict.fromkeys(kinds.values())))


def _range(kind: Integer) -> Words:
    return iter((str(kind.least), str(kind.greatest)))


def proposal(
    table: Timetable, node: Node, *, tied: bool = False, order: Sequence[str] | None = None
) -> Words:
    """The proposal for a problem; `order`: the statements, if not in the order of the table."""
    yield from guide(with_positions(table, node) if tied else table, node)
    yield from covers(table, node, order)
    yield from listed(ties(table, node) if tied else [], vector)


Turn: TypeAlias = str | int
"""A word, or the number of the iterator whose value is needed."""
Path: TypeAlias = tuple[tuple[Turn, ...], ...]


def covers(table: Timetable, program: Node, order: Sequence[str] | None = None) -> Words:
    """Paths for each shape, one of which leads to each of its instances: `proofs/Coverage.v`."""
    paths = [_turns(path) for _, path in paths_to_calls(program)]
    shapes = shapes_of(table)
    if order is not None:
        shapes = sorted(shapes, key=lambda item: order.index(item[0]))

    def path(found: Witness) -> Words:
        return listed(paths[found.position], lambda turn: _turn(turn, found))

    return listed(shapes, lambda item: listed(witnesses(item[1]), path))


def _turn(turn: tuple[Turn, ...], found: Witness) -> Words:
    for part in turn:
        if isinstance(part, int):
            yield from expr(found.iterators[part])
        else:
            yield part


def _turns(path: NodePath) -> Path:
    """The turns from the root to a call.

    A let counts as a loop of one iteration: it has a value among the witnesses, which is not needed.
    """
    found: list[tuple[Turn, ...]] = []
    depth = 0
    for node, number in path:
        match node:
            case Block():
                found.append(("child", str(number)))
            case If():
                found.append(("no",) if number else ("yes",))
            case For():
                found += [("inside",), ("iteration", depth)] if is_marked(node) else [("iteration", depth)]
            case Let() | Remarked():
                found.append(("inside",))
        depth += isinstance(node, For | Let)
    return tuple(found)


def ties(table: Timetable, program: Node) -> list[Vector]:
    """For each shape, the place of an instance in the program."""
    positions = _positions(program)
    shapes = (shape for _, shape in shapes_of(table))
    return [() if witness(one) is None else tag_in(one, positions) for one in shapes]


def with_positions(table: Timetable, program: Node) -> Timetable:
    """The timetable with longer times."""
    positions = _positions(program)
    count = len(positions[0]) if positions else 0
    times = {k: _longer(one, positions[k]) for k, one in table.times.items()}
    return replace(table, width=table.width + count, times=times)


def _longer(times: isl.Map, position: Way) -> isl.Map:
    width = times.dim(isl.dim_type.out)
    found = times.add_dims(isl.dim_type.out, len(position))
    for k, part in enumerate(position):
        if isinstance(part, int):
            found = found.fix_val(isl.dim_type.out, width + k, isl.Val(part))
        else:
            found = found.equate(isl.dim_type.in_, int(part), isl.dim_type.out, width + k)
    return found


def _positions(program: Node) -> list[Way]:
    """The complete path to each call, in source order."""
    return padded_ways(way_along(path, -1)[0] for _, path in paths_to_calls(program))
