"""Local pointers to elements: where they point is what was written where they were declared, or it is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.options import PLAIN
from loopwright.read.c.evolution import with_pointer_walks
from loopwright.source import Source
from tests.traps.support import PROVED, Trap, answer, comparison, function

_HEAD = """
typedef struct { double x, y; int id; double v[3]; } P;
typedef struct { int n, w; P *p; double *d; unsigned char *c; P own[100]; } S;
P q[100]; S g; void foo(void); int idx[100]; int at;
double twice(double z) { return 2 * z; }
"""

MOVING = [
    Trap("the subscript changes", "for (i = 0; i < n; i++) { k = i; P *p = &q[k]; k = 2; p->x = 1; }"),
    Trap("the subscript counts", "for (i = 0; i < n; i++) { P *p = &q[i]; for (i = 0; i < 3; i++) p->x += 1; }"),
    Trap("the pointer moves in a value", "for (i = 0; i < n; i++) { P *p = &q[i]; p->x = (p++)->y; p->y = 2; }"),
    Trap("the pointer is assigned", "for (i = 0; i < n; i++) { P *p = &q[i]; p->x = 1; p = &q[0]; p->y = 2; }"),
    Trap("its address is taken", "for (i = 0; i < n; i++) { P *p = &q[i], **r = &p; *r = q; p->x = 1; }"),
    Trap(
        "another type of the elements",
        "for (i = 0; i < n; i++) { double *p = (double *)q + i; p[1] = p[0]; }",
        script="reverse(S1, i)",
    ),
    Trap("a cast to a smaller element", "for (i = 0; i < n; i++) { char *p = (char *)(q + i); p[0] = 1; }"),
    Trap("a member that is assigned", "for (i = 0; i < n; i++) { P *p = &s->p[i]; s->p = q; p->x = 1; }", parameters="int n, S *s"),
    Trap("a member that a struct brings", "for (i = 0; i < n; i++) { P *p = &s->p[i]; *s = g; p->x = 1; }", parameters="int n, S *s"),
    Trap(
        "a subscript of memory that is assigned",
        "for (i = 0; i < n; i++) { P *p = &q[idx[i]]; idx[i] = 0; p->x = 1; }",
    ),
    Trap(
        "a subscript of a member that is assigned",
        "for (i = 0; i < n; i++) { P *p = &q[s->w]; s->w = i; p->x = 1; }",
        parameters="int n, S *s",
    ),
    Trap("a subscript that a call changes", "for (i = 0; i < n; i++) { P *p = &q[at]; foo(); p->x = 1; }"),
    Trap("a member that a call changes", "for (i = 0; i < n; i++) { P *p = &s->p[i]; foo(); p->x = 1; }", parameters="int n, S *s"),
    Trap(
        "a subscript that a pointer changes",
        "for (i = 0; i < n; i++) { P *p = &q[k]; *r = i; p->x = 1; }",
        setup="int *r = &k; k = 0;",
    ),
    Trap("volatile elements", "for (i = 0; i < n; i++) { volatile P *p = &q[i]; p->x = 1; p->x = 2; }"),
    Trap("a static pointer", "for (i = 0; i < n; i++) { static P *p = q; p->x += i; }"),
    Trap("after a label", "for (i = 0; i < n; i++) { P *p = &q[i]; again: p->x = 1; if (p->y < 0) goto again; }"),
    Trap(
        "out of its row",
        "for (i = 0; i < n; i++) { double *p = A[0]; p[i] = p[i + 1] + A[1][i]; }",
        script="reverse(S1, i)",
    ),
    Trap("into the next row", "for (i = 0; i < n; i++) { double *p = A[0]; p[i] = A[1][i]; }", script="reverse(S1, i)"),
    Trap("into the next row from outside", "double *p = A[0]; for (i = 0; i < n; i++) { x++; *x = p[i]; A[1][i] = i; }", script="reverse(S1, i)"),
    Trap(
        "a row that is another one then",
        "for (i = 0; i < n; i++) { double *p = rows[i]; rows[i] = a; p[0] = 1; }",
        parameters="int n, double **rows",
        script="reverse(S1, i)",
    ),
    Trap(
        "an offset that changes",
        "for (i = 0; i < n; i++) { double *p = a + (size_t)i * k; k = 0; p[0] = 1; }",
        script="reverse(S1, i)",
    ),
    Trap("two pointers to one element", "for (i = 1; i < n; i++) { P *p = &q[i], *r = &q[i - 1]; p->x = r->x; }", script="reverse(S1, i)"),
]

FOLLOWED = [
    Trap("an element", "for (i = 0; i < n; i++) { P *p = &q[i]; p->x = p->y + 1; }"),
    Trap("the element itself", "for (i = 0; i < n; i++) { P *p = &q[i]; (*p).x = (*p).y; }"),
    Trap("a sum", "for (i = 0; i < n; i++) { P *p = q + i; p->x = twice(p->y); }"),
    Trap("two of them", "for (i = 0; i < n; i++) { P *p = &q[i], *r = &q[n - 1 - i]; p->x = r->y; }"),
    Trap("one from another", "for (i = 0; i < n - 1; i++) { P *p = &q[i]; P *r = p + 1; r->x = p->y; }"),
    Trap("of a struct", "for (i = 0; i < n; i++) { P *p = &s->own[i]; p->x = p->y; }", parameters="int n, S *s"),
    Trap("through a struct", "for (i = 0; i < n; i++) { P *p = &s->p[i]; p->x = p->y; }", parameters="int n, S *s"),
    Trap(
        "numbers through a struct",
        "for (i = 0; i < n; i++) { double *p = s->d + i * s->w; for (j = 0; j < n; j++) p[j] = j; }",
        parameters="int n, S *s",
    ),
    Trap("numbers through a struct as a value", "for (i = 0; i < n; i++) { double *p = s.d + i; p[0] = 1; }", parameters="int n, S s"),
    Trap(
        "bytes through a struct",
        "for (i = 0; i < n; i++) { unsigned char *p = s->c + i * s->w; for (j = 0; j < n; j++) p[j] = j; }",
        parameters="int n, S *s",
    ),
    Trap("an unsigned offset", "for (i = 0; i < n; i++) { double *p = x + (size_t)i * n; for (j = 0; j < n; j++) p[j] = j; }"),
    Trap("a constant subscript", "for (i = 0; i < n; i++) { const P *p = &q[3]; a[i] = p->x; }"),
    Trap("another variable of the name", "for (i = 0; i < n; i++) { P *p = &q[i]; { int i = 3; p->x = i; } }"),
    Trap("another array of the name", "for (i = 0; i < n; i++) { P *p = &q[i]; { P q[2]; q[0].x = 1; p->x = q[0].x; } }"),
    Trap("in two loops", "for (i = 0; i < n; i++) { P *p = &q[i]; p->x = 1; } for (i = 0; i < n; i++) { P *p = &q[i]; p->y = 1; }"),
    Trap("the pointer moves", "for (i = 0; i < n; i++) { P *p = &q[i]; p->x = 1; p++; p->y = 2; }"),
    Trap("through a macro", "for (i = 0; i < n; i++) { P *p = &q[i]; SET(p); }", head="#define SET(p) (p++)->x = 1"),
]


@pytest.mark.parametrize("trap", MOVING, ids=lambda trap: trap.name)
def test_a_pointer_that_is_something_else_is_not_followed(trap: Trap, tmp_path: Path) -> None:
    assert answer(_with_head(trap), tmp_path) != PROVED


@pytest.mark.parametrize("trap", FOLLOWED, ids=lambda trap: trap.name)
def test_a_pointer_to_an_element_is_the_element(trap: Trap, tmp_path: Path) -> None:
    assert answer(_with_head(trap), tmp_path) == PROVED


def test_lines_stay() -> None:
    text = FOLLOWED[3].text().replace("&q[i], *r", "&q[ // first\n i],\n *r")
    source = Source("t.c", _HEAD + text)
    found = with_pointer_walks(source, PLAIN)
    assert "q[(long)n - i - 1].y" in found.text
    assert found.text.count("\n") == source.text.count("\n")


def _with_head(trap: Trap) -> Trap:
    return Trap(
        trap.name,
        trap.body,
        head=_HEAD + trap.head,
        setup=trap.setup,
        parameters=trap.parameters,
        script=trap.script,
    )


_COPIED = "for (i = 0; i < n; i++) x[i] = y[i];"
WALKED = {
    "*x++ = *y++;": True,
    "{ *x = *y++; x++; }": True,
    "{ *x = *y; ++x; ++y; }": True,
    "*++x = *y++;": False,
    "*x = *y++;": False,
    "*x++ = *y++ + 1;": False,
    "{ *x++ = *y; y += 2; }": False,
    "{ *x++ = *y++; if (i == 3) x--; }": False,
    "if (i) *x++ = *y++;": False,
}
"""What a new text may do in place of x[i] = y[i], and whether it is the same."""


@pytest.mark.parametrize("body", WALKED)
def test_a_new_text_may_walk(body: str, tmp_path: Path) -> None:
    new = _COPIED.replace("x[i] = y[i];", body)
    assert (comparison(function(_COPIED), function(new), tmp_path) == PROVED) == WALKED[body]


@pytest.mark.parametrize(
    "new", ["while (n--) *x++ = *y++;", "for (double *e = x + n; x != e; x++) *x = *y++;"]
)
def test_a_new_text_that_runs_on_for_other_sizes_is_not_the_same(new: str, tmp_path: Path) -> None:
    assert comparison(function(_COPIED), function(new), tmp_path) != PROVED


def test_a_pointer_that_is_read_after_the_walk_is_compared(tmp_path: Path) -> None:
    new = _COPIED.replace("x[i] = y[i];", "*x++ = *y++;")
    old, new = (function(body, after="x[0] = 1;") for body in (_COPIED, new))
    assert comparison(old, new, tmp_path) != PROVED


_LATER = {
    "p->v = p->w;": ("p->v[i] = p->w[i - 1];", "struct { double *v, *w; } *p", False),
    "p->v = 0;": ("p->v[i] = p->w[i - 1];", "struct { double *v, *w; } *p", True),
    "p[0] = q[0];": ("p[0][i] = q[0][i - 1];", "double **p, double **q", False),
    "p[0] = p[1];": ("p[0][i] = p[1][i - 1];", "double **p", False),
    "x = y;": ("x[i] = y[i - 1];", "double *x, double *y", True),
    "x = y; longjmp(e, 1);": ("x[i] = y[i - 1];", "double *x, double *y", False),
}


@pytest.mark.parametrize("after", _LATER)
def test_what_a_function_does_after_its_region_counts_in_its_next_run(after: str, tmp_path: Path) -> None:
    """But for what it does to variables of its own, where it does not come back."""
    body, parameters, is_apart = _LATER[after]
    jumps = "longjmp" in after
    head = "#include <setjmp.h>\njmp_buf e;" if jumps else ""
    setup = "setjmp(e);" if jumps else ""
    trap = Trap("", f"for (i = 1; i < n; i++) {body}", head, setup, after, f"int n, {parameters}")
    assert (answer(trap, tmp_path) == PROVED) == is_apart


_ROWS = {
    "double *p[1] = {a}, *q[1] = {a}; f(n, p, q);": False,
    "double *p[1] = {a}, *q[1] = {b}; f(n, p, q);": True,
    "double *p[1], *q[1]; p[0] = malloc(n); q[0] = p[0]; f(n, p, q);": False,
    "double *p[1], *q[1]; p[0] = malloc(n); q[0] = malloc(n); f(n, p, q);": True,
}


@pytest.mark.parametrize("call", _ROWS)
def test_rows_that_a_call_gives_are_looked_into(call: str, tmp_path: Path) -> None:
    after = f"}} void g(int n) {{ {call}"
    for qualifier in ("", "restrict "):
        parameters = f"int n, double **{qualifier}u, double **{qualifier}v"
        body = "for (i = 1; i < n; i++) u[0][i] = v[0][i - 1];"
        trap = Trap("", body, "void *malloc(unsigned long);", "", after, parameters)
        assert (answer(trap, tmp_path) == PROVED) == _ROWS[call]


_DISTANCES = {
    ("s[k] = a + k;", "s[i][1] = s[i][0] + 1;"): False,
    ("s[k] = &a[k + 3];", "s[i][1] = s[i][0] + 1;"): False,
    ("s[9 - k] = a + 1 + 2 * k;", "s[i][2] = s[i][0] + 1;"): False,
    ("s[k] = w++;", "s[i][1] = s[i][0] + 1;"): False,
    ("s[k] = a + k;", "s[i][i] = s[i][0] + 1;"): False,
    ("s[k] = a + k;", "s[i][0] = s[i][0] + 1;"): True,
    ("s[k] = a + 2 * k;", "s[i][1] = s[i][0] + 1;"): True,
    ("s[k] = a + k;", "b[i] = s[i][1] + s[i][0];"): True,
}


@pytest.mark.parametrize("rows", _DISTANCES)
def test_rows_at_a_constant_distance(rows: tuple[str, str], tmp_path: Path) -> None:
    setup, body = rows
    before = f"double *s[10], *w = a; for (k = 0; k < 10; k++) {setup}"
    trap = Trap("", f"for (i = 0; i < 10; i++) L: {body}", setup=before, script="reverse(L, i)")
    assert (answer(trap, tmp_path) == PROVED) == _DISTANCES[rows]


_GIVEN = {
    ("double *u", "u[i] = a[i - 1];"): ("f(n, a);", "f(n, b);"),
    ("double **u", "u[0][i] = a[i - 1];"): ("double *r[1] = {a}; f(n, r);", "double *r[1] = {b}; f(n, r);"),
    ("V u, V v", "u.x[i] = v.x[i - 1];"): ("V p = {n, a}, q = {n, a}; f(n, p, q);", "V p = {n, a}, q = {n, b}; f(n, p, q);"),
    ("V u, double *v", "u.x[i] = v[i - 1];"): ("V p = {n, a}; f(n, p, a);", "V p = {n, b}; f(n, p, a);"),
    ("V u, double *v", "v[i] = u.n;"): ("", "V p = {n, a}; f(n, p, a);"),
}


@pytest.mark.parametrize("region", _GIVEN)
def test_variables_of_the_file_and_structs_that_a_call_gives(region: tuple[str, str], tmp_path: Path) -> None:
    parameters, body = region
    for call, is_apart in zip(_GIVEN[region], (False, True), strict=True):
        after, head = f"}} void g(int n) {{ {call}", "typedef struct { int n; double *x; } V;"
        trap = Trap("", f"for (i = 1; i < n; i++) {body}", head, "", after, f"int n, {parameters}")
        assert not call or (answer(trap, tmp_path) == PROVED) == is_apart
