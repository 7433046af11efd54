"""A `return` in a region keeps its order with all that is seen after the function, and with what may trap."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.cli.main import main
from tests.traps.support import PROVED, Trap, answer, comparison

HEAD = "int g(int); static int kept;"


def _text(body: str, parameters: str, setup: str) -> str:
    return (
        f"{HEAD}\nint f({parameters}) {{\nint i, j; {setup}\n"
        f"#pragma scop\n{body}\n#pragma endscop\nreturn -1;\n}}\n"
    )


_USUAL = "int n, int m, const int *x, double *a, double *b"
_SEARCH = "for (i = 0; i < n; i++) if (x[i] == m) return i;"

OTHERWISE = {
    "from the other end": (_SEARCH, "for (i = n - 1; i >= 0; i--) if (x[i] == m) return i;"),
    "another value": (_SEARCH, "for (i = 0; i < n; i++) if (x[i] == m) return i + 1;"),
    "another test": (_SEARCH, "for (i = 0; i < n; i++) if (x[i] != m) return i;"),
    "one element more": (_SEARCH, "for (i = 0; i <= n; i++) if (x[i] == m) return i;"),
    "not at all": (_SEARCH, "for (i = 0; i < n; i++) ;"),
    "an empty text": (_SEARCH, ";"),
    "a break": (_SEARCH, "for (i = 0; i < n; i++) if (x[i] == m) break;"),
    "in two parts, exchanged": (
        _SEARCH,
        "for (i = m; i < n; i++) if (x[i] == m) return i; for (i = 0; i < m; i++) if (x[i] == m) return i;",
    ),
    "what comes before it, after it": (
        "for (i = 0; i < n; i++) { a[i] = 1; if (x[i] == m) return i; }",
        "for (i = 0; i < n; i++) { if (x[i] == m) return i; a[i] = 1; }",
    ),
    "what comes after it, before it": (
        "for (i = 0; i < n; i++) { if (x[i] == m) return i; a[i] = 1; }",
        "for (i = 0; i < n; i++) a[i] = 1; for (i = 0; i < n; i++) if (x[i] == m) return i;",
    ),
    "all of it first": (
        "for (i = 0; i < n; i++) { a[i] = 1; if (x[i] == m) return i; }",
        "for (i = 0; i < n; i++) if (x[i] == m) return i; for (i = 0; i < n; i++) a[i] = 1;",
    ),
    "a number of the file": (
        "for (i = 0; i < n; i++) { if (x[i] == m) return i; kept = i; }",
        "for (i = 0; i < n; i++) kept = i; for (i = 0; i < n; i++) if (x[i] == m) return i;",
    ),
    "under an affine test": (
        "for (i = 0; i < n; i++) { a[i] = 1; if (i == m) return 3; }",
        "for (i = 0; i < n; i++) a[i] = 1; for (i = 0; i < n; i++) if (i == m) return 3;",
    ),
    "what divides by zero after it": (
        "for (i = 0; i < n; i++) { if (i == m) return 3; j = 10 / (m - i); }",
        "for (i = 0; i < n; i++) j = 10 / (m - i); for (i = 0; i < n; i++) if (i == m) return 3;",
    ),
    "a value that is computed later": (
        "j = 0; for (i = 0; i < n; i++) { j += x[i]; if (x[i] == m) return j; }",
        "j = 0; for (i = 0; i < n; i++) { if (x[i] == m) return j; j += x[i]; }",
    ),
    "two returns exchanged": (
        "for (i = 0; i < n; i++) { if (x[i] == m) return 1; if (x[i] > 4) return 2; }",
        "for (i = 0; i < n; i++) { if (x[i] > 4) return 2; if (x[i] == m) return 1; }",
    ),
    "two loops exchanged": (
        f"{_SEARCH} for (j = 0; j < n; j++) if (x[j] > 7) return -j;",
        f"for (j = 0; j < n; j++) if (x[j] > 7) return -j; {_SEARCH}",
    ),
    "a call in its value": (
        "for (i = 0; i < n; i++) { if (x[i] == m) return g(i); a[i] = g(-i); }",
        "for (i = 0; i < n; i++) a[i] = g(-i); for (i = 0; i < n; i++) if (x[i] == m) return g(i);",
    ),
    "two dimensions": (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (x[i + 3 * j] == m) return i;",
        "for (j = 0; j < n; j++) for (i = 0; i < n; i++) if (x[i + 3 * j] == m) return i;",
    ),
    "in parallel": (_SEARCH, f"\n#pragma omp parallel for\n{_SEARCH}"),
    "in a vector loop": (_SEARCH, f"\n#pragma omp simd\n{_SEARCH}"),
}

THE_SAME = {
    "another name": (_SEARCH, "for (j = 0; j < n; j++) if (x[j] == m) return j;"),
    "two parts": (
        _SEARCH,
        "for (i = 0; i < n - 1; i++) if (x[i] == m) return i; if (n >= 1) if (x[n - 1] == m) return n - 1;",
    ),
    "two loops of one": (
        "for (i = 0; i < n; i++) { a[i] = 1; b[i] = 2; } " + _SEARCH,
        "for (i = 0; i < n; i++) a[i] = 1; for (i = 0; i < n; i++) b[i] = 2; " + _SEARCH,
    ),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_other_orders_are_not_proved(name: str, tmp_path: Path) -> None:
    old, new = (_text(body, _USUAL, "") for body in OTHERWISE[name])
    assert comparison(old, new, tmp_path) != PROVED


@pytest.mark.parametrize("leave", ["LEAVE(j);", "GIVE j;", "do GIVE j; while (0);", "while (x[i]) LEAVE(j);"])
def test_a_return_in_a_macro_is_one(leave: str, tmp_path: Path) -> None:
    macros = "#define LEAVE(v) return v\n#define GIVE return\n"
    both = f"for (i = 0; i < n; i++) {{ if (x[i] == m) {leave} j = i; a[i] = 1; }}"
    apart = f"for (i = 0; i < n; i++) a[i] = 1; for (i = 0; i < n; i++) {{ if (x[i] == m) {leave} j = i; }}"
    old, new = (macros + _text(body, _USUAL, "j = 0;") for body in (both, apart))
    assert comparison(old, new, tmp_path) != PROVED


@pytest.mark.parametrize("name", THE_SAME)
def test_the_same_order_is(name: str, tmp_path: Path) -> None:
    old, new = (_text(body, _USUAL, "") for body in THE_SAME[name])
    assert comparison(old, new, tmp_path) == PROVED


@pytest.mark.parametrize(
    ("body", "script"),
    [
        ("for (i = 0; i < n; i++) if (x[i] > 3) return;", "reverse(S1, i)"),
        ("for (i = 0; i < n; i++) { if (x[i] > 3) return; y[i] = 1; }", "distribute(S1, S2)"),
        ("for (i = 0; i < n; i++) { y[i] = 1; if (i == 7) return; }", "distribute(S1, S2)"),
        ("for (i = 0; i < n; i++) { y[i] = 1; if (x[i] > 3) return; }", "parallel(S1, i)"),
        ("for (i = 0; i < n; i++) { y[i] = 1; if (x[i] > 3) return; }", "vectorize(S1, i)"),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (x[j] > i) return;", "interchange(S1, i, j)"),
        ("for (i = 0; i < n; i++) { s = x[i]; y[i] = s; if (s > 3) return; }", "expand(s, i)"),
        ("for (i = 0; i < n; i++) { if (x[i] > 3) return; a[i] = 2; }", "shift(S2, i, -1)"),
    ],
)
def test_scripts_that_would_change_what_is_done_before_it(body: str, script: str, tmp_path: Path) -> None:
    assert answer(Trap("", body, script=script), tmp_path) not in (PROVED, "left as it is")


def test_the_checker_does_not_call_a_text_valid_that_leaves_the_segment(tmp_path: Path) -> None:
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    main_function = "int main(void) { int x[4] = {1, 2, 3, 2}; double a[4]; return f(4, 2, x, a, a) != 1; }\n"
    body, other = OTHERWISE["from the other end"]
    old.write_text(_text(body, _USUAL, "") + "int g(int i) { return i; }\n" + main_function)
    new.write_text(_text(other, _USUAL, "") + "int g(int i) { return i; }\n" + main_function)
    with pytest.raises(SystemExit) as ended:
        main(["check", str(old), str(new)])
    assert ended.value.code != 0
