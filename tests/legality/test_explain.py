"""Explanations, word for word, and the operation they blame."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from loopwright.errors import GaveUp, Illegal
from loopwright.prove.legality import explain as explanations
from loopwright.prove.legality.explain import Stage, as_data, introduced_by, refusal
from loopwright.prove.legality.legality import LegalityVerdict, prove_legal
from loopwright.prove.legality.parallel import ParallelLoop
from loopwright.prove.legality.plans import parallel_loops, prove_plan, stages
from loopwright.prove.legality.violation import Defect, Violation
from loopwright.report.diagnostics import as_text
from loopwright.source import Source
from loopwright.transform import plan_of
from loopwright.transform.directives import DirectiveKind
from tests.c.support import region
from tests.legality.support import schedule

DIAGONAL = "for (i = 0; i < n - 1; i++)\n  for (j = 1; j < n; j++)\n    A[i + 1][j - 1] = A[i][j];"
INTERCHANGED = schedule("S1[i, j] -> [0, j, 0, i, 0]")


def explain(found: Violation | Defect, script: Sequence[Stage] = ()) -> str:
    return as_text(explanations.explain(found, script))


def explain_all(verdict: LegalityVerdict, script: Sequence[Stage] = ()) -> str:
    found = explanations.explain_all(verdict, script)
    return "" if found is None else as_text(found)


def stage(line: int, text: str, *maps: str) -> Stage:
    return Stage(text, Source("k.lw", "\n" * (line - 1) + text).at(line - 1, len(text)), schedule(*maps))


def test_the_whole_story() -> None:
    own = region(DIAGONAL)
    script = [
        stage(1, "shift(L, 0, 1)", "S1[i, j] -> [0, i + 1, 0, j, 0]"),
        stage(2, "interchange(L)", "S1[i, j] -> [0, j, 0, i + 1, 0]"),
    ]
    (found,) = prove_legal(own, script[-1].schedules).violations
    assert explain(found, script) == (
        "k.lw:2:1: error: a value is read before it is written\n"
        "    interchange(L)\n"
        "    ^~~~~~~~~~~~~~\n"
        "flow dependence on A[1][1], for n = 3\n"
        "t.c:6:5: S1(i = 0, j = 2) writes A[1][1]\n"
        "        A[i + 1][j - 1] = A[i][j];\n"
        "        ^~~~~~~~~~~~~~~\n"
        "t.c:6:23: S1(i = 1, j = 1) reads A[1][1]\n"
        "        A[i + 1][j - 1] = A[i][j];\n"
        "                          ^~~~~~~\n"
        "as written:  S1(0, 2), then S1(1, 1): iteration i = 0 runs before i = 1\n"
        "transformed: S1(1, 1), then S1(0, 2): the outermost loop runs iteration 1 before 2\n"
    )


def test_without_a_script_nothing_is_blamed() -> None:
    (found,) = prove_legal(region(DIAGONAL), INTERCHANGED).violations
    assert explain(found).startswith("error: a value is read before it is written\nflow dependence on A")


def test_a_tab_stays_a_tab_above_the_caret() -> None:
    own = region("for (i = 1; i < n; i++)\n\ta[i] = a[i - 1];")
    (found,) = prove_legal(own, schedule("S1[i] -> [0, -i, 0]")).violations
    assert "    \ta[i] = a[i - 1];\n    \t       ^~~~~~~~\n" in explain(found)


def test_the_operation_that_breaks_it_for_good_is_blamed() -> None:
    """The second reversal undoes the first; the third is to blame."""
    own = region("for (i = 1; i < n; i++) a[i] = a[i - 1];")
    back, forth = "S1[i] -> [0, -i, 0]", "S1[i] -> [0, i, 0]"
    script = [stage(line, f"reverse(L) # {line}", back if line % 2 else forth) for line in (1, 2, 3)]
    script.append(stage(4, "shift(L, 0, 1)", "S1[i] -> [0, 1 - i, 0]"))
    (found,) = prove_legal(own, script[-1].schedules).violations
    assert introduced_by(found, script) is script[2]
    assert introduced_by(found, []) is None


def test_a_collision_is_blamed_too() -> None:
    own = region("for (i = 0; i < n; i++) a[i] = 0; for (i = 0; i < n; i++) b[i] = 0;")
    script = [
        stage(1, "shift(L2, 0, 1)", "S1[i] -> [0, i, 0]", "S2[i] -> [1, i + 1, 0]"),
        stage(2, "affine(L2, {[i] -> [i]})", "S1[i] -> [0, i, 0]", "S2[i] -> [0, i + 1, 0]"),
    ]
    (found,) = prove_legal(own, script[-1].schedules).defects
    assert introduced_by(found, script) is script[1]
    text = explain(found, script)
    head = "k.lw:2:1: error: the schedule is not one-to-one: two instances have the same time\n"
    assert text.startswith(head)
    assert "for n = 2\n" in text and ": S1(i = 1)\n" in text and ": S2(i = 0)\n" in text
    assert text.endswith("transformed: S1(1) and S2(0) at the same time\n")


def test_an_instance_without_a_time_and_one_with_two() -> None:
    own = region("for (i = 0; i < 9; i++) a[i] = 0;")
    script = [stage(1, "isplit(L)", "S1[i] -> [0, i, 0] : i != 4")]
    (found,) = prove_legal(own, script[0].schedules).defects
    assert "an instance has no time" in explain(found, script) and introduced_by(found, script) is script[0]
    assert "S1(i = 4) at no time" in explain(found, script)
    (twice,) = prove_legal(own, schedule("S1[i] -> [p, i, 0] : 0 <= p <= 1 and (p = 0 or i = 5)")).defects
    assert "S1(i = 5) at time (0, 5, 0) and (1, 5, 0)" in explain(twice)


def test_everything_that_is_wrong() -> None:
    own = region("for (i = 1; i < n; i++) { a[i] = a[i - 1]; b[i] = b[i - 1]; }")
    verdict = prove_legal(own, schedule("S1[i] -> [0, -i, 0]", "S2[i] -> [0, -i, 1]"))
    text = explain_all(verdict)
    assert text.count("flow dependence on") == 2
    assert text.index("on a[1]") < text.index("on b[1]")
    assert explain_all(prove_legal(own, own)) == ""


def test_the_error_to_raise() -> None:
    own = region("for (i = 1; i < n; i++) a[i] = a[i - 1];")
    backwards = schedule("S1[i] -> [0, -i, 0]")
    error = refusal(prove_legal(own, backwards), [stage(7, "reverse(L, 0)", "S1[i] -> [0, -i, 0]")])
    assert isinstance(error, Illegal) and error.span is not None and error.span.line == 7
    assert error.witness == "n = 3: flow dependence S1(1) -> S1(2) on a[1]"
    assert refusal(prove_legal(own, own)) is None
    unsure = region("for (i = 0; i < n; i++) a[i * i] = i;")
    error = refusal(prove_legal(unsure, backwards))
    assert isinstance(error, GaveUp)
    assert error.message == "could not decide: two writes to one cell of 'a' may be in the wrong order"
    assert error.hint is not None and "'a[i * i]'" in error.hint and "keep the order of the two" in error.hint


def test_a_reduction_is_recognised() -> None:
    own = region("for (i = 0; i < n; i++) s += a[i];")
    verdict = prove_legal(own, schedule("S1[i] -> [0, -i, 0]"))
    assert "hint: both are steps of a reduction by '+'" in explain(verdict.violations[0])
    assert "--allow-reassociation" in explain(verdict.violations[0])


def test_a_loop_that_is_not_parallel() -> None:
    own = region("for (i = 1; i < n; i++) a[i] = a[i - 1];")
    span = Source("k.lw", "\n\nparallel(L, 0)").at(2, 14)
    loop = ParallelLoop(1, ("S1",), "the loop over i", span=span)
    verdict = prove_legal(own, own, parallel=[loop])
    text = explain(verdict.violations[0], [stage(3, "parallel(L, 0)", "S1[i] -> [0, i, 0]")])
    assert text.startswith(
        "k.lw:3:1: error: the loop over i is marked parallel, but its iterations depend on each other\n"
        "    parallel(L, 0)\n    ^~~~~~~~~~~~~~\n"
    )
    assert "S1(1) in iteration 1 of the loop over i, S1(2) in 2: nothing says which is first\n" in text


def test_a_plan_is_replayed() -> None:
    plan = plan_of(region("L: for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i - 1][j + 1];"))
    moved = plan.transform("affine(L, {[i, j] -> [i, j + 1]})\n", "k.lw")
    assert prove_plan(moved).proved
    wrong = moved.transform("affine(L, {[i, j] -> [j, i]})\n", "k.lw")
    verdict = prove_plan(wrong)
    assert explain_all(verdict, stages(wrong)).startswith(
        "k.lw:1:1: error: a value is read before it is written\n    affine(L, {[i, j] -> [j, i]})\n"
    )


def test_the_parallel_loops_of_a_plan_are_proved() -> None:
    plan = plan_of(region("L: for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i - 1][j];"))
    inner = plan.directed(DirectiveKind.PARALLEL, plan.component("L"), 1)
    assert [loop.dimension for loop in parallel_loops(inner)] == [3]
    assert prove_plan(inner).proved
    outer = plan.directed(DirectiveKind.VECTORIZE, plan.component("L"), 0)
    (found,) = prove_plan(outer).violations
    assert (found.kind, found.loop) == ("flow", "the loop over i")


def test_threads_and_lanes_can_reduce_and_the_threads_of_a_gpu_cannot() -> None:
    plan = plan_of(region("L: for (i = 0; i < n; i++) s += a[i];"))
    kinds = DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE, DirectiveKind.BLOCK
    for kind, answer in zip(kinds, (True, True, False), strict=True):
        marked = plan.directed(kind, plan.component("L"), 0)
        assert not prove_plan(marked).proved
        assert prove_plan(marked, allow_reassociation=True).proved is answer


def test_the_operation_that_marks_the_loop_is_shown() -> None:
    plan = plan_of(region("L: for (t = 0; t < m; t++) for (i = 1; i < n; i++) a[i] = a[i - 1];"))
    marked = plan.transform("skew(L, i, t, 1)\nparallel(L, i)\n", "k.lw")
    text = explain_all(prove_plan(marked), stages(marked))
    assert text.startswith("k.lw:2:1: error: the loop over i is marked parallel")
    skewed = plan.transform("skew(L, i, t, 1)\ntile(L, 32, 32)\n", "k.lw")
    assert prove_plan(skewed).proved


NEST = "for (i = 0; i < n; i++) { for (k = 0; k < i; k++) A: x[i] -= x[k]; B: x[i] /= 2; }"

ORDERS = {
    "interchange(A, i, k)\n": "A(1, 0), then B(0): both in iteration k = 0 of A and i = 0 of B, "
    "where A stands first",
    "reverse(B, i)\n": "B(1), then A(1, 0): the outermost loop runs iteration -1, i = 1 of B "
    "before iteration 1, i = 1 of A",
    "L = lift(A, 1)\nreverse(L, i)\n": "A(1, 0), then B(0): iteration i = 1 runs before i = 0, counting down",
    "distribute(A, B)\n": "A(1, 0), then B(0): A stands first",
}


@pytest.mark.parametrize("script", ORDERS)
def test_orders_in_words(script: str) -> None:
    plan = plan_of(region(NEST)).transform(script, "k.lw")
    assert f"transformed: {ORDERS[script]}\n" in explain_all(prove_plan(plan), stages(plan))


def test_the_json_says_the_same() -> None:
    plan = plan_of(region(NEST)).transform("distribute(A, B)\n", "k.lw")
    data = as_data(prove_plan(plan), stages(plan))
    told = json.loads(json.dumps(data))["violations"][0]
    assert told["transformed"] == "A(1, 0), then B(0): A stands first"
    assert told["headline"] == "a value is read before it is written"
    assert (told["operation"]["file"], told["operation"]["line"]) == ("k.lw", 1)
    assert told["first"]["label"] == "B" and told["second"]["loops"] == ["i", "k"]


def test_further_violations_are_summarised() -> None:
    plan = plan_of(region(NEST)).transform("interchange(A, i, k)\n", "k.lw")
    verdict = prove_plan(plan)
    text = explain_all(verdict, stages(plan))
    others = len(verdict.failures) - 1
    assert text.count("error: ") == 1 and text.count("also: ") == min(others, 4)
    assert ("more; --json has all of them" in text) == (others > 3)
