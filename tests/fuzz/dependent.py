"""Small programs whose statements depend on each other: what is allowed is decided by one dependence or two.

They are cheap to decide, and most operations on them are wrong if one kind of dependence is forgotten.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.programs import PARAMETERS, Array, Program

BOUNDS = ("n", "n", "m", "n - 1", "10", "n + 1")


class _Maker:
    """Statements over a few arrays of one type."""

    def __init__(self, rng: random.Random, arrays: tuple[Array, ...]) -> None:
        self.rng = rng
        self.arrays = arrays

    def cell(self, loops: str, *, written: bool = False) -> str:
        """An element at or next to that of this iteration; with two loops it may be that of one of them."""
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
        target = self.cell(loops, written=self.rng.random() < 0.6)
        return f"{target} {self.rng.choice(('=', '=', '=', '+=', '-='))} {self.value(loops)};"

    def loop(self, name: str, body: list[str], low: str | None = None, high: str | None = None) -> list[str]:
        low = low or self.rng.choice(("0", "1", "1", "1", "2"))
        high = high or self.rng.choice(BOUNDS)
        up = f"int {name} = {low}; {name} < {high}; {name}++"
        others = (
            f"int {name} = {low}; {name} != {high}; {name}++",
            f"int {name} = {low}; {name} <= {high}; {name} += 2",
            f"int {name} = {high}; {name} > {low}; {name}--",
        )
        head = up if self.rng.random() < 0.8 else self.rng.choice(others)
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
        if self.rng.random() < 0.3:
            first = f"if ({self.rng.choice(('i > 1', 'i < m', self.cell('i') + ' > 2'))}) {first}"
        body = [first, second] if self.rng.random() < 0.6 else [second, first]
        if self.rng.random() < 0.2:
            body = self.loop("j", [one.replace("i", "j") if "if" not in one else one for one in body])
        return self.loop("i", body)

    def row(self) -> list[str]:
        """A row that is set, and read where it was set or next to it."""
        set_it = f"v[{self.rng.choice(('j', 'j', 'j + 1'))}] = {self.cell('ij')};"
        read = f"{self.cell('ij')} = v[{self.rng.choice(('j', 'j', 'j - 1', 'j + 1'))}] + {self.cell('ij')};"
        high = self.rng.choice(("n", "m", "8"))
        body = self.loop("j", [set_it], "1", high) + self.loop("j", [read], self.rng.choice("112"), high)
        return self.loop("i", body) if self.rng.random() < 0.7 else [one.replace("i", "m") if "int" not in one
                                                                    else one for one in body]  # fmt: skip

    def sum_of(self) -> list[str]:
        added = self.rng.choice((self.cell("i"), self.cell("i"), self.value("i"), f"{self.cell('i')} * s"))
        body = [f"s {self.rng.choice(('+=', '+=', '*=', '-='))} {added};"]
        if self.rng.random() < 0.5:
            body.insert(self.rng.randrange(2), self.assignment("i"))
        return self.loop("i", body)


def dependent_program(rng: random.Random) -> Program:
    """A program of one of these shapes."""
    kind = rng.choice(("double", "double", "int", "float", "long", "unsigned"))
    arrays = tuple(Array(f"A{k}", kind, rng.choice((1, 1, 1, 2))) for k in range(rng.choice((1, 2, 2))))
    maker = _Maker(rng, arrays)
    shapes: tuple[Callable[[], list[str]], ...] = (
        maker.chain, maker.chain, maker.nest, maker.nest, maker.loops, maker.loops, maker.temporary,
        maker.temporary, maker.row, maker.sum_of, maker.sum_of,
    )  # fmt: skip
    body = rng.choice(shapes)()
    given = ", ".join([PARAMETERS, *(one.declaration for one in arrays), "double *out"])
    declared = [f"  {kind} {name} = {value};" for name, value in zip("st", (1, 2), strict=True)]
    declared += [f"  {kind} v[24] = {{1, 2, 3}};"] if any("v[" in line for line in body) else []
    lines = [f"void f({given})", "{", *declared, "#pragma scop", *(f"  {one}" for one in body)]
    read = (f"  out[{k}] = {one};" for k, one in enumerate("st") if rng.random() < 0.4)
    lines += ["#pragma endscop", *read]
    return Program("\n".join([*lines, "}", ""]), arrays)
