"""Steps on ints that give the same bits in any order: no permission is needed, and no others are free."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.reductions import reductions
from loopwright.read.c.reader import read_c
from loopwright.transform import plan_of

DECLARED = """\
#define MAX(a, b) ((a) >= (b) ? (a) : (b))
#define HALF(a) ((a) * 0.5)
#define TWICE(a) (2 * (a))
#ifdef SMALL
#define LEAST(a) (a)
#endif
int s, t, x[9][9], m[9]; char c[9]; short h[9]; unsigned u; long l; double d, e[9][9]; float f;
int max(int a, int b);
"""


def verdict(
    tmp_path: Path,
    statement: str,
    script: str = "interchange(S1, i, j)",
    *,
    allowed: bool = False,
    declared: str = "",
) -> bool:
    file = tmp_path / "k.c"
    loops = "  for (int i = 0; i < 9; i++)\n    for (int j = 0; j < 9; j++)\n"
    file.write_text(
        f"{DECLARED}{declared}\nvoid f(void)\n{{\n#pragma scop\n{loops}"
        f"      {statement}\n#pragma endscop\n}}\n"
    )
    (program,) = read_c(file)
    return prove_plan(plan_of(program).transform(script), allow_reassociation=allowed).proved


EXACT = [
    "s = MAX(s, x[i][j]);",
    "if (x[i][j] > s) s = x[i][j];",
    "s = x[i][j] < s ? x[i][j] : s;",
    "s = MAX(s, TWICE(x[i][j]) + c[j] - h[i]);",
    "s |= x[i][j];",
    "s ^= c[j];",
    "s |= e[i][j] > d;",
    "l &= !(e[i][j] > d && f < e[i][j]);",
    "if (x[i][j] == 3) s += 2;",
    "if (e[i][j] > 0) { s++; }",
    "++s;",
    "u += 1;",
    "u += x[i][j];",
    "u -= 2 * x[i][j] + c[j];",
    "u *= x[i][j];",
    "if (e[i][j] > 0) u++;",
]

NOT_EXACT = [
    ("s += x[i][j];", "may overflow in one order only"),
    ("s -= 1;", "the other sign has another word, and is not understood"),
    ("s *= 2;", "may overflow"),
    ("s = MAX(s, HALF(x[i][j]));", "rounds"),
    ("s = MAX(s, LEAST(x[i][j]));", "defined by some options only"),
    ("s = max(s, x[i][j]);", "a function, which may do anything"),
    ("s = MAX(s, l + x[i][j]);", "converted from long"),
    ("s = MAX(s, u + x[i][j]);", "converted from unsigned"),
    ("s = MAX(s, 3000000000);", "no int"),
    ("s = MAX(s, (int)e[i][j]);", "a conversion"),
    ("d += 1;", "rounds"),
    ("f = MAX(f, e[i][j]);", "a float has -0 and NaN"),
    ("u += l;", "a longer number"),
    ("u += e[i][j];", "rounds"),
    ("u += HALF(x[i][j]);", "rounds"),
    ("u = MAX(u, x[i][j]);", "converted to unsigned"),
    ("u = 2 * u + x[i][j];", "no sum"),
    ("h[0] += x[i][j];", "converted to short"),
    ("s = MAX(s, s + x[i][j]);", "reads itself"),
]


@pytest.mark.parametrize("statement", EXACT)
def test_ints_are_combined_in_any_order(tmp_path: Path, statement: str) -> None:
    assert verdict(tmp_path, statement)


@pytest.mark.parametrize(("statement", "why"), NOT_EXACT, ids=lambda one: str(one)[:30])
def test_others_keep_their_order(tmp_path: Path, statement: str, why: str) -> None:
    assert not verdict(tmp_path, statement), why


FIRST = "if (e[i][j] > d) { d = e[i][j]; s = i; }"


@pytest.mark.parametrize(
    "statement", [FIRST, "if (d <= fabs(e[i][j])) { s = i; d = fabs(e[i][j]); t = j + x[0][0]; }"]
)
def test_the_place_of_the_largest_value_is_found_in_any_order_if_that_is_allowed(
    tmp_path: Path, statement: str
) -> None:
    """No clause combines what several threads find: a parallel loop is refused."""
    assert verdict(tmp_path, statement, allowed=True)
    assert not verdict(tmp_path, statement)
    assert not verdict(tmp_path, statement, "parallel(S1, i)", allowed=True)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("if (e[i][j] > d) { d = e[i][j]; m[i] = j; }", "every row keeps the last one that was larger"),
        ("if (e[i][j] > e[8][j]) { e[8][j] = e[i][j]; s = i; }", "one place for several values"),
        ("if (e[i][j] > d) { d = e[i][j]; s = s + 1; }", "counts how often one was larger"),
        ("if (e[i][j] > d) { d = e[i][j]; s = i; t = s; }", "tells of the step before"),
        ("if (e[i][j] > d) { d = e[i][j] + 1; s = i; }", "another value"),
        ("if (e[i][j] > d) { d = e[i][j]; s += i; }", "a sum"),
        ("if (e[i][j] > f) { f = e[i][j]; s = i; }", "rounds"),
        ("if (e[i][j] > d) { d = e[i][j]; s = i; } else t = i;", "tells which were not larger"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_what_tells_more_than_the_place_keeps_its_order(tmp_path: Path, statement: str, why: str) -> None:
    assert not verdict(tmp_path, statement, allowed=True), why


ROUNDED = """\
#define PART 0.5
#define OTHER weight
#define THREE 3
typedef double real;
typedef long number;
double weight;
int p, x[9];
"""


@pytest.mark.parametrize(
    ("added", "is_reduction"),
    [
        ("x[i] * THREE", True),
        ("(number)x[i] * i - 'a'", True),
        ("x[i] * .5", False),
        ("x[i] * PART", False),
        ("x[i] * OTHER", False),
        ("x[i] * M_PI", False),
        ("(real)x[i] / 2", False),
    ],
)
def test_an_int_that_is_rounded_at_each_step_is_no_reduction(
    tmp_path: Path, added: str, is_reduction: bool
) -> None:
    """Wherever the fraction comes from: a macro, a header, a type."""
    file = tmp_path / "k.c"
    loop = f"#pragma scop\nfor (int i = 0; i < 9; i++)\n  p += {added};\n#pragma endscop\n"
    file.write_text(f"#include <math.h>\n{ROUNDED}void f(void)\n{{\n{loop}}}\n")
    (program,) = read_c(file)
    assert bool(reductions(program)) == is_reduction


def test_threads_need_a_permission_still(tmp_path: Path) -> None:
    assert not verdict(tmp_path, "s = MAX(s, x[i][j]);", "parallel(S1, i)")
    assert not verdict(tmp_path, "s = MAX(s, x[i][j]);", "vectorize(S1, j)")


def test_steps_of_two_kinds_and_reads_in_between_keep_their_order(tmp_path: Path) -> None:
    assert not verdict(tmp_path, "{ s = MAX(s, x[i][j]); s += 1; }", "distribute(S1, S2)")
    assert not verdict(tmp_path, "{ s = MAX(s, x[i][j]); m[j] = s; }", "distribute(S1, S2)")
    assert verdict(tmp_path, "{ s = MAX(s, x[i][j]); s = MAX(s, c[j]); }", "distribute(S1, S2)")


def test_the_word_of_a_step(tmp_path: Path) -> None:
    file = tmp_path / "k.c"
    body = "  for (int i = 0; i < 9; i++) {\n    s += 1;\n    t -= 1;\n    d += 1;\n    m[0] &= c[i];\n  }"
    file.write_text(f"{DECLARED}void f(void)\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    (program,) = read_c(file)
    assert [one.exact for one in reductions(program).values()] == ["+", "", "", "&"]


@pytest.mark.parametrize(
    ("statement", "exact", "allowed"),
    [
        ("q *= (real).99;", False, True),
        ("if (r[i] > q) { q = r[i]; p = i; }", False, True),
        ("if (x[i][j] > w) w = x[i][j];", True, True),
        ("w *= .5;", False, False),
        ("if (r[i] > w) w = r[i];", False, False),
    ],
)
def test_types_of_a_header_are_those_of_the_compiler(
    tmp_path: Path, statement: str, exact: bool, allowed: bool
) -> None:
    (tmp_path / "types.h").write_text("typedef double real;\ntypedef int whole;\n")
    declared = '#include "types.h"\nreal q, r[9]; whole w, p;'
    assert verdict(tmp_path, statement, declared=declared) is exact
    assert verdict(tmp_path, statement, allowed=True, declared=declared) is allowed
