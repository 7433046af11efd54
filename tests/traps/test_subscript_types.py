"""Traps: subscripts of one-dimensional arrays that leave their types in one of two files, or in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Proved, Refuted

_INSIDE = "bounds and subscripts do not overflow or wrap around"
_CALL = "static char a[70000], c[70000];\nint main(void) {{ f({}, {}, a, c); return c[5]; }}\n"
_SAME = "C[i * m + j] = A[i * m + j] + 1;"
_WIDE = _SAME.replace("i * m", "(long)i * m")
_BY_VALUE = "{ t[0] = A[i * m + j]; C[i * m + j] = t[0] + 1; }"
_WIDE_BY_VALUE = _BY_VALUE.replace("i * m", "(long)i * m")
PAIRS = {
    "unsigned": ("unsigned", _SAME, _BY_VALUE),
    "unsigned, then wide": ("unsigned", _SAME, _WIDE_BY_VALUE),
    "wide, then unsigned": ("unsigned", _WIDE, _SAME),
    "unsigned and wide, by instances": ("unsigned", _SAME, _WIDE),
    "int": ("int", _SAME, _BY_VALUE),
    "wide, then int": ("int", _WIDE, _SAME),
    "wide, then int by values": ("int", _WIDE_BY_VALUE, _SAME),
}


def _text(kind: str, body: str, after: str = "") -> str:
    loops = f"for ({kind} i = 0; i < n; i++) for ({kind} j = 0; j < m; j++) {body}"
    region = f"#pragma scop\nint t[1]; {loops}\n#pragma endscop\n"
    head = f"void f({kind} n, {kind} m, const char *restrict A, char *restrict C)"
    return f"{head} {{\n{region}}}\n{after}"


@pytest.mark.parametrize("name", PAIRS)
def test_what_rows_compute_is_taken_on_trust(name: str, tmp_path: Path) -> None:
    """C[i][j] computes nothing, C[i * m + j] a product that wraps around for 65537 rows of 65536 elements."""
    kind, *bodies = PAIRS[name]
    files = tmp_path / "old.c", tmp_path / "new.c"
    for file, body in zip(files, bodies, strict=True):
        file.write_text(_text(kind, body))
    found = compare_files(*files)
    assert found.proved and _INSIDE in found.trusted


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_not_where_a_call_shows_that_it_is_wrong(name: str, tmp_path: Path) -> None:
    kind, *bodies = PAIRS[name]
    files = tmp_path / "old.c", tmp_path / "new.c"
    for sizes, is_fine in ((("65537", "65536"), False), (("257", "256"), True)):
        for file, body in zip(files, bodies, strict=True):
            file.write_text(_text(kind, body, _CALL.format(*sizes)))
        if is_fine:
            assert compare_files(*files).proved
        else:
            with pytest.raises(BadInput, match="the file refutes that bounds and subscripts do not overflow"):
                compare_files(*files)


_COUNTED = "{k} t = 0; for (int i = 0; i < n; i++) {{ x[i] = t; t += {m}; }}"
_WRITTEN = "for (int i = 0; i < n; i++) x[i] = {};"


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        (_COUNTED.format(k="long", m="m"), _WRITTEN.format("(long)i * m"), True),
        (_WRITTEN.format("(long)i * m"), _COUNTED.format(k="long", m="m"), True),
        (_WRITTEN.format("n + 1L"), "long t = n; t = t + 1; " + _WRITTEN.format("t"), True),
        (_WRITTEN.format("(long)n * 9 + i"), "long t = (long)n * 9; " + _WRITTEN.format("t++"), True),
        (_WRITTEN.format("(long)n * 9 + i"), "long t = n * 9; " + _WRITTEN.format("t++"), False),
        (_WRITTEN.format("(long)n + 1 + i"), "long t = n + 1; " + _WRITTEN.format("t++"), False),
        (_COUNTED.format(k="long", m="m"), _WRITTEN.format("i * m"), False),
        (_COUNTED.format(k="long", m="9999"), _WRITTEN.format("i * 9999"), False),
        (_WRITTEN.format("(long)i * m"), _COUNTED.format(k="int", m="m"), False),
    ],
)
def test_a_variable_that_grows_is_computed_in_its_type(
    old: str, new: str, is_same: bool, tmp_path: Path
) -> None:
    """`t` is i * m in a type that holds more than an int does."""
    files = tmp_path / "old.c", tmp_path / "new.c"
    for file, body in zip(files, (old, new), strict=True):
        file.write_text(f"void f(int n, int m, double *x) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    verdict = compare_files(*files).verdict
    assert isinstance(verdict, Proved if is_same else Refuted)


@pytest.mark.parametrize("new", ["a[i * 100000] = 1", "{ a[t] = 1; t += 100000; }"])
def test_numbers_of_the_new_file_that_leave_their_type(new: str, tmp_path: Path) -> None:
    old = "for (int i = 0; i < 100000; i++) a[(long)i * 100000] = 1;"
    texts = (old, f"int t = 0; for (int i = 0; i < 100000; i++) {new};")
    files = tmp_path / "old.c", tmp_path / "new.c"
    for file, body in zip(files, texts, strict=True):
        file.write_text(f"void f(char *a) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    try:
        assert not compare_files(*files).proved
    except BadInput as refused:
        assert "refutes that bounds and subscripts do not overflow" in refused.message


_DEAD = "for (int i = 0; i < 100; i++) a[i] = 1;"


@pytest.mark.parametrize(
    "new",
    [
        "int t = 2147483647; t = t + 1; " + _DEAD,
        "int t = 65536; t = t * 65536; " + _DEAD,
        "int t = 2147483647; t++; " + _DEAD,
        "int t = 2147483600; for (int i = 0; i < 100; i++) { t += 1; a[i] = 1; }",
        "int t = 2147483600; for (int i = 0; i < 100; i++) { a[i] = 1; t++; }",
    ],
)
def test_a_variable_that_leaves_its_type_is_no_sum(new: str, tmp_path: Path) -> None:
    """It is undefined, also where nothing uses the value; a variable of more bits holds it."""
    files = tmp_path / "old.c", tmp_path / "new.c"
    for kind in ("int", "long"):
        for file, body in zip(files, (_DEAD, new.replace("int t", f"{kind} t")), strict=True):
            file.write_text(f"void f(char *a) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
        assert compare_files(*files).proved == (kind == "long")
