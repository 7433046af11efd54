"""Sizes that are members or elements, where the new text has them in place of an iterator."""

from __future__ import annotations

import subprocess
from pathlib import Path

from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request

_FUNCTION = """
typedef struct {{ {kind} n; }} S{k};
void f{k}({parameter}, int a, int b, double *w, double *x) {{
  int h, k;
#pragma scop
  for (h = {size} - 1; h >= 0; --h)
    for (k = 0; k < (h == {size} - 1 ? a : b); ++k)
      x[3 * h + k] = w[h + k] * h;
#pragma endscop
}}
"""
_MAIN = """
#include <stdio.h>
int main(int argc, char **argv) {{
  double w[60], x[60];
  for (int i = 0; i < 60; i++) w[i] = i % 7;
  for (int n = argc - 1; n < 6; n++) {{
    {calls}
  }}
}}
"""
_RUN = """for (int i = 0; i < 60; i++) x[i] = i;
    {{ S{k} s = {{ n }}; {kind} m = n; (void)s; (void)m; f{k}({given}, 2, 4, w, x); }}
    for (int i = 0; i < 60; i++) printf("%g ", x[i]);"""
_WAYS = [
    ("unsigned long", "S0 const *s", "s->n", "&s"),
    ("long", "S1 s", "s.n", "s"),
    ("unsigned", "S2 *s", "s->n", "&s"),
    ("int", "int *m", "m[0]", "&m"),
    ("unsigned long", "unsigned long m", "m", "m"),
]


def test_a_size_takes_the_place_of_an_iterator(tmp_path: Path) -> None:
    """Whatever its type is: as a term of a subscript, and converted as the iterator was in a value."""
    functions = [
        _FUNCTION.format(k=k, kind=kind, parameter=parameter, size=size)
        for k, (kind, parameter, size, _) in enumerate(_WAYS)
    ]
    calls = [_RUN.format(k=k, kind=kind, given=given) for k, (kind, _, _, given) in enumerate(_WAYS)]
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text("".join(functions) + _MAIN.format(calls="\n    ".join(calls)))
    new.write_text(transformed(Request(file=str(old)), silent).source.text)
    assert new.read_text().count("(s->n - 1)") + new.read_text().count("s->n) - 1)") >= 2
    found = []
    for path in (old, new):
        program = tmp_path / path.stem
        subprocess.run(["cc", "-w", str(path), "-o", str(program)], check=True)
        found.append(subprocess.run([str(program)], capture_output=True, check=True).stdout)
    assert found[0] == found[1]
