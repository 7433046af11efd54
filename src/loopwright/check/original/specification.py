"""The affine original at one problem size: its statements as functions of their iterators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import islpy as isl

from loopwright.c.file import c_file
from loopwright.c.references import Reference
from loopwright.c.syntax import Node, refuse, walk
from loopwright.check.original.structure import ArrayReference, Assignment, Side, assignment_of, reads
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, Access, Array, Inlined, Program, Statement
from loopwright.presburger.functions import coordinate
from loopwright.presburger.named import (
    fixed_parameters,
    number,
    parameter_space,
    variable,
    without_parameters,
)
from loopwright.presburger.polynomials import length_at
from loopwright.presburger.sets import DIM, IN, OUT, isl_failures, union
from loopwright.source import Span

_AFFINE = "the original must be affine: one assignment per statement, subscripts affine in the iterators"


@dataclass(frozen=True)
class FixedAccess:
    """An access at the fixed size: `relation` is { S[x] -> A[cell] }, single-valued on the domain."""

    array: str
    relation: isl.Map

    @property
    def subscripts(self) -> tuple[isl.PwAff, ...]:
        function = self.relation.as_pw_multi_aff()
        return tuple(function.get_pw_aff(k) for k in range(function.dim(OUT)))


@dataclass(frozen=True)
class Stated:
    """A statement of the original: S.w, S.r and its schedule [Bao2016, section 4.1.2].

    `sizes` are the problem sizes that are variables: like iterators, they may occur in its text.
    """

    name: str
    number: int
    iterators: tuple[str, ...]
    domain: isl.Set
    schedule: isl.Map
    write: FixedAccess
    reads: tuple[FixedAccess, ...]
    assignment: Assignment
    place: Span
    sizes: Mapping[str, int]

    @property
    def depth(self) -> int:
        return len(self.iterators)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names whose values are observed if they occur outside subscripts."""
        return (*self.iterators, *self.sizes)

    def symbol(self, name: str) -> isl.PwAff:
        """The value that a symbol must have, as a function of the unnamed iteration vector."""
        space = unnamed(self.domain).get_space()
        if name in self.iterators:
            return isl.PwAff.from_aff(coordinate(space, self.iterators.index(name)))
        return isl.PwAff.from_aff(isl.Aff.val_on_domain_space(space, isl.Val(self.sizes[name])))


@dataclass(frozen=True)
class Specification:
    """The original with its parameters fixed; `sizes` in the order of the parameters."""

    program: Program
    sizes: tuple[tuple[str, int], ...]
    statements: tuple[Stated, ...]
    ranks: dict[str, int]
    side: Side

    @property
    def arrays(self) -> tuple[str, ...]:
        return tuple(self.ranks)

    @property
    def written(self) -> tuple[str, ...]:
        """The arrays that some statement writes, in source order."""
        return tuple(dict.fromkeys(statement.write.array for statement in self.statements))

    def writers(self, array: str) -> tuple[Stated, ...]:
        return tuple(statement for statement in self.statements if statement.write.array == array)

    def footprint(self, array: str) -> isl.Set:
        """All cells of `array` that the original touches; none if only macros and functions read it."""
        touched = [t for s in self.statements for t in (s.write, *s.reads) if t.array == array]
        names = ", ".join(f"c{k}" for k in range(self.ranks[array]))
        nothing = isl.Set(f"{{ {array}[{names}] : false }}")
        return union((nothing, *(t.relation.range() for t in touched))).coalesce()


def specification(program: Program, sizes: Mapping[str, int]) -> Specification:
    """Return `program` at `sizes`, which name all its parameters; raises BadInput if it is not affine."""
    if any(array.name == ELSEWHERE for array in program.arrays):
        hint = "move this out of the region, or say --pure NAME if it calls a function without side effects"
        told = "".join(f": {one.message}" for one in program.set_aside[:1])
        message = f"what the original does is not known from its arrays alone{told}"
        spots = [one.span for one in program.set_aside[:1] if one.span is not None]
        raise refuse(spots[0] if spots else program.region, message, hint, code=Code.SEGMENT)
    fixed = _sizes_set(program, sizes)
    if fixed.intersect(program.context).is_empty():
        shown = ", ".join(f"{name} = {sizes[name]}" for name in program.params)
        hint = "look at the '#define's and at the 'assume' pragmas of the original"
        raise refuse(program.region, f"the original does not allow {shown}", hint, code=Code.SEGMENT)
    ranks = {array.name: array.rank for array in program.arrays}
    names = {array.name for array in program.arrays}

    def array_of(reference: Reference) -> str | None:
        return reference.base if reference.base in names else None

    rows = {
        access.place.start: access.relation.get_tuple_name(OUT)
        for statement in program.statements
        for access in statement.accesses
    }

    def pointee_of(reference: Reference) -> str | None:
        """The array of `row[j]`, where row is a local that points to a row of it."""
        is_row = reference.base not in names and bool(reference.subscripts)
        return rows.get(reference.node.span.start) if is_row else None

    side = Side(program.source, array_of, lambda array: ranks[array], pointee_of)
    with isl_failures("isl could not fix the problem size"):
        original = _FixedOriginal(program, fixed, side, _variables(program, sizes))
        statements = tuple(
            _stated(original, statement, number) for number, statement in enumerate(program.statements)
        )
    given = tuple((name, sizes[name]) for name in program.params)
    return Specification(program, given, statements, ranks, side)


def _sizes_set(program: Program, sizes: Mapping[str, int]) -> isl.Set:
    found = isl.Set.universe(parameter_space(program.params))
    for name in program.params:
        found = found.intersect(variable(name).eq_set(number(sizes[name])))
    return found


def _fixed_map(relation: isl.Map, sizes: isl.Set) -> isl.Map:
    return without_parameters(relation.intersect_params(sizes)).coalesce()


def _variables(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes that are variables of the original; those that are macros are numbers in its text."""
    declared, start = c_file(program.source).declarations, program.region
    names = [one.name for one in program.parameters if one.text == one.name]
    return {name: sizes[name] for name in names if declared.visible(name, start) is not None}


@dataclass(frozen=True)
class _FixedOriginal:
    """The original with its sizes fixed."""

    program: Program
    sizes: isl.Set
    side: Side
    variables: Mapping[str, int]


def _stated(original: _FixedOriginal, statement: Statement, number: int) -> Stated:
    side = original.side
    domain = without_parameters(statement.domain.intersect_params(original.sizes)).coalesce()
    schedule = _fixed_map(statement.schedule, original.sizes)
    assignment = _assignment(statement, original.program.syntax)
    target = side.cell(assignment.target)
    if target is None:
        raise refuse(
            statement.body.place, "this statement does not assign a cell", _AFFINE, code=Code.SEGMENT
        )
    _refuse_inlined(statement, side, assignment)
    touched = partial(_touched, original, statement, domain)
    write = touched(target, is_write=True)
    read = tuple(touched(cell, is_write=False) for cell in reads(side, assignment))
    return Stated(
        statement.name, number, statement.iterators, domain, schedule, write, read, assignment,
        statement.body.place, original.variables,
    )  # fmt: skip


def _assignment(statement: Statement, block: Node) -> Assignment:
    """The one assignment of a statement."""
    wanted = statement.body.place
    found = [
        assignment
        for node in walk(block)
        if wanted.contains(node.span) and (assignment := assignment_of(node)) is not None
    ]
    if len(found) != 1 or len(statement.writes) != 1:
        raise refuse(wanted, "this statement is not one assignment", _AFFINE, code=Code.SEGMENT)
    around = found[0].node.parent
    is_whole = around is not None and around.type in ("expression_statement", "declaration")
    if not is_whole:
        raise refuse(wanted, "this assignment depends on data", _AFFINE, code=Code.SEGMENT)
    return found[0]


def _refuse_inlined(statement: Statement, side: Side, assignment: Assignment) -> None:
    """Refuse a local that abbreviates an expression: it can be followed into subscripts, not into values."""
    inside = [
        part.span
        for cell in (side.cell(assignment.target), *reads(side, assignment))
        if cell is not None
        for part in cell.terms
    ]
    for hole in statement.body.holes:
        is_value = isinstance(hole, Inlined) and not hole.is_row
        if is_value and not any(spot.contains(hole.place) for spot in inside):
            hint = "write the expression it stands for"
            raise refuse(
                hole.place, "this value cannot be determined in another program", hint, code=Code.SEGMENT
            )


def _touched(
    original: _FixedOriginal, statement: Statement, domain: isl.Set, cell: ArrayReference, *, is_write: bool
) -> FixedAccess:
    sizes = original.sizes
    where = cell.node.span
    access = _access(statement.accesses, where, is_write=is_write)
    relation = None if access is None else _fixed_map(access.relation, sizes).intersect_domain(domain)
    (array,) = [one for one in original.program.arrays if one.name == cell.array]
    if relation is not None and array.rows:
        relation = _as_declared(relation, array, sizes, where)
    is_read_otherwise = relation is not None and relation.dim(isl.dim_type.out) != len(cell.subscripts)
    if relation is not None and (is_read_otherwise or not relation.is_single_valued()):
        raise refuse(where, "this subscript is not affine", _AFFINE, code=Code.NOT_AFFINE)
    is_certain = access is not None and (access.must or not is_write)
    if relation is None or not is_certain or not domain.is_subset(relation.domain()):
        raise refuse(where, "it depends on data whether this cell is touched", _AFFINE, code=Code.SEGMENT)
    return FixedAccess(cell.array, relation)


def _as_declared(relation: isl.Map, array: Array, sizes: isl.Set, where: Span) -> isl.Map:
    """Restore the declared subscript of a one-dimensional array that the reader delinearised."""
    known = fixed_parameters(sizes)
    lengths = [length_at(row, known) for row in array.rows]
    for row, length in zip(array.rows, lengths, strict=True):
        if length is None:
            message = f"'{array.name}' has rows of {row}, which is not a size: no bound has it"
            raise refuse(where, message, f"#define {row} as a number", code=Code.NOT_AFFINE)
    return by_own_subscript(relation, array.name, [length for length in lengths if length is not None])


def by_own_subscript(relation: isl.Map, array: str, rows: Sequence[int]) -> isl.Map:
    """{ S[v] -> A[(c1 * r2 + c2) * r3 + c3] } of { S[v] -> A[c1, c2, c3] }."""
    names = [f"c{k}" for k in range(len(rows) + 1)]
    value = names[0]
    for name, row in zip(names[1:], rows, strict=True):
        value = f"({value}) * {row} + {name}"
    cells = isl.Map(f"{{ {array}[{', '.join(names)}] -> {array}[{value}] }}")
    return relation.apply_range(cells)


def _access(accesses: tuple[Access, ...], where: Span, *, is_write: bool) -> Access | None:
    """The access at a place, or else the first one inside: a subscript may contain others, `b[q[i]]`."""
    own = [access for access in accesses if access.is_write == is_write]
    inside = [access for access in own if where.contains(access.place)]
    return next((access for access in own if access.place == where), next(iter(inside), None))


def anonymous(function: isl.PwAff) -> isl.PwAff:
    """`function` of an unnamed tuple."""
    return function.reset_tuple_id(IN) if function.has_tuple_id(IN) else function


def unnamed(domain: isl.Set) -> isl.Set:
    return domain.reset_tuple_id() if domain.has_tuple_id() else domain


def box(cells: isl.Set) -> tuple[tuple[int, int], ...]:
    """The least and greatest value of each dimension of a set that is not empty."""
    if cells.is_empty():
        raise BadInput(
            Code.SEGMENT, "the original touches nothing at this problem size", hint="give a larger one"
        )
    return tuple(
        (cells.dim_min_val(k).to_python(), cells.dim_max_val(k).to_python()) for k in range(cells.dim(DIM))
    )
