"""Proves that NEW performs an operation that C may leave undefined only where OLD does.

A division may trap, a sum of integers may overflow, a shift may be too large, a number may be out of the
range of an integer type, a call may not return; memory that OLD does not access need not exist.  Equal values
do not show this: `d = q / m` before `if (m != 0)` changes no cell.

Operations: if the proof by values finds that an operation of OLD and one of NEW have the same operands, NEW
is defined if OLD is, provided that OLD reaches it.  A choice on data and the right side of `&&` are guards.
The proof reaches two operations from the roots of their definitions and shows every guard on the way equal to
one of the other side, so OLD reaches it if it has no more guards than NEW:

    guards(OLD's operation) <= guards(NEW's operation)

Memory: a cell that NEW writes is inside the declared sizes, or OLD accesses it for some data.  A read of NEW
from a variable that was not written before must be a read of OLD, too.  Beyond declared sizes NEW reads only
what OLD accesses.  If none are declared, it reads between the first and the last cell that OLD may access,

    { c : exists a, b in touched(OLD) : a <= c <= b }

or for sizes at which OLD accesses none; that this memory exists is then a listed assumption.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, reduce
from typing import TypeAlias

import islpy as isl

from loopwright.c.types import Floating, Integer
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int
from loopwright.model.program import Array, AssumptionKind, Program
from loopwright.presburger.named import number, tuple_set, variable
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import IN, OUT, maps_of
from loopwright.prove.equivalence.flow import Flow, ValueDefinition
from loopwright.prove.equivalence.laws import conversion
from loopwright.prove.equivalence.reading import ABSOLUTE, ARITHMETIC, local_name
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, Term, shown
from loopwright.prove.equivalence.unset import TermOccurrence, occurrences, unset_at
from loopwright.read.c.purity import CHARACTERS, LIBRARY

Operation: TypeAlias = tuple[str, Term]
"""A term of a definition, with the name of the definition."""


def may_be_undefined(term: Term) -> bool:
    """Whether there are operands for which a term is undefined in C, or does not return."""
    match term:
        case Apply(operator, arguments, kind) if operator == conversion(kind):
            is_exact = isinstance(arguments[0].type, Integer) or isinstance(kind, Floating)
            return not is_exact
        case Apply(operator, _, _) if operator.endswith("()"):
            return operator[:-2] not in LIBRARY or operator[:-2] in CHARACTERS.union(ABSOLUTE)
        case Apply("/" | "%", (_, Index(Int(divisor))), Integer()):
            return divisor in (0, -1)
        case Apply("/" | "%" | "<<" | ">>", _, kind):
            return not isinstance(kind, Floating)
        case Apply("&" | "|" | "^", _, kind):
            return not isinstance(kind, Integer)
        case Apply(operator, _, kind) if operator in (*ARITHMETIC, "-x"):
            return not isinstance(kind, Floating) and not (isinstance(kind, Integer) and not kind.signed)
        case _:
            return False


@dataclass(frozen=True, eq=False)
class Needed:
    """Operations of NEW that must also occur in OLD, with their domains and numbers of guards."""

    domains: Mapping[Operation, isl.Set]
    guards: Mapping[Operation, int]
    lines: Mapping[Operation, int | None]
    elsewhere: frozenset[Operation]
    """Reads of cells that OLD may not access."""
    allowed: Mapping[Operation, TermOccurrence]
    """The operations of OLD, with their maximum number of guards, and their domains."""

    def is_answered(self, old: Operation, new: Operation) -> bool:
        """Whether OLD computes its operation wherever NEW computes this one with the same operands."""
        theirs = self.allowed.get(old)
        return new in self.domains and theirs is not None and theirs.guards <= self.guards[new]

    def left(self, answered: Mapping[Operation, isl.Set]) -> tuple[Operation, ...]:
        """The operations that OLD is not shown to compute."""
        return tuple(
            key
            for key, domain in self.domains.items()
            if key not in answered or not domain.is_subset(answered[key])
        )

    def assumed(self, left: Iterable[Operation]) -> tuple[str, ...]:
        """The assumptions for reads of cells that OLD may not access."""
        there = [term for name, term in left if (name, term) in self.elsewhere]
        names = sorted({term.array for term in there if isinstance(term, CellTerm)})
        return tuple(
            f"'{name}' has all cells that NEW reads, even those that OLD does not access" for name in names
        )

    def refused(self, left: Iterable[Operation]) -> str | None:
        """Returns the first operation of NEW that is not shown to be allowed."""
        for name, term in left:
            if (name, term) not in self.elsewhere:
                what = "reads" if isinstance(term, CellTerm) else "computes"
                return f"line {self.lines[name, term]} {what} {shown(term)} where OLD need not do so"
        return None


def needed(memory: NewMemory, flows: tuple[Flow, Flow]) -> Needed:
    """Collects the operations of NEW that may be undefined, and reads of memory that OLD may not access."""
    domains: dict[Operation, isl.Set] = {}
    guards: dict[Operation, int] = {}
    lines: dict[Operation, int | None] = {}
    beyond: set[Operation] = set()
    for definition in flows[1].definitions.values():
        for one in occurrences(definition):
            key = (definition.name, one.term)
            if isinstance(one.term, CellTerm):
                domain = memory.doubtful(one.term, one, definition)
            else:
                domain = one.domain if memory.is_undefined(one.term) else None
            if domain is None or domain.is_empty():
                continue
            domains[key] = domain if key not in domains else domains[key].union(domain)
            guards[key] = min(one.guards, guards.get(key, one.guards))
            lines[key] = definition.line
            beyond |= set() if memory.may_be_there(one, definition) else {key}
    allowed: dict[Operation, TermOccurrence] = {}
    for definition in flows[0].definitions.values() if domains else ():
        for one in occurrences(definition):
            allowed[definition.name, one.term] = _merged(allowed.get((definition.name, one.term)), one)
    return Needed(domains, guards, lines, frozenset(domains) - beyond, allowed)


def _merged(known: TermOccurrence | None, one: TermOccurrence) -> TermOccurrence:
    """Merges two occurrences of a term: an unguarded one, or else what both guarantee."""
    if known is None:
        return one
    if 0 in (known.guards, one.guards) and known.guards != one.guards:
        return known if known.guards == 0 else one
    domain = known.domain.union(one.domain) if known.guards == 0 else known.domain.intersect(one.domain)
    return TermOccurrence(one.term, domain, max(known.guards, one.guards))


@dataclass(frozen=True, eq=False)
class NewMemory:
    """The storage of NEW."""

    flow: Flow
    arrays: Mapping[str, Array]
    own: frozenset[str]
    """Variables of the function, which have no value until they are written."""
    old: Flow
    not_shared: frozenset[str]
    """Variables of OLD that are not cells of NEW, whatever their names."""
    sizes: isl.Set
    """The sizes for which OLD is not known to be out of bounds."""
    wraps: bool = False
    """Whether sums, differences and products of integers wrap around, as in MLIR."""

    def is_undefined(self, term: Term) -> bool:
        """Whether the operation of a term may be undefined, or not return."""
        is_sum = isinstance(term, Apply) and term.operator in ("+", "-", "*", "-x")
        return may_be_undefined(term) and not (self.wraps and is_sum)

    @cached_property
    def touched(self) -> dict[str, isl.Set]:
        """The cells that OLD certainly accesses."""
        return self._cells_of_old(certain=True)

    @cached_property
    def possible(self) -> dict[str, isl.Set]:
        """The cells that OLD may access."""
        return self._cells_of_old(certain=False)

    def _cells_of_old(self, *, certain: bool) -> dict[str, isl.Set]:
        cells = touched(self.old, certain=certain)
        return {name: found for name, found in cells.items() if name not in self.not_shared}

    def may_be_there(self, one: TermOccurrence, definition: ValueDefinition) -> bool:
        """Whether a doubtful term is a cell that no declaration rules out."""
        cell = one.term
        if not isinstance(cell, CellTerm) or cell.array in self.own:
            return False
        return not self.arrays[cell.array].is_sized and self._beyond(cell, one.domain, definition).is_empty()

    def _beyond(self, cell: CellTerm, domain: isl.Set, definition: ValueDefinition) -> isl.Map:
        """Reads beyond declared sizes, or beyond all cells that OLD may access."""
        read = definition.relation(cell.subscripts, cell.array).intersect_domain(domain)
        read = read.intersect_params(self.sizes)
        array = self.arrays[cell.array]
        far = self._far(read, array)
        if array.inside is None:
            return far
        wrong = read.subtract_range(array.inside.set_tuple_name(cell.array))
        known = self.touched.get(cell.array)
        return far.union(wrong if known is None else wrong.subtract_range(known))

    def _far(self, read: isl.Map, array: Array) -> isl.Map:
        """Reads neither between cells that OLD may access nor in declared sizes, where it may access some."""
        name = str(read.get_tuple_name(OUT))
        possible = self.possible.get(name)
        if possible is None:
            return isl.Map.empty(read.get_space())
        far = read.intersect_params(possible.params()).subtract_range(possible)
        if array.rank == 1 or array.inside is not None:
            space = possible.get_space()
            after, before = (possible.apply(order(space)) for order in (isl.Map.lex_le, isl.Map.lex_ge))
            far = far.subtract_range(after.intersect(before))
        declared = _declared_cells(array)
        return far if declared is None else far.subtract_range(declared.set_tuple_name(name))

    def doubtful(self, cell: CellTerm, one: TermOccurrence, definition: ValueDefinition) -> isl.Set | None:
        """Instances that read a variable that may be uninitialised, or a cell that OLD may not access."""
        domain = one.domain
        array = self.arrays.get(cell.array)
        if array is None or not (cell.subscripts or cell.array in self.own):
            return None
        read = definition.relation(cell.subscripts, cell.array).intersect_domain(domain)
        if cell.array in self.flow.writes and (one.may_stay or cell.array not in self.own):
            written = self.flow.writes[cell.array].intersect_domain(isl.UnionSet.from_set(domain))
            if isl.UnionMap.from_map(read).is_subset(written):
                return None
        if cell.array not in self.own:
            return _outside(read.intersect_params(self.sizes), array, self.touched).domain()
        unset = unset_at(self.flow, definition, cell, one.tests)
        return None if unset is None else unset.intersect(domain)


def sizes_inside(old: Program) -> isl.Set:
    """The sizes for which the accesses of OLD are in bounds, as far as that is known."""
    facts = (one.implies for one in old.assumptions if one.kind is AssumptionKind.BOUNDS)
    return reduce(isl.Set.intersect, (one for one in facts if one is not None), old.facts)


def _in_rows(array: Array) -> Array:
    """An array of one dimension that is read in rows: no declaration tells how many rows it has."""
    if not array.rows:
        return array
    return replace(array, rank=array.dimensions, extents=(), inside=None, is_sized=False)


def memory_of(old: Program, new: Program, flows: tuple[Flow, Flow]) -> NewMemory:
    declared = new.file.declarations
    arrays = {name: _in_rows(array) for name, array in arrays_of(new).items()}
    found = {name: declared.visible(name, new.region) for name in arrays}
    own = frozenset(
        name
        for name, one in found.items()
        if arrays[name].local or (one is not None and one.scope.text.startswith("{"))
    )
    not_shared = frozenset(local_name(one.name) for one in old.arrays if one.local)
    return NewMemory(flows[1], arrays, own, flows[0], not_shared, sizes_inside(old))


def _outside(cells: isl.Map, array: Array, touched: Mapping[str, isl.Set]) -> isl.Map:
    """The part of a relation to cells that leads neither to an accessed one nor inside declared sizes."""
    name = str(cells.get_tuple_name(OUT))
    if array.inside is not None and array.is_sized:
        cells = cells.subtract_range(array.inside.set_tuple_name(name))
    known = touched.get(name)
    return cells if known is None else cells.subtract_range(known)


def writes_for_certain(memory: NewMemory) -> tuple[str, ...]:
    """The assumptions for writes to cells that OLD may not access and no declaration shows to exist."""
    found = []
    for name in sorted(memory.arrays.keys() & memory.flow.writes.keys() - memory.own):
        for one in _writes(memory.flow, name) if memory.arrays[name].rank else ():
            certain = not memory.flow.definitions[str(one.get_tuple_name(IN))].is_conditional
            cells = one.intersect_params(memory.sizes)
            if certain and not _outside(cells, memory.arrays[name], memory.touched).is_empty():
                found.append(f"'{name}' has all cells that NEW writes, even those that OLD does not access")
    return tuple(dict.fromkeys(found))


def _writes(flow: Flow, array: str) -> list[isl.Map]:
    return [
        one.intersect_domain(flow.definitions[str(one.get_tuple_name(IN))].domain)
        for one in maps_of(flow.writes[array])
    ]


def touched(flow: Flow, *, certain: bool) -> dict[str, isl.Set]:
    """The cells of each array that a program accesses: those independent of data, or all it may access."""
    parts: dict[str, list[isl.Set]] = {}
    for array in flow.writes:
        for one in _writes(flow, array):
            definition = flow.definitions[str(one.get_tuple_name(IN))]
            if not (certain and definition.is_conditional):
                parts.setdefault(array, []).append(one.range())
    for definition in flow.definitions.values():
        for use in occurrences(definition):
            if isinstance(use.term, CellTerm) and (use.guards == 0 or not certain):
                read = definition.relation(use.term.subscripts, use.term.array).intersect_domain(use.domain)
                parts.setdefault(use.term.array, []).append(read.range())
    return {name: reduce(isl.Set.union, found).coalesce() for name, found in parts.items()}


def arrays_of(program: Program) -> dict[str, Array]:
    """The arrays of a program by the names used in terms."""
    return {local_name(one.name) if one.local else one.name: one for one in program.arrays}


def _example(sizes: isl.Set) -> str:
    point = smallest_point(sizes)
    shown_sizes = () if point is None else point.parameters.items()
    example = ", ".join(f"{size} = {value}" for size, value in shown_sizes)
    return f", for example for {example} (--assume says which sizes there are)" if example else ""


def _declared_cells(array: Array) -> isl.Set | None:
    """The cells inside declared sizes, including the first size of a parameter `double A[n][m]`.

    C does not guarantee that size: it is a listed assumption.
    """
    if array.inside is None or len(array.extents) != array.rank or not array.extents:
        return None
    first = array.extents[0]
    if not (first.isidentifier() or first.isdecimal()):
        return None
    size = number(int(first)) if first.isdecimal() else variable(first)
    return array.inside.intersect(_rows(array, size))


def _rows(array: Array, end: isl.PwAff | None = None) -> isl.Set:
    """The cells whose first subscript is nonnegative, and below `end`."""
    names = [f"subscript {k}" for k in range(array.rank)]
    own = variable(names[0])
    rows = own.ge_set(number(0))
    return tuple_set(rows if end is None else rows.intersect(own.lt_set(end)), array.name, names)


def writes_more(old: Program, new: Program, flows: tuple[Flow, Flow]) -> str | None:
    """Returns a write of NEW outside of declared sizes to a cell that OLD does not access, whatever the data;
    or one independent of data, to a cell that the declaration excludes and OLD may not access.  The first
    size of a parameter `double A[24]` only shows that no row is negative: n may be larger in both
    programs."""
    memory = memory_of(old, new, flows)
    known = {array.name for array in old.arrays}
    for name in sorted(memory.arrays.keys() & flows[1].writes.keys()):
        array = memory.arrays[name]
        is_foreign = name not in known and old.file.declarations.visible(name, old.region) is None
        if array.rank == 0 or (is_foreign and not array.is_sized):
            continue
        for one in _writes(flows[1], name):
            written = one.intersect_params(memory.sizes)
            definition = flows[1].definitions[str(one.get_tuple_name(IN))]
            beyond = _outside(written, array, memory.possible)
            declared = _declared_cells(array)
            beyond = beyond if declared is None else beyond.subtract_range(declared.set_tuple_name(name))
            what = "does not"
            if beyond.is_empty() and array.inside is not None and not definition.is_conditional:
                inside = array.inside if declared is None else array.inside.intersect(_rows(array))
                denied = written.subtract_range(inside.set_tuple_name(name))
                beyond, what = _outside(denied, array, memory.touched), "need not"
            if not beyond.is_empty():
                where = _example(beyond.params())
                return f"line {definition.line} writes a cell of '{array.name}' that OLD {what} touch{where}"
    return None
