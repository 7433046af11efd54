"""The middle of two programs with different storage: each statement with its cells in both.

Divided statements: the original, with the names of the parts for their instances.

If storage changes for some instances of a statement S, these have a name S' of their own.  The checker is
given the loops of the original with a choice in place of each call of S,

    if (i is an instance of S') S'(i); else S(i);

and checks that joining the names again yields the loops as they are written (`proofs/Divided.v`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, If, Node
from loopwright.loops.traverse import substituted, with_children
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import padded
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.certificates.buffers import ProductPrograms, with_product_arrays
from loopwright.prove.certificates.specification import chosen
from loopwright.prove.legality.values import moves, refuse_no_copy
from loopwright.prove.obligations.cells import Cell, StatementCells, whole_arrays
from loopwright.prove.obligations.decisions import decided
from loopwright.prove.obligations.formulas import exprs_of, formula_of
from loopwright.prove.obligations.legality import loops_as_written
from loopwright.prove.obligations.timetable import Vector, pieces_of
from loopwright.transform.storage import StorageChange


def wholes_of(changes: Sequence[StorageChange]) -> dict[str, str]:
    """For each statement that is a part of another, that of the original."""
    found: dict[str, str] = {}
    for change in changes:
        found |= {part: found.get(whole, whole) for part, whole in change.division.items()}
    return {part: whole for part, whole in found.items() if part != whole}


@dataclass(frozen=True, eq=False)
class DividedOriginal:
    """The program before the first change, with its statements divided into parts, and its loops."""

    program: Program
    wholes: dict[str, str]
    """The name of each part's statement."""
    text: Node
    """The loops as written."""
    choosing: Node
    """The loops with choices between the parts."""


def divided(changes: Sequence[StorageChange]) -> DividedOriginal:
    """Divides the statements, in the order of the last program."""
    original, after = changes[0].original, changes[-1].after
    wholes = wholes_of(changes)
    names = {one.name: one for one in original.statements}
    parts: dict[str, list[Statement]] = {name: [] for name in names}
    found: list[Statement] = []
    for one in after.statements:
        whole = wholes.get(one.name, one.name)
        if whole in names:
            parts[whole].append(one)
            found.append(_part(names[whole], one) if wholes else names[whole])
    text = loops_as_written(original)
    program = replace(original, statements=tuple(found))
    return DividedOriginal(program, wholes, text, _choosing(text, parts, original))


def _part(whole: Statement, part: Statement) -> Statement:
    """The instances of `whole` that belong to the part, on the cells of the original."""
    name = part.domain.get_tuple_id()
    domain = whole.domain.set_tuple_id(name).intersect(part.domain)

    def of_part(access: Access) -> Access:
        return replace(access, relation=access.relation.set_tuple_id(IN, name).intersect_domain(domain))

    schedule = whole.schedule.set_tuple_id(IN, name).intersect_domain(domain)
    accesses = tuple(map(of_part, whole.accesses))
    return replace(whole, name=part.name, domain=domain, schedule=schedule, accesses=accesses)


def _choosing(node: Node, parts: Mapping[str, Sequence[Statement]], original: Program) -> Node:
    """The loops with a choice between the parts in place of each call."""
    if not isinstance(node, Call):
        return with_children(node, lambda inside: _choosing(inside, parts, original))
    first, *others = parts[node.name]
    values = dict(zip(first.iterators, node.arguments, strict=True))
    known = original.statement(node.name).domain.intersect_params(original.context)
    found: Node = replace(node, name=first.name)
    for part in others:
        inside = part.domain.set_tuple_id(known.get_tuple_id()).gist(known)
        condition = substituted(formula_of(inside, part.iterators), values)
        found = If(condition, replace(node, name=part.name), found)
    return found


@dataclass(frozen=True, eq=False)
class PairedCell:
    """The cells of an access before and after, as expressions and as relations."""

    cells: tuple[Cell, Cell]
    relations: tuple[isl.Map, isl.Map]
    is_moved: bool


@dataclass(frozen=True, eq=False)
class MiddleStatement:
    """A statement of the middle, with { instance -> time }."""

    statement: Statement
    reads: tuple[PairedCell, ...]
    writes: tuple[PairedCell, ...]
    time: isl.Map
    is_copy: bool

    def touched(self, side: int) -> StatementCells:
        """The cells it accesses before (0) or after (1)."""
        reads, writes = (tuple(one.cells[side] for one in some) for some in (self.reads, self.writes))
        return StatementCells(self.statement.name, self.statement.iterators, reads, writes)


def with_products_of(division: DividedOriginal, after: Program) -> ProductPrograms:
    """The original, divided, and the program after, with each product that a buffer holds read as a cell."""
    return with_product_arrays(division.program, after, is_divided=bool(division.wholes))


def middle(found: ProductPrograms) -> Iterator[MiddleStatement]:
    """Yields the statements of the program after, each with its cells in the one before."""
    written, after = found.written, found.after
    length = max((one.schedule.dim(OUT) for one in after.statements), default=0)
    whole = frozenset((*whole_arrays(written), *whole_arrays(after)))
    before = {one.name: one for one in written.statements}
    known = frozenset((*(one.name for one in written.arrays), *(one.name for one in found.products)))
    for one in after.statements:
        domain = one.domain.intersect_params(after.context)
        time = padded(one.schedule, length).intersect_domain(domain)
        mine = before.get(one.name, one)
        if len(mine.accesses) != len(one.accesses):
            raise GaveUp(Code.NO_PROOF, "storage has changed, and a statement has other accesses")
        pairs = list(zip(mine.accesses, one.accesses, strict=True))
        reads = [_paired(a, b, one, domain, whole) for a, b in pairs if not a.is_write]
        writes = [_paired(a, b, one, domain, whole) for a, b in pairs if a.is_write]
        reads += [_paired(a, b, one, domain, whole) for a, b in pairs if a.is_write and _is_unsure(a, whole)]
        if one.name not in before:
            if one.name not in found.computing:
                refuse_no_copy(one, after)
            reads, writes = _copied(reads, writes, known)
        yield MiddleStatement(one, tuple(reads), tuple(writes), time, one.name not in before)


def _copied(
    reads: list[PairedCell], writes: list[PairedCell], known: frozenset[str]
) -> tuple[list[PairedCell], list[PairedCell]]:
    """The accesses of a copy: before, it copies the cell that it comes from or goes back to to itself."""
    (read,), (write,) = reads, writes
    comes = read.cells[0].array in known
    if not comes and write.cells[0].array not in known:
        raise GaveUp(Code.NO_PROOF, "storage has changed, and a buffer is copied to another one")
    same = read if comes else write
    return (
        [PairedCell((same.cells[0], read.cells[1]), (same.relations[0], read.relations[1]), not comes)],
        [PairedCell((same.cells[0], write.cells[1]), (same.relations[0], write.relations[1]), is_moved=True)],
    )


def _is_unsure(write: Access, whole: frozenset[str]) -> bool:
    """Whether a write may leave all or part of the cell unchanged, and so also reads it."""
    return not write.must or write.array in whole


def _paired(
    old: Access, new: Access, statement: Statement, domain: isl.Set, whole: frozenset[str]
) -> PairedCell:
    mine, theirs = (one.relation.intersect_domain(domain) for one in (old, new))
    moved = moves(replace(old, relation=mine), replace(new, relation=theirs))
    if old.array in whole or new.array in whole:
        if moved:
            raise GaveUp(Code.NO_PROOF, f"which cell of {old.array} is accessed depends on data")
        nothing = isl.Map.from_domain(domain).set_tuple_name(OUT, old.array)
        cell = Cell(old.array, ())
        return PairedCell((cell, cell), (nothing, nothing), is_moved=False)
    before, after = (
        Cell(one.array, function_of(relation, statement.iterators))
        for one, relation in ((old, mine), (new, theirs))
    )
    return PairedCell((before, after), (mine, theirs), moved)


def replaced_arrays(statements: Sequence[MiddleStatement]) -> tuple[str, ...]:
    """The arrays of which another cell is written than before, and those that are written instead."""
    found: dict[str, None] = {}
    for one in statements:
        for write in one.writes:
            if write.is_moved:
                found |= dict.fromkeys(cell.array for cell in write.cells[one.is_copy :])
    return tuple(found)


def function_of(relation: isl.Map, names_of: tuple[str, ...]) -> Vector:
    """A function of instances; with conditionals for several pieces, () if there is none."""
    pieces = [(domain, exprs_of(function, names_of)) for domain, function in pieces_of(relation)]
    tree = decided(relation.domain(), pieces, names_of)
    return () if tree is None else chosen(tree)
