"""Index expressions that multiply iterators by parameters: `(i * n + j) * m + k`.

Its atoms are names, and affine expressions that are not plain sums (`i / 2`, `min(i, 3)`).
"""

from __future__ import annotations

from loopwright.c.declarations import is_integer_type
from loopwright.c.references import Subscript, is_subtracted
from loopwright.c.syntax import Node, field, named_children, operator
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import names_of
from loopwright.presburger.polynomials import ZERO, Monomial, Polynomial, of_affine
from loopwright.read.c.affine import affine
from loopwright.read.c.frames import Frame
from loopwright.read.c.index_calls import called_expression


def polynomial(node: Node, frame: Frame) -> Polynomial:
    """The integer expression `node`; NotAffine where some part is neither a product nor affine."""
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
    """A monomial as the product of an iterator, or 1, and of parameters."""

    iterator: str | None
    stride: Monomial
    factor: int


def split_terms(value: Polynomial, iterators: tuple[str, ...]) -> tuple[Split, ...] | None:
    """Each monomial apart; None where one has a product of iterators."""
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
