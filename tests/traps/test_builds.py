"""Options of a build that change what a text means: by macros, by headers, by types, by how numbers are rounded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.c.typed.file import typed_text
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import different_header
from loopwright.c.typed.spelling import with_branches_taken
from loopwright.errors import BadInput
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import REORDERED, Refuted
from loopwright.read.c.options import ReadOptions
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import RegionReport, Request
from loopwright.source import Source

LOOP = (
    "void f(int n, double *a) {{\n#pragma scop\nfor (int i = 0; i < n; i++) {{ {} }}\n#pragma endscop\n}}\n"
)


def _build(folder: Path, *flags: str, files: tuple[str, ...] = ("t.c",)) -> CompilerOptions:
    entries = [
        {"directory": str(folder), "file": one, "arguments": ["gcc", *flags, "-c", one]} for one in files
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return CompilerOptions(build=str(folder))


DEFINING = [
    (("-DZ",), "Z"),
    (("-fopenmp",), "_OPENMP"),
    (("-O2",), "__OPTIMIZE__"),
    (("-ffast-math",), "__FAST_MATH__"),
    (("-pthread",), "_REENTRANT"),
    (("-Wall,", "-Wp,-MD,t.d,-DZ"), "Z"),
    (("-Xpreprocessor", "-DZ", "-o", "t.o"), "Z"),
    (("--define-macro=Z",), "Z"),
    (("--define-macro", "Z"), "Z"),
    (("@words",), "Z"),
    (("-fdiagnostics-color=always", "--include=z.h"), "Z"),
]


@pytest.mark.parametrize(("flags", "name"), DEFINING, ids=lambda one: str(one))
def test_the_branch_that_is_read_is_that_of_the_build(
    tmp_path: Path, flags: tuple[str, ...], name: str
) -> None:
    (tmp_path / "words").write_text("-O1 '-DZ'\n")
    (tmp_path / "z.h").write_text("#define Z\n")
    text = LOOP.format(f"\n#ifdef {name}\na[i] = 2;\n#else\na[i] = 3;\n#endif\n")
    _, taken = with_branches_taken(Source(str(tmp_path / "t.c"), text), _build(tmp_path, *flags))
    assert [one.is_taken for one in taken] == [True, False]


def test_options_of_output_are_left_out(tmp_path: Path) -> None:
    words = (
        "-g3",
        "-Wall",
        "-MMD",
        "-MF",
        "t.d",
        "-MT",
        "-DNO",
        "-o",
        "-DNO",
        "-lm",
        "-fdump-tree-all",
        "-Wl,-z",
    )
    assert _build(tmp_path, *words).for_file(str(tmp_path / "t.c")).arguments == ()


def test_a_build_decides_how_large_an_enumeration_is(tmp_path: Path) -> None:
    source = Source(str(tmp_path / "t.c"), "enum e { A }; int size[sizeof(enum e) == 1 ? 1 : -1];\n")
    assert not typed_text(source, _build(tmp_path, "-fshort-enums")).parsed.diagnostics
    assert typed_text(source, CompilerOptions()).parsed.diagnostics


def test_a_build_decides_how_structs_are_laid_out(tmp_path: Path) -> None:
    text = "struct s { char c; double d; }; int size[sizeof(struct s) == 9 ? 1 : -1];\n"
    source = Source(str(tmp_path / "t.c"), text)
    assert not typed_text(source, _build(tmp_path, "-fpack-struct")).parsed.diagnostics
    assert typed_text(source, CompilerOptions()).parsed.diagnostics


@pytest.mark.parametrize("option", ["-fsingle-precision-constant", "-funsigned-bitfields"])
def test_numbers_of_another_type_are_refused(option: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        _build(tmp_path, option).for_file(str(tmp_path / "t.c"))


def _region(tmp_path: Path, *flags: str) -> RegionReport:
    (tmp_path / "t.c").write_text(LOOP.format("a[i] += i * 1000;"))
    reading = ReadOptions(compiled=_build(tmp_path, *flags))
    made = transformed(Request(file=str(tmp_path / "t.c"), script=None, reading=reading), silent)
    (region,) = made.regions
    return region


@pytest.mark.parametrize("option", ["-Ofast", "-fexcess-precision=fast", "-fcx-limited-range"])
def test_a_contract_says_what_the_build_does_not_keep(option: str, tmp_path: Path) -> None:
    assert _region(tmp_path, option).contract.endswith(f"and without {option}")


@pytest.mark.parametrize(
    "line",
    [
        '#pragma GCC optimize("fast-math")',
        '#pragma GCC optimize ("O2", "associative-math")',
        '__attribute__((optimize("Ofast")))',
        "#pragma float_control(precise, off)",
    ],
)
def test_a_contract_says_what_the_file_does_not_keep(line: str, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(line + "\n" + LOOP.format("a[i] += 1;"))
    made = transformed(Request(file=str(tmp_path / "t.c"), script=None, reading=ReadOptions()), silent)
    assert "and without " in made.regions[0].contract


def test_a_contract_says_that_sums_are_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text("double s;\n" + LOOP.format("s += a[i];"))
    asked = Request(file=str(tmp_path / "t.c"), script="reverse(S1, i)", allow_reassociation=True)
    assert transformed(asked, silent).regions[0].contract == REORDERED


@pytest.mark.parametrize("option", ["-fwrapv", "-ftrapv", "-fno-strict-overflow"])
def test_what_overflows_has_a_meaning_that_is_told(option: str, tmp_path: Path) -> None:
    (told,) = _region(tmp_path, option).assumptions
    assert option in told


def test_a_build_that_gives_no_meaning_leaves_nothing_to_trust(tmp_path: Path) -> None:
    assert not _region(tmp_path, "-O2").assumptions


CHECKED = (
    "void f(int n, int s, double *a) {{\nCHECK(s < 2);\n"
    "#pragma scop\nfor (int i = s; i < n; i++) {};\n#pragma endscop\n}}\n"
)


@pytest.mark.parametrize("way", ["-D", "-p"])
def test_a_macro_of_an_option_may_leave_before_the_region(tmp_path: Path, way: str) -> None:
    """For s < 2, where the two differ, neither runs its loop."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "k.h").write_text("#define CHECK(x) if (x) return\n")
    options = {
        "-D": CompilerOptions(("-D", "CHECK(x)=if (x) return")),
        "-p": _build(tmp_path, "-Iinc", files=("old.c", "new.c")),
    }[way]
    head = "" if way == "-D" else '#include "k.h"\n'
    for name, value in (("old.c", "a[i] = i < 2 ? 1 : 2"), ("new.c", "a[i] = 2")):
        (tmp_path / name).write_text(head + CHECKED.format(value))
    asked = ComparisonOptions(ReadOptions(compiled=options))
    found = compare_files(tmp_path / "old.c", tmp_path / "new.c", asked).verdict
    assert not isinstance(found, Refuted)


def test_headers_of_the_build_are_compared(tmp_path: Path) -> None:
    for name, number in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.h").write_text(f"#define K {number}\n")
        (tmp_path / f"{name}.c").write_text("")
    old, new = (Source(str(tmp_path / f"{one}.c"), '#include "k.h"\n') for one in ("one", "two"))
    for option in ("-I", "-isystem", "-iquote"):
        before = _build(tmp_path, f"{option}one", files=("one.c",)).for_file(old.path)
        after = _build(tmp_path, option, "two", files=("two.c",)).for_file(new.path)
        assert different_header(old, new, before, after) == "k.h"
        assert different_header(old, old, before, before) is None


@pytest.mark.parametrize("form", ["int k = {};\n", "#define K {}\n"])
def test_a_header_that_a_macro_names_is_compared(tmp_path: Path, form: str) -> None:
    text = '#define H "k.h"\n#include H\n'
    for name, number in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.h").write_text(form.format(number))
    old, new = (Source(str(tmp_path / one / "t.c"), text) for one in ("one", "two"))
    assert different_header(old, new, CompilerOptions(), CompilerOptions()) is not None
    assert different_header(old, replace(old, text=text + "\n"), CompilerOptions(), CompilerOptions()) is None
