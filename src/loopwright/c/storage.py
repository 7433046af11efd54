"""Refuses storage that a region could access under another name.

i[A], *(i + A)      mean A[i]; read as a subscript of i, the access to A would be lost
s.x and s           the struct as a whole must not be assigned, nor read if a field is assigned;
                    a call may be passed it, if only what its fields point to is assigned
p->x and p[0].x     the same field in two ways
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopwright.c.declarations import Declarations, is_floating_type, is_integer_type
from loopwright.c.references import Reference, reference_of
from loopwright.c.syntax import Node, assigned_target, field, is_address, refuse, walk, without_parentheses
from loopwright.errors import BadInput


def refuse_odd_bases(
    block: Node, iterators: frozenset[str], ranks: Mapping[str, int], declarations: Declarations
) -> None:
    """Raise if a number is subscripted, or an array is a subscript."""
    for node in walk(block):
        if node.type not in ("subscript_expression", "pointer_expression"):
            continue
        reference = reference_of(node)
        if reference is None or not reference.subscripts:
            continue
        declared = declarations.visible(reference.base, block.span)
        kind = declarations.resolved(declared.type) if declared is not None and declared.rank == 0 else ""
        is_number = is_integer_type(kind) or is_floating_type(kind)
        if reference.base in iterators or is_number or _has_array_term(reference, ranks):
            raise refuse(
                node,
                f"'{reference.base}' is subscripted here, but is not an array",
                "write the array first, then its subscripts: A[i], *(A + i)",
            )


def _has_array_term(reference: Reference, ranks: Mapping[str, int]) -> bool:
    """Whether a term of a subscript is an array."""
    terms = [without_parentheses(term) for subscript in reference.subscripts for term in subscript]
    return any(term.type == "identifier" and ranks.get(term.text, 0) > 0 for term in terms)


class SharedStorage(Exception):
    """Raised for storage `root` that a region accesses under several names; `failure` has the place."""

    def __init__(self, failure: BadInput, root: str) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.root = root


def refuse_mixed_fields(
    block: Node, assigned: frozenset[str], local: frozenset[str], untracked: frozenset[str]
) -> frozenset[str]:
    """Raise if a struct with fields in use is also used in another way.

    A struct that is passed to calls may be used in both ways if no field is assigned, only what fields point
    to: `im.data[i] = f(im, i);`.  Such structs are returned.
    """
    given: set[str] = set()
    direct = {_assigned_base(node) for node in walk(block)}
    references = _whole_references(block)
    _refuse_local_fields([one for one in references if one.root.text in local - untracked])
    fields: dict[str, list[str]] = {}
    for reference in references:
        root = reference.root.text
        if root in untracked:
            continue
        if root != reference.base:
            fields.setdefault(root, []).append(reference.base)
    for reference in references:
        root = reference.root.text
        parts = [base for base in fields.get(root, ()) if base.startswith(f"{reference.base}__")]
        if not parts:
            continue
        written = any(base in assigned for base in parts)
        if written and _is_argument(reference) and direct.isdisjoint((root, *parts)):
            given.add(root)
        elif written or reference.subscripts or reference.base in assigned:
            failure = refuse(
                reference.node,
                f"'{reference.node.text}' is used here and through its fields",
                "access each of its fields, always in the same way",
            )
            raise SharedStorage(failure, root)
    return frozenset(given)


def _refuse_local_fields(references: Sequence[Reference]) -> None:
    """Raise if fields of a local struct, or of what a local pointer points to, are accessed.

    The structs come first: a pointer can often be followed once they are gone.
    """
    inside = [one for one in references if one.root.text != one.base]
    structs = [one for one in inside if not _is_through_pointer(one)]
    for reference in (*structs, *inside):
        root = reference.root.text
        is_struct = reference in structs
        what = "the fields of" if is_struct else "the fields that are accessed through"
        hint = "a variable for each of its fields" if is_struct else "the array or struct that it points to"
        message = f"{what} '{root}', which is declared in the region, cannot be followed"
        raise SharedStorage(refuse(reference.node, message, f"use {hint}"), root)


def _is_through_pointer(reference: Reference) -> bool:
    """Whether the innermost field of `p->x.y` is one of what `p` points to."""
    outer = reference.root.beyond("parenthesized_expression")
    return outer is not None and outer.type == "field_expression" and field(outer, "operator").text == "->"


def _assigned_base(node: Node) -> str | None:
    """The name of a variable or a field that is itself assigned, or whose address is taken."""
    target = field(node, "argument") if is_address(node) else assigned_target(node)
    reference = None if target is None else reference_of(target)
    return None if reference is None or reference.subscripts else reference.base


def _is_argument(reference: Reference) -> bool:
    """Whether a struct is passed to a call by value."""
    around = reference.node.parent
    is_whole = reference.node.type == "identifier" and not reference.subscripts
    return is_whole and around is not None and around.type == "argument_list"


def _whole_references(block: Node) -> tuple[Reference, ...]:
    """The references that are not part of a larger one."""
    found = []
    for node in walk(block):
        reference = reference_of(node)
        if reference is not None and not _is_part(reference):
            found.append(reference)
    return tuple(found)


def _is_part(reference: Reference) -> bool:
    """Whether the node around this one is a reference that starts with it."""
    outer = reference.node.beyond("parenthesized_expression")
    larger = reference_of(outer) if outer is not None else None
    return larger is not None and larger.root == reference.root
