"""`contract` and `rename`: what is shared again, and what no longer is."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput, Code
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.legality.plans import prove_plan
from tests.storage.test_expand import function, planned, result, written

CHAIN = """\
  for (int i = 0; i < 8; i++)
    v[i] = x[i] + x[i + 1];
  for (int i = 0; i < 8; i++)
    x[i] = v[i] * v[i];"""

REUSED = """\
  for (int i = 0; i < n; i++) {
    s = x[i] * 2;
    x[i] = s + 1;
    s = A[i][0] * 3;
    A[i][0] = s - 1;
  }"""


def test_an_array_becomes_a_variable_where_write_and_read_meet(tmp_path: Path) -> None:
    text = result(tmp_path, function(CHAIN), "fuse(S1, S2)\ncontract(v)").source.text
    assert "v_1 = x[i] + x[i + 1];" in text and "v[" not in text.partition("#pragma scop")[2]
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


def test_a_value_that_is_overwritten_too_early_is_named() -> None:
    verdict = prove_plan(planned(function(CHAIN), "contract(v)"))
    first = verdict.wrong[0]
    assert (first.reader, first.wanted, first.found) == (
        "S2(i = 0) reads v[i]", "what S1(0) writes", "what S1(7) writes"
    )  # fmt: skip


def test_expand_and_contract_undo_each_other() -> None:
    plan = planned(function(REUSED), "expand(s, i)\ncontract(s_i)")
    assert prove_plan(plan).proved
    assert [one.extents for one in plan.program.arrays if one.space is not None] == [()]


FILTER = """\
  for (int i = 0; i < 8; i++)
    v[i] = x[i] + x[i + 1];
  for (int i = 2; i < 8; i++)
    x[i] = v[i] * v[i - 2];"""


def test_rows_of_a_ring_take_turns_where_they_are_enough(tmp_path: Path) -> None:
    fused = "shift(S2, i=1)\nfuse(S1, S2, 1)\n"
    text = result(tmp_path, function(FILTER), f"{fused}contract(v, 4, ring)").source.text
    assert "v_ring[(i) % 4] = x[i] + x[i + 1];" in text
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved
    verdict = prove_plan(planned(function(FILTER), f"{fused}contract(v, 3, ring)"))
    assert verdict.wrong and "reads v[i - 2]" in verdict.wrong[0].reader


def test_a_component_gets_a_variable_of_its_own(tmp_path: Path) -> None:
    script = "C = fuse(S3, S4)\nrename(s, C)\nexpand(s, i)\nexpand(s_S3, i)\ndistribute(S1, S2, S3, S4)"
    text = result(tmp_path, function(REUSED), script).source.text
    assert "s_S3_i[i] = A[i][0] * 3;" in text and "s_i[i] = x[i] * 2;" in text
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


@pytest.mark.parametrize("specifier", ["_Alignas(32)", "__extension__", "register"])
def test_specifiers_that_are_no_part_of_the_type(specifier: str, tmp_path: Path) -> None:
    text = function(REUSED).replace("double s =", f"{specifier} double s =")
    assert "double *restrict s_i =" in result(tmp_path, text, "expand(s, i)").source.text


def test_a_value_from_another_component_is_missed() -> None:
    verdict = prove_plan(planned(function(REUSED), "rename(s, S4)"))
    assert verdict.wrong and verdict.wrong[0].found == "what s_S4 held before the region"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("contract(s)", Code.STORAGE),
        ("contract(A, 3)", Code.STORAGE),
        ("contract(s, 3, ring)", Code.STORAGE),
        ("contract(A, ring)", Code.STORAGE),
        ("rename(s, S9)", Code.NO_COMPONENT),
        ("rename(v, S1)", Code.NO_VARIABLE),
    ],
)
def test_what_has_no_meaning(script: str, code: Code) -> None:
    with pytest.raises(BadInput) as caught:
        planned(function(REUSED), script)
    assert caught.value.code is code and caught.value.span is not None


def test_rows_are_padded(tmp_path: Path) -> None:
    text = result(tmp_path, function(CHAIN), "pad(v, 3)").source.text
    assert "double v_padded[11];" in text
    plan = planned(function(REUSED), "expand(s, i)\npad(s_i, 1)")
    assert [one.extents for one in plan.program.arrays if one.space is not None] == [("n + 1",)]
    assert prove_plan(plan).proved and not prove_plan(planned(function(REUSED), "pad(x, 1)")).proved
