"""Reads loop nests of the checked program that are affine by themselves [Bao2016, section 5, "full tiles"].

"While the bounds for these tiles can be constants or influenced by a tile-size parameter, the code
within a tile itself is often an affine program."  A nest is read by the C reader, as a region of its own in
which everything invariant in the nest is a parameter: products of tile sizes and macro calls in bounds and
subscripts get names first.

The reader's assumptions are checked here: indices are signed and at least as wide as an int, helpers are not
recognised by name, and the numbers of this run are tested at run time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import islpy as isl

from loopwright.c.declarations import is_integer_type, is_unsigned_type
from loopwright.c.file import c_file
from loopwright.c.macros import reachable_macros
from loopwright.c.syntax import Node, walk
from loopwright.c.tokens import blank, without_comments
from loopwright.check.original.specification import by_own_subscript
from loopwright.check.original.structure import ArrayReference
from loopwright.check.program.hoisting import Hoisted, assigned_in, hoisted
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Site, Sites
from loopwright.errors import BadInput, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, AssumptionKind, Program, Statement
from loopwright.presburger.named import at_parameters, rename_parameters, without_parameters
from loopwright.presburger.polynomials import length_at
from loopwright.read.c.reader import parse_c
from loopwright.source import Source

_CHECKED = {
    AssumptionKind.BOUNDS,
    AssumptionKind.ARITHMETIC,
    AssumptionKind.ITERATOR,
    AssumptionKind.ALIASING,
    AssumptionKind.CONSTANT,
}
"""Assumptions that the checker covers itself: cells are compared with the original's, types are checked
below, the nest still runs after the check, aliases are refused, and parameters are read again."""
_OPEN, _CLOSE = "\n#pragma scop\n", "\n#pragma endscop\n"
_UNSIGNED = re.compile(r"\b\d\w*[uU]|\b(sizeof|unsigned|size_t|uint\w*|volatile)\b")


@dataclass(frozen=True)
class Operation:
    """A site in a nest: its schedule and the cells it accesses, as functions of the nest's iterators.  Sets
    are over the parameters of the nest."""

    site: Site
    domain: isl.Set
    time: isl.Map
    write: isl.Map
    reads: tuple[isl.Map, ...]


@dataclass(frozen=True)
class CheckedNest:
    """A `for` of the program and everything in it; `parameters` maps names to C expressions.

    `fixed` are C expressions that must have the values the sets were computed for.
    """

    node: Node
    parameters: tuple[tuple[str, str], ...]
    fixed: tuple[tuple[str, int], ...]
    operations: tuple[Operation, ...]


def read_nest(sites: Sites, node: Node, sizes: Mapping[str, int]) -> CheckedNest | None:
    """The nest of the loop `node`; None if it is not affine, or does more than operations."""
    inside = tuple(site for site in sites.sites if node.span.contains(site.assignment.node.span))
    if not inside or _has_directives(sites.known.source, node):
        return None
    if sites.jumps:  # one may lead into the nest, past what is put before it
        return None
    renamed = hoisted(sites, node)
    if not _are_signed(sites.known, renamed, sizes):
        return None
    try:
        (program,) = parse_c(_alone(sites.known.source, node, renamed))
    except (BadInput, InternalError):
        return None
    if any(array.name == ELSEWHERE for array in program.arrays):
        return None
    return _nest(sites, node, renamed, program, inside, sizes)


def _has_directives(source: Source, node: Node) -> bool:
    """Whether directives are in or before the nest: nothing can be inserted between a pragma and its
    statement.

    Any other directive right before the nest may hide such a pragma.
    """
    if any(node.span.contains(one.place) for one in c_file(source).directives):
        return True
    return _directive_before(source, node) is not None or _is_collapsed(source, node)


def _directive_before(source: Source, node: Node) -> str | None:
    """The text of a directive right before a statement."""
    places = (one.place for one in c_file(source).directives if one.place.end <= node.start)
    last = max(places, default=None)
    if last is None or re.match(r"\s*#\s*pragma\s+(end)?scop\b", last.text) is not None:
        return None
    return None if without_comments(source.text[last.end : node.start], literals=True).strip() else last.text


def _is_collapsed(source: Source, node: Node) -> bool:
    """Whether a loop is one of several that a directive before the outermost one collapses."""
    loops = (one for one in node.around() if one.type == "for_statement")
    for depth, loop in enumerate(loops, 1):
        text = _directive_before(source, loop) or ""
        if _SEVERAL.search(text) and not any(int(one) <= depth for one in _COLLAPSED.findall(text)):
            return True
    return False


_SEVERAL = re.compile(r"\b(collapse|ordered|sizes|permutation|counts)\s*\(")
_COLLAPSED = re.compile(r"\bcollapse\s*\(\s*(\d+)\s*\)")


def _alone(source: Source, node: Node, renamed: Hoisted) -> Source:
    """The file up to the nest, with the nest as its only region and without its author's assumptions.

    Loops before the nest are removed: facts about them do not hold in it.
    """
    before = source.text[: node.start]
    for loop in _loops_before(node):
        before = before[: loop.start] + blank(before[loop.start : loop.end]) + before[loop.end :]
    before = re.sub(r"(?m)^[ \t]*#[ \t]*pragma\b.*$", lambda line: " " * len(line.group()), before)
    plain = without_comments(before, literals=False)
    closing = "}\n" * max(0, plain.count("{") - plain.count("}"))
    return Source(source.path, f"{before}{_OPEN}{renamed.text}{_CLOSE}{closing}")


def _loops_before(node: Node) -> list[Node]:
    """The `for` statements before the nest and in the blocks around it."""
    found: list[Node] = []
    for inner, outer in pairwise((node, *node.around())):
        before = [one for one in outer.named_children if one.start < inner.start]
        found += [one for one in reversed(before) if one.type == "for_statement"]
    return found


def _are_signed(known: ReachedCode, renamed: Hoisted, sizes: Mapping[str, int]) -> bool:
    """Whether every number in bounds and subscripts is a signed integer, at least as wide as an int."""
    for node in renamed.index_expressions:
        if _UNSIGNED.search(node.text):
            return False
        for part in walk(node):
            if part.type == "identifier" and not _is_signed(known, part, renamed, sizes):
                return False
            if part.type == "primitive_type" and not is_integer_type(part.text):
                return False
    return True


def _is_signed(known: ReachedCode, node: Node, renamed: Hoisted, sizes: Mapping[str, int]) -> bool:
    name = node.text
    macros = reachable_macros(known.macros, name)
    if macros:
        return not any(_UNSIGNED.search(macro.body) for macro in macros)
    if name in renamed.iterators:
        return True  # the caller checks their types once the reader has found them
    declared = known.declarations.visible(name, node.span)
    if declared is None:
        return name in sizes
    if declared.rank > 0 and name in known.ranks:
        return True  # what a pointer points into; no element of it is a number the reader takes
    kind = known.declarations.resolved(declared.type)
    if "volatile" in kind.split() or "_Atomic" in kind:
        return False
    return is_integer_type(kind) and not is_unsigned_type(kind)


def _nest(
    sites: Sites,
    node: Node,
    renamed: Hoisted,
    program: Program,
    inside: Sequence[Site],
    sizes: Mapping[str, int],
) -> CheckedNest | None:
    if len(program.statements) != len(inside):
        return None
    if any(one.kind not in _CHECKED for one in program.assumptions):
        return None
    texts = {one.name: renamed.texts.get(one.text, one.text) for one in program.parameters}
    fixed = {name: sizes[name] for name, text in texts.items() if name in sizes and text == name}
    names = {name: f"p{k}" for k, name in enumerate(one for one in texts if one not in fixed)}
    values = _sizes_in_values(sites, node, inside)
    if values is None:
        return None
    view = _View(sites, node, renamed, program, fixed, names)
    ordered = sorted(inside, key=lambda site: site.assignment.node.start)
    operations = []
    for site, statement in zip(ordered, program.statements, strict=True):
        operation = view.operation(site, statement)
        if operation is None:
            return None
        operations.append(operation)
    parameters = tuple((new, texts[name]) for name, new in names.items())
    return CheckedNest(node, parameters, tuple({**fixed, **values}.items()), tuple(operations))


def _sizes_in_values(sites: Sites, nest: Node, inside: Sequence[Site]) -> dict[str, int] | None:
    """The variables used as problem sizes in assigned values, with their required values.

    None if such an expression is not a variable that is invariant in the nest.
    """
    found: dict[str, int] = {}
    declared, assigned = sites.known.declarations, assigned_in(nest)
    for site in inside:
        for candidate in site.candidates:
            for name, node in candidate.holes:
                if name in candidate.statement.iterators:
                    continue
                here = declared.visible(node.text, node.span) if node.type == "identifier" else None
                if here is None or node.text in assigned or here != declared.visible(node.text, nest.span):
                    return None
                found[node.text] = candidate.statement.sizes[name]
    return found


@dataclass(frozen=True)
class _View:
    """The nest as the reader sees it."""

    sites: Sites
    node: Node
    renamed: Hoisted
    program: Program
    fixed: Mapping[str, int]
    names: Mapping[str, str]

    def operation(self, site: Site, statement: Statement) -> Operation | None:
        start = self._at(site.assignment.node)
        if not statement.body.place.contains(self.program.source.at(start)):
            return None
        if len(statement.writes) != 1 or not statement.writes[0].must:
            return None
        if any(not is_integer_type(kind) or is_unsigned_type(kind) for kind in statement.iterator_types):
            return None
        write = self._cell(statement, site.write, is_write=True)
        reads = [self._cell(statement, cell, is_write=False) for cell in site.reads]
        if write is None or any(read is None for read in reads):
            return None
        domain = self._set(statement.domain.intersect_params(self.program.context))
        time = self._map(statement.schedule)
        return Operation(site, domain, time, write, tuple(read for read in reads if read is not None))

    def _at(self, node: Node) -> int:
        """The position of `node` in the source that was read."""
        return self.node.start + len(_OPEN) + self.renamed.moved(node.start)

    def _cell(self, statement: Statement, cell: ArrayReference, *, is_write: bool) -> isl.Map | None:
        """{ S[v] -> A[c] } if the subscripts are affine; the array has its name in the original."""
        start = self._at(cell.node)
        for access in statement.accesses:
            if access.is_write == is_write and access.place.start == start:
                name = access.relation.get_tuple_name(isl.dim_type.out)
                if cell.by_address and not self._is_itself(name, cell.array):
                    return None
                relation = self._as_declared(self._map(access.relation), name)
                rank = self.sites.known.ranks[cell.array]
                if relation is None or relation.dim(isl.dim_type.out) != rank:
                    return None
                named = relation.set_tuple_name(isl.dim_type.out, cell.array)
                return named if named.is_single_valued() else None
        return None

    def _is_itself(self, name: str, array: str) -> bool:
        """Whether the array that the reader finds for a pointer is that of the original."""
        known = self.sites.known
        here = known.declarations.visible(name, self.node.span)
        return name == array and here is not None and here == known.at_segment(name)

    def _as_declared(self, relation: isl.Map, name: str) -> isl.Map | None:
        """Restore the declared subscript A[i * m + j] of a one-dimensional array read as A[i, j]."""
        rows = next((one.rows for one in self.program.arrays if one.name == name), ())
        lengths = [length for row in rows if (length := length_at(row, self.fixed)) is not None]
        if len(lengths) < len(rows):
            return None
        return by_own_subscript(relation, name, lengths) if rows else relation

    def _set(self, domain: isl.Set) -> isl.Set:
        known = without_parameters(at_parameters(domain, self.fixed), self.fixed)
        return rename_parameters(known, self.names).coalesce()

    def _map(self, relation: isl.Map) -> isl.Map:
        known = without_parameters(at_parameters(relation, self.fixed), self.fixed)
        return rename_parameters(known, self.names)
