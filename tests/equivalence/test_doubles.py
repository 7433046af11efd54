"""Long runs are measured in doubles by C, and show what Python's arithmetic of the same inputs does."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.types import DOUBLE, FLOAT, INT, CType
from loopwright.loops.expressions import Int
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.descent import native
from loopwright.prove.descent.doubles import NotInDoubles, formula
from loopwright.prove.descent.native import NativePair
from loopwright.prove.equivalence import counterexample, running
from loopwright.prove.equivalence.terms import Apply, CellTerm, Constant, Index, Term
from loopwright.prove.verdict import Refuted

STEPS = """void step(int T, int n, double a[n], double b[n]) {
  for (int t = 0; t < T; t++) {
    for (int i = 2; i < n - 2; i++)
      VALUE;
    for (int i = 2; i < n - 2; i++)
      a[i] = b[i];
  }
}
"""
IN_DOUBLES = (
    "b[i] = 0.3 * (a[i - 2] + a[i - 1] - a[i + 1]) / (1.7 + a[i + 2])",
    "b[i] = -a[i - 1] * 0.1 + +a[i] / 3 - 2 * a[i + 1] * (a[i - 1] - (0.7 - a[i]))",
    "b[i] = a[i - 1] / (t + 3) + (double)(i - 1) * a[i]",
    "b[i] += a[i - 1] * i - 1e-3 * n",
)
OTHERWISE = (
    "b[i] = (float)a[i - 1] * 0.3 + a[i]",
    "b[i] = sqrt(a[i - 1]) * 0.3 + a[i]",
    "b[i] = a[i - 1] > 0.5 ? 0.3 * a[i] : a[i + 1] + 7",
    "b[i] = a[i - 1] * 0.3 + (i * t) / 2",
    "b[i] = a[i - 1] * 0.3f + a[i]",
)


def _asked(value: str, folder: Path) -> Refuted:
    old, new = folder / "old.c", folder / "new.c"
    text = "#include <math.h>\n" + STEPS.replace("VALUE", value)
    old.write_text(text)
    new.write_text(text.replace("a[i - 1]", "a[i - 2]", 1))
    found = compare_files(old, new).verdict
    assert isinstance(found, Refuted)
    return found


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What measuring has found, where all runs are taken for long ones."""
    found: list[object] = []
    own = NativePair._measured
    monkeypatch.setattr(counterexample, "LONG_RUNS", 0)
    monkeypatch.setattr(counterexample, "MOST_STEPS", 0)
    monkeypatch.setattr(running, "MOST_NUMBERED", 0)

    def measured(self: NativePair, *words: object) -> object:
        found.append(own(self, *words))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(NativePair, "_measured", measured)
    return found


@pytest.mark.parametrize("value", (*IN_DOUBLES, *OTHERWISE))
def test_the_same_witness(
    value: str, tmp_path: Path, measured: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _asked(value, tmp_path)
    assert not measured and "1 in cells with an odd sum of subscripts" in expected.witness
    monkeypatch.setattr(native, "FEW_PARTS", 0)
    found = _asked(value, tmp_path)
    assert found.witness == expected.witness
    assert sorted(found.inputs) == sorted(expected.inputs)
    assert (measured[-1] is not None) == (value in IN_DOUBLES)


@pytest.mark.parametrize(
    "before",
    ("for (int k = 0; k < n; k++) a[k] = 0;", "if (a[0] > 0) return;", "if (a[1] > 0) return;", "a[3] = 0;"),
)
def test_what_the_function_does_before(before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of inputs, or excluded, is as it is for short runs."""
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    text = STEPS.replace("VALUE", IN_DOUBLES[0]).replace(
        "{\n  for", f"{{\n  {before}\n#pragma scop\n  for", 1
    )
    text = text[: text.rindex("}")] + "#pragma endscop\n}\n"
    old.write_text(text)
    new.write_text(text.replace("a[i - 1]", "a[i - 2]", 1))
    verdicts = []
    for few in (native.FEW_PARTS, 0):
        monkeypatch.setattr(native, "FEW_PARTS", few)
        verdicts.append(type(compare_files(old, new).verdict))
    assert verdicts[0] is verdicts[1]


@pytest.mark.parametrize(
    ("value", "kind"),
    (
        (Constant("0.5", FLOAT), DOUBLE),
        (Constant("0.5", DOUBLE), FLOAT),
        (Constant("1e999", DOUBLE), DOUBLE),
        (Index(Int(1), INT), DOUBLE),
        (Apply("+", (Constant("0.5", DOUBLE), CellTerm("a", (), FLOAT)), DOUBLE), DOUBLE),
        (Apply("sqrt()", (Constant("0.5", DOUBLE),), DOUBLE), DOUBLE),
        (Apply("+", (Index(Int(1), INT), Index(Int(1), INT)), DOUBLE), DOUBLE),
    ),
)
def test_other_arithmetic_is_not_measured(value: Term, kind: CType) -> None:
    with pytest.raises(NotInDoubles):
        formula(value, kind)


def test_a_formula_that_is_too_long() -> None:
    value: Term = Constant("0.5", DOUBLE)
    for _ in range(63):
        value = Apply("+", (Constant("0.5", DOUBLE), value), DOUBLE)
    assert len(formula(value, DOUBLE)) == 3 * 64
    with pytest.raises(NotInDoubles):
        formula(Apply("+", (value, value), DOUBLE), DOUBLE)
