"""Generates small programs with dependent statements: one or two dependences decide legality.

They are cheap to decide, and most operations on them are wrong if one kind of dependence is forgotten.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.fuzz.programs import PARAMETERS, Array, Program

BOUNDS = ("n", "n", "m", "n - 1", "10", "n + 1")
ODD = ("unsigned char",) * 4 + ("short", "unsigned", "long", "signed char")
ODD_BOUNDS = ("n % 5", "n % 5", "m % 7 - 1", "n % 9 - 2", "h", "u", "n - 1")
"""Of iterators that are no int."""


class _Maker:
    """Statements over a few arrays of one type."""

    def __init__(self, rng: random.Random, arrays: tuple[Array, ...], *, apart: bool) -> None:
        self.rng = rng
        self.arrays = arrays
        self.apart = apart
        """Most iterations then write cells of their own, and read others of another array."""

    def cell(self, loops: str, *, written: bool = False) -> str:
        """An element at or next to that of this iteration; with two loops it may be that of one of them."""
        if self.apart and self.rng.random() < 0.9:
            one = self.arrays[0] if written or self.rng.random() < 0.1 else self.arrays[-1]
            by = "" if one is self.arrays[0] else self.rng.choice(("", "", " + 1", " - 1"))
            return one.name + "".join(f"[{loops[k % len(loops)]}{by}]" for k in range(one.rank))
        one = self.arrays[0] if written else self.rng.choice(self.arrays)
        if written and self.rng.random() < 0.5:
            return one.name + "".join(f"[{loops[k % len(loops)]}]" for k in range(one.rank))
        names = [self.rng.choice(loops) for _ in range(one.rank)] if self.rng.random() < 0.25 else [
            loops[k % len(loops)] for k in range(one.rank)
        ]  # fmt: skip
        at = (self.rng.choice(("", "", "", " + 1", " - 1", " + 2")) for _ in names)
        return one.name + "".join(f"[{name}{by}]" for name, by in zip(names, at, strict=True))

    def value(self, loops: str) -> str:
        left = self.cell(loops)
        match self.rng.randrange(6):
            case 0:
                return left
            case 1:
                return f"{left} + {self.rng.choice((*loops, '1', 'n'))}"
            case 2:
                return f"{left} * {self.rng.choice(('2', 's', '3'))}"
            case _:
                return f"{left} {self.rng.choice('++-*')} {self.cell(loops)}"

    def assignment(self, loops: str) -> str:
        target = self.cell(loops, written=self.apart or self.rng.random() < 0.6)
        return f"{target} {self.rng.choice(('=', '=', '=', '+=', '-='))} {self.value(loops)};"

    def loop(self, name: str, body: list[str], low: str | None = None, high: str | None = None) -> list[str]:
        low = low or self.rng.choice(("0", "1", "1", "1", "2"))
        high = high or self.rng.choice(BOUNDS)
        if self.rng.random() < 0.07:
            kind, high = self.rng.choice(ODD), self.rng.choice(ODD_BOUNDS)
            more = self.rng.choice((f"{name}++", f"{name}++", f"{name} += 2"))
            return self._around(f"{kind} {name} = {low}; {name} < {high}; {more}", body)
        up = f"int {name} = {low}; {name} < {high}; {name}++"
        others = (
            f"int {name} = {low}; {name} != {high}; {name}++",
            f"int {name} = {low}; {name} <= {high}; {name} += 2",
            f"int {name} = {high}; {name} > {low}; {name}--",
        )
        return self._around(up if self.rng.random() < 0.8 else self.rng.choice(others), body)

    def _around(self, head: str, body: list[str]) -> list[str]:
        return [f"for ({head}) {{", *(f"  {one}" for one in body), "}"]

    def chain(self) -> list[str]:
        return self.loop("i", [self.assignment("i") for _ in range(self.rng.choice((1, 1, 2, 2, 3)))])

    def nest(self) -> list[str]:
        inner = [self.assignment("ij") for _ in range(self.rng.choice((1, 1, 2)))]
        low, high = self.rng.choice(((None, None),) * 4 + (("1", "i + 1"), ("i", "n")))
        body = self.loop("j", inner, low, high)
        if self.rng.random() < 0.2:
            body.insert(self.rng.choice((0, len(body))), self.assignment("i"))
        return self.loop("i", body)

    def loops(self) -> list[str]:
        """Loops one after another, which may be fused or exchanged."""
        low, high = self.rng.choice(("0", "1", "1")), self.rng.choice(BOUNDS)
        parts = (self.loop("i", [self.assignment("i")], low, high) for _ in range(self.rng.choice((2, 2, 3))))
        return [line for part in parts for line in part]

    def temporary(self) -> list[str]:
        """A variable of each iteration, or one that holds what an earlier iteration left in it."""
        name = self.rng.choice("st")
        first = f"{name} = {self.value('i')};"
        second = f"{self.cell('i', written=True)} = {name} + {self.cell('i')};"
        if self.rng.random() < 0.2:
            first = f"if ({self.rng.choice(('i > 1', 'i < m', self.cell('i') + ' > 2'))}) {first}"
        body = [first, second] if self.rng.random() < 0.75 else [second, first]
        if self.rng.random() < 0.2:
            body = self.loop("j", [re.sub(r"\bi\b", "j", one) if "if" not in one else one for one in body])
        return self.loop("i", body)

    def row(self) -> list[str]:
        """A row that is set, and read where it was set or next to it."""
        set_it = f"v[{self.rng.choice(('j', 'j', 'j + 1'))}] = {self.cell('ij')};"
        target, at = self.cell("ij", written=self.apart), self.rng.choice(("j", "j", "j - 1", "j + 1"))
        read = f"{target} = v[{at}] + {self.cell('ij')};"
        high = self.rng.choice(("n", "m", "8"))
        body = self.loop("j", [set_it], "1", high) + self.loop("j", [read], self.rng.choice("112"), high)
        if self.rng.random() < 0.7:
            return self.loop("i", body)
        return [re.sub(r"\bi\b", "m", one) for one in body]

    def sum_of(self) -> list[str]:
        own = f"{self.cell('i')} {self.rng.choice('*+-')} s"
        added = self.rng.choice((self.cell("i"), self.cell("i"), self.value("i"), own, own))
        body = [f"s {self.rng.choice(('+=', '+=', '*=', '-='))} {added};"]
        if self.rng.random() < 0.5:
            body.insert(self.rng.randrange(2), self.assignment("i"))
        return self.loop("i", body)

    def prevented(self) -> list[str]:
        """Accesses that data may prevent: where they do, sizes may be beyond the array."""
        rows = [one.name for one in self.arrays if one.rank == 1]
        if not rows:
            return self.chain()
        far = f"{self.rng.choice(rows)}[i + {self.rng.choice((9, 16, 20))}]"
        test = f"{self.cell('i')} > {self.rng.choice((2, 5, 9))}"
        kinds = (f"if ({test}) {far} = {self.value('i')};", f"if ({test}) {self.cell('i')} = {far};")
        body = [self.rng.choice(kinds), *([self.assignment("i")] if self.rng.random() < 0.6 else [])]
        return self.loop("i", body if self.rng.random() < 0.6 else body[::-1])

    def counter(self) -> list[str]:
        """A number that moves on in each iteration, and is a subscript; or a pointer that walks."""
        rows = [one.name for one in self.arrays if one.rank == 1]
        if rows and self.rng.random() < 0.6:
            return self._walk(self.rng.choice(rows))
        by = self.rng.choice(("1", "1", "2"))
        target, source = self.rng.choice(self.arrays), self.rng.choice(self.arrays)
        at = self.rng.choice(("", "", " + 1", " - 1"))
        cells = [f"{one.name}{where * one.rank}" for one, where in ((target, "[c]"), (source, f"[c{at}]"))]
        body = [f"{cells[0]} = {cells[1]} + {self.cell('i')};", f"c += {by};"]
        body = body if self.rng.random() < 0.7 else body[::-1]
        if self.rng.random() < 0.3:
            high = self.rng.choice(("2", "3", "m"))
            body = self.loop("j", [body[0], body[1]] if self.rng.random() < 0.6 else [body[1]], "0", high)
            body += [f"{cells[0]} = {self.value('i')};"] if self.rng.random() < 0.5 else []
        first = [f"c = {self.rng.choice(('0', '1', 'm'))};"] if self.rng.random() < 0.8 else []
        return [*first, *self.loop("i", body)]

    def _walk(self, row: str) -> list[str]:
        by = self.rng.choice(("q++;", "q++;", "q += 2;"))
        body = [f"*q = {self.rng.choice(('*q', 'q[1]', '2'))} + {self.cell('i')};", by]
        if self.rng.random() < 0.3:
            body = [f"*q++ = {self.value('i')};"]
        if self.rng.random() < 0.3:
            body = [*self.loop("j", body, "0", self.rng.choice(("2", "m"))), *body[: self.rng.randrange(2)]]
        start = [f"q = {row} + {self.rng.choice(('0', '1', 'm'))};"] if self.rng.random() < 0.5 else []
        return [*start, *self.loop("i", body)]

    def exchanged(self) -> list[str]:
        """Steps from one buffer to another, whose pointers then change places."""
        sums = "f[i - 1] + f[i + 1]", "f[i] + f[i - 1]", "f[i + 1]", "f[i] * 2", "g[i] + f[i]"
        near = self.rng.choice(sums)
        inner = self.loop("i", [f"g[i] = {near};"], "1", self.rng.choice(("n - 1", "n - 1", "n", "m")))
        change = "f = g;", "g = p;"
        kind = self.arrays[0].type
        body = [*inner, f"{kind} *p = f;", *change] if self.rng.random() < 0.8 else [
            f"{kind} *p = f;", *change, *inner
        ]  # fmt: skip
        return self.loop("k", body, "0", self.rng.choice(("m", "m", "4", "n")))

    def counted(self) -> list[str]:
        """A loop that counts in another type than that of its bound."""
        kind, high = self.rng.choice(ODD), self.rng.choice(ODD_BOUNDS)
        sum_of = f"s += {self.rng.choice(('1', 'i', self.cell('i')))};"
        body = [sum_of if self.rng.random() < 0.5 else f"{self.cell('i', written=True)} = {self.value('i')};"]
        return self._around(f"{kind} i = {self.rng.choice('011')}; i < {high}; i++", body)

    def local(self) -> list[str]:
        """A variable of each iteration, of a type that may not hold what it is given."""
        kinds = ("unsigned char", "unsigned", "unsigned", "short", "signed char", "long", "float", "int")
        kind = self.rng.choice(kinds)
        sums = "i - 3", "i * 40", "i + n", "i", "i - n", "i * 7 - m", "i + 0L", "i - 5L", "n - 2L - i"
        given = self.rng.choice((*sums, self.cell("i")))
        used = self.rng.choice(("x", "x", "(x - 9) / 2", "x * 3", "x - n", "(x > 2)"))
        body = [f"{kind} x = {given};", f"{self.cell('i', written=True)} = {used} + {self.cell('i')};"]
        if self.rng.random() < 0.25 and "cell" not in given:
            body[1] = f"{self.arrays[0].name}{'[x]' * self.arrays[0].rank} = {self.value('i')};"
        return self.loop("i", body)


def dependent_program(rng: random.Random, apart: float = 0.3) -> Program:
    """A program of one of these shapes; `apart` is how often most of its iterations are independent."""
    return _program(rng, apart, (
        "chain", "chain", "nest", "nest", "loops", "loops", "temporary", "temporary", "row", "row", "sum_of",
        "sum_of", "counter", "local", "local", "prevented", "exchanged",
    ))  # fmt: skip


def stored_program(rng: random.Random) -> Program:
    """A program with a variable or a row that operations on storage can change."""
    return _program(rng, 0.4, ("temporary", "row", "row", "chain"))


def sequential_program(rng: random.Random, apart: float) -> Program:
    """A program whose loops are read as they are: no number and no pointer moves on in each iteration."""
    return _program(rng, apart, (
        "chain", "chain", "nest", "nest", "loops", "temporary", "temporary", "temporary", "row", "sum_of",
        "sum_of", "prevented", "local",
    ))  # fmt: skip


def counted_program(rng: random.Random) -> Program:
    """A program whose loop counts in any type, most of its iterations independent."""
    return _program(rng, 0.9, ("counted",))


def local_program(rng: random.Random) -> Program:
    """A program with a variable of each iteration, of a type that may not hold what it is given."""
    return _program(rng, 0.6, ("local",))


def _program(rng: random.Random, apart: float, shapes: tuple[str, ...]) -> Program:
    kind = rng.choice(("double", "double", "int", "float", "long", "unsigned"))
    arrays = tuple(Array(f"A{k}", kind, rng.choice((1, 1, 1, 2))) for k in range(rng.choice((1, 2, 2))))
    maker = _Maker(rng, arrays, apart=len(arrays) > 1 and rng.random() < apart)
    makers: dict[str, Callable[[], list[str]]] = {
        "chain": maker.chain, "nest": maker.nest, "loops": maker.loops, "temporary": maker.temporary,
        "row": maker.row, "sum_of": maker.sum_of, "counter": maker.counter, "local": maker.local,
        "prevented": maker.prevented, "exchanged": maker.exchanged, "counted": maker.counted,
    }  # fmt: skip
    chosen = rng.choice(shapes)
    if chosen == "exchanged":
        maker.arrays = arrays = tuple(Array(f"A{k}", kind, 1) for k in range(2))
    body = makers[chosen]()
    given = ", ".join([PARAMETERS, *(one.declaration for one in arrays), "double *out"])
    declared = [f"  {kind} {name} = {value};" for name, value in zip("st", (1, 2), strict=True)]
    declared += [f"  {kind} v[24] = {{1, 2, 3}};"] if any("v[" in line for line in body) else []
    rows = [one.name for one in arrays if one.rank == 1]
    declared += [f"  {kind} *q = {rows[0]};"] if any(re.search(r"\bq\b", line) for line in body) else []
    declared += [f"  {kind} *f = A0, *g = A1;"] if chosen == "exchanged" else []
    declared += ["  int c = 0;"] if any(re.search(r"\bc\b", line) for line in body) else []
    lines = [f"void f({given})", "{", *declared, "#pragma scop", *(f"  {one}" for one in body)]
    lines += ["#pragma endscop", *_read_after(rng, "\n".join(body))]
    return Program("\n".join([*lines, "}", ""]), arrays)


def _read_after(rng: random.Random, body: str) -> list[str]:
    """Most variables that the region sets are read after it."""
    likely = {name: 0.75 if re.search(rf"\b{name} [-+*]?= ", body) else 0.4 for name in "st"}
    return [f"  out[{k}] = {name};" for k, name in enumerate("st") if rng.random() < likely[name]]
