"""Rewrites assignments and conditions as a programmer would; some rewrites are correct for every program."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from tests.fuzz.nests import Assign, Block, If, Node, Words
from tests.fuzz.programs import Array


@dataclass(frozen=True)
class Chosen:
    """What a rewriting may ask: numbers at random, the types of arrays, and a name that is used nowhere."""

    rng: random.Random
    arrays: tuple[Array, ...]
    fresh: str

    def type_of(self, target: str) -> str:
        """The type of the first array or variable that is named."""
        known = {one.name: one.type for one in self.arrays if not one.is_struct}
        return next((known[name] for name in re.findall(r"[A-Za-z_]\w*", target) if name in known), "int")


Nodes: TypeAlias = tuple[Node, ...]
OfAssign: TypeAlias = Callable[[Assign, Chosen], Nodes | None]
OfIf: TypeAlias = Callable[[If, Chosen], Nodes | None]


def through_a_variable(one: Assign, chosen: Chosen) -> Nodes:
    name = f"v{chosen.fresh}"
    kind = chosen.rng.choice(
        (chosen.type_of(one.target), chosen.type_of(one.target), "double", "int", "long")
    )
    if chosen.rng.random() < 0.3:  # a variable without a value, which it gets later
        given = Words(f"{kind} {name};"), Assign(name, "=", one.value)
        return (Block("", (*given, replace(one, value=name))),)
    return (Block("", (Words(f"{kind} {name} = {one.value};"), replace(one, value=name))),)


def types_of(chosen: Chosen, natural: str) -> str:
    others = ("int", "unsigned", "long", "double", "float", "short", "unsigned char", "signed char", "_Bool")
    return natural if chosen.rng.random() < 0.3 else chosen.rng.choice(others)


_PART = re.compile(
    r"\([^()?:]+ (?:[-+*/%&|^]|>>) [^()?:]+\)|\bA\d(?:\[[^][]+\])+|(?<![\w.\[])[ijknmuh]\b(?!\])"
)
"""A sum in parentheses, an element or a number."""


def part_in_a_variable(one: Assign, chosen: Chosen) -> Nodes | None:
    """A part of the value is computed before, in a variable of some type."""
    parts = [found for found in _PART.finditer(one.value) if found.group().count("(") < 2]
    if not parts:
        return None
    part, name = chosen.rng.choice(parts), f"p{chosen.fresh}"
    kind = types_of(chosen, chosen.type_of(part.group()))
    value = one.value[: part.start()] + name + one.value[part.end() :]
    return (Block("", (Words(f"{kind} {name} = {part.group()};"), replace(one, value=value))),)


def converted(one: Assign, chosen: Chosen) -> Nodes | None:
    """A part of the value is converted to some type, perhaps there and back."""
    parts = list(_PART.finditer(one.value))
    if not parts:
        return None
    part = chosen.rng.choice(parts)
    natural = chosen.type_of(part.group())
    cast = f"({types_of(chosen, natural)})"
    if chosen.rng.random() < 0.4:
        cast = f"({natural})({chosen.rng.choice(('float', 'float', 'double', 'short', 'unsigned'))})"
    value = f"{one.value[: part.start()]}({cast}{part.group()}){one.value[part.end() :]}"
    return (replace(one, value=value),)


def written_out(one: Assign, chosen: Chosen) -> Nodes | None:
    if one.operator == "=":
        return None
    return (Assign(one.target, "=", f"{one.target} {one.operator[0]} ({one.value})"),)


def commuted(one: Assign, chosen: Chosen) -> Nodes | None:
    found = re.fullmatch(r"\(([^()]+) ([-+*]) ([^()]+)\)", one.value)
    if found is None:
        return None
    left, operator, right = found.groups()
    if operator == "-":
        return (replace(one, value=f"(-{right} + {left})"),)
    return (replace(one, value=f"({right} {operator} {left})"),)


def subscripted(one: Assign, chosen: Chosen) -> Nodes | None:
    """A subscript that is computed in another type, with the same value where it does not wrap around."""
    cells = [found for side in (one.target, one.value) for found in re.findall(r"\[([^][]+)\]", side)]
    if not cells:
        return None
    old = chosen.rng.choice(cells)
    other = chosen.rng.choice(
        ("(unsigned)({})", "({}) + 0u", "({}) - 1u + 1L", "({}) - 1 + 1u", "({}) + 1u - 1", "(long)({})",
         "({}) - 1u + 1", "(unsigned char)({})", "(short)({})", "({}) * 2 / 2", "({}) * 4u / 4", "-(-({}))",
         "2 * ({}) - ({})", "(({}) << 1) >> 1", "({}) & 31", "({}) % 32", "({}) / 1", "24 - (24 - ({}))")
    )  # fmt: skip
    new = other.replace("{}", old)
    target, value = (side.replace(f"[{old}]", f"[{new}]", 1) for side in (one.target, one.value))
    if chosen.rng.random() < 0.5 and target != one.target:
        return (replace(one, target=target),)
    return (replace(one, value=value),) if value != one.value else (replace(one, target=target),)


def selected(one: If, chosen: Chosen) -> Nodes | None:
    """A value that is chosen in place of a statement."""
    match one.then:
        case (Assign(target, "=", value),) if not one.other:
            return (Assign(target, "=", f"({one.condition}) ? {value} : {target}"),)
    return None


def speculated(one: If, chosen: Chosen) -> Nodes | None:
    """The value is computed whether it is needed or not."""
    match one.then:
        case (Assign(target, operator, value),) if not one.other:
            name, kind = f"v{chosen.fresh}", chosen.type_of(target)
            stored = If(one.condition, (Assign(target, operator, name),))
            return (Block("", (Words(f"{kind} {name} = {value};"), stored)),)
    return None


def under_half_of_it(one: If, chosen: Chosen) -> Nodes | None:
    """One of two conditions only, or both in the other order."""
    parts = one.condition.split(" && ")
    if len(parts) != 2:
        return None
    chosen.rng.shuffle(parts)
    return (replace(one, condition=chosen.rng.choice((parts[0], " && ".join(parts)))),)


def negated(one: If, chosen: Chosen) -> Nodes:
    if one.other:
        return (If(f"!({one.condition})", one.other, one.then),)
    return (Block(f"if (!({one.condition})) ; else", one.then),)


def nested(one: If, chosen: Chosen) -> Nodes | None:
    left, _, right = one.condition.partition(" && ")
    if not right or one.other or "(" in one.condition:
        return None
    return (If(left, (replace(one, condition=right),)),)


def twice(one: If, chosen: Chosen) -> Nodes | None:
    if not one.other:
        return None
    return If(one.condition, one.then), If(f"!({one.condition})", one.other)


OF_ASSIGNS: tuple[OfAssign, ...] = (
    through_a_variable, written_out, commuted, commuted, subscripted, part_in_a_variable, part_in_a_variable,
    part_in_a_variable, converted, converted,
)  # fmt: skip
OF_IFS: tuple[OfIf, ...] = (selected, negated, nested, twice, speculated, speculated, under_half_of_it)
