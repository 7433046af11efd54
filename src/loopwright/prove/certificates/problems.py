"""A program and its schedule, or a whole transformation, as a problem for the checker."""

from __future__ import annotations

from loopwright.loops.nodes import Node
from loopwright.prove.certificates.covers import covers
from loopwright.prove.certificates.guides import guide
from loopwright.prove.certificates.specification import specification
from loopwright.prove.certificates.ties import ties, with_positions
from loopwright.prove.certificates.words import Words, listed, program, vector
from loopwright.prove.obligations.timetable import Timetable


def scan_problem(table: Timetable, node: Node, *, tied: bool = False) -> str:
    """That `node` runs what `table` says; GaveUp where it cannot be put so.

    `tied`: instances may have equal times, and are told apart by their places in the program.
    """
    parts = (*specification(table), *program(node, table.hint), *proposal(table, node, tied=tied))
    return " ".join(("scan", *parts))


def proposal(table: Timetable, node: Node, *, tied: bool = False) -> Words:
    yield from guide(with_positions(table, node) if tied else table, node)
    yield from covers(table, node)
    yield from listed(ties(table, node) if tied else [], vector)
