"""The C types of integer expressions, from the types of their names, and the values of constants:
`10`, `'a'`, `sizeof a / sizeof *a`, and expressions of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from operator import add, and_, mul, or_, sub, xor
from typing import Protocol

from loopwright.c.casts import Kinds
from loopwright.c.declarations import Declarations
from loopwright.c.macros import Macro, constant_macro, definitions, integer_text
from loopwright.c.syntax import Node, field, is_dereference, named_children, operator, without_parentheses
from loopwright.c.types import (
    INT,
    UNSIGNED_LONG,
    CType,
    Floating,
    Integer,
    Unknown,
    common,
    divided,
    literal_type,
    named_type,
    promoted,
)
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

_UNKNOWN = Unknown("its type is not known")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class NameTypes(Protocol):
    """The types of the names at a place."""

    def name_type(self, name: Node) -> CType: ...

    def member_type(self, member: Node) -> CType:
        """The type of `s->n` or `sizes[0]`, if it is a parameter."""

    def result_type(self, function: str) -> CType | None:
        """The result type of a function of the file; None if it is not one."""

    def written_type(self, text: str) -> CType:
        """The type that a cast to `text` gives a value."""


def integer_type(node: Node, scope: NameTypes) -> CType:
    """The type of an expression; unknown if a name's type is, or if it is not an integer expression."""
    node = without_parentheses(node)
    match node.type:
        case "number_literal":
            return literal_type(node.text)
        case "char_literal":
            return INT
        case "sizeof_expression":
            return UNSIGNED_LONG
        case "cast_expression":
            return scope.written_type(field(node, "type").text)
        case "update_expression":
            return integer_type(field(node, "argument"), scope)
        case "unary_expression":
            return INT if operator(node) == "!" else promoted(integer_type(field(node, "argument"), scope))
        case "binary_expression" if operator(node) in (*COMPARISONS, "&&", "||"):
            return INT
        case "binary_expression" if operator(node) in ("<<", ">>"):
            return promoted(integer_type(field(node, "left"), scope))
        case "binary_expression":
            return common_type([field(node, "left"), field(node, "right")], scope)
        case "conditional_expression":
            return common_type([field(node, "consequence"), field(node, "alternative")], scope)
        case "call_expression":
            return _call_type(node, scope)
        case "identifier":
            return scope.name_type(node)
        case "field_expression" | "subscript_expression" | "pointer_expression":
            return scope.member_type(node)
        case _:
            return Unknown(f"'{node.text}' cannot be read as an integer expression")


def common_type(nodes: list[Node], scope: NameTypes) -> CType:
    """The common type that one or more operands are converted to."""
    return reduce(common, [promoted(integer_type(node, scope)) for node in nodes])


def _call_type(node: Node, scope: NameTypes) -> CType:
    """The type of a call: that of the function in the file; a macro like `min` has that of its arguments."""
    name = field(node, "function").text
    known = scope.result_type(name)
    arguments = named_children(field(node, "arguments"))
    if known is not None or len(arguments) != 2:
        return known or Unknown(f"what '{name}' returns is not known")
    return common_type(arguments, scope)


@dataclass(frozen=True)
class DeclaredTypes:
    """The types of variables and of macros that are numbers, from the declarations that are visible."""

    declarations: Declarations
    macros: tuple[Macro, ...]
    at: Span
    undeclared: CType = _UNKNOWN

    def name_type(self, name: Node) -> CType:
        macros = definitions(self.macros, name.text)
        if macros:
            values = {None if one.parameters is not None else integer_text(one.body) for one in macros}
            return _UNKNOWN if None in values else literal_type(macros[0].body)
        found = self.declarations.visible(name.text, self.at)
        if found is not None and (found.rank or "volatile" in found.type):
            return _UNKNOWN
        return self.undeclared if found is None else self.written_type(found.type)

    def member_type(self, member: Node) -> CType:
        return _UNKNOWN

    def result_type(self, function: str) -> CType | None:
        return _UNKNOWN

    def written_type(self, text: str) -> CType:
        return named_type(self.declarations.resolved(text))


_POINTER = 8
_EXACT = {"+": add, "-": sub, "*": mul, "&": and_, "|": or_, "^": xor}
_ESCAPES = {"\\0": 0, "\\a": 7, "\\b": 8, "\\t": 9, "\\n": 10, "\\v": 11, "\\f": 12, "\\r": 13}


def constant_value(node: Node, kinds: Kinds, at: Span) -> int | None:
    """The value of an integer, an ASCII character or a `sizeof` at a place; None if unknown."""
    if node.type == "number_literal":
        return integer_text(node.text)
    if node.type == "char_literal":
        inside = node.text[1:-1]
        is_plain = re.fullmatch(r"[ -~]", inside) is not None and inside != "\\"
        return ord(inside) if is_plain else _ESCAPES.get(inside)
    return _size(node, kinds, at) if node.type == "sizeof_expression" else None


def integer_value(node: Node, lookup: Callable[[str], int | None], kinds: Kinds) -> int | None:
    """The value of an integer expression without overflow, given those of its names."""
    core = without_parentheses(node)
    match core.type:
        case "number_literal":
            return integer_text(core.text)
        case "identifier":
            return lookup(core.text)
        case "cast_expression":
            inner = integer_value(field(core, "value"), lookup, kinds)
            kind = kinds.written_type(field(core, "type").text, certain=True)
            return None if inner is None or not isinstance(kind, Integer) else kind.converted(inner)
        case "binary_expression":
            sign = operator(core)
            left, right = (integer_value(field(core, side), lookup, kinds) for side in ("left", "right"))
            if left is None or right is None:
                return None
            if sign in ("/", "%"):
                return divided(sign, left, right) if right else None
            return _EXACT[sign](left, right) if sign in _EXACT else None
    return None


def _size(node: Node, kinds: Kinds, at: Span) -> int | None:
    kind = node.child_by_field_name("type")
    if kind is not None:
        is_pointer = kind.text.endswith("*") and not set("([") & set(kind.text)
        return _POINTER if is_pointer else _bytes(kind.text, kinds)
    core, indices = without_parentheses(field(node, "value")), 0
    while core.type == "subscript_expression" or is_dereference(core):
        core, indices = without_parentheses(field(core, "argument")), indices + 1
    found = kinds.declarations.visible(core.text, at) if core.type == "identifier" else None
    if found is None or found.may_alias or found.has_row_pointers or definitions(kinds.macros, core.text):
        return None
    size = _bytes(found.type, kinds)
    if size is None or len(found.extents) != found.rank or indices > found.rank:
        return None
    for text in found.extents[indices:]:
        length = integer_text(text)
        length = constant_macro(kinds.macros, text) if length is None else length
        if length is None or length <= 0:
            return None
        size *= length
    return size


def _bytes(text: str, kinds: Kinds) -> int | None:
    if kinds.declarations.resolved(text) == "char":
        return 1
    kind = kinds.written_type(text, certain=True)
    if not isinstance(kind, Integer | Floating) or kind.bits not in (1, 8, 16, 32, 64):
        return None
    return None if isinstance(kind, Floating) and kind.is_complex else -(-kind.bits // 8)
