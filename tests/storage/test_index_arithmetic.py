"""Subscripts and sizes that operations on storage make are asked in the proof that nothing overflows."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.syntax import field
from loopwright.errors import BadInput
from loopwright.prove.text.exact_ranges import TextInstances
from loopwright.read.c.reader import read_c
from tests.storage.test_expand import result


def sweep(kind: str, head: str, script: str, tmp_path: Path) -> tuple[str, str]:
    """The new text of two statements that share x in one loop, and what is said of its arithmetic."""
    body = "S: x = A[i];\n    T: B[i] = x;"
    text = f"""\
void f({kind} s, {kind} n, double *restrict A, double *restrict B) {{
  double x;
  {"int" if kind == "short" else kind} i;
#pragma scop
  for ({head}) {{
    {body}
  }}
#pragma endscop
}}
"""
    outcome = result(tmp_path, text, script)
    (told,) = (one.standing for one in outcome.regions[0].tried if one.kind == "arithmetic")
    return outcome.source.text, told


UP, DOWN = "i = s; i < n; i++", "i = n; i > s; i--"


@pytest.mark.parametrize(
    ("kind", "head", "standing"),
    [
        ("int", "i = 0; i < n; i++", "proved"),
        ("int", UP, "assumed"),
        ("int", DOWN, "assumed"),
        ("short", UP, "proved"),
        ("short", DOWN, "proved"),
        ("long", UP, "assumed"),
        ("unsigned", UP, "proved"),
    ],
)
def test_the_cell_of_an_iteration_is_a_difference(
    kind: str, head: str, standing: str, tmp_path: Path
) -> None:
    """x_i[i - s] for s = -2^31 and i = 0; the array has n - s cells even where no iteration runs."""
    text, told = sweep(kind, head, "expand(x, i)\ndistribute(S, T)", tmp_path)
    assert "x_i[" in text and told == standing


@pytest.mark.parametrize(("bound", "standing"), [("0", "proved"), ("s", "assumed")])
def test_a_copy_is_counted_from_its_first_cell(bound: str, standing: str, tmp_path: Path) -> None:
    text = f"""\
void f(int s, int n, const double *restrict A, double *restrict B) {{
#pragma scop
  for (int i = {bound}; i < n; i++)
    S: B[i] = A[i] + 1;
#pragma endscop
}}
"""
    outcome = result(tmp_path, text, "pack(A, S)")
    (told,) = (one.standing for one in outcome.regions[0].tried if one.kind == "arithmetic")
    assert "A_packed[" in outcome.source.text and told == standing


FAR = """\
void f(const double *restrict A, double *restrict B) {
  double x;
#pragma scop
  for (int i = -1200000000; i < 1200000000; i++)
    for (int j = i; j < i + 8; j++) {
      S: x = A[j] * A[j];
      T: B[j] += x;
    }
#pragma endscop
}
"""


def test_a_difference_is_small_although_its_parts_are_not(tmp_path: Path) -> None:
    """j - i is between 0 and 7, but by intervals it may be 2^31."""
    outcome = result(tmp_path, FAR, "pack(A, S, i)")
    (told,) = (one.standing for one in outcome.regions[0].tried if one.kind == "arithmetic")
    assert "A_packed[j " in outcome.source.text and told == "proved"


@pytest.mark.parametrize("script", ["pack(A, S)", "expand(x, i, j)\ndistribute(S, T)"])
def test_what_overflows_for_all_sizes_is_refused(script: str, tmp_path: Path) -> None:
    """A_packed[j + 1200000000] and x_i_j[i + 1200000000][j - i], for 2400000000 numbers."""
    with pytest.raises(BadInput, match=r"1200000000' is \d+, which is not between"):
        result(tmp_path, FAR, script)


def test_what_a_script_does_not_touch_is_not_asked_again(tmp_path: Path) -> None:
    """A[i + 7 - m] may overflow in the file as well: only x has new storage."""
    text = """\
void f(int n, int m, const double *restrict A, double *restrict B) {
  double x;
#pragma scop
  for (int i = 0; i < n; i++) {
    S: x = A[(i + 7) - m];
    T: B[i] = x;
  }
#pragma endscop
}
"""
    outcome = result(tmp_path, text, "expand(x, i)\ndistribute(S, T)")
    (told,) = (one.standing for one in outcome.regions[0].tried if one.kind == "arithmetic")
    assert "A[(i + 7) - m]" in outcome.source.text and told == "proved"


@pytest.mark.parametrize(
    ("index", "stays"),
    [
        ("i - 2000000000", True),
        ("(i + i) - i - 2000000000", False),
        ("i - (2000000000 + i) + i", False),
        ("(i - 2000000005) + 7u", False),
    ],
)
def test_every_part_of_a_subscript_is_asked(index: str, stays: bool, tmp_path: Path) -> None:
    """All of them are between 0 and 11."""
    file = tmp_path / "k.c"
    loop = f"for (int i = 2000000000; i < 2000000010; i++)\n  B[{index}] = 1;"
    file.write_text(f"void f(double *B) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n")
    (program,) = read_c(file)
    (node,) = program.syntax.of_type("subscript_expression")
    instances = TextInstances(program, program.facts)
    assert instances.stay_in_types(field(node, "index"), program.statements[0]) == stays
