"""`isnan(x)`, `fpclassify(x)` and the like: functions of a number, as macros of several C libraries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loopwright.c.typed.options import PLAIN, CompilerOptions
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.options import ReadOptions
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request

CLASSES = ("isnan", "isinf", "isfinite", "isnormal", "signbit", "fpclassify")
_TYPES = {"f": "float", "": "double", "l": "long double"}
BY_SIZE = "\n".join(
    (
        *(f"int __{one}{end}({kind});" for one in CLASSES for end, kind in _TYPES.items()),
        "static __inline unsigned __bits(float x) { union { float f; unsigned i; } u; u.f = x; return u.i; }",
        "#define CHOSEN(g, x) (sizeof(x) == sizeof(float) ? g##f(x) : \\",
        "  sizeof(x) == sizeof(double) ? g(x) : g##l(x))",
        *(f"#define {one}(x) CHOSEN(__{one}, x)" for one in CLASSES if one != "isinf"),
        "#define isinf(x) (sizeof(x) == sizeof(float) ? (__bits(x) & 0x7fffffff) == 0x7f800000 : \\",
        "  sizeof(x) == sizeof(double) ? __isinf(x) : __fpclassifyl(x) == 1)\n",
    )
)
"""A <math.h> that chooses functions by the sizes of types, as that of musl."""
BUILT_IN = "\n".join(
    (
        *(f"#define {one}(x) __builtin_{one}(x)" for one in ("isnan", "isfinite", "isnormal", "signbit")),
        "#define isinf(x) __builtin_isinf_sign(x)",
        "#define fpclassify(x) __builtin_fpclassify(0, 1, 4, 3, 2, x)\n",
    )
)
"""One that names functions of the compiler, as that of glibc."""
_TEXT = """#include <math.h>
void f(int n, double *restrict a, float *restrict b, int *restrict c)
{{
#pragma scop
  {body}
#pragma endscop
}}
"""
_APART = """for (int i = 0; i < n; i++)
    c[i] = {0}(a[i]);
  for (int i = 0; i < n; i++)
    if ({0}(b[i])) b[i] = 0;"""
_FUSED = "for (int i = 0; i < n; i++) {{ c[i] = {0}({1}[i]); if ({0}(b[i])) b[i] = 0; }}"


def compared(
    bodies: tuple[str, str], folder: Path, options: CompilerOptions = PLAIN
) -> Proved | Refuted | Undecided:
    for name, body in zip(("old.c", "new.c"), bodies, strict=True):
        (folder / name).write_text(_TEXT.format(body=body))
    asked = ComparisonOptions(ReadOptions(compiled=options))
    return compare_files(folder / "old.c", folder / "new.c", asked).verdict


def each(pair: tuple[str, str]) -> tuple[str, str]:
    old, new = (f"for (int i = 0; i < n; i++) c[i] = {expression};" for expression in pair)
    return old, new


def library(text: str, folder: Path) -> CompilerOptions:
    (folder / "include").mkdir()
    (folder / "include" / "math.h").write_text(text)
    return CompilerOptions(("-I", str(folder / "include")))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("header", (BY_SIZE, BUILT_IN), ids=("by size", "built in"))
def test_macros_of_libraries(name: str, header: str, tmp_path: Path) -> None:
    options = library(header, tmp_path)
    found = compared((_APART.format(name), _FUSED.format(name, "a")), tmp_path, options)
    assert isinstance(found, Proved)
    wrong = compared((_APART.format(name), _FUSED.format(name, "b")), tmp_path, options)
    assert isinstance(wrong, Refuted) and wrong.cell is not None and wrong.cell[0] == "c"


def test_macros_stay_in_new_loops(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(_TEXT.format(body=" ".join(each((f"{one}(a[i])", ""))[0] for one in CLASSES)))
    found = transformed(Request(file=str(file), script="distribute()\ntile(S1, 4, i)"), silent)
    assert all(f"{one}(a[i])" in found.source.text for one in CLASSES)


SAME = [
    ("isnan(a[i] + 1)", "isnan(1 + a[i])"),
    ("!isinf(b[i]) ? 1 : 2", "isinf(b[i]) ? 2 : 1"),
]
OTHER = [
    ("isnan(a[i])", "isinf(a[i])"),
    ("isnan(a[i])", "2 * isnan(a[i])"),
    ("isfinite(a[i])", "!isinf(a[i])"),
    ("isnormal(a[i])", "isfinite(a[i]) && a[i] != 0"),
    ("isnormal(b[i])", "isnormal((double)b[i])"),
    ("signbit(a[i])", "a[i] < 0"),
    ("fpclassify(b[i]) == FP_NAN", "fpclassify(b[i]) == FP_ZERO"),
]
OPEN = [
    ("isnan(a[i])", "a[i] != a[i]"),
    ("isnan(a[i])", "isnan(a[i]) != 0"),
    ("isinf(a[i])", "isinf(-a[i])"),
    ("signbit(b[i])", "signbit(b[i]) ? 1 : 0"),
    ("fpclassify(b[i]) == FP_NAN", "isnan(b[i]) ? 1 : 0"),
]
"""Equal, or equal for some C libraries."""


@pytest.mark.parametrize("pair", SAME)
def test_same_classes(pair: tuple[str, str], tmp_path: Path) -> None:
    assert isinstance(compared(each(pair), tmp_path), Proved)


@pytest.mark.parametrize("pair", OTHER)
def test_other_classes_have_a_witness(pair: tuple[str, str], tmp_path: Path) -> None:
    assert isinstance(compared(each(pair), tmp_path), Refuted)


@pytest.mark.parametrize("pair", OPEN)
def test_numbers_that_a_library_chooses(pair: tuple[str, str], tmp_path: Path) -> None:
    assert isinstance(compared(each(pair), tmp_path), Undecided)


@pytest.mark.parametrize("option", ("-ffinite-math-only", "-Ofast"))
@pytest.mark.parametrize("pair", (("isnan(a[i])", "isnan(b[i])"), ("a[i] < b[i]", "!(a[i] >= b[i])")))
def test_no_witness_with_numbers_that_an_option_excludes(
    option: str, pair: tuple[str, str], tmp_path: Path
) -> None:
    assert isinstance(compared(each(pair), tmp_path), Refuted)
    options = CompilerOptions((option,))
    assert isinstance(compared(each(pair), tmp_path, options), Undecided)


@pytest.mark.parametrize("body", ("0", "(!__builtin_isnan(x))", "(x == 1)"))
def test_another_macro_of_that_name(body: str, tmp_path: Path) -> None:
    """A header that is included by an option defines the macro after <math.h>."""
    (tmp_path / "own.h").write_text(f"#include <math.h>\n#undef isnan\n#define isnan(x) {body}\n")
    options = CompilerOptions(("-include", os.fspath(tmp_path / "own.h")))
    pair = each(("isnan(a[i]) ? 1 : 0", "isnan(b[i]) ? 1 : 0"))
    assert isinstance(compared(pair, tmp_path), Refuted)
    assert isinstance(compared(pair, tmp_path, options), Undecided)
