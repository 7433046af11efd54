"""What is subscripted has to be the array: `i[A]` and `*(i + A)` mean A[i], and are not read.

Taken for a subscript of i they would be accesses to storage that does not exist, and the one to A
would be lost.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.c.declarations import Declarations, is_floating_type, is_integer_type
from loopwright.c.references import Reference, reference_of
from loopwright.c.syntax import Node, refuse, walk, without_parentheses


def refuse_odd_bases(
    block: Node,
    iterators: frozenset[str],
    ranks: Mapping[str, int],
    declarations: Declarations,
) -> None:
    """Raise where a number is subscripted, or an array is a subscript."""
    for node in walk(block):
        if node.type not in ("subscript_expression", "pointer_expression"):
            continue
        reference = reference_of(node)
        if reference is None or not reference.subscripts:
            continue
        declared = declarations.visible(reference.base, block.span)
        kind = declarations.resolved(declared.type) if declared is not None and declared.rank == 0 else ""
        is_number = is_integer_type(kind) or is_floating_type(kind)
        if reference.base in iterators or is_number or _arrays(reference, ranks):
            raise refuse(
                node,
                f"'{reference.base}' is taken for the array here",
                "write the array first, then its subscripts: A[i], *(A + i)",
            )


def _arrays(reference: Reference, ranks: Mapping[str, int]) -> bool:
    """Whether a term of a subscript is an array."""
    terms = [without_parentheses(term) for subscript in reference.subscripts for term in subscript]
    return any(term.type == "identifier" and ranks.get(term.text, 0) > 0 for term in terms)
