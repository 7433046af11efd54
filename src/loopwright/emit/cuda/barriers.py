"""Notes for barriers of the threads of a block or of its warps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Int, Relation, Var
from loopwright.loops.nodes import Block, For, Node, Remark, Remarked
from loopwright.loops.traverse import subprograms, with_children
from loopwright.model.annotations import BlockLoop, ThreadLoop


@dataclass(frozen=True, slots=True)
class BarrierNote(Remark):
    """A barrier of the block, or of each warp, after the statement."""

    of_warp: bool = False


@dataclass(frozen=True, slots=True)
class ArriveNote(Remark):
    """An arrival at a split barrier before the statement, in the last iteration of a loop."""

    test: str


@dataclass(frozen=True, slots=True)
class WaitNote(Remark):
    """A wait for all arrivals at a split barrier after the statement, in a step of a march."""

    march: str


@dataclass(frozen=True, slots=True)
class SplitNote(Remark):
    """The statement contains split barriers, with separate arrival and wait."""


def with_last_barrier(march: For, is_apart: Callable[[Node], bool]) -> For:
    """A march with one barrier of the block at the end of each step: buffers alternate between steps.

    It is split if a step ends with a phase that `is_apart`: threads arrive before that and wait after it, so
    early ones compute in the meantime.
    """
    node = march.body
    if not any(isinstance(one, Remarked) and one.remark == BarrierNote() for one in subprograms(node)):
        return march
    *first, last = node.children if isinstance(node, Block) else (node,)
    ended = _of_warps(last)
    split = _arriving(ended, is_apart)
    barrier = BarrierNote() if split is None else WaitNote(march.iterator)
    done = Remarked(barrier, _unmarked(ended) if split is None else split)
    return replace(march, body=Block((*map(_of_warps, first), done)))


def is_split(march: For) -> bool:
    return any(isinstance(one, Remarked) and isinstance(one.remark, WaitNote) for one in subprograms(march))


def _arriving(node: Node, is_apart: Callable[[Node], bool]) -> Node | None:
    """The last part of a step with a note before its last phase; None if that is not independent."""
    match node:
        case For(name, _, Compare(Relation.LE, Var(tested), Int(last)), 1, Block((*first, phase))) if (
            name == tested and not is_mapped(node) and is_apart(phase)
        ):
            noted = Remarked(ArriveNote(f"{name} == {last}"), phase)
            return replace(node, body=Block((*first, noted)))
        case Remarked(BarrierNote(), For() as phase) if is_mapped(phase) and is_apart(phase):
            return Remarked(ArriveNote("1"), phase)
        case _:
            return None


def is_mapped(node: Node) -> bool:
    """Whether a loop iterates over blocks or threads."""
    if not isinstance(node, For):
        return False
    return node.annotation(BlockLoop) is not None or node.annotation(ThreadLoop) is not None


def _of_warps(node: Node) -> Node:
    inner = with_children(node, _of_warps)
    if isinstance(inner, Remarked) and inner.remark == BarrierNote():
        return Remarked(BarrierNote(of_warp=True), inner.body)
    return inner


def _unmarked(node: Node) -> Node:
    """Remove a barrier of warps if one of the block follows."""
    match node:
        case Remarked(BarrierNote(), For() as body):
            return body
        case _:
            return node
