"""Regions that no pragma marks: functions, loops by their lines, and what is said of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import loopwright as lw
from loopwright.c.regions import with_markers
from loopwright.c.selection.choice import Choice, LoopPlace, choice
from loopwright.c.selection.chosen import chosen
from loopwright.errors import BadInput, Code
from loopwright.source import Source
from tests.pipeline.support import file, run

TEXT = """\
#include <stdio.h>
double A[9][9], B[9][9], C[9][9];
void gemm(int n) {
  int i, j, k;
  for (i = 0; i < n; i++) // rows
    for (j = 0; j < n; j++) {
      C[i][j] = 0;
      for (k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}
void steps(int n, int x) {
  while (x > 0) {
    if (x > 3) for (int i = 1; i < n; i++) A[i][0] = A[i - 1][0] + 1;
    x /= 2;
  }
}
int main(void) {
  gemm(9);
  for (int i = 1; i < 9; i ^= 3) C[i][i] = 1;
  return 0;
}
"""


def places(wanted: Choice, text: str = TEXT) -> list[str]:
    found = chosen(Source("t.c", text), wanted)
    return [found.text[start:end] for start, end in found.chosen]


def lines(first: int, last: int, text: str = TEXT) -> str:
    return "".join(text.splitlines(keepends=True)[first - 1 : last])


def test_a_function_is_read_from_its_first_loop_to_its_last() -> None:
    assert places(choice("gemm")) == [lines(5, 10)]
    assert places(choice(["steps", "gemm"])) == [lines(5, 10), lines(13, 16)]


def test_a_loop_is_what_starts_on_a_line() -> None:
    assert places(choice(loops=6)) == [lines(6, 10)]
    assert places(choice(loops=["t.c:8", 14])) == [lines(8, 9), lines(14, 14)[14:]]
    assert choice(loops="a:b.c:7").loops == (LoopPlace("a:b.c", 7),)


def test_labels_and_pragmas_about_a_loop_belong_to_it() -> None:
    loop = "L: for (int i = 0; i < n; i++)\n    a[i] = 0;\n"
    text = f"void f(int n, double *a)\n{{\n  g();\n#pragma omp parallel for\n{loop}}}\n"
    assert places(choice("f"), text) == [lines(4, 6, text)]
    assert places(choice(loops=5), text) == [lines(4, 6, text)]


def test_regions_that_are_marked_in_a_function_are_what_is_read_of_it() -> None:
    text = TEXT.replace("    for (j", "#pragma scop\n    for (j")
    text = text.replace("    }\n}", "    }\n#pragma endscop\n}", 1)
    assert places(choice("gemm"), text) == [lines(7, 11, text)]


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        (choice("no"), "no function is called 'no'", "gemm, steps, main"),
        (choice(loops=7), "no loop starts on line 7", "5, 6, 8, 13, 14, 20"),
        (choice(loops=999), "no loop starts on line 999", "20"),
        (choice(loops="u.c:5"), "--loop u.c:5 is in another file", "FILE:LINE"),
        (choice("gemm", 8), "overlap", "leave one"),
    ],
)
def test_what_is_not_there_cannot_be_chosen(wanted: Choice, message: str, hint: str) -> None:
    with pytest.raises(BadInput, match=message) as found:
        places(wanted)
    assert hint in (found.value.hint or "") and found.value.code is Code.OPTION


@pytest.mark.parametrize("word", ["", "x", "0", "-3", "k.c:", "99999999999"])
def test_a_loop_is_given_by_a_line(word: str) -> None:
    with pytest.raises(BadInput, match="must be a line"):
        choice(loops=word)


def test_a_file_with_one_readable_function_needs_no_option(tmp_path: Path) -> None:
    one = lw.read(file(tmp_path, TEXT))
    assert one.original.region.text == lines(5, 10)
    assert lw.read(file(tmp_path, TEXT), loop=14).original.statements[0].iterators == ("i",)
    with pytest.raises(BadInput, match="2 functions can be read") as found:
        lw.read(file(tmp_path, TEXT + TEXT.replace("gemm", "other")))
    assert "gemm, other" in (found.value.hint or "")


def test_a_function_on_the_first_line(tmp_path: Path) -> None:
    path = file(tmp_path, "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }\n")
    new = tmp_path / "new.c"
    assert run("transform", path, "-o", str(new)) == 0
    assert new.read_text().splitlines()[:2] == ["void f(int n, double *a) {", "  for (int i = 0; i < n; i++)"]


def test_what_stands_around_a_loop_stays(tmp_path: Path) -> None:
    source = file(tmp_path, TEXT)
    out = tmp_path / "out.c"
    assert run("transform", source, "--loop", "14", "-e", "strip_mine(@14, i, 4)", "-o", str(out)) == 0
    new = out.read_text()
    before, after = new.split("    if (x > 3)\n    {\n")
    written = [line for line in before.splitlines() if not line.startswith("#define")]
    assert written == TEXT.splitlines()[:13] and after.split("    }\n", 1)[1] == lines(15, 22)
    assert run("prove", source, str(out), "--function", "steps") == 2  # the 'while' around it
    place = next(k for k, line in enumerate(new.splitlines(), 1) if "for (" in line and k > 14)
    assert run("prove", source, str(out), "--loop", "k.c:14", "--loop", f"out.c:{place}") == 0


def test_helper_macros_stand_before_the_loops(tmp_path: Path) -> None:
    out = tmp_path / "out.c"
    script = "L = lift(@9, 0)\nstrip_mine(L, i, 4)"
    assert run("transform", file(tmp_path, TEXT), "--function", "gemm", "-e", script, "-o", str(out)) == 0
    assert run("prove", str(tmp_path / "k.c"), str(out), "--function", "gemm") == 0
    assert "scop" not in out.read_text()


def test_find_asks_what_transform_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "{ for (int i = 0; i < n; i++) x[i] = 0; }\n"
    text = f"typedef volatile double seen;\nvoid f(int n, seen *x) {body}void g(int n, TYPE *x) {body}"
    path = file(tmp_path, text)
    assert run("find", path, "-D", "TYPE=double") == 0
    printed = capsys.readouterr().out
    assert "1 of 2 can be read" in printed and "volatile" in printed and "--function g" in printed
    assert run("transform", path, "--function", "f", "-D", "TYPE=double") == 2


def test_find_lists_what_can_be_read_and_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("find", file(tmp_path, TEXT)) == 0
    text = capsys.readouterr().out
    assert "2 of 4 can be read" in text
    assert "gemm, lines 5-10: --function gemm\n    S1[i, j]  C[i][j] = 0;\n" in text
    assert "steps, lines 13-16: cannot be read\n    line 13: a 'while' loop" in text
    assert "steps, line 14: --loop 14\n" in text and "add a constant to 'i'" in text
    assert run("find", str(tmp_path / "k.c"), "--json") == 0
    nests = json.loads(capsys.readouterr().out)["nests"]
    assert [(one["option"], one["readable"]) for one in nests] == [
        ("--function gemm", True),
        ("--function steps", False),
        ("--loop 14", True),
        ("--function main", False),
    ]
    assert nests[1]["diagnostics"][0]["code"] == "LW211" and len(nests[0]["statements"]) == 2
    assert run("find", file(tmp_path, "int x;\n")) == 0
    assert "no function of this file has a loop" in capsys.readouterr().out


def test_regions_keep_their_places_for_the_compiler() -> None:
    marked = with_markers(chosen(Source("t.c", TEXT), choice(loops=14))).splitlines()
    at = marked.index("#pragma scop")
    assert marked[at - 1 : at + 2] == ["#line 13", "#pragma scop", "#line 14"]
    assert marked[at + 2] == " " * 14 + lines(14, 14)[14:].rstrip()


UNDECIDED_BRANCH = """#include "missing.h"
void f(int n, double *x)
{
  for (int i = 0; i < n; i++)
    x[i] = 0;
}
void g(int n, double *x)
{
  for (int i = 0; i < n; i++) {
#ifndef SLOW
    x[i] = 1;
#endif
  }
}
"""


def test_a_branch_of_one_function_does_not_keep_others_from_being_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("find", file(tmp_path, UNDECIDED_BRANCH)) == 0
    text = capsys.readouterr().out
    assert "1 of 2 can be read" in text and "f, lines 4-5: --function f" in text
    assert "line 10: '#ifndef' inside a region cannot be read" in text
    assert run("extract", str(tmp_path / "k.c")) == 0
    assert "x[i] = 0;" in capsys.readouterr().out
