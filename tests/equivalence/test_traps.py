"""Pairs that look alike and are not the same: each of these was once called proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.programs import OVERFLOW
from loopwright.prove.verdict import Proved, Refuted, Undecided
from tests.equivalence.support import compared, wrapped

LOOP = "for (i = 0; i < n; i++)"
CHAIN = "for (i = 1; i < n; i++) a[i] = a[i - 1];"

POINTED_TO = {
    "with an offset": ("double x[100]; double *p = x + 1;", "x[i]"),
    "as a row": ("double x[100][2]; double *p = x[1];", "x[i][0]"),
    "in a call": ("double x[100]; remember(x + 1);", "x[i]"),
}


@pytest.mark.parametrize("name", POINTED_TO)
def test_a_variable_with_a_pointer_to_it_counts(tmp_path: Path, name: str) -> None:
    own, cell = POINTED_TO[name]
    old, new = (
        wrapped(f"{LOOP} {{ {cell} = {value}; a[i] = 0; }}", own=own, after="a[0] = look();")
        for value in ("b[i]", "c[i]")
    )
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)


PRAGMAS = (
    "omp for",
    "omp for simd",
    "omp taskloop",
    "omp target teams distribute parallel for",
    "acc parallel loop",
    "clang loop vectorize(assume_safety)",
    'GCC optimize("fast-math")',
    "STDC FP_CONTRACT ON",
)


@pytest.mark.parametrize("pragma", PRAGMAS)
def test_a_pragma_nothing_is_known_of_may_mean_anything(tmp_path: Path, pragma: str) -> None:
    found = compared(tmp_path, wrapped(CHAIN), wrapped(f"#pragma {pragma}\n{CHAIN}")).verdict
    assert isinstance(found, Undecided) and "is not known" in found.reason


def test_pragmas_that_leave_the_meaning_alone(tmp_path: Path) -> None:
    for pragma in ("GCC unroll 4", "unroll", "STDC FP_CONTRACT OFF"):
        assert isinstance(
            compared(tmp_path, wrapped(CHAIN), wrapped(f"#pragma {pragma}\n{CHAIN}")).verdict, Proved
        )
    shared = "#pragma omp parallel for schedule(dynamic, 2) num_threads(4) default(shared)"
    copy = f"{LOOP} a[i] = b[i];"
    assert isinstance(compared(tmp_path, wrapped(copy), wrapped(f"{shared}\n{copy}")).verdict, Proved)


def test_a_pragma_in_front_of_a_region_is_about_its_first_loop(tmp_path: Path) -> None:
    outside = wrapped(CHAIN).replace("#pragma scop", "#pragma omp parallel for\n#pragma scop")
    with pytest.raises(BadInput, match="inside the region"):
        compared(tmp_path, wrapped(CHAIN), outside)


def test_a_reduction_adds_in_any_order(tmp_path: Path) -> None:
    plain = wrapped(f"{LOOP} s += b[i];", own="double s;", after="a[0] = s;")
    new = plain.replace("for (", "#pragma omp parallel for reduction(+:s)\nfor (")
    found = compared(tmp_path, plain, new).verdict
    assert isinstance(found, Undecided) and "--allow-reassociation" in found.reason
    assert isinstance(compared(tmp_path, plain, new, allow_reassociation=True).verdict, Proved)


INTEGERS = {
    "a negative number as an unsigned one": ("a[i] = i - 5;", "a[i] = (unsigned)(i - 5);"),
    "two widths of it": ("a[i] = (unsigned long)(i - 5);", "a[i] = (unsigned)(i - 5);"),
    "a local of it": ("a[i] = i - 5;", "{ unsigned x = i - 5; a[i] = x; }"),
    "a test of it": ("if (i - 5 < 3) a[i] = 0;", "if ((unsigned)(i - 5) < 3u) a[i] = 0;"),
    "a test of a local of it": ("if (i - 5 > 2) a[i] = 0;", "{ unsigned x = i - 5; if (x > 2) a[i] = 0; }"),
    "a test of an unsigned difference": ("if (i - 5 < 3) a[i] = 0;", "if (i - 5u < 3) a[i] = 0;"),
    "a hexadecimal number is unsigned": ("a[i] = 4294967295 + 1;", "a[i] = 0xffffffff + 1;"),
    "a typedef of it": ("a[i] = i - 5;", "a[i] = (count)(i - 5);"),
    "a short name of it": ("a[i] = i - 5;", "a[i] = (U)(i - 5);"),
    "a macro for it": ("a[i] = i - 5;", "a[i] = (SIZE)(i - 5);"),
    "a test of a typedef of it": ("if (i - 5 < 3) a[i] = 0;", "if ((count)(i - 5) < 3) a[i] = 0;"),
    "a quotient of a typedef of it": ("a[i] = b[0];", "a[i] = b[(count)(i - 5) / 1000000000];"),
    "a quotient of a short name of it": ("a[i] = b[0];", "a[i] = b[(U)(i - 5) / 1000000000];"),
    "a quotient of a macro for it": ("a[i] = b[0];", "a[i] = b[(SIZE)(i - 5) / 1000000000];"),
    "a quotient of a long name of it": ("a[i] = b[0];", "a[i] = b[(unsigned_number)(i - 5) / 1000000000];"),
}
UNSIGNED = "typedef unsigned count, U, unsigned_number;\n#define SIZE unsigned"


@pytest.mark.parametrize("name", INTEGERS)
def test_what_wraps_around_is_another_number(tmp_path: Path, name: str) -> None:
    old, new = (wrapped(f"{LOOP} {body}", head=UNSIGNED) for body in INTEGERS[name])
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)
    assert not isinstance(compared(tmp_path, new, old).verdict, Proved)


CASTS = "typedef float real, R; typedef double wide, W; typedef unsigned char byte;\n#define REAL float\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("~i", "(real)(i)"),
        ("~i", "(R)(i)"),
        ("~i", "(REAL)(i)"),
        ("~(i - 7)", "(byte)(i - 7)"),
        ("(real)(b[i])", "(wide)(b[i])"),
        ("(R)(b[i])", "(W)(b[i])"),
        ("(REAL)(b[i])", "b[i]"),
    ],
)
def test_a_cast_is_no_operator_and_no_other_cast(tmp_path: Path, one: str, other: str) -> None:
    """Before parentheses, `(X)` is shown to the grammar as something that it can parse."""
    old, new = (wrapped(f"{LOOP} a[i] = {value};", head=CASTS) for value in (one, other))
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)
    assert isinstance(compared(tmp_path, new, new).verdict, Proved)


def test_a_signed_type_by_another_name_is_no_other_number(tmp_path: Path) -> None:
    old, new = (
        wrapped(f"{LOOP} a[{index}] = b[i];", head="typedef long number;") for index in ("i", "(number)(i)")
    )
    assert isinstance(compared(tmp_path, old, new).verdict, Proved)


TILES = "for (t = 0; t <= (n - 1) / 8; t++) for (i = 8 * t; i < min(n, 8 * t + 8); i++) a[i] = i;"
MINIMUM = "#define min(x, y) ((x) < (y) ? (x) : (y))\n"


def test_what_a_helper_computes_that_nothing_defines_is_listed_as_trusted(tmp_path: Path) -> None:
    before, after = tmp_path / "old.c", tmp_path / "new.c"
    before.write_text(wrapped(f"{LOOP} a[i] = i;"))
    for head in ("", "extern int min(int x, int y);\n", MINIMUM):
        after.write_text(wrapped(TILES, head=head))
        found = compare_files(before, after)
        said = "'min' is the smaller of its arguments" in found.trusted
        assert found.proved and said is (head != MINIMUM)


def test_integers_that_only_the_new_text_computes_are_listed_as_trusted(tmp_path: Path) -> None:
    old, new = (wrapped(f"{LOOP} a[i] = {value};") for value in ("i", "i * 1000000 / 1000000"))
    assert OVERFLOW in compared(tmp_path, old, new).trusted
    assert OVERFLOW not in compared(tmp_path, new, old).trusted
    old, new = wrapped(f"{LOOP} a[i] = -m;"), wrapped(f"int x = -m; {LOOP} a[i] = x;")
    assert OVERFLOW in compared(tmp_path, old, new).trusted


LEFT_OVER = {
    "of the loop": "{ double x; if (i == 0) x = b[0]; a[i] = x; }",
    "in an array": "{ double x[5]; if (i == 0) x[2] = b[0]; a[i] = x[2]; }",
    "of another block": "{ { double x = b[0]; a[i] = x; } { double x; a[i] = x; } }",
}


@pytest.mark.parametrize("name", LEFT_OVER)
def test_an_iteration_has_no_value_that_another_one_left(tmp_path: Path, name: str) -> None:
    found = compared(tmp_path, wrapped(f"{LOOP} a[i] = b[0];"), wrapped(f"{LOOP} {LEFT_OVER[name]}")).verdict
    assert isinstance(found, Undecided) and "another one left in x" in found.reason


def test_a_local_without_a_value_that_is_always_given_one(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} a[i] = b[i] > 0 ? 1 : 2;")
    new = wrapped(f"{LOOP} {{ double x; if (b[i] > 0) x = 1; else x = 2; a[i] = x; }}")
    assert isinstance(compared(tmp_path, old, new).verdict, Proved)


def test_a_pure_function_may_read_what_the_region_changes(tmp_path: Path) -> None:
    head = "double w;\n__attribute__((pure)) double g(double x) { return x + w; }"
    old, new = (
        wrapped(f"{LOOP} {{ {body} }}", head=head)
        for body in ("w = b[i]; a[i] = g(c[i]);", "a[i] = g(c[i]); w = b[i];")
    )
    assert isinstance(compared(tmp_path, old, new).verdict, Undecided)


BRANCHES = {
    "a type": ("typedef {} real;", ("float", "double"), ("int", "double"), "{ real x = b[i]; a[i] = x; }"),
    "a constant": ("static const double K = {};", ("1", "2"), ("3", "2"), "a[i] = K * b[i];"),
    "storage": ("extern {} g[100];", ("float", "double"), ("int", "double"), "a[i] = g[i];"),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_what_a_name_is_may_depend_on_the_preprocessor(tmp_path: Path, name: str) -> None:
    text, first, second, body = BRANCHES[name]
    heads = [f"#ifdef X\n{text.format(x)}\n#else\n{text.format(y)}\n#endif" for x, y in (first, second)]
    one, other = (wrapped(f"{LOOP} {body}", head=head) for head in heads)
    assert isinstance(compared(tmp_path, one, one).verdict, Proved)
    assert isinstance(compared(tmp_path, one, other).verdict, Undecided)
    found = compared(tmp_path, one, wrapped(f"{LOOP} a[i] = b[i];", head=heads[0])).verdict
    assert isinstance(found, Undecided) and "preprocessor" in found.reason


@pytest.mark.parametrize("head", ["enum { K = 2 };", "static const int K = 2;"])
def test_an_enumerator_is_its_number_and_no_other(tmp_path: Path, head: str) -> None:
    """Witnesses had K = 0, and K = 3."""
    for value in ("K * b[i]", "b[i + K]", "K"):
        old = wrapped(f"{LOOP} a[i] = {value};", head=head)
        two, three = (wrapped(f"{LOOP} a[i] = {value.replace('K', number)};") for number in "23")
        assert isinstance(compared(tmp_path, old, two).verdict, Proved)
        assert isinstance(compared(tmp_path, old, three).verdict, Refuted)


SEEN_LATER = {
    "a cell is written again": ("a[i] = 1;", "a[i] = 2;", "a[0] = 3;", Undecided),
    "all are written again": ("a[i] = 1;", "a[i] = 2;", "for (i = 0; i < n; i++) a[i] = 3;", Undecided),
    "a function may write it again": ("a[i] = 1;", "a[i] = 2;", "clear(a);", Undecided),
    "it is one of a local array": ("a[i] = 1;", "{ a[i] = 1; x[0] = i; }", "", Undecided),
    "another cell is written": ("a[i] = 1;", "a[i] = 2;", "a[1] = 3;", Refuted),
    "what is written again is read": ("a[i] = 1;", "a[i] = 2;", "a[0] = a[0] + 1;", Refuted),
    "it is read first": ("a[i] = 1;", "a[i] = 2;", "b[0] = a[0]; a[0] = 3;", Refuted),
}
"""Two statements, what follows the region, and what is known of the first cell that differs."""


@pytest.mark.parametrize("name", SEEN_LATER)
def test_a_difference_that_nothing_sees_is_none(tmp_path: Path, name: str) -> None:
    first, second, after, kind = SEEN_LATER[name]
    own = "double x[3]; (void)x;"
    old, new = (wrapped(f"{LOOP} {one}", own=own, after=after) for one in (first, second))
    assert isinstance(compared(tmp_path, old, new).verdict, kind)


IN_VECTORS = {
    "what was read is written": ("for (i = 0; i < n - 1; i++) a[i] = a[i + 1];", Undecided),
    "what stands first is first": ("for (i = 1; i < n; i++) { b[i] = c[i]; a[i] = b[i - 1]; }", Undecided),
    "what was written is read": (CHAIN, Refuted),
    "what stands last is first": ("for (i = 1; i < n; i++) { a[i] = b[i - 1]; b[i] = c[i]; }", Refuted),
}


@pytest.mark.parametrize("name", IN_VECTORS)
def test_lanes_of_a_vector_do_first_what_stands_first(tmp_path: Path, name: str) -> None:
    """OpenMP 5.0 keeps such dependences; threads keep none."""
    loop, kind = IN_VECTORS[name]
    assert isinstance(compared(tmp_path, wrapped(loop), wrapped(f"#pragma omp simd\n{loop}")).verdict, kind)
    threads = wrapped(f"#pragma omp parallel for\n{loop}")
    assert isinstance(compared(tmp_path, wrapped(loop), threads).verdict, Refuted)


@pytest.mark.parametrize("call", ["__builtin_expect(b[i] > 0, 0)", "__builtin_isless(0, b[i])"])
def test_functions_of_the_compiler_have_a_meaning(tmp_path: Path, call: str) -> None:
    """Witnesses took them for any function."""
    old, new = (wrapped(f"{LOOP} if ({one}) a[i] = 1;") for one in (call, "b[i] > 0"))
    assert isinstance(compared(tmp_path, old, new).verdict, Proved | Undecided)
