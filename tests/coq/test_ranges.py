"""The verified checker on machine integers: values that leave their types, as a text computes them."""

from __future__ import annotations

import shutil

import pytest

from loopwright.prove.certificates import checker
from loopwright.prove.certificates.checker import Checked, NotChecked
from loopwright.prove.certificates.problems import range_problem
from loopwright.prove.reading.loops import text_loops
from loopwright.prove.verdict import CHECKED
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.coq.support import change_status

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
REGION = """
double region(int n, double A[n][n], double B[n][n], double *C, double s, double x) {{
#pragma scop
{}
#pragma endscop
  return s;
}}
"""
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) S: B[i][j] = 2 * A[i][j] + B[i][j];"
UP_TO = "for (int i = 0; i <= n; i++) S: C[i] = 0;"
BY_EIGHT = "for (int i = 0; i < n; i += 8) S: C[i] = 0;"
DOUBLED = "for (int i = 0; 2 * i < n; i++) S: C[i] = 0;"
AHEAD = "for (int i = 0; i < n; i++) S: C[i] = C[i + 9];"
BACK = "for (int i = 0; i < n; i++) S: C[5 - 2 * i] = 0;"
WIDE = "for (long i = 0; i <= n; i++) S: C[4 * i + 9] = 0;"
WIDE_UP_TO = "for (long i = 0; i < n + 1; i++) S: C[i] = 0;"
WIDE_DOWN = "for (long i = 0; i < n; i++) for (long j = 4 * i; j >= 0; j--) S: C[j] = i;"
NARROW_DOWN = "for (long i = 0; i < n; i++) for (int j = 4 * i; j >= 0; j--) S: C[j] = i;"
WIDE_CAST = "for (long i = 0; i < n; i++) S: C[2 * (int)i] = 0;"
BY_NOTHING = "for (int i = 0; i < n; i++) S: C[0 * (8 * i)] = 0;"
TURNED_TWICE = "for (int i = 0; i < n; i++) S: C[-(-(2 * i))] = 0;"
NARROWED = "for (long i = 0; i < n; i++) { int j = i; S: C[2 * j] = 0; }"
SHORT = "for (short i = 0; i < n; i++) S: C[2 * i] = 0;"
UNSIGNED = "for (unsigned i = 1; i < n; i++) S: C[2 * i - 2] = 0;"
BELOW_NOTHING = "for (unsigned i = 0; i < n; i++) S: C[i - 1 + 1] = 0;"
LESS = "for (unsigned i = 0; i < n - 5; i++) S: C[i] = 0;"
NEGATED = "for (unsigned i = 1; i < n; i++) S: C[-(-i)] = 0;"
OF_BOTH_SIGNS = "for (unsigned i = 0; i < n; i++) for (int j = -1; j < 3; j++) S: C[i + 1 + j] = 0;"
UNSIGNED_DOWN = "for (unsigned i = n; i > 0; i--) S: C[i] = 0;"
BYTES = "for (int i = 0; i < n; i++) for (unsigned char j = 0; j <= 254; j++) S: C[j] = i;"
WIDENED = "for (long i = 0; i < (long long)n + 9; i++) S: C[i] = 0;"
WIDENED_LATE = "for (long i = 0; i < (long)(n + 9); i++) S: C[i] = 0;"
OTHER_TYPES = {
    "long i": "64 bits",
    "short": "16 bits",
    "unsigned i": "unsigned 32 bits",
    "char": "unsigned 8 bits",
}


@pytest.mark.parametrize(
    ("text", "most", "fits"),
    [
        (ROWS, 2147483647, True),
        (ROWS, None, True),
        (UP_TO, None, False),
        (AHEAD, 2147483639, True),
        (AHEAD, 2147483640, False),
        (UP_TO, 2147483646, True),
        (UP_TO, 2147483647, False),
        (BY_EIGHT, 2147483640, True),
        (BY_EIGHT, 2147483647, False),
        (DOUBLED, 2147483646, True),
        (DOUBLED, 2147483647, False),
        (BACK, 1073741824, True),
        (BACK, 1073741825, False),
        (BY_NOTHING, 268435456, True),
        (BY_NOTHING, 268435457, False),
        (TURNED_TWICE, 1073741824, True),
        (TURNED_TWICE, 1073741825, False),
        (WIDE, None, True),
        (WIDE_UP_TO, 2147483646, True),
        (WIDE_UP_TO, None, False),
        (WIDE_DOWN, None, True),
        (NARROW_DOWN, None, False),
        (WIDE_CAST, None, False),
        (NARROWED, None, False),
        (SHORT, 32767, True),
        (UNSIGNED, None, True),
        (BELOW_NOTHING, None, False),
        (LESS, None, False),
        (NEGATED, 9, False),
        (OF_BOTH_SIGNS, 9, False),
        (UNSIGNED_DOWN, 9, False),
        (BYTES, 9, True),
        (WIDENED, None, True),
        (WIDENED_LATE, None, False),
    ],
)
def test_values_that_leave_their_types(text: str, most: int | None, fits: bool) -> None:
    """The last value of an iterator, what tests compute, and what is converted, are values too; of casts
    those to 64 bits are understood."""
    known = ["0 < n"] if most is None else [f"0 < n && n <= {most}"]
    (program,) = read_source(Source("region.c", REGION.format(text)), ReadOptions(assume=tuple(known)))
    found = change_status(program, program, text_loops(program), seconds=20, text=program)
    types = " and in ".join(["int", *(kind for word, kind in OTHER_TYPES.items() if word in text)])
    fitting = f"loops and subscripts compute in {types}"
    assert found.status == CHECKED and found.detail.endswith(fitting) == fits


@pytest.mark.parametrize(
    ("text", "most", "old", "new"), [(SHORT, 32767, "int 32767", "int 32768"), (BYTES, 9, "254", "255")]
)
def test_iterators_that_wrap_around(text: str, most: int, old: str, new: str) -> None:
    """The reader refuses them; the checker does by itself."""
    known = ReadOptions(assume=(f"0 < n && n <= {most}",))
    (program,) = read_source(Source("region.c", REGION.format(text)), known)
    problem = range_problem(program).words
    assert problem.count(old) == 1 and isinstance(checker.asked(problem, 20), Checked)
    assert isinstance(checker.asked(problem.replace(old, new), 20), NotChecked)
