"""Locals that stand for an expression which is none of LOOP: `int row = i * n;`.

Such a local is what its text is, wherever it is used: iterators, other locals and what the region
does not assign do not change in between.  So is a pointer, `double *row = a + i * n;`, of which the
region has nothing but elements, `row[j]`: where it points is its array, which is not assigned as a
whole, and subscripts that do not change.
"""

from __future__ import annotations

from loopwright.c.declarations import type_text
from loopwright.c.references import pointer_sum
from loopwright.c.reworded.row_pointers import row_text, same_numbers
from loopwright.c.syntax import Node, field, is_address, walk, without_parentheses
from loopwright.model.program import Program
from loopwright.prove.reading.c_expressions import POINTER, Unreadable, Words

_MAY_CHANGE = (
    "subscript_expression",
    "pointer_expression",
    "field_expression",
    "call_expression",
    "assignment_expression",
    "update_expression",
)


def with_local_text(program: Program, block: Node, declarator: Node, words: Words) -> Words:
    """What names mean after `type name = value;`; Unreadable where the value might change."""
    if field(declarator, "declarator").type == "pointer_declarator":
        return _with_row(program, block, declarator, words)
    value, name = field(declarator, "value"), words.of(field(declarator, "declarator"))
    declaration = declarator.parent
    if name in _assigned(block, words) or not _stays(value, block, words):
        raise Unreadable(f"'{name}' is not what its text '{words.of(value)}' is everywhere")
    if declaration is None:
        raise Unreadable(f"'{name}' has no declaration")
    return words.define(name, value, type_text(declaration, qualifiers=False))


def _stays(value: Node, block: Node, words: Words) -> bool:
    """Whether `value` is made of what does not change."""
    assigned = _assigned(block, words)
    for part in walk(value):
        word = words.of(part) if part.type == "identifier" else ""
        is_local = word in words.values or word in words.texts
        if part.type in _MAY_CHANGE or (word in assigned and not is_local):
            return False
    return True


def _with_row(program: Program, block: Node, declarator: Node, words: Words) -> Words:
    """What names mean after `type *name = value;`."""
    declaration, inner = declarator.parent, field(field(declarator, "declarator"), "declarator")
    name = words.of(inner)
    text = row_text(field(declarator, "value"))
    array, indices = _split(text)
    variable = words.declarations.visible(words.of(array), program.region)
    if declaration is None or inner.type != "identifier" or array.type != "identifier" or variable is None:
        raise Unreadable(f"where '{name}' points is not read")
    kind = type_text(declaration, qualifiers=True)
    assigned = [_split(target) for target in _targets(block)]
    depths = [len(terms) for start, terms in assigned if words.of(start) == words.of(array)]
    if (
        not same_numbers(kind, variable, words.declarations)
        or not all(_stays(index, block, words) for index in indices)
        or not _only_elements(block, name, words)
        or any(depth != variable.rank for depth in depths)
        or any(start.type != "identifier" for start, _ in assigned)
    ):
        raise Unreadable(f"'{name}' is not what its text '{words.of(text)}' is everywhere")
    return words.define(name, text, POINTER)


def _split(node: Node) -> tuple[Node, list[Node]]:
    """`a[i][j] + k` as a and i, j, k; `&a[i] + k` as a and i, k."""
    target, terms = pointer_sum(node)
    indices = list(terms)
    if is_address(target):
        target = without_parentheses(field(target, "argument"))
    while target.type == "subscript_expression":
        indices.insert(0, field(target, "index"))
        target = without_parentheses(field(target, "argument"))
    return target, indices


def _only_elements(block: Node, name: str, words: Words) -> bool:
    """Whether the region has `name` in declarations and before a bracket, and nowhere else."""
    for node in walk(block):
        outer = node.parent
        if node.type != "identifier" or words.of(node) != name or outer is None:
            continue
        is_element = outer.type == "subscript_expression" and field(outer, "argument") == node
        if not is_element and outer.type != "pointer_declarator":
            return False
    return True


def _targets(block: Node) -> list[Node]:
    """What the region assigns to."""
    nodes = [node for node in walk(block) if node.type in ("assignment_expression", "update_expression")]
    return [node.child_by_field_name("left") or field(node, "argument") for node in nodes]


def _assigned(block: Node, words: Words) -> frozenset[str]:
    """The names that what the region assigns to starts with."""
    found = set()
    for target in _targets(block):
        names = [words.of(part) for part in walk(target) if part.type == "identifier"]
        found.update(names[:1])
    return frozenset(found)
