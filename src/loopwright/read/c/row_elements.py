"""What `row[j]` is where a local pointer to a row is in scope, and that it stays in that row."""

from __future__ import annotations

import islpy as isl

from loopwright.c.casts import Ambiguous, expression_of
from loopwright.c.references import Reference, Subscript
from loopwright.c.reworded.row_pointers import RowPointer
from loopwright.c.syntax import Node, refuse
from loopwright.presburger.named import number
from loopwright.presburger.polynomials import as_affine
from loopwright.read.c.affine import affine
from loopwright.read.c.frames import Frame, LocalValue, NotAffine
from loopwright.read.c.polynomials import polynomial, subscript_polynomial

_HINT = "use the array it points into"


def after_row(declarator: Node, frame: Frame) -> Frame | None:
    """The frame after the declaration of a pointer to a row; None if this is no such declaration.

    Where it points must not change: iterators, parameters and local integers do not while it lives.
    """
    row = next((row for row in frame.setting.names.rows if row.declarator == declarator), None)
    if row is None:
        return None
    for term in [term for subscript in row.subscripts for term in subscript]:
        try:
            polynomial(term, frame)
        except NotAffine as failure:
            message = f"where '{row.name}' points cannot be followed: {failure.reason}"
            raise refuse(failure.node, message, _HINT) from None
    return frame.bind(LocalValue(row.name, None, row.definition, row=row))


def through_row(reference: Reference, frame: Frame) -> Reference:
    """`row[j]` as the element of the array it is; other references as they are."""
    local = frame.local(reference.root.text)
    row = None if local is None else local.row
    if row is None:
        return reference
    if reference.root.source != row.definition.source:
        raise refuse(reference.node, f"'{row.name}' is a pointer, and used in a macro", _HINT)
    found = row.element(reference)
    _refuse_leaving(row, found, frame)
    return found


def _refuse_leaving(row: RowPointer, found: Reference, frame: Frame) -> None:
    """A pointer may run through all rows of `double img[h][w]`; then it would not be one of them.

    Arrays of one dimension and rows that are wherever pointers lead have no next row.
    """
    setting = frame.setting
    declared = setting.declarations.visible(row.base, setting.region)
    if declared is not None and (declared.rank == 1 or declared.has_row_pointers):
        return
    size = None if declared is None or not declared.extents else _extent(declared.extents[-1], frame)
    index = _index(found.subscripts[-1], frame)
    if size is not None and index is not None:
        inside = index.ge_set(number(0)).intersect(index.lt_set(size))
        if frame.known().is_subset(inside):
            return
    text = found.node.text
    rows = f"'{row.base}'" if size is None or declared is None else f"'{row.base}' of {declared.extents[-1]}"
    raise refuse(
        found.node,
        f"'{text}' may leave the row of {rows} that '{row.name}' points to",
        f"{_HINT}, or state what keeps it inside: --assume",
    )


def _index(subscript: Subscript, frame: Frame) -> isl.PwAff | None:
    try:
        value = subscript_polynomial(subscript, frame)
    except NotAffine:
        return None
    return as_affine(value)


def _extent(text: str, frame: Frame) -> isl.PwAff | None:
    """The size of a row, as it is declared."""
    try:
        node = expression_of(text, frame.setting.kinds)
        return None if node is None else affine(node, frame)
    except (NotAffine, Ambiguous):
        return None
