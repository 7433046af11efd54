"""Traps: what directives at inner loops leave in variables that the threads of an outer one share."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.rewrite.directives import prove_directives
from loopwright.rewrite.request import Request

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
