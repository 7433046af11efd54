"""Generates loops over elements, and versions with x86 vectors by hand, with mistakes in some."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.fuzz.nests import Assign, Block, Loop, Node, Words
from tests.fuzz.programs import Array

_SUFFIX = {"double": ("pd", "__m128d", 2), "float": ("ps", "__m128", 4)}
_NAMES = {"+": "add", "-": "sub", "*": "mul"}


@dataclass(frozen=True)
class Elementwise:
    """target[i] = left[i + at] operator right[i + by], where an operand may be a number."""

    target: str
    operator: str
    operands: tuple[tuple[str, int], tuple[str, int]]
    kind: str

    @property
    def scalar(self) -> Assign:
        left, right = (_cell(name, at) for name, at in self.operands)
        return Assign(f"{self.target}[i]", "=", f"({left} {self.operator} {right})")

    @property
    def lanes(self) -> Words:
        suffix = _SUFFIX[self.kind][0]
        left, right = (self._loaded(name, at) for name, at in self.operands)
        value = f"_mm_{_NAMES[self.operator]}_{suffix}({left}, {right})"
        return Words(f"_mm_storeu_{suffix}({self.target} + i, {value});")

    def _loaded(self, name: str, at: int) -> str:
        suffix = _SUFFIX[self.kind][0]
        if not name.startswith("A"):
            return f"_mm_set1_{suffix}({name})"
        return f"_mm_loadu_{suffix}({name} + i{f' + {at}' if at > 0 else f' - {-at}' if at else ''})"


def _cell(name: str, at: int) -> str:
    if not name.startswith("A"):
        return name
    return f"{name}[i{f' + {at}' if at > 0 else f' - {-at}' if at else ''}]"


def in_vectors(rng: random.Random, arrays: tuple[Array, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """A loop over elements of arrays of one type, and the loops with vectors."""
    kind, rows = arrays[0].type, [one.name for one in arrays if one.rank == 1]

    def operand() -> tuple[str, int]:
        return rng.choice((*rows, *rows, "0.5", "s")), rng.choice((0, 0, 0, 1, -1, 2))

    one = Elementwise(rng.choice(rows), rng.choice("+-*"), (operand(), operand()), kind)
    low, high = rng.choice(("0", "1", "2")), rng.choice(("n", "m", "n - 1"))
    width = _SUFFIX[kind][2]
    step = rng.choice((width, width, width, width, 1))
    test = rng.choice((f"i + {width - 1} < {high}",) * 4 + (f"i + {width} <= {high}", f"i < {high}"))
    body = one.scalar
    new = (
        Words(f"int i = {low};"),
        Block(f"for (; {test}; i += {step})", (one.lanes,)),
        Block(f"for (; i < {high}; i++)", (body,)),
    )
    return (Loop("i", low, high, (body,)),), (Block("", new),)
