"""Less usual declarations and statements of random programs, each named by a word that a program may have."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

WORDS = ("typedef", "enum", "constant", "global", "bits", "switch", "effect", "do", "memory", "flat")
FILE = {
    "typedef": ("typedef unsigned char tiny;", "typedef unsigned long word;", "typedef short small;"),
    "enum": ("enum { FEW = 6 };",),
    "global": ("int g = 2;", "static int bump(int x) { g += x & 1; return g & 7; }"),
    "bits": ("struct B { unsigned a : 3; int b : 5; _Bool c : 1; };",),
    "memory": ("#include <string.h>",),
}
"""What stands before the function."""
LOCAL = {"constant": "  const int c = n - 1;", "bits": "  struct B e = {1, 2, 0};"}
AFTER = {"global": "  out[3] += g;", "bits": "  out[3] += e.a + 8 * e.b + 64 * e.c;"}
SCALARS = {"global": ("g",), "bits": ("e.a", "e.b", "e.c")}
"""Integers that it may name."""
BOUNDS = {"constant": ("c", "c + 1"), "enum": ("FEW", "FEW - 1"), "global": ("g",)}
KINDS = ("tiny", "word", "small")
"""Of iterators."""


def switched(rng: random.Random, what: str, margin: str, block: Callable[[], list[str]]) -> list[str]:
    """Two or three ways that a number decides on; from one of them the next one may go on."""
    lines = [f"{margin}switch ({what}) {{"]
    for label in ("case 0:", "case 1:")[: rng.choice((1, 2))]:
        lines += [f"{margin}{label}", *block()]
        lines += [f"{margin}  break;"] if rng.random() < 0.8 else []
    return [*lines, f"{margin}default:", *block(), f"{margin}}}"]


def on_memory(rng: random.Random, rows: Sequence[tuple[str, str]]) -> str:
    """Cells of arrays, given with their types, that are set or copied by a function of the library."""
    (one, kind), (other, _) = rng.choice(rows), rng.choice(rows)
    start = rng.choice(("", "", " + 1", " + 3"))
    bytes_ = f"{rng.choice(('n', 'm', 'u', '8', '(n + 1)'))} * sizeof({kind})"
    if one == other or rng.random() < 0.5:
        return f"memset({one}{start}, {rng.choice((0, 0, 1, 255))}, {bytes_});"
    return f"{rng.choice(('memcpy', 'memcpy', 'memmove'))}({one}{start}, {other}, {bytes_});"
