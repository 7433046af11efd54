"""Generates programs and their rewritten versions by code other than Loopwright's, with faults in some.

The answers of `prove` are checked by running them.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

from tests.fuzz.directives import at_a_loop, at_once, marked, simple
from tests.fuzz.findings import Finding
from tests.fuzz.judge import Pair
from tests.fuzz.laws import by_a_law
from tests.fuzz.mutants import Mutant, mutated, said_of
from tests.fuzz.nests import Node, lines, random_loop, random_nest, random_scope
from tests.fuzz.programs import FLOATING, INTEGERS, PARAMETERS, Array, Scope
from tests.fuzz.rewordings import Chosen
from tests.fuzz.rewritings import rewritten
from tests.fuzz.vectors import in_vectors

TOGETHER = 3
"""Numbers that have one program: what is known of it is found once."""
FAULTS = 0.3
"""How often a token of the result is changed."""
TURNED = 0.25
"""How often the result is the original: it has locals, types and conditions that the other one has not."""
NAMED = 0.12
"""How often a number of one of the texts has a name, which the other text has not."""
_NUMBER = re.compile(r"(?<![\w.\]])(?:[2-9]|10)(?![\w.])")
BY_LAWS, IN_VECTORS = 0.4, 0.025


def rewrite_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `prove` says of the rewriting of this number; None where it does not decide."""
    return said_of(seed, rewriting(seed), outcomes, "rewrite")


def rewriting(seed: int) -> Pair:
    """A program, which the next numbers may have too, and another one."""
    rng, own = random.Random(f"rewrite {seed // TOGETHER}"), random.Random(f"rewrite {seed}")
    kinds = INTEGERS + FLOATING * 2
    arrays = tuple(Array(f"A{k}", rng.choice(kinds), rng.choice((1, 1, 2))) for k in range(rng.randint(1, 3)))
    scalars = tuple(Array(name, rng.choice(kinds), 0) for name in ("s", "t"))
    if rng.random() < 0.3:  # what is computed in another type than that of its operands
        kind, other = rng.choice(("unsigned char", "short", "unsigned", "int", "float")), rng.choice(kinds)
        arrays = tuple(replace(one, type=rng.choice((kind, kind, other))) for one in arrays)
        scalars = tuple(replace(one, type=kind) for one in scalars)
    has_pragmas = rng.random() < 0.7
    read = [one.name for one in scalars if rng.random() < 0.6]
    which = rng.random()
    if which < BY_LAWS:
        arrays, old, new = by_a_law(own)
    elif which < BY_LAWS + IN_VECTORS:
        kind = own.choice(("double", "float"))
        arrays = tuple(Array(one.name, kind, 1) for one in arrays)
        old, new = in_vectors(own, arrays)
    else:
        old, new = _rewritten_nests(random_scope(rng, arrays, scalars), Chosen(own, (*arrays, *scalars), "x"))
        if own.random() < TURNED:
            old, new = new, old
    before, after = (_text(one, arrays, scalars, read, has_pragmas=has_pragmas) for one in (old, new))
    if own.random() < NAMED:
        before, after = (before, named_number(own, after)) if own.random() < 0.6 else (
            named_number(own, before), after
        )  # fmt: skip
    return Pair(before, mutated(own, after) if own.random() < FAULTS else after, arrays)


def named_number(rng: random.Random, text: str) -> str:
    """The text with a name for one of its numbers: a macro, an enumerator, or a variable; some are others."""
    start = text.index("{")
    found = list(_NUMBER.finditer(text, start))
    if not found:
        return text
    one = rng.choice(found)
    value = int(one.group()) + (rng.random() < 0.15)
    text = f"{text[: one.start()]}K{text[one.end() :]}"
    kind = rng.randrange(5)
    if kind < 2:
        return f"{f'#define K {value}' if kind == 0 else f'enum {{ K = {value} }};'}\n{text}"
    own = ("const int K = ", "int K = ", "const unsigned char K = ")[kind - 2]
    return f"{text[: start + 1]}\n  {own}{value};{text[start + 1 :]}"


def _rewritten_nests(scope: Scope, chosen: Chosen) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Loops, and the same with one to three rewritings; or as one call, or with a directive."""
    rng = chosen.rng
    if scope.rng.random() < 0.4:
        loop = random_loop(scope)
        return (loop,), (replace(loop, body=rewritten(loop.body, chosen) or loop.body),)
    old = random_nest(scope)
    if rng.random() < 0.06:
        old = at_a_loop(old, chosen, simple)
        return old, at_a_loop(old, chosen, at_once)
    has_directive = rng.random() < 0.15
    new, wanted = old, rng.choice((0, 1)) if has_directive else rng.choice((1, 1, 1, 2, 2, 3))
    for number in range(8 if wanted else 0):
        made = rewritten(new, replace(chosen, fresh=f"x{number}"))
        if made is not None:
            new, wanted = made, wanted - 1
        if wanted == 0:
            break
    return old, at_a_loop(new, chosen, marked) if has_directive else new


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
    headers = (("<string.h>", "mem"), ("<emmintrin.h>", "_mm_"))
    made = [f"#include {name}" for name, word in headers if any(word in line for line in lines(nodes))]
    made += [f"void f({given})", "{", *(f"  {one.type} {one.name} = 1;" for one in scalars)]
    made += [*first, *lines(nodes), *last]
    made += [f"  out[{k}] = {name};" for k, name in enumerate(read)]
    return "\n".join([*made, "}", ""])
