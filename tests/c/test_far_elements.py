"""Elements farther away than an `int` tells: pointers walk there, and so does what is written instead."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.c.tokens import packed
from loopwright.c.typed.options import PLAIN
from loopwright.read.c.evolution import with_evolved_values, with_pointer_walks
from loopwright.source import Source

STEP = 1 << 20
WALKS = [
    (f"for (int i = 0; i < n; i++, p += {STEP}) *p = 1;", "p[(long)1048576 * i]"),
    (f"for (int i = 0; i < n; i++, p += {STEP}) p[1] = 1;", "p[(long)1048576 * i + 1]"),
    (f"for (int i = 0; i < n; i++, p += {STEP}) p[i] = 1;", "p[(long)i + (long)1048576 * i]"),
    (f"for (int i = 0; i < n; i++, p += {STEP}) p[i + 1] = 1;", "p[(long)(i + 1) + (long)1048576 * i]"),
    ("for (int i = 0; i < n; i++, p += m) for (int j = 0; j < 2; j++) p[j] = 1;", "p[(long)j + (long)i * m]"),
    ("for (int i = 0; i < n; i++) { *p = 1; p += m; }", "p[(long)i * m]"),
    ("for (int i = 0; i < n; i++) { *p = 1; p += m; p += 1; }", "p[(long)i * m + i]"),
    ("char *q = p + 2000 * m; for (int i = 0; i < n; i++) q[i] = 1;", "p[(long)i + (long)2000 * m]"),
]
"""Loops over 3,000 or more elements, and what one of them is in the new text."""

COUNTED = [
    f"long k = 0; for (int i = 0; i < n; i++) {{ p[k] = 1; k += {STEP}; }}",
    "long k = 0; for (int i = 0; i < n; i++) { p[k] = 1; k += m; p[k + 1] = i; }",
    f"long k = 0, e = m; e = e * 2000; while (k < e) {{ p[k] = 1; k += {STEP}; }}",
    f"long k = m; k = k * 3000; for (int i = 0; i < n; i++) {{ k -= {STEP}; p[k] = 1; }}",
    f"int k = -2000000000; for (int i = 0; i < n; i++) {{ p[k + 2000000000L] = 1; k += {STEP}; }}",
    f"int k = 2000000000; for (int i = 0; i < n; i++) {{ p[2000000000L - k] = 1; k -= {STEP}; }}",
    "int k = -2000000000; for (int i = 0; i < n; i++) { p[k + 2000000000L] = 1; k += m; }",
    f"int k = n - 2000000000; for (int i = 0; i < n; i++) {{ p[k + 2000000000L] = k + 1; k += {STEP}; }}",
    f"int k = -n; for (int i = -n; i < 0; i++) {{ p[k + {STEP}L] = 1; k++; }}",
]
"""Numbers that an `int` holds, although their distance from the first one is none."""


def _function(name: str, text: str) -> str:
    return f"__attribute__((noinline)) void {name}(int n, int m, char *p)\n{{\n{text}\n}}\n"


def _text(body: str) -> str:
    return _function("f", f"#pragma scop\n{body}\n#pragma endscop")


@pytest.mark.parametrize(("body", "element"), WALKS)
def test_the_number_of_an_element_is_no_int(body: str, element: str) -> None:
    assert packed(element) in packed(with_pointer_walks(Source("t.c", _text(body)), PLAIN).text)


def test_no_number_of_the_new_text_overflows(tmp_path: Path) -> None:
    """The old and the new text run on a range of addresses of 8 GiB, a few pages of which are touched."""
    texts = [(body, with_pointer_walks) for body, _ in WALKS] + [
        (body, with_evolved_values) for body in COUNTED
    ]
    functions, calls = [], []
    for number, (body, reworded) in enumerate(texts):
        old = Source("t.c", _text(body))
        new = reworded(old, PLAIN)
        assert new != old, body
        for name, one in zip("ab", (old, new), strict=True):
            functions.append(one.text.replace("void f(", f"void {name}{number}("))
        calls.append(f"same({number}, a{number}, b{number});")
    main = f"""
static char *space(void) {{
  char *at = mmap(0, 1L << 33, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {{ puts("no room"); exit(1); }}
  return at;
}}
static void same(int number, void (*a)(int, int, char *), void (*b)(int, int, char *)) {{
  char *old = space(), *new = space();
  a(3000, {STEP}, old + (1L << 32));
  b(3000, {STEP}, new + (1L << 32));
  for (long at = 1L << 32; at < (1L << 33); at += {STEP})
    if (memcmp(old + at, new + at, 4096)) printf("%d differs\\n", number);
  munmap(old, 1L << 33); munmap(new, 1L << 33);
}}
"""
    head = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n"
    body = "\n".join(calls)
    (tmp_path / "t.c").write_text(
        head + "".join(functions) + main + f'int main(void) {{ {body} puts("done"); }}\n'
    )
    sanitizer = ["-fsanitize=signed-integer-overflow", "-fno-sanitize-recover=all"]
    subprocess.run(["gcc", "-w", *sanitizer, "t.c", "-o", "t"], cwd=tmp_path, check=True)
    run = subprocess.run(["./t"], cwd=tmp_path, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("done\n", "")
