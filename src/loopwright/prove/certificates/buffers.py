"""Buffers of products, and buffers that are private to iterations: `proofs/Buffers.v`.

A product f * a, of cells that nothing writes, is treated as a cell of a virtual array, "f * A", with the
subscripts of a.  The statement that computes it into a buffer is a copy of that cell.  Each block of a GPU
has its own copy of a buffer in shared memory or in registers: the subscripts of its cells are preceded by the
tag of the iteration of the loops over blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Var
from loopwright.loops.nodes import Block, Call, If, Node
from loopwright.loops.traverse import children, is_said, subprograms
from loopwright.model.annotations import BlockLoop
from loopwright.model.program import Access, MemorySpace, Program, Statement
from loopwright.presburger.sets import OUT
from loopwright.prove.certificates.specification import cell_words
from loopwright.prove.certificates.temporaries import Way, padded_ways, tag_in, ways_to_calls
from loopwright.prove.coq.words import Words, listed, name, names, vector
from loopwright.prove.legality.scaled import Product, product_of, with_products
from loopwright.prove.obligations.cells import Cell, StatementCells
from loopwright.prove.obligations.timetable import Shape


@dataclass(frozen=True)
class ProductArray:
    """A virtual array, of products of two cells."""

    name: str
    subscripts: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False)
class ProductPrograms:
    """Programs before and after storage changed, in which products are cells."""

    written: Program
    after: Program
    products: tuple[ProductArray, ...] = ()
    computing: frozenset[str] = frozenset()
    """The new statements that compute products."""


def with_product_arrays(written: Program, after: Program, *, is_divided: bool) -> ProductPrograms:
    """Both programs, with each product that a buffer of `after` holds read as a cell."""
    known = {one.name for one in written.statements}
    new = {one.name: product_of(one, after) for one in after.statements if one.name not in known}
    computed = {statement: one for statement, one in new.items() if one is not None}
    if not computed:
        return ProductPrograms(written, after)
    if is_divided:
        raise GaveUp(Code.NO_PROOF, "storage has changed for some instances, and a buffer holds products")
    _refuse_written(computed.values(), (written, after))
    merged = with_products(written, after, computed)
    held = {after.statement(statement).writes[0].array: one for statement, one in computed.items()}
    before = [_reading(one, after.statement(one.name), held) for one in merged.statements]
    later = [_computing(one, computed.get(one.name)) for one in after.statements]
    ranks = {array.name: array.rank for array in after.arrays}
    arrays = {_name(one): _array(one, ranks[one.cell.array]) for one in computed.values()}
    return ProductPrograms(
        replace(written, statements=tuple(before)),
        replace(after, statements=tuple(later)),
        tuple(arrays.values()),
        frozenset(computed),
    )


def _refuse_written(products: Collection[Product], programs: Sequence[Program]) -> None:
    written = {a.array for program in programs for one in program.statements for a in one.writes}
    for one in products:
        for access in (one.factor, one.cell):
            if access.array in written:
                why = f"a buffer holds products of {access.array}, which is written"
                raise GaveUp(Code.NO_PROOF, why)


def _name(product: Product) -> str:
    first, second = _ordered(product)
    return f"{first.array} * {second.array}"


def _ordered(product: Product) -> tuple[Access, Access]:
    pair = product.factor, product.cell
    return pair if product.first else (product.cell, product.factor)


def _array(product: Product, rank: int) -> ProductArray:
    subscripts = tuple(f"z{k}" for k in range(rank))
    cell = Cell(product.cell.array, tuple(map(Var, subscripts)))
    factor = Cell(product.factor.array, ())
    return ProductArray(_name(product), subscripts, (factor, cell) if product.first else (cell, factor))


def _renamed(access: Access, array: str) -> Access:
    return replace(access, array=array, relation=access.relation.set_tuple_name(OUT, array))


def _reading(before: Statement, after: Statement, held: Mapping[str, Product]) -> Statement:
    """A statement of the original, with a product read as a cell where `after` reads a buffer of products."""
    if not any(one.array in held for one in after.reads):
        return before
    pairs = zip(before.accesses, after.accesses, strict=True)
    accesses = (
        _renamed(mine, _name(replace(held[theirs.array], cell=mine))) if theirs.array in held else mine
        for mine, theirs in pairs
    )
    return replace(before, accesses=tuple(accesses))


def _computing(statement: Statement, product: Product | None) -> Statement:
    """A statement that computes a product, as a copy of one."""
    if product is None:
        return statement
    return replace(statement, accesses=(_renamed(product.cell, _name(product)), *statement.writes))


def product_words(one: ProductArray) -> Words:
    yield name(one.name)
    yield from names(one.subscripts)
    yield from listed(one.cells, cell_words)


# -- buffers of iterations ------------------------------------------------------------------------------


OF_BLOCKS = (MemorySpace.SHARED, MemorySpace.OWN, MemorySpace.PRIVATE)
"""Memory that is private to each block of a GPU."""


@dataclass(frozen=True)
class Entered:
    """How many parallel loops to enter to reach the one whose iterations have their own buffers."""

    count: int


@dataclass(frozen=True)
class PartLevels:
    """A different number in each part of a block."""

    parts: tuple[BufferLevel, ...]


BufferLevel: TypeAlias = Entered | PartLevels
NEVER = Entered(1000)
"""More than any program has."""


def buffer_layers(
    loops: Node, program: Program, shapes: Mapping[str, Shape], uses: Sequence[StatementCells]
) -> list[tuple[str, ...]]:
    """The buffers that are private to blocks of a GPU, in which loops, and the tags of the statements.

    The iterations of the innermost loops over blocks have their own.
    """
    arrays = [one.name for one in program.arrays if one.space in OF_BLOCKS]
    using = {one.statement for one in uses if any(c.array in arrays for c in (*one.reads, *one.writes))}
    if not using or not any(is_said(part, BlockLoop) for part in subprograms(loops)):
        return []
    level = _level(loops, using)
    ways = padded_ways(_ways(loops, level, ()))
    tags = [tag_in(shapes[one.statement], ways) for one in uses]
    return [(*_level_words(level), *names(arrays), *listed(tags, vector), "0")]


def _depths(node: Node, using: Collection[str], depth: int) -> Iterator[int]:
    """Yields, for the calls of these statements, how many loops over blocks they are in."""
    if isinstance(node, Call) and node.name in using:
        yield depth
    for child in children(node):
        yield from _depths(child, using, depth + is_said(node, BlockLoop))


def _level(node: Node, using: Collection[str]) -> BufferLevel:
    depths = set(_depths(node, using, 0))
    if len(depths) < 2:
        return Entered(depths.pop()) if depths else NEVER
    match node:
        case Block(parts):
            return PartLevels(tuple(_level(one, using) for one in parts))
        case If(_, then, None):
            return _level(then, using)
        case _:
            raise GaveUp(Code.NO_PROOF, "buffers belong to loops over blocks at different depths")


def _ways(node: Node, level: BufferLevel, so_far: Way) -> Iterator[Way]:
    match level, node:
        case Entered(count), _:
            yield from ways_to_calls(node, so_far, count)
        case PartLevels(levels), Block(parts):
            for k, (one, part) in enumerate(zip(levels, parts, strict=True)):
                yield from _ways(part, one, (*so_far, k))
        case _, If(_, then, None):
            yield from _ways(then, level, so_far)
        case _:
            raise GaveUp(Code.NO_PROOF, "buffers belong to loops over blocks at different depths")


def _level_words(level: BufferLevel) -> Words:
    match level:
        case Entered(count):
            yield from ("entered", str(count))
        case PartLevels(parts):
            yield "parts"
            yield from listed(parts, _level_words)
