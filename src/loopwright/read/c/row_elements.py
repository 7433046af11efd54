"""Accesses through local pointers to rows, `row[j]`, and the proof that they stay in the row.

It also reads index expressions that multiply iterators by parameters: `(i * n + j) * m + k`.

Their atoms are names, and affine expressions that are not plain sums (`i / 2`, `min(i, 3)`).
"""

from __future__ import annotations

import islpy as isl

from loopwright.c.casts import Ambiguous, expression_of
from loopwright.c.declarations import is_integer_type
from loopwright.c.references import Reference, Subscript, is_subtracted
from loopwright.c.reworded.row_pointers import RowPointer
from loopwright.c.syntax import Node, field, named_children, operator, refuse
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import names_of, number
from loopwright.presburger.polynomials import ZERO, Monomial, Polynomial, as_affine, of_affine
from loopwright.read.c.affine import affine
from loopwright.read.c.frames import Frame, LocalValue, NotAffine
from loopwright.read.c.index_calls import called_expression


def polynomial(node: Node, frame: Frame) -> Polynomial:
    """The integer expression `node`; raises NotAffine if some part is neither a product nor affine."""
    match node.type:
        case "parenthesized_expression" if len(named_children(node)) == 1:
            return polynomial(named_children(node)[0], frame)
        case "unary_expression" if operator(node) in ("-", "+"):
            inner = polynomial(field(node, "argument"), frame)
            return ZERO.plus(inner, -1) if operator(node) == "-" else inner
        case "cast_expression" if _is_wide(node, frame):
            return polynomial(field(node, "value"), frame)
        case "binary_expression" if operator(node) in ("+", "-", "*"):
            left, right = polynomial(field(node, "left"), frame), polynomial(field(node, "right"), frame)
            if operator(node) == "*":
                return left.times(right)
            return left.plus(right, 1 if operator(node) == "+" else -1)
        case "call_expression" if (inside := called_expression(node, frame, affine)) is not None:
            return polynomial(*inside)
        case "identifier" if (local := frame.local(node.text)) is not None:
            return local.polynomial or of_affine(affine(node, frame))
        case _:
            return of_affine(affine(node, frame))


def subscript_polynomial(subscript: Subscript, frame: Frame) -> Polynomial:
    """The sum of the terms of a subscript."""
    total = ZERO
    for term in subscript:
        total = total.plus(polynomial(term, frame), -1 if is_subtracted(term) else 1)
    return total


@dataclass(frozen=True)
class Split:
    """A monomial as the product of an iterator, or 1, and parameters."""

    iterator: str | None
    stride: Monomial
    factor: int


def split_terms(value: Polynomial, iterators: tuple[str, ...]) -> tuple[Split, ...] | None:
    """Each monomial split; None if one has a product of iterators."""
    found = []
    for monomial, factor in value.terms.items():
        moving = [name for name in monomial if not set(iterators).isdisjoint(names_of(value.atom(name)))]
        if len(moving) > 1:
            return None
        still = tuple(name for name in monomial if name not in moving)
        found.append(Split(moving[0] if moving else None, still, factor))
    return tuple(found)


def _is_wide(node: Node, frame: Frame) -> bool:
    kind = field(node, "type").text
    return is_integer_type(frame.setting.declarations.resolved(kind))


_HINT = "use the array it points into"


def after_row(declarator: Node, frame: Frame) -> Frame | None:
    """The frame after the declaration of a pointer to a row; None if it is not such a declaration.

    Its target must be invariant: iterators, parameters and local integers are, during its lifetime, and so is
    what operators compute of them.
    """
    row = next((row for row in frame.setting.names.rows if row.declarator == declarator), None)
    if row is None:
        return None
    for term in [term for subscript in row.subscripts for term in subscript]:
        try:
            _require_fixed(term, frame)
        except NotAffine as failure:
            message = f"where '{row.name}' points cannot be followed: {failure.reason}"
            raise refuse(failure.node, message, _HINT) from None
    return frame.bind(LocalValue(row.name, None, row.definition, row=row))


def _require_fixed(node: Node, frame: Frame) -> None:
    """Raise NotAffine unless an expression is a sum of products, or made of such by other operators."""
    try:
        polynomial(node, frame)
    except NotAffine:
        match node.type:
            case "parenthesized_expression":
                parts = named_children(node)
            case "binary_expression" if operator(node) in ("+", "-", "*", "/", "%"):
                parts = [field(node, "left"), field(node, "right")]
            case _:
                raise
        for part in parts:
            _require_fixed(part, frame)


def through_row(reference: Reference, frame: Frame) -> Reference:
    """The element of the array that `row[j]` denotes; other references are unchanged."""
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
    """Raise unless an access stays in its row: a pointer may run through all rows of `double img[h][w]`.

    One-dimensional arrays, and rows that pointers point to, have no next row.
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
    """The declared size of a row."""
    try:
        node = expression_of(text, frame.setting.kinds)
        return None if node is None else affine(node, frame)
    except (NotAffine, Ambiguous):
        return None
