"""Statements that are kept whole: conditions on data, and loops without affine bounds.

This is sound because the source is kept: conditions are always tested, everything that could be accessed may
be accessed, and no jump enters or leaves the statement, except for `return`, which acts like a call that
does not return.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.c.syntax import Node, field, identifiers, named_children, refuse, walk
from loopwright.errors import BadInput
from loopwright.read.c.accesses import Touch, anywhere, refuse_pointer_value, touches
from loopwright.read.c.frames import Frame
from loopwright.read.c.locals import refuse_pointers, sizes_in
from loopwright.read.c.names import Unfollowed

_LEFT = {
    "for_statement": ("break_statement", "continue_statement"),
    "while_statement": ("break_statement", "continue_statement"),
    "do_statement": ("break_statement", "continue_statement"),
    "switch_statement": ("break_statement",),
}
"""The jumps inside a statement that exit or repeat it."""


def opaque_touches(node: Node, frame: Frame) -> tuple[Touch, ...]:
    """The possible accesses of a statement, except to its local variables."""
    if node.span not in frame.setting.whole:
        for part in walk(node):
            if part.type == "for_statement" and node.type == "if_statement":
                raise Unfollowed(_refused(part), node.span)
    found = _if(node, frame, ()) if node.type == "if_statement" else _statement(node, frame, ())
    private = _declared(node, frame)
    return tuple(touch for touch in found if touch.base not in private)


def _if(node: Node, frame: Frame, jumps: tuple[str, ...]) -> tuple[Touch, ...]:
    """The accesses of an `if`: the condition is always evaluated, the rest may be."""
    tested = touches(field(node, "condition"), frame)
    inside = named_children(node)[1:]
    return tested + tuple(touch for part in inside for touch in _statement(part, frame, jumps))


def _statement(node: Node, frame: Frame, jumps: tuple[str, ...]) -> tuple[Touch, ...]:
    match node.type:
        case "compound_statement" | "else_clause" | "labeled_statement":
            parts = [part for part in named_children(node) if part.type != "statement_identifier"]
            return tuple(touch for part in parts for touch in _statement(part, frame, jumps))
        case "expression_statement":
            return touches(node, frame, must=False)
        case "if_statement":
            return tuple(replace(touch, must=False) for touch in _if(node, frame, jumps))
        case "declaration":
            return _declaration(node, frame)
        case "for_statement" | "while_statement" | "do_statement" | "switch_statement":
            return _inner_loop(node, frame, (*jumps, *_LEFT[node.type]))
        case "case_statement":
            parts = [part for part in named_children(node) if part != node.child_by_field_name("value")]
            return tuple(touch for part in parts for touch in _statement(part, frame, jumps))
        case kind if kind in jumps:
            return ()
        case "return_statement":
            return returned(node, frame)
        case "goto_statement" if _stays_inside(node, frame):
            return ()
        case _:
            raise refused_jump(node, frame, _refused(node))


def returned(node: Node, frame: Frame) -> tuple[Touch, ...]:
    """The accesses of a `return`: its value, and everything visible after the function, as for `exit`."""
    parts = tuple(touch for part in named_children(node) for touch in touches(part, frame, must=False))
    return (*parts, *anywhere(node))


def _inner_loop(node: Node, frame: Frame, jumps: tuple[str, ...]) -> tuple[Touch, ...]:
    """The accesses of a loop, or `switch`, inside a statement: its head and body may be evaluated."""
    found: tuple[Touch, ...] = ()
    body = field(node, "body")
    for part in named_children(node):
        if part == body or part.type == "declaration":
            found += _statement(part, frame, jumps)
        else:
            found += touches(part, frame, must=False)
    return found


def _stays_inside(node: Node, frame: Frame) -> bool:
    """Whether a `goto` is inside a statement that contains its label, and all other jumps to it."""
    place = _common_place(node)
    return place is not None and any(whole.contains(place.span) for whole in frame.setting.whole)


def _common_place(goto: Node) -> Node | None:
    """The smallest block around a `goto`, its label, and the other jumps to it."""
    label = goto.named_children[0].text
    node: Node | None = goto
    while node is not None and not any(_is_label(part, label) for part in walk(node)):
        node = node.parent
    while node is not None and node.parent is not None and node.type != "compound_statement":
        node = node.parent
    return node


def _is_label(node: Node, label: str) -> bool:
    return node.type == "labeled_statement" and field(node, "label").text == label


def _refused(node: Node) -> BadInput:
    first = node.children[0] if node.children else node
    hint = "accepted there: assignments, local variables and further conditions; or make the "
    hint += "condition affine in the iterators and parameters"
    if node.type == "goto_statement":
        hint = "make the loops a function of their own that ends by 'return', which is read under a condition"
    return refuse(first, f"'{first.text}' cannot be under a condition on data", hint)


def refused_jump(node: Node, frame: Frame, failure: BadInput) -> Exception:
    """The error for a jump out of a statement; the loop, its body, or the block around jump and target may be
    kept whole instead."""
    if node.type == "goto_statement":
        place = _common_place(node)
        loop = frame.loops[-1].place if frame.loops else None
        if place is not None and loop is not None and loop.contains(place.span):
            return Unfollowed(failure, place.span)
        region = frame.setting.region
        is_block = place is not None and place.type == "compound_statement" and region.contains(place.span)
        return Unfollowed(failure, place.span, alone=True) if place is not None and is_block else failure
    if node.type in ("break_statement", "continue_statement") and frame.loops:
        return Unfollowed(failure, frame.loops[-1].place, alone=True)
    return failure


def _declaration(node: Node, frame: Frame) -> tuple[Touch, ...]:
    """The reads of the initialisers of local variables, and of the sizes of local arrays."""
    found: tuple[Touch, ...] = ()
    for declarator in node.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value")
        target = declarator if value is None else field(declarator, "declarator")
        name = identifiers(target)[0]
        if name not in frame.setting.names.untracked:
            refuse_pointers(target, name)
        parts = sizes_in(target) if value is None else [*sizes_in(target), value]
        if value is not None and name not in frame.setting.names.untracked:
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
    """Raise if a variable has the name of an iterator of an enclosing loop."""
    if name in frame.iterators:
        raise refuse(
            declarator,
            f"this '{name}' hides the iterator of a loop around it",
            "give the two variables different names",
        )
