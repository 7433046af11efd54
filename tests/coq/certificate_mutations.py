"""Certificates with something changed, each kind of change by its name: what an attacker would try."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias


@dataclass(frozen=True)
class Sum:
    """`farkas`, or `cut`: facts, each by how many are skipped before it, with factors."""

    parts: tuple[tuple[int, int], ...]
    divisor: int = 0
    """0 where the sum is a contradiction."""
    rest: Tree | None = None


@dataclass(frozen=True)
class Distinction:
    """`split`, with its term, or `branches`, with the number of a fact."""

    word: str
    numbers: tuple[int, ...]
    below: tuple[Tree, ...]


Tree: TypeAlias = Sum | Distinction


def read(words: str) -> list[Tree]:
    left = iter(words.split())
    return [_tree(left) for _ in range(int(next(left)))]


def _tree(words: Iterator[str]) -> Tree:
    word = next(words)
    if word in ("farkas", "cut"):
        parts = tuple((int(next(words)), int(next(words))) for _ in range(int(next(words))))
        return Sum(parts) if word == "farkas" else Sum(parts, int(next(words)), _tree(words))
    first = int(next(words))
    if word == "split":
        numbers = (first, *(int(next(words)) for _ in range(int(next(words)))))
        return Distinction(word, numbers, (_tree(words), _tree(words)))
    assert word == "branches"
    return Distinction(word, (first,), tuple(_tree(words) for _ in range(int(next(words)))))


def written(trees: list[Tree]) -> str:
    return " ".join((str(len(trees)), *(word for one in trees for word in _words(one))))


def _words(tree: Tree) -> Iterator[str]:
    match tree:
        case Sum(parts, divisor, rest):
            yield from ("farkas" if rest is None else "cut", str(len(parts)))
            yield from (str(number) for part in parts for number in part)
            if rest is not None:
                yield str(divisor)
                yield from _words(rest)
        case Distinction("split", (first, *others), below):
            yield from ("split", str(first), str(len(others)), *map(str, others))
            for one in below:
                yield from _words(one)
        case Distinction(word, numbers, below):
            yield from (word, *map(str, numbers), str(len(below)))
            for one in below:
                yield from _words(one)


def _places(tree: Tree) -> int:
    below = tree.below if isinstance(tree, Distinction) else (tree.rest,) if tree.rest is not None else ()
    return 1 + sum(map(_places, below))


def _changed(tree: Tree, place: int, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with the part at this place, counted from the top, changed."""
    if place == 0:
        return change(tree)
    place -= 1
    if isinstance(tree, Sum):
        return tree if tree.rest is None else replace(tree, rest=_changed(tree.rest, place, change))
    below: list[Tree] = []
    for one in tree.below:
        size = _places(one)
        below.append(_changed(one, place, change) if 0 <= place < size else one)
        place -= size
    return replace(tree, below=tuple(below))


def _sum(tree: Tree, change: Callable[[list[tuple[int, int]]], None]) -> Tree:
    if not isinstance(tree, Sum) or not tree.parts:
        return tree
    parts = list(tree.parts)
    change(parts)
    return replace(tree, parts=tuple(parts))


def _drop_fact(chance: random.Random, tree: Tree) -> Tree:
    return _sum(tree, lambda parts: parts.__delitem__(chance.randrange(len(parts))))


def _change_sign(chance: random.Random, tree: Tree) -> Tree:
    def change(parts: list[tuple[int, int]]) -> None:
        k = chance.randrange(len(parts))
        parts[k] = (parts[k][0], -parts[k][1])

    return _sum(tree, change)


def _other_fact(chance: random.Random, tree: Tree) -> Tree:
    def change(parts: list[tuple[int, int]]) -> None:
        k = chance.randrange(len(parts))
        parts[k] = (max(0, parts[k][0] + chance.choice((-1, 1, 2))), parts[k][1])

    return _sum(tree, change)


def _swap_factors(chance: random.Random, tree: Tree) -> Tree:
    def change(parts: list[tuple[int, int]]) -> None:
        j, k = chance.randrange(len(parts)), chance.randrange(len(parts))
        (first, a), (second, b) = parts[j], parts[k]
        parts[j], parts[k] = (first, b), (second, a)

    return _sum(tree, change)


def _other_divisor(chance: random.Random, tree: Tree) -> Tree:
    if isinstance(tree, Sum) and tree.rest is not None:
        return replace(tree, divisor=max(1, tree.divisor + chance.choice((-1, 1, tree.divisor))))
    return tree


def _without_cut(_: random.Random, tree: Tree) -> Tree:
    return tree.rest if isinstance(tree, Sum) and tree.rest is not None else tree


def _missing_case(chance: random.Random, tree: Tree) -> Tree:
    if not isinstance(tree, Distinction) or not tree.below:
        return tree
    if tree.word == "branches":
        kept = list(tree.below)
        del kept[chance.randrange(len(kept))]
        return replace(tree, below=tuple(kept))
    return tree.below[chance.randrange(2)]


def _swapped_cases(_: random.Random, tree: Tree) -> Tree:
    return replace(tree, below=tree.below[::-1]) if isinstance(tree, Distinction) else tree


def _other_term(chance: random.Random, tree: Tree) -> Tree:
    if not isinstance(tree, Distinction):
        return tree
    numbers = list(tree.numbers)
    numbers[chance.randrange(len(numbers))] += chance.choice((-1, 1))
    return replace(tree, numbers=tuple(abs(one) if tree.word == "branches" else one for one in numbers))


CHANGES: dict[str, Callable[[random.Random, Tree], Tree]] = {
    "a fact less": _drop_fact,
    "another sign": _change_sign,
    "another fact": _other_fact,
    "factors exchanged": _swap_factors,
    "another divisor": _other_divisor,
    "a cut less": _without_cut,
    "a case less": _missing_case,
    "cases exchanged": _swapped_cases,
    "another term": _other_term,
}


def mutated(words: str, chance: random.Random) -> str:
    """One to three changes: inside of certificates, or of which certificate is for which condition."""
    trees = read(words)
    for _ in range(chance.randint(1, 3)):
        j, k = chance.randrange(len(trees)), chance.randrange(len(trees))
        match chance.randrange(12):
            case 0:
                trees[j] = trees[k]
            case 1:
                trees[j], trees[k] = trees[k], trees[j]
            case 2 if len(trees) > 1:
                del trees[j]
            case _:
                change = chance.choice(list(CHANGES.values()))
                place = chance.randrange(_places(trees[j]))
                trees[j] = _changed(trees[j], place, partial(change, chance))
    return written(trees)
