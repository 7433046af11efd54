"""isl's schedules as scripts: what they say is what isl means, and every one of them is proved."""

from __future__ import annotations

import pytest

from loopwright.model.dependences import memory_based
from loopwright.optimise.candidates.scheduler import Fusion, scheduled
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.reductions import ordering
from loopwright.transform import plan_of, script_text
from loopwright.transform.script.operations import Reorder
from tests.kernel_programs import kernel_program


@pytest.mark.parametrize("fusion", Fusion)
@pytest.mark.parametrize("name", ["2mm", "lu", "gramschmidt", "jacobi-1d", "durbin", "deriche"])
def test_a_schedule_of_isl_is_a_script_that_is_proved(name: str, fusion: Fusion) -> None:
    program = kernel_program(name)
    plan, known = plan_of(program), tuple(memory_based(program))
    script = scheduled(plan, known, fusion)
    assert script is not None
    after = plan.transform(script_text(script))
    assert [one.step for one in after.history] == list(script)
    assert prove_plan(after, dependences=known).proved


def test_the_skew_of_a_stencil_is_found() -> None:
    program = kernel_program("jacobi-1d")
    script = scheduled(plan_of(program), tuple(memory_based(program)), Fusion.MOST)
    assert script is not None
    assert script_text(script) == (
        "distribute(LoopB, LoopA)\n"
        "affine(LoopB, {[t, i] -> [t, c1] : c1 = 2 * t + i})\n"
        "affine(LoopA, {[t, i] -> [t, c1] : c1 = 2 * t + i + 1})\n"
        "fuse(LoopB, LoopA, 2)\n"
    )


def test_statements_that_share_loops_call_them_the_same() -> None:
    """So that the whole nest can be reordered: Norm has its loop k where its step is."""
    program = kernel_program("lu")
    plan, known = plan_of(program), tuple(memory_based(program))
    script = scheduled(plan, known, Fusion.MOST)
    assert script is not None and "affine(Norm, {[i, j] -> [i, j, k] : k = j})\n" in script_text(script)
    assert prove_plan(plan.perform(*script).transform("interchange(Norm, k, i)")).proved is False
    assert prove_plan(plan.perform(*script).transform("interchange(@31, [k, i, j])")).proved


def test_fusion_decides_what_shares_loops() -> None:
    program = kernel_program("mvt")
    plan, known = plan_of(program), tuple(memory_based(program))
    assert script_text(scheduled(plan, known, Fusion.MOST) or ()) == "fuse(First, Second, 2)\n"
    assert scheduled(plan, known, Fusion.SCC) == ()


def test_statements_that_need_no_order_stay_as_written() -> None:
    """At no point of its rows do the statements of cholesky wait for each other."""
    program = kernel_program("cholesky")
    script = scheduled(plan_of(program), ordering(program), Fusion.SCC)
    assert script is not None and not any(isinstance(step.operation, Reorder) for step in script)
