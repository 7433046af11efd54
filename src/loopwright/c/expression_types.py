"""The type C gives an integer expression, from the types of its names."""

from __future__ import annotations

from functools import reduce
from typing import Protocol

from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.types import INT, UNSIGNED_LONG, CType, Unknown, common, literal_type, promoted

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class NameTypes(Protocol):
    """What the names at a place are."""

    def name_type(self, name: Node) -> CType: ...

    def result_type(self, function: str) -> CType | None:
        """What a function of the file returns; None where it is none."""

    def written_type(self, text: str) -> CType:
        """What a cast to `text` makes of a value."""


def integer_type(node: Node, scope: NameTypes) -> CType:
    """The type of an expression; unknown where a name's is, or where it is not an integer expression."""
    node = without_parentheses(node)
    match node.type:
        case "number_literal":
            return literal_type(node.text)
        case "char_literal":
            return INT
        case "sizeof_expression":
            return UNSIGNED_LONG
        case "cast_expression":
            return scope.written_type(field(node, "type").text)
        case "update_expression":
            return integer_type(field(node, "argument"), scope)
        case "unary_expression":
            return INT if operator(node) == "!" else promoted(integer_type(field(node, "argument"), scope))
        case "binary_expression" if operator(node) in (*COMPARISONS, "&&", "||"):
            return INT
        case "binary_expression" if operator(node) in ("<<", ">>"):
            return promoted(integer_type(field(node, "left"), scope))
        case "binary_expression":
            return common_type([field(node, "left"), field(node, "right")], scope)
        case "conditional_expression":
            return common_type([field(node, "consequence"), field(node, "alternative")], scope)
        case "call_expression":
            return _call_type(node, scope)
        case "identifier":
            return scope.name_type(node)
        case _:
            return Unknown(f"'{node.text}' is not read as an integer expression")


def common_type(nodes: list[Node], scope: NameTypes) -> CType:
    """What operands are converted to, one of them at least."""
    return reduce(common, [promoted(integer_type(node, scope)) for node in nodes])


def _call_type(node: Node, scope: NameTypes) -> CType:
    """That of a function of the file; a macro like `min` is taken to have that of its arguments."""
    name = field(node, "function").text
    known = scope.result_type(name)
    arguments = named_children(field(node, "arguments"))
    if known is not None or len(arguments) != 2:
        return known or Unknown(f"what '{name}' returns is not known")
    return common_type(arguments, scope)
