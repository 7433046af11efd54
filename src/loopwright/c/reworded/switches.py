"""Rewrites a `switch` as tests of its cases.

    switch (e) {                              {
    case 2: A;                                if (e == 2) { A; }
    case 1: B; break;                         if (e == 2 || e == 1) { B; }
    default: C;                               if (!(e == 2 || e == 1)) { C; }
    }                                         }

Statements run for the labels before them, up to the last `break`.  It is an identity if e consists of names
and numbers, no statement modifies these or calls a function, and every `break` ends a label's statements:
C converts the int of a label as for `==`, and a `switch` with labels other than plain numbers is kept.
Line numbers do not change.
"""

from __future__ import annotations

from loopwright.c.loops import LOOPS
from loopwright.c.syntax import (
    Node,
    assigned_target,
    field,
    identifiers,
    named_children,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import decimal, on_one_line, packed
from loopwright.source import Edit

_PLAIN = ("identifier", "number_literal", "unary_expression", "binary_expression", "parenthesized_expression")
_REFUSED = (
    *("call_expression", "pointer_expression", "gnu_asm_expression"),
    *("goto_statement", "labeled_statement"),
)


def without_switch(node: Node) -> list[Edit] | None:
    """Edits that replace a `switch` by tests, if equivalent."""
    value, body = field(node, "condition"), field(node, "body")
    if not all(one.type in _PLAIN for one in walk(value) if one.is_named) or "#" in node.text:
        return None
    labels = [one for one in body.named_children if one.type != "comment"]
    if body.type != "compound_statement" or not labels or any(one.type != "case_statement" for one in labels):
        return None
    if any(one.type in _REFUSED or _changed(one) in identifiers(value) for one in walk(body)):
        return None
    if len([one for one in walk(body) if one.type == "case_statement"]) != len(labels):
        return None
    groups = [_statements(label) for label in labels]
    ends = [bool(group) and group[-1].type == "break_statement" for group in groups]
    inside = [group[: len(group) - is_left] for group, is_left in zip(groups, ends, strict=True)]
    if any(one.type == "declaration" or _leaves(one) for group in inside for one in group):
        return None
    return _tests(node, labels, groups, ends)


def _changed(node: Node) -> str | None:
    """The name that an expression assigns to."""
    target = assigned_target(node)
    core = None if target is None else without_parentheses(target)
    return None if core is None or core.type != "identifier" else core.text


def _statements(label: Node) -> list[Node]:
    """The statements from a label to the next one."""
    value = label.child_by_field_name("value")
    return [one for one in named_children(label) if one is not value]


def _leaves(node: Node) -> bool:
    """Whether a statement of a `switch` contains a `break` that exits the `switch`."""
    if node.type == "break_statement":
        return True
    if node.type in (*LOOPS, "switch_statement"):
        return False
    return any(_leaves(one) for one in node.named_children)


def _tests(node: Node, labels: list[Node], groups: list[list[Node]], ends: list[bool]) -> list[Edit] | None:
    text, value = node.source.text, on_one_line(field(node, "condition").text)
    numbers = [one.child_by_field_name("value") for one in labels]
    if any(one is not None and decimal(packed(one.text).removeprefix("-")) is None for one in numbers):
        return None
    equal = [None if one is None else f"{value} == ({on_one_line(one.text)})" for one in numbers]
    others = " || ".join(one for one in equal if one is not None)
    otherwise = f"!({others})" if others else "1"
    first = field(node, "body").start
    edits: list[Edit] = [(node.start, first + 1, "{" + "\n" * text.count("\n", node.start, first + 1))]
    reached: list[str] = []
    for label, test, group, is_left in zip(labels, equal, groups, ends, strict=True):
        reached.append(otherwise if test is None else test)
        colon = next(one for one in label.children if one.type == ":")
        lines = "\n" * text.count("\n", label.start, colon.end)
        edits.append((label.start, colon.end, f"if ({' || '.join(reached)}) {{{lines}"))
        end = group[-1].end if group else colon.end
        if is_left:
            edits.append((group[-1].start, group[-1].end, "}"))
            reached.clear()
        else:
            edits.append((end, end, " }"))
    return edits
