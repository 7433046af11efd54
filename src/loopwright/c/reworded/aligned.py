"""Whether the address of a vector is a multiple of its size, where the array that it is in begins at one.

    for (i = 0; i + 4 <= n; i += 4)
      _mm256_load_pd(&a[i + 8 * k]);          4 divides 0, the step of i, and 8
      _mm256_load_pd(&A[k][i]);               and the length of the rows of A

The array is a parameter or declared as an array, and the function assigns it nothing else.
"""

from __future__ import annotations

from loopwright.c.declarations import declared_name
from loopwright.c.file import whole_file
from loopwright.c.loops import first_value, loop_iterator, loop_step
from loopwright.c.macros import constant_macro
from loopwright.c.reworded.passages import changed_in
from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.tokens import decimal


def is_aligned(address: Node, lanes: int, function: Node) -> bool:
    """Whether so many elements divide the distance of an address from the beginning of its array."""
    node = without_parentheses(address)
    match node.type:
        case "binary_expression" if operator(node) in ("+", "-"):
            first, more = field(node, "left"), field(node, "right")
            return is_aligned(first, lanes, function) and _is_multiple(more, lanes)
        case "pointer_expression" if operator(node) == "&":
            inner = without_parentheses(field(node, "argument"))
            if inner.type != "subscript_expression":
                return False
            first, more = field(inner, "argument"), field(inner, "index")
            return is_aligned(first, lanes, function) and _is_multiple(more, lanes)
        case "subscript_expression":
            return _is_row(node, lanes, function)
        case "identifier":
            return _is_beginning(node.text, function)
        case _:
            return False


def _is_row(node: Node, lanes: int, function: Node) -> bool:
    """Whether it is a row of an array whose rows have so many elements, or a multiple: A[i] of `A[n][8]`."""
    base, count = node, 0
    while base.type == "subscript_expression":
        base, count = without_parentheses(field(base, "argument")), count + 1
    if base.type != "identifier" or not _is_beginning(base.text, function):
        return False
    file = whole_file(node.source)
    declared = [
        known
        for one in function.root.of_type("declaration", "parameter_declaration")
        for declarator in one.children_by_field_name("declarator")
        if (known := declared_name(declarator)) is not None and known[0] == base.text
    ]
    lengths = {one[2][-1] if len(one[2]) == one[1] > count else "" for one in declared}
    numbers = [decimal(one) or constant_macro(file.macros, one) for one in lengths]
    return bool(lengths) and all(one is not None and one % lanes == 0 for one in numbers)


def _is_beginning(name: str, function: Node) -> bool:
    """Whether a name is an array as a whole, or what the caller gives."""
    for node in function.of_type("declaration"):
        for one in node.children_by_field_name("declarator"):
            known = declared_name(one)
            if known is not None and known[0] == name and len(known[2]) != known[1]:
                return False
    return name not in changed_in(field(function, "body"))


def _is_multiple(node: Node, count: int) -> bool:
    node = without_parentheses(node)
    match node.type:
        case "number_literal":
            value = decimal(node.text)
            return value is not None and value % count == 0
        case "binary_expression" if operator(node) in ("+", "-", "*"):
            sides = [_is_multiple(field(node, one), count) for one in ("left", "right")]
            return any(sides) if operator(node) == "*" else all(sides)
        case "identifier":
            return _counts_in_steps(node, count)
        case _:
            return False


def _counts_in_steps(name: Node, count: int) -> bool:
    """Whether a name is the iterator of a loop around it that begins at a multiple and adds multiples."""
    for loop in name.around():
        step = loop_step(loop, name.text) if loop.type == "for_statement" else None
        if step is not None:
            is_own = name.text not in changed_in(field(loop, "body"))
            return step % count == 0 and is_own and _begins_at_multiple(loop, name.text, count)
    return False


def _begins_at_multiple(loop: Node, name: str, count: int) -> bool:
    if loop.child_by_field_name("initializer") is not None:
        return loop_iterator(loop) == name and _is_multiple(first_value(loop), count)
    around = [] if loop.parent is None else named_children(loop.parent)
    for before in reversed([one for one in around if one.end <= loop.start]):
        for one in before.children_by_field_name("declarator") if before.type == "declaration" else ():
            if one.type == "init_declarator" and field(one, "declarator").text == name:
                return _is_multiple(field(one, "value"), count)
        if name in changed_in(before):
            return False
    return False
