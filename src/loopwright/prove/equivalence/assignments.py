"""A statement as a sequence of assignments.

x op= e              x = x op e
x = y = e            y = e; x = y
if (c) x = e         x = c ? e : x          for a condition on data
if (c) { S; T }      t = c; if (t) S; if (t) T
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from loopwright.c.declarations import known_constant
from loopwright.c.syntax import Node, field, named_children, operator
from loopwright.c.types import INT, CType, Unknown
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int
from loopwright.loops.nodes import Call
from loopwright.model.program import ELSEWHERE, Array, Inlined, Program, Statement
from loopwright.presburger.functions import functions_of
from loopwright.presburger.named import names_of, row_length
from loopwright.presburger.sets import OUT
from loopwright.prove.equivalence.laws import chosen
from loopwright.prove.equivalence.numbers import NumberRun, in_numbers
from loopwright.prove.equivalence.reading import Reading, binary, cell, converted, term
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Index, Term, TermAssignment, subterms
from loopwright.prove.obligations.formulas import expr_of
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.reading.loops import sides
from loopwright.prove.reading.operation import StatementSyntax
from loopwright.source import Span

ONE = Index(Int(1), INT)
TESTED = "what was tested at"
"""The cell that keeps the condition of an `if` while its branches execute."""


@dataclass(frozen=True)
class Computation:
    """A statement and its assignments; `columns` are the integer expressions in them."""

    name: str
    line: int
    assignments: tuple[TermAssignment, ...]
    columns: dict[Expr, int]
    copied: Computation | None = None
    """The statement of which this is a copy: their effects are computed once."""

    @cached_property
    def written(self) -> tuple[CellTerm, ...]:
        return tuple(one.target for one in self.assignments)

    @cached_property
    def targets(self) -> list[tuple[str, tuple[int, ...]]]:
        """The arrays that it writes, with the columns of the subscripts."""
        if self.copied is not None:
            return self.copied.targets
        return [(cell.array, self.subscripts[id(cell)]) for cell in self.written]

    @cached_property
    def read(self) -> tuple[CellTerm, ...]:
        return tuple(cell for one in self.assignments for cell in one.cells)

    @cached_property
    def reads(self) -> list[list[tuple[str, tuple[int, ...], CType]]]:
        """For each assignment the distinct cells it reads: their arrays, columns and types."""
        if self.copied is not None:
            return self.copied.reads
        return [
            list(dict.fromkeys((cell.array, self.subscripts[id(cell)], cell.type) for cell in one.cells))
            for one in self.assignments
        ]

    @cached_property
    def subscripts(self) -> dict[int, tuple[int, ...]]:
        """The columns of the subscripts of its cells, by the `id` of a cell: comparing terms is slow."""
        if self.copied is not None:
            return self.copied.subscripts
        return {
            id(cell): tuple([self.columns[one] for one in cell.subscripts])
            for cell in (*self.written, *self.read)
        }

    @cached_property
    def in_numbers(self) -> NumberRun | None:
        """The statement as a function on numbers, if the types of all its values are known statically."""
        if self.copied is not None:
            return self.copied.in_numbers
        return in_numbers(self.assignments, self.columns)

    def copy(self, name: str, line: int) -> Computation:
        """The same statement at another position."""
        return Computation(name, line, self.assignments, self.columns, self.copied or self)

    def call(self) -> Call:
        """An execution of the statement, with the values of its integer expressions."""
        return Call(self.name, tuple(self.columns))


def computations(program: Program) -> dict[str, Computation]:
    """The statements of a program by name; raises `Unreadable` if one is not an assignment of values."""
    found: dict[str, Computation] = {}
    for name, side in sides(program).items():
        found[name] = computation(program, name, side, of=program.statement(name))
        _refuse_surprises(program.statement(name), found[name].assignments, program)
    return found


def computation(
    program: Program, name: str, side: StatementSyntax, *, of: Statement | None = None
) -> Computation:
    """Reads a statement with the variables of `program`; `of` is the one with its iterators and accesses."""
    reading = _reading(program, side)
    if of is not None:
        reading = replace(reading, in_rows=_cells_in_rows(program, of, reading.types))
    made = _assignments(side.node, reading)
    return Computation(name, side.node.span.line, made, columns_of(made))


def _cells_in_rows(
    program: Program, statement: Statement, types: Mapping[str, CType]
) -> dict[Span, CellTerm]:
    """The cells that it accesses of arrays of one dimension that are read in rows.

    In rows of n elements, A[i * n + j] is the cell (i, j): distinct ones are apart where 0 <= j < n, which
    the reader has proved or assumed.  Subscripts by locals are left out: their values may have other types.
    """
    inlined = [hole.place for hole in statement.body.holes if isinstance(hole, Inlined)]
    in_rows = {array.name for array in program.arrays if array.rows and not array.local}
    found: dict[Span, CellTerm] = {}
    for access in statement.accesses:
        is_plain = not any(access.place.contains(place) for place in inlined)
        is_known = is_plain and access.must and access.relation.is_single_valued()
        if access.array in in_rows and is_known:
            functions = functions_of(access.relation.intersect_domain(statement.domain))
            if len(functions) == 1:
                indices = (functions[0].get_at(k) for k in range(functions[0].dim(OUT)))
                subscripts = tuple(expr_of(one, statement.iterators) for one in indices)
                found[access.place] = CellTerm(access.array, subscripts, types[access.array])
    return found


def _undeclared(array: Array) -> CType:
    """An unknown type that all elements of the array share."""
    return Unknown(f"no declaration of '{array.name}' was seen", f"typeof({array.name})")


def _reading(program: Program, side: StatementSyntax) -> Reading:
    bare = Reading(side.words, {}, {}, frozenset(), side.node.span)
    types = {
        array.name: bare.resolved(array.element_type) if array.element_type else _undeclared(array)
        for array in program.arrays
    }
    local = frozenset(array.name for array in program.arrays if array.local)
    ranks = {array.name: array.rank for array in program.arrays}
    return Reading(side.words, types, ranks, local, side.node.span)


def columns_of(made: tuple[TermAssignment, ...]) -> dict[Expr, int]:
    """The integer expressions in the assignments of a statement, numbered."""
    columns: dict[Expr, int] = {}
    for assignment in made:
        for part in (assignment.target, *subterms(assignment.value)):
            match part:
                case CellTerm(_, subscripts):
                    for subscript in subscripts:
                        columns.setdefault(subscript, len(columns))
                case Index(value):
                    columns.setdefault(value, len(columns))
    return columns


def _lengths_of_rows(program: Program) -> set[str]:
    """The sizes that rows are read by and that no statement writes: a cell in rows is read without them."""
    sizes = {name for array in program.arrays for size in array.rows for name in names_of(row_length(size))}
    written = {access.array for one in program.statements for access in one.writes}
    return set() if ELSEWHERE in written else sizes - written


def _refuse_surprises(statement: Statement, made: tuple[TermAssignment, ...], program: Program) -> None:
    """Checks that the arrays found here are those that the reader of the program found."""
    written = {one.target.array for one in made if not one.target.array.startswith(TESTED)}
    read = {part.array for one in made for part in subterms(one.value) if isinstance(part, CellTerm)}
    local = {array.name for array in program.arrays if array.local}

    def known(name: str) -> str:
        return f"{name} of the region" if name in local else name

    if written != {known(access.array) for access in statement.writes}:
        raise Unreadable(f"what {statement.name} writes was read in two ways")
    declared = program.file.declarations
    values = {known(a.array) for a in statement.reads if known_constant(declared, a.array) is None}
    if other := sorted(values - read - written - _lengths_of_rows(program)):
        line = statement.body.place.line
        raise Unreadable(f"line {line}: '{other[0]}' is read there as a value and as an integer of bounds")


def _assignments(node: Node, reading: Reading) -> tuple[TermAssignment, ...]:
    match node.type:
        case "expression_statement" | "parenthesized_expression" | "else_clause":
            return _assignments(_only(node), reading)
        case "comma_expression" | "compound_statement":
            return tuple(one for part in named_children(node) for one in _assignments(part, reading))
        case "init_declarator":
            target = cell(field(node, "declarator"), reading)
            return (_stored(target, term(field(node, "value"), reading)),)
        case "update_expression":
            target = cell(field(node, "argument"), reading)
            return (_stored(target, binary(operator(node)[0], target, ONE)),)
        case "assignment_expression":
            return _assignment(node, reading)
        case "if_statement":
            return _guarded(node, reading)
        case "for_statement" | "while_statement" | "do_statement":
            where = f"line {node.span.line}"
            raise Unreadable(f"{where}: this loop was not taken apart, and what it computes is not known")
        case kind:
            name = kind.removesuffix("_statement").removesuffix("_expression").replace("_", " ")
            raise Unreadable(f"line {node.span.line}: '{name}' cannot be read as an assignment")


def _only(node: Node) -> Node:
    inner = named_children(node)
    if len(inner) != 1:
        raise Unreadable("a statement of several parts")
    return inner[0]


def _stored(target: CellTerm, value: Term) -> TermAssignment:
    return TermAssignment(target, converted(value, target.type))


def _assignment(node: Node, reading: Reading) -> tuple[TermAssignment, ...]:
    target = cell(field(node, "left"), reading)
    value = field(node, "right")
    while value.type == "parenthesized_expression":
        value = _only(value)
    before: tuple[TermAssignment, ...] = ()
    if value.type == "assignment_expression":
        before = _assignment(value, reading)
        right: Term = before[-1].target
    else:
        right = term(value, reading)
    name = operator(node)
    if name != "=":
        if before:
            raise Unreadable("an assignment inside a compound assignment")
        right = binary(name.removesuffix("="), target, right)
    return (*before, _stored(target, right))


def _guarded(node: Node, reading: Reading) -> tuple[TermAssignment, ...]:
    """Yields x = c ? e : x for each assignment of a branch; c is evaluated before any of them."""
    condition = term(field(node, "condition"), reading)
    alternative = node.child_by_field_name("alternative")
    then = _assignments(field(node, "consequence"), reading)
    orelse = () if alternative is None else _assignments(alternative, reading)
    meet = then and orelse and then[-1].target == orelse[0].target
    count = len(then) + len(orelse) - (1 if meet else 0)
    kept = CellTerm(f"{TESTED} {node.start}", (), condition.type)
    tested = condition if count == 1 else kept
    made = [_chosen(tested, one.target, one.value, _otherwise(one.target)) for one in then]
    if meet:
        made[-1] = _chosen(tested, then[-1].target, then[-1].value, orelse[0].value)
        orelse = orelse[1:]
    made += [_chosen(tested, one.target, _otherwise(one.target), one.value) for one in orelse]
    return tuple(made) if count == 1 else (TermAssignment(kept, condition), *made)


def _otherwise(target: CellTerm) -> Term:
    """The value of a cell that the branch does not write; a test's cell inside it had none before."""
    return converted(Index(Int(0), INT), target.type) if target.array.startswith(TESTED) else target


def _chosen(condition: Term, target: CellTerm, then: Term, orelse: Term) -> TermAssignment:
    value = chosen(condition, then, orelse, target.type)
    return TermAssignment(target, value, _may_stay(target, value))


def _may_stay(target: CellTerm, value: Term) -> bool:
    """Whether a branch may leave the target unchanged."""
    if isinstance(value, Apply) and value.operator == CHOICE:
        return any(_may_stay(target, one) for one in value.arguments[1:])
    return value == target
