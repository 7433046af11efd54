"""A bug seeded in any one file of the generator makes the proof fail.

Each case replaces one function of one file by a wrong one and generates a program that needs
it.  The right generator proves the same input, so that it is the bug that is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from loopwright.generate import (
    components,
    conditions,
    context,
    expressions,
    grafts,
    levels,
    pieces,
    program,
    separation,
    strides,
)
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.expressions import TRUE
from loopwright.model.schedule import LoopType, Schedule, Sequence
from loopwright.presburger.sets import eliminate_inner
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted
from tests.generate import support

Function = Callable[..., Any]

RECTANGLE = support.flat("[n, m] -> { S[i, j] -> [i, j] : 0 <= i < m and 0 <= j < n }")
GUARDED = support.flat("[n] -> { S[i] -> [i] : 0 <= i < 9 and (i + n) mod 3 >= 1 }")
EVEN = support.flat("[n] -> { S[t] -> [t] : exists a : 2t - n = 4a and 0 <= t <= 100 }")
ALIGNED = support.flat("[n] -> { S[i] -> [i] : n <= i <= 50 and i mod 4 = 1 }")
TWO_STATEMENTS = support.flat("[n] -> { A[i] -> [i, 0] : 0 <= i < n; B[i] -> [i, 1] : 3 <= i < n + 5 }")
TWO_GUARDS = support.flat(
    "[n, m] -> { A[i] -> [i, 0] : 0 <= i < 10 and n >= 5; B[i] -> [i, 1] : 0 <= i < 10 and m >= 5 }",
    options="{ [i, j] -> atomic[0] }",
)
TWO_BOUNDS = support.flat("[n] -> { S[i] -> [i] : 0 <= i < 10 and i < n }")
SEQUENCE = support.flat("{ A[i] -> [0, i] : 0 <= i < 4; B[i] -> [1, i] : 0 <= i < 4 }")
SCALED = support.flat("[n] -> { S[i] -> [2i + 1] : 0 <= i < n }")
SHIFTED = support.flat("{ A[i] -> [2i] : 0 <= i < 10; B[i] -> [2i + 1] : 0 <= i < 10 }")
REMAINDER = support.flat("[n] -> { S[i] -> [i] : i = n mod 7 }", "[n] -> { : n >= -20 }")
LARGER = support.flat("[n] -> { S[i] -> [i] : n <= i and -n <= i and i <= 30 }")
UNROLLED = support.flat("{ S[i] -> [i] : 0 <= i < 4 }", options="{ [i] -> unroll[0] }")
ENDLESS = support.flat(
    "[n] -> { S[i] -> [i, 0] : i >= n and n >= 5; T[i] -> [i, 1] : n <= i <= 10 }",
    options="{ [i, j] -> atomic[0] }",
)
ISOLATED = support.tree(
    """
    domain: "[n] -> { S[i] : 0 <= i < n }"
    child:
      schedule: "[{ S[i] -> [i] }]"
      options: "[n] -> { isolate[[] -> [i]] : 5 <= i <= 8 }"
    """
)
TREE = support.tree(
    """
    domain: "{ A[i] : 0 <= i < 4; B[i] : 0 <= i < 4 }"
    child:
      sequence:
      - filter: "{ A[i] }"
      - filter: "{ B[i] }"
    """
)
DIAGONAL = support.flat(
    "[N, M] -> { S1[i, j] -> [i, j] : 1 <= i <= N and 1 <= j <= M;"
    " S2[i, j] -> [i, j] : 3 <= i <= N and j = i }"
)


@dataclass(frozen=True)
class Bug:
    module: Any
    function: str
    wrong: Callable[[Function], Function]
    schedule: Schedule
    options: GenerationOptions = field(default_factory=GenerationOptions)


def _reversed(right: Function) -> Function:
    return lambda *args, **kwargs: list(reversed(right(*args, **kwargs)))


def _without_last(right: Function) -> Function:
    return lambda *args, **kwargs: right(*args, **kwargs)[:-1]


def _constant(value: object) -> Callable[[Function], Function]:
    return lambda right: lambda *args, **kwargs: value


def _one_more(right: Function) -> Function:
    return lambda *args, **kwargs: right(*args, **kwargs).plus_constant(1)


def _center_again(right: Function) -> Function:
    def wrong(*args: object) -> object:
        parts = right(*args)
        return parts if parts is None else replace(parts, after=parts.after.union(parts.center))

    return wrong


def _no_guard(right: Function) -> Function:
    def wrong(*args: object) -> object:
        graft = right(*args)
        return replace(graft, guard=isl.Set.universe(graft.guard.get_space()))

    return wrong


def _backwards_in_time(right: Function) -> Function:
    def wrong(relation: isl.Map, level: int, shift: int) -> isl.Map:
        moved: isl.Map = right(relation, level, shift).eliminate(isl.dim_type.in_, level + 1, 1)
        return moved.fix_val(isl.dim_type.in_, level + 1, isl.Val(-shift))

    return wrong


def _pending_as_generated(right: Function) -> Function:
    def wrong(self: context.GenerationContext, generated: isl.Set | None, pending: isl.Set | None) -> object:
        both = [part for part in (generated, pending) if part is not None]
        return right(self, both[0].intersect(both[-1]), None)

    return wrong


def _small_n_forgotten(right: Function) -> Function:
    def wrong(schedule: Schedule) -> object:
        context, body = right(schedule)
        return context.intersect(isl.Set("[n] -> { : n >= 100 }")), body

    return wrong


def _first_only(right: Function) -> Function:
    return lambda items, *args: right(items[:1], *args)


def _sequence_reversed(right: Function) -> Function:
    def wrong(node: object, *args: object) -> object:
        if isinstance(node, Sequence):
            node = Sequence(tuple(reversed(node.children)))
        return right(node, *args)

    return wrong


def _first_value_only(right: Function) -> Function:
    """Take every dimension for one with a single value, its least."""

    def wrong(piece: isl.BasicSet, stride: object, here: context.GenerationContext) -> object:
        from loopwright.presburger.sets import value_map

        values = value_map(here.known.intersect(eliminate_inner(piece.to_set(), here.level)), here.level)
        return values.lexmin_pw_multi_aff().get_at(0)

    return wrong


SEPARATE = GenerationOptions(loop_type=LoopType.SEPARATE)

BUGS = {
    "levels: upper bound shifted": Bug(levels, "_upper", _one_more, RECTANGLE),
    "levels: lower bound shifted": Bug(levels, "_lower", _one_more, RECTANGLE),
    "grafts: guard taken for known": Bug(
        grafts, "simplified", lambda right: lambda g, known: isl.Set.universe(g.get_space()), GUARDED
    ),
    "components: in the wrong order": Bug(levels, "components", _reversed, SEQUENCE),
    "components: one dimension ignored": Bug(
        components, "_scheduled_after", _constant(False), TWO_STATEMENTS
    ),
    "conditions: guard dropped": Bug(grafts, "condition", _constant(TRUE), GUARDED),
    "conditions: divisibility dropped": Bug(conditions, "_divisibility", _constant(TRUE), EVEN),
    "levels: implied condition dropped": Bug(
        levels,
        "_implied",
        lambda right: lambda condition, level: isl.Set.universe(condition.get_space()),
        EVEN,
    ),
    "levels: loop taken for a value": Bug(levels, "_single_value", _first_value_only, RECTANGLE),
    "pieces: loop without an end": Bug(
        levels, "split_endless", lambda right: lambda pieces, *args: pieces, ENDLESS
    ),
    "expressions: sign not looked at": Bug(expressions, "_least_shift", _constant(0), REMAINDER),
    "conditions: maximum forgotten": Bug(
        levels, "combined", lambda right: lambda kind, items, place: next(iter(items)), LARGER
    ),
    "grafts: hoisted above its reach": Bug(levels, "hoistable_guard", _first_only, TWO_GUARDS),
    "pieces: center twice": Bug(levels, "isolate", _center_again, ISOLATED),
    "program: call without its guard": Bug(program, "_call", _no_guard, GUARDED),
    "program: arguments exchanged": Bug(
        program, "_arguments", lambda right: lambda *args: tuple(reversed(right(*args))), RECTANGLE
    ),
    "levels: siblings swapped": Bug(levels, "sort_pieces", _reversed, TWO_STATEMENTS, SEPARATE),
    "pieces: a cut lost": Bug(
        pieces, "split_by_conditions", _without_last, DIAGONAL, replace(SEPARATE, dead_loops=True)
    ),
    "components: reversed": Bug(components, "sorted_components", _reversed, TWO_STATEMENTS, SEPARATE),
    "pieces: a piece lost": Bug(pieces, "_split", _without_last, TWO_STATEMENTS, SEPARATE),
    "program: believes too much": Bug(program, "_outer_context", _small_n_forgotten, TWO_BOUNDS),
    "strides: wrong step": Bug(
        levels,
        "scaled_iterator",
        lambda right: lambda *args: (scale := right(*args)) and scale.add(scale),
        SCALED,
    ),
    "separation: a part lost": Bug(separation, "refine", _without_last, TWO_STATEMENTS, SEPARATE),
    "strides: residues backwards": Bug(strides, "_move", _backwards_in_time, SHIFTED),
    "context: a statement lost": Bug(
        levels, "restrict", lambda right: lambda *args: right(*args)[:1], TWO_STATEMENTS
    ),
    "context: pending taken for enforced": Bug(
        context.GenerationContext, "assume", _pending_as_generated, DIAGONAL, SEPARATE
    ),
    "strides: offset forgotten": Bug(
        strides.Stride, "align_up", lambda right: lambda self, bound: bound, ALIGNED
    ),
    "program: sequence reversed": Bug(program, "generate_tree", _sequence_reversed, TREE),
    "separation: last slice lost": Bug(pieces, "unroll", _without_last, UNROLLED),
}


@pytest.mark.parametrize("name", BUGS)
def test_bug_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = BUGS[name]
    right = prove_scan(bug.schedule, generate(bug.schedule, bug.options))
    assert isinstance(right, Proved), right
    monkeypatch.setattr(bug.module, bug.function, bug.wrong(getattr(bug.module, bug.function)))
    verdict = prove_scan(bug.schedule, generate(bug.schedule, bug.options))
    assert isinstance(verdict, Refuted), verdict
    assert verdict.witness


def test_every_file_has_a_bug() -> None:
    folder = Path(program.__file__).parent
    seeded = {name.split(":")[0] for name in BUGS}
    assert {path.stem for path in folder.glob("*.py")} == seeded | {"__init__"}
