"""The generated numbers that runs begin with."""

from __future__ import annotations

import math
from functools import lru_cache
from random import Random

from loopwright.prove.equivalence.traces import CellKey

ALIKE, FACTORED = 1, 2
"""Which of three seeds gives cells that are often equal, and which gives matrices whose factors are finite
and integers whose sums do not decrease."""
EXTREME, PERIOD = 7, 9
"""Which of how many seeds, a rest of `ALIKE` ones, gives numbers that are not finite, for which neither
`x < y` nor `x >= y` holds, and integers that do not fit into narrower types."""
NOT_FINITE = (math.nan, math.inf, -math.inf)
SUBNORMAL = (1e-310, -1e-40)
"""A double below the normal ones, and a number that is such a float."""
_SHARES = (0.25, 0.1, 0.5)
"""The fraction of cells that are not 0."""


@lru_cache(maxsize=1 << 16)
def integer_input(seed: int, place: CellKey, numbers: tuple[int, ...]) -> int:
    """The initial value of a cell; it is read repeatedly.

    For one seed in three most cells are 0: a maximum hides smaller values, and `x + y == 3` seldom holds.
    """
    random = Random(f"{seed} {place}")
    if seed % PERIOD == EXTREME and random.random() < 0.5:
        return random.choice((-1, 1)) * ((1 << random.randint(7, 30)) + 1)
    if seed % 3 == ALIKE:
        return random.choice((1, *numbers)) if random.random() < _SHARES[seed // 3 % len(_SHARES)] else 0
    least, greatest = (0, 30) if seed % 3 == FACTORED else (-9, 9)
    return random.randint(least, greatest)


@lru_cache(maxsize=1 << 16)
def floating_input(seed: int, place: CellKey, extremes: tuple[float, ...] = NOT_FINITE) -> float:
    """The initial value of a cell; for one seed in nine, one in five is among `extremes`."""
    random = Random(f"{seed} {place}")
    if seed % 3 == FACTORED:
        return _dominant(random, is_diagonal=len(place[1]) > 1 and len(set(place[1])) == 1)
    if seed % 3 != ALIKE:
        return _scattered(random)
    is_extreme = bool(extremes) and seed % PERIOD == EXTREME and random.random() < 0.2
    return random.choice(extremes) if is_extreme else _alike(random)


def _dominant(random: Random, *, is_diagonal: bool) -> float:
    """A positive number, large on the diagonal, so that roots and quotients of the remainder are finite."""
    return random.uniform(0.5, 1) * (64 if is_diagonal else 0.25)


def _alike(random: Random) -> float:
    """A small integer: cells are often equal, or a zero of either sign, which is where comparisons differ."""
    return random.choice((-2.0, -1.0, -0.0, 0.0, 1.0, 2.0))


def _scattered(random: Random) -> float:
    """A number of either sign; magnitudes vary, so that sums in different orders round differently."""
    return random.choice((-1, 1)) * random.uniform(0.5, 1) * 2.0 ** random.randint(-3, 3)
