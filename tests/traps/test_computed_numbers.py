"""Traps: lengths of rows that the file computes before the region: by stores through pointers, in structs, in
functions, in loops, by functions of the C library."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.model.program import AssumptionKind
from loopwright.read.c.reader import read_c
from tests.traps.support import Trap

_S = "struct S { int w, d; }; struct D { int d, w; }; struct T { int k; struct S s; };"
_MADE = "static struct S mk(int d) { struct S z = { 1, d }; return z; }"
_SET = "static void mk(struct S *s, const struct S *o) { *s = *o; }"

_COMPUTED = {
    "a function sets a static variable": ("static int m; static void set(int v) { m = v; }", "set(4);", "m"),
    "a pointer": ("", "int m = 9, *q = &m; *q = 4;", "m"),
    "a pointer to a pointer": ("", "int m = 9, *q = &m, **r = &q; **r = 4;", "m"),
    "a pointer that was a number": ("", "int m = 9; long q = (long)&m; *(int *)q = 4;", "m"),
    "a pointer to a struct": ("struct S G;", "struct S *p = &G; p->d = 4;", "p->d"),
    "a struct by its name and by a pointer": ("struct S G;", "struct S *p = &G; p->d = 4;", "G.d"),
    "a struct that is allocated": ("", "struct S *p = malloc(8); p->d = 4;", "p->d"),
    "an element": ("", "int v[2]; v[0] = 4; int m = v[0];", "m"),
    "an element of an element": ("", "int v[2][2] = { 1, 2, 3, 4 }; int m = v[1][1];", "m"),
    "a constant array": ("static const int v[2] = { 4, 4 };", "int m = v[1];", "m"),
    "a copy": ("", "struct S o = { 1, 4 }, z = { 9, 9 }; z = o;", "z.d"),
    "a copy of a member": ("", "struct S o = { 1, 4 }; struct T u; u.s = o;", "u.s.d"),
    "one less": ("", "struct S z = { 1, 5 }; z.d -= 1;", "z.d"),
    "doubled": ("", "struct S z = { 1, 2 }; z.d *= 2;", "z.d"),
    "divided with a fraction": ("", "struct S z = { 1, 9 }; z.d /= 2.0;", "z.d"),
    "counted down": ("", "struct S z = { 1, 5 }; z.d--;", "z.d"),
    "a literal": ("", "struct D z = { 9, 9 }; z = (struct D){ 4 };", "z.d"),
    "a designated literal": ("", "struct S z; z = (struct S){ .d = 4 };", "z.d"),
    "braces that are left out": ("", "struct T u = { 1, 2, 4 };", "u.s.d"),
    "memcpy": ("", "struct S o = { 1, 4 }, z; memcpy(&z, &o, sizeof z);", "z.d"),
    "memset": ("", "struct S z = { 9, 9 }; memset(&z, 0, sizeof z); z.d += 4;", "z.d"),
    "bytes": ("", "struct S z = { 9, 9 }; for (i = 0; i < 8; i++) ((char *)&z)[i] = 0; z.d += 4;", "z.d"),
    "a struct that is returned": (_MADE, "struct S z = mk(4);", "z.d"),
    "a struct that is set by a function": (_SET, "struct S o = { 1, 4 }, z; mk(&z, &o);", "z.d"),
    "another member of a union": ("union U { int d; long l; };", "union U z; z.l = 4294967300L;", "z.d"),
    "one of two structs": ("", "struct S o = { 1, 4 }, p = { 2, 4 }, z; z = n > 3 ? o : p;", "z.d"),
    "a conversion": ("", "long t = abs(-260); unsigned char m = t;", "m"),
    "a loop": ("", "int m = 100; while (m > 4) m--;", "m"),
    "a case": (
        "",
        "int m = 9, t = 2; switch (t) { case 1: m = 10; break; case 2: m = 4; break; default: m = 9; }",
        "m",
    ),
    "a pointer to a function": (
        "static int four(void) { return 4; }",
        "int (*q)(void) = four; int m = q();",
        "m",
    ),
    "a recursion": ("static int g(int k) { return k < 1 ? 0 : 1 + g(k - 1); }", "int m = g(4);", "m"),
    "a block in an expression": ("", "int m = ({ int t = 2; t * 2; });", "m"),
    "a distance": ("", "double w[9]; double *q = w + 4; int m = q - w;", "m"),
    **{
        f"{value} of the library": ("", f"int m = {value};", "m")
        for value in (
            "abs(-4)",
            "sqrt(16.0)",
            'atoi("4")',
            'strtol("4", 0, 10)',
            'strlen("abcd")',
            "pow(2, 2)",
            "fabs(-4)",
            "ceil(3.5)",
            "lround(4.1)",
            "fmax(3, 4)",
            'atof("4.5")',
            "__builtin_popcount(15)",
        )
    },
}
"""What is 4, where it is a length of rows."""

_NOT_COMPUTED = {
    "a function of another file": ("int set(void);", "int m = 4; m = set();", "m"),
    "what a function of another file is given": ("void set(int *);", "int m = 4; set(&m);", "m"),
    "what a function of another file may see": (
        "int m; void set(void); void own(int n) { m = n; }",
        "m = 4; set();",
        "m",
    ),
    "one of two values": ("", "int m = 4; if (n > 3) m = n;", "m"),
    "a pointer that is not known": ("int m, *q; void own(int n) { m = n; }", "m = 4; *q = n;", "m"),
    "a large number of iterations": ("", "int m = 4; for (i = 0; i < n; i++) m++;", "m"),
    "a volatile variable": ("", "volatile int v = 4; int m = v;", "m"),
    "a test that may not return": ("void fail(void);", "int m = abs(-4); if (m < 9) fail();", "m"),
    "a test that does not return": ("", "int m = abs(-4); if (m < 9) exit(1);", "m"),
    "an assertion": ("#include <assert.h>", "int m = abs(-4); assert(m > 8);", "m"),
    "a large number": ("", "int m = abs(-9);", "m"),
    "a jump": ("", "int m = abs(-4); if (n > 3) { m = n; goto on; } on:;", "m"),
}
"""What may be another number than 4, or where the region is not reached with it."""


def _is_believed(head: str, setup: str, size: str, folder: Path, after: str = "", most: str = "5") -> bool:
    body = f"for (i = 0; i < n; i++) for (j = 0; j < {most}; j++) x[i * {size} + j] = i;"
    headers = "#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n"
    trap = Trap(
        "", body, f"{headers}{_S}{head}" if "#" not in head else f"{head}\n{headers}{_S}", setup, after
    )
    (folder / "t.c").write_text(trap.text())
    (program,) = read_c(folder / "t.c")
    return AssumptionKind.ROWS in {one.kind for one in program.trusted}


@pytest.mark.parametrize("name", _COMPUTED)
def test_rows_are_not_believed_if_the_file_computes_that_they_are_too_short(
    name: str, tmp_path: Path
) -> None:
    assert not _is_believed(*_COMPUTED[name], tmp_path)


@pytest.mark.parametrize("name", _NOT_COMPUTED)
def test_rows_are_believed_if_their_length_may_be_another_number(name: str, tmp_path: Path) -> None:
    assert _is_believed(*_NOT_COMPUTED[name], tmp_path)


_CALLED = {
    "a setter": ("static int m; static void set(int v) { m = v; }", "set(4); f(8, x, x);", "m"),
    "a variable of the file": ("int m;", "m = 4; f(8, x, x);", "m"),
    "its first value": ("int m = 4;", "f(8, x, x);", "m"),
    "a struct": ("struct S z, o = { 1, 4 };", "z = o; f(8, x, x);", "z.d"),
    "a pointer of the file": ("int m, *q = &m;", "*q = 4; f(8, x, x);", "m"),
    "a counter": (
        "static int next(void) { static int k = 3; return ++k; }\nint m;",
        "m = next(); f(8, x, x);",
        "m",
    ),
    "the first of two calls": ("int m;", "m = 4; f(8, x, x); m = 9; f(8, x, x);", "m"),
}
"""What is 4 where `main` calls the function."""


@pytest.mark.parametrize("name", _CALLED)
def test_rows_are_not_believed_if_main_makes_them_too_short(name: str, tmp_path: Path) -> None:
    head, calls, size = _CALLED[name]
    for number, is_refuted in (("4", True), ("9", False)):
        main = f"}} int main(void) {{ double x[99]; {calls.replace('4', number)}"
        given = head.replace("4", number).replace("k = 3", f"k = {int(number) - 1}")
        assert _is_believed(given, "", size, tmp_path, main) != is_refuted


_SIZES = {
    "a half by a pointer": ("", "int m, *q = &m; *q = n / 2;", "m", False),
    "a half in an element": ("", "int v[2]; v[0] = n / 2; int m = v[0];", "m", False),
    "a half in a copy": ("", "struct S o = { 1, n / 2 }, z; z = o;", "z.d", False),
    "a half that a function returns": (_MADE, "struct S z = mk(n / 2);", "z.d", False),
    "a half by bytes": ("", "int m, h = n / 2; memcpy(&m, &h, 4);", "m", False),
    "a half of a number with a fraction": ("", "int m = n * 0.5;", "m", False),
    "a root": ("", "int m = sqrt(n);", "m", False),
    "a shift": ("", "int m = n; m >>= 1;", "m", False),
    "less than four": ("", "int m = n; if (m > 4) m = 4;", "m", False),
    "a difference that wraps around": ("", "unsigned m = n - 4;", "m", False),
    "a conversion": ("", "long big = 4294967296L + n; int m = (int)big - 4;", "m", False),
    "twice": ("", "int m, *q = &m; *q = 2 * n;", "m", True),
    "itself": ("", "int v[2]; v[0] = n; int m = v[0];", "m", True),
    "a test that leaves": ("", "int m, *q = &m; *q = 9 * k; if (m < n) return;", "m", True),
    "what is not known": ("int other;", "int v[2]; v[0] = other; int m = v[0];", "m", True),
}
"""Lengths of rows that are computed from the size n, and whether they may be n or more."""


@pytest.mark.parametrize("name", _SIZES)
def test_rows_are_not_believed_if_they_are_too_short_for_all_sizes(name: str, tmp_path: Path) -> None:
    *given, is_believed = _SIZES[name]
    head, setup, size = map(str, given)
    assert _is_believed(head, setup, size, tmp_path, most="n") == is_believed


def test_a_number_that_is_converted_to_another_is_refused(tmp_path: Path) -> None:
    body = "for (i = 0; i < (int)big; i++) x[i] = i;"
    (tmp_path / "t.c").write_text(Trap("", body, setup="long big = 4294967296L + n;").text())
    with pytest.raises(BadInput, match="the file refutes an assumption made here: 'big' is between"):
        read_c(tmp_path / "t.c")
