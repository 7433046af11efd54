"""Functions the file defines: they can be looked into.

Such a function is pure if it assigns only to variables of its own, reads besides its parameters
only what the region leaves alone, and calls pure functions.  One that is a single `return` of
integers is its expression, in subscripts and bounds too.
"""

from __future__ import annotations

from loopwright.c.declarations import declared_name, is_integer_type, type_text
from loopwright.c.syntax import Node, field, named_children, walk, without_parentheses
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """`type name(parameters) body`; `is_integer` when all types of its head are wide integers."""

    type: str
    name: str
    parameters: tuple[str, ...]
    types: tuple[str, ...]
    """Those of the parameters."""
    body: Node
    value: Node | None
    """e, where the body is `return e;` alone."""
    is_integer: bool


def functions_of(root: Node) -> tuple[FunctionDefinition, ...]:
    """The functions a file defines, as far as their heads can be read."""
    found = []
    for node in root.named_children:
        function = _function(node) if node.type == "function_definition" else None
        if function is not None:
            found.append(function)
    return tuple(found)


def _function(node: Node) -> FunctionDefinition | None:
    declarator = node.child_by_field_name("declarator")
    if declarator is None or declarator.type != "function_declarator":
        return None
    parameters = []
    types = [type_text(node, qualifiers=False)]
    for part in _parameters(declarator):
        inner = part.child_by_field_name("declarator")
        named = declared_name(inner) if inner is not None else None
        if named is None:
            return None
        parameters.append(named[0])
        types.append(type_text(part, qualifiers=False) if named[1] == 0 else "pointer")
    name = field(declarator, "declarator").text
    body = field(node, "body")
    is_integer = all(is_integer_type(kind) for kind in types)
    return FunctionDefinition(
        types[0], name, tuple(parameters), tuple(types[1:]), body, _returned(body), is_integer
    )


def _parameters(declarator: Node) -> list[Node]:
    """The declarations of the parameters; `(void)` has none."""
    found = named_children(field(declarator, "parameters"))
    return [] if len(found) == 1 and found[0].text == "void" else found


def _returned(body: Node) -> Node | None:
    statements = named_children(body)
    if len(statements) != 1 or statements[0].type != "return_statement":
        return None
    values = named_children(statements[0])
    return values[0] if len(values) == 1 else None


def keeps_to_itself(function: FunctionDefinition) -> bool:
    """Whether everything it assigns to is its own: a variable or an element of an array it declares."""
    own = own_names(function)
    for part in walk(function.body):
        if part.type in ("gnu_asm_expression", "ERROR"):
            return False
        if part.type == "storage_class_specifier" and part.text == "static":
            return False
        if part.type not in ("assignment_expression", "update_expression"):
            continue
        target = part.child_by_field_name("left") or field(part, "argument")
        depth, core = 0, without_parentheses(target)
        while core.type == "subscript_expression":
            depth, core = depth + 1, without_parentheses(field(core, "argument"))
        name = core.text if core.type == "identifier" else ""
        if depth != own.get(name):
            return False
    return True


def own_names(function: FunctionDefinition) -> dict[str, int]:
    """The names of a function's own, and how many subscripts reach storage of its own.

    A name that is also used outside the block that declares it may be another one there.
    """
    own = dict.fromkeys(function.parameters, 0)
    reaches: dict[str, list[Span]] = {}
    for part in walk(function.body):
        if part.type == "declaration" and part.parent is not None:
            for declarator in part.children_by_field_name("declarator"):
                named = declared_name(declarator)
                if named is not None:
                    own[named[0]] = len(named[2])
                    reach = Span(part.source, part.start, part.parent.end)
                    reaches.setdefault(named[0], []).append(reach)
    for part in walk(function.body):
        name = part.text if part.type == "identifier" else ""
        if name in reaches and not any(reach.contains(part.span) for reach in reaches[name]):
            own.pop(name, None)
    return own


def mentioned(function: FunctionDefinition) -> tuple[tuple[str, bool], ...]:
    """The names in the body that are not its own, and whether each is called."""
    own = own_names(function)
    found = []
    for part in walk(function.body):
        if part.type != "identifier" or part.text in own:
            continue
        parent = part.parent
        is_call = parent is not None and parent.type == "call_expression"
        called = is_call and parent is not None and field(parent, "function") == part
        found.append((part.text, called))
    return tuple(found)
