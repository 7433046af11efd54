"""Where the threads of a block, or those of its warps, wait for each other."""

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
    """All threads of the block wait for each other after the statement, or those of each warp."""

    of_warp: bool = False


@dataclass(frozen=True, slots=True)
class ArriveNote(Remark):
    """Before the statement, threads tell that they have come so far, in the last iteration of a loop."""

    test: str


@dataclass(frozen=True, slots=True)
class WaitNote(Remark):
    """After the statement, threads wait until all of the block have come so far, in a step of a march."""

    march: str


@dataclass(frozen=True, slots=True)
class SplitNote(Remark):
    """The statement has barriers of two parts, to arrive and to wait."""


def with_last_barrier(march: For, is_apart: Callable[[Node], bool]) -> For:
    """A march whose steps have one barrier of the block, at the end: buffers take turns between steps.

    It has two parts where a step ends with a phase that `is_apart`: threads arrive before that, and wait
    after it, so that those that come early compute in the meantime.
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
    """The last part of a step with a note before its last phase; None where that is not apart."""
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
    """Whether a loop is one over blocks or threads."""
    if not isinstance(node, For):
        return False
    return node.annotation(BlockLoop) is not None or node.annotation(ThreadLoop) is not None


def _of_warps(node: Node) -> Node:
    inner = with_children(node, _of_warps)
    if isinstance(inner, Remarked) and inner.remark == BarrierNote():
        return Remarked(BarrierNote(of_warp=True), inner.body)
    return inner


def _unmarked(node: Node) -> Node:
    """Without a barrier of warps where that of the block follows."""
    match node:
        case Remarked(BarrierNote(), For() as body):
            return body
        case _:
            return node
