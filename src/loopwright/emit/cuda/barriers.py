"""Where the threads of a block, or those of its warps, wait for each other."""

from __future__ import annotations

from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Block, For, Node, Remark, Remarked
from loopwright.loops.traverse import subprograms, with_children


@dataclass(frozen=True, slots=True)
class BarrierNote(Remark):
    """All threads of the block wait for each other after the statement, or those of each warp."""

    of_warp: bool = False


def with_last_barrier(node: Node) -> Node:
    """A step of a march with one barrier of the block, at its end: buffers take turns between steps."""
    if not any(isinstance(one, Remarked) and one.remark == BarrierNote() for one in subprograms(node)):
        return node
    *first, last = node.children if isinstance(node, Block) else (node,)
    return Block((*map(_of_warps, first), Remarked(BarrierNote(), _unmarked(_of_warps(last)))))


def _of_warps(node: Node) -> Node:
    inner = with_children(node, _of_warps)
    barrier = isinstance(inner, Remarked) and inner.remark == BarrierNote()
    return replace(inner, remark=BarrierNote(of_warp=True)) if barrier else inner


def _unmarked(node: Node) -> Node:
    """Without a barrier of warps where that of the block follows."""
    match node:
        case Remarked(BarrierNote(), For() as body):
            return body
        case _:
            return node
