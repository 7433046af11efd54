"""Stencils of one dimension, for operations that make tiles of several steps of them."""

from __future__ import annotations

import random

STEPS = "k"
"""The loop over steps; no other program has it outside of all others."""


def stencil(rng: random.Random) -> list[str]:
    """Steps from A0 to A1 and back; whether the borders fit the distances is not looked into."""
    first, last = rng.choice((("1", "n - 1"), ("1", "n - 1"), ("2", "n - 2"), ("0", "n")))
    near = [rng.choice((-1, -1, 0, 1, 1, -2, 2)) for _ in range(rng.choice((1, 2, 3)))]
    factors = [rng.choice(("", "", "0.5 * ", "2 * ", "w * ")) for _ in near]
    cells = [f"{factor}A0[i{at:+d}]".replace("+0", "") for factor, at in zip(factors, near, strict=True)]
    back = rng.choice(("A1[i]", "A1[i]", "A1[i] + 1", "A1[i - 1]"))
    head = f"    for (int i = {first}; i < {last}; i++) {{"
    lines = [f"  for (int {STEPS} = 0; {STEPS} < m; {STEPS}++) {{"]
    for statement in (f"A1[i] = {' + '.join(cells)};", f"A0[i] = {back};"):
        lines += [head, f"      {statement}", "    }"]
    return [*lines, "  }"]


def tiles_of_steps(rng: random.Random, number: int) -> tuple[str, ...]:
    """An operation on the steps of a stencil."""
    sizes = f"{STEPS}={rng.choice((1, 2, 3, 4))}, i={rng.choice((2, 3, 4, 8))}"
    names = f"(T{number}, C{number})"
    lift = f"L{number} = lift(S1, 1)"
    kind = rng.choice(("overlap", "overlap", "hexagon", "skew"))
    if kind == "skew":
        return (lift, f"skew(L{number}, i, {STEPS}, 2)", f"tile(L{number}, {STEPS}=2, i=4)")
    more = rng.choice(("", ", whole")) if kind == "overlap" else rng.choice(("", ", staged"))
    return lift, f"{names} = {kind}(L{number}, {sizes}{more})"
