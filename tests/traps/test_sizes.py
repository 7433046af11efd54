"""Sizes that their types do not hold: unsigned numbers below 0 and above, casts, iterators that end too soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.macros import integer_text
from loopwright.model.program import AssumptionKind, Standing
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Refuted
from loopwright.read.c.reader import read_c
from tests.traps.support import LEFT, PROVED, Trap, answer, comparison, function

_SIZES = "int n, double *x, unsigned u, unsigned v, unsigned long z, long l, unsigned char c, int h, int w"
OTHERS = [
    ("a[0] = -1u;", "a[0] = -1;"),
    ("a[0] = -0x80000000;", "a[0] = -2147483648;"),
    ("for (i = 1; i < n; i++) x[i + -1u] = 1;", "for (i = 1; i < n; i++) x[i - 1] = 1;"),
    (
        "for (i = 0; i < n; i++) if (i >= u - 1) x[i] = 1;",
        "for (i = 0; i < n; i++) if (i + 1 >= u) x[i] = 1;",
    ),
    ("for (unsigned k = 0; k < u - 1; k++) *x += 1;", "for (unsigned k = 1; k < u; k++) *x += 1;"),
    ("for (unsigned k = 0; k < n; k++) *x += 1;", "for (int k = 0; k < n; k++) *x += 1;"),
    ("for (int k = 0; k < (int)l; k++) *x += 1;", "for (long k = 0; k < l; k++) *x += 1;"),
    ("for (int k = 0; k < n; k++) x[l + k] = 1;", "for (int k = 0; k < n; k++) x[(int)l + k] = 1;"),
    ("for (long k = 0; k < l; k++) *x += 1;", "{ int m = l; for (long k = 0; k < m; k++) *x += 1; }"),
    ("if (l > 5) *x = 1;", "if ((int)l > 5) *x = 1;"),
    ("if (u + 1 > u) *x = 1;", "*x = 1;"),
    ("if (z * 2 / 2 == z) *x = 1;", "*x = 1;"),
    ("x[2 * u] = 1;", "x[2l * u] = 1;"),
    ("for (long k = 0; k < l; k++) x[k] = 1;", "for (int k = 0; k < l; k++) x[k] = 1;"),
    ("for (unsigned long k = 0; k < z; k++) x[k] = 1;", "for (unsigned k = 0; k < z; k++) x[k] = 1;"),
    ("for (unsigned k = 0; k < u; k++) x[k] = 1;", "for (int k = 0; k < u; k++) x[k] = 1;"),
    ("if (c < 255) *x = 1;", "*x = 1;"),
]
"""Each differs for some size: u = 0, n = -1, l = 2^32 + 6, u = 2^32 - 1, c = 255."""
SAME = [
    ("if (c < 256) *x = 1;", "*x = 1;"),
    ("for (int k = 0; k < l; k++) x[k] = 1;", "for (long k = 0; k < l; k++) x[k] = 1;"),
    ("for (long k = 0; k < n; k++) x[k] = 1;", "for (int k = 0; k < n; k++) x[k] = 1;"),
    ("for (i = 0; i < (int)l; i++) x[i] = 1;", "for (i = (int)l - 1; i >= 0; i--) x[i] = 1;"),
    ("for (unsigned k = 0; k < u - 1; k++) x[k] = 1;", "for (unsigned j = 0; j < u - 1; j++) x[j] = 1;"),
]


def _function(text: str) -> str:
    return function(text, parameters=_SIZES)


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_what_some_size_tells_apart(old: str, new: str, tmp_path: Path) -> None:
    assert comparison(_function(old), _function(new), tmp_path) != PROVED


@pytest.mark.parametrize(("old", "new"), SAME)
def test_what_none_does(old: str, new: str, tmp_path: Path) -> None:
    assert comparison(_function(old), _function(new), tmp_path) == PROVED


def test_a_size_that_is_computed_is_what_c_computes(tmp_path: Path) -> None:
    """No witness has h = 0, w = 0 and w * h = 1."""
    for name, text in (("old.c", "h * w"), ("new.c", "w * h")):
        (tmp_path / name).write_text(_function(f"for (i = 0; i < {text}; i++) x[i] = 1;"))
    assert not isinstance(compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict, Refuted)


@pytest.mark.parametrize("text", ["2 * h * w", "08", "h * 2 * w"])
def test_a_bound_that_starts_with_a_number(text: str, tmp_path: Path) -> None:
    """It ends in an answer: `2 * h * w` is a parameter, and 08 no number of C."""
    trap = Trap("", f"for (i = 0; i < {text}; i++) x[i] = 1;", parameters=_SIZES)
    assert (answer(trap, tmp_path) == PROVED) == (text != "08")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", -1),
        ("-1u", None),
        ("-0x80000000", None),
        ("-0x7fffffff", -0x7FFFFFFF),
        ("0b101", 5),
        ("09", None),
        ("017u", 15),
    ],
)
def test_integers_as_they_are_written(text: str, value: int | None) -> None:
    assert integer_text(text) == value


_TABLES = "#define N 50\nint big[N]; double m[10][20]; char letters[20];"
CONSTANTS = [
    ("for (i = 0; i < sizeof b / sizeof *b; i++) b[i] = i;", "for (i = 0; i < 100; i++) b[i] = i;", True),
    (
        "for (i = 0; i < (int)(sizeof(big) / sizeof(big[0])); i++) big[i] = i;",
        "for (i = 0; i < N; i++) big[i] = i;",
        True,
    ),
    (
        "for (i = 0; i < sizeof m / sizeof m[0]; i++) m[i][0] = 1;",
        "for (i = 0; i < 10; i++) m[i][0] = 1;",
        True,
    ),
    ("for (i = 'a'; i <= 'z'; i++) a[i - 'a'] = i;", "for (i = 0; i < 26; i++) a[i] = i + 97;", True),
    ("for (i = 0; i < sizeof x / sizeof *x; i++) a[i] = i;", "for (i = 0; i < 8; i++) a[i] = i;", False),
    ("for (i = 0; i < '\\xff'; i++) x[i] = i;", "for (i = 0; i < 255; i++) x[i] = i;", False),
    (
        "for (i = -1; i < sizeof b / sizeof *b; i++) x[i + 1] = i;",
        "for (i = -1; i < 100; i++) x[i + 1] = i;",
        False,
    ),
    (
        "{ int b[7]; for (i = 0; i < sizeof b / sizeof *b; i++) x[i] = 1; }",
        "for (i = 0; i < 100; i++) x[i] = 1;",
        False,
    ),
]


@pytest.mark.parametrize(("old", "new", "is_same"), CONSTANTS)
def test_constants_that_are_no_numbers(old: str, new: str, is_same: bool, tmp_path: Path) -> None:
    before, after = (function(text, head=_TABLES) for text in (old, new))
    assert (comparison(before, after, tmp_path) == PROVED) == is_same


def test_a_size_that_a_macro_defines_may_have_any_value(tmp_path: Path) -> None:
    """What is right for the number that the file has is no proof; the order of the sizes stays."""
    sizes = "#ifndef N\n#define N 64\n#endif\n#ifndef M\n#define M 32\n#endif\ndouble g[N][M];\n"
    loop = "for (i = 0; i < {}; i++) for (int j = 0; j < M; j++) g[i][j] = 1;"
    old, wrong, right = (sizes + function(loop.format(end)) for end in ("N", "N / 8 * 8", "N + M - M"))
    assert comparison(old, wrong, tmp_path) != PROVED == comparison(old, right, tmp_path)


def test_an_unsigned_subscript_of_a_pointer_is_no_internal_error(tmp_path: Path) -> None:
    body = "for (unsigned k = 1; k < n - h; k++) x[k + n] = 1;"
    assert "may wrap around" in answer(Trap("unsigned", body, parameters=_SIZES), tmp_path)
    assert answer(Trap("declared", body.replace("x[", "a["), parameters=_SIZES), tmp_path) == PROVED


_UNSIGNED_LOCALS = [
    ("int x = h + u;", "a[x - 9] = i;", "proved"),
    ("int x = h + u;", "y[x + i] = i;", "proved"),
    ("int x = u - h;", "y[i - x] = i;", "proved"),
    ("int x = i - 2u;", "y[x + i] = i;", "proved"),
    ("int x = (unsigned)i - 1;", "y[x] = y[i + x];", "proved"),
    ("long x = h + u;", "y[x + i] = i;", "proved"),
    ("unsigned x = h + 1;", "a[x + i] = i;", "proved"),
    ("unsigned x = h + 1;", "a[2 * x - i] = x;", "proved"),
    ("unsigned x = h + 1;", "y[x + i] = i;", "may wrap around"),
]


@pytest.mark.parametrize(("local", "body", "told"), _UNSIGNED_LOCALS)
def test_locals_of_unsigned_sums_are_no_internal_error(
    local: str, body: str, told: str, tmp_path: Path
) -> None:
    """What wraps around and back again is the same number in the new text."""
    loop = f"for (i = 0; i < n; i++) {{ {local} {body} }}"
    parameters = _SIZES.replace("double *x", "double *y")
    trap = Trap(local, loop, parameters=parameters, script="strip_mine(S1, i, 4)")
    assert told in answer(trap, tmp_path)


def test_parts_that_are_left_whole_here_and_read_there_are_no_internal_error(tmp_path: Path) -> None:
    """The test of unsigned numbers is one statement with its loops, in the new text as well."""
    first = "for (int j = 0; j < m; j++) { if (c[i][j] != 0) c[j][i] = (d[i + 1][j + 1] + c[i][j + 1]) / c[i][j]; }"
    nest = f"{first} for (int j = 2; j < m; j++) {{ c[j - 1][i] = c[j][j]; }}"
    body = f"for (int i = 2; i < m + 1; i++) {{ if (n <= u + 1) {{ {nest} }} c[i + 2][i] = e[i]; }}"
    sizes = "int n, int m, unsigned u, float e[24], double d[24][24], int c[24][24]"
    trap = Trap("", body, parameters=sizes, script="L3 = lift(S1, 0)\nunroll(L3, i, 5)")
    assert answer(trap, tmp_path) == LEFT


_NUMBERS = "#define K 8u\n#define L 8\n#define LEAST(x) ((x) < 8u ? (x) : 8)\n"
UNSIGNED_MACROS = {
    "a bound": ("for (i = -1; i < 8; i++) a[i + 1] = 1;", "for (i = -1; i < {}; i++) a[i + 1] = 1;"),
    "a test": (
        "for (i = 0; i < n; i++) if (i - 5 < 8) a[i] = 1;",
        "for (i = 0; i < n; i++) if (i - 5 < {}) a[i] = 1;",
    ),
    "a value": ("for (i = 0; i < n; i++) a[i] = i - 8;", "for (i = 0; i < n; i++) a[i] = i - {};"),
    "a product": ("for (i = 0; i < n; i++) a[i] = -i * 8;", "for (i = 0; i < n; i++) a[i] = -i * {};"),
    "a choice": (
        "for (i = 0; i < n; i++) a[i] = i - 5 < 8 ? b[i] : 0;",
        "for (i = 0; i < n; i++) a[i] = i - 5 < {} ? b[i] : 0;",
    ),
    "a test of data": (
        "for (i = 0; i < n; i++) if (v[i] < 8) a[i] = b[i];",
        "for (i = 0; i < n; i++) if (v[i] < {}) a[i] = b[i];",
    ),
    "a minimum": (
        "for (i = 0; i < n && i < 8; i++) a[i] = 1;",
        "for (i = 0; i < (n < {0} ? n : {0}); i++) a[i] = 1;",
    ),
}


@pytest.mark.parametrize("name", UNSIGNED_MACROS)
def test_a_macro_has_the_type_of_its_number(name: str, tmp_path: Path) -> None:
    old, new = UNSIGNED_MACROS[name]
    for number, is_same in (("K", False), ("L", True)):
        one, other = (
            function(text, head=_NUMBERS, parameters="int n, int *v") for text in (old, new.format(number))
        )
        assert (comparison(one, other, tmp_path) == PROVED) == is_same
        assert (comparison(other, one, tmp_path) == PROVED) == is_same


def test_what_a_macro_compares_is_unsigned_too(tmp_path: Path) -> None:
    old, new = (
        function(f"for (i = 0; {test}; i++) a[i] = 1;", head=_NUMBERS)
        for test in ("i < n && i < 8", "i < LEAST(n)")
    )
    assert comparison(old, new, tmp_path) != PROVED != comparison(new, old, tmp_path)


CONSTANTS_UNREAD = [
    "static const unsigned char K = 12;",
    "static const int J = 12;\nstatic const int K = J;",
    "static const int K = 3 * 4;",
    "enum { J = 6, K = J * 2 };",
]


@pytest.mark.parametrize("head", CONSTANTS_UNREAD)
def test_no_difference_is_told_for_values_that_a_constant_has_not(head: str, tmp_path: Path) -> None:
    old, new = (function(f"for (i = 0; i < {end}; i++) a[i] = 1;", head=head) for end in ("12", "K"))
    assert "not end up" not in comparison(old, new, tmp_path) + comparison(new, old, tmp_path)


@pytest.mark.parametrize(("head", "words"), [("#define a b", ("a", "b")), ("#define n m", ("n", "m"))])
def test_a_macro_that_is_another_variable(head: str, words: tuple[str, str], tmp_path: Path) -> None:
    loop = "for (i = 0; i < {1}; i++) {0}[i] = 1;"
    names = (("a", "n"), (words[1], "n") if words[0] == "a" else ("a", words[1]))
    old, new = (
        function(loop.format(*pair), setup=f"\n{head}\n", parameters="int n, int m") for pair in names
    )
    assert "not end up" not in comparison(old, new, tmp_path)


@pytest.mark.parametrize("declared", ["unsigned j; ", ""])
def test_an_unsigned_iterator_that_counts_down_to_one(declared: str, tmp_path: Path) -> None:
    """For n = 0 the loop starts at the largest number: that n is at least 1 is listed."""
    loop = "for (unsigned j = n - 1; j >= 1; j--) x[j] += x[j - 1];"
    body = loop.replace("unsigned j", "j") if declared else loop
    text = f"void f(unsigned n, double *x)\n{{\n{declared}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    (tmp_path / "k.c").write_text(text)
    (program,) = read_c(tmp_path / "k.c")
    assert "'n - 1' is an unsigned number, and is not below 0" in [one.text for one in program.trusted]


@pytest.mark.parametrize(
    "body", ["{" * 700 + "a[0] = 1;" + "}" * 700, "a[0] = " + "b[0] - " * 1500 + "b[0];"]
)
def test_a_new_file_that_is_nested_too_deeply(body: str, tmp_path: Path) -> None:
    assert "nested too deeply" in comparison(function("a[0] = 1;"), function(body), tmp_path)


def test_a_new_file_that_is_no_text(tmp_path: Path) -> None:
    assert "not a text file" in comparison(function("a[0] = 1;"), function("a[0] = 1;") + "\0", tmp_path)


_ROWS = [
    ("k = 0;", "i * k", False),
    ("int m = 0;", "i * m", False),
    ("k = 3;", "i * k", True),
    ("int m = 3;", "i * m", True),
    ("k = n;", "i * k", True),
    ("k = 0; k = 3;", "i * k", True),
]
"""What comes before the region, a subscript, and whether rows are apart for all that is known."""


@pytest.mark.parametrize(("setup", "subscript", "is_read"), _ROWS)
def test_rows_of_a_number(setup: str, subscript: str, is_read: bool, tmp_path: Path) -> None:
    """Where the function says what their length is, it is not to be believed: the file refutes it."""
    trap = Trap("", f"for (i = 1; i < n; i++) L: a[{subscript}] = b[i];", setup=setup, script="reverse(L, i)")
    assert (answer(trap, tmp_path) == PROVED) == is_read
    if is_read:
        (program,) = read_c(tmp_path / "t.c")
        rows = [one.standing for one in program.assumptions if one.kind is AssumptionKind.ROWS]
        known = Standing.ASSUMED if setup == "k = n;" else Standing.PROVED
        assert rows == [known]


_NUMBERED_ROWS = [
    "#if 1\n#define K 3\n#else\n#define K 5\n#endif",
    "#define K (1 + 2)",
    "#define K KK\n#define KK 3",
    "#ifndef K\n#define K 300\n#endif",
]


@pytest.mark.parametrize("head", _NUMBERED_ROWS)
def test_rows_of_a_macro(head: str, tmp_path: Path) -> None:
    """`a[K * i] = a[3 * i - 3]` has no rows of K where K is 3, and few of them where it is 300."""
    region = "for (i = 1; i < n; i++) L: x[K * i] = x[3 * i - 3];"
    trap = Trap("", region, head=head, script="reverse(L, i)", parameters="int n, double *x")
    assert "read before it is written" in answer(trap, tmp_path)


@pytest.mark.parametrize("head", ["#define N (1 << 6)", "#define N 64", "#ifndef N\n#define N 64\n#endif"])
def test_what_may_be_touched_refutes_nothing(head: str, tmp_path: Path) -> None:
    """Where a subscript is data, no declared size says that it is outside."""
    text = Trap("", "for (i = 0; i < N; i++) c[key[i]] += 1;", f"{head}\nint key[N], c[N];").text()
    (tmp_path / "t.c").write_text(text)
    (program,) = read_c(tmp_path / "t.c")
    assert [one.text for one in program.trusted if one.kind is AssumptionKind.BOUNDS]


_SIZED = """#include <stddef.h>
struct grid { int w, h; long n; size_t m; unsigned char c; };
#define N g->n
"""
_BOUNDS = ["g->w * g->h", "g->w * g->h - 1", "N", "N + 1", "g->m", "g->c", "g->c * g->w"]


@pytest.mark.parametrize("bound", _BOUNDS)
def test_bounds_of_members_and_macros_have_the_types_of_the_file(bound: str, tmp_path: Path) -> None:
    """An int is not taken to be compared with an unsigned number where that is computed from members."""
    loop = f"for (i = 0; i < {bound}; i++) x[i] = 1;"
    trap = Trap(bound, loop, head=_SIZED, parameters="struct grid *g, double *restrict x")
    assert answer(trap, tmp_path) == PROVED


def test_an_iterator_from_0_is_compared_with_a_member_of_any_type(tmp_path: Path) -> None:
    loop = "for (i = 1; i < v->dim; i++) x[i] = 1;"
    trap = Trap("no header", loop, head='#include "missing.h"', parameters="VEC *v, double *x")
    assert answer(trap, tmp_path) == PROVED


@pytest.mark.parametrize("before", ["", "for (i = 0; i < n; i++) "])
@pytest.mark.parametrize("value", ["*m", "*m - 1"])
def test_a_bound_that_is_set_to_what_a_pointer_leads_to_has_its_type(value: str, before: str, tmp_path: Path) -> None:
    """`(*m)` is the same size as `*m`."""
    body = f"{before}{{ k = {value}; for (j = 0; j < k; j++) x[j] = j; }}"
    assert answer(Trap("", body, parameters="int n, const int *m, double *x"), tmp_path) == PROVED
