"""OpenMP: what lanes write, and macros in clauses."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Refuted, Undecided
from tests.traps.support import PROVED, Trap, answer, comparison, function

_COPY = "for (i = 0; i < n; i++) a[i] = b[i];"
_STORES = ["s = 1;", "s = b[i];", "a[0] = 1;", "a[i / 2] = b[i];"]


@pytest.mark.parametrize("store", _STORES)
@pytest.mark.parametrize(
    ("pragma", "is_refuted"), [("GCC ivdep", False), ("omp simd", False), ("omp parallel for", True)]
)
def test_lanes_that_write_one_cell(pragma: str, store: str, is_refuted: bool, tmp_path: Path) -> None:
    """No run shows a difference where lanes write one after the other; threads race."""
    loop = f"for (i = 0; i < n; i++) {store}"
    (tmp_path / "old.c").write_text(function(loop))
    (tmp_path / "new.c").write_text(function(f"#pragma {pragma}\n{loop}"))
    verdict = compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict
    assert isinstance(verdict, Refuted if is_refuted else Undecided)


_MACROS = [
    ("schedule(static, TWO)", True),
    ("num_threads(TWO)", True),
    ("collapse(ONE)", True),
    ("schedule(static, OCTAL)", False),
    ("schedule(static, LATE)", False),
    ("private(NAME)", False),
]


@pytest.mark.parametrize(("clause", "is_number"), _MACROS)
def test_a_macro_in_a_clause_is_the_number_it_is(clause: str, is_number: bool, tmp_path: Path) -> None:
    head = "#define TWO 2\n#define NAME t\n#define ONE (1)\n#define OCTAL 010\n"
    old, new = (
        function(f"{line}{_COPY}", head=head, after="\n#define LATE 4\n")
        for line in ("", f"#pragma omp parallel for {clause}\n")
    )
    assert (comparison(old, new, tmp_path) == PROVED) == is_number


_LABELLED = ["omp parallel for", "omp simd", "omp for", "GCC ivdep", "GCC unroll 2"]


@pytest.mark.parametrize("pragma", _LABELLED)
def test_a_pragma_before_a_label_is_at_no_loop(pragma: str, tmp_path: Path) -> None:
    """No compiler accepts it: what it would mean is not to be guessed, in the old text or the new one."""
    for label in ("L: ", ""):
        trap = Trap("", f"#pragma {pragma}\n{label}{_COPY}")
        assert (answer(trap, tmp_path) == PROVED) == (not label)


_COMBINED = [
    ("unsigned v", "+", "v += u[i];", True),
    ("unsigned v", "+", "v += q[i] * 2;", True),
    ("unsigned v", "*", "v *= u[i];", True),
    ("unsigned v", "+", "if (b[i] > 0) v++;", True),
    ("int v", "max", "if (q[i] > v) v = q[i];", True),
    ("int v", "|", "v |= q[i];", True),
    ("int v", "+", "v += q[i];", False),
    ("double v", "+", "v += b[i];", False),
    ("unsigned v", "+", "v += b[i];", False),
    ("unsigned v", "*", "v += u[i];", False),
    ("int v", "min", "if (q[i] > v) v = q[i];", False),
]


@pytest.mark.parametrize(("declared", "operator", "step", "is_same"), _COMBINED)
def test_reductions_that_need_no_permission(
    declared: str, operator: str, step: str, is_same: bool, tmp_path: Path
) -> None:
    """Those of integers that give the same bits in any order; partial sums of ints may overflow."""
    head = f"static {declared}; int q[100]; unsigned u[100]; int w(void) {{ return v; }}"
    loop = f"for (i = 0; i < n; i++) {step}"
    clause = f"#pragma omp parallel for reduction({operator}:v)"
    old, new = function(loop, head=head), function(f"{clause}\n{loop}", head=head)
    assert (comparison(old, new, tmp_path) == PROVED) == is_same


def test_what_a_clause_keeps_from_the_old_text_is_no_difference(tmp_path: Path) -> None:
    """The copies of `s` are private, and `s` keeps the value that it had."""
    pragma = "#pragma omp parallel for private(s)\n"
    old = function(f"{pragma}for (i = 0; i < n; i++) {{ s = b[i]; a[i] = s * s; }}")
    new = function("for (i = 0; i < n; i++) { double r = b[i]; a[i] = r * r; }")
    assert comparison(old, new, tmp_path).startswith("what the pragmas of")


_BEFORE = [
    ('_Pragma("GCC ivdep")', ""),
    ("MACRO", '#define MACRO _Pragma("GCC ivdep")\n'),
    ("#pragma GCC ivdep\n#pragma assume n > 1", ""),
    ("#pragma omp simd\n#pragma assume n > 1", ""),
]


@pytest.mark.parametrize(("line", "head"), _BEFORE)
def test_a_pragma_before_a_region_is_about_the_loop_that_it_had(line: str, head: str, tmp_path: Path) -> None:
    """Interchanged, the loop after it is another one, whose iterations depend on each other."""
    loops = "for (i = 0; i < n; i++) for (j = 1; j < n; j++) L: A[i][j] = A[i][j - 1];"
    for before, expected in ((line, False), ("", True), ("#pragma assume n > 1", True)):
        trap = Trap("", loops, head=head, setup=f"\n{before}", script="interchange(L, i, j)")
        assert (answer(trap, tmp_path) == PROVED) == expected


@pytest.mark.parametrize(
    ("body", "is_larger"),
    [("((a) > (b) ? (a) : (b))", True), ("a > b ? a : b", False), ("(a > (b) ? a : (b))", False)],
)
def test_a_macro_whose_arguments_are_torn_apart(body: str, is_larger: bool, tmp_path: Path) -> None:
    head = f"#define max(a, b) {body}\nint q[100];"
    loop = "for (i = 0; i < n; i++) L: k = max(k, q[i] ^ 1);"
    trap = Trap("", loop, head, "k = 9;", "s = k;", script="reverse(L, i)")
    assert (answer(trap, tmp_path) == PROVED) == is_larger


@pytest.mark.parametrize("name", ["most", "other"])
def test_a_reduction_that_the_file_declares_has_its_name(name: str, tmp_path: Path) -> None:
    declared = "omp_out.v = omp_in.v > omp_out.v ? omp_in.v : omp_out.v"
    head = f"struct P {{ double v; }} p;\n#pragma omp declare reduction(most : struct P : {declared})"
    body = f"#pragma omp parallel for reduction({name} : p)\nfor (i = 0; i < n; i++) if (x[i] > p.v) p.v = x[i];"
    found = answer(Trap("", body, head), tmp_path)
    assert (found == PROVED) if name == "most" else ("does not accept a directive" in found)
