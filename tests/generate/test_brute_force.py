"""The enumeration the property tests rely on, on schedules small enough to see."""

from __future__ import annotations

import islpy as isl

from loopwright.model.schedule import (
    LEAF,
    AnyOrder,
    Band,
    Expansion,
    Extension,
    Filter,
    Guard,
    Member,
    Schedule,
    Sequence,
    Tree,
)
from tests.generate.brute_force import expected, mistake


def schedule(domain: str, tree: Tree) -> Schedule:
    return Schedule(isl.UnionSet(domain), isl.Set("{ : }"), tree)


def band(text: str, child: Tree = LEAF) -> Band:
    return Band(isl.UnionMap(text), (Member(),), child)


REVERSED = schedule("[n] -> { S[i] : 0 <= i < n }", band("{ S[i] -> [-i] }"))


def test_order_and_number_of_executions() -> None:
    wanted = expected(REVERSED, {"n": 3})
    backwards = [("S", (2,)), ("S", (1,)), ("S", (0,))]
    assert mistake(wanted, backwards) is None
    assert mistake(wanted, backwards[::-1]) == "('S', (0,)) runs before ('S', (1,)), which is to run first"
    assert mistake(wanted, backwards[:2]) == "missing [(('S', (0,)), 1)], extra []"
    assert mistake(wanted, [*backwards, ("S", (0,))]) == "missing [], extra [(('S', (0,)), 1)]"


def test_an_instance_runs_at_each_of_its_times() -> None:
    twice = schedule("{ S[i] : 0 <= i <= 1 }", band("{ S[i] -> [t] : i <= t <= i + 1 }"))
    zero, one = ("S", (0,)), ("S", (1,))
    assert mistake(expected(twice, {}), [zero, one, zero, one]) is None
    assert mistake(expected(twice, {}), [zero, zero, one, one]) is None
    assert mistake(expected(twice, {}), [zero, one, one, zero]) is not None


def test_sequences_order_and_sets_do_not() -> None:
    domain = "{ S[i] : 0 <= i <= 1; T[i] : 0 <= i <= 1 }"
    children = tuple(
        Filter(isl.UnionSet(f"{{ {name}[i] }}"), band(f"{{ {name}[i] -> [i] }}")) for name in "ST"
    )
    mixed = [("T", (0,)), ("S", (0,)), ("S", (1,)), ("T", (1,))]
    assert mistake(expected(schedule(domain, AnyOrder(children)), {}), mixed) is None
    assert mistake(expected(schedule(domain, Sequence(children)), {}), mixed) is not None
    wrong = [("T", (1,)), ("S", (0,)), ("S", (1,)), ("T", (0,))]
    assert mistake(expected(schedule(domain, AnyOrder(children)), {}), wrong) is not None


def test_guards_extensions_and_expansions() -> None:
    kept = band("{ S[i] -> [i] }", Guard(isl.Set("{ [t] : t >= 1 }"), LEAF))
    added = band("{ S[i] -> [i] }", Extension(isl.UnionMap("{ [t] -> E[2t] }"), LEAF))
    expanded = Expansion(isl.UnionMap("{ S[i] -> X[i, j] : 0 <= j <= i }"), LEAF)

    def instances(tree: Tree) -> set[tuple[str, tuple[int, ...]]]:
        return {one.instance for one in expected(schedule("{ S[i] : 0 <= i <= 1 }", tree), {})}

    assert instances(kept) == {("S", (1,))}
    assert instances(added) == {("S", (0,)), ("S", (1,)), ("E", (0,)), ("E", (2,))}
    assert instances(expanded) == {("X", (0, 0)), ("X", (1, 0)), ("X", (1, 1))}


def test_arguments_are_transformed() -> None:
    shifted = Schedule(
        isl.UnionSet("{ S[i] : 0 <= i <= 1 }"),
        isl.Set("{ : }"),
        band("{ S[i] -> [i] }"),
        {"S": isl.Map("{ S[i] -> [i + 5, 0] }")},
    )
    assert mistake(expected(shifted, {}), [("S", (5, 0)), ("S", (6, 0))]) is None
