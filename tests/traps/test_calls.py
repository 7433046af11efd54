"""Calls that are not the calls they look like, and functions that are more than their values."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.model.program import ELSEWHERE
from loopwright.read.c import assemble
from loopwright.read.c.reader import read_c
from tests.traps.support import LEFT, PROVED, Trap, answer

_USE = "for (i = 1; i < n; i++) { b[i] = g(i); s = i; a[i] = s; }"
_SQRT = "for (i = 1; i < n; i++) { b[i] = sqrt(a[i]); s = i; }"


def _traps(names_and_heads: list[tuple[str, str]], body: str) -> list[Trap]:
    return [Trap(name, body, head) for name, head in names_and_heads]


IMPURE = _traps(
    [
        ("it writes a variable of the file", "double z; double g(int e) { z = e; return z; }"),
        ("it declares the variable inside", "double g(int e) { extern double t; t += e; return t; }"),
        ("it reads it by a declaration inside", "double g(int e) { extern double s; return s + e; }"),
        ("it says pure and reads what the region writes", "__attribute__((pure)) double g(int e) { return s + e; }"),
        ("it says const and reads what the region writes", "__attribute__((const)) double g(int e) { return a[e]; }"),
        ("it says pure, with underscores, and writes", "__attribute__((__pure__)) double g(int e) { t = e; return e; }"),
        ("it is declared pure, and may read what the region writes", "double g(int) __attribute__((pure));"),
        ("it has a static variable", "double g(int e) { static int c; return c++ + e; }"),
        ("it has a static variable that it only reads", "double g(int e) { static int c; c = e; return c; }"),
        ("what it calls writes", "double h(int e) { t = e; return e; } double g(int e) { return h(e); }"),
        ("it writes through a pointer", "double *w; double g(int e) { *w = e; return e; }"),
        ("it is a pointer to a function", "double (*g)(int);"),
        ("it is an array of functions by a macro", "double (*t2[2])(int);\n#define g t2[0]"),
        ("it prints", "#include <stdio.h>\ndouble g(int e) { return printf(\"%d\", e); }"),
        ("it is random", "#include <stdlib.h>\ndouble g(int e) { return rand() + e; }"),
        ("it is not defined here", "double g(int);"),
        ("it is only called", ""),
        ("it is assembler", "double g(int e) { __asm__(\"nop\"); return e; }"),
        ("it assigns by a macro", "#define SET t =\ndouble g(int e) { SET e; return e; }"),
        ("it is in a header", '#include "g.h"'),
        ("it may be replaced by the linker", "__attribute__((weak)) double g(int e) { return e; }"),
        ("it follows a pointer in a union", "union { double *p; long l; } w = { &s }; double g(int e) { return *w.p; }"),
        ("it follows a pointer in a struct", "struct { double *p; } w = { &s }; double g(int e) { return *w.p; }"),
        ("it follows a pointer in an array", "double *w[1] = { &s }; double g(int e) { return *w[0]; }"),
        ("it converts a number to a pointer", "extern long w; double g(int e) { return *(double *)w; }"),
        ("it puns a pointer in a union", "extern long w; double g(int e) { union { long l; double *p; } u; u.l = w; return *u.p; }"),
        ("the declaration is in a block of it", "double g(int e) { if (e) { extern double s; return s; } return 0; }"),
        ("what it calls is declared pure", "double h(int) __attribute__((pure)); double g(int e) { return h(e); }"),
        ("it calls a function that it is given", "double h(int e) { t = e; return e; } double ap(double (*q)(int), int e) { return q(e); }\n#define g(e) ap(h, e)"),
        ("it asserts", "#include <assert.h>\ndouble g(int e) { assert(e < 5); return e; }"),
        ("it ends the program", "#include <stdlib.h>\ndouble g(int e) { if (e > 5) abort(); return e; }"),
        ("it is recursive and writes", "double g(int e) { if (e <= 0) { t = 1; return 0; } return g(e - 1); }"),
        ("two call each other, and one writes", "double h(int e); double g(int e) { return e > 0 ? h(e - 1) : 0; } double h(int e) { t = e; return g(e - 1); }"),
        ("it jumps", "#include <setjmp.h>\njmp_buf w; double g(int e) { if (e > 3) longjmp(w, 1); return e; }"),
        ("it may return twice", "#include <setjmp.h>\njmp_buf w; double g(int e) { return setjmp(w); }"),
        ("it has any number of arguments, and writes", "double g(int e, ...) { t = 1; return e; }"),
        ("it reads a volatile variable", "volatile int w; double g(int e) { return w + e; }"),
        ("it counts in a variable of the thread", "static __thread int w; double g(int e) { w = e; return w; }"),
        ("it counts atomically", "static int w; double g(int e) { return __sync_fetch_and_add(&w, 1); }"),
        ("it writes what a pointer of its own leads to", "double g(int e) { double *q = &t; *q += e; return *q; }"),
        ("it stores through modf", "#include <math.h>\ndouble g(int e) { return modf(e, &t); }"),
        ("it copies what the region writes", "#include <string.h>\ndouble g(int e) { double d; memcpy(&d, &s, 8); return d; }"),
        ("something is run when its variable dies", "static void h(int *p) { t = *p; } double g(int e) { int q __attribute__((cleanup(h))) = e; return q; }"),
        ("it counts in the length of an array", "int c; double g(int e) { char q[++c]; return sizeof q; }"),
        ("it counts in the length of a parameter", "int c; double h(int e, char (*q)[++c]) { return sizeof *q; }\n#define g(e) h(e, 0)"),
        ("the length of a parameter is what the region writes", "double h(int e, char (*q)[(int)s + 1]) { return sizeof *q; }\n#define g(e) h(e, 0)"),
        ("its threads are as many as the region writes", "double g(int e) { double r = 0;\n#pragma omp parallel num_threads((int)s + 1)\n{ r = e; } return r; }"),
        ("a macro makes statements of it", "#define g(e) ({ t = e; (double)e; })"),
    ],
    _USE,
)
_STRUCTS = "struct R { double *p; int k; }; struct Q { struct R in; double *v[2]; };"
FOLLOWING = [
    Trap(name, f"for (i = 1; i < n; i++) a[i] = g({given}, i - 1) + 1;", f"{_STRUCTS} {head}", setup, script="reverse(S1, i)")
    for name, given, setup, head in [
        ("a member of a struct that is given", "r", "struct R r = { a };", "double g(struct R r, int e) { double *q = r.p; return q[e]; }"),
        ("a member of a copy of it", "r", "struct R r = { a };", "double g(struct R r, int e) { struct R q = r; return q.p[e]; }"),
        ("what it calls", "r", "struct R r = { a };", "double h(struct R r, int e) { return *(r.p + e); } double g(struct R r, int e) { return h(r, e); }"),
        ("a member of a member", "q", "struct Q q = { .in.p = a };", "double g(struct Q q, int e) { return q.in.p[e]; }"),
        ("an element of a member", "q", "struct Q q = { .v = { b, a } };", "double g(struct Q q, int e) { return q.v[1][e]; }"),
        ("a member through a pointer", "&r", "struct R r = { a };", "double g(struct R *r, int e) { return r->p[e]; }"),
        ("an element of a table", "t", "double *t[2] = { b, a };", "double g(double **t, int e) { if (e < 0) return 0; return t[1][e]; }"),
        ("an element of an array of structs", "t[i]", "struct R t[9]; for (j = 0; j < 9; j++) t[j].p = a;", "double g(struct R r, int e) { if (e < 0) return 0; return r.p[e]; }"),
        ("it says const", "r", "struct R r = { a };", "__attribute__((const)) double g(struct R r, int e) { return e < 0 ? 0 : r.p[e]; }"),
    ]
]
_OTHER = "double h(double e) { s += e; return s; }"
RENAMED = [
    Trap(name, f"for (i = 1; i < n; i++) b[i] = {callee}(i);", f"{_OTHER}\n{head}")
    for name, callee, head in [
        ("a label", "g", '__attribute__((const)) double g(double) __asm__("h");'),
        ("a label in two parts", "g", '__attribute__((const)) double g(double) __asm__("" "h");'),
        ("a label of one of three", "g", '__attribute__((const)) double g(double); double g(double) __asm__("h"); double g(double);'),
        ("a label for one of the library", "sqrt", 'double sqrt(double) __asm__("h");'),
        ("a label after a header", "sqrt", '#include <math.h>\ndouble sqrt(double) __asm__("h");'),
        ("a label that is one of the library", "sqrt", 'static double u(double) __asm__("sqrt"); static double u(double e) { return s += e; }'),
        ("a pragma", "g", "#pragma redefine_extname g h\n__attribute__((const)) double g(double);"),
        ("a pragma by an operator", "g", '_Pragma("redefine_extname g h")\n__attribute__((const)) double g(double);'),
        ("a weak symbol", "g", "#pragma weak g = h\n__attribute__((const)) double g(double);"),
        ("assembler", "g", '__attribute__((const)) double g(double); __asm__(".globl g\\n.set g, h");'),
        ("an alias", "g", 'double g(double) __attribute__((alias("h"), const));'),
        ("an alias for one of the library", "sqrt", 'double sqrt(double) __attribute__((alias("h")));'),
        ("a weak reference", "g", 'static double g(double) __attribute__((weakref("h"), const));'),
        ("a function that chooses", "g", 'static void *one(void) { return h; } double g(double) __attribute__((__ifunc__("one"))); __attribute__((const)) double g(double);'),
    ]
]
LIBRARY = _traps(
    [
        ("defined here", "double sqrt(double e) { s = e; return e; }"),
        ("defined here as static", "static double sqrt(double e) { t = e; return e; }"),
        ("defined with the attribute", "__attribute__((const)) double sqrt(double e) { return s + e; }"),
        ("a macro for another function", "double h(double e) { t = e; return e; }\n#define sqrt h"),
        ("a pointer", "double (*sqrt)(double);"),
        ("it has a static variable", "double sqrt(double e) { static double c; return c += e; }"),
    ],
    _SQRT,
)
IN_THEIR_PLACE = [
    *_traps(
        [
            ("it reads what the region writes", "double g(int e) { return s + e; }"),
            ("the attribute is on the declaration", "double g(int e) __attribute__((pure)); double g(int e) { return s; }"),
            ("what it calls reads what the region writes", "double h(void) { return s; } double g(int e) { return h() + e; }"),
            ("it reads through a pointer of the file", "double *w; double g(int e) { return w[e]; }"),
        ],
        _USE,
    ),
    *_traps([("reads what the region writes", "double sqrt(double e) { return s + e; }")], _SQRT),
]
PURE = [
    Trap("of the library", _SQRT, "#include <math.h>"),
    Trap("of the library, without a header", _SQRT),
    Trap("of the compiler", "for (i = 1; i < n; i++) b[i] = __builtin_fabs(a[i]);"),
    *_traps(
        [
            ("a value of its argument", "double g(int e) { return e * 2.0; }"),
            ("with variables of its own", "double g(int e) { double r = 0; for (int q = 0; q < e; q++) r += q; return r; }"),
            ("with an array of its own", "double g(int e) { double r[2]; r[0] = e; r[1] = r[0]; return r[1]; }"),
            ("it reads what the region leaves alone", "double z; double g(int e) { return z + e; }"),
            ("what it calls is pure", "double h(int e) { return e; } double g(int e) { return h(e) + 1; }"),
            ("it says const", "double g(int) __attribute__((const));"),
        ],
        _USE,
    ),
    Trap("with a struct of numbers", _USE.replace("g(i)", "g(r, i)"), "struct R { double p[9]; }; double g(struct R r, int e) { return r.p[e]; }", "struct R r = { 1 };"),
    Trap("with numbers beside a pointer", _USE.replace("g(i)", "g(r, i)"), f"{_STRUCTS} double g(struct R r, int e) {{ return r.k + e; }}", "struct R r = { a, 3 };"),
    Trap("with an array as long as an argument", _USE, "double g(int e) { char q[e + sizeof(int)]; return sizeof q; }"),
    Trap("of the library, with more headers", _SQRT, "#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>"),
    Trap("a library function that is defined here as itself", _SQRT, "static double sqrt(double e) { return e * 0.5; }"),
]
_IN_A_HEADER = (("g.h", "#define sqrt(e) (t = (e))\nstatic double g(int e) { t = e; return e; }\n"),)


@pytest.mark.parametrize("trap", IMPURE + LIBRARY + FOLLOWING + RENAMED, ids=lambda trap: trap.name)
def test_functions_that_do_more(trap: Trap, tmp_path: Path) -> None:
    (tmp_path / "g.h").write_text(_IN_A_HEADER[0][1])
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", IN_THEIR_PLACE, ids=lambda trap: trap.name)
def test_what_small_functions_read_is_read_in_their_place(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED
    (program,) = read_c(tmp_path / "t.c")
    first = program.statements[0]
    assert first.body.place.text.startswith("b[i]")
    assert {"s", "w"} & {access.array for access in first.reads}


@pytest.mark.parametrize("trap", PURE, ids=lambda trap: trap.name)
def test_functions_that_are_values(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


_UNKNOWN = "for (i = 0; i < n; i++) { a[i] = 1; ext(); }"
_HEADS = "void ext(void); void keep(int *);\n#define ADDRESS(x) (&(x))\n#define KEEP keep(&n);\n#define LIMIT limit\nint limit;"
DECIDING = [
    Trap("a size whose address was given away", _UNKNOWN, _HEADS, "keep(&n);"),
    Trap("by a macro", _UNKNOWN, _HEADS, "keep(ADDRESS(n));"),
    Trap("in a macro", _UNKNOWN, _HEADS, "KEEP"),
    Trap("given away later", _UNKNOWN, _HEADS, after="keep(&n);"),
    Trap("an iterator whose address was given away", _UNKNOWN, _HEADS, "keep(ADDRESS(i));"),
    Trap("a variable of the file", _UNKNOWN.replace("< n", "< limit"), _HEADS),
    Trap(
        "a member of a union by another one",
        "for (i = 0; i < u->n; i++) { a[i] = 1; g(u); }",
        "union U { int n; float f; }; void g(union U *u) { u->f = 0.5f; }",
        parameters="int n, union U *u",
    ),
    Trap(
        "by a body that may be another one",
        _UNKNOWN.replace("< n", "< limit").replace("ext", "g"),
        _HEADS + " int *w = &limit; __attribute__((weak)) void g(void) { }",
    ),
    Trap("a macro for one", _UNKNOWN.replace("< n", "< LIMIT"), _HEADS),
]


@pytest.mark.parametrize("trap", DECIDING, ids=lambda trap: trap.name)
def test_calls_that_may_change_what_runs(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) not in (PROVED, LEFT)


def test_calls_that_may_not(tmp_path: Path) -> None:
    assert answer(Trap("", _UNKNOWN, _HEADS), tmp_path) == LEFT


def test_a_call_touches_all_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate looks whether the reader made it so."""
    monkeypatch.setattr(assemble, "_with_everything", lambda leaves, _: leaves)
    trap = Trap("", _UNKNOWN.replace("a[i] = 1", "a[i] = b[i]"), _HEADS)
    assert "was not read as accessing" in answer(trap, tmp_path)


_BESIDE = "for (i = 0; i < n; i++) { v = i; a[i] = v; ext(); }"
_POINTED = _HEADS + "\nvoid hold(double *);\n#define PASTE(p, q) p ## q\n#define SETV v = 2;\n#define HOLD(x) hold(&(x));"
REACHED = [
    Trap("static", _BESIDE, _POINTED, "static double v;"),
    Trap("of the file", _BESIDE, _POINTED + "double v;"),
    Trap("volatile", _BESIDE, _POINTED, "volatile double v;"),
    Trap("its address is given away", _BESIDE, _POINTED, "double v; hold(&v);"),
    Trap("later", _BESIDE, _POINTED, "double v;", after="hold(&v);"),
    Trap("by a macro", _BESIDE, _POINTED, "double v; HOLD(v)"),
    Trap("in parentheses", _BESIDE, _POINTED, "double v; hold(&(v));"),
    Trap("a pointer by a typedef", _BESIDE.replace("v", "v[0]"), _POINTED + "typedef double *P;", "P v = x;"),
    Trap("a parameter that is a pointer", _BESIDE.replace("v", "*v"), _POINTED, parameters="int n, double *v"),
    Trap("set in the argument", _BESIDE.replace("ext()", "keep((v = 3, &k))"), _POINTED, "double v;"),
]
HIDDEN = [
    Trap("a variable of the function", _BESIDE, _POINTED, "double v;"),
    Trap("a parameter", _BESIDE, _POINTED, parameters="int n, double v"),
    Trap("declared in the loop", _BESIDE.replace("v = i", "double v = i"), _POINTED),
]


def changed_by_the_call(trap: Trap, folder: Path) -> set[str] | None:
    """What the statement with the call may write; None where the region is refused."""
    file = folder / "t.c"
    file.write_text(trap.text())
    try:
        (program,) = read_c(file)
    except BadInput:
        return None
    calls = [one for one in program.statements if any(each.array == ELSEWHERE for each in one.writes)]
    return {access.array for one in calls for access in one.writes}


@pytest.mark.parametrize("trap", REACHED, ids=lambda trap: trap.name)
def test_what_a_call_may_change(trap: Trap, tmp_path: Path) -> None:
    changed = changed_by_the_call(trap, tmp_path)
    assert changed is None or "v" in changed


WRITTEN_OUT = [
    (_USE, "double h(int e) { return e; }\n#define g(e) h(k++)", {"b", "k", "s", "a"}),
    (_SQRT, "#define sqrt(e) (t = (e))", {"b", "t", "s"}),
    (_BESIDE.replace("ext();", "SETV;"), _POINTED + "double v;", {"v", "a"}),
]


@pytest.mark.parametrize(("body", "head", "written"), WRITTEN_OUT)
def test_what_macros_change_is_seen(body: str, head: str, written: set[str], tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(Trap("", body, head).text())
    (program,) = read_c(file)
    assert {access.array for one in program.statements for access in one.writes} == written


@pytest.mark.parametrize("trap", HIDDEN, ids=lambda trap: trap.name)
def test_what_no_call_can_change(trap: Trap, tmp_path: Path) -> None:
    changed = changed_by_the_call(trap, tmp_path)
    assert changed is not None and "a" in changed and "v" not in changed


def test_a_name_that_is_pasted(tmp_path: Path) -> None:
    """The text does not say that the statement reads wv; written out, it does."""
    body = "for (i = 0; i < n; i++) { wv = i; a[i] = wv; keep((int *)PASTE(w, v)); }"
    file = tmp_path / "t.c"
    file.write_text(Trap("", body, _POINTED, "long wv;").text())
    (program,) = read_c(file)
    (call,) = [one for one in program.statements if any(each.array == ELSEWHERE for each in one.writes)]
    assert "wv" in {access.array for access in call.reads}
