"""The same operations as methods: they make operations, not text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loopwright.errors import BadInput
from loopwright.read.formula import Addition, Negative, Symbol
from loopwright.transform import Step, plan_of, transform
from loopwright.transform.handle import Handle
from loopwright.transform.script.formulas import AffineMap
from loopwright.transform.script.operations import Affine
from tests.c.support import region
from tests.transform.support import FIGURE_3A, MATMUL, check, pointed_at


def test_methods_do_what_scripts_do() -> None:
    program = region(MATMUL)
    mult = plan_of(program)["Init"].distribute("Mult")["Mult"]
    handle = mult.interchange("j", "k").tile(32, 32).unroll_and_jam(i=2).vectorize("j")
    lines = [str(one.step) for one in handle.plan.history]
    assert lines == [
        "distribute(Init, Mult)",
        "interchange(Mult, j, k)",
        "tile(Mult, 32, 32)",
        "unroll_and_jam(Mult, i=2)",
        "vectorize(Mult, j)",
    ]
    again = transform(program, "\n".join(lines), "s.lw")
    assert [one.step for one in again.history] == [one.step for one in handle.plan.history]
    assert again.leaves == handle.plan.leaves
    assert [one.loop for one in again.directives] == [one.loop for one in handle.plan.directives]


def test_values_stay_as_they_were() -> None:
    plan = plan_of(region(MATMUL))
    before = plan.leaves
    plan["Mult"].reverse("k")
    assert plan.leaves is before and plan.program is plan.original


def test_new_handles() -> None:
    plan = plan_of(region(FIGURE_3A))
    loop = plan["L1"].lift(1)
    assert loop.name == "L1_1" and len(loop.component.positions) == 2
    first, second = loop.isplit("{[i, j] : i < 2}", 0)
    assert first.component.last < second.component.first
    fused = plan["L1"].fuse("L2").shift("i", 1).skew("j", "i").strip_mine("i", 4).separate("j")
    assert len(fused.component.positions) == 2
    check(fused.plan)
    parallel = plan["L1"].affine("{[i,j] -> [j,i]}").permute("i", "j").parallel("i").plan
    assert parallel.directives[0].span is not None and parallel.directives[0].span.file == "<python>"


def test_mistakes_name_the_argument_and_show_the_operation() -> None:
    plan = plan_of(region(MATMUL))
    with pytest.raises(BadInput) as caught:
        plan["Mult"].interchange("j", "q")
    assert caught.value.message.endswith("has the iterator q (argument second of interchange)")
    assert pointed_at(caught.value) == (1, 22, "q")
    assert caught.value.span is not None and caught.value.span.excerpt == "interchange(Mult, j, q)"
    with pytest.raises(BadInput, match="no loop component is called Malt"):
        plan["Malt"]


INJECTED = "j); tile(Init, 4, 4"


def test_a_number_is_no_name_of_an_iterator() -> None:
    with pytest.raises(BadInput, match="no iterator is called 1") as caught:
        plan_of(region(MATMUL))["Mult"].interchange(1, 2)  # type: ignore[arg-type]
    assert caught.value.diagnostic.hint == "names are given as text, such as 'i'"


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda mult: mult.interchange("i", INJECTED), f"no iterator is called '{INJECTED}'"),
        (lambda mult: mult.permute("i", INJECTED), f"no iterator is called '{INJECTED}'"),
        (lambda mult: mult.tile(**{INJECTED: 4}), f"no iterator is called '{INJECTED}'"),
        (lambda mult: mult.fuse("Init); tile(Init, 4"), "no loop component is called 'Init); tile(Init, 4'"),
        (lambda mult: mult.lift(1, name="X = lift(Init, 1); Y"), "no handle can be called"),
        (lambda mult: mult.affine("{[i] -> [-i]}); tile(Init, 4"), "closes nothing"),
        (lambda mult: mult.affine("{[i] -> [-i]}\n{[i] -> [i]}"), "text after the map or condition"),
        (lambda mult: mult.affine("{[i] : i < 3}"), "where a map should be"),
        (lambda mult: mult.affine("{[i] -> [q]}"), "several values"),
        (lambda mult: mult.affine("i"), "should be"),
        (lambda mult: mult.affine(""), "neither a map nor a condition"),
        (lambda mult: mult.isplit("{[i] -> [i]}", 1), "where a condition should be"),
        (lambda mult: mult.tile("4, 4"), "must be an integer >= 1, not '4, 4' (argument sizes of tile)"),
        (lambda mult: mult.tile(4.5), "must be an integer >= 1, not 4.5 (argument sizes of tile)"),
        (lambda mult: mult.tile(0, 4), "must be an integer >= 1, not 0 (argument sizes of tile)"),
        (lambda mult: mult.tile(4, k=4), "a loop has to be named (argument sizes of tile)"),
        (lambda mult: mult.tile(), "a number is missing (argument sizes of tile)"),
        (lambda mult: mult.tile(4, skew="full"), "must be True or False (argument skew of tile)"),
        (lambda mult: mult.strip_mine("k", -1), "not -1 (argument size of strip_mine)"),
        (lambda mult: mult.shift("k", 10**18), "at most 18 digits (argument amounts of shift)"),
        (lambda mult: mult.realign("Init", "0"), "must be an integer >= 0, not '0' (argument common"),
        (lambda mult: mult.permute(), "no loop is named (argument order of interchange)"),
        (lambda mult: mult.distribute("Init", legal=True), "for one component alone"),
    ],
)  # fmt: skip
def test_no_argument_is_read_as_more_than_it_is(misuse: Callable[[Handle], object], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        misuse(plan_of(region(MATMUL))["Mult"])
    assert message in caught.value.message


def test_an_operation_is_performed_as_it_is() -> None:
    plan = plan_of(region(MATMUL))
    i, j, k = Symbol("i"), Symbol("j"), Symbol("k")
    again = plan["Mult"].perform(Affine("Mult", AffineMap((i, j, k), (i, j, Negative(k))))).plan
    assert again.leaves == plan["Mult"].reverse("k").plan.leaves
    assert str(again.history[0].step) == "affine(Mult, {[i, j, k] -> [i, j, -k]})"
    with pytest.raises(BadInput) as caught:
        plan.perform(Step(Affine("Mult", AffineMap((i,), (Addition((i, Symbol("m"))),)))))
    assert caught.value.message.startswith("unknown name m")
    assert caught.value.span is not None and caught.value.span.excerpt == "affine(Mult, {[i] -> [i + m]})"
