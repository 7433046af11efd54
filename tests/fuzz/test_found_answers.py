"""What random attacks found in answers about directives, and about what variables hold at first."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Refuted, Undecided
from loopwright.rewrite.directives import prove_directives
from loopwright.rewrite.request import Request


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
