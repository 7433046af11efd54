"""A name in parentheses in front of an operand: a cast, a value, or a function."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.selection.choice import choice
from loopwright.errors import BadInput
from loopwright.model.program import statement_text
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from tests.c.support import reads, refusal, region, underlined, writes

LOOP = "for (i = 0; i < n; i++) "


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("(x)-y", ["x[]", "y[]"]),
        ("(x)-y*z", ["x[]", "y[]", "z[]"]),
        ("(x)+y/z", ["x[]", "y[]", "z[]"]),
        ("(x)*y*z", ["x[]", "y[]", "z[]"]),
        ("(x)&y", ["x[]", "y[]"]),
        ("(x)- -y*z", ["x[]", "y[]", "z[]"]),
        ("(x)-b[i]*z", ["x[]", "b[i]", "z[]"]),
        ("(b[i])-y*z", ["b[i]", "y[]", "z[]"]),
        ("(A[i][0])+y*z", ["A[i, 0]", "y[]", "z[]"]),
        ("(h(x))-y*z", ["x[]", "y[]", "z[]"]),
        ("(h(b[i]))-y*z", ["b[i]", "y[]", "z[]"]),
        ("-(x)-y*z", ["x[]", "y[]", "z[]"]),
        ("(double)(x)-y*z", ["x[]", "y[]", "z[]"]),
        ("(real)(x)-y*z", ["x[]", "y[]", "z[]"]),
        ("fabs((x)-y*z)", ["x[]", "y[]", "z[]"]),
        ("z > 0 ? (x)-y*2 : (y)+x*2", ["z[]", "x[]?", "y[]?", "y[]?", "x[]?"]),
        ("(x)-sizeof(y)*2", ["x[]"]),
        ("sizeof(x)-y*z", ["y[]", "z[]"]),
        ("sizeof (real)-y*z", ["y[]", "z[]"]),
        ("(h(x*y))-z*x", ["x[]", "y[]", "z[]", "x[]"]),
        ("(x)-2*y", ["x[]", "y[]"]),
        ("(real)(sizeof(x)-1.5, y)", ["y[]"]),
        ("!z + (h((x)))+sizeof(x)-1.5", ["z[]", "x[]"]),
        ("(h((x)))-1.5*y", ["x[]", "y[]"]),
        ("y < (x)-1.5, z", ["y[]", "x[]", "z[]"]),
        ("z/(x*(y))-z*2", ["z[]", "x[]", "y[]", "z[]"]),
        ("(x*(y))-b[i]", ["x[]", "y[]", "b[i]"]),
        ("(x)(y)-z*2", "'x' is not known to be free"),
        ("(h)(y)-z*2", ["y[]", "z[]"]),
        ("(real)-y*z", ["y[]", "z[]"]),
        ("(real)+y", ["y[]"]),
        ("(real)*b*z", ["b[0]", "z[]"]),
        ("(real)&y", "cannot be read"),
        ("(real)(y)-z", ["y[]", "z[]"]),
        ("(real)(b)[i]", ["b[i]"]),
        ("(real)~k", ["k[]"]),
        ("(WIDE)-y*z", ["y[]", "z[]"]),
        ("(other_t)-y*z", ["y[]", "z[]"]),
        ("(struct s)-y", ["y[]"]),
        ("(OFFSET)-y*z", ["y[]", "z[]"]),
    ],
)
def test_a_name_in_parentheses_loses_no_read(value: str, read: list[str] | str) -> None:
    """x, y and z are not declared: they are values; the file says what is a type."""
    head = (
        "typedef double real; double h(double v) { return v; }\n#define WIDE double\n#define OFFSET (n + 1)"
    )
    if isinstance(read, str):
        assert read in refusal(f"{LOOP}a[i] = {value};", head=head).message
    else:
        (statement,) = region(f"{LOOP}a[i] = {value};", head=head).statements
        assert reads(statement) == read


def test_a_variable_in_scope_is_a_value_whatever_has_its_name_elsewhere() -> None:
    head = "typedef double real; static double cast(int k) { return (real)k; }"
    body = "for (i = 0; i < n; i++) a[i] = (real)-b[i]*2;"
    assert reads(region(body, head=head).statements[0]) == ["b[i]"]
    hidden = region("{ real = a[0]; " + body + " }", head=head + " double real;").statements[1]
    assert reads(hidden) == ["real[]", "b[i]"]


def test_macros_with_parameters_in_parentheses_are_values() -> None:
    """`((r)-(c)*(ld))` has no cast in it, whatever r is called."""
    head = "#define AT(r, c) ((r)-(c)*(3))"
    (statement,) = region("for (int u = 0; u < n; u++) a[AT(u, 2)] = b[AT(u + n, u)];", head=head).statements
    assert writes(statement) == ["a[-6 + u]"] and reads(statement) == ["b[n - 2u]"]


def test_a_wide_integer_type_does_not_change_an_index() -> None:
    (statement,) = region(LOOP + "a[(count)-i + n] = 0;", head="typedef long count;").statements
    assert writes(statement) == ["a[n - i]"]


def test_casts_the_grammar_takes_for_calls_and_differences() -> None:
    (statement,) = region(LOOP + "a[i] = (DATA_TYPE)(b[i]) + (DATA_TYPE)-x + (DATA_TYPE)_PB_N;").statements
    assert reads(statement) == ["b[i]", "x[]", "_PB_N[]"]
    (declared,) = region(LOOP + "a[i] = (real)-b[i] * (real)(x);", head="typedef double real;").statements
    assert reads(declared) == ["b[i]", "x[]"]


def test_a_cast_of_a_dereference_reads_through_the_pointer() -> None:
    (statement,) = region(LOOP + "a[i] = (real)*b;", head="typedef double real;").statements
    assert reads(statement) == ["b[0]"]


def test_a_cast_in_a_subscript_is_not_a_difference() -> None:
    (statement,) = region(LOOP + "a[(real)-i] = 0;", head="typedef float real;").statements
    assert writes(statement) == ["a[o0]?"]
    (difference,) = region(LOOP + "a[(n)-i] = 0;").statements
    assert writes(difference) == ["a[n - i]"]
    error = refusal(LOOP + "a[i + (X)-k] = 0;")
    assert "may be a type or a value" in error.message and underlined(error) == "(X)"


@pytest.mark.parametrize("name", ["weigh", "weigher"])
@pytest.mark.parametrize(
    ("header", "is_read"),
    [
        ("typedef double weigh;", True),
        ("#define weigh float", True),
        ("typedef unsigned char weigh;", True),
        ("double weigh(double);", False),
        ("extern int calls; static double weigh(double v) { calls++; return v; }", False),
        ("double (*weigh)(double);", False),
        ("", False),
    ],
)
def test_a_name_of_a_header_in_parentheses_before_a_list_is_what_the_header_says(
    header: str, is_read: bool, name: str, tmp_path: Path
) -> None:
    """It is taken for a type here; the typed reading of the same words tells whether it is one."""
    (tmp_path / "w.h").write_text(header)
    file = tmp_path / "t.c"
    loop = f"for (int i = 0; i < n; i++) a[i] = ({name})(b[i]) * 2;"
    head = '#include "w.h"\n#define weigher weigh\ndouble a[9], b[9];'
    file.write_text(f"{head}\nvoid f(int n) {{ {loop} }}\n")
    if is_read:
        (program,) = read_c(file, ReadOptions(choice=choice("f")))
        assert not program.set_aside and reads(program.statements[0]) == ["b[i]"]
    else:
        with pytest.raises(BadInput):
            read_c(file, ReadOptions(choice=choice("f")))


def test_the_parenthesis_the_parser_does_not_see_stays_in_the_text() -> None:
    program = region(LOOP + "{ int m = (n)-i*2; a[m + 2*n] = b[AT((n)-i*2)]; }", head="#define AT(r) ((r)*3)")
    (statement,) = program.statements
    assert reads(statement) == ["b[3n - 6i]"] and writes(statement) == ["a[3n - 2i]"]
    assert statement_text(statement, {"i": "c0"}) == "a[((n)-c0*2) + 2*n] = b[AT((n)-c0*2)];"


def in_header(folder: Path, header: str, index: str) -> Path:
    """A file with an index that contains X, which its header declares."""
    (folder / "x.h").write_text(header)
    file = folder / "a.c"
    file.write_text(
        '#include "x.h"\nvoid f(int n, double *a) {\n#pragma scop\n'
        f"for (int y = 0; y < 4; y++) a[{index}] = 0;\n#pragma endscop\n}}\n"
    )
    return file


@pytest.mark.parametrize(
    ("header", "index", "written"),
    [
        ("enum { X = 9 };", "(X)-y", "a[X - y]"),
        ("extern const int X;", "2*(X)-y*2", "a[2X - 2y]"),
        ("#define X n", "(X)+y", "a[X + y]"),
        ("#define X 9", "((X)-y)", "a[X - y]"),
    ],
)
def test_a_value_of_a_header_needs_no_parentheses(
    tmp_path: Path, header: str, index: str, written: str
) -> None:
    (program,) = read_c(in_header(tmp_path, header, index))
    assert writes(program.statements[0]) == [written]


@pytest.mark.parametrize(
    ("header", "index"),
    [
        ("typedef int X;", "(X)-y"),
        ("#define X int", "(X)-y"),
        ("#define X n - 1", "(X)*y"),
        ("#define X (n) - 1", "(X)*y"),
        ('#include "missing.h"', "(X)-y"),
    ],
)
def test_what_else_a_header_declares_keeps_them(tmp_path: Path, header: str, index: str) -> None:
    with pytest.raises(BadInput, match="may be a type or a value"):
        read_c(in_header(tmp_path, header, index))
