"""Iterators and temporaries whose last value is read after the region, by whatever way."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.progress import silent
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.traps.support import LEFT, PROVED, Trap, answer, comparison, function

_LOOP = "for (i = 0; i < n; i++) a[i] = i;"

READ = [
    Trap("after it", _LOOP, after="s = i;"),
    Trap("returned", _LOOP, after="g(i);", head="void g(int);"),
    Trap("in the length of a type", _LOOP, after="typedef char V[i + 1]; s = sizeof(V);"),
    Trap("in the length of a type in a loop", _LOOP, setup="while (s < 9) { typedef char V[i + 1]; s += sizeof(V);", after="}"),
    Trap("in the length of a type of a cast", _LOOP, after="s = sizeof(*(char (*)[i + 1])a);"),
    Trap("in a directive", _LOOP, after="\n#pragma omp parallel num_threads(i)\ns = 1;"),
    Trap("in a directive that is an operator", _LOOP, after='\n_Pragma("omp parallel if(i > 3)")\ns = 1;'),
    Trap("in a directive in a loop", _LOOP, setup="while (s < 9) {\n#pragma omp parallel num_threads(i)\n{ s = 1; }", after="}"),
    Trap("by a macro", _LOOP, "#define LAST i", after="s = LAST;"),
    Trap("by a macro of a header", _LOOP, '#include "h.h"', after="s = LAST;", headers=(("h.h", "#define LAST i\n"),)),
    Trap("by a pointer that was made before", _LOOP, setup="int *w = &i;", after="s = *w;"),
    Trap("by a pointer that a function was given", _LOOP, "void keep(int *); void look(void);", "keep(&i);", "look();"),
    Trap("on one path", _LOOP, after="if (n) i = 0; s = i;"),
    Trap("after a loop that may not run", _LOOP, after="while (n--) i = 0; s = i;"),
    Trap("after a loop that assigns it late", _LOOP, after="for (j = 0; j < n; j++) i = 3; s = i;"),
    Trap("in its own assignment", _LOOP, after="i = i + 1; s = i;"),
    Trap("by +=", _LOOP, after="i += 2; s = i;"),
    Trap("by ++", _LOOP, after="i++; s = i;"),
    Trap("in a condition", _LOOP, after="if (i == n) s = 1;"),
    Trap("on the right of ||", _LOOP, after="if (n || (i = 0)) s = i;"),
    Trap("in a branch of ?:", _LOOP, after="s = n ? (i = 0) : i;"),
    Trap("in the next round of a loop around it", _LOOP, setup="while (n--) { s = i;", after="}"),
    Trap("in the test of a loop around it", _LOOP, setup="do {", after="} while (i < 10);"),
    Trap("in the step of a loop around it", _LOOP, setup="for (j = 0; j < 9; j += i) {", after="}"),
    Trap("after a goto", _LOOP, after="goto end; i = 0; end: s = i;"),
    Trap("in a case", _LOOP, after="switch (n) { case 1: i = 0; break; case 2: s = i; }"),
    Trap("as a static variable", "for (c = 0; c < n; c++) a[c] = c;", setup="static int c; s = c;"),
    Trap("as a variable of the file", "for (c = 0; c < n; c++) a[c] = c;", "int c; int g(void) { return c; }"),
    Trap("as a variable of the file, by a function called after it", "for (c = 0; c < n; c++) a[c] = c;", "static int c; static void g(void) { s = c; }", after="g();"),
    Trap("as a variable of the file, by a function of another one", "for (c = 0; c < n; c++) a[c] = c;", "int c; void g(void);", after="g();"),
    Trap("as a variable of the file, by a function of another one in a loop", "for (c = 0; c < n; c++) a[c] = c;", "int c; void g(void);", setup="while (s < 3) { g();", after="}"),
    Trap("as a variable of the file, by a pointer to a function", "for (c = 0; c < n; c++) a[c] = c;", "int c; void (*g)(void);", after="g();"),
    Trap("as a variable of another file", "for (c = 0; c < n; c++) a[c] = c;", "extern int c; void g(void);", after="g();"),
    Trap("as a volatile variable of the file", "for (c = 0; c < n; c++) a[c] = c;", "volatile int c; void g(void);", after="g();"),
    Trap("as a variable of the file, by what the loop calls", "for (c = 0; c < n; c++) a[c] = g();", "int c; double g(void) __attribute__((pure));"),
    Trap("as a variable of the file whose address is taken", "for (c = 0; c < n; c++) a[c] = c;", "static int c; int *w = &c;"),
    Trap("by a macro with arguments", _LOOP, "#define VALUE(x) x", after="s = VALUE(i);"),
    Trap("by a pointer in a struct", _LOOP, "struct Q { int *p; };", "struct Q q = { &i };", "s = *q.p;"),
    Trap("by a pointer in an array", _LOOP, setup="int *q[1] = { &i };", after="s = *q[0];"),
    Trap("by a pointer of the file", _LOOP, "static int *w;", "w = &i;", "s = *w;"),
    Trap("in an asm", _LOOP, after='__asm__ volatile("" :: "r"(i));'),
    Trap("in an asm that is given its address", _LOOP, setup='int *q = &i; __asm__ volatile("" :: "r"(q));'),
    Trap("after a goto back", "again: " + _LOOP, after="if (s < 3) { s = i; goto again; }"),
    Trap("by a computed goto", _LOOP, after="void *l = &&end; goto *l; end: s = i;"),
    Trap("as the bound of a later loop", _LOOP, after="for (j = 0; j < i; j++) b[j] = 0;"),
    Trap("as the start of a later loop", _LOOP, after="for (; i < 100; i++) b[i] = 0;"),
    Trap("in a later while", _LOOP, after="while (i < 100) b[i++] = 0;"),
    Trap("after an empty loop", _LOOP, after="for (j = 0; j < 0; j++) i = 0; s = i;"),
    Trap("in a return", _LOOP, after="return (void)(s = i);"),
    Trap("in a switch", _LOOP, after="switch (i) { case 3: s = 1; }"),
    Trap("as a subscript", _LOOP, after="s = a[i - 1];"),
    Trap("as an argument", _LOOP, "void g(int);", after="g(i);"),
    Trap("in the size of an array", _LOOP, after="s = sizeof(int[i + 1]);"),
    Trap("in a function inside the function", _LOOP, setup="double h(void) { return i; }", after="s = h();"),
    Trap("in a statement as an expression", _LOOP, after="s = ({ i; });"),
    Trap("in a choice by type", _LOOP, after="s = _Generic(1, int: i, default: 0);"),
    Trap("in a list of values", _LOOP, after="int z[2] = { [1] = i }; s = z[1];"),
    Trap("after && with an assignment", _LOOP, after="n && (i = 0); s = i;"),
    Trap("by a function that may leave it", _LOOP, "void set(int *);", after="set(&i); s = i;"),
    Trap("in the next round of a for", _LOOP, setup="for (j = 0; j < 2; j++) { if (j) s = i;", after="}"),
    Trap("by a clause", _LOOP, after="\n#pragma omp parallel for firstprivate(i)\nfor (j = 0; j < 3; j++) b[j] = i;"),
    Trap("by a clause beside a list", _LOOP, after="\n#pragma omp parallel private(j) if(i > 3) shared(s)\n{ s = 1; }"),
    Trap("by a clause that combines", _LOOP, after="\n#pragma omp parallel for private(j) reduction(+: i)\nfor (j = 0; j < 3; j++) b[j] = 1;"),
    Trap("by a task", _LOOP, after="\n#pragma omp task private(j) if(i > 3)\n{ s = 1; }"),
    Trap("after a directive that lists it", _LOOP, after="\n#pragma omp parallel for private(i)\nfor (j = 0; j < 3; j++) { i = j; b[j] = i; }\ns = i;"),
    Trap("in the statement of a directive that lists it", _LOOP, after="\n#pragma omp parallel shared(i)\n{ s = i; }"),
    Trap("as a variable of the thread", "for (c = 0; c < n; c++) a[c] = c;", "static __thread int c; int h(void) { return c; }"),
    Trap("as a volatile variable", "for (c = 0; c < n; c++) a[c] = c;", setup="volatile int c;"),
    Trap("as what a parameter points to", "for (*m = 0; *m < n; (*m)++) a[*m] = 1;", parameters="int n, int *m"),
    Trap("as a member", "for (q.m = 0; q.m < n; q.m++) a[q.m] = 1;", "struct { int m; } q;"),
    Trap("in a text that is not understood", _LOOP, after="OOPS(s = i;) [;"),
]
DEAD = [
    Trap("not read", _LOOP),
    Trap("assigned first", _LOOP, after="i = 0; s = i;"),
    Trap("in types and directives before it", _LOOP, setup="i = 3; typedef char V[i];\n#pragma omp parallel num_threads(i)\n{ s = sizeof(V); }"),
    Trap("listed in directives after it", _LOOP, after="\n#pragma omp parallel for private(i, j)\nfor (j = 0; j < 3; j++) { i = j; b[j] = i; }\n#pragma omp parallel shared(i)\n{ s = 1; }"),
    Trap("the iterator of another loop", _LOOP, after="for (i = 0; i < 3; i++) b[i] = i;"),
    Trap("assigned on both paths", _LOOP, after="if (n) i = 0; else i = 1; s = i;"),
    Trap("another variable of the name", _LOOP, after="{ int i = 3; s = i; }"),
    Trap("in a loop around it that assigns first", _LOOP, setup="while (n--) {", after="i = 0; s = i; }"),
    Trap("on a path that does not come from the region", _LOOP, setup="if (n) { s = i; return; }"),
    Trap("a variable of the file, and a function of the library is called", "for (c = 0; c < n; c++) a[c] = c;", "#include <stdio.h>\nint c;", after="puts(\"\");"),
    Trap("a variable of the file that no function of it reads", "for (c = 0; c < n; c++) a[c] = c;", "int c; static void g(void) { s = 0; }", after="g();"),
    Trap("a variable of the file that all assign first", "for (c = 0; c < n; c++) a[c] = c;", "static int c; void g(void) { for (c = 0; c < 3; c++) b[c] = 0; }"),
]


_TEMPORARY = "for (i = 0; i < n; i++) { u = b[i]; a[i] = u * 2; }"
_WITHOUT = "for (i = 0; i < n; i++) { double w = b[i]; a[i] = w * 2; }"
_CARRIED = "for (i = 0; i < n; i++) { a[i] = u; u = b[i]; }"
_NOT_CARRIED = "for (i = 0; i < n; i++) a[i] = i == 0 ? u : b[i - 1];"
_OWN = "double u = 0;"
KEPT = {
    "read after it": (_OWN, "s = u;", ""),
    "by a macro": (_OWN, "s = LAST;", "#define LAST u"),
    "by a pointer": (_OWN + " double *w = &u;", "s = *w;", ""),
    "by a pointer that a function was given": (_OWN + " keep(&u);", "look();", "void keep(double *); void look(void);"),
    "as a static variable": ("static double u; s = u;", "", ""),
    "as a variable of the file that a function reads": ("", "", "static double u; double h(void) { return u; }"),
    "as a variable of the file that others see": ("", "", "double u;"),
    "as a static variable that a macro reads": ("", "", "static double u;\n#define LAST u\ndouble h(void) { return LAST; }"),
    "as a static variable that assembler code may read": ("", "", 'static double u; __asm__(".globl u_");'),
    "as a static variable of another name": ("", "", 'static double u; extern double w __attribute__((alias("u")));'),
    "as a static variable that is kept": ("", "", "static double u __attribute__((used));"),
    "on one path": (_OWN, "if (n) u = 0; s = u;", ""),
    "after a goto": (_OWN, "goto end; end: s = u;", ""),
    "in a later loop": (_OWN, "for (j = 0; j < 2; j++) s += u;", ""),
    "in a directive": (_OWN, "\n#pragma omp parallel if(u > 3)\n{ s = 1; }", ""),
    "in the length of a type": (_OWN, "typedef char V[(int)u]; s = sizeof(V);", ""),
    "in the next round": (_OWN + " while (s < 3) { s += u;", "}", ""),
    "in an asm": (_OWN, '__asm__ volatile("" :: "m"(u));', ""),
    "in a function inside the function": (_OWN + " double h(void) { return u; }", "s = h();", ""),
}
LOST = {
    "not at all": (_OWN, "", ""),
    "after an assignment": (_OWN, "u = 0; s = u;", ""),
    "for its size": (_OWN, "s = sizeof u;", ""),
    "as a static variable of the file": ("", "", "static double u;"),
    "as a static variable of the function": ("static double u;", "", ""),
    "as a static variable that all assign first": ("", "", "static double u; double h(void) { u = 1; return u; }"),
}


def _without_temporary(setup: str, after: str, head: str, folder: Path) -> str:
    parts = {"setup": setup, "after": after, "head": head}
    return comparison(function(_TEMPORARY, **parts), function(_WITHOUT, **parts), folder)


@pytest.mark.parametrize("name", KEPT)
def test_temporaries_that_are_read_afterwards(name: str, tmp_path: Path) -> None:
    assert _without_temporary(*KEPT[name], tmp_path) != PROVED


_DECLARED = "double u = a[0]; for (i = 1; i < n; i++) u = u + b[i];"
NAMED_AFTER = {
    "read": ("s = u;", ""),
    "assigned first": ("u = 0; s = u;", ""),
    "by a macro": ("s = LAST;", "#define LAST u"),
    "instead of one of the file": ("s = u;", "static double u;"),
    "in a later loop": ("for (j = 0; j < 2; j++) s += u;", ""),
}


@pytest.mark.parametrize("name", NAMED_AFTER)
@pytest.mark.parametrize("declared", ["double u", "register double u"])
def test_variables_of_the_region_that_are_named_after_it(name: str, declared: str, tmp_path: Path) -> None:
    """They are declared before it, where the text shows that and they are plain numbers."""
    after, head = NAMED_AFTER[name]
    file = tmp_path / "one.c"
    file.write_text(function(_DECLARED.replace("double u", declared), after=after, head=head))
    if name == "by a macro" or declared != "double u":
        with pytest.raises(BadInput, match="'u' is declared in the region, and used after it"):
            read_c(file)
        return
    new = transformed(Request(str(file), None), silent).source.text
    assert "double u; \n#pragma scop\nu = a[0];" in new
    assert not any(one.local for one in read_c(file)[0].arrays)


def test_variables_of_the_region_of_which_only_the_names_are_used_after_it(tmp_path: Path) -> None:
    file = tmp_path / "one.c"
    file.write_text(function(_DECLARED, after="{ double u = 3; s = u; }"))
    assert [one.name for one in read_c(file)[0].arrays if one.local] == ["u"]


@pytest.mark.parametrize("name", LOST)
def test_temporaries_that_are_not(name: str, tmp_path: Path) -> None:
    assert _without_temporary(*LOST[name], tmp_path) == PROVED


def test_a_static_variable_that_nothing_reads_is_not_missed_in_a_run(tmp_path: Path) -> None:
    old, new = "for (i = 0; i < n; i++) { u = b[i]; a[i] = u; }", "for (i = 0; i < n; i++) a[i] = b[i];"
    whole = "static double u;\nvoid f(int n, double *a, double *b) {{ int i;\n#pragma scop\n{}\n#pragma endscop\n}}\n{}"
    assert comparison(whole.format(old, ""), whole.format(new, ""), tmp_path) == PROVED
    read = "double h(void) { return u; }"
    assert comparison(whole.format(old, read), whole.format(new, read), tmp_path) != PROVED


@pytest.mark.parametrize("setup", ["while (s < 3) {", "for (j = 0; j < 3; j++) {", "do {", "again: {"])
def test_a_temporary_that_the_region_itself_reads_the_next_time(setup: str, tmp_path: Path) -> None:
    ends = {"do {": "} while (s < 3);", "again: {": "} if (s < 3) goto again;"}
    parts = {"setup": f"double u = 0; {setup}", "after": f"s += 1; {ends.get(setup, '}')}"}
    old, new = (function(text, **parts) for text in (_CARRIED, _NOT_CARRIED))
    assert comparison(old, new, tmp_path) != PROVED


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("z[0] = b[i]; a[i] = z[0];", "a[i] = b[i];", True),
        ("a[i] = z[0]; z[0] = b[i];", "a[i] = i == 0 ? z[0] : b[i - 1];", False),
    ],
)
def test_an_array_that_the_region_itself_reads_the_next_time(
    old: str, new: str, is_same: bool, tmp_path: Path
) -> None:
    parts = {"setup": "double z[1] = { 0 }; while (s < 3) {", "after": "s += 1; }"}
    before, after = (function(f"for (i = 0; i < n; i++) {{ {text} }}", **parts) for text in (old, new))
    assert (comparison(before, after, tmp_path) == PROVED) == is_same


def test_an_iterator_that_other_files_see_is_listed(tmp_path: Path) -> None:
    trap = Trap("", "for (c = 0; c < n; c++) a[c] = c;", "int c;")
    assert answer(trap, tmp_path) == PROVED
    (program,) = read_c(tmp_path / "t.c")
    assert any(one.text.startswith("c: the value after the last loop") for one in program.trusted)


@pytest.mark.parametrize("trap", READ, ids=lambda trap: trap.name)
def test_values_that_are_read_afterwards(trap: Trap, tmp_path: Path) -> None:
    """Refused, or the loop counts with a variable of its own, and the iterator gets its last value."""
    if answer(trap, tmp_path) == PROVED:
        name = "i" if trap.body == _LOOP else "c"
        words = " ".join(transformed(Request(str(tmp_path / "t.c")), silent).source.text.split())
        loop = f"for (int {name}_1 = 0; {name}_1 < n; {name}_1 += 1) a[{name}_1] = {name}_1;"
        assert f"{loop} if (n >= 1) {name} = n; else {name} = 0; #pragma endscop" in words


@pytest.mark.parametrize("trap", DEAD, ids=lambda trap: trap.name)
def test_values_that_are_not(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


LASTING = {
    "static": "#define KIND static double",
    "of another file": "#define KIND extern double",
    "of each thread": "#define KIND static __thread double",
    "with an end that calls": "void seen(void *);\n#define KIND __attribute__((cleanup(seen))) double",
    "of another type": "#define KIND __attribute__((mode(SF))) double",
}


@pytest.mark.parametrize("name", LASTING)
@pytest.mark.parametrize("after", ["", "s = u;"])
def test_a_macro_hides_that_a_variable_lasts(name: str, after: str, tmp_path: Path) -> None:
    trap = Trap("", "KIND u; u += n; for (i = 0; i < n; i++) a[i] = u;", LASTING[name], after=after)
    assert answer(trap, tmp_path) not in (PROVED, LEFT)


@pytest.mark.parametrize("after", ["", "s = u;"])
def test_a_macro_that_is_a_plain_type(after: str, tmp_path: Path) -> None:
    trap = Trap("", "KIND u = 1; for (i = 0; i < n; i++) a[i] = u;", "#define KIND double", after=after)
    assert answer(trap, tmp_path) == PROVED


_LATER = {
    "nothing": ("", "", False),
    "an assignment": ("", "t[3] = 1;", False),
    "a length in a parameter's type": ("int g(int (*p)[(int)t[3]]) { return sizeof *p; }", "g(0);", True),
    "a length in a defined type": ("", "typedef int V[(int)t[3]]; return sizeof(V);", True),
    "a length in a cast": ("", "return sizeof(*(int (*)[(int)t[3]])y);", True),
    "a directive": ("", "\n#pragma omp parallel num_threads((int)t[3])\n{ y[8] = 1; }", True),
    "a weak reference": ('static double u[9] __attribute__((weakref("t")));', "return u[3];", True),
}
"""What stands before and after a region that fills a static array: whether that may read it."""


@pytest.mark.parametrize("name", _LATER)
def test_static_arrays_that_are_read_where_no_expression_names_them(name: str, tmp_path: Path) -> None:
    before, after, is_seen = _LATER[name]
    loops = "for (int i = 0; i < 9; i++) t[i] = i;\nfor (int i = 0; i < 9; i++) y[i] = t[i];"
    (tmp_path / "t.c").write_text(
        f"static double t[9], y[9];\n{before}\nint main(void) {{\n#pragma scop\n{loops}\n#pragma endscop\n"
        f"{after}\nreturn y[0];\n}}\n"
    )
    (program,) = read_c(tmp_path / "t.c")
    assert program.array("t").observed is is_seen


@pytest.mark.parametrize("pragma", ["weak u = w", "redefine_extname u w"])
def test_an_array_that_a_pragma_gives_another_name(pragma: str, tmp_path: Path) -> None:
    loops = "for (i = 0; i < n; i++) w[i] = i; for (i = 0; i < n; i++) a[i] = w[i];"
    head = f"static double w[9]; extern double u[9];\n#pragma {pragma}"
    assert "share its memory" in answer(Trap("", loops, head, after="s = u[3];"), tmp_path)


OBSERVED = ["volatile int q = 1;", "V q = 1;", "volatile int q; q = 1;", "_Atomic int q = 1;"]


@pytest.mark.parametrize("declared", OBSERVED)
def test_a_volatile_variable_is_written_though_unused(declared: str, tmp_path: Path) -> None:
    head = "typedef volatile int V;"
    with_it, without = (f"for (i = 0; i < n; i++) {{ {text} a[i] = b[i]; }}" for text in (declared, ""))
    assert "volatile or atomic" in answer(Trap("", with_it, head), tmp_path)
    texts = function(with_it, head=head), function(without, head=head)
    assert "volatile or atomic" in comparison(texts[0], texts[1], tmp_path)
    assert "volatile or atomic" in comparison(texts[1], texts[0], tmp_path)
