"""Operations that the original lacks are a no only where a run shows another result."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.check.run.report import Answer, Report
from loopwright.check.verify import check_file
from tests.check.support import quick

HEAD = """#include <stdio.h>
{extra}
#define TWICE(x) ({twice})
typedef {type} number;
number A[30][20], B[30][20];
"""
TAIL = "int main(void) {{ f(); printf(\"%g\", (double)A[29][19]); }}\n"
LOOPS = "for (int i = 1; i < 30; i++) for (int j = 0; j < 20; j++)"
ORIGINAL = f"{LOOPS} A[i][j] = A[i-1][j] + TWICE(B[i][j]);"


def text(body: str, extra: str = "", type: str = "double", twice: str = "x * 2", before: str = "") -> str:
    head = HEAD.format(extra=extra, type=type, twice=twice)
    return head + f"{before}\nvoid f(void) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n" + TAIL.format()


def checked(folder: Path, old: str, new: str) -> Report:
    (folder / "old.c").write_text(old)
    (folder / "new.c").write_text(new)
    return check_file(folder / "new.c", folder / "old.c", quick({}))


SAME = "{ number t = A[i-1][j]; A[i][j] = t + TWICE(B[i][j]); }"
OTHER = "{ number t = A[i-1][j]; A[i][j] = t - TWICE(B[i][j]); }"


@pytest.mark.parametrize(
    ("type", "header"),
    [
        *((one, "") for one in ("float", "int", "unsigned short", "signed char", "long double")),
        ("double", "<string.h>"),
    ],
)
def test_a_variable_in_between(tmp_path: Path, header: str, type: str) -> None:
    """The arrays hold zeros: other numbers tell.  A header that one file lacks changes nothing."""
    old, extra = text(ORIGINAL, type=type), f"#include {header}" if header else ""
    assert checked(tmp_path, old, text(f"{LOOPS} {SAME}", extra, type)).answer is not Answer.VIOLATION
    report = checked(tmp_path, old, text(f"{LOOPS} {OTHER}", extra, type))
    assert report.answer is Answer.VIOLATION
    assert report.notes[0].startswith("A[1][0] ends up as ")


@pytest.mark.parametrize(
    "changed", [{"twice": "x * 3"}, {"type": "float"}, {"before": "static void unused(void) {}"}]
)
def test_another_meaning_of_the_words_is_no_difference_of_the_segment(
    tmp_path: Path, changed: dict[str, str]
) -> None:
    """The original would not be the original in that file."""
    report = checked(tmp_path, text(ORIGINAL), text(f"{LOOPS} {SAME}", **changed))
    assert report.answer is Answer.GAVE_UP or "before" in changed
    assert report.answer is not Answer.VIOLATION


def test_a_function_that_stores(tmp_path: Path) -> None:
    put = "static void put(number *p, number v) { *p = v; }"
    loops = LOOPS + " put(&A[i][j], A[i-1][j] + TWICE(B[i][j{}]));"
    old = text(ORIGINAL)
    assert checked(tmp_path, old, text(loops.format(""), before=put)).answer is not Answer.VIOLATION
    wrong = checked(tmp_path, old, text(loops.format(" ? j - 1 : 0"), before=put))
    assert wrong.answer is Answer.VIOLATION
    assert "with other initial values in the arrays" in wrong.notes[0]


def test_iterators_have_their_types(tmp_path: Path) -> None:
    """Products of iterators are those of the original: `unsigned` ones wrap around."""
    loops = "for (unsigned i = 1; i < 30; i++) for (unsigned j = 0; j < 20; j++)"
    old = text(f"{loops} A[i][j] = A[i-1][j] + i * 900000000u;")
    new = text(f"{loops} {{ number t = A[i-1][j]; A[i][j] = t + i * 900000000u; }}")
    assert checked(tmp_path, old, new).answer is not Answer.VIOLATION


def test_variables_that_nothing_sees_afterwards(tmp_path: Path) -> None:
    old = text(f"number s; {LOOPS} {{ s = A[i-1][j]; A[i][j] = s + TWICE(B[i][j]); }}")
    new = text(f"number s; {LOOPS} {{ s = TWICE(B[i][j]); A[i][j] = A[i-1][j] + s; }}")
    assert checked(tmp_path, old, new).answer is not Answer.VIOLATION
