"""Statements `if (c) b`, whose condition can be tested for several iterations before these run."""

from __future__ import annotations

from loopwright.c.loops import PREFIX, only_statement
from loopwright.c.syntax import Node, field, operator, without_parentheses
from loopwright.lazy_dataclass import dataclass

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

JUNCTIONS = ("&&", "||")


@dataclass(frozen=True)
class ConditionalStatement:
    """`if (c) b` without `else`, where c is 0 or 1: a comparison, or several of them with && || and !."""

    condition: Node

    @property
    def place(self) -> tuple[int, int]:
        """The place of c in the text of the statement, without parentheses around it."""
        return self.condition.start - len(PREFIX), self.condition.end - len(PREFIX)


def conditional_statement(text: str) -> ConditionalStatement | None:
    """The condition of a text that is one such statement."""
    statement = only_statement(text)
    if statement is None or statement.type != "if_statement":
        return None
    if statement.child_by_field_name("alternative") is not None:
        return None
    condition = without_parentheses(field(statement, "condition"))
    return ConditionalStatement(condition) if is_truth_value(condition) else None


def is_truth_value(node: Node) -> bool:
    """Whether an expression is a comparison, or several of them: 0 or 1."""
    match node.type:
        case "binary_expression":
            return operator(node) in (*COMPARISONS, *JUNCTIONS)
        case "unary_expression":
            return operator(node) == "!"
        case _:
            return False
