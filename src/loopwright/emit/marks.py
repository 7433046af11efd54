"""Marks of the schedule, `parallel 2` and `vectorize 2`, put onto the loops they mean.

The number is the schedule dimension a loop scans, which is the number in its iterator's name.  A
dimension that takes one value has no loop, and then there is nothing to mark.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import assert_never

from loopwright.loops.nodes import Block, Call, For, If, Let, Mark, Node

VECTORIZE = "vectorize"
_MARK = re.compile(r"(parallel|vectorize) (\d+)")


def on_loops(node: Node) -> Node:
    """`node` with its marks resolved: parallel loops say so, vector loops are below `VECTORIZE`."""
    return _marked(node, frozenset())


def _marked(node: Node, wanted: frozenset[tuple[str, int]]) -> Node:
    match node:
        case Call():
            return node
        case Block(nodes):
            return Block(tuple(_marked(child, wanted) for child in nodes))
        case If(test, then, orelse):
            return If(test, _marked(then, wanted), None if orelse is None else _marked(orelse, wanted))
        case Let(name, value, body):
            return Let(name, value, _marked(body, wanted))
        case Mark(text, body):
            found = _MARK.fullmatch(text)
            if found is None:
                return Mark(text, _marked(body, wanted))
            return _marked(body, wanted | {(found[1], int(found[2]))})
        case For():
            return _loop(node, wanted)
        case _:
            assert_never(node)


def _loop(loop: For, wanted: frozenset[tuple[str, int]]) -> Node:
    number = re.search(r"\d+$", loop.iterator)
    here = {kind for kind, dimension in wanted if number is not None and dimension == int(number[0])}
    rest = frozenset(one for one in wanted if one[0] not in here)
    body = _marked(loop.body, rest)
    marked = replace(loop, body=body, parallel=loop.parallel or "parallel" in here)
    return Mark(VECTORIZE, marked) if VECTORIZE in here else marked
