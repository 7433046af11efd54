"""Buffers of products: b = f * a for a copy, and b where the statement had f * a'.

With `pack(.., scaled)` a copy holds f times a cell, so the product is not recomputed in every iteration. Let
K be a statement that P' has and P has not, `b = f * a;` or `b = a * f;`, with

    f        a variable that no statement of P or P' writes;
    types    f, a and b of one floating-point type, so that the product is rounded to the type of b anyway.

If a statement of P' reads b's array and that of P has `f * a'` (`a' * f`) in its place, the product counts as
one access, that of a': it has the value of b if a' reads in P what a reads in the instance of K that wrote b.
The same is proved of a copy `b = a;` (`storage`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopwright.c.declarations import is_floating_type
from loopwright.c.syntax import Node, field, operator
from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.prove.legality.values import element_type
from loopwright.prove.reading.loops import leaf_nodes
from loopwright.source import Span


@dataclass(frozen=True, eq=False)
class Product:
    """`factor * cell`, or `cell * factor` if `first` is false."""

    factor: Access
    cell: Access
    first: bool


def product_of(copy: Statement, program: Program) -> Product | None:
    """The product that a new statement stores, if it computes nothing else."""
    exact = all(one.must and one.relation.is_single_valued() for one in copy.accesses)
    if len(copy.writes) != 1 or len(copy.reads) != 2 or not exact:
        return None
    node = leaf_nodes(program, program.syntax)[copy.name]
    node = node.only_expression or node
    if node.type != "assignment_expression" or operator(node) != "=":
        return None
    found = _product(field(node, "right"), copy, program)
    if found is None or field(node, "left").span != copy.writes[0].place:
        return None
    kinds = {element_type(program, one) for one in copy.accesses}
    kind = kinds.pop()
    return found if not kinds and kind is not None and is_floating_type(kind) else None


def _product(node: Node, statement: Statement, program: Program) -> Product | None:
    """A product of a scalar and a cell, both accesses of the statement."""
    if node.type != "binary_expression" or operator(node) != "*":
        return None
    reads = {one.place: one for one in statement.reads}
    left, right = (reads.get(field(node, side).span) for side in ("left", "right"))
    if left is None or right is None:
        return None
    ranks = {array.name: array.rank for array in program.arrays}
    if ranks[left.array] == 0 and ranks[right.array] > 0:
        return Product(left, right, first=True)
    if ranks[right.array] == 0 and ranks[left.array] > 0:
        return Product(right, left, first=False)
    return None


class OtherProducts(Exception):
    """The second program has a buffer of products in place of another expression; the message says where."""


def with_products(before: Program, after: Program, products: Mapping[str, Product | None]) -> Program:
    """The same as `merged_products`, for a program that was generated here."""
    try:
        return merged_products(before, after, products)
    except OtherProducts as failure:
        raise InternalError(Code.INTERNAL, str(failure)) from None


def merged_products(before: Program, after: Program, products: Mapping[str, Product | None]) -> Program:
    """`before`, with each product in a buffer of `after` counted as one access; by new statement."""
    held = {after.statement(name).writes[0].array: one for name, one in products.items() if one is not None}
    if not held:
        return before
    _refuse_other_writes(before, after, products, held)
    mine, theirs = (leaf_nodes(program, program.syntax) for program in (before, after))
    statements = []
    for old in before.statements:
        cells = {a.place: held[a.array] for a in after.statement(old.name).reads if a.array in held}
        operands = list(_operands(mine[old.name], theirs[old.name], cells)) if cells else []
        if len(operands) != len(cells):
            raise OtherProducts(f"{old.name} is another operation where its storage changed")
        for node, product in operands:
            old = _merged(old, node, product, before)
        statements.append(old)
    return replace(before, statements=tuple(statements))


def _refuse_other_writes(
    before: Program, after: Program, products: Mapping[str, Product | None], held: Mapping[str, Product]
) -> None:
    """Checks that factors are never written, and each buffer of products by one new statement only."""
    writes = [(s.name, a.array) for program in (before, after) for s in program.statements for a in s.writes]
    factors = {one.factor.array for one in held.values()}
    for name, array in writes:
        if array in factors or (array in held and products.get(name) is not held[array]):
            raise OtherProducts(f"{name} writes {array}, on which a buffer of products depends")


def _operands(old: Node, new: Node, cells: Mapping[Span, Product]) -> Iterator[tuple[Node, Product]]:
    """Yields the expressions of `old` that one of the cells replaces in `new`."""
    if new.span in cells:
        yield old, cells[new.span]
    elif old.type == new.type and len(old.children) == len(new.children):
        for one, other in zip(old.children, new.children, strict=True):
            yield from _operands(one, other, cells)


def _merged(statement: Statement, node: Node, held: Product, program: Program) -> Statement:
    """The statement with one access for a product: that of its cell, at the place of the product."""
    found = _product(node, statement, program)
    inside = [one for one in statement.accesses if node.span.contains(one.place)]
    same = found is not None and (found.factor.array, found.first) == (held.factor.array, held.first)
    if found is None or not same or len(inside) != 2:
        raise OtherProducts(f"{statement.name} has no product where a buffer holds one")
    accesses = tuple(
        replace(one, place=node.span) if one is found.cell else one
        for one in statement.accesses
        if one is not found.factor
    )
    return replace(statement, accesses=accesses)
