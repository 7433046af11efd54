"""What other tools got wrong: each is refused here, or done right."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import GaveUp, Illegal
from loopwright.report.diagnostics import as_text
from tests.pipeline.support import output, result, wrapped

PRINTING = """\
#include <stdio.h>
{head}
static double a[64], b[64], A[64][64];
int main(void)
{{
  int n = 21, m = 4, i, j, k;
  for (int x = 0; x < 64; x++) {{
    a[x] = x % 5 + 1;
    b[x] = x % 3;
  }}
#pragma scop
{body}
#pragma endscop
  for (int x = 0; x < 64; x++)
    printf("%a %a\\n", a[x], b[x]);
  (void)m, (void)n, (void)A;
  return 0;
}}
"""


def same_output(
    tmp_path: Path, body: str, script: str | None = None, head: str = "", openmp: bool = False
) -> str:
    """The new text, after it was seen to compile without warnings and to print the same."""
    text = PRINTING.format(body=body, head=head)
    new = result(tmp_path, text, script, openmp=openmp).source.text
    flags = ("-fopenmp",) if openmp else ()
    assert output(new, tmp_path, *flags) == output(text, tmp_path)
    return new


def test_a_write_after_read_across_two_loops(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++)\n    P: b[i] = a[1] * a[i + 21];\n"
        "  for (i = 0; i < n; i++)\n    Q: a[i] = b[i];"
    )
    with pytest.raises(Illegal) as refused:
        result(tmp_path, wrapped(body), "fuse(P, Q)")
    assert "anti dependence on a[1]" in as_text(refused.value.diagnostic)


def test_a_subscript_that_is_not_affine_may_be_anything(tmp_path: Path) -> None:
    body = "  for (i = 1; i < n; i++)\n    for (j = 1; j < n; j++)\n      L: A[n * m][j] = A[i][j - 1];"
    with pytest.raises(GaveUp) as refused:
        result(tmp_path, wrapped(body), "reverse(L, j)")
    assert "may" in as_text(refused.value.diagnostic)


def test_interchange_under_a_subscript_that_is_not_affine(tmp_path: Path) -> None:
    nest = "  for (i = 1; i < n; i++)\n    for (j = 1; j < n - 1; j++)\n"
    body = nest + "      L: C[n * m][i][j] = C[0][i - 1][j + 1];"
    text = wrapped(body, names="int n, int m, double C[9][n][n]")
    with pytest.raises(GaveUp) as refused:
        result(tmp_path, text, "interchange(L, i, j)")
    assert "which cells 'C[n * m][i][j]' touches" in as_text(refused.value.diagnostic)


def test_a_producer_of_a_strided_consumer(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++)\n    P: b[i] = 0;\n"
        "  for (i = 0; i < n; i += 2)\n    for (j = 0; j < 2; j++)\n      Q: b[i] += a[i + j];"
    )
    with pytest.raises(Illegal):
        result(tmp_path, wrapped(body), "fuse(P, Q)\nshift(P, i, 1)\n")
    same_output(tmp_path, body, "fuse(P, Q)\n")


def test_splitting_a_loop_of_step_two_loses_nothing(tmp_path: Path) -> None:
    body = "  for (i = 1; i < n; i += 2)\n    L: a[i] += b[i];"
    new = same_output(tmp_path, body, "(X, Y) = isplit(L, {[i] : i < 8}, 0)\n")
    assert new.count("a[i] += b[i];") == 2


def test_a_lower_bound_of_a_strided_loop_stays(tmp_path: Path) -> None:
    new = same_output(tmp_path, "  for (i = 1; i < 42; i += 2)\n    a[i] += 2;")
    assert "for (i = 1; i <= 41; i += 2)" in new


def test_declarations_and_pragmas_compile_in_any_order(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++) {\n    double t;\n    t = a[i] * 2;\n    L: b[i] = t;\n  }\n"
        "  for (j = 0; j < m; j++)\n    for (i = 0; i < n; i++)\n      M: A[j][i] = b[i];"
    )
    new = same_output(tmp_path, body, "parallel(M, j)\n", openmp=True)
    assert "#pragma omp parallel for private(i)\n" in new


def test_what_looks_like_a_call_and_is_a_cast(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    a[i] = (real)(b[i]) + (real)-b[i + 1];\n  }"
    new = same_output(tmp_path, body, head="typedef double real;")
    assert "a[i] = (real)(b[i]) + (real)-b[i + 1];" in new


def test_a_pragma_between_a_loop_and_its_body(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n#pragma unroll\n    for (j = 0; j < 3; j++)\n      a[i] += b[j];"
    assert "#pragma unroll" not in same_output(tmp_path, body)


def test_a_parallel_loop_that_carries_a_dependence_is_refused(tmp_path: Path) -> None:
    body = "  for (i = 1; i < n; i++)\n    L: a[i] = a[i - 1];"
    with pytest.raises(Illegal) as refused:
        result(tmp_path, wrapped(body), "parallel(L, i)", openmp=True)
    assert "marked parallel" in as_text(refused.value.diagnostic)


def test_a_scalar_shared_by_a_parallel_loop_is_refused(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    L: b[i] = t;\n    t = a[i];\n  }"
    with pytest.raises(Illegal):
        result(tmp_path, wrapped(body), "parallel(L, i)", openmp=True)


def test_a_sum_is_not_reordered_unless_that_is_allowed(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    L: b[0] += a[i];"
    with pytest.raises(Illegal) as refused:
        result(tmp_path, wrapped(body), "reverse(L, i)")
    assert "--allow-reassociation" in as_text(refused.value.diagnostic)
    allowed = result(tmp_path, wrapped(body), "reverse(L, i)", allow_reassociation=True)
    assert any("give the same result in any order" in text for text in allowed.regions[0].assumptions)
