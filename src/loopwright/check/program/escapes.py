"""Addresses of arrays that are not followed any further: no answer can rest on them.

An array, or a pointer into it, may be used for an element, be given to a variable or a function that
is followed or only looks at it, or be compared; nothing else.  The addresses of scalars are not followed.
"""

from __future__ import annotations

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.references import Reference, reference_of
from loopwright.c.syntax import Node, field, is_address, named_children, operator, refuse, walk
from loopwright.check.original.specification import Specification
from loopwright.check.original.structure import Side
from loopwright.check.program.pointers import Pointers, declared_identifier

_HARMLESS = ("sizeof_expression", "declaration", "parameter_declaration")
_STEPS = ("subscript_expression", "parenthesized_expression", "field_expression", "pointer_expression")
_COMPARISONS = (*COMPARISONS, "&&", "||")
_LOOKERS = {
    "memcpy": (1,),
    "memmove": (1,),
    "memcmp": (0, 1),
    "fwrite": (0,),
    "__builtin_prefetch": (0,),
    "_mm_prefetch": (0,),
}
"""Library functions, and the arguments of theirs whose cells they do not change."""
_ALONE = ("expression_statement", "comma_expression", "for_statement")


def refuse_escapes(spec: Specification, pointers: Pointers, side: Side, body: Node) -> None:
    """Raise where an array of the original gets a name that is not followed, and at assembler code."""
    for node in walk(body):
        if node.type == "gnu_asm_expression" and not _is_barrier(node):
            hint = "write it in C, or leave it out for the check"
            raise refuse(node, "what assembler code changes is not known", hint)
        if node.type != "identifier" or not _means_array(spec, pointers, node):
            continue
        whole, current = _reference_around(side, node)
        parent = current.parent
        if parent is None or parent.type in _HARMLESS or _is_declared(parent, node):
            continue
        is_scalar = whole and current == node
        if (whole and not is_address(parent)) or (not is_scalar and _is_followed(pointers, current)):
            continue
        name = node.text
        hint = "use the array by its name, or by pointers that are given to functions of this file"
        raise refuse(node, f"'{name}' gets another name here, which is not followed", hint)


def _is_barrier(node: Node) -> bool:
    """`asm volatile ("" ::: "memory")` tells the compiler something and does nothing."""
    code = field(node, "assembly_code").text.strip('"').strip()
    operands = [node.child_by_field_name(name) for name in ("output_operands", "input_operands")]
    return not code and not any(one is not None and named_children(one) for one in operands)


def _means_array(spec: Specification, pointers: Pointers, node: Node) -> bool:
    """Whether an identifier is an array of the original or a pointer into one, or a scalar it writes."""
    variable = pointers.variable(node)
    if variable is not None:
        return not pointers.pointees[variable].isdisjoint(spec.arrays)
    known = pointers.known
    array = known.array_of(Reference(node.text, (), partial=False, node=node, root=node))
    return array is not None and (spec.ranks[array] > 0 or array in spec.written)


def _is_declared(parent: Node, node: Node) -> bool:
    """Whether `node` is the name in a declarator, not a value in it."""
    return parent.type.endswith("declarator") and parent.child_by_field_name("declarator") == node


def _reference_around(side: Side, node: Node) -> tuple[bool, Node]:
    """The reference that starts at `node`, and whether it is a whole cell."""
    outer: Node | None = node
    while outer is not None and (outer == node or outer.type in _STEPS or _is_sum(outer)):
        reference = reference_of(outer)
        if side.cell(outer) is not None and reference is not None and reference.root == node:
            return True, outer
        outer = outer.parent
    current = node
    while True:
        whole = side.cell(current) is not None
        parent = current.parent
        is_step = parent is not None and parent.type in _STEPS and not _is_index(parent, current)
        if whole or parent is None or not is_step or is_address(parent):
            return whole, current
        current = parent


def _is_sum(node: Node) -> bool:
    return node.type == "binary_expression" and operator(node) in ("+", "-")


def _is_index(parent: Node, node: Node) -> bool:
    return parent.type == "subscript_expression" and parent.child_by_field_name("index") == node


def _is_followed(pointers: Pointers, node: Node) -> bool:
    """Whether the pointer that `node` is part of goes where it is followed, or is only looked at."""
    parent = node.parent
    while parent is not None and _passes_on(parent, node):
        node, parent = parent, parent.parent
    if parent is None:
        return False
    match parent.type:
        case "init_declarator":
            return _is_pointer(pointers, field(parent, "declarator"), node)
        case "assignment_expression":
            if field(parent, "left") == node:
                return node.type == "identifier" and _is_alone(parent)
            return _is_pointer(pointers, field(parent, "left"), node)
        case "update_expression":
            return node.type == "identifier" and _is_alone(parent)
        case "binary_expression":
            return operator(parent) in _COMPARISONS
        case "argument_list":
            return _is_known_call(pointers, parent, node)
        case _:
            return parent.type in _ALONE


def _passes_on(parent: Node, node: Node) -> bool:
    """Whether the value of `parent` is a pointer because that of `node` is."""
    match parent.type:
        case "parenthesized_expression" | "cast_expression":
            return True
        case "conditional_expression":
            return field(parent, "condition") != node
        case "binary_expression":
            return _is_sum(parent)
        case _:
            return is_address(parent)


def _is_alone(node: Node) -> bool:
    """Whether the value of an assignment is not used."""
    return node.parent is not None and node.parent.type in _ALONE


def _is_pointer(pointers: Pointers, target: Node, value: Node) -> bool:
    """Whether `target` is a variable that is followed."""
    name = declared_identifier(target)
    known = pointers.known
    at = value if target.type.endswith("declarator") else name
    if name is None or at is None:
        return False
    found = known.declarations.visible(name.text, at.span)
    return found is not None and found.rank > 0


def _is_known_call(pointers: Pointers, arguments: Node, node: Node) -> bool:
    known = pointers.known
    call = arguments.parent
    callee = None if call is None else call.child_by_field_name("function")
    if callee is None:
        return False
    index = [part.span for part in named_children(arguments)].index(node.span)
    name = callee.text
    functions = [function for function in known.functions if function.name == name]
    outside = known.declarations.visible(name, callee.span) is None and not functions
    if outside and callee.type == "identifier":
        return index in _LOOKERS.get(name, ())
    return all(index < len(function.parameters) for function in functions)
