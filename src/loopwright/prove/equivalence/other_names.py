"""Two names of one memory: `double *p = a;`, where OLD has p[i] and NEW has a[i].

A no is about a run in which arrays are apart.  Those that one text names are, by what it is read with; one
that only OLD names and one that only NEW names may be the same, unless the function gets both from outside,
or allocates one of them.
"""

from __future__ import annotations

import re

from loopwright.c.syntax import Node, assigned_target, identifiers, operator, walk, without_parentheses
from loopwright.model.program import Program


def names_of_one_memory(old: Program, new: Program) -> tuple[str, str] | None:
    """An array of OLD and one of NEW, each in one of the texts alone, that may be the same memory."""
    first, second = ({one.name for one in program.arrays if not one.local} for program in (old, new))
    for one in sorted(first - second):
        for other in sorted(second - first):
            if _is_set(one, old) or _is_set(other, new):
                return one, other
    return None


def _is_set(name: str, program: Program) -> bool:
    """Whether the file makes a pointer lead to some memory, which it has not just allocated."""
    if name not in {one.name for one in program.arrays if one.rank}:
        return False
    return not name.isidentifier() or any(_sets(node, name) for node in walk(program.file.tree))


def _sets(node: Node, name: str) -> bool:
    """Whether a declaration or an assignment gives a pointer of this name a value; arrays have cells."""
    target, value = _given(node)
    if target is None or name not in identifiers(target) or _allocates(value):
        return False
    if node.type != "init_declarator":
        return without_parentheses(target).text == name
    is_pointer = any(part.type == "pointer_declarator" for part in walk(target))
    return is_pointer or target.type != "array_declarator"


def _given(node: Node) -> tuple[Node | None, Node | None]:
    """What is declared or assigned, and its value; what a call is given the address of, and the call."""
    match node.type:
        case "init_declarator":
            return node.child_by_field_name("declarator"), node.child_by_field_name("value")
        case "assignment_expression":
            return assigned_target(node), node.child_by_field_name("right")
        case "pointer_expression" if operator(node) == "&":
            around = node.parent
            while around is not None and around.type in ("cast_expression", "argument_list"):
                around = around.parent
            return node.child_by_field_name("argument"), around
    return None, None


def _allocates(value: Node | None) -> bool:
    core = None if value is None else without_parentheses(value)
    while core is not None and core.type == "cast_expression":
        inner = core.child_by_field_name("value")
        core = None if inner is None else without_parentheses(inner)
    callee = core.child_by_field_name("function") if core is not None else None
    return callee is not None and re.search("alloc|memalign", callee.text) is not None
