"""What of a file is read, what is not, and where its tokens are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Unread
from loopwright.c.typed.tree import Assign, ForStatement, IfStatement, Labelled, Name, Number
from loopwright.c.types import Integer
from loopwright.errors import BadInput, GaveUp
from loopwright.source import Source
from tests.c.typed.support import file_of, nodes, text, typed, unread

DROPPED = [
    ("a[i] = ;", "not C"),
    ("a[i] = b;", "no conversion from an array"),
    ("x = s.f;", "a member of something that has none: s is an int"),
    ("for (i = 0; i < n; i++) { a[i] = 1; x.y = 3; }", "one statement of two"),
    ("x = (int[]){1, 2} + 0.5;", "a pointer and a double"),
    ('asm("nop");', "not modelled"),
    ("x = i[j];", "two numbers"),
]


@pytest.mark.parametrize("body", [body for body, _ in DROPPED], ids=[why for _, why in DROPPED])
def test_what_the_front_end_drops_is_a_refusal(body: str) -> None:
    assert unread(body, "int s;").reason


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) ;",
        "for (;i < n;) i++;",
        "for (int t = 0, q = 1; t < n; t++, q++) a[t] = q;",
        "if (i < n) a[i] = 1; else { a[i] = 2; }",
        "if (i) if (j) x = 1; else x = 2;",
        "L: M: a[i] = 1;",
        "while (i) i--; do i++; while (i < 3);",
        "switch (i) { case 1: break; default: x = 2; }",
        "{ double t = 1, q[3]; t = q[i]; ; }",
        "a<:i:> = 1; <% x = 2; %>",
        "x = a [ /* here */ i ];",
        "x = 1; // and so on",
    ],
)
def test_every_token_is_covered(body: str) -> None:
    region = typed(body)
    covered = {k for one in region.statements for k in range(one.place.first, one.place.end)}
    rest = [region.function.tokens[k].text for k in range(region.first, region.end) if k not in covered]
    assert set(rest) <= {";"}


def test_the_parts_of_a_loop() -> None:
    (loop,) = typed("for (; i < n;) a[i] = i;").statements
    assert (
        isinstance(loop, ForStatement) and (loop.first, loop.step) == (None, None) and loop.test is not None
    )
    (loop,) = typed("for (i = 0;; i++) ;").statements
    assert isinstance(loop, ForStatement) and loop.test is None
    assert isinstance(loop.first, Assign) and loop.step is not None
    (loop,) = typed("for (int t = 0; ; t++) ;").statements
    assert isinstance(loop, ForStatement) and loop.test is None and loop.step is not None


def test_a_dangling_else_belongs_to_the_inner_if() -> None:
    (outer,) = typed("if (i) L: if (j) x = 1; else x = 2;").statements
    assert isinstance(outer, IfStatement) and outer.otherwise is None and isinstance(outer.then, Labelled)


MACROS = [
    ("#define N 100", "a[N - 1] = 0;", "N", "100"),
    ("#define AT(p, q) p[q]", "AT(a, i + 1) = 0;", "AT(a, i + 1)", "a [ i + 1 ]"),
    ("#define TWICE(e) ((e) + (e))", "x = TWICE(i);", "TWICE(i)", "( ( i ) + ( i ) )"),
    ("#define F(e) G(e)\n#define G(e) e * 2", "x = F(i);", "F(i)", "i * 2"),
    ("#define CAT(p, q) p##q", "x = CAT(a, 1);", "CAT(a, 1)", "a1"),
    ("#define S(e) sizeof #e", "i = S(a b);", "S(a b)", 'sizeof "a b"'),
    ("#define V(...) f(__VA_ARGS__)", "V();", "V()", "f ( )"),
    ("#define E", "E x = E 1;", "E", ""),
    ("#define x x + 1", "y = x;", "x", "x + 1"),
    ("#define P(e) e\n#define Q P", "y = Q (i);", "Q (i)", "i"),
]


@pytest.mark.parametrize(("head", "body", "call", "tokens"), MACROS, ids=[one[0] for one in MACROS])
def test_tokens_of_a_macro_are_those_of_its_call(head: str, body: str, call: str, tokens: str) -> None:
    region = typed(body, f"double a1;\n{head}")
    source = text(body, f"double a1;\n{head}")
    spots = [one for one in region.tokens if one.macro is not None]
    assert " ".join(one.text for one in spots) == tokens
    assert {source[one.span.start : one.span.end] for one in spots} == ({call} if tokens else set())


def test_arguments_know_where_they_are_written() -> None:
    body = "AT(a, i + 1) = 0;"
    head = "#define AT(p, q) p[q]"
    written = [one.written for one in typed(body, head).tokens if one.macro == "AT"]
    source = text(body, head)
    shown = [None if one is None else source[one.start : one.end] for one in written]
    assert shown == ["a", None, "i", "+", "1", None]


def test_a_node_knows_its_place() -> None:
    body = "a[N] = (i + 2) * N;"
    region = typed(body, "#define N 10")
    source = text(body, "#define N 10")
    shown = {
        source[node.place.span.start : node.place.span.end]: node.place.macro
        for node in nodes(region)
        if isinstance(node, Name | Number) or type(node).__name__ == "Binary"
    }
    assert shown == {"a": None, "N": "N", "(i + 2) * N": None, "(i + 2)": None, "i": None, "2": None}


_POPPED = '#define N 1\n#pragma push_macro("N")\n#undef N\n#define N 2\n#pragma pop_macro("N")'
HIDDEN = [
    ("", "a[i] = 1;\n%:define a b\na[i] = 2;", "a definition in the region, by a digraph"),
    (_POPPED, "x = N;", "a definition that was put aside"),
    ("", "x = __COUNTER__;", "a counter"),
    ("", '_Pragma("omp parallel for") for (i = 0; i < n; i++) a[i] = 0;', "a pragma in the text"),
    ('#define FAST _Pragma("omp simd")', "FAST for (i = 0; i < n; i++) a[i] = 0;", "a pragma in a macro"),
    ("", "x = é;", "a name that is not ASCII"),
]


@pytest.mark.parametrize(("head", "body"), [one[:2] for one in HIDDEN], ids=[one[2] for one in HIDDEN])
def test_what_the_compiler_reads_otherwise_is_a_refusal(head: str, body: str) -> None:
    assert unread(body, f"double é;\n{head}").reason


READ = [
    ("#define N 1\n#undef N\nint N;", "x = N;", "undefined again"),
    ("#if __GNUC__ >= 4\n#define N i\n#else\n#define N j\n#endif", "x = N;", "a branch of the compiler"),
    ("#define N 1\n#undef N\n#define N i", "x = N;", "redefined"),
    ("#define LO\\\nNG i", "x = LO\\\nNG;", "a continued line"),
    ("#include <limits.h>", "x = INT_MAX;", "a macro of a header"),
    ("#include <stdbool.h>", "x = true;", "true"),
]


@pytest.mark.parametrize(("head", "body"), [one[:2] for one in READ], ids=[one[2] for one in READ])
def test_the_definition_that_holds_is_the_compilers(head: str, body: str) -> None:
    assert typed(body, head).statements


def test_places_that_the_preprocessor_knows_are_marked() -> None:
    region = typed("x = __LINE__ + WHERE;", "#define WHERE __LINE__")
    assert [one.text for one in region.tokens if one.follows_place] == ["5", "5"]


def test_a_missing_header_leaves_the_rest(tmp_path: Path) -> None:
    (tmp_path / "there.h").write_text("#include <gone/deeper.h>\ntypedef unsigned short index_t;\n")
    head = '#include "missing.h"\n#include "../lost.h"\n#include "there.h"\nindex_t m;'
    file = file_of("for (i = 0; i < SIZE; i++) a[i] = m + q[i];", head, path=str(tmp_path / "t.c"))
    (region,) = file.regions
    assert isinstance(region, TypedRegion)
    assert set(file.missing) == {"missing.h", "../lost.h", "gone/deeper.h"}
    kinds = {n.declaration.name: n.type for n in nodes(region) if isinstance(n, Name)}
    assert kinds["m"] == Integer(16, False, 2)


@pytest.mark.parametrize(
    "head",
    [
        "real_t t; VEC *v; MAT w;",
        "VEC *f(VEC *in, int m);\nVEC *v; MAT w; real_t t;",
        "int g(v2) VEC *v2; { return 1; }",
    ],
)
def test_types_that_are_not_declared_stand_for_whatever_fits(head: str) -> None:
    typed("t = (real_t)3 + v->ve[i] + v->inner->me[i][j] + w.n;", head)


@pytest.mark.parametrize(
    "text",
    [
        "box b = dets[i].bbox; a[i] = b.x + dets[i].n;",
        "box b = box_at(i); a[i] = b.x;",
        "box b; b.x = 1; all.inner[i] = b;",
        "s.b = c; a[i] = c.d;",
    ],
)
def test_records_that_are_not_declared_are_assigned_as_a_whole(text: str) -> None:
    typed(text, '#include "missing.h"\ndetection *dets;')


def test_a_region_at_file_scope_is_read_as_if_in_a_function() -> None:
    source = "double a[10]; int i, n;\n#pragma scop\nfor (i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n"
    (region,) = typed_file(Source("t.c", source)).regions
    assert isinstance(region, TypedRegion)


def test_a_region_after_a_case_label() -> None:
    source = (
        "double a[10]; void f(int n) { switch (n) { case 1:\n#pragma scop\n"
        "for (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\nbreak; } }\n"
    )
    (region,) = typed_file(Source("t.c", source)).regions
    assert isinstance(region, TypedRegion) and isinstance(region.statements[0], ForStatement)


CONDITIONS = [
    "#ifdef LIB",
    "#if defined(LIB)",
    "#if defined LIB",
    "#ifndef LIB\n#else",
    "#if !defined(LIB)\n#else",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_region_that_only_a_definition_shows(condition: str) -> None:
    source = f"{condition}\n{text('a[i] = 1;')}\n#endif\n"
    file = typed_file(Source("t.c", source))
    assert file.assumed == ("LIB",)
    assert isinstance(file.regions[0], TypedRegion)


@pytest.mark.parametrize("condition", ["#if 0", "#ifndef __GNUC__", "#if defined(A) && B"])
def test_a_region_that_the_preprocessor_leaves_out(condition: str) -> None:
    source = f"{condition}\n{text('a[i] = 1;')}\n#endif\n"
    (region,) = typed_file(Source("t.c", source)).regions
    assert isinstance(region, Unread) and "removes this region" in region.reason


@pytest.mark.parametrize("name", ["t.cc", "t.cpp", "t.cxx", "t.C", "t.hpp", "t.hh", "t.c++", "t.H"])
def test_cplusplus_is_refused_by_its_ending(name: str) -> None:
    with pytest.raises(BadInput, match=r"C\+\+"):
        typed_file(Source(name, text("a[i] = 1;")))


@pytest.mark.parametrize("options", [("-D__cplusplus=201703L",), ("-D", "__cplusplus")])
def test_cplusplus_is_refused_by_its_macro(options: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match=r"C\+\+"):
        typed_file(Source("t.c", text("a[i] = 1;")), CompilerOptions(options))


def test_options_reach_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "size.h").write_text("#define SIZE 7\n")
    (tmp_path / "forced.h").write_text("static int forced;\n")
    words = f"-I {tmp_path}/include -DM=5 -D K -U K -include {tmp_path}/forced.h"
    options = CompilerOptions(tuple(words.split()))
    head = "#include <size.h>\n#ifdef K\n#error K\n#endif"
    region = typed("i = SIZE + M + forced;", head, options)
    assert [one.text for one in region.tokens] == ["i", "=", "7", "+", "5", "+", "forced", ";"]


def test_the_standard_decides_what_is_a_macro() -> None:
    body = "i = STRICT;"
    head = "#ifdef __STRICT_ANSI__\n#define STRICT 1\n#else\n#define STRICT 0\n#endif"
    for standard, number in (("-std=c11", "1"), ("-std=gnu11", "0")):
        region = typed(body, head, CompilerOptions((standard,)))
        assert [one.text for one in region.tokens][2] == number


def test_a_build_says_how_its_files_are_compiled(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.h").write_text("#define SIZE 9\n")
    (tmp_path / "t.c").write_text(text("i = SIZE + M;", "#include <size.h>"))
    entry = {"directory": str(tmp_path), "file": "t.c", "command": "cc -O2 -Iinc -DM=3 -Wall -c t.c -o t.o"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    source = Source(str(tmp_path / "t.c"), (tmp_path / "t.c").read_text())
    (region,) = typed_file(source, CompilerOptions(build=str(tmp_path))).regions
    assert isinstance(region, TypedRegion)
    assert [one.text for one in region.tokens] == ["i", "=", "9", "+", "3", ";"]
    (region,) = typed_file(source, CompilerOptions(("-DM=4",), build=str(tmp_path))).regions
    assert isinstance(region, TypedRegion) and region.tokens[4].text == "4"


@pytest.mark.parametrize(
    ("content", "message"), [("[]", "no entry"), ("nonsense", "cannot read"), (None, "cannot read")]
)
def test_a_build_without_the_file(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "compile_commands.json").write_text(content)
    with pytest.raises(BadInput, match=message):
        typed_file(Source(str(tmp_path / "t.c"), text("i = 1;")), CompilerOptions(build=str(tmp_path)))


def test_a_build_in_cplusplus(tmp_path: Path) -> None:
    entry = {"directory": str(tmp_path), "file": "t.c", "arguments": ["g++", "-c", "t.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    with pytest.raises(BadInput, match=r"C\+\+"):
        typed_file(Source(str(tmp_path / "t.c"), text("i = 1;")), CompilerOptions(build=str(tmp_path)))


def test_no_compiler() -> None:
    with pytest.raises(GaveUp, match="cannot be run"):
        typed_file(Source("t.c", text("i = 1;")), CompilerOptions(compiler="no-such-compiler"))


def test_what_the_file_itself_marks_as_other_lines_does_not_matter() -> None:
    source = '# 1 "other.c"\n' + text("a[i] = 1;").replace("void f", '#line 700 "other.h"\nvoid f')
    (region,) = typed_file(Source("t.c", source)).regions
    assert isinstance(region, TypedRegion)
    assert source[region.tokens[0].span.start] == "a"
