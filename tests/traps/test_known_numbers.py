"""Lengths of rows and sizes that are numbers where the file is compiled, or called."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.errors import BadInput, Illegal
from loopwright.model.program import AssumptionKind
from loopwright.progress import silent
from loopwright.prove.text.index_arithmetic import within_types
from loopwright.read.c.gate.numbers import known_values
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.source import Source
from tests.traps.support import PROVED, Trap, comparison

_STRIDES = {
    "a branch": ("#ifdef BIG\n#define K 100\n#else\n#define K 3\n#endif", ""),
    "a default": ("#ifndef K\n#define K 3\n#endif", ""),
    "another definition": ("#define K 4\n#undef K\n#define K 3", ""),
    "a sum": ("#define K (1 + 2)", ""),
    "a quotient": ("#define K (7 / 2)", ""),
    "a macro of a macro": ("#define THREE 3\n#define K THREE", ""),
    "an enumerator's macro": ("enum { THREE = 3 };\n#define K THREE", ""),
    "a static variable": ("static int K = 3;", ""),
    "a variable": ("", "int K = 3;"),
    "a variable that is set": ("", "int K; K = 3;"),
    "a number of another type": ("", "long K = 3;"),
    "a long number": ("", "int K = 4294967299L;"),
    "a static long number": ("static int K = 4294967299L;", ""),
    "a character": ("", "const unsigned char K = 259;"),
    "a constant of the file": ("static const signed char K = 259;", ""),
    "a fraction": ("", "int K = 3.7;"),
    "an enumerator": ("enum { THREE = 3 };", "int K = THREE;"),
    "a choice": ("", "int K = sizeof(int) == 4u ? 7 / 2 : -7 / 2;"),
    "an unsigned sum": ("", "unsigned K = 4294967295u + 4u;"),
    "other variables": ("static const int two = 2;", "int one = 1; int K = one + two;"),
    "a static variable of a function": ("", "static int K = 3;"),
    "a later value": ("", "int K = 100; K = 3;"),
    "a later value in a loop": ("", "int K = 100; if (n > 0) K = 9; K = 3; while (i < n) x[i++] = K;"),
    "the same twice": ("", "int K; if (n > 9) K = 3; else K = 6 / 2;"),
    "a variable of other files, set here": ("int K;", "K = 3;"),
}
"""What is 3 where it is compiled."""

_NO_STRIDES = {
    "a loop": ("", "int K = 3; for (i = 0; i < n; i++) K++;"),
    "a variable of the loop's head": ("", "for (int K = 3; K < n; K++) {", "}"),
    "a pointer": ("void g(int *);", "int K = 3; g(&K);"),
    "a call": ("int K; void g(void);", "K = 3; g();"),
    "a pointer of the file": ("int K;", "K = 3; *k = 7;"),
    "a variable of other files": ("int K = 3;", ""),
    "another's static variable": ("static int K = 3; void h(int n) { K = n; }", ""),
    "a variable that others change": ("", "volatile int K = 3;"),
    "threads of their own": ("", "int K = 3;\n#pragma omp parallel reduction(+: K)\n{", "}"),
    "a truth": ("", "_Bool b = 0.5; int K = b ? n : 3;"),
    "an overflow": ("", "int K = 2147483647 + 4;"),
    "itself": ("", "int K = 3; for (int t = 0; t < n; t++) { K = K + 1;", "}"),
}
"""What may be another number than 3."""

_SEVERAL = {
    "a condition": "int K = 3; if (n > 9) K = 100;",
    "a loop around": "int K = 3; for (int t = 0; t < n; t++, K = 100)",
    "a label": "int K = 100; if (n > 9) goto on; K = 3; on:;",
    "a case": "int K = 100; switch (n) { case 1: K = 3; default:; }",
    "a choice": "int K = n > 9 ? 3 : 100;",
    "a choice by another": "int J = 3; if (n > 9) J = 100; int K = J == 3 ? J : 100;",
}
"""What is 3 or 100."""


@pytest.mark.parametrize("name", _SEVERAL)
def test_rows_whose_length_is_one_of_a_few_numbers(name: str, tmp_path: Path) -> None:
    """Each number is tried: none is believed to be large enough."""
    body = "for (i = 0; i < n; i++) x[K * i] = x[i + 2];"
    (tmp_path / "t.c").write_text(Trap(name, body, "", _SEVERAL[name]).text())
    (program,) = read_c(tmp_path / "t.c")
    assert [one.numbers for one in program.parameters if one.name == "K"] == [(3, 100)]
    assert AssumptionKind.ROWS not in {one.kind for one in program.trusted}
    assert "K == 3 ? (3) * i : (100) * i" in program.region.text


def test_an_order_is_tried_with_each_number(tmp_path: Path) -> None:
    up, down = "for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)"
    for values, is_same in (((-1, -2), False), ((2, 3), False), ((0, 0), True)):
        setup = f"int K = {values[0]}; if (m) K = {values[1]};"
        body = "y[K * i] = 1;" if is_same else "y[K * i] = y[i] + 1;"
        old, new = (Trap("", f"{loop} {body}", "double y[9999]; int m;", setup).text() for loop in (up, down))
        assert (comparison(old, new, tmp_path) == PROVED) is is_same


_OFFSETS = {
    **{name: _STRIDES[name] for name in ("a default", "a sum", "a static variable", "a later value")},
    "an enumerator of the file": ("enum { K = 3 };", ""),
    "a constant": ("", "const int K = 3;"),
    "a macro of a default": ("#ifndef D\n#define D 3\n#endif\n#define K D", ""),
    "a variable of a default": ("#ifndef D\n#define D 3\n#endif", "int K =\nD;"),
    "a constant of a branch": ("#ifdef D\nenum { K = 9 };\n#else\nenum { K = 3 };\n#endif", ""),
    "one of two": ("", "int K = 3; if (n > 9) K = 4;"),
}
"""What is 3, or 4."""


@pytest.mark.parametrize("name", _OFFSETS)
def test_offsets_and_bounds_that_are_numbers_in_the_file(name: str, tmp_path: Path) -> None:
    """A reversal is legal for K = 3, not for K = 1; where it is legal for no number, the answer is no."""
    head, setup = _OFFSETS[name]
    file = tmp_path / "t.c"
    for body, is_legal in (
        ("for (i = 0; i < 3; i++) L: x[i + K] = x[i];", True),
        ("for (i = 0; i < K - 2; i++) L: x[i + 2] = x[i];", True),
        ("for (i = 0; i < 7; i++) L: x[i + K] = x[i];", False),
    ):
        file.write_text(Trap(name, body, head, setup).text())
        request = Request(str(file), script="reverse(L, i)")
        if is_legal:
            outcome = transformed(request, silent)
            assert any("proved for K = 3" in note for note in outcome.notes)
            told = [one for region in outcome.regions for one in region.assumptions]
            assert ("#if" in head) == any("its value of this compilation" in one for one in told)
            is_size = "#define K" in head  # of which `prove` asks for all numbers first
            assert is_size or comparison(file.read_text(), outcome.source.text, tmp_path) == PROVED
        else:
            with pytest.raises(Illegal) as refused:
                transformed(request, silent)
            assert "K = 3" in str(refused.value.diagnostic.witness)


@pytest.mark.parametrize("is_old", [False, True])
def test_numbers_that_one_file_alone_gives_prove_nothing(is_old: bool, tmp_path: Path) -> None:
    loops = ("for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)")
    texts = [Trap("", f"{loop} x[i] = x[i + K] * 2;", "static int K = 0;").text() for loop in loops]
    assert comparison(texts[0], texts[1], tmp_path) == PROVED
    texts[0 if is_old else 1] += "void h(void) { K++; }\n"
    assert comparison(texts[0], texts[1], tmp_path) != PROVED


_CALLED = [
    ("unsigned n", "for (unsigned k = 0; k + 4 <= n; k++) x[k] = 1;", "4294967295u", "4294967290u"),
    ("unsigned n", "for (unsigned k = 0; k < n - 4; k++) x[k] = 1;", "2", "4"),
    ("int n", "for (int k = 0; k < n * 100000; k++) x[k] = 1;", "30000", "20000"),
    ("int n", "for (int k = 0; k < 9; k++) for (int l = k; l < 10; l++) x[l * n] = 1;", "300000000", "9"),
    ("short n", "for (int k = n; k >= 0; k--) x[k + 2147483640] = 1;", "8", "7"),
]


@pytest.mark.parametrize("setup", ["int given = {};", "", "const int given = 0 ? 1 : {};"])
@pytest.mark.parametrize(("parameter", "loops", "wrong", "right"), _CALLED)
def test_numbers_of_a_call_refute_what_is_assumed(
    parameter: str, loops: str, wrong: str, right: str, setup: str, tmp_path: Path
) -> None:
    scop = f"\n#pragma scop\n{loops}\n#pragma endscop\n"
    refused = []
    for value in (wrong, right):
        caller = setup.replace("int", "unsigned").format(value)
        call = f"void g(double *x) {{ {caller} f({'given' if setup else value}, x); }}"
        (tmp_path / "t.c").write_text(f"void f({parameter}, double *x) {{{scop}}}\n{call}\n")
        try:
            (program,) = read_c(tmp_path / "t.c")
            within_types(program, program, program.facts)
        except BadInput as found:
            refused.append((value, found.diagnostic.message))
    assert [value for value, _ in refused] == [wrong]
    assert refused[0][1].startswith("the file refutes") and refused[0][1].endswith("called in line 6")


@pytest.mark.parametrize("name", _NO_STRIDES)
def test_rows_whose_length_may_be_another_number(name: str) -> None:
    head, setup, *after = _NO_STRIDES[name]
    body = "for (i = 0; i < n; i++) x[K * i] = x[i + 2];"
    scop = f"\n#pragma scop\n{body}\n#pragma endscop\n"
    text = f"{head}\nvoid f(int n, int *k, double *x) {{ int i; {setup}{scop}{' '.join(after)} }}\n"
    file = typed_file(Source("t.c", text))
    (region,) = file.regions
    assert isinstance(region, TypedRegion)
    assert not {one.name for one in known_values(region, file)} & {"K"}


@pytest.mark.parametrize("name", _STRIDES)
def test_rows_whose_length_is_a_number_are_not_believed(name: str, tmp_path: Path) -> None:
    """`a[3 * i] = a[i + 2]` has no rows: K >= n + 2 holds for no loop worth the name."""
    head, setup = _STRIDES[name]
    body = "for (i = 0; i < n; i++) x[K * i] = x[i + 2];"
    (tmp_path / "t.c").write_text(Trap(name, body, head, setup).text())
    (program,) = read_c(tmp_path / "t.c")
    assert AssumptionKind.ROWS not in {one.kind for one in program.trusted}
    told = [one.text for one in program.trusted if "as in this compilation" in one.text or "'K' has" in one.text]
    assert bool(told) == ("#if" in head or "#undef" in head)


_S = "struct { int w, d; double *p; struct { int e, v[2]; } s; union { int u; long l; }; int b : 4; }"
_MEMBERS = {
    "a static struct": (f"static {_S} z = {{ 5, 2 }};", "", "z.d"),
    "a designated one": (f"static {_S} z = {{ .w = 5, .d = 2 }};", "", "z.d"),
    "one that is given twice": (f"static {_S} z = {{ .d = 5, .w = 5, .d = 2 }};", "", "z.d"),
    "the next after a designated one": (f"static {_S} z = {{ .w = 5, 2 }};", "", "z.d"),
    "a struct in a struct": ("struct o { int w; struct { int c, e; } s; };", "struct o z = { 5, { 5, 2 } };", "z.s.e"),
    "one that is set": ("struct o { int w, d; };", "struct o z; z.w = 5; z.d = 2;", "z.d"),
    "a later value": ("struct o { int w, d; };", "struct o z = { 5, 5 }; z.d = 2; z.w = n;", "z.d"),
    "one of a struct with a pointer": (f"static {_S} z = {{ 5, 2 }};", "z.p[0] = 5;", "z . d"),
    "a static struct of a function": ("struct o { int w, d; };", "static struct o z = { 5, 2 };", "z.d"),
    "a conversion": ("struct o { int w; unsigned char d; };", "struct o z = { 5, 258 };", "z.d"),
    "another member": ("struct o { int w, d; };", "struct o q = { 5, 2 }; struct o z; z.d = q.d;", "z.d"),
}
"""What is 2 where it is a length of rows."""


@pytest.mark.parametrize("name", _MEMBERS)
def test_members_of_structs_are_numbers_like_variables(name: str, tmp_path: Path) -> None:
    """Rows of 2 hold two elements, not five."""
    head, setup, size = _MEMBERS[name]
    for most, is_legal in ((2, True), (5, False)):
        loops = f"for (i = 0; i < n; i++) for (j = 0; j < {most}; j++) L: x[i * {size} + j] = i;"
        (tmp_path / "t.c").write_text(Trap(name, loops, head, setup).text())
        request = Request(str(tmp_path / "t.c"), script="reverse(L, i)")
        if is_legal:
            (program,) = read_c(tmp_path / "t.c")
            assert AssumptionKind.ROWS not in {one.kind for one in program.trusted}
            transformed(request, silent)
        else:
            with pytest.raises(Illegal):
                transformed(request, silent)


_NO_MEMBERS = {
    "one that is set elsewhere": (f"static {_S} z = {{ 5, 2 }}; void g(int n) {{ z.d = n; }}", "", "z.d"),
    "a copy": (f"static {_S} z = {{ 5, 2 }}, y; void g(void) {{ z = y; }}", "", "z.d"),
    "a pointer": (f"static {_S} z = {{ 5, 2 }}; void g(void) {{ k = &z.w; }}", "", "z.d"),
    "a call": ("struct o { int w, d; } z; void g(void);", "z.d = 2; g();", "z.d"),
    "braces that are left out": (f"static {_S} z = {{ 5, 2, 0, 3, 4, 5 }};", "", "z.s.e"),
    "a union": (f"static {_S} z = {{ .u = 2 }};", "", "z.u"),
    "a bit-field": (f"static {_S} z = {{ .b = 2 }};", "", "z.b"),
    "a later value": ("struct o { int w, d; };", "struct o z = { 5, 2 }; if (n) z.d = n;", "z.d"),
    "a volatile one": ("struct o { int w; volatile int d; };", "struct o z = { 5, 2 };", "z.d"),
    "an array of them": ("struct o { int w, d; };", "struct o z[2] = { { 5, 2 } };", "z[1].d"),
    "a parameter": ("struct o { int w, d; }; int *k;", "struct o *z; z->d = 2; k[0] = 5;", "z->d"),
}
"""What may be another number than 2."""


@pytest.mark.parametrize("name", _NO_MEMBERS)
def test_members_that_may_have_other_values(name: str) -> None:
    head, setup, size = _NO_MEMBERS[name]
    scop = f"\n#pragma scop\nfor (i = 0; i < n; i++) x[i * {size}] = i;\n#pragma endscop\n"
    text = f"int *k;\n{head}\nvoid f(int n, double *x) {{ int i; {setup}{scop} }}\n"
    file = typed_file(Source("t.c", text))
    (region,) = file.regions
    assert isinstance(region, TypedRegion)
    assert not known_values(region, file)


def test_numbers_of_one_function_are_not_those_of_another(tmp_path: Path) -> None:
    """The rows of a parameter K are believed, whatever K is where it is a number."""
    loops = "\n#pragma scop\nfor (int i = 0; i < n; i++) x[K * i] = x[i];\n#pragma endscop\n"
    first = f"void f(int n, double *x) {{ int K = 3;{loops}}}\n"
    (tmp_path / "t.c").write_text(f"{first}void g(int n, int K, double *x) {{{loops}}}\n")
    one, other = read_c(tmp_path / "t.c")
    assert "(3) * i" in one.region.text and "K * i" in other.region.text


@pytest.mark.parametrize("name", ["a branch", "a static variable", "a variable"])
def test_prove_takes_numbers_for_lengths_of_rows(name: str, tmp_path: Path) -> None:
    head, setup = _STRIDES[name]
    up, down = "for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)"
    old, new, same = (
        Trap(name, f"{loop} x[K * i] = x[{cell}] + 1;", head, setup).text()
        for loop, cell in ((up, "i"), (down, "i"), (up, "(i + 0)"))
    )
    assert comparison(old, same, tmp_path) == PROVED != comparison(old, new, tmp_path)


@pytest.mark.parametrize(
    ("setup", "end"),
    [
        ("if (n > 99) return;", ""),
        ("if (n > 99) g(x);", ""),
        ("if (n < 99) {", "}"),
        ("while (n < 99) {", "n++; }"),
        ("if (n > 99) goto over;", "over:;"),
        ("n = 5;", ""),
    ],
)
def test_numbers_of_a_call_that_may_not_reach_the_region_refute_nothing(
    setup: str, end: str, tmp_path: Path
) -> None:
    loop = "\n#pragma scop\nfor (unsigned k = 0; k + 4 <= n; k++) x[k] = 1;\n#pragma endscop\n"
    head = "_Noreturn void g(double *);\n"
    text = f"{head}void f(unsigned n, double *x) {{ {setup}{loop}{end} }}\n"
    (tmp_path / "t.c").write_text(f"{text}void h(double *x) {{ f(4294967295u, x); }}\n")
    (program,) = read_c(tmp_path / "t.c")
    assert within_types(program, program, program.facts)


@pytest.mark.parametrize(
    ("length", "last", "found"),
    [
        ("2 * n + 1", "2 * n", "inside"),
        ("2 * n", "2 * n", "outside"),
        ("(n + 7) / 8 * 8", "n - 1", "inside"),
        ("(n + 6) / 8 * 8", "n - 1", "left"),
        ("((n - 1) / 8) + 1", "(n - 1) / 8", "inside"),
        ("n - (m - 1)", "n - m", "inside"),
        ("n - m - 1", "n - m", "outside"),
        ("n * m", "n - 1", "left"),
        ("010 + n", "n + 9", "outside"),
        ("n / m", "0", "left"),
    ],
)
def test_what_a_computed_length_says(length: str, last: str, found: str, tmp_path: Path) -> None:
    """It is read by its syntax; what is not a sum, or not by a number, says nothing."""
    loop = f"for (int i = 0; i <= {last}; i++) y[i] = 1;"
    text = f"void f(int n, int m) {{ double y[{length}];\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    (tmp_path / "t.c").write_text(text)
    try:
        (program,) = read_c(tmp_path / "t.c")
    except BadInput as refused:
        assert found == "outside" and "outside its array" in refused.message
    else:
        is_left = AssumptionKind.BOUNDS in {one.kind for one in program.trusted}
        assert found == ("left" if is_left else "inside")
