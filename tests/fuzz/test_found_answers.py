"""What random attacks found in answers about directives, and about what variables hold at first."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Refuted, Undecided, Verdict
from loopwright.rewrite.directives import prove_directives
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request

HEADLESS = """\
void f(int n, int m, unsigned u, int A[24])
{
  unsigned v[24] = {1, 2, 3};
#pragma scop
  %s
#pragma endscop
}
"""


def test_a_pointer_that_threads_share_is_not_read_away(tmp_path: Path) -> None:
    """With an element in its place the text is as long, and its loop stands at the same place."""
    loop = "#pragma omp parallel for\n  for (int i = 0; i < n; i++) {\n    *q = 2 + A1[i + 1];\n    q++;\n"
    text = "void f(int n, long A0[24], long A1[24])\n{\n  long *q = A0;\n#pragma scop\n"
    path = tmp_path / "k.c"
    path.write_text(f"{text}{loop}  }}\n#pragma endscop\n}}\n")
    with pytest.raises(BadInput, match="in other words only"):
        prove_directives(Request(str(path)))


@pytest.mark.parametrize(("given", "kind"), [("h", Undecided), ("A0[0]", Undecided), ("out[0]", Refuted)])
def test_what_a_variable_is_given_is_of_its_type(given: str, kind: type, tmp_path: Path) -> None:
    """Sums of integers are exact in any order: s is no fraction where it is given a short."""
    head = f"void f(int m, short h, int A0[24], double *out)\n{{\n  double s = {given};\n"
    heads = "int i = 0; i < m; i++", "int i = m - 1; i >= 0; i--"
    for name, loop in zip(("old", "new"), heads, strict=True):
        (tmp_path / f"{name}.c").write_text(f"{head}  for ({loop}) s += A0[i];\n  out[0] = s;\n}}\n")
    assert isinstance(compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict, kind)


def test_simpler_inputs_do_not_lead_to_a_function_of_unknown_values(tmp_path: Path) -> None:
    text = (
        "static int least(int x, int y) { return x < y ? x : y; }\n"
        "void f(int n, int m, unsigned u, int A0[24][24], double *out)\n{\n  int s = 1;\n#pragma scop\n"
        "  for (int i = 2; i <= m; i += 2) {\n    s *= ((A0[i][i] + 'a') * (A0[i + 2][i] - A0[i][9 - i]));\n"
        "    if (n != u + 1) s = least(i, m);\n    A0[i + 1][i] = (s + 1e-3);\n  }\n#pragma endscop\n"
        "  out[0] = s;\n}\n"
    )
    verdict = compared(tmp_path, text, text.replace("+ 'a'", "* 'a'"))
    assert isinstance(verdict, Refuted) and verdict.parameters["n"] == 5
    assert "u = 4," in str(verdict.witness), "n == u + 1: 'least' is not called"


def test_relations_whose_equalities_are_hidden_do_not_end_the_process(tmp_path: Path) -> None:
    head = "#define K 2\nvoid f(int n, int m, double *out)\n{\n  unsigned char t = 1;\n#pragma scop\n"
    tail = "#pragma endscop\n  out[0] = t;\n}\n"
    bounds = "(m < (n / 2 + 2 * j) ? m : (n / 2 + 2 * j))", "(m > (1 + 2 * j) ? m : (1 + 2 * j))"
    old = "  for (int i = 1; i < n / 2; i++)\n    for (int j = K; j < m; j++)\n      t += 3u;\n"
    new = (
        f"  for (int j = 2; j < m; j++) {{\n    for (int i = (1 + 2 * j); i < {bounds[0]}; i++) {{\n"
        f"      t += (3u);\n    }}\n    for (int i = {bounds[1]}; i < (n / 2 + 2 * j); i++) {{\n"
        "      t += 3u;\n    }\n  }\n"
    )
    assert not isinstance(compared(tmp_path, head + old + tail, head + new + tail), Refuted)


def compared(folder: Path, old: str, new: str) -> Verdict:
    files = folder / "old.c", folder / "new.c"
    for file, text in zip(files, (old, new), strict=True):
        file.write_text(text)
    return compare_files(*files).verdict


def test_loops_are_not_distributed_together_if_one_has_private_storage(tmp_path: Path) -> None:
    """Every iteration over j has its own v; the clause would hold for i, too, or be lost."""
    text = HEADLESS % "for (int i = 1; i < m; i++)\n    for (int j = 0; j < m; j++) v[i] = 1;"
    path = tmp_path / "old.c"
    path.write_text(text)
    script = "I = lift(S1, 0)\nparallel(I, i)\nJ = lift(S1, 1)\nparallel(J, j)"
    new = transformed(Request(str(path), script, openmp=True), silent).source.text
    assert "#pragma omp parallel for\n" in new and "collapse" not in new


def test_a_condition_that_is_always_true_may_have_an_unread_part(tmp_path: Path) -> None:
    inner = "for (int j = n; j >= 2; j--) if (v[j + i] != 0) A[i + j] = p[j] / v[j + i];"
    text = HEADLESS % f"for (int i = 0; i < m; i++) if (i == u || 'a' > 0) {inner}"
    text = text.replace("#pragma scop", "int *p = A + 1;\n#pragma scop")
    path = tmp_path / "old.c"
    path.write_text(text)
    with pytest.raises(GaveUp, match="'u' cannot be read"):
        transformed(Request(str(path)), silent)


def test_two_variables_of_one_name_get_no_storage(tmp_path: Path) -> None:
    """The other `unsigned x` would be a statement as soon as this one is an array."""
    body = "for (int i = 1; i < 9; i++) {\n    unsigned char y = i;\n    for (int j = i; j < i + 1; j++) {\n"
    body += "      unsigned x = y;\n      A[i] = A[j];\n    }\n"
    path = tmp_path / "old.c"
    path.write_text(HEADLESS % f"{body}    unsigned x = i;\n  }}")
    with pytest.raises(BadInput, match="two variables of one name"):
        transformed(Request(str(path), "expand(y, i)\nexpand(x, [i, j])"), silent)
