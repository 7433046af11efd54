"""`pack` of arrays of one dimension that are used as several: `A[i * n + j]`."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.prove.comparison.files import compare_files
from loopwright.transform.library import rows
from tests.storage.test_expand import result, written

PRODUCT = """\
void f(int n, const double *restrict A, const double *restrict B, double *restrict C) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        S: C[i * n + j] += A[i * n + k] * B[k * n + j];
#pragma endscop
}
"""
TILES = "tile(S, i=4, j=8)\ninterchange(S, [iT, jT, k, i, j])\npack(C, S, jT, written)\npack(B, S, jT)"

SHAPES = {
    "three dimensions": (
        "int n, int m, int l, const double *restrict A, double *restrict C",
        "n, m, l",
        "C[(i * m + j) * l + k] += A[(i * m + j) * l + l - 1 - k]",
        "A_packed[0][A_2][A_3] = A[(i * m + A_2) * l + A_3];",
    ),
    "a constant last dimension": (
        "int n, int m, const double *restrict A, double *restrict C",
        "n, m, 3",
        "C[(i * m + j) * 3 + k] += A[(i * m + j) * 3 + 2 - k]",
        "A_packed[0][A_2] = A[i * (3 * m) + A_2];",
    ),
    "rows of a sum": (
        "int n, int m, const double *restrict A, double *restrict C",
        "n, m + 1, m + 1",
        "C[i * (m + 1) + j] += A[i * (m + 1) + k]",
        "A_packed[0][A_2] = A[i * (m + 1) + A_2];",
    ),
}


def nest(parameters: str, ends: str, body: str) -> str:
    heads = zip("ijk", ends.split(", "), strict=True)
    loops = "\n".join(f"  for (int {name} = 0; {name} < {end}; {name}++)" for name, end in heads)
    return f"void f({parameters}) {{\n#pragma scop\n{loops}\n    S: {body};\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("wide", ["(long)i * n + k", "i * (long)n + k", "i * w + k", "i * n + k"])
@pytest.mark.parametrize("script", ["pack(A, S)", "pack(A, S, i)"])
def test_copies_reach_all_cells_that_wider_subscripts_reach(wide: str, script: str, tmp_path: Path) -> None:
    """Of rows of 50000 elements, an int reaches 42949."""
    parameters = "int n, long w, const double *restrict A, double *restrict C"
    ends = "n, n, w" if "w" in wide else "n, n, n"
    outcome = result(tmp_path, nest(parameters, ends, f"C[j] += A[{wide}]"), script)
    is_wide = wide != "i * n + k"
    assert ("A[((long long)" in outcome.source.text) is is_wide
    if wide.startswith(("(long)", "i * (long)")):
        told = [one.standing for one in outcome.regions[0].tried if one.kind == "arithmetic"]
        assert told == ["proved"]


def test_copies_in_narrower_subscripts_are_not_taken_for_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_is_wide", lambda *_: False)
    source = nest("int n, const double *A, double *C", "n, n, n", "C[j] += A[(long)i * n + k]")
    told = result(tmp_path, source, "pack(A, S)").regions[0].tried
    assert [one.standing for one in told if one.kind == "arithmetic"] == ["assumed"]


def test_tiles_of_pointers_are_packed(tmp_path: Path) -> None:
    text = result(tmp_path, PRODUCT, TILES).source.text
    assert "C_packed[C_1 - 4 * iT][C_2 - 8 * jT] = C[C_1 * n + C_2];" in text
    assert "C[C_1 * n + C_2] = C_packed[C_1 - 4 * iT][C_2 - 8 * jT];" in text
    assert "B_packed[B_1][B_2 - 8 * jT] = B[B_1 * n + B_2];" in text
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_written_as_they_are_read(tmp_path: Path, shape: str) -> None:
    *program, copy = SHAPES[shape]
    text = result(tmp_path, nest(*program), "pack(A, S, i)\npack(C, S, i, written)").source.text
    assert copy in text
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


@pytest.mark.parametrize(
    ("subscript", "packed"),
    [
        ("((long)i - 1) * m + m + j", True),
        ("i * (m + 0) + j", True),
        ("AT(i, j)", True),
        ("(i - 1u) * m + m + j", False),
        ("i * m + (long)(j - 5u) + 5", False),
        ("(uint)i * m + j", False),
        ("UT(i, j)", False),
        ("p * m + j", False),
        ("i * m + k", False),
    ],
)
def test_what_may_wrap_around_is_not_packed(tmp_path: Path, subscript: str, packed: bool) -> None:
    """4294967295 * m + m is not 0 where a long holds it."""
    source = f"""\
typedef unsigned uint;
#define AT(i, j) ((i) * m + (j))
#define UT(i, j) (((i) + 0u) * m + (j))
void f(int n, int m, uint k, const double *restrict A, double *restrict C) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      unsigned p = i;
      S: C[i * m + j] = A[{subscript}];
    }}
#pragma endscop
}}
"""
    if packed:
        text = result(tmp_path, source, "pack(A, S, i)").source.text
        assert text.replace("((long long)i)", "i").count("A_packed[0][A_2] = A[i * m + A_2];") == 1
        return
    with pytest.raises(BadInput, match=r"unsigned numbers of fewer bits|is unknown"):
        result(tmp_path, source, "pack(A, S, i)")


@pytest.mark.parametrize(
    ("kind", "counted"),
    [("int", "int"), ("long", "long"), ("unsigned", "long long"), ("size_t", "long long")],
)
def test_copies_count_as_far_as_the_loops_do(tmp_path: Path, kind: str, counted: str) -> None:
    source = f"""\
#include <stddef.h>
void f({kind} n, {kind} m, double A[restrict n][m], double C[restrict n][m]) {{
#pragma scop
  for ({kind} i = 0; i < n; i++)
    for ({kind} j = 0; j < m; j++)
      S: C[i][j] += A[i][j];
#pragma endscop
}}
"""
    text = result(tmp_path, source, "tile(S, i=8, j=16)\npack(C, S, iT, written)").source.text
    assert f"for ({counted} C_1 = 8 * iT;" in text
    assert f"for ({counted} C_2 = 0;" in text


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("C_2 <= min(n - 1, 8 * jT + 7)", "C_2 <= min(n - 2, 8 * jT + 7)"),
        ("C_2 <= min(n - 1, 8 * jT + 7)", "C_2 <= min(n, 8 * jT + 7)"),
        ("= B[B_1 * n + B_2]", "= B[B_2 * n + B_1]"),
        ("= B[B_1 * n + B_2]", "= B[B_1 * n + B_2 + 1]"),
        ("C[C_1 * n + C_2] = C_packed[C_1 - 4 * iT][C_2 - 8 * jT]", "C[C_1 * n + C_2] = C_packed[0][0]"),
        ("C[C_1 * n + C_2] = C_packed", "C[C_1 * n + n - 1 - C_2] = C_packed"),
        ("C[C_1 * n + C_2] = C_packed", "C[C_1 * n - C_2] = C_packed"),
        ("C[C_1 * n + C_2] = C_packed", "C[C_1 * n + n + C_2] = C_packed"),
    ],
)
def test_wrong_copies_are_not_proved(tmp_path: Path, right: str, wrong: str) -> None:
    text = result(tmp_path, PRODUCT, TILES).source.text
    assert right in text
    old = written(tmp_path, PRODUCT, "k.c")
    assert not compare_files(old, written(tmp_path, text.replace(right, wrong), "new.c")).proved


def test_a_member_as_the_length_of_rows_is_refused(tmp_path: Path) -> None:
    source = nest(
        "struct s *q, const double *restrict A, double *restrict C",
        "q->n, q->m, q->m",
        "C[i * q->m + j] += A[i * q->m + k]",
    )
    with pytest.raises(BadInput) as caught:
        result(tmp_path, f"struct s {{ int n, m; }};\n{source}", "pack(C, S, i, written)")
    assert caught.value.code is Code.STORAGE
    assert "the rows of C have q->m elements, which is not a variable" in str(caught.value)


ABOVE = """\
void f(int n, int m, const double *restrict A, double *restrict C) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      C[i * m + j] = A[(long)(i - 1) * m + j] + 1;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("subscript", "proved"),
    [
        ("(long)(i - 1) * m + j", True),
        ("(i - 1u) * m + j", False),
        ("(unsigned)(i - 1) * m + j", False),
        ("i * m + j - (unsigned)m", False),
        ("(i - 1) * m + (unsigned)j", False),
    ],
)
def test_a_row_below_0_is_not_one_of_an_unsigned_number(
    tmp_path: Path, subscript: str, proved: bool
) -> None:
    """A may point into the middle of its memory: 4294967295 * m is not -m."""
    new = ABOVE.replace("#pragma scop", "#pragma scop\n  double T[1];")
    new = new.replace("C[i * m + j] = A[(long)(i - 1) * m + j]", "{ T[0] = A[%s]; C[i * m + j] = T[0]")
    new = new.replace("+ 1;", "+ 1; }")
    old = written(tmp_path, ABOVE, "k.c")
    assert compare_files(old, written(tmp_path, new % subscript, "new.c")).proved == proved


def test_sizes_as_wide_as_pointers(tmp_path: Path) -> None:
    """What `(long long)m` is of an unsigned m of 64 bits is not known: the answer is that, not a mistake."""
    text = """\
#include <stddef.h>
void f(size_t m, double *restrict A, double *restrict C) {
#pragma scop
  for (size_t j = 0; j < m; j++)
    S: C[j] = A[j] + 1;
#pragma endscop
}
"""
    tiles = "tile(S, j=8)\npack(A, S, jT)"
    assert "A_packed" in result(tmp_path, text, tiles).source.text
    with pytest.raises(GaveUp, match="cannot be compared"):
        result(tmp_path, text, f"{tiles}\nunroll(S, j=2)")
