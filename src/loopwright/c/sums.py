"""Additions to a variable, `x += a + b;`, and what they are made of: the shape of the text alone."""

from __future__ import annotations

from loopwright.c.syntax import Node, field, named_children, operator, parse, walk, without_parentheses
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source

SIGNS = {"+=": 1, "-=": -1}
ASSIGNING = {1: "+=", -1: "-="}

PREFIX = "void f(void) {"


@dataclass(frozen=True)
class AddedSum:
    """`target += first + second;`: the nodes of its parts, and the operators that add each part alone."""

    target: Node
    first: Node
    second: Node
    operators: tuple[str, str]

    @property
    def texts(self) -> tuple[str, str]:
        """The two statements that add one part each."""
        parts = zip(self.operators, (self.first, self.second), strict=True)
        one, other = (f"{self.target.text} {sign} {part.text};" for sign, part in parts)
        return one, other


def added_sum(text: str) -> AddedSum | None:
    """The sum of two parts that the text of a statement adds to a variable, or subtracts from it."""
    statement = only_statement(text)
    assignment = None if statement is None else statement.only_expression
    if assignment is None or assignment.type != "assignment_expression" or operator(assignment) not in SIGNS:
        return None
    value = without_parentheses(field(assignment, "right"))
    if value.type != "binary_expression" or operator(value) not in ("+", "-"):
        return None
    sign = SIGNS[operator(assignment)]
    other = sign if operator(value) == "+" else -sign
    parts = field(value, "left"), field(value, "right")
    return AddedSum(field(assignment, "left"), *parts, (ASSIGNING[sign], ASSIGNING[other]))


def only_statement(text: str) -> Node | None:
    """The syntax of a text that is one statement."""
    root = parse(Source("", f"{PREFIX}{text}}}"))
    if root.has_error or len(root.named_children) != 1:
        return None
    statements = named_children(field(root.named_children[0], "body"))
    return statements[0] if len(statements) == 1 else None


def words_of(text: str) -> tuple[str, ...]:
    """The tokens of one statement, without comments."""
    statement = only_statement(text)
    leaves = [] if statement is None else [one for one in walk(statement) if not one.children]
    return tuple(one.text for one in leaves if one.type != "comment")
