"""Buffers that pointers exchange: both orders are written out, and every run is the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.c.typed.options import PLAIN
from loopwright.errors import BadInput
from loopwright.read.c.exchanged import with_exchanges_written_out
from loopwright.read.c.reader import read_source
from loopwright.source import Source

_FUNCTION = """{head}
double *{name}(double *f, double *g, double *h, double *k, int n, int steps, int m) {{
  int t, i; double *p, *q, s = 0; {before}
#pragma scop
  {loop}
#pragma endscop
  {after}
}}
"""
_BODY = "for (i = 1; i < n; i++) g[i] = f[i - 1] + 0.5 * f[i] + t; /* one\n step */"
_END = "p = f; f = g; g = p;"
_RETURN = "return s > 3 ? f : g;"


def _text(loop: str, after: str = "return h;", before: str = "", head: str = "", name: str = "run") -> str:
    return _FUNCTION.format(loop=loop, after=after, before=before, head=head, name=name)


SAME = [
    (f"for (t = 0; t < steps; t++) {{ {_BODY} {_END} }}", "return h;"),
    (f"for (t = 0; t < steps; t++) {{ {_BODY} {_END} }}", _RETURN),
    (f"for (int t = 1; t <= steps; ++t) {{ {_END} {_BODY} }}", _RETURN),
    (f"for (t = steps - 1; t >= 0; t--) {{ {_BODY} {{ double *p = f; f = g; g = p; }} }}", _RETURN),
    (f"for (t = m; t < steps; t += 1) {{ {_BODY} {_END} }}", "return f + (p == g) + (t == steps);"),
    (f"for (t = -m; t < steps; t += 1) {{ {_BODY} {_END} }}", _RETURN),
    (f"for (unsigned t = 3; t < 8; t++) {{ {_BODY} double *p = g; g = f; f = p; }}", _RETURN),
    (
        f"for (t = 0; t < steps; t++) {{ {_BODY} for (i = 0; i < n; i++) k[i] += h[i] * f[i];"
        f" {_END} q = h; h = k; k = q; }}",
        "return (h[3] > 1 ? h : k) + (f > g);",
    ),
    (f"for (t = 0; t < steps; t++) {{ Step: {_BODY} if (t == 2) break; {_END} }}", "return h;"),
    (f"for (t = 0; t < steps; t++) {{ {_BODY} if (t == 3 && g[3] > 0) return f; {_END} }}", _RETURN),
]
OTHER = [
    f"for (t = 0; t < steps; t++) {{ if (f[0] > 1) continue; {_BODY} {_END} }}",
    f"for (t = 0; t < steps; t += 2) {{ {_BODY} {_END} }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} if (t > 1) {{ {_END} }} }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} p = f; f = g; g = h; }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} p = f; f = g; g = p; f = h; }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} p = f; f = g; g = p; g[0] = p[0]; }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} p = f; f = g; g = p; p = h; k[0] = p[0]; }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} f[0] = p[0]; {_END} }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} {{ double f[3] = {{0}}; g[0] = f[1]; }} {_END} }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} {_END} }} g = f;",
    f"for (i = 0; i < 3; i++) for (t = 0; t < steps; t++) {{ g[t] = f[t]; {_END} }}",
    f"for (t = 0; t < steps; t++) {{ {_BODY} t++; {_END} }}",
    f"for (t = (i = 2); t < steps; t++) {{ {_BODY} {_END} }}",
    f"for (t = i; t < steps; t++) {{ {_BODY} {_END} }}",
    f"for (t = t + 1; t < steps; t++) {{ {_BODY} {_END} }}",
    f"for (t = n; t < steps; t++) {{ {_BODY} n = t; {_END} }}",
    f"{SAME[0][0]} for (i = 0; i < n; i++) h[i] = f[i];",
    f"{SAME[0][0]} {SAME[0][0]}",
    f"for (t = 0; t < steps && f[0] < 5; t++) {{ {_BODY} {_END} }}",
    f"for (t = 0; t < steps; t++) {{ static int w; w++; g[0] = w; {_BODY} {_END} }}",
    f"for (_Bool t = 0; ; t++) {{ {_BODY} if (f[1] > 7) break; {_END} }}",
]


def _written_out(text: str) -> str:
    return with_exchanges_written_out(Source("t.c", text), PLAIN).text


@pytest.mark.parametrize("loop", OTHER)
def test_other_exchanges_stay(loop: str) -> None:
    assert _written_out(_text(loop)) == _text(loop)


@pytest.mark.parametrize(
    ("before", "head"),
    [
        ("double **w = &f;", ""),
        ("goto on; on: ;", ""),
        ("for (m = 0; m < 2; m++) {", ""),
        ("", "#define g f"),
        ("double *volatile f = h;", ""),
        ("static double *g;", ""),
    ],
)
def test_pointers_that_something_else_may_change_stay(before: str, head: str) -> None:
    after = "} return h;" if before.endswith("{") else "return h;"
    inner = "{" if "volatile" in before or "static" in before else ""
    text = _text(SAME[0][0], after + ("}" if inner else ""), inner + before, head)
    assert _written_out(text) == text


@pytest.mark.parametrize("early", ["if (t == 2) break;", "steps--;", "m = 1; if (m) break;"])
def test_what_pointers_are_after_a_loop_that_is_left_early_is_not_known(early: str) -> None:
    text = _text(f"for (t = 0; t < steps; t++) {{ {_BODY} {early} {_END} }}", _RETURN)
    assert _written_out(text) == text


@pytest.mark.parametrize(("before", "later"), [("if (m)", ""), ("switch (m) case 1:", ""), ("", "t = 5;")])
def test_exchanges_after_the_region_leave_all_else_as_it_was(before: str, later: str) -> None:
    text = _text(f"{SAME[0][0]} {later}", _RETURN, before)
    assert _written_out(text) == text


def test_lines_stay_and_the_buffers_are_followed() -> None:
    text = _text(SAME[1][0], _RETURN)
    assert _written_out(text).count("\n") == text.count("\n")
    (program,) = read_source(Source("t.c", text))
    assert [(one.depth, one.writes[0].array) for one in program.statements] == [(2, "g"), (2, "f")]
    assert not program.set_aside


def test_a_macro_exchanges_too() -> None:
    head = "#define SWAP(a, b) { double *keep = a; a = b; b = keep; }"
    text = _text(f"for (t = 0; t < steps; t++) {{ {_BODY} SWAP(f, g) }}", head=head)
    (program,) = read_source(Source("t.c", text))
    assert [[x.array for x in one.writes] for one in program.statements] == [["g"], ["f"]]


_MAIN = """#include <stdio.h>
#include <string.h>
typedef double *function(double *, double *, double *, double *, int, int, int);
{functions}
static double *at(function *run, double a[4][12], int steps, int m) {{
  for (int i = 0; i < 48; i++) a[i / 12][i % 12] = i * i % 7;
  return run(a[0], a[1], a[2], a[3], 11, steps, m);
}}
static function *olds[] = {{ {olds} }}, *news[] = {{ {news} }};
int main(void) {{
  static double x[4][12], y[4][12];
  for (int k = 0; k < {count}; k++) for (int steps = 0; steps < 7; steps++) for (int m = 0; m < 3; m++) {{
    long one = at(olds[k], x, steps, m) - x[0], other = at(news[k], y, steps, m) - y[0];
    if (one != other || memcmp(x, y, sizeof x)) printf("%d: steps %d, m %d\\n", k, steps, m);
  }}
}}
"""


def test_every_run_is_the_same(tmp_path: Path) -> None:
    olds = [_text(loop, after, name=f"old{k}") for k, (loop, after) in enumerate(SAME)]
    news = [_text(loop, after, name=f"new{k}") for k, (loop, after) in enumerate(SAME)]
    written = [_written_out(one) for one in news]
    assert not [one for one, other in zip(news, written, strict=True) if one == other]
    names = [", ".join(f"{kind}{k}" for k, _ in enumerate(SAME)) for kind in ("old", "new")]
    functions = "\n".join([*olds, *written])
    text = _MAIN.format(functions=functions, olds=names[0], news=names[1], count=len(SAME))
    (tmp_path / "t.c").write_text(text)
    built = ["cc", "-O1", "-ffp-contract=off", "-w", str(tmp_path / "t.c"), "-o", str(tmp_path / "t")]
    subprocess.run(built, check=True)
    assert subprocess.run([str(tmp_path / "t")], capture_output=True, text=True, check=True).stdout == ""


_STEP = """#include <stdlib.h>
#include <string.h>
struct grid {{ double *cur, *next; int n; }};
static double *p, *q; double buf[100]; struct grid own; void show(struct grid *);
void step(int n, struct grid *g) {{ int i; double *t;
#pragma scop
  for (i = 1; i < n; i++) {loop}
#pragma endscop
  {after}
}}
{rest}
"""
_MEMBERS = ("g->next[i] = g->cur[i - 1];", "t = g->cur; g->cur = g->next; g->next = t;")
_OWN = ("own.next[i] = own.cur[i - 1];", "double *u = own.cur; own.cur = own.next; own.next = u;")
_VARIABLES = ("p[i] = q[i - 1];", "t = p; p = q; q = t;")
_MAKE = "void make(struct grid *g) { g->cur = malloc(80); g->next = calloc(10, 8); }"
PERMUTED = [
    (*_MEMBERS, ""),
    (*_MEMBERS, _MAKE),
    (*_OWN, ""),
    (*_VARIABLES, "void make(void) { p = malloc(80); q = malloc(80); }"),
]
NOT_PERMUTED = [
    (*_MEMBERS, "void make(struct grid *g) { g->cur = g->next = buf; }"),
    (*_MEMBERS, "void make(struct grid *g) { g->cur = buf; }"),
    (*_MEMBERS, "void make(struct grid *g, struct grid *h) { *g = *h; }"),
    (*_MEMBERS, "void make(struct grid *g) { double **r = &g->cur; *r = g->next; }"),
    (*_MEMBERS, "void make(void) { struct grid h = { buf, buf, 3 }; step(3, &h); }"),
    (*_OWN, "void make(void) { own = (struct grid){ buf, buf, 3 }; }"),
    (*_MEMBERS, "void make(struct grid *g) { memset(g, 1, 8); show(g); }"),
    (_MEMBERS[0], "t = g->cur; g->cur = g->next; if (n) g->next = t;", ""),
    (_MEMBERS[0], "t = g->cur; g->cur = g->next; g->next = t; g->cur = t;", ""),
    (_MEMBERS[0], "g->cur = g->next;", ""),
    (*_VARIABLES, "void make(void) { p = q; }"),
    (*_VARIABLES, "void make(void) { double **r = &p; *r = q; }"),
    (*_VARIABLES, "void make(void) { p = malloc(80); q = p + 1; }"),
]


def _reads(loop: str, after: str, rest: str) -> bool:
    try:
        (program,) = read_source(Source("t.c", _STEP.format(loop=loop, after=after, rest=rest)))
    except BadInput:
        return False
    return not program.set_aside


@pytest.mark.parametrize("parts", PERMUTED)
def test_pointers_that_are_exchanged_after_a_region_stay_apart(parts: tuple[str, str, str]) -> None:
    assert _reads(*parts)


@pytest.mark.parametrize("parts", NOT_PERMUTED)
def test_pointers_that_are_given_more_than_new_memory_may_meet(parts: tuple[str, str, str]) -> None:
    assert not _reads(*parts)
