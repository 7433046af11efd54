"""Typed random C programs: one function with one region, defined for most sizes.

A program is text, one statement, loop head or closing brace per line, so that removing lines shrinks it.  Its
arrays are of all arithmetic types or structs, some of them global, some with pointers into them, some changed
by functions that the region calls.  Most programs are small, since what they cost grows faster than what they
show.  Whether one is defined for a size is not decided here but by running it under sanitizers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from tests.fuzz import rarities
from tests.fuzz.stencils import stencil

EDGE = 24
"""The length of every dimension."""
INTEGERS = (
    "int", "int", "unsigned", "short", "signed char", "unsigned char", "unsigned short", "long", "_Bool",
)  # fmt: skip
FLOATING = ("double", "double", "float")
WIDTHS = {"double": 8, "float": 4, "int": 4, "unsigned": 4, "short": 2, "unsigned short": 2, "long": 8,
          "struct P": 16}  # fmt: skip
STRUCT = "struct P { int x; int y[3]; };"
ITERATORS = ("int",) * 4 + ("long", "unsigned", "short", "signed char", "unsigned char")
PARAMETERS = "int n, int m, unsigned u, short h"
RARE = (
    "while",
    "break",
    "return",
    "local",
    "outside",
    "macro",
    "chain",
    "two",
    "row",
    "row",
    "index",
    "index",
    *rarities.WORDS,
)
MACROS = [
    "#define LAST (n - 1)",
    "#define MIN(a, b) ((a) < (b) ? (a) : (b))",
    "#define FOR(i, e) for (int i = 0; i < e; i++)",
]


@dataclass(frozen=True)
class Array:
    """An array of `rank` dimensions; a global one is not a parameter."""

    name: str
    type: str
    rank: int
    shared: bool = False

    @property
    def is_integer(self) -> bool:
        return self.type not in FLOATING

    @property
    def is_struct(self) -> bool:
        return self.type == "struct P"

    @property
    def size(self) -> int:
        width: int = WIDTHS.get(self.type, 1)
        return width * int(EDGE**self.rank)

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}{f'[{EDGE}]' * self.rank}"


@dataclass(frozen=True)
class Program:
    """A text with the function f, and its arrays: parameters first."""

    text: str
    arrays: tuple[Array, ...]


@dataclass(frozen=True)
class Scope:
    """What a statement can name."""

    rng: random.Random
    arrays: tuple[Array, ...]
    scalars: tuple[Array, ...]
    functions: tuple[str, ...]
    odd: bool
    """Whether iterators and bounds may be of any integer type."""
    small: bool
    rare: frozenset[str]
    """The less usual statements that this program may have."""
    loops: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()
    """Locals that are an iterator, a little moved."""


def random_program(rng: random.Random) -> Program:
    small = rng.random() < 0.85
    arrays = [
        Array(f"A{k}", _type(rng), rng.choice((1, 1, 2) if small else (1, 1, 2, 2, 2, 3)), k >= 3)
        for k in range(rng.randint(2, 4) if small else rng.randint(3, 5))
    ]
    dense = rng.random() < 0.4
    if dense:  # few names of one type: most statements depend on others, or on themselves
        kind = rng.choice(("double", "int", "float", "unsigned char"))
        arrays = [Array(f"A{k}", kind, rng.choice((1, 1, 2))) for k in range(rng.choice((1, 1, 2)))]
    scalars = [Array(name, rng.choice(INTEGERS + FLOATING * 2), 0) for name in ("s", "t", "w")]
    pointers = _pointers(rng, arrays)
    texts = _functions(rng, arrays)
    chosen = tuple(rng.sample(sorted(texts), rng.choice((0, 0, 1, 2))))
    rare = frozenset(rng.sample(RARE, 0 if dense else rng.choice((0, 1, 1, 2))))
    if "row" in rare:
        row = Array("v", rng.choice(INTEGERS + FLOATING * 2), rng.choice((1, 1, 2)))
        pointers.append((row, f"  {row.declaration} = {{{'{' * (row.rank - 1)}1, 2, 3{'}' * row.rank};"))
    named = (*arrays[:1] * rng.choice((1, 2, 4)), *arrays[1:], *(one for one, _ in pointers))
    others = [Array(name, "int", 0) for word in sorted(rare) for name in rarities.SCALARS.get(word, ())]
    chosen += ("bump",) if "global" in rare else ()
    scope = Scope(
        rng, named, (*scalars[: 1 if dense else 3], *others), chosen, rng.random() < 0.25, small, rare
    )
    body = _block(scope, 1)
    if rng.random() < 0.03:
        kind = rng.choice(("double", "double", "float", "int"))
        arrays[:2] = [Array("A0", kind, 1), Array("A1", kind, 1)]
        body, pointers = stencil(rng), []
    given = [one.declaration for one in arrays if not one.shared]
    parameters = ", ".join([PARAMETERS, *given, "double *out"])
    lines = [STRUCT] if any(one.is_struct for one in arrays) else []
    lines += MACROS if "macro" in rare else []
    lines += [line for word in sorted(rare) for line in rarities.FILE.get(word, ())]
    lines += [f"{one.declaration};" for one in arrays if one.shared]
    lines += [texts[name] for name in chosen if name in texts]
    lines += [f"void f({parameters})", "{"]
    lines += [f"  {one.type} {one.name} = {rng.randint(0, 3)};" for one in scalars]
    lines += [text for _, text in pointers]
    lines += [rarities.LOCAL[word] for word in sorted(rare) if word in rarities.LOCAL]
    lines += ["  int i = 0;"] if "outside" in rare else []
    lines += ["#pragma scop", *body, "#pragma endscop"]
    lines += [f"  out[{k}] = {one.name};" for k, one in enumerate(scalars) if rng.random() < 0.6]
    lines += ["  out[3] = i;"] if "outside" in rare else []
    lines += [rarities.AFTER[word] for word in sorted(rare) if word in rarities.AFTER]
    return Program("\n".join([*lines, "}", ""]), tuple(arrays))


def _type(rng: random.Random) -> str:
    return "struct P" if rng.random() < 0.06 else rng.choice(INTEGERS + FLOATING * 2)


def _pointers(rng: random.Random, arrays: list[Array]) -> list[tuple[Array, str]]:
    """Perhaps a pointer into an array, to its cells or to its rows, and its declaration."""
    one = rng.choice(arrays)
    if rng.random() > 0.2 or one.is_struct or one.rank > 2:
        return []
    start = rng.choice(("0", "1", "2", "m", "n"))
    if one.rank == 1:
        return [(Array("p", one.type, 1), f"  {one.type} *p = {one.name} + {start};")]
    if rng.random() < 0.5:
        return [(Array("p", one.type, 1), f"  {one.type} *p = &{one.name}[{start}][0];")]
    return [(Array("p", one.type, 2), f"  {one.type} (*p)[{EDGE}] = {one.name} + {start};")]


def _functions(rng: random.Random, arrays: list[Array]) -> dict[str, str]:
    """Small functions: pure ones, ones that read or write what the region may write, one that counts."""
    found = {
        "half": "static double half(double x) { return x * 0.5 + 1; }",
        "least": "static int least(int x, int y) { return x < y ? x : y; }",
        "narrow": "static signed char narrow(int x) { return x & 63; }",
        "near": "static float near(float x) { if (x < 0) return -x; return x + 0.1f; }",
        "count": "static int count(int x) { static int calls; return x + calls++ % 3; }",
    }
    for one in arrays:
        if one.is_struct or one.rank != 1:
            continue
        if one.shared:
            found[f"get{one.name}"] = f"static double get{one.name}(int x) {{ return {one.name}[x & 15]; }}"
            found[f"put{one.name}"] = (
                f"static int put{one.name}(int x) {{ {one.name}[x & 15] = x & 7; return x & 3; }}"
            )
        head = f"static void step{one.name}({one.type} *q, int x)"
        found[f"step{one.name}"] = f"{head} {{ q[x] = q[x + 1] + 1; }}"
    return found


def _block(scope: Scope, depth: int) -> list[str]:
    lines: list[str] = []
    if "local" in scope.rare and scope.loops and scope.rng.random() < 0.5:
        one = Array(f"v{depth}", scope.rng.choice(INTEGERS + FLOATING * 2), 0)
        lines.append(f"{'  ' * depth}{one.type} {one.name} = {value_of(scope, 1)};")
        scope = replace(scope, scalars=(*scope.scalars, one, one))
    if "index" in scope.rare and scope.loops and scope.rng.random() < 0.7:
        given = replace(scope, indices=scope.indices[:1])
        lines.append(f"{'  ' * depth}{scope.rng.choice(INTEGERS[:-1])} x{depth} = {subscript(given)};")
        scope = replace(scope, indices=(*scope.indices, f"x{depth}"))
    counts = ((1, 1, 1, 2), (1, 1, 2), (1, 1, 2)) if scope.small else ((1, 1, 2), (1, 2, 2, 3), (1, 1, 2))
    for _ in range(scope.rng.choice(counts[min(depth - 1, 2)])):
        lines += _statement(scope, depth)
    return lines


def _statement(scope: Scope, depth: int) -> list[str]:
    rng, margin, deep = scope.rng, "  " * depth, len(scope.loops)
    kind = rng.random()
    if (deep < 3 and kind < (0.9, 0.4, 0.15)[deep]) or (deep == 0 and depth == 1):
        return _loop(scope, depth)
    if kind < (1, 0.52, 0.3, 0.2)[deep] and depth < 4:
        lines = [f"{margin}if ({condition(scope)}) {{", *_block(scope, depth + 1)]
        if rng.random() < 0.3:
            lines += [f"{margin}}} else {{", *_block(scope, depth + 1)]
        return [*lines, f"{margin}}}"]
    if scope.loops and rng.random() < 0.15:
        return _temporary(scope, margin)
    if "switch" in scope.rare and scope.loops and depth < 4 and rng.random() < 0.5:
        what = rng.choice((f"{scope.loops[-1]} % 3", f"{scope.loops[-1]}", place(scope, integer=True)))
        return rarities.switched(rng, what, margin, lambda: _block(scope, depth + 1))
    return [f"{margin}{_assignment(scope)}"]


def _temporary(scope: Scope, margin: str) -> list[str]:
    """A variable that is set and used in one iteration, or used before it is set, or not always set."""
    name = scope.rng.choice(scope.scalars).name
    first = f"{name} = {value_of(scope, 1)};"
    if scope.rng.random() < 0.2:
        first = f"if ({condition(scope)}) {first}"
    lines = [f"{margin}{first}", f"{margin}{place(scope, written=True)} = ({name} + {value_of(scope, 0)});"]
    return lines if scope.rng.random() < 0.7 else lines[::-1]


def _loop(scope: Scope, depth: int) -> list[str]:
    rng, margin = scope.rng, "  " * depth
    name = "ijk"[len(scope.loops)]
    kind = rng.choice(ITERATORS) if scope.odd else "int"
    if "typedef" in scope.rare:
        kind = rng.choice(rarities.KINDS)
    if name == "i" and "outside" in scope.rare:
        kind = ""
    low, high = rng.choice(("0", "0", "1", "2")), bound(scope)
    if rng.random() < 0.15 and scope.loops:
        low = f"{scope.loops[-1]}"
    head = rng.choices(
        (
            f"{kind} {name} = {low}; {name} < {high}; {name}++",
            f"{kind} {name} = {low}; {name} <= {high}; {name} += {rng.choice((1, 2, 3))}",
            f"{kind} {name} = {high}; {name} >= {low}; {name}--",
            f"{kind} {name} = {high}; {name} > {low}; {name} -= 2",
            f"{kind} {name} = {low}; {name} != {high}; {name}++",
        ),
        (12, 3, 3, 1, 1),
    )[0].strip()
    inner = replace(scope, loops=(*scope.loops, name))
    body = _block(inner, depth + 1)
    if rng.random() < 0.04:
        body.insert(0, f"{margin}  if ({condition(inner)}) continue;")
    for word in ("break", "return"):
        if word in scope.rare and rng.random() < 0.5:
            body.insert(rng.randrange(2) * len(body), f"{margin}  if ({condition(inner)}) {word};")
    if "while" in scope.rare and not any("continue" in line for line in body) and rng.random() < 0.7:
        first, test, last = head.split("; ")
        made = [f"{margin}{first};", f"{margin}while ({test}) {{", *body, f"{margin}  {last};", f"{margin}}}"]
        return [f"{margin}{{", *made, f"{margin}}}"] if kind else made
    if "do" in scope.rare and not any("continue" in line for line in body) and rng.random() < 0.7:
        first, test, last = head.split("; ")
        made = [f"{margin}do {{", *body, f"{margin}  {last};", f"{margin}}} while ({test});"]
        return [f"{margin}{{", f"{margin}{first};", *made, f"{margin}}}"]
    if "macro" in scope.rare and rng.random() < 0.3:
        head = f"FOR({name}, {high})"
        return [f"{margin}{head} {{", *body, f"{margin}}}"]
    if "two" in scope.rare and rng.random() < 0.5:
        more = f"{name}2 = {rng.choice(('0', '1', 'n'))}"
        head = f"int {more}, {head.replace(f'{kind} ', '', 1)}, {name}2 {rng.choice(('++', '+= 2', '--'))}"
        body.append(f"{margin}  {place(inner, written=True)} = {name}2;")
    return [f"{margin}for ({head}) {{", *body, f"{margin}}}"]


def bound(scope: Scope) -> str:
    plain = ["n", "m", "n", "m", "n - 1", "m + 1", "n + m", "n / 2", "10", "(n < m ? n : m)"]
    odd = ["u", "h", "n - m", "2 * n - m", "(int)u", "(unsigned char)n", "n % 5", "u - 1", "sizeof(int)"]
    if "macro" in scope.rare:
        plain += ["LAST", "MIN(n, m)", "MIN(8, n + 1)"]
    plain += [text for word in sorted(scope.rare) for text in rarities.BOUNDS.get(word, ())]
    if scope.loops:
        plain += [f"{scope.loops[-1]} + 1", f"n - {scope.loops[-1]}", f"{scope.loops[-1]}"]
    return scope.rng.choice(plain * 3 + odd if scope.odd else plain)


def condition(scope: Scope) -> str:
    rng = scope.rng
    left = rng.choice((*scope.loops, "n", "m"))
    right = rng.choice((*scope.loops, "n", "m", "u", str(rng.randint(0, 6))))
    affine = f"{left} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {right}{rng.choice(('', '', ' + 1'))}"
    parity = f"({left} + {rng.randint(0, 1)}) % {rng.choice((2, 3))} == {rng.randint(0, 1)}"
    data = f"{value_of(scope, 0)} {rng.choice(('<', '>', '=='))} {rng.randint(0, 3)}"
    both = f"{affine} {rng.choice(('&&', '||'))} {rng.choice((parity, data))}"
    return rng.choice((affine, affine, affine, parity, data, both, f"!({affine})"))


def _assignment(scope: Scope) -> str:
    rng = scope.rng
    target = place(scope, written=True)
    steps = [name for name in scope.functions if name.startswith("step")]
    if steps and rng.random() < 0.3:
        name = rng.choice(steps)
        return f"{name}({rng.choice(('', '', '1 + '))}{name.removeprefix('step')}, {subscript(scope)});"
    if "chain" in scope.rare and rng.random() < 0.4:
        return f"{target} = {place(scope, written=True)} = {value_of(scope, 1)};"
    rows = [(one.name, one.type) for one in scope.arrays if one.rank == 1 and not one.is_struct]
    if "memory" in scope.rare and rows and rng.random() < 0.3:
        return rarities.on_memory(rng, rows)
    if "effect" in scope.rare and "[" in target and rng.random() < 0.4:
        number = rng.choice((*scope.loops, "n", "2"))
        counter = f"{rng.choice(scope.scalars).name}{rng.choice(('++', '--'))}"
        return f"{target} = {counter} {rng.choice('+-*')} {number};"
    if rng.random() < 0.06:
        return f"{target}{rng.choice(('++', '--'))};"
    operator = rng.choice(("=", "=", "=", "+=", "-=", "*="))
    if rng.random() < 0.08:
        divisor = place(scope, integer=True)
        return f"if ({divisor} != 0) {target} = {value_of(scope, 1)} / {divisor};"
    return f"{target} {operator} {value_of(scope, 2)};"


def value_of(scope: Scope, depth: int) -> str:
    rng = scope.rng
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return _atom(scope)
    left, right = value_of(scope, depth - 1), value_of(scope, depth - 1)
    if kind < 0.7:
        return f"({left} {rng.choice('+-+-*')} {right})"
    if kind < 0.78:
        operator = rng.choice(("%", "&", "|", "^", "/", ">>"))
        return f"({place(scope, integer=True)} {operator} {rng.randint(1, 7)})"
    if kind < 0.83:
        return f"({condition(scope)} ? {left} : {right})"
    if kind < 0.88:
        return f"({rng.choice(('float', 'int', 'unsigned char', 'short', 'double'))})({left})"
    if kind < 0.94 and scope.functions:
        name = rng.choice(scope.functions)
        index = rng.choice((*scope.loops, "n"))
        if name.startswith("step"):
            return left
        if name.startswith(("get", "put", "count", "narrow", "bump")):
            return f"{name}({index})"
        return f"least({index}, m)" if name == "least" else f"{name}({left})"
    return f"({rng.choice('-~!' if kind > 0.99 else '-')}{place(scope, integer=True)})"


def _atom(scope: Scope) -> str:
    rng = scope.rng
    if rng.random() < 0.75:
        return place(scope)
    numbers = ("1", "2", "3u", "0.5", "0.25f", "'a'", "7L", "1e-3", "n", "u", "h", "m")
    return rng.choice((*numbers, *scope.loops, *scope.indices * 3))


def place(scope: Scope, *, written: bool = False, integer: bool = False) -> str:
    """A scalar or an element; subscripts are iterators a little moved."""
    rng = scope.rng
    arrays = [one for one in scope.arrays if one.is_integer or not integer]
    scalars = [one for one in scope.scalars if one.is_integer or not integer]
    if scalars and (not arrays or rng.random() < 0.25):
        return rng.choice(scalars).name
    if not arrays:
        return "n" if not written else scope.scalars[0].name
    one = rng.choice(arrays)
    cell = one.name + "".join(f"[{subscript(scope)}]" for _ in range(one.rank))
    if one.name == "p" and one.rank == 1 and "flat" in scope.rare:
        cell = f"p[{EDGE} * ({subscript(scope)}) + {subscript(scope)}]"
    if not one.is_struct:
        return cell
    return cell + rng.choice((".x", ".x", ".y[0]", ".y[1]", f".y[{rng.choice((*scope.loops, 'n'))} % 3]"))


def subscript(scope: Scope) -> str:
    rng = scope.rng
    if not scope.loops or rng.random() < 0.08:
        return str(rng.randint(0, 9))
    loop = rng.choice((*scope.loops, *scope.indices * 2))
    kinds = ["", "", "", "", " + 1", " + 2", " - 1"]
    if len(scope.loops) > 1:
        kinds.append(f" + {rng.choice(scope.loops)}")
    if rng.random() < 0.05:
        return rng.choice((f"2 * {loop}", f"9 - {loop}", f"({loop} / 2)", f"{loop} % 4", f"{loop} + n"))
    return loop + rng.choice(kinds)
