"""Traps: what directives at inner loops leave in variables that the threads of an outer one share."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.rewrite.directives import prove_directives
from loopwright.rewrite.request import Request
from tests.traps.support import PROVED, comparison, function

_NEST = """double A[40][40];
void f(int n, double *restrict b) {{
  int i, j;
#pragma omp {outer}
  for (i = 0; i < n; i++) {{
    double r = b[i];
#pragma omp {inner}
    for (j = 0; j < n; j++) A[i][j] = r;
  }}
}}
"""


@pytest.mark.parametrize(
    ("outer", "inner", "is_proved"),
    [
        ("parallel for", "simd", False),
        ("parallel for", "simd lastprivate(j)", False),
        ("parallel for", "simd collapse(1)", False),
        ("parallel for", "parallel for lastprivate(j)", False),
        ("parallel for", "parallel for simd", False),
        ("parallel for", "parallel for simd lastprivate(j)", False),
        ("parallel for", "unroll partial(2)", False),
        ("parallel for simd", "simd", False),
        ("parallel for", "simd private(j)", True),
        ("parallel for", "parallel for", True),
        ("parallel for", "parallel for private(j)", True),
        ("parallel for", "parallel for simd private(j)", True),
        ("parallel for private(j)", "simd", True),
        ("parallel for private(j)", "simd lastprivate(j)", True),
        ("parallel for private(j)", "parallel for lastprivate(j)", True),
        ("parallel for private(j)", "unroll partial(2)", True),
    ],
)
def test_an_iterator_that_is_copied_back_is_one_of_each_thread(
    outer: str, inner: str, is_proved: bool, tmp_path: Path
) -> None:
    """`simd` copies back what its last iteration leaves: threads that share the iterator write it at once."""
    (tmp_path / "t.c").write_text(_NEST.format(outer=outer, inner=inner))
    try:
        prove_directives(Request(str(tmp_path / "t.c")))
    except (BadInput, Illegal, GaveUp) as failure:
        assert not is_proved and "'j' is shared by all threads" in failure.message
    else:
        assert is_proved


_ROW = "for (i = 0; i < n; i++) {{ s = b[i];\n{}for (j = 0; j < n; j++) A[i][j] = s; }}"
_BOUND = "for (i = 0; i < n; i++) {{ s = b[i]; k = i + 4;\n{}for (j = 0; j < k; j++) A[i][j] = s; }}"
_INSIDE = (
    "for (i = 0; i < n; i++) {{ s = b[i];\n{}for (j = 0; j < n; j++) "
    "{{ k = j + 1; for (int l = j; l < k; l++) A[i][l] = s; }} }}"
)


@pytest.mark.parametrize(
    ("loops", "clause", "is_proved"),
    [
        (_ROW, "parallel for private(i)", False),
        (_ROW, "simd private(i)", False),
        (_ROW, "parallel for private(i, j)", False),
        (_ROW, "parallel for private(j)", True),
        (_ROW, "parallel for private(k)", True),
        (_BOUND, "parallel for private(k)", False),
        (_BOUND, "simd private(k)", False),
        (_BOUND, "parallel for private(j)", True),
        (_INSIDE, "parallel for private(k)", True),
        (_INSIDE, "parallel for", False),
        (_INSIDE, "simd private(k)", True),
        (_INSIDE, "simd", False),
    ],
)
def test_a_private_copy_has_no_value_before_it_is_set(
    loops: str, clause: str, is_proved: bool, tmp_path: Path
) -> None:
    """Also of the iterator of an outer loop, or of a bound that is computed before the directive."""
    old, new = function(loops.format("")), function(loops.format(f"#pragma omp {clause}\n"))
    assert (comparison(old, new, tmp_path) == PROVED) == is_proved
