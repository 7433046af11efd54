"""Calls written as the author's statements, with their comments and labels."""

from __future__ import annotations

from loopwright.emit.comments import in_front_of_loops
from loopwright.emit.expressions import expression_to_c
from loopwright.emit.iterator_types import IteratorTypes
from loopwright.emit.labels import statement_labels
from loopwright.emit.substitution import comment_lines, substituted
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Program


class StatementText:
    """What the calls of one program are written as."""

    def __init__(self, program: Program, node: Node, types: IteratorTypes) -> None:
        self.program, self.types = program, types
        calls = [part for part in subprograms(node) if isinstance(part, Call)]
        self.first = {call.name: call for call in reversed(calls)}
        self.elsewhere = in_front_of_loops(node, program.source)

    def lines(self, call: Call) -> list[str]:
        """The statement; the first copy has its comments and its label."""
        statement = self.program.statement(call.name)
        values = (expression_to_c(argument) for argument in call.arguments)
        given = dict(zip(statement.iterators, values, strict=True))
        lines = substituted(self.program, statement, given, self.types)
        if call is not self.first[call.name]:
            return lines
        source, body = self.program.source, statement.body
        lines[0] = statement_labels(self.program, statement) + lines[0]
        if body.trailing is not None:
            behind = comment_lines(source, body.trailing)
            lines = [*lines[:-1], f"{lines[-1]}  {behind[0]}", *behind[1:]]
        own = [place for place in body.leading if place not in self.elsewhere]
        leading = [line for place in own for line in comment_lines(source, place)]
        return [*leading, *lines]
