"""`split_sum`: the parts of a sum added one after the other, where that is allowed, and what is refused."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.presburger.sets import OUT
from loopwright.progress import silent
from loopwright.prove.legality.explain import refusal
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.summands import prove_summands
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.compiler import compile_c, find_compiler
from tests.storage.test_expand import function, planned, written

PRODUCTS = """\
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      Add: A[i][j] += x[i] * s + (x[j] - t * x[j]);"""

SPLIT = "(Add, Other) = split_sum(Add)\n"


def test_the_parts_are_two_statements_with_orders_of_their_own() -> None:
    plan = planned(function(PRODUCTS), f"{SPLIT}distribute(Add, Other)\ninterchange(Other, i, j)")
    texts = [one.body.place.text for one in plan.program.statements]
    assert texts == ["A[i][j] += x[i] * s;", "A[i][j] += (x[j] - t * x[j]);"]
    verdict = prove_plan(plan, allow_reassociation=True)
    assert verdict.proved
    assert verdict.reassociations[0].assumption == (
        "in S1 the parts of a sum may be added to A one after the other"
    )


def test_without_leave_to_round_otherwise_it_is_refused() -> None:
    verdict = prove_plan(planned(function(PRODUCTS), SPLIT))
    assert not verdict.proved and verdict.wrong[0].rounding
    refused = refusal(verdict)
    assert refused is not None and refused.code is Code.WRONG_VALUE
    assert "--allow-reassociation" in (refused.hint or "")


def test_an_order_before_a_change_of_storage_says_what_it_assumes() -> None:
    body = "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      S: x[j] += A[i][j];"
    verdict = prove_plan(planned(function(body), "reverse(S, i)\npack(A, S)"), allow_reassociation=True)
    assert verdict.proved and [one.array for one in verdict.reassociations] == ["x"]


@pytest.mark.parametrize(
    ("statement", "first", "second"),
    [
        ("x[i] += s - t;", "x[i] += s;", "x[i] -= t;"),
        ("x[i] -= s + t;", "x[i] -= s;", "x[i] -= t;"),
        ("x[i] -= (s - t);", "x[i] -= s;", "x[i] += t;"),
        ("x[i] += s + t - s;", "x[i] += s + t;", "x[i] -= s;"),
        ("x[i] += s - (t - 2.0);", "x[i] += s;", "x[i] -= (t - 2.0);"),
    ],
)
def test_signs(statement: str, first: str, second: str) -> None:
    plan = planned(function(f"  for (int i = 0; i < n; i++)\n    Add: {statement}"), SPLIT)
    assert [one.body.place.text for one in plan.program.statements] == [first, second]
    assert prove_plan(plan, allow_reassociation=True).proved


@pytest.mark.parametrize(
    "statement",
    [
        "x[i] = s + t;",
        "x[i] += s * t;",
        "x[i] *= s + t;",
        "if (s > 0) x[i] += s + t;",
        "x[i] += s > t ? s + t : t;",
    ],
)
def test_what_is_no_addition_of_a_sum(statement: str) -> None:
    with pytest.raises(BadInput) as refused:
        planned(function(f"  for (int i = 0; i < n; i++)\n    Add: {statement}"), SPLIT)
    assert refused.value.code is Code.STORAGE


@pytest.mark.parametrize(
    "body",
    [
        "Add: x[i] += s + x[i];",  # reads what the first part has changed
        "Add: x[i] += i + m;",  # a sum of integers, which may overflow
        "Add: x[i] += s + m / 2;",
        "Add: x[i] += s + (float)t;",
        "Add: x[i] += s + f(1, 1, A, x);",
        "Add: x[i] += s * HALF + t;",  # a macro: its text may tear the sum apart
    ],
)
def test_what_cannot_be_told_is_not_said(body: str) -> None:
    text = "#define HALF 0.5, 1\n" + function(f"  for (int i = 0; i < n; i++)\n    {body}")
    try:
        verdict = prove_plan(planned(text, SPLIT), allow_reassociation=True)
    except (GaveUp, BadInput):
        return
    assert not verdict.proved


def test_an_int_and_a_narrower_number_are_not_split() -> None:
    for kind in ("int", "float"):
        text = function("  for (int i = 0; i < n; i++)\n    Add: x[i] += s + t;").replace(
            "double x", f"{kind} x"
        )
        with pytest.raises(GaveUp):
            prove_plan(planned(text, SPLIT), allow_reassociation=True)


def test_a_part_at_another_time_or_of_another_text_is_noticed() -> None:
    after = "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      B: A[i][j] *= 2;"
    body = f"{PRODUCTS}\n{after}"
    plan = planned(function(body), SPLIT)
    (change,) = plan.storage
    last = change.after.statements[-1]
    for entry in range(last.schedule.dim(OUT)):
        step = isl.MultiAff.identity_on_domain_space(last.schedule.get_space().range())
        step = step.set_aff(entry, step.get_aff(entry).add_constant_val(isl.Val(1)))
        later = replace(last, schedule=last.schedule.apply_range(isl.Map.from_multi_aff(step)))
        statements = (*change.after.statements[:-1], later)
        wrong = replace(change, after=replace(change.after, statements=statements))
        with pytest.raises((GaveUp, InternalError)):
            prove_summands(wrong, allow_reassociation=True)
    swapped = planned(function(body.replace("t * x[j]", "s * x[j]")), SPLIT).storage[0]
    with pytest.raises(InternalError):
        prove_summands(replace(change, after=swapped.after), allow_reassociation=True)


def test_the_sums_are_the_same(tmp_path: Path) -> None:
    """Of numbers whose sums are exact, to the bit."""
    text = """#include <stdio.h>
static double A[9][7], x[9], s = 3, t = 2;
int main(void) {
  for (int i = 0; i < 9; i++) x[i] = i * i - 5;
#pragma scop
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 7; j++)
      if (i + j != 4)
        Add: A[i][j] += x[i] * s - (x[j] - t * x[j]);
#pragma endscop
  for (int i = 0; i < 9; i++) for (int j = 0; j < 7; j++) printf("%g ", A[i][j]);
  return 0;
}
"""
    script = f"{SPLIT}distribute(Add, Other)\nreverse(Other, i)\n"
    request = Request(written(tmp_path, text), script, "s.lw", allow_reassociation=True)
    new = transformed(request, silent).source.text
    assert "A[i][j] -= (x[j]" in new.replace("A[8 - i]", "A[i]").replace("A[-i]", "A[i]")
    old = _output(tmp_path / "old.c", text)
    assert old == _output(tmp_path / "new.c", new)


def _output(path: Path, text: str) -> str:
    path.write_text(text)
    program = compile_c(find_compiler(), path, path.with_suffix(".out"), ("-O1",))
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout
