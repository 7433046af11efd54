"""Programs with vectors against programs without."""

from __future__ import annotations

from pathlib import Path
from platform import machine
from subprocess import run

import pytest

from loopwright.c.reworded.vector_lanes import with_lanes
from loopwright.c.typed.options import CompilerOptions
from loopwright.prove.comparison.files import CONTRACTED, FUSED, IN_STEP, compare_files
from loopwright.prove.comparison.texts import PLAINLY, Comparison, ComparisonOptions
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.paired_wordings import in_lanes
from loopwright.source import Source

OLD = """double x[900], y[900];
void f(int n, double a) {
  for (int i = 0; i < n; i++)
    y[i] = y[i] + a * x[i];
}
"""
NEW = """#include <immintrin.h>
double x[900], y[900];
void f(int n, double a) {
  int i = 0;
  __m128d va = _mm_set1_pd(a);
  for (; i + 2 <= n; i += 2) {
    __m128d vx = _mm_loadu_pd(x + i), vy = _mm_loadu_pd(&y[i]);
    vy = _mm_add_pd(vy, _mm_mul_pd(va, vx));
    _mm_storeu_pd(y + i, vy);
  }
  for (; i < n; i++)
    y[i] = y[i] + a * x[i];
}
"""
FUSED_NEW = NEW.replace("_mm_add_pd(vy, _mm_mul_pd(va, vx))", "_mm_fmadd_pd(va, vx, vy)")
ALLOWED = ComparisonOptions(allow_contraction=True)
X86 = "instructions of x86"
needs_x86 = pytest.mark.skipif(machine() != "x86_64", reason=X86)


def compared(new: str, folder: Path, options: ComparisonOptions = PLAINLY) -> Comparison:
    if "immintrin.h" in new and machine() != "x86_64":
        pytest.skip(X86)
    files = folder / "old.c", folder / "new.c"
    for file, text in zip(files, (OLD, new), strict=True):
        file.write_text(text)
    return compare_files(*files, options)


def test_vectors_that_do_the_same(tmp_path: Path) -> None:
    found = compared(NEW, tmp_path)
    assert found.proved and any("lane by lane" in one for one in found.trusted)


@pytest.mark.parametrize(
    ("was", "now"), [("i += 2)", "i += 1)"), ("_mm_loadu_pd(x + i)", "_mm_setr_pd(x[i + 1], x[i])")]
)
def test_vectors_that_do_something_else(was: str, now: str, tmp_path: Path) -> None:
    assert was in NEW
    verdict = compared(NEW.replace(was, now), tmp_path).verdict
    assert isinstance(verdict, Refuted) and "y[" in verdict.witness


def test_a_fused_product_and_sum_is_rounded_once(tmp_path: Path) -> None:
    verdict = compared(FUSED_NEW, tmp_path).verdict
    assert isinstance(verdict, Undecided) and FUSED in verdict.reason
    found = compared(FUSED_NEW, tmp_path, ALLOWED)
    assert found.proved and found.contract == CONTRACTED


SCALAR = """#include <math.h>
double x[900], y[900];
void f(int n, double a) {{
  for (int i = 0; i < n; i++)
    y[i] = {};
}}
"""


@pytest.mark.parametrize("value", ["fma(a, x[i], y[i])", "__builtin_fma((x[i]),\n a, y[i])"])
def test_a_call_of_fma_is_rounded_once(value: str, tmp_path: Path) -> None:
    verdict = compared(SCALAR.format(value), tmp_path).verdict
    assert isinstance(verdict, Undecided) and FUSED in verdict.reason
    found = compared(SCALAR.format(value), tmp_path, ALLOWED)
    assert found.proved and found.contract == CONTRACTED
    assert not any("lane by lane" in one for one in found.trusted)


@pytest.mark.parametrize(
    "value",
    ["fma(a, y[i], x[i])", "fma(-a, x[i], y[i])", "fmaf(a, x[i], y[i])", "fma(a, x[i], fma(a, x[i], y[i]))"],
)
def test_a_call_of_fma_that_computes_something_else(value: str, tmp_path: Path) -> None:
    assert isinstance(compared(SCALAR.format(value), tmp_path, ALLOWED).verdict, Refuted)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("void", "#define fma(x, y, z) ((x) + (y) + (z))\nvoid"),
        ("void", "static double fma(double x, double y, double z) { return x; }\nvoid"),
        ("#include <math.h>", "double fma(double, double, double);"),
    ],
)
def test_what_is_called_fma_may_be_another_function(was: str, now: str, tmp_path: Path) -> None:
    new = SCALAR.format("fma(a, x[i], y[i])").replace(was, now)
    assert not compared(new, tmp_path, ALLOWED).proved


def test_options_that_change_the_words(tmp_path: Path) -> None:
    """An option may make one function of another, or bring a header of its own."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "immintrin.h").write_text("typedef double __m128d;\n")
    source = Source("new.c", NEW)
    assert in_lanes(source, CompilerOptions(("-DK=4", "-I", str(tmp_path)))).reason == ""
    for words in (("-D_mm_add_pd=_mm_sub_pd",), ("-I", str(tmp_path / "own")), ("-include", "more.h")):
        found = in_lanes(source, CompilerOptions(words))
        assert found.reason and found.source == source


@pytest.mark.parametrize("name", ["CPATH", "C_INCLUDE_PATH"])
def test_the_environment_may_have_other_headers(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source("n.c", NEW)
    monkeypatch.setenv(name, str(tmp_path))
    assert in_lanes(source, CompilerOptions()).reason == ""
    (tmp_path / "immintrin.h").write_text("")
    assert name in in_lanes(source, CompilerOptions()).reason


@needs_x86
@pytest.mark.parametrize(("where", "is_proved"), [("x + i", True), ("x + (i - 4u) + 4", False)])
def test_sums_of_pointers_do_not_wrap_around(where: str, is_proved: bool, tmp_path: Path) -> None:
    head = "double x[900], y[900];\nvoid f(unsigned n) {\n  for (unsigned i = 0; i + 2 <= n; i += 2) {\n"
    old, new = (tmp_path / name for name in ("old.c", "new.c"))
    lanes = "double v_lane0 = x[i], v_lane1 = x[i + 1]; y[i] = v_lane0; y[i + 1] = v_lane1;"
    old.write_text(f"{head}    {lanes}\n  }}\n}}\n")
    vectors = f"__m128d v = _mm_loadu_pd({where}); _mm_storeu_pd(y + i, v);"
    new.write_text(f"#include <immintrin.h>\n{head}    {vectors}\n  }}\n}}\n")
    assert compare_files(old, new, PLAINLY).proved is is_proved


WORDS = {
    "a header makes one function of another": ("#define _mm_add_pd _mm_sub_pd", "", ""),
    "a header makes a square root": ("#define sqrt my", "_mm_sqrt_pd(vx)", ""),
    "a header has an operand of two": ("#define K 1 + 1", "_mm_loadu_pd(x + i + 2 - K)", ""),
    "an option says it of a call": ("", "", "-D_mm_mul_pd(a, b)=(a)"),
    "a header has a word that is not used": ("#define UNUSED 1 + 1\n#define restrict", "", None),
}


@pytest.mark.parametrize("name", WORDS)
def test_headers_and_options_that_change_the_words(name: str, tmp_path: Path) -> None:
    header, value, option = WORDS[name]
    (tmp_path / "own.h").write_text(f"{header}\n")
    text = NEW.replace("double x", "#include <own.h>\ndouble x", 1)
    text = text.replace("vy = _mm_add_pd", f"vx = {value}; vy = _mm_add_pd" if value else "vy = _mm_add_pd")
    options = ("-I", str(tmp_path), *([option] if option else []))
    found = in_lanes(Source("new.c", text), CompilerOptions(options))
    assert bool(found.reason) is (option is not None), found.reason
    assert ("lane" in found.source.text) is (option is None)


def test_an_attribute_that_is_a_macro(tmp_path: Path) -> None:
    """`aligned(8)` of the text may ask for more."""
    head = "#define aligned(x) aligned(64)\ntypedef double v2 __attribute__((vector_size(16), aligned(8)));\n"
    body = "void f(int n) { for (int i = 0; i < n; i += 2) *(v2 *)(y + i) = *(v2 *)(x + i); }\n"
    assert in_lanes(Source("n.c", f"{head}double x[9], y[9];\n{body}"), CompilerOptions()).reason


MOVES = {
    "double": (
        *("_mm256_unpacklo_pd(a, b)", "_mm256_unpackhi_pd(a, b)", "_mm256_hadd_pd(a, b)"),
        *("_mm256_shuffle_pd(a, b, 5)", "_mm256_shuffle_pd(a, b, 10)", "_mm256_permute_pd(a, 6)"),
        *("_mm256_permute2f128_pd(a, b, 0x20)", "_mm256_permute2f128_pd(a, b, 0x13)"),
    ),
    "float": (
        *("_mm_unpacklo_ps(a, b)", "_mm_unpackhi_ps(a, b)", "_mm_hadd_ps(a, b)", "_mm_movehl_ps(a, b)"),
        *("_mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 2, 0))", "_mm_permute_ps(a, 0x1b)", "_mm_movelh_ps(a, b)"),
        *("_mm_movehdup_ps(a)", "_mm_moveldup_ps(a)", "_mm_add_ss(a, b)", "_mm_max_ss(a, b)"),
    ),
}


@needs_x86
def test_lanes_move_as_the_compiler_moves_them(tmp_path: Path) -> None:
    text, calls = "#include <immintrin.h>\n", ""
    for element, moves in MOVES.items():
        bits, kind, name = ("256", "pd", "__m256d") if element == "double" else ("", "ps", "__m128")
        load, store = f"_mm{bits}_loadu_{kind}", f"_mm{bits}_storeu_{kind}"
        for number, move in enumerate(moves):
            text += f"void {element[0]}{number}(const {element} *x, const {element} *y, {element} *z) {{\n"
            text += f"  {name} a = {load}(x), b = {load}(y);\n  a = {move};\n  {store}(z, a);\n}}\n"
            calls += f"  {element[0]}{number}({element[0]}x, {element[0]}y, {element[0]}z);\n"
            calls += f'  for (int i = 0; i < 4; i++) printf("%g ", {element[0]}z[i]);\n'
    values = "= {1.5, -2, 3, 4.25}, %sy[4] = {11, 12, -13, 2}, %sz[4];\n"
    start = f"double dx[4] {values}float fx[4] {values}" % (*"dd", *"ff")
    main = f"#include <stdio.h>\nint main(void) {{\n{start}{calls}  return 0;\n}}\n"
    shown = []
    for name, source in (("vectors", text), ("lanes", with_lanes(Source("m.c", text)).source.text)):
        (tmp_path / f"{name}.c").write_text(source + main)
        run(["cc", "-mavx", "-w", "-o", tmp_path / name, tmp_path / f"{name}.c"], check=True)
        shown.append(run([tmp_path / name], check=True, capture_output=True, text=True).stdout)
    assert "immintrin" not in source and shown[0] == shown[1]


OF_ARM = """#include <arm_neon.h>
double x[900], y[900];
void f(int n, double a) {
  int i = 0;
  float64x2_t va = vdupq_n_f64(a);
  for (; i + 2 <= n; i += 2)
    vst1q_f64(&y[i], SUM);
  for (; i < n; i++)
    y[i] = y[i] + a * x[i];
}
"""
SUMS_OF_ARM = [
    ("vaddq_f64(vld1q_f64(y + i), vmulq_f64(va, vld1q_f64(x + i)))", PLAINLY, True),
    ("vaddq_f64(vld1q_f64(y + i), vmulq_f64(va, vld1q_f64(x + i + 1)))", PLAINLY, False),
    ("vfmaq_f64(vld1q_f64(y + i), va, vld1q_f64(x + i))", ALLOWED, True),
    ("vfmaq_f64(va, vld1q_f64(y + i), vld1q_f64(x + i))", ALLOWED, False),
    ("vfmsq_f64(vld1q_f64(y + i), va, vld1q_f64(x + i))", ALLOWED, False),
]


@pytest.mark.skipif(machine() != "aarch64", reason="instructions of ARM")
@pytest.mark.parametrize(("text", "options", "is_proved"), SUMS_OF_ARM)
def test_vectors_of_arm(tmp_path: Path, text: str, options: ComparisonOptions, is_proved: bool) -> None:
    found = compared(OF_ARM.replace("SUM", text), tmp_path, options).verdict
    assert isinstance(found, Proved if is_proved else Refuted)


ALIGNED_NEW = NEW.replace("loadu", "load").replace("storeu", "store")
ALIGNED = {
    "the loop continues": ("", "", True),
    "the loop begins": ("int i = 0;\n", "int i;\n", True),
    "a distance": ("x + i", "x + i + 2 * (n - n)", True),
    "single steps": ("i += 2)", "i += 1)", False),
    "another beginning": ("int i = 0;", "int i = 1;", False),
    "an odd element": ("x + i", "x + i + 1", False),
    "an odd product": ("x + i", "x + 3 * i + n", False),
    "a beginning that changes": ("int i = 0;\n", "int i = 0;\n  if (n > 3) i = 1;\n", False),
    "a step inside": ("    vy =", "    if (n == 7) i++;\n    vy =", False),
    "a pointer into the array": ("int i = 0;\n", "int i = 0;\n  double *x = y + 1;\n", False),
    "a pointer of the file": ("double x[900]", "double *x", True),
    "a pointer that moves": ("int i = 0;\n", "int i = 0;\n  x++;\n", False),
    "a macro": ("x[900], y[900];\n", "x[900], y[900];\n#define i i\n", False),
}


@pytest.mark.parametrize("name", ALIGNED)
def test_addresses_that_have_to_be_aligned(name: str, tmp_path: Path) -> None:
    was, now, is_known = ALIGNED[name]
    new = ALIGNED_NEW.replace(was, now, 1)
    if name == "the loop begins":
        new = new.replace("for (; i + 2", "for (i = 0; i + 2", 1)
    lanes = with_lanes(Source("new.c", new))
    assert (lanes.needs_aligned, lanes.reason == "") == (is_known, is_known)
    assert is_known or "must be aligned" in lanes.reason


def test_that_arrays_begin_at_such_addresses_is_told(tmp_path: Path) -> None:
    found = compared(ALIGNED_NEW, tmp_path)
    assert found.proved and sum(IN_STEP in one for one in found.trusted) == 1
    assert isinstance(compared(ALIGNED_NEW.replace("x + i", "x + i + 2"), tmp_path).verdict, Refuted)


ROWS = """#include <immintrin.h>
#define N 64
void f(double C[N][N], double A[N][N], double B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; BODY }
}
"""
ROWS_OLD = ROWS.replace("BODY", "j++) { C[i][j] = C[i][j] + A[i][j] * B[i][j];")
ROWS_NEW = ROWS.replace(
    "BODY",
    "j += 4) { __m256d c = _mm256_mul_pd(_mm256_load_pd(&A[i][j]), _mm256_load_pd(B[i] + j));"
    " _mm256_store_pd(&C[i][j], _mm256_add_pd(_mm256_load_pd(&C[i][j]), c));",
)


def _rows(old: str, new: str, folder: Path) -> Comparison:
    for name, text in (("old.c", old), ("new.c", new)):
        (folder / name).write_text(text)
    return compare_files(folder / "old.c", folder / "new.c")


@needs_x86
def test_rows_of_a_multiple_are_aligned(tmp_path: Path) -> None:
    """OLD may include the header for vectors and have none."""
    found = _rows(ROWS_OLD, ROWS_NEW, tmp_path)
    assert found.proved and sum(IN_STEP in one for one in found.trusted) == 1
    wrong = _rows(ROWS_OLD, ROWS_NEW.replace("&A[i][j]", "&A[i][0]"), tmp_path)
    assert isinstance(wrong.verdict, Refuted)


@needs_x86
@pytest.mark.parametrize("length", ("65", "62", "(N + 1)", "n"))
def test_rows_of_other_lengths_need_not_be_aligned(length: str) -> None:
    new = ROWS_NEW.replace("double A[N][N]", f"double A[N][{length}]")
    assert "must be aligned" in with_lanes(Source("new.c", new)).reason
