"""What `transform` proposes: a line for all statements of a nest, tests of what is left to believe."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.cli.main import main

TWO_STEPS = """#define NX 20
#define NY 20
double u[NX + 2][NY + 2], v[NX + 2][NY + 2], un[NX + 2][NY + 2], vn[NX + 2][NY + 2];
void momentum(void)
{
  for (int j = 1; j <= NY; j++)
    for (int i = 1; i < NX; i++) {
      double ue = 0.5 * (u[i][j] + u[i + 1][j]);
      un[i][j] = u[i][j] + ue;
    }
  for (int j = 1; j < NY; j++)
    for (int i = 1; i <= NX; i++) {
      double ue = 0.5 * (u[i][j] + u[i][j + 1]);
      vn[i][j] = v[i][j] + ue;
    }
}
"""


def _run(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, text: str = TWO_STEPS, *options: str
) -> tuple[int, str]:
    file = folder / "step.c"
    file.write_text(text)
    with pytest.raises(SystemExit) as left:
        main(["transform", str(file), "--function", "momentum", "-e", line, *options])
    found = capsys.readouterr()
    return int(left.value.code or 0), found.out + found.err


def test_the_nest_is_proposed_before_other_storage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = _run(tmp_path, capsys, "interchange(S1, j, i)")
    assert status == 1
    assert "hint: interchange(@6, j, i) is legal: all statements in these loops move together" in said
    assert _run(tmp_path, capsys, "interchange(@6, j, i)")[0] == 0


def test_a_variable_of_two_nests_with_other_sizes_is_expanded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its subscripts are functions of NX in one nest and of NY in the other."""
    status, said = _run(tmp_path, capsys, "expand(ue, j, i)")
    assert status == 0
    assert "ue_j_i[j - 1][i - 1] = 0.5 * (u[i][j] + u[i][j + 1]);" in said


ROWS = """void momentum(int w, int h, int pitch, double *restrict a, double *restrict b)
{
  for (int x = 0; x < w; x++)
    for (int y = 0; y < h; y++)
      a[y * pitch + x] = b[y * pitch + x];
}
"""


def test_what_is_taken_on_trust_comes_with_the_option_that_tests_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proposal = "(--guard tests that at run time, where it can be tested)"
    line = "interchange(S1, x, y)"
    status, said = _run(tmp_path, capsys, line, ROWS)
    assert (status, said.count(proposal)) == (0, 1)
    status, said = _run(tmp_path, capsys, line, ROWS, "--guard")
    assert (status, said.count(proposal), "tested at run time: 'a' has rows" in said) == (0, 0, True)
