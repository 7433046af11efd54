"""Loops for a description that has the texts of its statements: OpenScop's.

Every call becomes the statement's text with its iterators replaced, and loops are called what the
iterators are.  A statement without a text stays a call.
"""

from __future__ import annotations

from loopwright.emit.c import program_text
from loopwright.emit.iterator_types import IteratorTypes
from loopwright.emit.literals import is_wide
from loopwright.emit.loop_names import author_named
from loopwright.emit.statement_text import StatementText
from loopwright.emit.style import Style, plain_call
from loopwright.loops.nodes import Call, Node
from loopwright.model.program import Program


def described_text(node: Node, program: Program, *, openmp: bool = False) -> str:
    """The lines of `node`, whose calls are the statements of `program`."""
    named = author_named(node, program, {})
    number = "long long" if is_wide(named) else "int"
    texts = StatementText(program, named, IteratorTypes(number, {}, frozenset()))

    def lines(call: Call) -> list[str]:
        place = program.statement(call.name).body.place
        return texts.lines(call) if place.start < place.end else plain_call(call)

    return program_text(named, Style(number, openmp, lines))
