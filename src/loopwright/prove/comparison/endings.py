"""Loops of a new source that a proof does not follow: do they end?

No statement of a loop with an empty body, or with assignments to dead variables only, occurs in a proof.
Such a loop must have a form that ends for all values:

    an empty body        for (...; i < n; i++)         bounds are names or numbers, steps are 1
    scalars only         for (...; L < R; i += c)      every iteration makes R - L smaller by the same number
                         for (...; i > 0; i /= 2)
                         while (L < R && anything)     one part of a conjunction suffices
                         while (i-- > 0)               or another change that comes with every test

L and R are compared in the type of the iterators in them, which is signed: `i >= 0u` holds for ever, a long
bound may be beyond every int, and a float stays as it is when 1 is added to 2^24.  An unsigned iterator may
count up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from loopwright.c.expression_types import DeclaredTypes, common_type, integer_type
from loopwright.c.file import CFile, c_file
from loopwright.c.loops import LOOPS, Operands, added_to, binary, loop_iterator
from loopwright.c.syntax import (
    Node,
    assigned_names,
    field,
    identifiers,
    operator,
    walk_inside,
    without_parentheses,
)
from loopwright.c.tokens import decimal
from loopwright.c.types import INT, CType, Integer, Unknown
from loopwright.source import Source

_WORKS = ("expression_statement", "declaration", "return_statement", "goto_statement")
_STORES = ("subscript_expression", "pointer_expression", "field_expression", "call_expression")
_BOUND = r"(?:[A-Za-z_]\w*(?: - \d{1,9})?|\d{1,9})"
_UP, _DOWN = (
    re.compile(rf"(\w+) {sign}=? {_BOUND} (?:\1 {step}{step}|{step}{step} \1|\1 {step}= 1)")
    for sign, step in (("<", r"\+"), (">", "-"))
)
"""Condition and update of a loop that counts up or down, with their tokens separated by spaces."""
_TOKEN = re.compile(r"\w+|\+\+|--|[-+<>=!]=|\S")
_SIGNS = {"<": 1, "<=": 1, ">": -1, ">=": -1}
"""The sign of the steps of left - right that end a loop, by the comparison in its test."""
_JOINING = ("comma_expression", "parenthesized_expression")


def not_known_to_end(source: Source) -> str | None:
    """Returns the first loop in a region that no proof follows and that is not known to end, or None."""
    file = c_file(source)
    for region in file.regions:
        for loop in file.block(region.place).of_type(*LOOPS):
            is_empty = loop.type == "for_statement" and not _works(loop)
            if not is_empty and field(loop, "body").of_type(*_STORES):
                continue
            if not _ends(loop, file) or (is_empty and not _counts(loop)):
                return f"line {loop.span.line}: this {'empty ' if is_empty else ''}loop is not known to end"
    return None


def _works(loop: Node) -> bool:
    body = field(loop, "body")
    return any(part.type in _WORKS and part.named_children for part in walk_inside(body, body.span))


def _counts(loop: Node) -> bool:
    """Whether a loop with an empty body counts in steps of 1, so that its iterator passes its bound by 1."""
    parts = [loop.child_by_field_name(name) for name in ("condition", "update")]
    words = " ".join(" ".join(_TOKEN.findall(one.text)) for one in parts if one is not None)
    inner = {loop_iterator(one) for one in field(loop, "body").of_type("for_statement")}
    return not inner & set(words.split()) and any(form.fullmatch(words) for form in (_UP, _DOWN))


def _ends(loop: Node, file: CFile) -> bool:
    """Whether the test of a loop fails at last: its iterators change once, by as much, in every iteration."""
    test = loop.child_by_field_name("condition")
    if test is None or loop.of_type("continue_statement", "goto_statement"):
        return False
    start, body = loop.child_by_field_name("initializer"), field(loop, "body")
    found = [
        one
        for one in loop.of_type("update_expression", "assignment_expression")
        if start is None or not start.span.contains(one.span)
    ]
    changes = Counter(name for one in found for name in assigned_names(one))
    always = {name: one for one in found if _is_always_run(one, loop) for name in assigned_names(one)}
    again = {name for one in body.of_type("declaration") for name in identifiers(one)}
    moving = {
        name: always.get(name) if count == 1 and name not in again else None
        for name, count in changes.items()
    }
    declares = any(file.declarations.visible(name, body.span) for name in moving)
    undeclared: CType = Unknown("not declared") if declares else INT
    types = DeclaredTypes(file.declarations, file.macros_before(loop.span), body.span, undeclared)
    return _fails_at_last(test, moving, types)


def _is_always_run(change: Node, loop: Node) -> bool:
    """Whether a change is the update of the loop, a side of its test, or a statement of its body."""
    node = change
    while node.parent is not None and (node.parent.type in _JOINING or _is_comparison(node.parent)):
        node = node.parent
    outer = node.parent
    if outer is None or outer == loop:
        return node in (loop.child_by_field_name("update"), loop.child_by_field_name("condition"))
    body = field(loop, "body")
    is_in_body = outer == body or (outer.parent == body and body.type == "compound_statement")
    return outer.type == "expression_statement" and is_in_body


def _is_comparison(node: Node) -> bool:
    return node.type == "binary_expression" and operator(node) in _SIGNS


def _fails_at_last(test: Node, moving: Mapping[str, Node | None], types: DeclaredTypes) -> bool:
    parts = binary(test)
    if parts is None:
        return False
    if parts.sign in ("&&", "||"):
        sides = (_fails_at_last(side, moving, types) for side in (parts.left, parts.right))
        return any(sides) if parts.sign == "&&" else all(sides)
    if parts.sign not in _SIGNS or not _counts_as_compared(parts, moving, types):
        return False
    if parts.sign == ">" and parts.right.text == "0" and _is_divided(moving.get(parts.left.text)):
        return True
    left, right = (_step_of(side, moving) for side in (parts.left, parts.right))
    return left is not None and right is not None and (left - right) * _SIGNS[parts.sign] > 0


def _counts_as_compared(parts: Operands, moving: Mapping[str, Node | None], types: DeclaredTypes) -> bool:
    """Whether both sides have the type of the iterators in them; an unsigned iterator counts up by itself."""
    kind = common_type([parts.left, parts.right], types)
    names = [one for side in (parts.left, parts.right) for one in side.all_nodes() if one.text in moving]
    iterators = [integer_type(one, types) for one in names if one.type == "identifier"]
    if not isinstance(kind, Integer) or any(one != kind for one in iterators):
        return False
    below, above = (parts.left, parts.right) if _SIGNS[parts.sign] > 0 else (parts.right, parts.left)
    counts_up = below.text in moving and moving.keys().isdisjoint(identifiers(above))
    return kind.signed or (counts_up and integer_type(above, types) in (kind, INT))


def _is_divided(change: Node | None) -> bool:
    """Whether a change is `i /= c`, c > 1, or `i >>= c`, c > 0: it makes a number above 0 smaller."""
    if change is None or change.type != "assignment_expression":
        return False
    number = decimal(without_parentheses(field(change, "right")).text) or 0
    return number > {"/=": 1, ">>=": 0}.get(operator(change), number)


def _step_of(side: Node, moving: Mapping[str, Node | None]) -> int | None:
    """What an iteration adds to a side of a comparison, or None if that is not one known number."""
    node = without_parentheses(side)
    name = field(node, "argument") if node.type == "update_expression" else node
    if name.type == "identifier" and name.text in moving:
        change = moving[name.text]
        return None if change is None else _added(change, name.text)
    parts = binary(node)
    if parts is not None and parts.sign in ("+", "-"):
        left, right = _step_of(parts.left, moving), _step_of(parts.right, moving)
        if left is None or right is None:
            return None
        return left + right if parts.sign == "+" else left - right
    if parts is not None and parts.sign == "*":
        factors = ((parts.left, parts.right), (parts.right, parts.left))
        for number, step in ((decimal(one.text), _step_of(other, moving)) for one, other in factors):
            if number is not None and step is not None:
                return number * step
    is_constant = moving.keys().isdisjoint(identifiers(node)) and not node.of_type("call_expression")
    is_large = node.type == "number_literal" and decimal(node.text) is None
    return 0 if is_constant and not is_large else None


def _added(change: Node, name: str) -> int | None:
    """The number that `i++`, `i += 4` or `i = i + 4` adds to a variable."""
    known = added_to(change, name)
    if known is not None or change.type != "assignment_expression" or operator(change) != "=":
        return known
    value = binary(field(change, "right"))
    if value is None or value.sign not in ("+", "-"):
        return None
    if value.left.text == name:
        number = decimal(value.right.text)
        return number if number is None or value.sign == "+" else -number
    return decimal(value.left.text) if value.right.text == name and value.sign == "+" else None
