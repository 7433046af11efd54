"""Random schedules: interchange, reversal, shift, skew, tiling, fusion, splitting, one after the other.

A schedule is Python data that is both written as isl's text and evaluated, independently of isl.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import islpy as isl

from loopwright.model.program import Program, Statement
from tests.legality.oracle import Time, Times


@dataclass(frozen=True)
class Affine:
    """floor((Σ coefficient · iterator + constant) / divisor)."""

    coefficients: tuple[tuple[str, int], ...]
    constant: int = 0
    divisor: int = 1

    def text(self) -> str:
        terms = "".join(f" + {factor}*{name}" for name, factor in self.coefficients if factor)
        return f"floor(({self.constant}{terms})/{self.divisor})"

    def value(self, at: dict[str, int]) -> int:
        total = self.constant + sum(factor * at[name] for name, factor in self.coefficients)
        return total // self.divisor

    def combined(self, factor: int, other: Affine, times: int) -> Affine:
        names = dict(self.coefficients) | {name: 0 for name, _ in other.coefficients}
        for name in names:
            own, theirs = dict(self.coefficients).get(name, 0), dict(other.coefficients).get(name, 0)
            names[name] = factor * own + times * theirs
        return Affine(tuple(sorted(names.items())), factor * self.constant + times * other.constant)


@dataclass(frozen=True)
class Part:
    """Where all `guards` are at least 0: positions p0, p1, ... and iteration numbers in turn."""

    guards: tuple[Affine, ...]
    positions: tuple[int, ...]
    numbers: tuple[Affine, ...]

    def entries(self) -> list[Affine]:
        found = [Affine((), self.positions[0])]
        for number, position in zip(self.numbers, self.positions[1:], strict=True):
            found += [number, Affine((), position)]
        return found


Chosen = dict[str, tuple[Part, ...]]
"""For each statement, its parts."""


def original(program: Program) -> Chosen:
    return {statement.name: (_as_written(statement),) for statement in program.statements}


def _as_written(statement: Statement) -> Part:
    """Read off the schedule of the model; `-i` where a loop counts down."""
    function = isl.PwMultiAff.from_map(statement.schedule).as_multi_aff()
    positions, numbers = [], []
    for k in range(function.dim(isl.dim_type.out)):
        entry = function.get_at(k)
        constant = int(entry.get_constant_val().to_python())
        factors = tuple(
            (name, int(entry.get_coefficient_val(isl.dim_type.in_, position).to_python()))
            for position, name in enumerate(statement.iterators)
        )
        if k % 2:
            numbers.append(Affine(factors, constant))
        else:
            positions.append(constant)
    return Part((), tuple(positions), tuple(numbers))


def schedules(program: Program, chosen: Chosen) -> dict[str, isl.Map]:
    """The schedule as isl's maps, not all of the same length."""
    return {statement.name: _map(statement, chosen[statement.name]) for statement in program.statements}


def _map(statement: Statement, parts: tuple[Part, ...]) -> isl.Map:
    instance = f"{statement.name}[{', '.join(statement.iterators)}]"
    texts = []
    for part in parts:
        time = ", ".join(entry.text() for entry in part.entries())
        guards = " and ".join(f"{guard.text()} >= 0" for guard in part.guards) or "true"
        texts.append(f"{instance} -> [{time}] : {guards}")
    return isl.Map(f"{{ {'; '.join(texts)} }}")


def times(program: Program, chosen: Chosen) -> Times:
    """The same, as a function on instances, padded to one length."""
    length = max(2 * len(part.numbers) + 1 for parts in chosen.values() for part in parts)

    def time(name: str, instance: tuple[int, ...], _: dict[str, int]) -> Time:
        at = dict(zip(program.statement(name).iterators, instance, strict=True))
        for part in chosen[name]:
            if all(guard.value(at) >= 0 for guard in part.guards):
                found = tuple(entry.value(at) for entry in part.entries())
                return found + (0,) * (length - len(found))
        raise AssertionError(f"no part of {name} has {instance}")

    return time


def random_schedule(program: Program, dice: random.Random) -> Chosen:
    """One to three operations, each on one statement or on all."""
    chosen = original(program)
    for _ in range(dice.randint(1, 3)):
        names = list(chosen)
        wanted = names if dice.random() < 0.5 else [dice.choice(names)]
        operation = dice.choice([_interchange, _reverse, _shift, _skew, _tile, _fuse, _split])
        seed = dice.random()
        for name in wanted:
            chosen[name] = operation(chosen, name, random.Random(seed))
    return chosen


def _two(count: int, dice: random.Random) -> tuple[int, int]:
    return dice.randrange(count), dice.randrange(count)


def _interchange(chosen: Chosen, name: str, dice: random.Random) -> tuple[Part, ...]:
    def one(part: Part) -> Part:
        a, b = _two(len(part.numbers), random.Random(seed))
        numbers = list(part.numbers)
        numbers[a], numbers[b] = numbers[b], numbers[a]
        return replace(part, numbers=tuple(numbers))

    seed = dice.random()
    return tuple(one(part) for part in chosen[name])


def _changed(parts: tuple[Part, ...], k: int, factor: int, offset: Affine, times: int) -> tuple[Part, ...]:
    """Number k becomes factor · number + times · offset, unless a tile hides it."""
    found = []
    for part in parts:
        numbers = list(part.numbers)
        if k < len(numbers) and numbers[k].divisor == 1 and offset.divisor == 1:
            numbers[k] = numbers[k].combined(factor, offset, times)
        found.append(replace(part, numbers=tuple(numbers)))
    return tuple(found)


def _reverse(chosen: Chosen, name: str, dice: random.Random) -> tuple[Part, ...]:
    return _changed(chosen[name], dice.randrange(3), -1, Affine(()), 1)


def _shift(chosen: Chosen, name: str, dice: random.Random) -> tuple[Part, ...]:
    return _changed(chosen[name], dice.randrange(3), 1, Affine((), dice.choice([-2, -1, 1, 2])), 1)


def _skew(chosen: Chosen, name: str, dice: random.Random) -> tuple[Part, ...]:
    numbers = chosen[name][0].numbers
    a, b = _two(len(numbers), dice)
    return _changed(chosen[name], a, 1, numbers[b], dice.choice([-1, 1, 2])) if a != b else chosen[name]


def _tile(chosen: Chosen, name: str, dice: random.Random) -> tuple[Part, ...]:
    """Tiles of the outer `count` loops in front of them; all parts of all statements the same way."""
    size, count = dice.choice([2, 3]), dice.choice([1, 2])
    found = []
    for part in chosen[name]:
        if any(number.divisor != 1 for number in part.numbers):
            return chosen[name]
        tiles = tuple(replace(number, divisor=size) for number in part.numbers[:count])
        positions = (part.positions[0], *(0 for _ in tiles), *part.positions[1:])
        found.append(replace(part, positions=positions, numbers=tiles + part.numbers))
    return tuple(found)


def _fuse(chosen: Chosen, name: str, dice: random.Random) -> tuple[Part, ...]:
    """The outer positions of another statement, and a place of its own further in."""
    other = chosen[dice.choice(list(chosen))][0].positions
    found = []
    for part in chosen[name]:
        common = dice.randint(0, min(len(other), len(part.positions)) - 1)
        place = other[common] + dice.choice([-1, 1, 1])
        positions = (*other[:common], place, *part.positions[common + 1 :])
        found.append(replace(part, positions=positions))
    return tuple(found)


def _split(chosen: Chosen, name: str, dice: random.Random) -> tuple[Part, ...]:
    """Iterations up to a bound stay, the others go after them or before them."""
    depth, bound, offset = dice.randrange(2), dice.randint(0, 2), dice.choice([1, 1, 1, -1])
    found: list[Part] = []
    for part in chosen[name]:
        number = part.numbers[min(depth, len(part.numbers) - 1)]
        if number.divisor != 1:
            return chosen[name]
        late = number.combined(1, Affine((), -bound), 1)
        early = late.combined(-1, Affine((), -1), 1)
        positions = (part.positions[0] + offset, *part.positions[1:])
        found.append(replace(part, guards=(*part.guards, early)))
        found.append(replace(part, guards=(*part.guards, late), positions=positions))
    return tuple(found)
