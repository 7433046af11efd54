"""Accesses outside of arrays: undefined, where OLD stays inside, whatever values they read or write.

Only arrays that the file of NEW defines at file scope count, whose sizes are what their declarations say, and
cells outside of the whole array: what exceeds a row is in the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from math import prod
from typing import TypeAlias

from loopwright.c.declarations import Variable
from loopwright.c.file import c_file
from loopwright.c.tokens import names_in
from loopwright.loops.expressions import Expr
from loopwright.loops.interpreter import evaluate
from loopwright.model.program import Program
from loopwright.presburger.points import values_text
from loopwright.prove.descent.native import NativePair, TooLong
from loopwright.prove.equivalence.counterexample import cell_text
from loopwright.prove.equivalence.running import is_reached
from loopwright.prove.equivalence.terms import CHOICE, Apply, TermAssignment, subterms
from loopwright.prove.equivalence.traces import CellKey, Sizes, StatementRun, extents
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.verdict import Refuted, Undecided, Verdict

MOST_SIZES, LONGEST_RUN = 20, 1_000
"""How many sizes are tried, and the number of iterations for one."""
ArraySizes: TypeAlias = Mapping[str, tuple[Expr, ...]]


def arrays_of_file(new: Program) -> ArraySizes:
    """The arrays that the file around a region defines at file scope, with their sizes."""
    declared, sizes = c_file(new.region.source).declarations, extents(new)
    found: dict[str, tuple[Expr, ...]] = {}
    for array in new.arrays:
        named = [one for one in declared.variables if one.name == array.name]
        variable = named[0] if len(named) == 1 else None  # branches of an `#if` may declare several
        own = tuple(one for one in sizes.get(array.name, ()) if one is not None)
        is_plain = not array.local and not array.rows and array.rank == len(own) > 0
        if is_plain and variable is not None and _is_defined(variable, array.rank):
            found[array.name] = own
    return found


def _is_defined(variable: Variable, rank: int) -> bool:
    """Whether it is an array of file scope that is not only declared."""
    text, at = variable.place.source.text, variable.place.start
    before = max(text.rfind(one, 0, at) for one in ";}#\n")
    is_of_file = (variable.scope.start, variable.scope.end) == (0, 1 << 62)
    is_array = variable.rank == rank == len(variable.extents) and not variable.has_row_pointers
    is_own = not variable.may_alias and "extern" not in names_in(text[before + 1 : at])
    return is_of_file and is_array and is_own


def decided_inside(follow: Callable[[], Verdict], outside: Callable[[], Refuted | None]) -> Verdict:
    """What `follow` says, or a no because of an access outside of an array, where nothing else decides."""
    try:
        verdict = follow()
    except Unreadable:
        wrong = outside()
        if wrong is None:
            raise
        return wrong
    return (outside() or verdict) if isinstance(verdict, Undecided) else verdict


def first_outside(runs: NativePair, arrays: ArraySizes, tried: Iterable[Sizes]) -> Refuted | None:
    """The first access outside of an array in short runs for the first of these sizes."""
    for sizes in islice(tried if arrays else (), MOST_SIZES):
        try:
            runs.run(sizes, LONGEST_RUN)
        except TooLong:
            continue
        found = _leaves_an_array(runs, arrays, sizes)
        if found is not None:
            return found
    return None


def _leaves_an_array(runs: NativePair, arrays: ArraySizes, sizes: Sizes) -> Refuted | None:
    """An access outside of an array in the last run of NEW, where OLD had none, and the region is reached."""
    old, new = runs.pair.runs
    inside = replace(new, extents=dict(arrays)), replace(old, extents={**old.extents, **arrays})
    if runs.is_inside(inside[0], sizes, side=1) or not runs.is_inside(inside[1], sizes):
        return None
    steps = runs.leading_to() if is_reached(runs.pair, sizes) else None
    if steps is None:
        return None
    lengths = {name: [evaluate(one, sizes) for one in own] for name, own in arrays.items()}
    for step in steps[1]:
        for place in _accessed(step):
            if place[0] in lengths and _is_outside(place, lengths[place[0]]):
                cell, line = cell_text(place), step.computation.line
                said = f"{runs.pair.paths[1]} accesses {cell} in line {line}, outside of '{place[0]}'"
                listed = values_text(sizes)
                witness = f"{listed}: {said}" if listed else said
                return Refuted("equivalence", f"{cell} is outside of '{place[0]}'", witness, dict(sizes))
    return None


def _accessed(step: StatementRun) -> list[CellKey]:
    """The cells that an execution accesses whatever values it reads."""
    plain = [one for one in step.computation.assignments if not _is_conditional(one)]
    return [step.place(cell) for one in plain for cell in (*one.cells, one.target)]


def _is_conditional(assignment: TermAssignment) -> bool:
    choosing = (CHOICE, "&&", "||")
    parts = (one for one in subterms(assignment.value) if isinstance(one, Apply))
    return assignment.is_conditional or any(one.operator in choosing for one in parts)


def _is_outside(place: CellKey, lengths: list[int]) -> bool:
    """Whether a cell is before the first one of its array or after the last one."""
    if len(place[1]) != len(lengths) or min(lengths) <= 0:
        return False
    at = sum(one * prod(lengths[k + 1 :]) for k, one in enumerate(place[1]))
    return not 0 <= at < prod(lengths)
