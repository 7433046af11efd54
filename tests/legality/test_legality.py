"""What is legal and what is not, by example; the first ones are what other tools got wrong."""

from __future__ import annotations

import json

import islpy as isl
import pytest

from loopwright.errors import InternalError
from loopwright.model.program import Program
from loopwright.prove.legality import legality
from loopwright.prove.legality.legality import Status, prove_legal
from loopwright.prove.legality.violation import Breach, DefectKind
from tests.c.support import region
from tests.legality.support import broken, schedule

INTERCHANGED = schedule("S1[i, j] -> [0, j, 0, i, 0]")


def test_fusing_a_read_of_one_cell_with_the_writes_of_all() -> None:
    """`s[p] = a[1] * c[p]` fused with `a[p] = s[p]`: from p = 2 on, a[1] is no longer what it was."""
    own = region("for (i = 0; i < n; i++) s[i] = a[1] * c[i]; for (i = 0; i < n; i++) a[i] = s[i];")
    verdict = prove_legal(own, schedule("S1[i] -> [0, i, 0]", "S2[i] -> [0, i, 1]"))
    assert verdict.status is Status.ILLEGAL
    assert broken(verdict) == [("anti", "S1", "S2", "a")]
    (found,) = verdict.violations
    assert found.parameters == {"n": 3} and found.cell == (1,)
    assert (found.first.instance, found.second.instance) == ((2,), (1,))
    assert found.breach is Breach.REVERSED


def test_interchange_under_a_subscript_that_is_not_affine() -> None:
    """`A[p * q][i][j]` is some cell of A[.][i][j]: the dependence is not gone, only not certain."""
    own = region("for (i = 1; i < n; i++) for (j = 0; j < n; j++) T[p * q][i][j] = T[p * q][i - 1][j + 1];")
    verdict = prove_legal(own, INTERCHANGED)
    assert verdict.status is Status.UNDECIDED
    assert ("flow", "S1", "S1", "T") in broken(verdict)
    assert not any(found.certain for found in verdict.violations)
    assert prove_legal(own, own).proved


def test_a_producer_fused_into_a_strided_consumer_sets_the_temporary_again() -> None:
    """t is set for each i by the first loop; run with the consumer of 2 i, later i set it after its use."""
    own = region("for (i = 0; i < n; i++) t[i / 2] = 0; for (i = 0; i < n; i += 2) t[i / 2] += a[i];")
    verdict = prove_legal(own, schedule("S1[i] -> [0, i, 0]", "S2[i] -> [0, i, 1]"))
    assert verdict.status is Status.ILLEGAL
    assert ("output", "S1", "S2", "t") in broken(verdict) and ("flow", "S1", "S2", "t") in broken(verdict)
    found = verdict.violations[0]
    assert (found.parameters, found.first.instance, found.second.instance) == ({"n": 2}, (1,), (0,))
    late = schedule("S1[i] -> [0, i, 0]", "S2[i] -> [0, i + 1, 1]")
    assert prove_legal(own, late).proved


def test_splitting_a_loop_of_step_two_keeps_every_iteration() -> None:
    own = region("for (i = 1; i < 42; i += 2) a[i] = a[i - 1];")
    halves = isl.Map("{ S1[i] -> [0, i, 0] : i < 20; S1[i] -> [1, i, 0] : i >= 20 }")
    assert prove_legal(own, {"S1": halves}).proved
    lost = isl.Map("{ S1[i] -> [0, i, 0] : i < 20; S1[i] -> [1, i, 0] : i >= 22 }")
    (found,) = prove_legal(own, {"S1": lost}).defects
    assert found.kind is DefectKind.UNSCHEDULED
    assert found.instances[0].instance == (21,)


def test_interchange_of_a_diagonal_dependence() -> None:
    own = region("for (i = 0; i < n - 1; i++) for (j = 1; j < n; j++) A[i + 1][j - 1] = A[i][j];")
    verdict = prove_legal(own, INTERCHANGED)
    assert broken(verdict) == [("flow", "S1", "S1", "A")]
    (found,) = verdict.violations
    assert found.parameters == {"n": 3}
    assert (found.first.before, found.second.before) == ((0, 0, 0, 2, 0), (0, 1, 0, 1, 0))
    assert (found.first.after, found.second.after) == ((0, 2, 0, 0, 0), (0, 1, 0, 1, 0))
    assert (found.first_access.text, found.second_access.text) == ("A[i + 1][j - 1]", "A[i][j]")
    skewed = schedule("S1[i, j] -> [0, i + j, 0, i, 0]")
    assert prove_legal(own, skewed).proved


def test_two_instances_at_the_same_time() -> None:
    own = region("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 0;")
    (found,) = prove_legal(own, schedule("S1[i, j] -> [0, i + j, 0]")).defects
    assert found.kind is DefectKind.COLLISION
    assert found.parameters == {"n": 2}
    assert [one.instance for one in found.instances] == [(0, 1), (1, 0)]
    assert found.times == ((0, 1, 0),)


def test_two_statements_at_the_same_time() -> None:
    own = region("for (i = 0; i < n; i++) a[i] = 0; for (i = 0; i < n; i++) b[i] = 0;")
    verdict = prove_legal(own, schedule("S1[i] -> [0, 2 i, 0]", "S2[i] -> [0, 3 i, 0]"))
    (found,) = verdict.defects
    assert [(one.statement, one.instance) for one in found.instances] == [("S1", (0,)), ("S2", (0,))]
    assert prove_legal(own, schedule("S1[i] -> [0, 2 i, 0]", "S2[i] -> [0, 2 i + 1, 0]")).proved


def test_a_dependence_at_one_time_is_not_kept() -> None:
    own = region("for (i = 0; i < n; i++) x = a[i];")
    verdict = prove_legal(own, schedule("S1[i] -> [0, 0, 0]"))
    assert verdict.defects and verdict.violations[0].breach is Breach.SAME_TIME


def test_one_instance_at_two_times() -> None:
    own = region("for (i = 0; i < n; i++) a[i] = 0;")
    twice = isl.Map("{ S1[i] -> [0, i, 0]; S1[i] -> [1, i, 0] : i = 3 }")
    (found,) = prove_legal(own, {"S1": twice}).defects
    assert found.kind is DefectKind.SCHEDULED_TWICE
    assert found.instances[0].instance == (3,)
    assert found.times == ((0, 3, 0), (1, 3, 0))


def test_times_of_different_lengths_are_padded() -> None:
    own = region("for (i = 0; i < n; i++) { a[i] = 0; for (j = 0; j < n; j++) a[i] += b[j]; }")
    assert prove_legal(own, schedule("S1[i] -> [0, i]", "S2[i, j] -> [0, i, 1, j]")).proved
    assert not prove_legal(own, schedule("S1[i] -> [0, i, 2]", "S2[i, j] -> [0, i, 1, j]")).proved


def test_what_is_broken_in_the_middle_and_repaired_at_the_end_is_legal() -> None:
    own = region("for (i = 1; i < n; i++) a[i] = a[i - 1];")
    reversed_once = schedule("S1[i] -> [0, -i, 0]")["S1"]
    again = reversed_once.apply_range(isl.Map("{ [p, i, q] -> [p, -i, q] }"))
    assert not prove_legal(own, {"S1": reversed_once}).proved
    assert prove_legal(own, {"S1": again}).proved


def test_the_context_decides() -> None:
    text = "for (i = 0; i < n; i++) a[i] = a[i + m];"
    backwards = schedule("S1[i] -> [0, -i, 0]")
    assert not prove_legal(region(text), backwards).proved
    assert prove_legal(region(text, assume=["m >= n"]), backwards).proved
    small = prove_legal(region(text, assume=["n >= 10"]), backwards)
    assert small.violations[0].parameters["n"] == 10


def test_a_parameter_only_the_schedule_has() -> None:
    own = region("for (i = 1; i < n; i++) a[i] = a[i - 1];")
    assert prove_legal(own, {"S1": isl.Map("[k] -> { S1[i] -> [0, i + k, 0] }")}).proved
    assert not prove_legal(own, {"S1": isl.Map("[k] -> { S1[i] -> [0, -i + k, 0] }")}).proved


def test_a_conditional_write_may_happen() -> None:
    own = region("for (i = 0; i < n; i++) if (a[i] > 0) x = i;")
    verdict = prove_legal(own, schedule("S1[i] -> [0, -i, 0]"))
    assert verdict.status is Status.UNDECIDED


def test_the_simplest_violation_comes_first() -> None:
    own = region("for (i = 5; i < n; i++) a[i] = a[i - 5] + a[i - 1];")
    verdict = prove_legal(own, schedule("S1[i] -> [0, -i, 0]"))
    sizes = [sum(found.parameters.values()) for found in verdict.violations]
    assert sizes == sorted(sizes) and sizes[0] == 7 and sizes[-1] == 11


def test_every_answer_is_json() -> None:
    own = region("for (i = 1; i < n; i++) a[i] = a[i - 1];")
    data = json.loads(json.dumps(prove_legal(own, schedule("S1[i] -> [0, -i, 0]")).as_json()))
    assert data["status"] == "illegal"
    (flow,) = data["violations"]
    assert (flow["kind"], flow["array"], flow["cell"], flow["certain"]) == ("flow", "a", [1], True)
    assert flow["first"]["span"]["line"] == 4 and flow["breach"] == "reversed"
    collision = json.loads(json.dumps(prove_legal(own, schedule("S1[i] -> [0, 0, 0]")).as_json()))
    assert collision["defects"][0]["kind"] == "collision"


def test_a_program_is_a_schedule() -> None:
    own = region("for (i = 0; i < n; i++) a[i] = 0;")
    assert prove_legal(own, own).proved
    other = region("for (i = 1; i < n; i++) a[i] = 0;")
    with pytest.raises(InternalError, match="domain of S1"):
        prove_legal(own, other)
    with pytest.raises(InternalError, match="no schedule for S1"):
        prove_legal(own, {})


def test_an_error_of_isl_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise isl.Error("out of operations")

    own: Program = region("for (i = 0; i < n; i++) a[i] = 0;")
    monkeypatch.setattr(legality, "pieces_of", fail)
    with pytest.raises(InternalError, match="out of operations"):
        prove_legal(own, own)
