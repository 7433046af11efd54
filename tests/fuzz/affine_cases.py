"""Tests `prove` on two MLIR functions: a yes is run as C, a no is searched for in all small sizes.

For the no both functions are run as trees, on random numbers modulo a prime (of floating types, which a no is
not about the rounding of) or 2^32: where no small size shows another number in a cell, or an access that only
the new function makes beyond an array, numbers that are rounded are tried: sums in another order are others.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.prove.comparison.files import agreement
from loopwright.prove.comparison.texts import ComparisonOptions
from tests.fuzz.affine_pairs import AffinePair, Cell, For, Linear, Nodes, Store, Sum, Value, affine_pair
from tests.fuzz.findings import Finding
from tests.fuzz.judge import judged
from tests.fuzz.limits import Late, limited
from tests.fuzz.mutants import Mutant, wrong_mutant
from tests.fuzz.places import written
from tests.fuzz.programs import EDGE

PRIME = (1 << 61) - 1
SMALL = range(EDGE + 2)
"""The sizes that are tried for n and m: loops that run further leave the arrays."""
ROUNDED = 4
"""Data on which sums are rounded, of many magnitudes: few sums in another order show on every data set."""
_ROUNDING, _INFINITE = 0, -1
"""For a modulus: numbers are rounded, or some are infinite, which shows what is added and taken away."""


def affine_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `prove` says of two functions of MLIR; None where it is no yes, and no wrong no."""
    one = affine_pair(seed)
    old, new = (written(name, text) for name, text in zip(("k.mlir", "new.mlir"), one.texts, strict=True))
    texts = tuple(zip(("program", "new"), one.texts, strict=True))
    try:
        with limited():
            agreement(str(old), str(new), ComparisonOptions())
    except (BadInput, GaveUp, Late) as failure:
        outcomes[f"mlir: {'late' if isinstance(failure, Late) else type(failure).__name__}"] += 1
        return None
    except Illegal as failure:
        outcomes["mlir: Illegal"] += 1
        told = f"a no that no small size confirms: {failure}: {failure.witness}"
        return None if shows_a_difference(one, seed) else Finding("mlir", seed, told, texts)
    except Exception as failure:
        return Finding("mlir", seed, f"{type(failure).__name__}: {failure}", texts)
    outcomes["mlir: Proved"] += 1
    return Mutant("mlir", seed, one.pair, "proved", yes=True)


def wrong_affine(one: Mutant | Finding) -> Finding | None:
    return one if isinstance(one, Finding) else wrong_mutant(one, *judged([one.pair]))


class Outside(Exception):
    """An access beyond an array."""


@dataclass
class _Run:
    modulus: int
    """_ROUNDING or _INFINITE where numbers are not computed modulo one."""
    seed: int
    names: dict[str, int]
    written: dict[tuple[str, tuple[int, ...]], float] = field(default_factory=dict)

    def nodes(self, nodes: Nodes) -> None:
        for node in nodes:
            match node:
                case Store(target, value):
                    found = self.value(value)
                    self.written[target.array, self.subscripts(target)] = found
                case For(name, low, high, body, step):
                    first, last = max(map(self.linear, low)), min(map(self.linear, high))
                    for self.names[name] in range(first, last, step):
                        self.nodes(body)

    def linear(self, one: Linear) -> int:
        return sum(factor * self.names[name] for name, factor in one.terms) + one.constant

    def subscripts(self, cell: Cell) -> tuple[int, ...]:
        at = tuple(map(self.linear, cell.at))
        if not all(0 <= one < EDGE for one in at):
            raise Outside
        return at

    def value(self, value: Value) -> float:
        match value:
            case Cell(array):
                at = self.subscripts(value)
                known = self.written.get((array, at))
                return initial(self.seed, array, at, self.modulus) if known is None else known
            case Sum(sign, left, right):
                one, other = self.value(left), self.value(right)
                found = {"+": one + other, "-": one - other, "*": one * other}[sign]
                return found % self.modulus if self.modulus > 0 else found
        return value


def initial(seed: int, array: str, at: tuple[int, ...], modulus: int) -> float:
    """What a cell holds at first."""
    rng = random.Random(f"{seed} {array} {at}")
    if modulus == _INFINITE:
        return rng.choice((math.inf, 1.0, 0.0, 0.0, 0.0, 0.0))
    return rng.randrange(modulus) if modulus else rng.uniform(-1, 1) * 2.0 ** rng.randrange(-12, 13)


def shows_a_difference(one: AffinePair, seed: int) -> bool:
    """Whether the functions do something else for small sizes for which the old one stays in its arrays."""
    exact = PRIME if one.is_floating else 1 << 32
    rounded = product((_ROUNDING, _INFINITE), range(seed, seed + ROUNDED)) if one.is_floating else ()
    return _differs(one, seed, exact) or any(_differs(one, data, kind) for kind, data in rounded)


def _differs(one: AffinePair, seed: int, modulus: int) -> bool:
    for n, m in _sizes():
        runs = [_Run(modulus, seed, {"n": n, "m": m}) for _ in range(2)]
        try:
            runs[0].nodes(one.trees[0])
        except Outside:
            continue
        try:
            runs[1].nodes(one.trees[1])
        except Outside:
            return True
        cells = runs[0].written.keys() | runs[1].written.keys()
        last = ((_last(runs[0], cell), _last(runs[1], cell)) for cell in cells)
        if any(one != other and not (math.isnan(one) and math.isnan(other)) for one, other in last):
            return True
    return False


def _last(run: _Run, cell: tuple[str, tuple[int, ...]]) -> float:
    found = run.written.get(cell)
    return initial(run.seed, *cell, run.modulus) if found is None else found


def _sizes() -> Iterator[tuple[int, int]]:
    """All pairs of sizes, those that show most first."""
    yield from sorted(product(SMALL, SMALL), key=lambda pair: abs(pair[0] - 4) + abs(pair[1] - 4))
