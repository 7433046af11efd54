"""Locals whose value is a member of a struct, and tests of pointers, are replaced by what they stand for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request

_FILE = """
struct layer {{ int n; double *x, *y; }};
static double total;
void add(int m, const double *p) {{ for (int k = 0; k < m; k++) total += p[k] * (k + 1); }}
void f(struct layer l, int h) {{
#pragma scop
  {region}
#pragma endscop
}}
#ifdef RUN
int printf(const char *, ...);
int main(void) {{
  double x[60];
  for (int i = 0; i < 60; i++) x[i] = i % 7;
  for (int n = 0; n < 5; n++) {{ struct layer l = {{ n, x, n % 2 ? x : 0 }}; f(l, 6); printf("%g ", total); }}
  return 0;
}}
#endif
"""
_INNER = "for (int j = 0; j < h; j++) {{ const double *q = p + j; int m = {}; {} }}"
_LOOP = "for (int i = 0; i < h; i++) {{ const double *p = l.x + i * {}; " + _INNER + " {} }}"
_TAKEN = {
    "a member": _LOOP.format("l.n", "l.n", "add(m, q);", ""),
    "a sum": _LOOP.format(2, "l.n + 1", "add(m, q);", ""),
    "in parentheses": _LOOP.format(2, "(l.n)", "add((m), q);", ""),
    "under a pointer": "if (l.y) " + _LOOP.format(2, "l.n", "add(m, q);", ""),
    "without one": "if (!l.y) " + _LOOP.format(2, "l.n", "add(m, q);", ""),
}
_CHANGED = {
    "the member": _LOOP.format(2, "l.n", "add(m, q);", "l.n = 3;"),
    "before its use": _LOOP.format(2, "l.n", "l.n = 1; add(m, q);", ""),
    "counted": _LOOP.format(2, "l.n", "l.n = (m + j) % 5; add(m, q);", ""),
}


def _output(path: Path) -> bytes:
    program = path.with_suffix("")
    subprocess.run(["cc", "-w", "-DRUN", str(path), "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, check=True).stdout


@pytest.mark.parametrize("name", [*_TAKEN, *_CHANGED])
def test_a_local_is_the_member_it_starts_as(name: str, tmp_path: Path) -> None:
    """Where the region changes the member, its old value stays in use."""
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(_FILE.format(region=(_TAKEN | _CHANGED)[name]))
    new.write_text(transformed(Request(file=str(old)), silent).source.text)
    assert ("(int)(" in new.read_text()) == (name in _TAKEN)
    assert _output(old) == _output(new)
