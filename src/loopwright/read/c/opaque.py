"""Conditions on data: the whole `if` is one statement, all its accesses conservative.

Sound because nothing inside is taken apart: the text is kept, the condition is always evaluated,
and everything a branch could touch may be touched.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.c.syntax import Node, field, named_children, refuse, walk
from loopwright.read.c.accesses import Touch, refuse_pointer_value, touches
from loopwright.read.c.frames import Frame
from loopwright.read.c.names import refuse_pointers, refuse_specifiers, sizes_in


def opaque_touches(node: Node, frame: Frame) -> tuple[Touch, ...]:
    """What an `if` on data may touch, its local variables left out."""
    found = touches(field(node, "condition"), frame) + tuple(
        touch for part in named_children(node)[1:] for touch in _statement(part, frame)
    )
    private = _declared(node, frame)
    return tuple(touch for touch in found if touch.base not in private)


def _statement(node: Node, frame: Frame) -> tuple[Touch, ...]:
    match node.type:
        case "compound_statement" | "else_clause":
            return tuple(touch for part in named_children(node) for touch in _statement(part, frame))
        case "expression_statement":
            return touches(node, frame, must=False)
        case "if_statement":
            return tuple(replace(touch, must=False) for touch in opaque_touches(node, frame))
        case "declaration":
            return _declaration(node, frame)
        case _:
            first = node.children[0] if node.children else node
            raise refuse(
                first,
                f"'{first.text}' cannot stand under a condition on data",
                "accepted there: assignments, local variables and further conditions; or make the "
                "condition affine in the iterators and parameters",
            )


def _declaration(node: Node, frame: Frame) -> tuple[Touch, ...]:
    """What the values of local variables read, and the sizes of local arrays."""
    refuse_specifiers(node)
    found: tuple[Touch, ...] = ()
    for declarator in node.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        target = declarator if value is None else field(declarator, "declarator")
        refuse_pointers(target)
        parts = sizes_in(target) if value is None else [*sizes_in(target), value]
        if value is not None:
            refuse_pointer_value(value, frame)
        found += tuple(touch for part in parts for touch in touches(part, frame, must=False))
    return found


def _declared(node: Node, frame: Frame) -> frozenset[str]:
    names = set()
    for part in walk(node):
        if part.type == "declaration":
            for declarator in part.children_by_field_name("declarator"):
                words = [inner for inner in walk(declarator) if inner.type == "identifier"]
                name = words[0].text
                refuse_shadowing(declarator, name, frame)
                names.add(name)
    return frozenset(names)


def refuse_shadowing(declarator: Node, name: str, frame: Frame) -> None:
    """A variable must not take the name of an iterator of a loop around it."""
    if name in frame.iterators:
        raise refuse(
            declarator,
            f"this '{name}' hides the iterator of a loop around it",
            "give the two variables different names",
        )
