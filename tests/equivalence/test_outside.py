"""What stands around a region decides with it: functions that differ there are no plain yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.file import c_file
from loopwright.prove.comparison.outside import outside_difference
from loopwright.prove.comparison.preprocessor import adds_only_harmless_text
from loopwright.source import Source, Span
from tests.pipeline.support import file, run

LOOP = "for (i = 0; i < n; i++) A[i] = B[i] + 1;"


def function(
    *,
    parameters: str = "int n, int m",
    before: str = "int i;",
    head: str = "",
    after: str = "",
    loop: str = LOOP,
) -> str:
    region = f"{head}\n#pragma scop\n{loop}\n#pragma endscop\n"
    close = "}" * head.count("{")
    return f"double A[99], B[99];\nvoid f({parameters})\n{{\n{before}\n{region}{close}\n{after}\n}}\n"


def region(text: str) -> Span:
    return c_file(Source("k.c", text)).regions[0].place


DIFFERENT = {
    "parameters in another order": function(parameters="int m, int n"),
    "a parameter of another type": function(parameters="long n, int m"),
    "a parameter more": function(parameters="int n, int m, int k"),
    "a condition": function(head="if (m > 0) {"),
    "a loop": function(head="for (int t = 0; t < 2; t++) {"),
    "a parallel region": function(head="#pragma omp parallel\n{"),
    "an assignment before": function(before="int i; n = n / 2;"),
    "an assignment after": function(after="A[0] = 0;"),
    "a return before": function(before="int i; if (n > 9) return;"),
    "a local that hides an array": function(before="int i; double A[99];"),
    "a local that hides a parameter in a block": function(head="{ int n = m;"),
    "a narrow iterator": function(before="unsigned char i;"),
    "an unsigned iterator": function(before="unsigned i;"),
    "an iterator of an unknown type": function(before="word i;"),
    "a new narrow iterator": function(before="int i; short k;"),
    "a local with a call": function(before="int i, k = g();"),
    "a label": function(before="int i; again: ;"),
    "a local that a division gives": function(before="int i, k = n / m;"),
    "a local that a shift gives": function(before="int i, k = 1 << m;"),
    "a local that is an element": function(before="int i; double k = B[n];"),
    "a local through a pointer": function(before="int i; double k = *B;"),
    "a local converted": function(before="int i, k = (int)B;"),
    "a local of a local without a value": function(before="int i, k, l = k;"),
    "a table with an element": function(before="int i; double k[2] = { 0, B[n] };"),
}
REORDERED = {
    "a local before or after a change of its value": ("n += 1; int q = n;", "int q = n; n += 1;", ""),
    "a local set before or after": ("int i, q = 1; { int q = 2; }", "int i, q = 2; { int q = 1; }", ""),
    "a local of a block": ("int q = 1; { int q = 2;", "int q = 1; { int q = 2; q++;", "}"),
    "a block that ends later": ("int q = 1; { int q = 2;", "int q = 1; { int q = 2;", "} A[0] = q;"),
    "an else": ("if (n) {", "if (n) {", "} else A[0] = 1;"),
    "a test at the end": ("do {", "do {", "} while (n++ < 5);"),
}
"""What is before the region in one and in the other, and what is after it in the first."""
AFTER = {
    "a block that ends later": "A[0] = q; }",
    "an else": "} else A[0] = 2;",
    "a test at the end": "} while (0);",
}
WIDER = [
    "A[0] = sizeof i;",
    "A[0] = i * 1000000000 / 7;",
    "i = m; A[0] = i;",
    "A[0] = _Generic(i, int: 1, long: 2);",
]
"""What tells an int from a long after the region."""
SAME = {
    "another iterator": function(before="int k;", loop=LOOP.replace("i", "k").replace("knt", "int")),
    "more iterators": function(before="int i, t1, t2; register int lbv, ubv;"),
    "a wider iterator": function(before="long i;"),
    "spaces and comments": function(before="int   i ; /* an iterator */"),
    "a local for a bound": function(before="int i; int last = n - 1;"),
    "locals for bounds": function(before="int i, last = n > 0 ? n / 2 : -m, tile = 32, row = last * tile;"),
    "a pointer to an element": function(before="int i; double *k = &B[1];"),
    "macros and headers": "#include <math.h>\n#define min(x, y) ((x) < (y) ? (x) : (y))\n" + function(),
}


ITS_OWN = "for (i = 0; i < n; i++) { double t = B[i]; A[i] = t * t; }"
FOR_ALL = "for (i = 0; i < n; i++) { t = B[i]; A[i] = t * t; }"
OUTER = {
    "a local of each iteration": ("double t;", FOR_ALL, "", 0),
    "private to each thread": ("double t;", f"#pragma omp parallel for private(t)\n{FOR_ALL}", "", 0),
    "shared by threads": ("double t;", f"#pragma omp parallel for\n{FOR_ALL}", "", 1),
    "one that is too narrow": ("float t;", FOR_ALL, "", 1),
    "the value of an iteration before": (
        "double t = 0;",
        "for (i = 0; i < n; i++) { A[i] = t * t; t = B[i]; }",
        "",
        1,
    ),
    "one that lasts": ("static double t;", FOR_ALL, "", 3),
    "one that is read after the region": ("double t = 0;", FOR_ALL, "A[0] = t;", 3),
}
"""What is declared before the region, its loop, what is after it, and the status of `prove`."""


@pytest.mark.parametrize("name", OUTER)
def test_a_local_of_the_region_is_declared_before_it(name: str, tmp_path: Path) -> None:
    declared, loop, after, status = OUTER[name]
    old = file(tmp_path, function(loop=ITS_OWN), "old.c")
    new = file(tmp_path, function(before=f"int i; {declared}", loop=loop, after=after), "new.c")
    assert run("prove", old, new) == status
    if not after and "pragma" not in loop:
        assert run("prove", new, old) == (1 if status == 1 else status)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_told(name: str) -> None:
    assert outside_difference(region(function()), region(DIFFERENT[name])) is not None


@pytest.mark.parametrize("name", REORDERED)
def test_the_order_matters(name: str) -> None:
    first, second, after = REORDERED[name]
    old = function(before=f"int i; {first}", after=after)
    new = function(before=f"int i; {second}", after=AFTER.get(name, after))
    assert outside_difference(region(old), region(old)) is None
    assert outside_difference(region(old), region(new)) is not None


MOVED = {
    "an assignment": ("n = 3;", ""),
    "a call": ("g(n);", ""),
    "a block": ("{ n = 3; }", ""),
    "a return": ("return;", ""),
    "a local with a value": ("int k = A[0];", ""),
    "a pragma": ("\n#pragma omp barrier\n", ""),
    "in a condition": ("if (m) { n = 3;", "}"),
    "in a loop": ("for (int t = 0; t < m; t++) { g(n);", "}"),
    "in a loop without braces": ("for (int t = 0; t < m; t++) if (n) { g(n);", "}"),
}
"""What may stand before a region or after it."""


@pytest.mark.parametrize("name", MOVED)
def test_what_moves_past_the_region_is_a_difference(name: str) -> None:
    first, end = MOVED[name]
    opened, done = first.rsplit("{ ", 1) if end else ("", first)
    opened += "{" if end else ""
    old = function(before=f"int i; {opened} {done}", after=end)
    new = function(before=f"int i; {opened}", after=f"{done} {end}")
    assert outside_difference(region(old), region(old)) is None
    assert outside_difference(region(old), region(new)) is not None


@pytest.mark.parametrize(("one", "other"), [('"a b"', '"a  b"'), ("' '", "'  '"), ('"a"', '" a"')])
def test_white_space_in_literals_is_compared(one: str, other: str) -> None:
    old, new = (function(after=f"g({text});") for text in (one, other))
    assert outside_difference(region(old), region(old)) is None
    assert outside_difference(region(old), region(new)) is not None
    old, new = (f"int k(void) {{ return g({text}); }}\n" + function(after="k();") for text in (one, other))
    assert outside_difference(region(old), region(new)) is not None


def test_macros_that_count_are_no_plain_yes(tmp_path: Path) -> None:
    uses = ("int i;", "int i; int k = __COUNTER__;")
    old, new = (
        file(tmp_path, function(before=text, after="n = __COUNTER__;"), f"{at}.c")
        for at, text in enumerate(uses)
    )
    assert run("prove", old, new) == 3


def test_several_regions_of_a_function_are_compared_one_by_one() -> None:
    """Where all agree, the text of the others is none of what stands around one."""
    loops = [LOOP, LOOP.replace("i < n", "i <= n - 1")]
    old, new, moved = (
        function(loop=f"{loop}\n#pragma endscop\n{first}\n#pragma scop\n{loop}", after=last)
        for loop, first, last in ((loops[0], "g(1);", ""), (loops[1], "g(1);", ""), (loops[1], "", "g(1);"))
    )
    places = [[one.place for one in c_file(Source("k.c", text)).regions] for text in (old, new, moved)]
    for at in range(2):
        assert outside_difference(places[0][at], places[1][at], agree=True) is None
        assert outside_difference(places[0][at], places[1][at]) is not None
        assert outside_difference(places[0][at], places[2][at], agree=True) is not None


def test_what_a_function_returns_is_compared() -> None:
    old, new = (function().replace("void f", f"{kind} f") for kind in ("double", "float"))
    assert outside_difference(region(old), region(new)) is not None


@pytest.mark.parametrize("name", SAME)
def test_what_means_the_same_is_no_difference(name: str) -> None:
    assert outside_difference(region(function()), region(SAME[name])) is None


@pytest.mark.parametrize("after", WIDER)
def test_a_wider_local_that_is_used_elsewhere(after: str) -> None:
    old, new = (function(before=f"{kind} i;", after=after) for kind in ("int", "long"))
    assert outside_difference(region(old), region(new)) is not None


_HEADERS = ("#include <math.h>\n", "#include <limits.h>\n", "#define FRESH 1\n")
_FILES = {
    "a macro that a header may define": ("#ifndef M_PI\n#define M_PI 3.14\n#endif\n", "B[i] * M_PI", "", 0),
    "a macro of a macro": (
        "#ifndef M_PI\n#define M_PI 3.14\n#endif\n#define TURN (2 * M_PI)\n",
        "TURN",
        "",
        0,
    ),
    "a limit": ("#ifndef INT_MAX\n#define INT_MAX 5\n#endif\n", "B[i] + INT_MAX", "", 1),
    "a branch": ("", "B[i]", "\n#ifdef _MATH_H\nA[0] = 1;\n#else\nA[0] = 2;\n#endif", 0),
    "a branch alone": ("", "B[i]", "\n#ifdef _MATH_H\nA[0] = 1;\n#endif", 0),
    "the macro of a header": ("#ifdef _MATH_H\n#define K 1\n#else\n#define K 2\n#endif\n", "K", "", 0),
}


@pytest.mark.parametrize("name", _FILES)
def test_what_a_header_more_changes(name: str, tmp_path: Path) -> None:
    head, value, after, number = _FILES[name]
    text = head + function(loop=f"for (i = 0; i < n; i++) A[i] = {value};", after=after)
    old, new = file(tmp_path, text, "old.c"), file(tmp_path, _HEADERS[number] + text, "new.c")
    other = file(tmp_path, _HEADERS[2] + text, "other.c")
    assert (run("prove", old, new), run("prove", old, other)) == (3, 0)


def test_a_local_that_a_macro_names(tmp_path: Path) -> None:
    (tmp_path / "use.h").write_text("int total;\n#define USE A[0] = total;\n")
    text = '#include "use.h"\n' + function(after="USE")
    new = text.replace("int i;", "int i, total = 3;")
    assert run("prove", file(tmp_path, text, "old.c"), file(tmp_path, new, "new.c")) == 3


def test_prove_gives_no_plain_yes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file(tmp_path, function(), "old.c")
    assert run("prove", old, file(tmp_path, DIFFERENT["parameters in another order"], "new.c")) == 3
    assert "not what is around them: their parameters are" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "%:define B A",
        "#def\\\nine B A",
        '#include "b.h"',
        "#define B A",
        "#define for if (m) for",
        "#undef B",
        "#pragma STDC FP_CONTRACT ON",
        '#pragma GCC optimize("fast-math")',
        "#pragma omp threadprivate(A)",
        "#pragma redefine_extname A B",
    ],
)
def test_other_directives_are_no_harmless_text(line: str) -> None:
    old, new = function(), f"{line}\n{function()}"
    assert not adds_only_harmless_text(Source("o.c", old), Source("n.c", new))
    assert adds_only_harmless_text(Source("o.c", old), Source("n.c", SAME["macros and headers"]))
