"""What a form is, and forms about memory: memory that f allocates, structs with pointers; and names that the
command line defines.

A form is two bodies of f, of which the second may be wrong: types, bounds and tokens are random, some of them
correct only for some programs.  Whether a pair is right is decided by running it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.fuzz.programs import EDGE, Array

KINDS = ("double", "double", "float", "int", "long", "unsigned", "short", "unsigned char")


@dataclass(frozen=True)
class Form:
    """Two bodies, the declarations of arrays as parameters, what stands before f, and -D options."""

    old: str
    new: str
    declared: str
    arrays: tuple[Array, ...]
    head: str = ""
    options: tuple[str, ...] = ()


def made(rng: random.Random, x: str, y: str, *names: str) -> str:
    """A statement that sets the cell x from the cell y."""
    name = rng.choice(names)
    plain = f"{x} = {y} * 2;", f"{x} += {y};", f"{x} = {y} - {x} * 3;", f"{x} = {y} + {name};"
    return rng.choice((*plain, f"{x} -= {y} * {y};", f"if ({y} > 2) {x} = {y};", f"{x} = {name};"))


def around(head: str, *lines: str) -> str:
    """A loop or a block with these lines in it."""
    return "\n".join([f"{head} {{", *lines, "}"])


def rows(count: int, rank: int, kind: str) -> tuple[Array, ...]:
    return tuple(Array(f"A{k}", kind, rank) for k in range(count))


def allocated(rng: random.Random) -> Form:
    """Memory that f allocates for itself, or has on its stack, or does not need."""
    kind = rng.choice(KINDS)
    declared = ", ".join(f"{kind} A{k}[{EDGE}]" for k in range(2))
    size = rng.choice(("n", "n", "n", "n + 1", "m", str(EDGE)))
    high = rng.choice(("n", "n", "n", "m", "n - 1"))
    value = (
        made(rng, "w[i]", "A0[i]", "i", "n").replace("+=", "=").replace("-=", "=").replace(" - w[i] * 3", "")
    )
    near = rng.choice(("w[i]", "w[i]", "w[i - 1]", "w[i] + w[i - 1]", "w[n - 1 - i]"))
    use = f"A1[i] = {near};"
    heads = (
        f"for (int i = 0; i < {high}; i++)",
        f"for (int i = {1 if '- 1]' in near else 0}; i < {high}; i++)",
    )
    got = [
        f"{kind} *w = malloc({size} * sizeof({kind}));", f"{kind} *w = calloc({size}, sizeof *w);",
        f"{kind} *w = malloc(sizeof(*w) * ({size} + 4));", f"{kind} w[{EDGE}];",
    ]  # fmt: skip
    test = rng.choice(("", "", "if (!w) return;", "if (w == NULL) return;"))
    loops = f"{heads[0]} {{\n{value}\n}}\n{heads[1]} {{\n{use}\n}}"
    old = f"{got[0]}\n{test}\n{loops}\nfree(w);"
    match rng.randrange(5):
        case 0:
            new = f"{heads[0]} {{\n{value.replace('w[i]', f'{kind} w')}\n{use.replace('w[i]', 'w')}\n}}"
        case 1:
            other = rng.choice(got[1:3])
            new = f"{other}\n{test}\n{loops}\nfree(w);"
        case 2:
            new = f"{got[3]}\n{loops}"
        case 3:
            both = f"{heads[0]} {{\n{value}\n{use}\n}}"
            new = f"{got[0]}\n{test}\n{both}\nfree(w);"
        case _:
            freed = rng.choice(
                (f"{loops}\nfree(w);",) * 3 + (loops.replace("}\nfor", "}\nfree(w);\nfor"), loops)
            )
            new = f"{got[0]}\n{freed}"
            new = new.replace(
                heads[1], f"for (int i = {high} - 1; i >= {1 if '- 1]' in near else 0}; i--)", 1
            )
    return Form(old, new, declared, rows(2, 1, kind), "#include <stdlib.h>")


def in_structs(rng: random.Random) -> Form:
    """Pointers and sizes in a struct, or read from it once."""
    kind = rng.choice(KINDS)
    restrict = rng.choice(("restrict ", "restrict ", "restrict ", ""))
    declared = ", ".join(f"{kind} *{restrict}A{k}" for k in range(2))
    value = made(
        rng, "v.p[i]", f"v.{rng.choice('qqqp')}[i{rng.choice(('', '', ' + 1', ' - 1'))}]", "i", "v.k"
    )
    low = "1" if "- 1]" in value else "0"
    start = f"struct V v = {{n, A0, {rng.choice(('A1', 'A1', 'A1', 'A0'))}}};"
    old = f"{start}\nfor (int i = {low}; i < v.k; i++) {{\n{value}\n}}"
    if rng.random() < 0.3:
        old = f"{old}\nfor (int i = {low}; i < v.k; i++) {{\n{made(rng, 'v.q[i]', 'v.p[i]', 'i', 'm')}\n}}"
    match rng.randrange(4):
        case 0:
            plain = old.replace("v.p[", "p[").replace("v.q[", "q[")
            new = plain.replace(start, f"{start}\n{kind} *p = v.p, *q = v.q;", 1)
        case 1:
            new = (
                old.replace(start, f"{start}\nstruct V *w = &v;", 1)
                .replace("v.p[", "w->p[")
                .replace("v.k;", "w->k;")
            )
        case 2:
            new = old.replace(f"for (int i = {low}; i < v.k; i++)", f"for (int i = v.k - 1; i >= {low}; i--)")
        case _:
            new = old.replace("v.p[", "A0[").replace("v.q[", "A1[").replace("v.k;", "n;")
    head = f"struct V {{ int k; {kind} *restrict p, *restrict q; }};"
    return Form(old, new, declared, rows(2, 1, kind), head)


def with_options(rng: random.Random) -> Form:
    """Names that the command line defines: a number, a type, a step, a whole loop head."""
    kind = rng.choice(KINDS)
    declared = ", ".join(f"{kind} A{k}[{EDGE}]" for k in range(2))
    number = rng.choice((1, 2, 3, 4, 5))
    step = rng.choice(("((x) * 2)", "((x) + 1)", "(x)", "x + 1", "x * 2"))
    head = rng.choice(
        ("for (int i = 0; i < (e); i++)", "for (int i = 0; i < e; i++)", "for (int i = 1; i <= e - 1; i++)")
    )
    given = {
        "K": str(number),
        "STEP(x)": step,
        "T": rng.choice((kind, kind, "int", "double")),
        "FOR(e)": head,
    }
    words = rng.sample(sorted(given), rng.choice((1, 2, 3)))
    value = f"A1[i] + {'K' if 'K' in words else number}"
    value = f"STEP({value})" if "STEP(x)" in words else value
    high = rng.choice(("n", "n - 1", "m", "n - K" if "K" in words else "n"))
    start = f"FOR({high})" if "FOR(e)" in words else f"for (int i = 0; i < {high}; i++)"
    local = "T" if "T" in words else kind
    old = f"{start} {{\n{local} x = {value};\nA0[i] = x{rng.choice((' * 3', ' * 3', ' / 2', ''))};\n}}"
    expanded = old.replace(
        f"FOR({high})", head.replace("(e)", f"({high})").replace("e;", f"{high};").replace("e -", f"{high} -")
    )
    match rng.randrange(4):
        case 0:
            new = expanded.replace("K", str(number + (rng.random() < 0.2)))
        case 1:
            new = old.replace(f"{local} x", f"{rng.choice((given['T'], kind))} x")
        case 2:
            inside = step.replace("x", f"A1[i] + {number}").replace("K", str(number))
            new = old.replace(value, inside) if "STEP" in value else expanded
        case _:
            new = expanded.replace("x = ", "y = ").replace("= x", "= y")
            new = (
                new.replace("int i = 0; i < ", "int i = ").replace("; i++)", " - 1; i >= 0; i--)")
                if "i < " in new
                else new
            )
    old, new = (f"#pragma scop\n{body}\n#pragma endscop" for body in (old, new))
    options = tuple(f"-D{name}={given[name]}" for name in words)
    return Form(old, new, declared, rows(2, 1, kind), options=options)
