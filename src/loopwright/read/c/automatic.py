"""Variables of the function around a region, and whether anybody looks at them behind it.

An automatic variable lives in one call of its function.  Where no text behind the region names
it, and none that a loop around the region comes back to, the value the region leaves in it is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.declarations import declared_name
from loopwright.c.file import c_file
from loopwright.c.syntax import Node, walk
from loopwright.model.program import Array, Program

_LOOPS = ("for_statement", "while_statement", "do_statement")
_OBSERVED = ("static", "extern", "_Thread_local", "thread_local", "volatile", "_Atomic")
"""What makes a variable outlive its function, or lets others look at it."""


def is_private_storage(program: Program, array: Array) -> bool:
    """Whether a thread can have its own: a variable of the region or of the function, no pointer."""
    return array.local or _declaration(program, array) is not None


def is_dead_behind(program: Program, array: Array) -> bool:
    """Whether no text behind the region can see what the region leaves in `array`."""
    if array.local:
        return True
    source, region = program.source, program.region
    function = _function(program)
    if function is None or _declaration(program, array) is None:
        return False
    uses = [n for n in walk(function) if n.type == "identifier" and n.text == array.name]
    coming_back = [loop for loop in walk(function) if loop.type in _LOOPS and loop.span.contains(region)]
    jumps = any(node.type == "goto_statement" for node in walk(function))
    hidden = any(re.search(rf"\b{array.name}\b", macro.body) for macro in c_file(source).macros)
    seen = [
        use
        for use in uses
        if use.start >= region.end
        or any(loop.span.contains(use.span) and use.start < region.start for loop in coming_back)
    ]
    return not seen and not jumps and not hidden and not any(_escapes(use, array.rank) for use in uses)


def _function(program: Program) -> Node | None:
    root = program.file.tree
    around = [
        node
        for node in root.named_children
        if node.type == "function_definition" and node.span.contains(program.region)
    ]
    return around[0] if len(around) == 1 else None


def _declaration(program: Program, array: Array) -> Node | None:
    """The only declaration of the name in the function, of an automatic variable of this rank.

    A parameter that looks like an array is a pointer.
    """
    function = _function(program)
    found = [] if function is None else list(_declarations(program, function, array.name))
    if len(found) != 1:
        return None
    declaration, declarator = found[0]
    named = declared_name(declarator)
    stars = any(part.type == "pointer_declarator" for part in walk(declarator))
    words = {part.text for part in declaration.children}
    is_plain = named is not None and named[1] == array.rank and not stars
    if declaration.type == "parameter_declaration" and array.rank:
        return None
    return declaration if is_plain and not words & set(_OBSERVED) else None


def _declarations(program: Program, function: Node, name: str) -> Iterator[tuple[Node, Node]]:
    """Every declaration of the name, with its declarator."""
    for node in walk(function):
        if node.type not in ("declaration", "parameter_declaration"):
            continue
        for declarator in node.children_by_field_name("declarator"):
            named = declared_name(declarator)
            if named is not None and named[0] == name:
                yield node, declarator


def _escapes(use: Node, rank: int) -> bool:
    """Whether others may come to know where it is: `&x`, or an array without all its subscripts."""
    node, count = use, 0
    while node.parent is not None:
        outer = node.parent
        if outer.type == "subscript_expression" and outer.child_by_field_name("argument") == node:
            count += 1
        elif outer.type != "parenthesized_expression":
            break
        node = outer
    parent = node.parent
    if parent is None or _is_declared(use):
        return False
    is_address = parent.type == "pointer_expression" and parent.children[0].type == "&"
    return is_address or count < rank


def _is_declared(use: Node) -> bool:
    """Whether this is the name in its own declaration."""
    node = use
    while node.parent is not None and node.parent.child_by_field_name("declarator") == node:
        node = node.parent
    return node.type == "declaration" or (node is not use and node.type.endswith("declarator"))
