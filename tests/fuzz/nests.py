"""Small trees of C: loops that count up, conditions and assignments.

They can be rewritten by other code than Loopwright's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tests.fuzz.programs import EDGE, Array, Scope, bound, condition, place, value_of


@dataclass(frozen=True)
class Assign:
    target: str
    operator: str
    value: str


@dataclass(frozen=True)
class Words:
    """A statement that is not looked into."""

    text: str


@dataclass(frozen=True)
class If:
    condition: str
    then: tuple[Node, ...]
    other: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Loop:
    """for (kind name = low; name < high; name += by)"""

    name: str
    low: str
    high: str
    body: tuple[Node, ...]
    kind: str = "int"
    by: int = 1


@dataclass(frozen=True)
class Block:
    """Another kind of loop, or a scope where the head is empty; `tail` is what comes after the brace."""

    head: str
    body: tuple[Node, ...]
    tail: str = ""


Node: TypeAlias = Assign | Words | If | Loop | Block
Wording: TypeAlias = Callable[[str], str]


def random_nest(scope: Scope, depth: int = 0) -> tuple[Node, ...]:
    """Some statements inside the loops of the scope, with at most three loops around each."""
    rng = scope.rng
    found: list[Node] = []
    for _ in range(rng.choice((1, 1, 1, 1, 2) if depth != 1 else (1, 1, 2))):
        kind = rng.random()
        if depth == 0 or kind < (1, 0.35, 0.12, 0)[depth]:
            name = "ijk"[depth]
            inner = replace(scope, loops=(*scope.loops, name))
            low = rng.choice(("0", "1", "1", "1", "2", *scope.loops[-1:]))
            found.append(Loop(name, low, bound(scope), random_nest(inner, depth + 1)))
        elif kind < 0.47:
            found.append(_protected(scope))
        elif kind < 0.55:
            other = (assignment(scope),) if rng.random() < 0.3 else ()
            found.append(If(condition(scope), (assignment(scope),), other))
        else:
            found.append(assignment(scope))
    return tuple(found)


def random_loop(scope: Scope) -> Loop:
    """One loop with one statement: cheap to decide, and what is done to the statement shows."""
    inner = replace(scope, loops=("i",))
    body = _protected(inner) if scope.rng.random() < 0.5 else assignment(inner)
    return Loop("i", scope.rng.choice(("0", "1", "1", "2")), bound(scope), (body,))


def _protected(scope: Scope) -> If:
    """An operation that is defined where a condition holds."""
    rng = scope.rng
    one, other = place(scope, integer=True), place(scope)
    test, value = rng.choice(
        (
            (f"{one} != 0", f"({_atom(scope)} {rng.choice('/%' if '.' not in other else '/')} {one})"),
            (f"{one} > 0", f"(100 / {one})"),
            (f"{one} >= 0 && {one} < 8", f"(7 << {one})"),
            (f"{other} < 100 && {other} > -100", f"(int)({other})"),
            (f"{one} >= 0 && {one} < {EDGE}", f"{scope.arrays[0].name}{f'[{one}]' * scope.arrays[0].rank}"),
        )
    )
    otherwise = (assignment(scope),) if rng.random() < 0.2 else ()
    rows = [each.name for each in scope.arrays if each.rank == 1]
    if rows and rng.random() < 0.2:  # where no datum allows it, sizes may be beyond the array
        cell = f"{rng.choice(rows)}[{rng.choice(scope.loops)} + {rng.choice((9, 16, 20))}]"
        return If(f"{other} > {rng.choice((2, 5, 9))}", (Assign(cell, "=", _atom(scope)),), otherwise)
    return If(test, (Assign(place(scope, written=True), rng.choice(("=", "=", "+=")), value),), otherwise)


def _atom(scope: Scope) -> str:
    return scope.rng.choice((*scope.loops, "n", "100", "u", place(scope, integer=True)))


def assignment(scope: Scope) -> Assign:
    operator = scope.rng.choice(("=", "=", "+=", "+=", "-=", "*="))
    return Assign(place(scope, written=True), operator, value_of(scope, 1))


def lines(nodes: Sequence[Node], margin: str = "  ") -> Iterator[str]:
    for node in nodes:
        match node:
            case Assign(target, operator, value):
                yield f"{margin}{target} {operator} {value};"
            case Words(text):
                yield f"{margin}{text}"
            case If(test, then, other):
                yield f"{margin}if ({test}) {{"
                yield from lines(then, margin + "  ")
                if other:
                    yield f"{margin}}} else {{"
                    yield from lines(other, margin + "  ")
                yield f"{margin}}}"
            case Loop(name, low, high, body, kind, by):
                step = f"{name}++" if by == 1 else f"{name} += {by}"
                yield f"{margin}for ({kind} {name} = {low}; {name} < {high}; {step}) {{"
                yield from lines(body, margin + "  ")
                yield f"{margin}}}"
            case Block(head, body, tail):
                yield f"{margin}{head} {{" if head else f"{margin}{{"
                yield from lines(body, margin + "  ")
                yield f"{margin}}}{tail}"


def put(name: str, text: str, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes with a text in place of an iterator."""

    def words(old: str) -> str:
        return re.sub(rf"\b{name}\b", lambda _: text, old)

    return tuple(map_words(words, node) for node in nodes)


def map_words(words: Wording, node: Node) -> Node:
    """The node with every expression in it changed by the function."""

    def all_of(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(map_words(words, one) for one in nodes)

    match node:
        case Assign(target, operator, value):
            return Assign(words(target), operator, words(value))
        case Words(text):
            return Words(words(text))
        case If(test, then, other):
            return If(words(test), all_of(then), all_of(other))
        case Loop(low=low, high=high, body=body):
            return replace(node, low=words(low), high=words(high), body=all_of(body))
        case Block(head, body, tail):
            return Block(words(head), all_of(body), words(tail))


def names_in(nodes: Sequence[Node]) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines(nodes))))


def random_scope(rng: random.Random, arrays: Sequence[Array], scalars: Sequence[Array]) -> Scope:
    """Names, among which the first array is more frequent than others: statements then depend on others."""
    return Scope(rng, (arrays[0], *arrays), tuple(scalars), (), rng.random() < 0.1, True, frozenset())
