"""Typed random C programs: one function with one region, defined for most sizes.

A program is text, one statement, head of a loop or closing brace a line, so that it can be shrunk by leaving
out lines.  Its arrays are of all arithmetic types, some of them global, some changed by functions that the
region calls.  Whether it is defined for a size is not decided here but by running it under sanitizers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

EDGE = 24
"""The length of every dimension."""
INTEGERS = ("int", "int", "unsigned", "short", "signed char", "unsigned char", "unsigned short", "long")
FLOATING = ("double", "double", "float")
WIDTHS = {"double": 8, "float": 4, "int": 4, "unsigned": 4, "short": 2, "unsigned short": 2, "long": 8}
ITERATORS = ("int",) * 4 + ("long", "unsigned", "short", "signed char", "unsigned char")
PARAMETERS = "int n, int m, unsigned u, short h"


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
class _Scope:
    """What a statement can name."""

    rng: random.Random
    arrays: tuple[Array, ...]
    scalars: tuple[Array, ...]
    functions: tuple[str, ...]
    odd: bool
    """Whether iterators and bounds may be of any integer type."""
    loops: tuple[str, ...] = ()


def random_program(rng: random.Random) -> Program:
    arrays = [
        Array(f"A{k}", rng.choice(INTEGERS + FLOATING * 2), rng.choice((1, 1, 2, 2, 2, 3)), k >= 3)
        for k in range(rng.randint(3, 5))
    ]
    scalars = [Array(name, rng.choice(INTEGERS + FLOATING * 2), 0) for name in ("s", "t", "w")]
    texts = _functions(rng, arrays)
    chosen = tuple(rng.sample(sorted(texts), rng.choice((0, 0, 1, 2))))
    body = _block(_Scope(rng, tuple(arrays), tuple(scalars), chosen, rng.random() < 0.25), 1)
    given = [one.declaration for one in arrays if not one.shared]
    parameters = ", ".join([PARAMETERS, *given, "double *out"])
    lines = [f"{one.declaration};" for one in arrays if one.shared]
    lines += [texts[name] for name in chosen]
    lines += [f"void f({parameters})", "{"]
    lines += [f"  {one.type} {one.name} = {rng.randint(0, 3)};" for one in scalars]
    lines += ["#pragma scop", *body, "#pragma endscop"]
    lines += [f"  out[{k}] = {one.name};" for k, one in enumerate(scalars) if rng.random() < 0.6]
    return Program("\n".join([*lines, "}", ""]), tuple(arrays))


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
        if one.shared and one.rank == 1:
            found[f"get{one.name}"] = f"static double get{one.name}(int x) {{ return {one.name}[x & 15]; }}"
            found[f"put{one.name}"] = (
                f"static int put{one.name}(int x) {{ {one.name}[x & 15] = x & 7; return x & 3; }}"
            )
    return found


def _block(scope: _Scope, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(scope.rng.choice(((1, 1, 2), (1, 2, 2, 3), (1, 1, 2))[min(depth - 1, 2)])):
        lines += _statement(scope, depth)
    return lines


def _statement(scope: _Scope, depth: int) -> list[str]:
    rng, margin, deep = scope.rng, "  " * depth, len(scope.loops)
    kind = rng.random()
    if (deep < 3 and kind < (0.9, 0.4, 0.15)[deep]) or (deep == 0 and depth == 1):
        return _loop(scope, depth)
    if kind < (1, 0.52, 0.3, 0.2)[deep] and depth < 4:
        lines = [f"{margin}if ({_condition(scope)}) {{", *_block(scope, depth + 1)]
        if rng.random() < 0.3:
            lines += [f"{margin}}} else {{", *_block(scope, depth + 1)]
        return [*lines, f"{margin}}}"]
    return [f"{margin}{_assignment(scope)}"]


def _loop(scope: _Scope, depth: int) -> list[str]:
    rng, margin = scope.rng, "  " * depth
    name = "ijk"[len(scope.loops)]
    kind = rng.choice(ITERATORS) if scope.odd else "int"
    low, high = rng.choice(("0", "0", "1", "2")), _bound(scope)
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
    )[0]
    inner = replace(scope, loops=(*scope.loops, name))
    body = _block(inner, depth + 1)
    if rng.random() < 0.04:
        body.insert(0, f"{margin}  if ({_condition(inner)}) continue;")
    return [f"{margin}for ({head}) {{", *body, f"{margin}}}"]


def _bound(scope: _Scope) -> str:
    plain = ["n", "m", "n", "m", "n - 1", "m + 1", "n + m", "n / 2", "10", "(n < m ? n : m)"]
    odd = ["u", "h", "n - m", "2 * n - m", "(int)u", "(unsigned char)n", "n % 5", "u - 1", "sizeof(int)"]
    if scope.loops:
        plain += [f"{scope.loops[-1]} + 1", f"n - {scope.loops[-1]}", f"{scope.loops[-1]}"]
    return scope.rng.choice(plain * 3 + odd if scope.odd else plain)


def _condition(scope: _Scope) -> str:
    rng = scope.rng
    left = rng.choice((*scope.loops, "n", "m"))
    right = rng.choice((*scope.loops, "n", "m", "u", str(rng.randint(0, 6))))
    affine = f"{left} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {right}{rng.choice(('', '', ' + 1'))}"
    parity = f"({left} + {rng.randint(0, 1)}) % {rng.choice((2, 3))} == {rng.randint(0, 1)}"
    data = f"{_value(scope, 0)} {rng.choice(('<', '>', '=='))} {rng.randint(0, 3)}"
    both = f"{affine} {rng.choice(('&&', '||'))} {rng.choice((parity, data))}"
    return rng.choice((affine, affine, affine, parity, data, both, f"!({affine})"))


def _assignment(scope: _Scope) -> str:
    rng = scope.rng
    target = _place(scope, written=True)
    if rng.random() < 0.06:
        return f"{target}{rng.choice(('++', '--'))};"
    operator = rng.choice(("=", "=", "=", "+=", "-=", "*="))
    if rng.random() < 0.08:
        divisor = _place(scope, integer=True)
        return f"if ({divisor} != 0) {target} = {_value(scope, 1)} / {divisor};"
    return f"{target} {operator} {_value(scope, 2)};"


def _value(scope: _Scope, depth: int) -> str:
    rng = scope.rng
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return _atom(scope)
    left, right = _value(scope, depth - 1), _value(scope, depth - 1)
    if kind < 0.7:
        return f"({left} {rng.choice('+-+-*')} {right})"
    if kind < 0.78:
        operator = rng.choice(("%", "&", "|", "^", "/", ">>"))
        return f"({_place(scope, integer=True)} {operator} {rng.randint(1, 7)})"
    if kind < 0.83:
        return f"({_condition(scope)} ? {left} : {right})"
    if kind < 0.88:
        return f"({rng.choice(('float', 'int', 'unsigned char', 'short', 'double'))})({left})"
    if kind < 0.94 and scope.functions:
        name = rng.choice(scope.functions)
        index = rng.choice((*scope.loops, "n"))
        if name.startswith(("get", "put", "count", "narrow")):
            return f"{name}({index})"
        return f"least({index}, m)" if name == "least" else f"{name}({left})"
    return f"({rng.choice('-~!' if kind > 0.99 else '-')}{_place(scope, integer=True)})"


def _atom(scope: _Scope) -> str:
    rng = scope.rng
    if rng.random() < 0.75:
        return _place(scope)
    numbers = ("1", "2", "3u", "0.5", "0.25f", "'a'", "7L", "1e-3", "n", "u", "h", "m")
    return rng.choice((*numbers, *scope.loops))


def _place(scope: _Scope, *, written: bool = False, integer: bool = False) -> str:
    """A scalar or an element; subscripts are iterators a little moved."""
    rng = scope.rng
    arrays = [one for one in scope.arrays if one.is_integer or not integer]
    scalars = [one for one in scope.scalars if one.is_integer or not integer]
    if scalars and (not arrays or rng.random() < 0.25):
        return rng.choice(scalars).name
    if not arrays:
        return "n" if not written else scope.scalars[0].name
    one = rng.choice(arrays)
    return one.name + "".join(f"[{_subscript(scope)}]" for _ in range(one.rank))


def _subscript(scope: _Scope) -> str:
    rng = scope.rng
    if not scope.loops or rng.random() < 0.08:
        return str(rng.randint(0, 9))
    loop = rng.choice(scope.loops)
    kinds = ["", "", "", "", " + 1", " + 2", " - 1"]
    if len(scope.loops) > 1:
        kinds.append(f" + {rng.choice(scope.loops)}")
    if rng.random() < 0.05:
        return rng.choice((f"2 * {loop}", f"9 - {loop}", f"({loop} / 2)", f"{loop} % 4", f"{loop} + n"))
    return loop + rng.choice(kinds)
