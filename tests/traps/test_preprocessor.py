"""What the preprocessor makes of a region: macros that hide something, or are not what they look like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.spelling import plainly_spelled
from loopwright.errors import BadInput
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.source import Source
from tests.traps.support import PROVED, Trap, answer, comparison, function

_COPY = "for (i = 1; i < n; i++) z[i] = a[i - 1];"
_COUNT = "for (i = 0; i < N; i++) a[i] = s;"


def _h(text: str) -> tuple[tuple[str, str], ...]:
    return (("h.h", text),)


_INCLUDE = '#include "h.h"'

HIDDEN = [
    Trap("an array by another name", _COPY, "#define z a"),
    Trap("an array by another name, in a header", _COPY, _INCLUDE, headers=_h("#define z a\n")),
    Trap("an array by another name, under a condition", _COPY, "double w[9];\n#if 1\n#define z a\n#else\n#define z w\n#endif"),
    Trap("an array by another name, for this compiler", _COPY, "#ifdef __GNUC__\n#define z a\n#endif\n#ifndef z\ndouble z[9];\n#endif"),
    Trap("redefined", _COPY, "#define z b\n#undef z\n#define z a"),
    Trap("redefined by a digraph", _COPY, "double z[9];\n%:define z a"),
    Trap("defined over two lines", _COPY, "double z[9];\n#define \\\nz a"),
    Trap("defined in a comment's end", _COPY, "double z[9]; /*\n*/ #define z a"),
    Trap("put aside and brought back", _COPY, '#define z a\n#pragma push_macro("z")\n#undef z\n#define z b\n#pragma pop_macro("z")'),
    Trap("through two macros", _COPY, _INCLUDE, headers=_h("#define y a\n#define z y\n")),
    Trap("a function that is a macro with a call", "for (i = 1; i < n; i++) b[i] = F(i);", _INCLUDE, headers=_h("#include <stdlib.h>\n#define F(e) (rand() + e)\n")),
    Trap("a macro that reads what the region writes", "for (i = 1; i < n; i++) { b[i] = LAST; s = i; }", _INCLUDE, headers=_h("#define LAST s\n")),
    Trap("an iterator by another name", "for (i = 1; i < n; i++) a[me] = i;", _INCLUDE, headers=_h("#define me i\n")),
    Trap("a sum without parentheses", "for (i = 0; i < n; i++) a[2 * N] = a[i];", "#define N i + 1"),
    Trap("a bound without parentheses", "for (i = 0; i < 2 * N; i++) a[i] = s;", "#define N n + 1"),
    Trap("a step", "for (i = 0; i < n; i += N) a[i] = a[i + 1];", _INCLUDE, headers=_h("#define N i\n")),
    Trap("a keyword", "for (i = 0; i < n; i++) if (i > 2) a[i] = s;", "#define if(e) while(e)"),
    Trap("a line number", "for (i = 0; i < n; i++) a[i] = __LINE__;"),
    Trap("a line number in a macro", "for (i = 0; i < n; i++) a[i] = HERE;", "#define HERE __LINE__"),
    Trap("a counter", "for (i = 0; i < n; i++) a[i] = __COUNTER__;"),
    Trap("a counter in a macro", "for (i = 0; i < n; i++) a[i] = UNIQUE;", "#define UNIQUE __COUNTER__"),
    Trap("a pragma in the text", '_Pragma("omp parallel for") for (i = 1; i < n; i++) a[i] = a[i - 1];'),
    Trap("a pragma in a macro", "FAST for (i = 1; i < n; i++) a[i] = a[i - 1];", '#define FAST _Pragma("omp parallel for")'),
    Trap("a definition in the region", "for (i = 1; i < n; i++) a[i] = 1;\n%:define a b\nfor (i = 1; i < n; i++) a[i] = 2;"),
    Trap("a name over two lines", "for (i = 1; i < n; i++) z\\\nz[i] = a[i - 1];", "double z[9], zz[9];\n#define zz a"),
    Trap("a comment that a backslash continues", "// is this a comment? \\\nfor (i = 1; i < n; i++) a[i] = 1;\nfor (i = 1; i < n; i++) b[i] = a[i];", "#define a b"),
]

PLAIN = [
    Trap("a constant", _COUNT, "#define N 10"),
    Trap("a constant of a header", _COUNT, _INCLUDE, headers=_h("#define N 10\n")),
    Trap("a constant in parentheses", "for (i = 0; i < 2 * N; i++) a[i] = s;", "#define N (n + 1)"),
    Trap("one that was another before", _COUNT, "#define N 10\n#undef N\n#define N 20"),
    Trap("one of two branches", _COUNT, "#ifdef __GNUC__\n#define N 10\n#else\n#define N 20\n#endif"),
    Trap("an element", "for (i = 0; i < n; i++) AT(i) = AT(i + 1);", "#define AT(e) a[(e)]"),
    Trap("a minimum", "for (i = 0; i < MIN(n, 50); i++) a[i] = s;", "#define MIN(p, q) ((p) < (q) ? (p) : (q))"),
    Trap("a value", "for (i = 0; i < n; i++) a[i] = SQUARE(b[i]);", "#define SQUARE(e) ((e) * (e))"),
    Trap("a definition after the region", _COPY, "double z[9];", after="\n#define z a\n"),
]

WRITTEN_OUT = [
    (Trap("pasted", "for (i = 1; i < n; i++) CAT(z, 1)[i] = a[i - 1];", "double z1[9];\n#define CAT(p, q) p##q\n#define z1 a"), "for (i = 1; i < n; i++) a[i] = a[i - 1];"),
    (Trap("a function that is a macro", "for (i = 1; i < n; i++) b[i] = F(i);", _INCLUDE, headers=_h("#define F(e) (a[e] = e)\n")), "for (i = 1; i < n; i++) b[i] = (a[i] = i);"),
    (Trap("a macro that counts", "for (i = 1; i < n; i++) b[i] = NEXT;", _INCLUDE, headers=_h("static int count;\n#define NEXT (count++)\n")), "for (i = 1; i < n; i++) b[i] = (count++);"),
    (Trap("the rest of a loop's head", "for (i = 0; i < n STEP) a[i] = s;", "#define STEP ; i++"), "for (i = 0; i < n; i++) a[i] = s;"),
    (Trap("a statement", "for (i = 0; i < n; i++) { a[i] = s; MORE }", _INCLUDE, headers=_h("#define MORE b[i] = a[i + 1];\n")), "for (i = 0; i < n; i++) { a[i] = s; b[i] = a[i + 1]; }"),
    (Trap("a block that runs once", "for (i = 0; i < n; i++) if (i > 3) SWAP(a[i], b[i]); else a[i] = 0;", "#define SWAP(p, q) do { double u = (p); (p) = (q); (q) = u; } while (0)"), "for (i = 0; i < n; i++) if (i > 3) { double u = a[i]; a[i] = b[i]; b[i] = u; } else a[i] = 0;"),
    (Trap("heads of loops", "FOR(i, 0, n) FOR(j, i, n) A[i][j] = 0;", "#define FOR(v, p, q) for (v = (p); v < (q); v++)"), "for (i = 0; i < n; i++) for (j = i; j < n; j++) A[i][j] = 0;"),
    (Trap("an end that is a macro", "BEGIN(i) a[i] = s; END", "#define BEGIN(v) for (v = 0; v < n; v++) {\n#define END }"), "for (i = 0; i < n; i++) a[i] = s;"),
    (Trap("an element of a member", "for (i = 0; i < n; i++) U(&g, i) = U(&g, i + 1);", "struct { double *u; } g;\n#define U(p, e) ((p)->u[(e)])"), ""),
    (Trap("an element of a member, by its owner", "for (i = 0; i < n; i++) U(o, i) = U(o, i + 1);", "struct g { double *u; };\n#define U(p, e) ((p)->u[(e)])", parameters="int n, struct g *o"), "for (i = 0; i < n; i++) o->u[i] = o->u[i + 1];"),
]
"""Macros that are more than expressions, and what their regions mean; where that is not read, no text."""


@pytest.mark.parametrize(("trap", "meaning"), WRITTEN_OUT, ids=lambda one: getattr(one, "name", ""))
def test_macros_that_are_written_out(trap: Trap, meaning: str, tmp_path: Path) -> None:
    found = answer(trap, tmp_path)
    assert (found == PROVED) == bool(meaning)
    if meaning:
        (program,) = read_c(tmp_path / "t.c")
        (tmp_path / "t.c").write_text(replace(trap, body=meaning, setup="").text())
        (plain,) = read_c(tmp_path / "t.c")
        for one, other in zip(program.statements, plain.statements, strict=True):
            assert one.domain.is_equal(other.domain)
            assert [str(access.relation) for access in one.accesses] == [str(access.relation) for access in other.accesses]


NOT_WRITTEN_OUT = [
    Trap("a counter", "for (i = 0; i < n; i++) INC(a[i])", "#define J(p, q) p##q\n#define K(p, q) J(p, q)\n#define INC(e) { double K(u, __COUNTER__) = e; }", after="int z = __COUNTER__;"),
    Trap("a line number", "for (i = 0; i < n; i++) LOG(a[i])", "#define LOG(e) { e = __LINE__; }"),
    Trap("a name that would expand again", "for (i = 0; i < n; i++) SET(i)", "struct { double v; } q;\n#define q q.v\n#define SET(e) { a[e] = q; }"),
    Trap("a jump out of what runs once", "for (i = 0; i < n; i++) ONCE(a[i] > 0, a[i] = 2);", "#define ONCE(c, e) do { if (c) break; e; } while (0)"),
    Trap("a pragma", "PAR a[i] = a[i + 1]; }", '#define PAR _Pragma("omp parallel for") for (i = 0; i < n; i++) {'),
    Trap("a keyword", "for (i = 0; i < n; i++) IF(i > 2) a[i] = s;", "#define IF(e) while (e)"),
]


@pytest.mark.parametrize("trap", NOT_WRITTEN_OUT, ids=lambda trap: trap.name)
def test_macros_that_are_not_written_out(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", HIDDEN, ids=lambda trap: trap.name)
def test_macros_that_hide_something(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", PLAIN, ids=lambda trap: trap.name)
def test_macros_that_are_what_they_look_like(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


@pytest.mark.parametrize(("options", "is_proved"), [((), True), (("-Dz=a",), False), (("-Dz=a", "-Uz"), True), (("-D", "zz=b"), True)])
def test_macros_of_the_command_line(options: tuple[str, ...], is_proved: bool, tmp_path: Path) -> None:
    trap = Trap("", _COPY, "#ifndef z\ndouble z[100];\n#endif")
    assert (answer(trap, tmp_path, CompilerOptions(options)) == PROVED) == is_proved


def test_a_header_decides_where_it_is_found(tmp_path: Path) -> None:
    for folder, text in (("one", "double z[100];\n"), ("two", "#define z a\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "where.h").write_text(text)
    trap = Trap("", _COPY, "#include <where.h>")
    assert answer(trap, tmp_path, CompilerOptions(("-I", str(tmp_path / "one")))) == PROVED
    assert answer(trap, tmp_path, CompilerOptions(("-I", str(tmp_path / "two")))) != PROVED


@pytest.mark.parametrize("name", ["t.cc", "t.cpp", "t.cxx", "t.C", "t.hpp", "t.hh", "t.hxx", "t.c++"])
def test_cplusplus_is_another_language(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(Trap("", _COUNT, "#define N 10").text())
    with pytest.raises(BadInput, match=r"C\+\+"):
        read_c(tmp_path / name)


_SET, _OTHER = "for (i = 0; i < n; i++) a[i] = b[i];", "for (i = 0; i < n; i++) a[i] = b[i] + 1;"
SPELLED = [
    f"\n#if 1\n{_SET}\n#endif\n",
    f"\n#if 1\n{_SET}\n#else\n{_OTHER}\n#endif\n",
    f"\n#if 0\n{_OTHER}\n#else\n{_SET}\n#endif\n",
    f"\n#if 0\n#if 1\n{_OTHER}\n#endif\n#else\n#if 1\n{_SET}\n#endif\n#endif\n",
    f"\n#if 0\ndon't\n#endif\n{_SET}",
    f"\n#if 0\n#define b s\n#endif\n{_SET}",
    "for (i = 0; i < n; i++) <% a<:i:> = b<:i:>; %>",
]
NOT_SPELLED = [
    f"\n#if 1\\\n-1\n{_SET}\n#endif\n",
    f"\n#if 0\n{_SET}\n#elif 1\n{_OTHER}\n#endif\n",
    f"\n#if 1-1\n{_SET}\n#endif\n",
    _SET,
]


def test_a_text_in_plain_words() -> None:
    """What is written without directives and digraphs has the same tokens, at the same places."""
    for body in SPELLED:
        source = Source("t.c", function(body))
        plain = plainly_spelled(source, CompilerOptions())
        assert len(plain.text) == len(source.text) and "#if" not in plain.text and "<:" not in plain.text
        assert _SET in plain.text or "{  a[ i]  = b[ i] ; }" in plain.text


@pytest.mark.parametrize("body", NOT_SPELLED)
def test_a_text_that_is_left_as_it_is(body: str) -> None:
    source = Source("t.c", function(body))
    assert plainly_spelled(source, CompilerOptions()) == source


def test_a_choice_that_is_made_in_the_text(tmp_path: Path) -> None:
    assert comparison(function(_SET), function(SPELLED[2]), tmp_path) == PROVED
    wrong = f"\n#if 0\n{_SET}\n#else\n{_OTHER}\n#endif\n"
    assert comparison(function(_SET), function(wrong), tmp_path) != PROVED


_LOG = "#define LOG(v) s = __LINE__ + v"
NUMBERED = [
    ("", "", "s = __LINE__;", False),
    (_LOG, "", "LOG(3);", False),
    ("static int g(void);", "", "s = g(); } static int g(void) { return __LINE__;", False),
    (_LOG, "LOG(3);", "", True),
    (_LOG, "", "", True),
    ("#include <assert.h>", "", "assert(n > 0);", True),
]


@pytest.mark.parametrize(("head", "setup", "after", "is_same"), NUMBERED)
def test_lines_that_are_numbers(head: str, setup: str, after: str, is_same: bool, tmp_path: Path) -> None:
    """A new text of more lines gives another number to what comes after it."""
    old, new = (function(text, head=head, setup=setup, after=after) for text in (_SET, f"\n{_SET}"))
    assert (comparison(old, new, tmp_path) == PROVED) == is_same


BRANCHES = """void f(int n, double *restrict a, double *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++) {
#if defined FAST && FAST > 1
    a[i] = 3 * b[i];
#  ifdef CLEAR
    b[i] = 0;
#  endif
#else  /* as it was */
    a[i] = b[i];
#endif
  }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("flags", "statements"),
    [
        ((), ["a[i] = b[i];"]),
        (("-DFAST=1",), ["a[i] = b[i];"]),
        (("-DFAST=2",), ["a[i] = 3 * b[i];"]),
        (("-DFAST=2", "-DCLEAR"), ["a[i] = 3 * b[i];", "b[i] = 0;"]),
    ],
)
def test_the_branch_that_is_compiled_is_read(
    flags: tuple[str, ...], statements: list[str], tmp_path: Path
) -> None:
    """The new text has this branch alone, which is right for these options, and told."""
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(BRANCHES)
    options = ReadOptions(compiled=CompilerOptions(flags))
    (program,) = read_c(old, options)
    assert [one.body.place.text for one in program.statements] == statements
    assert sum("decided as in this compilation" in one.text for one in program.trusted) == 3
    new.write_text(transformed(Request(file=str(old), reading=options), silent).source.text)
    assert "#if" not in new.read_text()
    for other in ((), ("-DFAST=2",)):
        found = compare_files(old, new, ComparisonOptions(ReadOptions(compiled=CompilerOptions(other))))
        assert found.proved == (other == flags or (not other and "-DFAST=1" in flags))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("#endif\n  }", "  }"),
        ("  for (int", '#include "missing.h"\n  for (int'),
        ("    a[i] = b[i];", "#define N 1\n    a[i] = b[i];"),
    ],
)
def test_lines_that_decide_nothing_known_are_refused(right: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text(BRANCHES.replace(right, wrong))
    with pytest.raises(BadInput, match="no place in the new loops"):
        read_c(tmp_path / "old.c")


def test_a_condition_on_its_own_line_is_refused(tmp_path: Path) -> None:
    """The line after the pragma that asks which branch is taken has another number."""
    text = BRANCHES.replace("#else  /* as it was */", "#endif\n#if __LINE__ == 12")
    for line in (11, 12):
        (tmp_path / "old.c").write_text(text.replace("== 12", f"== {line}"))
        try:
            (program,) = read_c(tmp_path / "old.c")
        except BadInput:
            continue
        found = [one.body.place.text for one in program.statements]
        assert found == (["a[i] = b[i];"] if line == 11 else [])


def test_a_region_that_stays_keeps_all_branches(tmp_path: Path) -> None:
    """The region before it gets more lines, so that it moves."""
    first = "#pragma scop\n  for (int i = 0; i < n; i++)\n    b[i] = 0;\n#pragma endscop\n"
    text = BRANCHES.replace("{\n#pragma scop\n", "{\n" + first + "#pragma scop\n", 1)
    old = tmp_path / "old.c"
    old.write_text(text)
    new = transformed(Request(file=str(old), script="tile(@5, 32)"), silent).source.text
    assert "iT" in new and new.endswith(text.split(first)[1])


@pytest.mark.parametrize(
    ("head", "after"),
    [("", "\n#define SIZE 10"), ('#pragma push_macro("SIZE")\n#define SIZE 10\n#pragma pop_macro("SIZE")', "")],
)
def test_a_parameter_that_is_a_macro_elsewhere(head: str, after: str, tmp_path: Path) -> None:
    """The macro has its number where it is defined, and the loop another one."""
    bodies = (f"for (i = 0; i < {bound}; i++) a[i] = b[i];" for bound in ("SIZE", "10"))
    old, new = (function(body, head=head, parameters="int SIZE") + after for body in bodies)
    assert comparison(old, new, tmp_path) != PROVED


_DIGRAPHS = {
    "for (i = 0; i < n; i++) <% L: a<:i:> = b<:i:>; %>": PROVED,
    "for (i = 0; i < n; i++) <% L: a<:i + 1:> = a<:i:>; %>": "before it is written",
    "for (i = 0; i < n; i++) L: a LB i:> = b<:i:>;": "the compiler accepts this",
}
"""Regions with digraphs, and what is said of them counting down; those of macros are not seen."""


@pytest.mark.parametrize("body", _DIGRAPHS)
def test_digraphs_in_a_region(body: str, tmp_path: Path) -> None:
    head = '#define LB <:\nint outside<:3:>; const char *text = "<:";'
    trap = Trap("", body, head, script="reverse(L, i)")
    assert _DIGRAPHS[body] in answer(trap, tmp_path)
    if _DIGRAPHS[body] == PROVED:
        (program,) = read_c(tmp_path / "t.c")
        assert head in program.source.text and "a[ i]" in program.region.text


BEFORE = """#define OPEN
void f(int n, double *a, double *b) {
  int i;
{}
#pragma scop
  for (i = 1; i < n; i++)
    a[i] = b[i];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("lines", "is_read"),
    [
        ("#pragma omp parallel for \\\n  shared(a) \\\n  private(i)", True),
        ("#ifdef OPEN\n  n = n - 1;\n  #pragma omp parallel for private(i)\n#endif", True),
        ("#ifdef OPEN\n#if 1\n#pragma omp parallel for // all\n#endif\n\n#endif", True),
        ("#ifdef SHUT\n#pragma omp single\n#endif", True),
        ("#ifdef SHUT\n#else\n#pragma omp parallel for\n#endif", False),
        ("#ifndef SHUT\n#define SHUT\n#pragma omp parallel for\n#endif", False),
        ("#pragma omp parallel", False),
        ("#pragma omp single", False),
    ],
)
def test_a_pragma_before_a_region_is_about_its_first_loop(lines: str, is_read: bool, tmp_path: Path) -> None:
    old = tmp_path / "old.c"
    old.write_text(BEFORE.replace("{}", lines, 1))
    if not is_read:
        with pytest.raises(BadInput, match="applies to the loop after it"):
            read_c(old)
        return
    (program,) = read_c(old)
    before, _, _ = old.read_text().partition("    a[i]")
    assert program.statements[0].body.place.line == before.count("\n") + 1
    assert [one.name for one in program.parameters] == ["n"]
    new = transformed(Request(file=str(old), script="reverse(S1, i)"), silent).source.text
    outside = new[: new.index("#pragma scop")]
    assert "parallel for" not in outside and ("single" in outside) == ("single" in lines)
    assert any("OPEN" in one.text for one in program.trusted) == ("OPEN" in lines)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[i] = __LINE__;", "'__LINE__' depends on its place"),
        ("a[i] = __FILE__[0];", "'__FILE__' depends on its place"),
        ("a[i] = HERE;", "'__LINE__' in the macro 'HERE' depends on its place"),
        ("CHECK(a[i] > 0); a[i] = 1;", "'__FILE__' in the macro 'CHECK' depends on its place"),
    ],
)
def test_what_depends_on_its_place_is_called_by_its_name(body: str, message: str, tmp_path: Path) -> None:
    head = "#define HERE __LINE__\nvoid stop(const char *, int);\n#define CHECK(e) ((e) || (stop(__FILE__, __LINE__), 1))"
    assert message in answer(Trap("", f"for (i = 0; i < n; i++) {{ {body} }}", head), tmp_path)
