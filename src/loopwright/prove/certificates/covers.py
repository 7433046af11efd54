"""Which call runs an instance, and in which iterations: `proofs/Coverage.v`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.prove.certificates.specification import shapes_of
from loopwright.prove.coq.words import Words, expr, is_marked, listed
from loopwright.prove.obligations.timetable import Timetable
from loopwright.prove.obligations.witnesses import Witness, witnesses

Turn: TypeAlias = str | int
"""A word, or the number of the iterator whose value is to be given."""
Path: TypeAlias = tuple[tuple[Turn, ...], ...]


def covers(table: Timetable, program: Node) -> Words:
    """For each shape, paths one of which leads to each of its instances."""
    paths = list(_paths(program, (), 0))

    def path(found: Witness) -> Words:
        return listed(paths[found.position], lambda turn: _turn(turn, found))

    return listed(shapes_of(table), lambda item: listed(witnesses(item[1]), path))


def _turn(turn: tuple[Turn, ...], found: Witness) -> Words:
    for part in turn:
        if isinstance(part, int):
            yield from expr(found.iterators[part])
        else:
            yield part


def _paths(node: Node, so_far: Path, depth: int) -> Iterator[Path]:
    """For each call, in the order of the text, the turns from the root to it.

    A let counts as a loop of one iteration: it has a value among the witnesses, which is not needed.
    """
    match node:
        case Call():
            yield so_far
        case Block(children):
            for k, child in enumerate(children):
                yield from _paths(child, (*so_far, ("child", str(k))), depth)
        case If(_, then, orelse):
            yield from _paths(then, (*so_far, ("yes",)), depth)
            if orelse is not None:
                yield from _paths(orelse, (*so_far, ("no",)), depth)
        case For(body=body):
            mark: Path = (("inside",),) if is_marked(node) else ()
            yield from _paths(body, (*so_far, *mark, ("iteration", depth)), depth + 1)
        case Let(body=body):
            yield from _paths(body, (*so_far, ("inside",)), depth + 1)
        case Remarked(body=body):
            yield from _paths(body, (*so_far, ("inside",)), depth)
        case _:
            assert_never(node)
