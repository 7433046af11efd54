"""Nests checked as wholes: when they are, and that the verdict is that of the single checks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.check.algorithms import fronts
from loopwright.check.original.writers import writers
from loopwright.check.program.segment import Input, parse_input
from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check_text, delayed, prepared, run_built
from loopwright.errors import GaveUp
from loopwright.source import Source
from tests.check.handwritten import PARAMETRIC, RECURSIVE, Version
from tests.check.support import NAMES, QUICK, kernel, quick, rewritten, shipped_script, small
from tests.check.test_bad_input import text
from tests.conftest import share

PARTS = ("adi", "correlation", "durbin")
"""Kernels some operations of which are in no nest that is checked as a whole."""
TILED = [version for version in (*PARAMETRIC, *RECURSIVE) if version.kernel != "seidel-2d"]


def _input(name: str, program: str) -> Input:
    return parse_input(Source(str(kernel(name)), program), kernel(name))


def _without_single_checks(header: str) -> str:
    """The header in which a nest that is not right as a whole ends the program."""
    return re.sub(r"(?m)^(#define LW_FRONT_\d+ if \(.*?\)) \{ for .*\}$", r"\1 __builtin_trap();", header)


def _clean_in_bulk(name: str, program: str) -> None:
    """All operations are in nests that are checked as wholes, and found right as such."""
    options = quick(small(name, first=9))
    job = prepared(_input(name, program), options)
    built = delayed(job, writers(job.spec), options)
    assert built is not None
    assert "lw_site_" not in built.program
    header = _without_single_checks(built.header)
    assert header.count("__builtin_trap") == built.program.count("LW_FRONT_") > 0
    assert run_built(job, replace(built, header=header)).lines[-1:] == ("clean",)


@pytest.mark.parametrize("name", [name for name in share(NAMES, 3, 0) if name not in PARTS])
def test_kernels_are_checked_as_wholes(name: str) -> None:
    _clean_in_bulk(name, kernel(name).read_text())


@pytest.mark.parametrize("version", TILED, ids=[f"{one.kernel}, {one.title}" for one in TILED])
def test_tiles_of_any_size_are_checked_as_wholes(version: Version) -> None:
    """The bounds `it * T` are no affine expressions; inside a tile they do not change."""
    _clean_in_bulk(version.kernel, version.text)


TILE = """for (t = 1; t <= TSTEPS; t++)
  for (long c1 = 0; c1 <= (N + 2 * TSTEPS) / 32 + 1; c1++)
    for (long c2 = 0; c2 <= (N + 2 * TSTEPS) / 32 + 1; c2++)
      for (long c3 = 0; c3 <= (N + 2 * TSTEPS) / 64 + 1; c3++) {
  for (i = most(1, 32 * c1 - 2 * t); i <= least(N - 2, 32 * c1 - 2 * t + 31); i++)
    for (j = most(1, 32 * c2 - 2 * t); j <= least(N - 2, 32 * c2 - 2 * t + 31); j++)
      for (k = most(1, 64 * c3 - 2 * t); k <= least(N - 2, 64 * c3 - 2 * t + 63); k++)
        @0
  for (i = most(1, 32 * c1 - 2 * t - 1); i <= least(N - 2, 32 * c1 - 2 * t + 30); i++)
    for (j = most(1, 32 * c2 - 2 * t - 1); j <= least(N - 2, 32 * c2 - 2 * t + 30); j++)
      for (k = most(1, 64 * c3 - 2 * t - 1); k <= least(N - 2, 64 * c3 - 2 * t + 62); k++)
        @1
      }
"""


def test_the_nests_of_a_tile_are_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the fewest steps that a nest gets, as those get it that stand inside of many loops."""
    monkeypatch.setattr(fronts, "EFFORT", fronts.LEAST_EFFORT)
    parts = re.findall(r"Loop[BA]: (.*?;)", kernel("heat-3d").read_text(), re.DOTALL)
    region = TILE.replace("@0", parts[0]).replace("@1", parts[1])
    _clean_in_bulk("heat-3d", Version("heat-3d", "tiled", region).text)


@pytest.mark.parametrize("name", ["gemver", "nussinov"])
def test_scripts_that_unroll_are_checked_as_wholes(name: str) -> None:
    """The sites of a nest share what no subscript shows, which keeps what isl has to do small."""
    script = shipped_script(name)
    assert script is not None
    _clean_in_bulk(name, rewritten(name, script))


PREFIX = "for (i = 1; i < N; i++) A[i] = A[i - 1] + B[i];"
EVEN = "for (i = 2; i < N; i += 2) A[i] = A[i - 1] + B[i];"
TWICE = "for (int t = 0; t < 3; t++) for (i = 1; i < N - 1; i++) A[i] = A[i - 1] + A[i + 1];"
UNROLLED = (
    "for (int t = 0; t < 2; t += 2) { for (i = 1; i < N - 1; i++) A[i] = A[i - 1] + A[i + 1];"
    " for (i = 1; i < N - 1; i++) A[i] = A[i - 1] + A[i + 1]; }"
    " A[1] = A[1 - 1] + A[1 + 1]; A[2] = A[2 - 1] + A[2 + 1];"
    " for (i = 3; i < N - 1; i++) A[i] = A[i - 1] + A[i + 1];"
)
SKEWED = (
    "for (int d = 1; d < N + 4; d++) for (int t = 0; t < 3; t++)"
    " if (d - 2 * t >= 1 && d - 2 * t < N - 1) A[d - 2 * t] = A[d - 2 * t - 1] + A[d - 2 * t + 1];"
)
JACOBI = (
    "for (int t = 0; t < 3; t++) { for (i = 1; i < N - 1; i++) A[i] = B[i - 1] + B[i + 1];"
    " for (i = 1; i < N - 1; i++) B[i] = A[i]; }"
)
FUSED = "for (int t = 0; t < 3; t++) for (i = 1; i < N - 1; i++) { A[i] = B[i - 1] + B[i + 1]; B[i] = A[i]; }"


@pytest.mark.parametrize(
    ("program", "spec", "is_valid"),
    [
        (PREFIX.replace("i = 1; i < N; i++", "i = N - 1; i > 0; i--"), PREFIX, False),
        (PREFIX.replace("i++", "i += 2") + EVEN, PREFIX, False),
        (PREFIX + " for (i = 3; i < N; i++) A[i] = A[i - 1] + B[i];", PREFIX, False),
        (PREFIX.replace("i < N", "i < N - 1"), PREFIX, False),
        (PREFIX.replace("B[i]", "B[i - 1]"), PREFIX, False),
        (TWICE, TWICE, True),
        (TWICE.replace("t < 3", "t < 2"), TWICE, False),
        (TWICE.replace("t < 3", "t < 4"), TWICE, False),
        (TWICE.replace("int t = 0; t < 3; t++", "int t = 5; t > 2; t--"), TWICE, True),
        (TWICE.replace("A[i - 1] + A[i + 1]", "A[i + 1] + A[i - 1]"), TWICE, False),
        (SKEWED, TWICE, True),
        (SKEWED.replace("int d = 1", "int d = 3"), TWICE, False),
        (SKEWED.replace("2 * t", "t"), TWICE, True),
        (SKEWED.replace("2 * t", "t").replace("t = 0; t < 3; t++", "t = 2; t >= 0; t--"), TWICE, False),
        (UNROLLED, TWICE, True),
        (UNROLLED.replace("t < 2", "t < 4"), TWICE, False),
        (UNROLLED.replace("A[2 - 1]", "A[2 + 1]"), TWICE, False),
        (JACOBI, JACOBI, True),
        (JACOBI.replace(" for (i = 1; i < N - 1; i++) B", " for (i = N - 2; i; i--) B"), JACOBI, True),
        (JACOBI.replace("B[i] = A[i]", "B[i] = A[N - 1 - i]"), JACOBI, False),
        (FUSED, JACOBI, False),
    ],
)  # fmt: skip
def test_orders_inside_a_nest(program: str, spec: str, is_valid: bool) -> None:
    """Dependences between operations of one nest, and repeated writes of its cells."""
    _same_verdict(text(program, spec), is_valid)


COPY = "for (i = 0; i < N; i++) A[i] = B[i];"
DOWN = "for (unsigned u = N - 1; u < N; u--) A[u] = B[u];"
TILES = "int T = 3; for (int t = 0; t < N; t += T) for (i = t; i < (t + T < N ? t + T : N); i++) A[i] = B[i];"


@pytest.mark.parametrize(
    ("program", "before", "is_valid"),
    [
        (DOWN, "", True),
        (DOWN.replace("u < N", "u >= 0 && u < N"), "", True),
        ("for (unsigned char c = 250; c < 254; c++) A[(c + 6) % 256 - 0] = B[c - 250];", "", False),
        ("for (unsigned char c = 248; c; c++) A[c - 248] = B[c - 248];", "", True),
        ("unsigned n = 3; for (i = -1; i < n; i++) A[i + 1] = B[i + 1];", "", False),
        ("int n = N; for (i = 0; i < n; i++) { A[i] = B[i]; n--; }", "", False),
        ("for (i = 0; i < 2 * N; i++) { if (i >= N) break; A[i] = B[i]; }", "", True),
        ("for (i = 0; i < N; i++) { int j = N - 1 - i; A[j] = B[j]; }", "", True),
        ("for (int k = 0; k < N; k++) { int i = 3; A[i] = B[i]; }", "", False),
        ("{ int size = 4; for (i = 0; i < size; i++) A[i] = B[i]; }", "", False),
        ("i = 0; goto in; for (i = 1; i < N; i++) { in: A[i] = B[i]; }", "", True),
        ("for (i = 0; i < N; i++) { A[index_of[i]] = B[index_of[i]]; }", "", True),
        ("for (i = 0; i < index_of[0] + 1; i++) A[i] = B[i];", "", True),
        (TILES, "", True),
        ("int T = 0; for (i = 0; i < 0; i++) for (int j = N / T; j < N; j++) A[j] = B[j];", "", False),
        ("unsigned n = 1u << 30; for (i = 0; i < N; i++) A[i + 4 * n] = B[i];", "", True),
    ],
)  # fmt: skip
def test_c_that_is_not_what_it_looks_like(program: str, before: str, is_valid: bool) -> None:
    """What the C reader would take on trust is not trusted."""
    _same_verdict(text(program, COPY, before=before), is_valid)


@pytest.mark.parametrize(
    ("definition", "is_valid"),
    [
        ("#define min(a, b) ((a) < (b) ? (a) : (b))", True),
        ("#define min(a, b) ((a) > (b) ? (a) : (b))", False),
        ("static int min(int a, int b) { return a < b ? a : b; }", True),
        ("static int min(int a, int b) { static int n; return ++n; }", False),
    ],
)
def test_helpers_are_not_recognised_by_their_names(definition: str, is_valid: bool) -> None:
    spec = "for (i = 0; i < 4; i++) A[i] = B[i]; for (i = 4; i < N; i++) A[i] = C[i];"
    program = "for (i = 0; i < min(N, 4); i++) A[i] = B[i]; for (i = 4; i < N; i++) A[i] = C[i];"
    _same_verdict(text(program, spec, functions=definition), is_valid)


@pytest.mark.parametrize(
    ("macro", "jump"),
    [("", "goto in;"), ("", "go\\\nto in;"), ("#define JUMP(place) go ## to place", "JUMP(in);")],
)
def test_a_jump_past_the_check_of_a_nest(macro: str, jump: str) -> None:
    """From after the nest, where a macro or a cut word hides it: operations run once too often."""
    program = f"for (i = 0; i < N; i++) {{ in: A[i] = B[i]; }} if (!k++) {{ i = 2; {jump} }}"
    _same_verdict(text(program, COPY, functions=macro, before="int k = 0;"), False)


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("#define STOP A[0] = 7", "STOP;"),
        ("#define LEAVE goto in;", "if (!i) { in: i = 2; } if (N < 0) { LEAVE }"),
        ("#define STOP SET(A)\n#define SET(a) a[1] ++", "STOP;"),
        ("#define TOUCH A[0] = 7; int", "{ TOUCH x; }"),
        ("static void touch(double *p) { *p = 7; }\n#define STOP touch(A)", "STOP;"),
        ("#include <math.h>\n#define sqrt(x) (A[0] = 7, (x))", "sqrt(2.0);"),
    ],
)
def test_what_macros_of_headers_do_is_not_checked(head: str, after: str, tmp_path: Path) -> None:
    header = tmp_path / "macros.h"
    header.write_text(f"{head}\n#include <stdio.h>\n#define NONE\n#define TOP (N + sizeof(int))\n")
    include = f'#include "{header}"'
    harmless = text(f"{COPY} NONE; (void)(TOP + RAND_MAX); (void)stderr;", COPY, functions=include)
    assert check_text(harmless, options=CheckOptions(tools=QUICK)).answer is Answer.VALID
    with pytest.raises(GaveUp, match="macro of a header"):
        check_text(text(f"{COPY} {after}", COPY, functions=include), options=CheckOptions(tools=QUICK))


def test_a_bound_that_the_nest_itself_changes() -> None:
    """`n * n` is not a number that stays the same while n is counted."""
    spec = "for (i = 0; i < 4; i++) { n = n + 1; A[i] = B[i]; }"
    program = "for (i = 0; i < 4; i++) { n = n + 1; if (n * n > 3) A[i] = B[i]; }"
    _same_verdict(text(program, spec, before="int n = 0;"), False)
    report = check_text(text(program.replace("> 3", "> 0"), spec, before="int n = 0;"))
    assert report.answer is Answer.GAVE_UP, "another first n would leave operations out"


def test_assumptions_of_the_author_are_not_believed() -> None:
    program = "\n#pragma loopwright assume n == 8\nfor (i = 0; i < n; i++) A[i] = B[i];"
    _same_verdict(text(program, COPY, before="int n = argc + 4;"), False)


def _same_verdict(source: str, is_valid: bool) -> None:
    for one_by_one in (True, False):
        report = check_text(source, options=CheckOptions(tools=QUICK, one_by_one=one_by_one))
        assert (report.answer is Answer.VALID) == is_valid, (one_by_one, report)
        assert report.answer is not Answer.GAVE_UP


def test_nothing_stands_between_loops_that_a_directive_collapses() -> None:
    program = """#define N 9
double A[N][N][N], B[N][N][N];
int main(void) {
  /*@ polycheck start spec
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) A[i][j][k] = B[i][j][k];
  */
#pragma omp parallel for collapse(2)
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) A[i][j][k] = B[i][j][k];
  /*@ polycheck end */
}
"""
    assert check_text(program, options=CheckOptions(tools=QUICK)).answer is Answer.VALID
