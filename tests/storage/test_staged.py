"""Copies that stage an array: the rule says yes to right ones, and never to wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from loopwright.model.program import Access, Program, Statement
from loopwright.prove.legality.staged import is_staged
from loopwright.read.c.reader import read_c
from loopwright.rewrite.scripts import applied
from loopwright.transform import plan_of
from loopwright.transform.script.steps import parse_script
from loopwright.transform.storage import StorageChange
from tests.cuda.test_shared import PROGRAM

SCRIPT = "Time = lift(New, 1)\n(First, Second) = hexagon(Time, t=2, i=3, staged)\n"


@pytest.fixture(scope="module")
def change(tmp_path_factory: pytest.TempPathFactory) -> StorageChange:
    file = tmp_path_factory.mktemp("staged") / "program.c"
    Path(file).write_text(PROGRAM)
    plans = tuple(plan_of(one) for one in read_c(str(file)))
    (made,) = applied(parse_script(SCRIPT, "script.lw"), plans).plans[0].storage
    return made


def _holds(change: StorageChange, after: Program) -> bool:
    assert change.redundancy is not None
    instances = {}
    for one in after.statements:
        if one.name in change.redundancy.computes:
            old = change.before.statement(change.redundancy.computes[one.name])
            own = ", ".join(one.iterators)
            same = isl.Map(f"{{ {one.name}[{own}] -> {old.name}[{', '.join(old.iterators)}] }}")
            instances[one.name] = (old, same.intersect_domain(one.domain))
    return is_staged(change.before, after, instances)


def _copies(after: Program, change: StorageChange, *, back: bool) -> Statement:
    """A copy of the first phase, to a buffer or back."""
    assert change.redundancy is not None
    return next(
        one
        for one in after.statements
        if one.name not in change.redundancy.computes and one.writes[0].array.endswith("_tile") is not back
    )


def _changed(after: Program, old: Statement, new: Statement) -> Program:
    return replace(after, statements=tuple(new if one is old else one for one in after.statements))


def _without_last(statement: Statement) -> Statement:
    """One cell less in each tile."""
    tile = ", ".join(statement.iterators[:-1])
    pairs = isl.Map(f"{{ {statement.name}[{tile}, x] -> {statement.name}[{tile}, y] : y > x }}")
    domain = pairs.intersect_range(statement.domain).domain().intersect(statement.domain)
    return replace(statement, domain=domain)


def _moved(statement: Statement, array: str, by: str) -> Statement:
    """The cells of one array changed by a map."""

    def moved(access: Access) -> Access:
        if access.array != array:
            return access
        change = isl.Map(f"{{ {array}[x] -> {array}[{by}] }}")
        return replace(access, relation=access.relation.apply_range(change))

    return replace(statement, accesses=tuple(map(moved, statement.accesses)))


def _at(statement: Statement, entry: int, value: int) -> Statement:
    out = isl.dim_type.out
    schedule = statement.schedule.eliminate(out, entry, 1).fix_val(out, entry, isl.Val(value))
    return replace(statement, schedule=schedule)


def _computing(after: Program, change: StorageChange) -> Statement:
    assert change.redundancy is not None
    return next(one for one in after.statements if one.name in change.redundancy.computes)


WRONG: dict[str, Callable[[Program, StorageChange], tuple[Statement, Statement]]] = {
    "a halo one too small": lambda p, c: ((s := _copies(p, c, back=False)), _without_last(s)),
    "a cell that is not copied back": lambda p, c: ((s := _copies(p, c, back=True)), _without_last(s)),
    "a copy from a neighbour": lambda p, c: (
        (s := _copies(p, c, back=False)),
        _moved(s, s.reads[0].array, "x + 1"),
    ),
    "a read of another cell of the buffer": lambda p, c: (
        (s := _computing(p, c)),
        _moved(s, s.reads[0].array, "x + 1"),
    ),
    "a buffer that wraps around": lambda p, c: (
        (s := _computing(p, c)),
        _moved(s, s.writes[0].array, "x mod 3"),
    ),
    "a copy to the buffer after the steps": lambda p, c: ((s := _copies(p, c, back=False)), _at(s, 4, 9)),
    "a copy back before the steps": lambda p, c: ((s := _copies(p, c, back=True)), _at(s, 4, -1)),
    "a step in the other phase": lambda p, c: ((s := _computing(p, c)), _at(s, 2, 1)),
    "two halves of a step in the other order": lambda p, c: ((s := _computing(p, c)), _at(s, 6, 5)),
}


def test_the_copies_of_tiles_stage_their_arrays(change: StorageChange) -> None:
    assert _holds(change, change.after)


@pytest.mark.parametrize("name", WRONG)
def test_no_wrong_copy_is_taken_for_staging(name: str, change: StorageChange) -> None:
    old, new = WRONG[name](change.after, change)
    assert not _holds(change, _changed(change.after, old, new))


ROWS = """\
void rows(int n, double A[restrict n + 1][8], double x[restrict 8])
{
  int t, k, i;
#pragma scop
  for (t = 0; t < n; t++) {
    for (k = 0; k < 8; k++)
      for (i = 0; i < 8; i++)
        Sum: A[t][i] += A[t + 1][k];
    for (i = 0; i < 8; i++)
      for (k = 0; k < 8; k++)
        Use: x[i] += A[t + 1][k];
    for (i = 0; i < 8; i++)
      Next: A[t + 1][i] = x[i];
  }
#pragma endscop
}
"""


def _in_both(change: StorageChange, name: str, array: str, by: str) -> bool:
    """Whether the copies stage their array where a statement, before and after, touches other cells of it."""
    moving = isl.Map(f"{{ {array}[t, x] -> {array}[{by}] }}")

    def moved(access: Access) -> Access:
        if access.array != array:
            return access
        return replace(access, relation=access.relation.apply_range(moving))

    before, after = (
        _changed(side, one, replace(one, accesses=tuple(map(moved, one.accesses))))
        for side in (change.before, change.after)
        for one in (side.statement(name),)
    )
    same = {
        one.name: (one, isl.Map.identity(one.domain.get_space().map_from_set())) for one in before.statements
    }
    return is_staged(before, after, same)


@pytest.mark.parametrize(
    "operation, other, harmless, wrong",
    [
        ("pack(A, Sum, t, written, reused)", "S2", "t + 1, x", "t - 1, x"),
        ("pack(A, Use, t, reused)", "S3", "t + 1, x", "t, x"),
    ],
)
def test_other_cells_of_the_array_are_touched_in_the_tile(
    operation: str, other: str, harmless: str, wrong: str, tmp_path: Path
) -> None:
    file = tmp_path / "rows.c"
    file.write_text(ROWS)
    plans = tuple(plan_of(one) for one in read_c(str(file)))
    (change,) = applied(parse_script(operation, "script.lw"), plans).plans[0].storage
    assert _in_both(change, other, "A", harmless)
    assert not _in_both(change, other, "A", wrong)
