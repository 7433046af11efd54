"""Generates small functions of MLIR's affine dialect, and the results of passes, with mistakes in some.

A function is a tree that is printed as MLIR, for `prove`, and as C, which is run.  Its integers, which wrap
around, are unsigned there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from tests.fuzz.judge import Pair
from tests.fuzz.programs import EDGE, PARAMETERS, Array

SIZES = ("n", "m")
TYPES = {"f64": "double", "f32": "float", "i32": "unsigned"}
_SIGNS = {"+": "add", "-": "sub", "*": "mul"}
FAULTS = 0.45


@dataclass(frozen=True)
class Linear:
    """A sum of names with factors, and a number."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def plus(self, other: Linear, times: int = 1) -> Linear:
        found = dict(self.terms)
        for name, factor in other.terms:
            found[name] = found.get(name, 0) + times * factor
        kept = tuple(sorted((name, factor) for name, factor in found.items() if factor))
        return Linear(kept, self.constant + times * other.constant)

    def put(self, name: str, value: Linear) -> Linear:
        factor = dict(self.terms).get(name, 0)
        rest = Linear(tuple(one for one in self.terms if one[0] != name), self.constant)
        return rest.plus(value, factor)

    def text(self, sign: str = "") -> str:
        parts = [f"{sign}{one}{'' if factor == 1 else f' * {factor}'}" for one, factor in self.terms]
        return " + ".join([*parts, *([str(self.constant)] if self.constant or not parts else [])])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.terms)


def name(text: str) -> Linear:
    return Linear(((text, 1),))


def number(value: int) -> Linear:
    return Linear((), value)


@dataclass(frozen=True)
class Cell:
    array: str
    at: tuple[Linear, ...]


@dataclass(frozen=True)
class Sum:
    sign: str
    left: Value
    right: Value


@dataclass(frozen=True)
class Store:
    target: Cell
    value: Value


@dataclass(frozen=True)
class For:
    """From the largest of `low` to before the smallest of `high`."""

    name: str
    low: tuple[Linear, ...]
    high: tuple[Linear, ...]
    body: tuple[Node, ...]
    step: int = 1


Value: TypeAlias = Cell | Sum | int
Node: TypeAlias = Store | For
Nodes: TypeAlias = tuple[Node, ...]


@dataclass(frozen=True)
class AffinePair:
    """A function and another one, as trees, as MLIR and as C."""

    trees: tuple[Nodes, Nodes]
    texts: tuple[str, str]
    pair: Pair
    is_floating: bool


def affine_pair(seed: int) -> AffinePair:
    """The pair of this number."""
    rng = random.Random(f"affine {seed}")
    kind = rng.choice(tuple(TYPES))
    arrays = tuple(Array(f"A{k}", TYPES[kind], rng.choice((1, 1, 2))) for k in range(rng.choice((1, 2, 2))))
    old = _random_nodes(rng, arrays)
    new = old
    for count in range(rng.choice((1, 1, 2))):
        new = _changed(rng, new, f"o{count}")
    if new == old or rng.random() < FAULTS:
        new = _damaged(rng, new)
    texts = _mlir(kind, arrays, old), _mlir(kind, arrays, new)
    pair = Pair(_c(arrays, old), _c(arrays, new), arrays, guarded=True, from_zero=True)
    return AffinePair((old, new), texts, pair, kind.startswith("f"))


def _random_nodes(rng: random.Random, arrays: tuple[Array, ...], loops: tuple[str, ...] = ()) -> Nodes:
    count = rng.choice((1, 1, 2) if len(loops) != 1 else (1, 1, 1, 2))
    found: list[Node] = []
    for _ in range(count):
        if not loops or (len(loops) == 1 and rng.random() < 0.45):
            low = rng.choice((number(1), number(1), number(2), number(0), *map(name, loops)))
            high = rng.choice((*map(name, SIZES), name("n"), number(10), Linear((("n", 1),), 1)))
            iterator = "ijk"[len(loops)]
            body = _random_nodes(rng, arrays, (*loops, iterator))
            found.append(For(iterator, (low,), (high,), body, rng.choice((1, 1, 1, 1, 2))))
        else:
            # each cell once: a compiler of C does not read x and y for (x + y) - x
            cells = list(dict.fromkeys(_cell(rng, arrays, loops) for _ in range(rng.choice((1, 2, 2, 3)))))
            value: Value = cells[0]
            for other in cells[1:] + [rng.randint(1, 3)] * rng.randrange(2):
                value = Sum(rng.choice("++-*"), value, other)
            found.append(Store(_cell(rng, arrays, loops), value))
    return tuple(found)


def _cell(rng: random.Random, arrays: tuple[Array, ...], loops: tuple[str, ...]) -> Cell:
    one = rng.choice(arrays)
    subscripts = (name(rng.choice(loops)).plus(number(rng.choice((0, 0, 0, 1, -1)))) for _ in range(one.rank))
    return Cell(one.name, tuple(subscripts))


def _put(iterator: str, value: Linear, nodes: Nodes) -> Nodes:
    """The nodes with a sum in place of an iterator."""
    return tuple(_map(lambda one: one.put(iterator, value), node) for node in nodes)


def _map(change: Callable[[Linear], Linear], node: Node) -> Node:
    match node:
        case Store(target, value):
            return Store(_map_cell(change, target), _map_value(change, value))
        case For(low=low, high=high, body=body):
            inside = tuple(_map(change, one) for one in body)
            return replace(node, low=tuple(map(change, low)), high=tuple(map(change, high)), body=inside)


def _map_cell(change: Callable[[Linear], Linear], cell: Cell) -> Cell:
    return replace(cell, at=tuple(map(change, cell.at)))


def _map_value(change: Callable[[Linear], Linear], value: Value) -> Value:
    match value:
        case Cell():
            return _map_cell(change, value)
        case Sum(sign, left, right):
            return Sum(sign, _map_value(change, left), _map_value(change, right))
    return value


def _changed(rng: random.Random, nodes: Nodes, fresh: str) -> Nodes:
    """The nodes with one loop done in another way, which need not be right."""
    where = rng.choice([k for k, node in enumerate(nodes) if isinstance(node, For)] or [-1])
    if where < 0:
        return nodes
    loop = nodes[where]
    assert isinstance(loop, For)
    if any(isinstance(one, For) for one in loop.body) and rng.random() < 0.4:
        made: Nodes | None = (replace(loop, body=_changed(rng, loop.body, fresh)),)
    elif len(nodes) > 1 and rng.random() < 0.3:
        return _joined(nodes) if rng.random() < 0.5 else (*nodes[1:], nodes[0])
    else:
        made = rng.choice(PASSES)(rng, loop, fresh)
    return nodes if made is None else (*nodes[:where], *made, *nodes[where + 1 :])


def _joined(nodes: Nodes) -> Nodes:
    match nodes[:2]:
        case (For() as one, For() as other) if replace(one, body=()) == replace(other, body=()):
            return (replace(one, body=(*one.body, *other.body)), *nodes[2:])
    return nodes


def _reversed(rng: random.Random, loop: For, fresh: str) -> Nodes | None:
    """i -> low + high - 1 - i"""
    if len(loop.low) + len(loop.high) > 2 or loop.step != 1:
        return None
    other = loop.low[0].plus(loop.high[0]).plus(number(-1)).plus(name(loop.name), -1)
    return (replace(loop, body=_put(loop.name, other, loop.body)),)


def _moved(rng: random.Random, loop: For, fresh: str) -> Nodes:
    by = rng.choice((1, 2, -1))
    low, high = (tuple(one.plus(number(by)) for one in side) for side in (loop.low, loop.high))
    body = _put(loop.name, name(loop.name).plus(number(-by)), loop.body)
    return (For(loop.name, low, high, body, loop.step),)


def _exchanged(rng: random.Random, loop: For, fresh: str) -> Nodes | None:
    match loop.body:
        case (For() as inner,) if not any(loop.name in one.names for one in (*inner.low, *inner.high)):
            return (replace(inner, body=(replace(loop, body=inner.body),)),)
    return None


def _split(rng: random.Random, loop: For, fresh: str) -> Nodes | None:
    """Strips of a few iterations."""
    size = rng.choice((2, 3, 4)) * loop.step
    inner = replace(loop, low=(name(fresh),), high=(name(fresh).plus(number(size)), *loop.high))
    return (For(fresh, loop.low, loop.high, (inner,), size),)


def _peeled(rng: random.Random, loop: For, fresh: str) -> Nodes | None:
    if len(loop.low) > 1:
        return None
    first = replace(loop, high=(*loop.high, loop.low[0].plus(number(loop.step))))
    return first, replace(loop, low=(loop.low[0].plus(number(loop.step)),))


def _distributed(rng: random.Random, loop: For, fresh: str) -> Nodes | None:
    if len(loop.body) < 2:
        return None
    return tuple(replace(loop, body=(one,)) for one in loop.body)


def _unrolled(rng: random.Random, loop: For, fresh: str) -> Nodes | None:
    """Two iterations at a time, for loops of a number of iterations that is even."""
    if loop.high != (number(10),) or len(loop.low) > 1 or loop.low[0].terms:
        return None
    again = _put(loop.name, name(loop.name).plus(number(loop.step)), loop.body)
    return (replace(loop, body=(*loop.body, *again), step=2 * loop.step),)


PASSES: tuple[Callable[[random.Random, For, str], Nodes | None], ...] = (
    _reversed, _reversed, _moved, _exchanged, _exchanged, _split, _split, _peeled, _distributed,
    _distributed, _unrolled,
)  # fmt: skip


def _damaged(rng: random.Random, nodes: Nodes) -> Nodes:
    """The nodes with one number in them changed: of a sum, or the step of the first loop."""
    if isinstance(nodes[0], For) and rng.random() < 0.15:
        return (replace(nodes[0], step=rng.choice((1, 2, 3))), *nodes[1:])
    places = sum(1 for node in nodes for _ in _linears(node))
    wanted, seen = rng.randrange(places), -1

    def change(one: Linear) -> Linear:
        nonlocal seen
        seen += 1
        return one.plus(number(rng.choice((-1, 1)))) if seen == wanted else one

    return tuple(_map(change, node) for node in nodes)


def _linears(node: Node) -> Iterator[Linear]:
    match node:
        case For(low=low, high=high, body=body):
            yield from (*low, *high)
            for one in body:
                yield from _linears(one)
        case Store(target, value):
            yield from target.at
            yield from _linears_of(value)


def _linears_of(value: Value) -> Iterator[Linear]:
    match value:
        case Cell(at=at):
            yield from at
        case Sum(left=left, right=right):
            yield from _linears_of(left)
            yield from _linears_of(right)


def _c(arrays: tuple[Array, ...], nodes: Nodes) -> str:
    given = ", ".join([PARAMETERS, *(one.declaration for one in arrays), "double *out"])
    lines = (f"  {line}" for one in nodes for line in _c_lines(one))
    return "\n".join([f"void f({given})", "{", *lines, "}", ""])


def _c_lines(node: Node) -> Iterator[str]:
    match node:
        case Store(target, value):
            yield f"{_c_value(target)} = {_c_value(value)};"
        case For(iterator, low, high, body, step):
            first, *others = (one.text() for one in low)
            for one in others:
                first = f"({one} > {first} ? {one} : {first})"
            tests = " && ".join(f"{iterator} < {one.text()}" for one in high)
            yield f"for (int {iterator} = {first}; {tests}; {iterator} += {step}) {{"
            for one_node in body:
                yield from (f"  {line}" for line in _c_lines(one_node))
            yield "}"


def _c_value(value: Value) -> str:
    match value:
        case Cell(array, at):
            return array + "".join(f"[{one.text()}]" for one in at)
        case Sum(sign, left, right):
            return f"({_c_value(left)} {sign} {_c_value(right)})"
    return str(value)


def _mlir(kind: str, arrays: tuple[Array, ...], nodes: Nodes) -> str:
    types = {one.name: f"memref<{f'{EDGE}x' * one.rank}{kind}>" for one in arrays}
    arguments = types | dict.fromkeys(SIZES, "index")
    given = ", ".join(f"%{one}: {text}" for one, text in arguments.items())
    lines = [line for printed in [_Printed(kind, types)] for node in nodes for line in printed.lines(node)]
    zero = "0" if kind.startswith("i") else "0.0"
    constants = [f"%c{k} = arith.constant {zero.replace('0', str(k), 1)} : {kind}" for k in (1, 2, 3)]
    inside = (f"  {one}" for one in (*constants, *lines, "return"))
    return "\n".join([f"func.func @f({given}) {{", *inside, "}", ""])


class _Printed:
    """Operations with names for their results."""

    def __init__(self, kind: str, types: dict[str, str]) -> None:
        self.kind = kind
        self.types = types
        self.count = 0

    def lines(self, node: Node) -> Iterator[str]:
        match node:
            case Store(target, value):
                found: list[str] = []
                result = self.value(value, found)
                yield from found
                yield f"affine.store {result}, {self.cell(target)}"
            case For(iterator, low, high, body, step):
                bounds = f"{_bound('max', low)} to {_bound('min', high)}{f' step {step}' if step > 1 else ''}"
                yield f"affine.for %{iterator} = {bounds} {{"
                for one in body:
                    yield from (f"  {line}" for line in self.lines(one))
                yield "}"

    def cell(self, cell: Cell) -> str:
        return f"%{cell.array}[{', '.join(one.text('%') for one in cell.at)}] : {self.types[cell.array]}"

    def value(self, value: Value, before: list[str]) -> str:
        match value:
            case int():
                return f"%c{value}"
            case Cell():
                return self.named(f"affine.load {self.cell(value)}", before)
            case Sum(sign, left, right):
                operands = ", ".join((self.value(left, before), self.value(right, before)))
                operation = f"arith.{_SIGNS[sign]}{'i' if self.kind.startswith('i') else 'f'}"
                return self.named(f"{operation} {operands} : {self.kind}", before)

    def named(self, operation: str, before: list[str]) -> str:
        self.count += 1
        before.append(f"%v{self.count} = {operation}")
        return f"%v{self.count}"


def _bound(word: str, sums: tuple[Linear, ...]) -> str:
    """A number, or a map of the iterators and sizes that the sums name."""
    if len(sums) == 1 and not sums[0].terms:
        return str(sums[0].constant)
    names = tuple(dict.fromkeys(one for each in sums for one in each.names))
    places = [one for one in names if one not in SIZES], [one for one in names if one in SIZES]
    lettered = zip("ds", places, strict=True)
    called = {one: f"{letter}{k}" for letter, part in lettered for k, one in enumerate(part)}
    texts = (replace(each, terms=tuple((called[one], by) for one, by in each.terms)) for each in sums)
    heads = [", ".join(called[one] for one in part) for part in places]
    given = [", ".join(f"%{one}" for one in part) for part in places]
    body = ", ".join(one.text() for one in texts)
    symbols = (f"[{heads[1]}]", f"[{given[1]}]") if places[1] else ("", "")
    return f"{word * (len(sums)>1)} affine_map<({heads[0]}){symbols[0]} -> ({body})>({given[0]}){symbols[1]}"
