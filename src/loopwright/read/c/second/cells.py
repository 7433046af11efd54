"""Which storage an expression of the typed tree names: a base and its subscripts.

`a[i][j]`, `*(p + i)`, `g->u[i]`, `s.f` and `q[i].x` are cells.  Members before the first subscript belong
to the base, as the reader names it: `g__u`.  A member of an element is part of the element; what an
element points to may be anywhere in the array, for all that is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.c.typed import tree
from loopwright.c.types import ArrayType, CType, Pointer, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass

Term = tuple[tree.Expression, int]
"""A summand of a subscript, and its sign."""


@dataclass(frozen=True)
class NamedCell:
    """`base[subscripts]`; each subscript is the sum of its terms, 0 without any."""

    base: str
    root: tree.Declaration
    subscripts: tuple[tuple[Term, ...], ...] = ()
    is_part: bool = False
    """Only a member of the element."""
    is_elsewhere: bool = False
    """Reached through a pointer in the element."""
    inner: tuple[tree.Expression, ...] = ()
    """Subscripts inside the element, which are evaluated too."""

    def expressions(self) -> tuple[tree.Expression, ...]:
        """All that is computed to find the cell."""
        return (*(term for subscript in self.subscripts for term, _ in subscript), *self.inner)


Rows = Mapping[int, tuple[NamedCell, tuple[Term, ...]]]
"""Local pointers that stand for a row, by their declaration: the cell they point into, and how far."""


def is_pointer(kind: CType) -> bool:
    return isinstance(unqualified(kind), Pointer | ArrayType)


def cell_of(node: tree.Expression, rows: Rows) -> NamedCell | None:
    """The storage that `node` names; None where it is not an lvalue of this kind."""
    match tree.without_casts(node):
        case tree.Name(declaration=declared):
            return NamedCell(declared.name, declared)
        case tree.Subscript(base=base, index=index):
            return _element(base, ((index, 1),), rows)
        case tree.Unary(operator="*", operand=operand):
            return _element(operand, (), rows)
        case tree.MemberAccess(object=inner, name=name, is_arrow=is_arrow):
            return _member(cell_of(inner, rows), name, is_arrow=is_arrow)
    return None


def _member(inner: NamedCell | None, name: str, *, is_arrow: bool) -> NamedCell | None:
    if inner is None:
        return None
    if inner.subscripts:
        return replace(inner, is_part=True, is_elsewhere=inner.is_elsewhere or is_arrow)
    return replace(inner, base=f"{inner.base}__{name}")


def _element(pointer: tree.Expression, terms: tuple[Term, ...], rows: Rows) -> NamedCell | None:
    """What `pointer[terms]` is: the sums in the pointer belong to the subscript."""
    found = pointed(pointer, rows)
    if found is None:
        return None
    cell, ahead = found
    if cell.is_part:
        inner = (*cell.inner, *(term for term, _ in (*ahead, *terms)))
        return replace(cell, inner=inner, is_elsewhere=True)
    return replace(cell, subscripts=(*cell.subscripts, (*ahead, *terms)))


def pointed(pointer: tree.Expression, rows: Rows) -> tuple[NamedCell, tuple[Term, ...]] | None:
    """The array or pointer that a value points into, and the terms that are added to it."""
    node = tree.without_casts(pointer)
    match node:
        case tree.Binary(operator="+" | "-" as op, left=left, right=right) if _is_address(left):
            inner = pointed(left, rows)
            return None if inner is None else (inner[0], (*inner[1], (right, 1 if op == "+" else -1)))
        case tree.Unary(operator="&", operand=operand):
            target = cell_of(operand, rows)
            if target is None or target.is_part or not target.subscripts:
                return None
            *outer, last = target.subscripts
            return replace(target, subscripts=tuple(outer)), last
        case tree.Name(declaration=declared) if declared.offset in rows:
            return rows[declared.offset]
    cell = cell_of(node, rows)
    return None if cell is None else (cell, ())


def _is_address(node: tree.Expression) -> bool:
    kind = unqualified(node.type)
    return isinstance(kind, Pointer | ArrayType | Unknown)
