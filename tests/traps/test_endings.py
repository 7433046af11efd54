"""What NEW must not have: loops around nothing that do not end, and what no compiler accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.options import PLAIN
from loopwright.prove.comparison.acceptable import Compiled, unacceptable
from loopwright.source import Source
from tests.traps.support import PROVED, comparison, function

_COPY = "for (i = 0; i < n; i++) a[i] = b[i];"
ENDLESS = [
    "for (i = 0; i >= 0; i++) ;",
    "for (i = 0; i >= 0; i++) { }",
    "for (i = 0; i < n; i--) ;",
    "for (i = 0; i <= 0; i--) ;",
    "for (i = 0; i < n; i += 0) ;",
    "for (i = 0; i < n; i += k) ;",
    "for (i = 1; i < n; i *= 2) ;",
    "for (i = 0; i != n; i++) ;",
    "for (i = 0; i <= 2147483647; i++) ;",
    "for (i = 0; i < n * 1000000; i++) ;",
    "for (i = 2000000000; i < 2147483647; i += 100000000) ;",
    "for (i = 0; i < n; i++) for (j = 0; j >= 0; j++) ;",
    "for (i = 0; i < n; i++) for (i = 0; i < 3; i++) ;",
    "for (i = 0; i <= k; i++) for (k = 0; k < i; k++) ;",
    "for (i = 0; i < n; i++) { ; for (j = 9; j > 8; j++) ; }",
    "for (i = 0; i < n; ) ;",
    "for (i = 0; ; i++) ;",
    "for (;;) ;",
    "for (unsigned u = n; u >= 0; u--) ;",
    "for (float z = 0; z < n; z++) ;",
    "unsigned m = 0; for (i = n; i >= m; i--) ;",
]
ENDING = [
    "for (i = 0; i < n; i++) ;",
    "for (i = 0; i < n; ++i) { }",
    "for (int l = n; l > 0; l -= 1) { ; }",
    "for (i = 0; i <= n - 1; i++) for (j = 9; j >= 0; j--) ;",
    "for (i = 0; i != n; i++) a[i] = 1;",
    "for (i = 0; n > i; i++) s = 1;",
    "for (i = n; i >= 0; i -= 2) s = -s;",
    "for (i = n; i > 0; i /= 2) s = s + 1;",
    "i = 0; while (i < n) i++;",
    "i = n; while (0 <= i) { s = -s; i -= 2; }",
    "for (i = 0; i >= n && i < 100; i++) s = -s;",
    "for (i = 0; i < n && s != 3; i++) s = -s;",
    "for (i = 0; n > 2 * i; i++) s = -s;",
    "for (i = 0; i + 5 <= n; i += 4) s = -s;",
    "for (i = 0; n - i > 0; i = 2 + i) s = -s;",
    "for (i = 0, j = n; i < j; i++, j--) s = -s;",
    "for (i = n; i > 0; i >>= 1) s = s + 1;",
    "for (i = n; i-- > 0;) s = -s;",
    "i = n; while (0 < --i) s = -s;",
    "i = 0; do { s = -s; i++; } while (i < n);",
    "for (i = 0; i < n; i++) { j = 0; while (j < i) j++; }",
    "for (i = 0; i < n * n; i++) s = -s;",
    "for (unsigned u = 0; u < 10; u++) s = -s;",
    "for (unsigned long u = 0; u < n; u++) s = -s;",
]
PASSING = [
    "for (i = 0; i != n; i++) s = 1;",
    "for (i = 0; i >= n; i++) s = -s;",
    "for (i = 0; n <= i; i += 2) s = -s;",
    "for (i = n; i < 0; i--) { s = 1; }",
    "i = 0; while (i >= n) i++;",
    "i = 0; while (i != n) { s = -s; i++; }",
    "i = n; do { s = -s; i -= 3; } while (0 != i);",
    "for (i = 0; 0 != n - i; i++) s = -s;",
    "for (i = 0; !(i == n); i++) s = -s;",
    "for (i = 0; i >= n || i < 3; i++) s = -s;",
    "for (i = 0; i - n >= 0; i++) s = -s;",
    "for (i = 0; i < 2147483647; i += 2) s = -s;",
    "for (i = 0; i < n; i += k) s = -s;",
    "for (i = 1; i < n; i *= 2) s = -s;",
    "for (i = n; i >= 0; i /= 2) s = -s;",
    "for (i = n; i > 0; i >>= 0) s = -s;",
    "for (i = 0; i < n * i; i++) s = -s;",
    "for (i = 0; i < i + 1; i++) s = -s;",
    "for (i = 0; i < n; i++) { s = -s; n++; }",
    "for (i = 0; i < n; i++) { s = -s; i--; }",
    "for (i = 0; i < n; i++) for (i = 0; i < 3; i++) s++;",
    "for (i = 0; i < n;) s = -s;",
    "for (;;) s = 1;",
    "i = n; while (i--) s = -s;",
    "i = 0; while (s < 3 && i++ < n) s = 1;",
    "i = 0; while (i < n) { if (s) i++; s = -s; }",
    "i = 0; while (i < n) { if (s) continue; i++; }",
    "i = 0; while (i < n) { int i = 0; i++; s = -s; }",
    "for (unsigned u = n; u >= 0; u--) s = -s;",
    "for (unsigned char c = 0; c < n; c++) s = -s;",
    "for (float z = 0; z < n; z++) s = -s;",
    "long m = n; for (i = 0; i < m; i++) s = -s;",
    "unsigned m = n; for (i = n; i > m - 1; i--) s = -s;",
    "volatile int m = n; for (i = 0; i < m; i++) s = -s;",
]
"""Loops whose statements no proof need match, and whose iterators step past the bound."""


def _found(loop: str) -> str | None:
    old, new = (Compiled(Source("t.c", function(text)), PLAIN) for text in (_COPY, f"{_COPY} {loop}"))
    return unacceptable(old, new)


@pytest.mark.parametrize("loop", ENDLESS)
def test_loops_that_may_not_end(loop: str) -> None:
    assert _found(loop) == "line 6: this empty loop is not known to end"


@pytest.mark.parametrize("loop", PASSING)
def test_loops_that_may_pass_their_bound(loop: str) -> None:
    assert _found(loop) == "line 6: this loop is not known to end"


def test_an_endless_loop_over_a_dead_variable_is_not_proved(tmp_path: Path) -> None:
    parts = {"head": "", "parameters": "int n, double *x", "setup": "int s = 1;", "after": "x[0] = 0;"}
    old, new = (function(f"for (int i = 0; i {sign} n; i++) s = -s;", **parts) for sign in ("<", ">="))
    assert comparison(old, new, tmp_path) != PROVED
    assert comparison(old, old, tmp_path) == PROVED


@pytest.mark.parametrize("loop", ENDING)
def test_loops_that_end_or_do_something(loop: str) -> None:
    assert _found(loop) is None


NOT_RETURNING = ["exit(0);", "abort();", "g(i);", "h(i);", "k = g(i);"]


@pytest.mark.parametrize("call", NOT_RETURNING)
def test_nothing_that_may_trap_comes_before_a_call_that_may_not_return(call: str, tmp_path: Path) -> None:
    parts = {"head": "#include <stdlib.h>\nint g(int);", "parameters": "int n, int m, double *x, int (*h)(int)"}
    parts |= {"setup": "int r = 0;", "after": "x[0] = r;"}
    both = f"for (i = 0; i < n; i++) {{ if (i == m) {call} r += 10 / (m - i); }}"
    apart = f"for (i = 0; i < n; i++) r += 10 / (m - i); for (i = 0; i < n; i++) if (i == m) {call}"
    assert comparison(function(both, **parts), function(apart, **parts), tmp_path) != PROVED


PLACED = """void f(int n, double a[n], double *out)
{
  float t = 3;
#pragma scop
  for (int i = 0; i < n; i++) a[i] = t;
#pragma endscop
  out[1] = t;
}
"""
DAMAGED = {
    "an operator without an operand": (("= 3;", "= 3-;"), "line 3: expected expression"),
    "a brace too many": (("t;\n}", "t;\n} }"), "line 8: extraneous closing brace ('}')"),
    "a parenthesis too few": (("float t = 3;", "float t = (3;"), "line 3: expected ')'"),
    "a name declared twice, of the file": (("void f", "int g; double g;\nvoid f"), "redefinition of 'g'"),
    "a case outside of a switch": (("  out[1]", "  case 3: out[1]"), "not in switch"),
    "parameters of a macro": (("void f", "#define floord(n; d) ((n) / (d))\nvoid f"), "expected ',' or ')'"),
    "a number": (("  out[1] = t", "  out[1] = 08; out[1] = t"), "line 7: invalid digit"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_no_compiler_accepts_outside_of_the_region(name: str, tmp_path: Path) -> None:
    change, said = DAMAGED[name]
    assert comparison(PLACED, PLACED, tmp_path) == PROVED
    assert PLACED.replace(*change) != PLACED
    found = comparison(PLACED, PLACED.replace(*change), tmp_path)
    assert "no compiler accepts NEW" in found and said in found


NO_PROGRAMS = {
    "a name outside of the region": ({"setup": "zz = 3;"}, "line 4: gcc says: 'zz' undeclared"),
    "a name in the region": ({"body": _COPY.replace("b[i]", "zz")}, "'zz' undeclared"),
    "types outside of the region": ({"setup": "int z = x * y;"}, "invalid operands to binary *"),
    "a type of a parameter": ({"parameters": "int n, matrix *x"}, "unknown type name 'matrix'"),
    "a length of the file": ({"head": "double q[LENGTH];", "after": "q[0] = 1;"}, "'LENGTH' undeclared"),
    "what the file demands": ({"head": '_Static_assert(sizeof(int) == 8, "");'}, "static assertion failed"),
    "what the file asks for": ({"head": "#ifndef MODE\n#error no MODE\n#endif"}, "#error no MODE"),
}
"""What is wrong in both files, with all headers there."""


@pytest.mark.parametrize("name", NO_PROGRAMS)
def test_two_files_with_the_same_error_are_not_proved(name: str, tmp_path: Path) -> None:
    parts, said = NO_PROGRAMS[name]
    text = function(**{"body": _COPY, **parts})
    found = comparison(text, text, tmp_path)
    assert "old.c does not compile: " in found and said in found


@pytest.mark.parametrize("name", NO_PROGRAMS)
@pytest.mark.parametrize("wrong", ["old.c", "new.c"])
def test_a_file_that_is_no_program_is_not_refuted(name: str, wrong: str, tmp_path: Path) -> None:
    parts, said = NO_PROGRAMS[name]
    other = _COPY.replace("b[i]", "b[i] + 1")
    texts = [function(other), function(**{"body": _COPY, **parts})]
    old, new = texts if wrong == "new.c" else texts[::-1]
    found = comparison(old, new, tmp_path)
    around = "the regions differ, and so does what is around them"
    if name == "a name in the region":
        first = found.split("; ")[0]
        assert f"{wrong} does not compile: " in first and said in first
        assert found.endswith("; by running: 'zz', which the file does not define, was not examined")
    else:
        assert found.startswith(around) or (f"{wrong} does not compile: " in found and said in found)


def test_differences_are_told_where_headers_are_missing(tmp_path: Path) -> None:
    old = function(_COPY, head='#include "missing.h"')
    assert "does not end up with the same value" in comparison(old, old.replace("b[i]", "b[i] + 1"), tmp_path)
    bad = old.replace("b[i]", "b[i] + 1").replace("int i, j, k;", "int i, j, k; int z = x * y;")
    assert "no compiler accepts NEW" in comparison(old, bad, tmp_path)


@pytest.mark.parametrize(
    "parts",
    [
        {"head": '#include "missing.h"', "parameters": "int n, matrix *x", "setup": "zz = 3;"},
        {"head": "int unrelated(void) { return zz; }"},
    ],
)
def test_what_a_missing_header_may_declare_and_other_functions_are_no_reason(
    parts: dict[str, str], tmp_path: Path
) -> None:
    text = function(_COPY, **parts)
    assert comparison(text, text, tmp_path) == PROVED


def test_a_snippet_declares_nothing(tmp_path: Path) -> None:
    text = "#pragma scop\nfor (i = 0; i < n; i++) a[i] = b[i];\n#pragma endscop\n"
    assert comparison(text, text, tmp_path) == PROVED


_PAIRS = "for (i = 0; i < n; i += 2) { a[i] = 1; a[i + 1] = 1; }"
LEAVING = {
    "a macro that returns": "#define CHECK(c) do { if (!(c)) return; } while (0)",
    "a macro in a macro": "#define FAIL(c) if (c) return\n#define CHECK(c) FAIL(!(c))",
    "a macro that ends the program": "#include <stdlib.h>\n#define CHECK(c) ((c) ? (void)0 : abort())",
    "a function of another file": "void fail(const char *);",
}


@pytest.mark.parametrize("name", LEAVING)
def test_sizes_that_do_not_reach_the_region_refute_nothing(name: str, tmp_path: Path) -> None:
    setup = "CHECK(n % 2 == 0);" if "macro" in name else 'if (n % 2 != 0) fail("odd");'
    parts = {"head": LEAVING[name], "setup": setup}
    old = function("for (i = 0; i < n; i++) a[i] = 1;", **parts)
    found = comparison(old, function(_PAIRS, **parts), tmp_path)
    assert found != PROVED and "does not end up" not in found
    if "macro" not in name:
        wrong = function("for (i = 0; i < n; i++) a[i] = 2;", **parts)
        assert "does not end up" in comparison(old, wrong, tmp_path)


@pytest.mark.parametrize(
    ("old", "same", "other"),
    [
        ("x[1500000000 * i] = 1", "if (i < 2) x[1500000000 * i] = 1", "if (i < 1) x[1500000000 * i] = 1"),
        ("x[i] = 1500000000 * i", "if (i < 2) x[i] = 1500000000 * i", "if (i < 1) x[i] = 1500000000 * i"),
        ("if (1500000000 * n > i) x[i] = 1", "if (n < 2) x[i] = 1", "if (n < 1) x[i] = 1"),
    ],
    ids=["a subscript", "a value", "a condition"],
)
def test_sizes_at_which_the_original_overflows_refute_nothing(
    old: str, same: str, other: str, tmp_path: Path
) -> None:
    """For n = 3 OLD may do anything."""
    texts = [function(f"for (i = 0; i < n; i++) {one};") for one in (old, same, other)]
    assert "does not end up with the same value" not in comparison(texts[0], texts[1], tmp_path)
    assert "does not end up with the same value" in comparison(texts[0], texts[2], tmp_path)


@pytest.mark.parametrize(
    ("shift", "is_defined"),
    [("-1 << 1", False), ("(-1) << 1", False), ("-(1 << 1)", True), ("1 << 1", True), ("i << 1", True)],
)
def test_no_number_below_zero_is_shifted(shift: str, is_defined: bool) -> None:
    old, new = (
        Compiled(Source("t.c", function(f"for (i = 0; i < n; i++) a[{at}] = b[i];")), PLAIN)
        for at in ("i", f"i + ({shift}) - ({shift})")
    )
    assert (unacceptable(old, new) is None) == is_defined
