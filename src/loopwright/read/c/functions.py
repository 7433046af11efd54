"""Functions the file defines as one `return`: they can be looked into.

Such a function is pure if its expression only reads its parameters and what the region leaves
alone, and calls pure functions.  With integer parameters its value is that of its expression.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from loopwright.model.source import Source
from loopwright.read.c.declarations import declared_name, is_integer_type, type_text
from loopwright.read.c.syntax import field, named_children, text_of, walk


@dataclass(frozen=True, slots=True)
class Function:
    """`name(parameters) { return value; }`; `is_integer` when all its types are wide integers."""

    name: str
    parameters: tuple[str, ...]
    value: Node
    is_integer: bool


def functions_of(source: Source, root: Node) -> tuple[Function, ...]:
    """The functions of a file that are one `return` statement."""
    found = []
    for node in root.named_children:
        function = _function(source, node) if node.type == "function_definition" else None
        if function is not None:
            found.append(function)
    return tuple(found)


def _function(source: Source, node: Node) -> Function | None:
    declarator = node.child_by_field_name("declarator")
    statements = named_children(field(node, "body"))
    if declarator is None or declarator.type != "function_declarator" or len(statements) != 1:
        return None
    if statements[0].type != "return_statement" or len(named_children(statements[0])) != 1:
        return None
    parameters = []
    types = [type_text(source, node, qualifiers=False)]
    for part in named_children(field(declarator, "parameters")):
        inner = part.child_by_field_name("declarator")
        named = declared_name(source, inner) if inner is not None else None
        if named is None:
            return None
        parameters.append(named[0])
        types.append(type_text(source, part, qualifiers=False) if named[1] == 0 else "pointer")
    name = text_of(source, field(declarator, "declarator"))
    value = named_children(statements[0])[0]
    return Function(name, tuple(parameters), value, all(is_integer_type(kind) for kind in types))


def assigns_something(function: Function) -> bool:
    return any(part.type in ("assignment_expression", "update_expression") for part in walk(function.value))


def mentioned(source: Source, function: Function) -> tuple[tuple[str, bool], ...]:
    """The names in the expression besides the parameters, and whether each is called."""
    found = []
    for part in walk(function.value):
        if part.type != "identifier" or text_of(source, part) in function.parameters:
            continue
        parent = part.parent
        is_call = parent is not None and parent.type == "call_expression"
        called = is_call and parent is not None and field(parent, "function") == part
        found.append((text_of(source, part), called))
    return tuple(found)
