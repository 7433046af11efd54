"""Small programs of C as values, and random ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

ONE_DIMENSIONAL = ("a", "b", "c", "g")
"""g is an array of floats."""
TWO_DIMENSIONAL = ("A", "B")
SCALARS = ("s", "t")
PARAMETERS = ("n", "m")


@dataclass(frozen=True)
class Affine:
    """A sum of names and a constant."""

    terms: tuple[tuple[str, int], ...]
    constant: int = 0

    def __str__(self) -> str:
        parts = [name if factor == 1 else f"{factor} * {name}" for name, factor in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    def plus(self, constant: int) -> Affine:
        return replace(self, constant=self.constant + constant)

    def put(self, name: str, value: Affine) -> Affine:
        """`value` in place of `name`."""
        terms = dict(self.terms)
        factor = terms.pop(name, 0)
        for other, inner in value.terms:
            terms[other] = terms.get(other, 0) + factor * inner
        kept = tuple((other, inner) for other, inner in terms.items() if inner)
        return Affine(kept, self.constant + factor * value.constant)


@dataclass(frozen=True)
class Cell:
    array: str
    subscripts: tuple[Affine, ...] = ()

    def __str__(self) -> str:
        return self.array + "".join(f"[{one}]" for one in self.subscripts)


@dataclass(frozen=True)
class Number:
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Binary:
    operator: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"({shown(self.left)} {self.operator} {shown(self.right)})"


Expression: TypeAlias = Cell | Number | Binary | Affine


def shown(expression: Expression) -> str:
    return f"({expression})" if isinstance(expression, Affine) else str(expression)


@dataclass(frozen=True)
class Assign:
    target: Cell
    operator: str
    value: Expression
    guard: Cell | None = None
    """Only where this is positive."""


@dataclass(frozen=True)
class Loop:
    """`for (name = first; name < last; name += step)`, or backwards."""

    name: str
    first: Affine
    last: Affine
    body: tuple[Node, ...]
    step: int = 1
    backwards: bool = False


Node: TypeAlias = Assign | Loop


def text(nodes: tuple[Node, ...], indent: str = "  ") -> str:
    """The program in C."""
    lines: list[str] = []
    for node in nodes:
        if isinstance(node, Assign):
            guard = "" if node.guard is None else f"if ({node.guard} > 0) "
            lines.append(f"{indent}{guard}{node.target} {node.operator} {shown(node.value)};")
            continue
        i, first, last = node.name, node.first, node.last
        if node.backwards:
            lines.append(f"{indent}for (int {i} = {last.plus(-1)}; {i} >= {first}; {i}--) {{")
        else:
            step = f"{i}++" if node.step == 1 else f"{i} += {node.step}"
            lines.append(f"{indent}for (int {i} = {first}; {i} < {last}; {step}) {{")
        lines += [text(node.body, indent + "  "), f"{indent}}}"]
    return "\n".join(lines)


def program(random: Random) -> tuple[Node, ...]:
    return tuple(_node(random, (), 0) for _ in range(random.randint(1, 3)))


def _node(random: Random, iterators: tuple[str, ...], depth: int) -> Node:
    if depth == 0 or (depth < 2 and random.random() < 0.5):
        name = "ijk"[depth]
        first = Affine((), random.choice((0, 0, 1)))
        if iterators and random.random() < 0.2:
            first = Affine(((iterators[-1], 1),), random.choice((0, 1)))
        last = Affine(((random.choice(PARAMETERS), 1),), random.choice((0, 0, -1)))
        count = random.choice((1, 1, 2, 3))
        body = tuple(_node(random, (*iterators, name), depth + 1) for _ in range(count))
        return Loop(name, first, last, body)
    target = _cell(random, iterators)
    guard = _cell(random, iterators) if random.random() < 0.1 else None
    return Assign(target, random.choice(("=", "=", "+=")), _value(random, iterators, 2), guard)


def _cell(random: Random, iterators: tuple[str, ...]) -> Cell:
    kind = random.random()
    if kind < 0.15:
        return Cell(random.choice(SCALARS))
    if kind < 0.65 or len(iterators) < 2:
        return Cell(random.choice(ONE_DIMENSIONAL), (_subscript(random, iterators),))
    return Cell(random.choice(TWO_DIMENSIONAL), tuple(_subscript(random, iterators) for _ in range(2)))


def _subscript(random: Random, iterators: tuple[str, ...]) -> Affine:
    terms: tuple[tuple[str, int], ...] = ((random.choice(iterators), 1),)
    if len(iterators) > 1 and random.random() < 0.15:
        terms = tuple((name, 1) for name in iterators[:2])
    return Affine(terms, random.choice((1, 1, 1, 0, 2)))


def _value(random: Random, iterators: tuple[str, ...], depth: int) -> Expression:
    if depth == 0 or random.random() < 0.3:
        kind = random.random()
        if kind < 0.75:
            return _cell(random, iterators)
        return Number(random.choice(("0", "1", "0.5", "3"))) if kind < 0.9 else Affine(((iterators[0], 1),))
    operator = random.choice("++**-")
    return Binary(operator, *(_value(random, iterators, depth - 1) for _ in range(2)))
