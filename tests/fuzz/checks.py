"""Tests `check` on mutated programs with a `main`: those it calls valid must be bit-identical.

Another operation than the original's is a violation for `check`, whatever its result: a yes is judged.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace

from loopwright.c.selection.choice import Choice
from loopwright.check.run.execute import Toolchain
from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check_file
from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.read.c.options import ReadOptions
from tests.fuzz.findings import Finding
from tests.fuzz.judge import SIZES, Judgement, Pair, Size, judged
from tests.fuzz.limits import Late, limited
from tests.fuzz.places import new_path, old_path
from tests.fuzz.programs import PARAMETERS, Array
from tests.fuzz.shrink import shrunk_pair

TOOLS = Toolchain(timeout=5.0, fast=("-O0",), precise=("-O0", "-g"))


@dataclass(frozen=True)
class Checked:
    """A pair that `check` calls valid for the size that it asks for."""

    seed: int
    pair: Pair


def check_case(seed: int, pair: Pair, outcomes: Counter[str]) -> Checked | Finding | None:
    """What `check` says of a pair for one size; None where it is no yes."""
    size = random.Random(f"check {seed}").choice(SIZES[2:])
    return said_of_run(seed, replace(pair, also=size), outcomes)


def said_of_run(seed: int, pair: Pair, outcomes: Counter[str]) -> Checked | Finding | None:
    main = main_of(pair.arrays, pair.also)
    choice = Choice() if "#pragma scop" in pair.old else Choice(("f",))
    options = CheckOptions(tools=TOOLS, reading=ReadOptions(choice=choice))
    try:
        with limited():
            report = check_file(new_path(pair.new + main), old_path(pair.old + main), options)
    except (BadInput, Illegal, GaveUp) as failure:
        outcomes[f"check: {type(failure).__name__}"] += 1
        return None
    except Exception as failure:
        return Finding("check", seed, f"{type(failure).__name__}: {failure}", _texts(pair))
    except Late:
        outcomes["check: late"] += 1
        return None
    outcomes[f"check: {report.answer.name}"] += 1
    return Checked(seed, pair) if report.answer is Answer.VALID else None


def wrong_check(one: Checked, told: Judgement) -> Finding | None:
    """One that was called valid, but leaves other bits for that size."""
    n, m, u, h = one.pair.also
    there = [text for text in told.wrong if f"n = {n}, m = {m}, u = {u}, h = {h}," in text]
    return Finding("check", one.seed, f"valid, but {there[0]}", _texts(one.pair)) if there else None


def small_check(pair: Pair, one: Checked | Finding) -> Finding | None:
    """What is wrong, with as little as possible of both texts."""
    found = _wrong(one)
    if found is None:
        return None

    def again(other: Pair) -> Finding | None:
        said = said_of_run(one.seed, other, Counter())
        return None if said is None else _wrong(said)

    return shrunk_pair(found, pair if isinstance(one, Finding) else one.pair, again)


def _wrong(one: Checked | Finding) -> Finding | None:
    return one if isinstance(one, Finding) else wrong_check(one, *judged([one.pair]))


def _texts(pair: Pair) -> tuple[tuple[str, str], ...]:
    main = main_of(pair.arrays, pair.also)
    return ("program", pair.old + main), ("new", pair.new + main)


def main_of(arrays: tuple[Array, ...], size: Size) -> str:
    """A main that calls f once; the arrays it passes hold small numbers."""
    mine = [one for one in arrays if not one.shared]
    own = "".join(f"static {one.declaration.replace(one.name, f'own_{one.name}', 1)};\n" for one in mine)
    given = ", ".join([*map(str, size), *(f"own_{one.name}" for one in mine), "out"])
    fills = "".join(
        f"  for (int k = 0; k < (int)(sizeof {name} / sizeof({kind})); k++) "
        f"(({kind} *){name})[k] = k * 7 % 5;\n"
        for one in arrays
        for kind in ["int" if one.is_struct else one.type]
        for name in [one.name if one.shared else f"own_{one.name}"]
    )
    assert PARAMETERS.count(",") == len(size) - 1
    return f"{own}int main(void)\n{{\n  double out[4] = {{0}};\n{fills}  f({given});\n  return 0;\n}}\n"
