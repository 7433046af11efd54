"""Structs: `s.x` and `p->x` are storage of their own, as long as nothing else reaches it.

The same field must not be reached in two ways: the struct as a whole must not be assigned, nor
read where a field of it is assigned, and `p->x` must not be mixed with `p[0].x` or `(*p).x`.
"""

from __future__ import annotations

from loopwright.c.declarations import Declarations
from loopwright.c.references import Reference, reference_of
from loopwright.c.syntax import Node, refuse, walk


def refuse_mixed_fields(block: Node, assigned: frozenset[str], local: frozenset[str]) -> None:
    """Raise where a struct some fields of which are used is also used in another way."""
    references = _whole_references(block)
    fields: dict[str, list[str]] = {}
    for reference in references:
        root = reference.root.text
        if root != reference.base and root in local:
            raise refuse(
                reference.node,
                f"the fields of '{root}', which is declared in the region, cannot be followed",
                "declare it before the region",
            )
        if root != reference.base:
            fields.setdefault(root, []).append(reference.base)
    for reference in references:
        root = reference.root.text
        parts = [base for base in fields.get(root, ()) if base.startswith(f"{reference.base}__")]
        if not parts:
            continue
        written = any(base in assigned for base in parts)
        if written or reference.subscripts or reference.base in assigned:
            raise refuse(
                reference.node,
                f"'{reference.node.text}' is used here and through its fields",
                "use its fields one by one, always in the same way",
            )


def refuse_unions(block: Node, assigned: frozenset[str], declarations: Declarations) -> None:
    """The fields of a union are one storage under several names."""
    used: dict[str, set[str]] = {}
    for reference in _whole_references(block):
        root = reference.root.text
        declared = declarations.visible(root, block.span)
        if declared is None or "union" not in declarations.resolved(declared.type).split():
            continue
        fields = used.setdefault(root, set())
        fields.add(reference.base)
        if len(fields) > 1 and fields & assigned:
            raise refuse(
                reference.node,
                f"'{root}' is a union: what is written to one field is read from another",
                "use one field of it in a region",
            )


def _whole_references(block: Node) -> list[Reference]:
    """References that are not part of a larger one."""
    found = []
    for node in walk(block):
        reference = reference_of(node)
        if reference is not None and not _is_part(node):
            found.append(reference)
    return found


def _is_part(node: Node) -> bool:
    """Whether the node around this one is a reference that starts with it."""
    outer = node.parent
    while outer is not None and outer.type == "parenthesized_expression":
        outer = outer.parent
    larger = reference_of(outer) if outer is not None else None
    own = reference_of(node)
    return larger is not None and own is not None and larger.root == own.root
