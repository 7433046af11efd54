"""What is in a region, as plain data: its statements, and its new loops."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.emit.region import Loops, named_loops
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import children, subprograms
from loopwright.model.annotations import Unrolled
from loopwright.model.program import Program
from loopwright.rewrite.request import LoopReport, StatementReport


def statements_of(program: Program, node: Node | None) -> tuple[StatementReport, ...]:
    """The statements with their copies in `node`; without one, each is there once."""
    calls = [part.name for part in subprograms(node) if isinstance(part, Call)] if node is not None else []
    return tuple(
        StatementReport(
            statement.name,
            next(iter(program.labels_on(statement)), None),
            statement.body.place.line,
            " ".join(statement.body.place.text.split()) + statement.body.terminator,
            statement.iterators,
            1 if node is None else calls.count(statement.name),
        )
        for statement in program.statements
    )


def loops_of_text(loops: Loops) -> tuple[LoopReport, ...]:
    """The loops in the order of the text, outer ones first."""
    return tuple(_loops(named_loops(loops), 0))


def _loops(node: Node, depth: int) -> Iterator[LoopReport]:
    inner = depth
    if isinstance(node, For):
        names = dict.fromkeys(part.name for part in subprograms(node) if isinstance(part, Call))
        parallel, vector = node.parallel is not None, node.vector is not None
        unrolled = node.annotation(Unrolled)
        factor = 1 if unrolled is None else unrolled.factor
        yield LoopReport(node.iterator, depth, parallel, vector, factor, tuple(names))
        inner = depth + 1
    for child in children(node):
        yield from _loops(child, inner)
