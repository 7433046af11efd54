"""The same operations as methods."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.transform import plan_of, transform
from tests.c.support import region
from tests.transform.support import FIGURE_3A, MATMUL, check


def test_methods_say_lines_of_a_script() -> None:
    program = region(MATMUL)
    mult = plan_of(program)["Init"].distribute("Mult")["Mult"]
    handle = mult.interchange("j", "k").tile(32, 32).unroll_and_jam(i=2).vectorize("j")
    lines = [step.text for step in handle.plan.history]
    assert lines == [
        "distribute(Init, Mult, 0)",
        "interchange(Mult, j, k)",
        "tile(Mult, 32, 32)",
        "unroll_and_jam(Mult, i=2)",
        "vectorize(Mult, j)",
    ]
    again = transform(program, "\n".join(lines), "s.lw")
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


def test_mistakes_are_shown_in_the_line_they_make() -> None:
    plan = plan_of(region(MATMUL))
    with pytest.raises(BadInput) as caught:
        plan["Mult"].interchange("j", "q")
    assert caught.value.span is not None and caught.value.span.excerpt == "interchange(Mult, j, q)"
    with pytest.raises(BadInput, match="no loop component is called Malt"):
        plan["Malt"]
