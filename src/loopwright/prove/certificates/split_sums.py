"""Split sums: the original with a statement for each part, one after the other.

    S: x += a + b   -->   S: x += a;  S': x += b;

That both leave the same except for rounding is not a question for the checker: isl's proof shows that the
parts are those of the sum (`prove/legality/summands.py`).  The checker is asked about the loops of the
original with the parts in place of the sum, and about instructions that give the same in any order of
combining.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import islpy as isl

from loopwright.loops.nodes import Block, Call, Node
from loopwright.loops.traverse import in_sequence, with_calls
from loopwright.model.program import Program
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.certificates.problems import ChangeProblem, change_problem
from loopwright.prove.certificates.specification import AllowedDifferences
from loopwright.prove.certificates.status import (
    OF_NEITHER,
    ProblemTry,
    Tries,
    example_of,
    has_independent,
    stored_tries,
)
from loopwright.prove.obligations.legality import loops_as_written, opened
from loopwright.prove.verdict import CHECKED, SEQUENTIAL
from loopwright.transform.storage import StorageChange


def split_tries(changes: Sequence[StorageChange], new: Program, loops: Node) -> Tries:
    """The problems for loops that execute `new`: those of other storage if more than sums changed."""
    if not all(one.summands for one in changes):
        return stored_tries(changes, new, loops)
    split = ", ".join(dict.fromkeys(whole for one in changes for whole in one.summands.values()))
    remarks = [f"as told, the sums in {split} are split", "values may be combined in any order"]
    asked_of = cache(partial(example_of, changes[0].original))

    def some(node: Node, status: str) -> list[ProblemTry]:
        problem = partial(_terms, changes, new, node)
        return [ProblemTry(problem, status, OF_NEITHER, lambda: remarks, example=asked_of)]

    tries = [some(loops, CHECKED)]
    return [*tries, some(in_sequence(loops), SEQUENTIAL)] if has_independent(loops) else tries


def _terms(changes: Sequence[StorageChange], new: Program, loops: Node) -> str:
    return split_problem(changes, new, loops).terms


def split_problem(changes: Sequence[StorageChange], new: Program, loops: Node) -> ChangeProblem:
    """The problem that the original with split sums and `loops`, for `new`, leave the same memory."""
    original, after = changes[0].original, changes[-1].after
    sums = {one.name: one.name for one in original.statements}
    for change in changes:
        sums |= {part: sums[whole] for part, whole in change.summands.items()}
    parts = {whole: [one for one in sums if sums[one] == whole] for whole in sums.values()}
    statements = []
    for one in after.statements:
        whole = original.statement(sums[one.name])
        schedule = whole.schedule.set_tuple_id(IN, one.domain.get_tuple_id()).add_dims(OUT, 1)
        place = parts[whole.name].index(one.name)
        schedule = schedule.fix_val(OUT, schedule.dim(OUT) - 1, isl.Val(place))
        statements.append(replace(one, schedule=schedule))
    split = tuple(one for several in parts.values() if len(several) > 1 for one in several)

    def with_parts(call: Call) -> Node:
        return Block(tuple(replace(call, name=one) for one in parts[call.name]))

    return change_problem(
        replace(after, statements=tuple(statements)),
        new,
        loops,
        AllowedDifferences(split),
        text=opened(with_calls(loops_as_written(original), with_parts)),
    )
