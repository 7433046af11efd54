"""Sizes and arrays may have names that are words in isl's notation of sets."""

from pathlib import Path

import pytest

from loopwright.cli.main import main
from loopwright.presburger.named import names_of, points_where, row_length
from tests.pipeline.support import file

WORDS = ["and", "or", "min", "max", "floord", "ceild", "mod", "exists"]
ROWS = """void f(int {0}, double *restrict c, double *restrict d)
{{
#pragma scop
  for (int i = 0; i < {0}; i++)
    for (int j = 0; j < {0}; j++)
      c[i * {0} + j] = d[j] + {0};
#pragma endscop
}}
"""
CHECKED = """#include <stdio.h>
double {0}_[99], b[9];
static void f(int {0})
{{
#pragma scop
  for (int i = 0; i < {0}; i++)
    {0}_[i] = b[i] + {0};
#pragma endscop
}}
int main(void) {{ f(7); printf("%f\\n", {0}_[3]); return 0; }}
"""


@pytest.mark.parametrize("word", WORDS)
def test_the_length_of_rows_may_be_called_so(word: str) -> None:
    assert names_of(row_length(f"2 * ({word} + n)")) == [word, "n"]


def test_conditions_may_be_about_names_that_are_called_so() -> None:
    found = points_where(("min", "n"), "S", ("or", "j"), "0 <= or < min && or <= j < n")
    assert str(found) == str(points_where(("a", "n"), "S", ("i", "j"), "0 <= i < a and i <= j < n")).replace(
        "i", "or"
    ).replace("[a,", "[min,").replace("< a", "< min")


@pytest.mark.parametrize("word", WORDS)
def test_a_size_may_be_called_so(word: str, tmp_path: Path) -> None:
    rows = file(tmp_path, ROWS.format(word), "rows.c")
    checked = file(tmp_path, CHECKED.format(word), "checked.c")
    lines = ["-e", "interchange(S1, i, j)", "-o", str(tmp_path / "new.c")]
    for words in (["transform", rows, *lines], ["check", checked, "--spec", checked]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0


STEPS = """double a[99], {0}[99];
void f(int {1}, int n)
{{
#pragma scop
  for (int k = 0; k < {1}; k++) {{
    for (int {2} = 1; {2} < n - 1; {2}++) S: {0}[{2}] = a[{2} - 1] + a[{2} + 1];
    for (int {2} = 1; {2} < n - 1; {2}++) R: a[{2}] = {0}[{2}];
  }}
#pragma endscop
}}
"""
TILES = ["(A, B) = overlap(L, k=2, {2}=4)", "(A, B) = hexagon(L, k=4, {2}=8, staged)"]


@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("names", [("b", "and", "i"), ("or", "min", "and"), ("and", "exists", "not")])
def test_steps_in_tiles_may_be_about_names_that_are_called_so(
    tiles: str, names: tuple[str, str, str], tmp_path: Path
) -> None:
    steps = file(tmp_path, STEPS.format(*names), "steps.c")
    with pytest.raises(SystemExit) as ended:
        main(["transform", steps, "-e", "L = lift(S, 1)", "-e", tiles.format(*names)])
    assert ended.value.code == 0
