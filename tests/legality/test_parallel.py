"""Loops marked parallel, and the reductions that only look as if they could be."""

from __future__ import annotations

import pytest

from loopwright.model.program import Program
from loopwright.prove.legality.legality import Status, prove_legal
from loopwright.prove.legality.parallel import ParallelLoop
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.reductions import reductions
from loopwright.prove.legality.violation import Breach
from loopwright.transform import transform
from tests.c.support import region
from tests.legality.support import broken, schedule


def carried(own: Program, dimension: int, *statements: str, positions: tuple[int, ...] | None = None) -> bool:
    loop = ParallelLoop(dimension, statements or ("S1",), "the loop", positions)
    verdict = prove_legal(own, own, parallel=[loop])
    assert all(found.breach is Breach.UNORDERED for found in verdict.violations)
    return not verdict.proved


def test_the_outer_loop_of_a_product_is_parallel() -> None:
    own = region(
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { A[i][j] = 0;"
        " for (k = 0; k < n; k++) A[i][j] += B[i][k] * C[k][j]; }"
    )
    assert not carried(own, 1, "S1", "S2")
    assert not carried(own, 3, "S1", "S2")
    assert carried(own, 5, "S2")


def test_a_dependence_that_an_outer_loop_carries_does_not_matter_inside() -> None:
    own = region("for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i - 1][n - 1 - j];")
    assert carried(own, 1)
    assert not carried(own, 3)


def test_other_statements_in_the_same_loop_count() -> None:
    """The loop is one: what S2 does in it matters even if only S1 is named."""
    own = region("for (i = 1; i < n; i++) { a[i] = 0; b[i] = b[i - 1]; }")
    assert carried(own, 1, "S1")
    apart = region("for (i = 1; i < n; i++) a[i] = 0; for (i = 1; i < n; i++) b[i] = b[i - 1];")
    assert not carried(apart, 1, "S1")
    assert carried(apart, 1, "S2")


def test_a_split_loop_is_parallel_by_parts() -> None:
    own = region("for (i = 0; i < n; i++) a[i] = a[3];")
    parts = schedule("S1[i] -> [0, i, 0] : i < 3; S1[i] -> [1, 0, 0] : i = 3; S1[i] -> [2, i, 0] : i > 3")
    for place in (0, 2):
        loop = ParallelLoop(1, ("S1",), "the loop", (place,))
        assert prove_legal(own, parts, parallel=[loop]).proved
    whole = prove_legal(own, own, parallel=[ParallelLoop(1, ("S1",), "the loop over i")])
    assert whole.status is Status.ILLEGAL
    assert whole.violations[0].loop == "the loop over i"


def test_only_the_part_that_is_marked_has_to_be_parallel() -> None:
    own = region("for (i = 1; i < n; i++) a[i] = a[2 * i];")
    halves = schedule("S1[i] -> [0, i, 0] : i < 10; S1[i] -> [1, i, 0] : i >= 10")
    own_bound = region("for (i = 1; i < 20; i++) a[i] = a[2 * i];")
    first, second = (ParallelLoop(1, ("S1",), "the loop", (place,)) for place in (0, 1))
    assert prove_legal(own_bound, halves, parallel=[second]).proved
    assert not prove_legal(own_bound, halves, parallel=[first]).proved
    assert not prove_legal(own, halves, parallel=[second]).proved


def test_a_loop_split_by_parity_inside_another_is_marked() -> None:
    """The parts are at 0 and 1 in one script, and the place of a part is not a number but i mod 2."""
    own = region("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[j][i];")
    script = "(X, Y) = isplit(S1, {[i, j]: j % 2 = 0}, 1)\nparallel(S1, j)\n"
    assert prove_plan(transform(own, script, "s.lw")).proved


def test_loops_one_after_the_other_are_not_one() -> None:
    own = region("for (i = 1; i < n; i++) a[i] = 0; for (i = 1; i < n; i++) b[i] = a[i - 1];")
    assert not carried(own, 1, "S1", "S2")


REDUCTIONS = [
    ("s += a[i];", "+"),
    ("s -= a[i] * b[i];", "+"),
    ("s = s + a[i];", "+"),
    ("s = a[i] + s - b[i];", "+"),
    ("s = (a[i] + (s)) + b[i];", "+"),
    ("s *= a[i];", "*"),
    ("s = s * a[i] * b[i];", "*"),
    ("s = fmax(s, a[i]);", "max"),
    ("s = fmin(a[i], s);", "min"),
    ("s = a[i] > s ? a[i] : s;", "max"),
    ("s = s > a[i] ? a[i] : s;", "min"),
    ("s = (s <= a[i]) ? s : a[i];", "min"),
    ("if (a[i] < s) s = a[i];", "min"),
    ("if (s < a[i]) { s = a[i]; }", "max"),
    ("x[0] += a[i];", "+"),
    ("c++;", "+"),
]

NO_REDUCTIONS = [
    "s = a[i];",
    "s = a[i] - s;",
    "s = s / a[i];",
    "s = s + a[i] * s;",
    "s += s * a[i];",
    "s = s + s;",
    "s = s * a[i] + b[i];",
    "s = a[i] - (b[i] + s);",
    "s = fmax(a[i], b[i]);",
    "s = a[i] > s ? b[i] : s;",
    "s = a[i] > s ? s + 1 : s;",
    "if (a[i] < s) s = b[i];",
    "if (a[i] < s) s = a[i]; else s = b[i];",
    "a[i] += a[0];",
    "s = t = s + a[i];",
]


@pytest.mark.parametrize(("text", "operator"), REDUCTIONS)
def test_a_reduction_is_named(text: str, operator: str) -> None:
    own = region(f"for (i = 0; i < n; i++) {text}")
    assert reductions(own)["S1"].operator == operator
    loop = ParallelLoop(1, ("S1",), "the loop over i")
    refused = prove_legal(own, schedule("S1[i] -> [0, -i, 0]"), parallel=[loop])
    assert refused.status is not Status.PROVED
    assert all(found.reduction == operator for found in refused.violations)
    allowed = prove_legal(own, schedule("S1[i] -> [0, -i, 0]"), parallel=[loop], allow_reassociation=True)
    assert allowed.proved
    (assumed,) = allowed.reassociations
    assert (assumed.statement, assumed.operator, assumed.loops) == ("S1", operator, ("the loop over i",))
    assert assumed.statement in assumed.assumption and allowed.as_json()["assumptions"]


@pytest.mark.parametrize("text", NO_REDUCTIONS)
def test_what_is_not_a_reduction_stays_in_order(text: str) -> None:
    own = region(f"for (i = 0; i < n; i++) {text}")
    backwards = schedule("S1[i] -> [0, -i, 0]")
    verdict = prove_legal(own, backwards, allow_reassociation=True)
    assert not verdict.proved and not verdict.reassociations


def test_a_loop_that_does_not_combine_private_results_has_no_reduction() -> None:
    """Lanes of a vector would add to one cell at the same time."""
    own = region("for (i = 0; i < n; i++) x[0] += a[i];")
    loop = ParallelLoop(1, ("S1",), "the loop over i", combines=False)
    verdict = prove_legal(own, own, parallel=[loop], allow_reassociation=True)
    assert verdict.status is Status.ILLEGAL and not verdict.reassociations
    assert all(found.reduction is None for found in verdict.violations)


def test_an_order_that_is_kept_assumes_nothing() -> None:
    own = region("s = 0; for (i = 0; i < n; i++) s += a[i];")
    assert prove_legal(own, own, allow_reassociation=True).reassociations == ()


def test_a_reduction_still_comes_after_what_sets_it_and_before_what_reads_it() -> None:
    own = region("s = 0; for (i = 0; i < n; i++) s += a[i]; x = s;")
    good = schedule("S1[] -> [0, 0, 0]", "S2[i] -> [1, -i, 0]", "S3[] -> [2, 0, 0]")
    assert prove_legal(own, good, allow_reassociation=True).proved
    early = schedule("S1[] -> [1, 0, 0]", "S2[i] -> [1, i, 1]", "S3[] -> [1, 1, 0]")
    verdict = prove_legal(own, early, allow_reassociation=True)
    assert ("flow", "S2", "S3", "s") in broken(verdict)


def test_what_the_added_expression_reads_stays_in_order() -> None:
    """a[i] is a sum, but of a[i + 1] before that is added to: only the accumulations may move."""
    own = region("for (i = 0; i < n; i++) a[i] += a[i + 1];")
    assert reductions(own)["S1"].operator == "+"
    verdict = prove_legal(own, schedule("S1[i] -> [0, -i, 0]"), allow_reassociation=True)
    assert broken(verdict) == [("anti", "S1", "S1", "a")]
    other = region("for (i = 1; i < n; i++) a[i] += a[i - 1];")
    verdict = prove_legal(other, schedule("S1[i] -> [0, -i, 0]"), allow_reassociation=True)
    assert broken(verdict) == [("flow", "S1", "S1", "a")]


def test_two_statements_may_share_a_reduction_only_with_one_operator() -> None:
    mixed = schedule("S1[i] -> [0, -i, 0]", "S2[i] -> [0, -i, 1]")
    same = region("for (i = 0; i < n; i++) { s += a[i]; s += b[i]; }")
    assert prove_legal(same, mixed, allow_reassociation=True).proved
    different = region("for (i = 0; i < n; i++) { s += a[i]; s *= b[i]; }")
    assert not prove_legal(different, mixed, allow_reassociation=True).proved


def test_cells_that_data_choose_can_be_reduced_too() -> None:
    own = region("for (i = 0; i < n; i++) h[(int)a[i]] += 1;")
    backwards = schedule("S1[i] -> [0, -i, 0]")
    assert prove_legal(own, backwards).status is Status.UNDECIDED
    assert prove_legal(own, backwards, allow_reassociation=True).proved
