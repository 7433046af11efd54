"""Locals that stand for an expression which is none of LOOP: `int row = i * n;`.

Such a local is what its text is, wherever it is used: iterators, other locals and what the region
does not assign do not change in between.
"""

from __future__ import annotations

from tree_sitter import Node

from loopwright.model.program import Program
from loopwright.prove.text.c_expressions import Unreadable, Words
from loopwright.read.c.declarations import type_text
from loopwright.read.c.syntax import field, walk

_MAY_CHANGE = (
    "subscript_expression",
    "pointer_expression",
    "field_expression",
    "call_expression",
    "assignment_expression",
    "update_expression",
)


def with_local_text(program: Program, block: Node, declarator: Node, words: Words) -> Words:
    """What names mean behind `type name = value;`; Unreadable where the value might change."""
    value, name = field(declarator, "value"), words.of(field(declarator, "declarator"))
    assigned = _assigned(block, words)
    declaration = declarator.parent
    for part in walk(value):
        word = words.of(part) if part.type == "identifier" else ""
        is_local = word in words.values or word in words.texts
        if part.type in _MAY_CHANGE or name in assigned or (word in assigned and not is_local):
            raise Unreadable(f"'{name}' is not what its text '{words.of(value)}' is everywhere")
    if declaration is None:
        raise Unreadable(f"'{name}' has no declaration")
    return words.define(name, value, type_text(program.source, declaration, qualifiers=False))


def _assigned(block: Node, words: Words) -> frozenset[str]:
    """The names that what the region assigns to starts with."""
    found = set()
    for node in walk(block):
        if node.type in ("assignment_expression", "update_expression"):
            target = node.child_by_field_name("left") or field(node, "argument")
            names = [words.of(part) for part in walk(target) if part.type == "identifier"]
            found.update(names[:1])
    return frozenset(found)
