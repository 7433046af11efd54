"""What stands around a region decides with it: functions that differ there are no plain yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.file import c_file
from loopwright.prove.comparison.outside import adds_only_harmless_text, outside_difference
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
SAME = {
    "another iterator": function(before="int k;", loop=LOOP.replace("i", "k").replace("knt", "int")),
    "more iterators": function(before="int i, t1, t2; register int lbv, ubv;"),
    "a wider iterator": function(before="long i;"),
    "spaces and comments": function(before="int   i ; /* an iterator */"),
    "a local for a bound": function(before="int i; int last = n - 1;"),
    "macros and headers": "#include <math.h>\n#define min(x, y) ((x) < (y) ? (x) : (y))\n" + function(),
}


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


def test_what_a_function_returns_is_compared() -> None:
    old, new = (function().replace("void f", f"{kind} f") for kind in ("double", "float"))
    assert outside_difference(region(old), region(new)) is not None


@pytest.mark.parametrize("name", SAME)
def test_what_means_the_same_is_no_difference(name: str) -> None:
    assert outside_difference(region(function()), region(SAME[name])) is None


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
