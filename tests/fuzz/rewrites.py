"""Programs, and what other code than Loopwright's makes of them, with faults in some.

What `prove` says of them is run.
"""

from __future__ import annotations

import random
from collections import Counter

from tests.fuzz.directives import at_a_loop, at_once, marked, simple
from tests.fuzz.findings import Finding
from tests.fuzz.judge import Pair
from tests.fuzz.mutants import Mutant, mutated, said_of
from tests.fuzz.nests import Node, lines, random_nest, random_scope
from tests.fuzz.programs import FLOATING, INTEGERS, PARAMETERS, Array
from tests.fuzz.rewritings import Chosen, rewritten

FAULTS = 0.3
"""How often a token of the result is changed."""


def rewrite_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `prove` says of the rewriting of this number; None where it does not decide."""
    return said_of(seed, rewriting(seed), outcomes, "rewrite")


def rewriting(seed: int) -> Pair:
    """A program and another one."""
    rng = random.Random(f"rewrite {seed}")
    kinds = INTEGERS + FLOATING * 2
    arrays = tuple(Array(f"A{k}", rng.choice(kinds), rng.choice((1, 1, 2))) for k in range(rng.randint(1, 3)))
    scalars = tuple(Array(name, rng.choice(kinds), 0) for name in ("s", "t"))
    old = random_nest(random_scope(rng, arrays, scalars))
    chosen = Chosen(rng, (*arrays, *scalars), "x")
    whole, directive = rng.random() < 0.08, rng.random() < 0.2
    if whole:
        old = at_a_loop(old, chosen, simple)
    new, wanted = old, 0 if whole or (directive and rng.random() < 0.5) else rng.choice((1, 1, 1, 2, 2, 3))
    for number in range(8 if wanted else 0):
        made = rewritten(new, Chosen(rng, (*arrays, *scalars), f"x{number}"))
        if made is not None:
            new, wanted = made, wanted - 1
        if wanted == 0:
            break
    new = at_a_loop(new, chosen, at_once) if whole else new
    new = at_a_loop(new, chosen, marked) if directive else new
    has_pragmas = rng.random() < 0.7
    read = [one.name for one in scalars if rng.random() < 0.6]
    before, after = (_text(one, arrays, scalars, read, has_pragmas=has_pragmas) for one in (old, new))
    return Pair(before, mutated(rng, after) if rng.random() < FAULTS else after, arrays)


def _text(
    nodes: tuple[Node, ...],
    arrays: tuple[Array, ...],
    scalars: tuple[Array, ...],
    read: list[str],
    *,
    has_pragmas: bool,
) -> str:
    given = ", ".join([PARAMETERS, *(one.declaration for one in arrays), "double *out"])
    first, last = (["#pragma scop"], ["#pragma endscop"]) if has_pragmas else ([], [])
    made = ["#include <string.h>"] if any("mem" in line for line in lines(nodes)) else []
    made += [f"void f({given})", "{", *(f"  {one.type} {one.name} = 1;" for one in scalars)]
    made += [*first, *lines(nodes), *last]
    made += [f"  out[{k}] = {name};" for k, name in enumerate(read)]
    return "\n".join([*made, "}", ""])
