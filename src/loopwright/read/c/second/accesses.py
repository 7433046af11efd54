"""The accesses of an expression of the typed tree.

An access is certain if it happens whenever the expression is evaluated: not in the branches of `?:` unless
sizes of types choose one, nor on the right of `&&` and `||`.

The storage that an expression of the typed tree names is a base with subscripts.

`a[i][j]`, `*(p + i)`, `g->u[i]`, `s.f` and `q[i].x` are cells.  Members before the first subscript belong
to the base, as the reader names it: `g__u`.  A member of an element is part of the element; the target of
a pointer in an element may be anywhere in the array, as far as is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopwright.c.typed import tree
from loopwright.c.types import ArrayType, Pointer, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.second.scope import Unclear, is_value


@dataclass(frozen=True)
class Touched:
    """An access; one `anywhere` may be to any cell of the base."""

    cell: NamedCell
    is_write: bool
    must: bool
    node: tree.Expression
    anywhere: bool = False


def touched(node: tree.Expression, rows: Rows, *, must: bool = True) -> Iterator[Touched]:
    """The accesses of evaluating `node`, in no particular order."""
    match node:
        case tree.Number() | tree.Text():
            pass
        case tree.SizeOf():
            if not is_value(node):
                raise Unclear(node, "whether this is evaluated depends on its type")
        case tree.Name() | tree.Subscript() | tree.MemberAccess() | tree.Unary(operator="*"):
            yield from _read(node, rows, must=must)
        case tree.Unary(operator="&"):
            raise Unclear(node, "an address is taken here")
        case tree.Cast(operand=operand) | tree.Unary(operand=operand):
            yield from touched(operand, rows, must=must)
        case tree.Binary(operator=op, left=left, right=right):
            yield from touched(left, rows, must=must)
            yield from touched(right, rows, must=must and op not in ("&&", "||"))
        case tree.Conditional(test=test, then=then, otherwise=otherwise):
            chosen = _chosen_by_size(test)
            yield from touched(test, rows, must=must)
            if chosen is not False:
                yield from touched(then, rows, must=must and chosen is True)
            if chosen is not True:
                yield from touched(otherwise, rows, must=must and chosen is False)
        case tree.Assign(operator=op, target=target, value=value):
            yield from touched(value, rows, must=must)
            yield from _target(target, rows, must=must, is_read=op != "=")
        case tree.Update(target=target):
            yield from _target(target, rows, must=must, is_read=True)
        case tree.CallExpression(arguments=arguments, function=function):
            if _follows(function):
                yield from touched(function, rows, must=must)
            for argument in arguments:
                yield from _argument(argument, rows, must=must)
        case tree.OtherExpression(kind="COMPOUND_LITERAL_EXPR" | "INIT_LIST_EXPR"):
            yield from _listed(node, rows, must=must)
        case _:
            raise Unclear(node, f"this kind of expression is not supported ({node.kind})")


def _chosen_by_size(test: tree.Expression) -> bool | None:
    """The outcome of `sizeof(x) == sizeof(float)`, by which macros of <math.h> choose a function."""
    match tree.without_casts(test):
        case tree.Binary(operator="==", left=tree.SizeOf(value=one), right=tree.SizeOf(value=other)):
            return None if one is None or other is None else one == other
    return None


def _listed(node: tree.OtherExpression, rows: Rows, *, must: bool) -> Iterator[Touched]:
    """The values in `(T){a, .x = b}`, which is a value itself; an array would have an address."""
    if isinstance(unqualified(node.type), ArrayType):
        raise Unclear(node, "an array has an address")
    for part in node.parts:
        match part:
            case tree.OtherExpression(kind="designated", parts=(value,)):
                is_member = part.place.span.text.startswith(".")
            case _:
                is_member, value = True, part
        if not is_member or not isinstance(value, tree.Expression):
            raise Unclear(node, "this kind of expression is not supported")
        yield from touched(value, rows, must=must)


def _follows(function: tree.Expression) -> bool:
    """Whether a call is written as a dereferenced function pointer: `(*f)(x)`."""
    core = tree.without_casts(function)
    return isinstance(core, tree.Unary) and core.operator == "*"


def _read(node: tree.Expression, rows: Rows, *, must: bool) -> Iterator[Touched]:
    cell = cell_of(node, rows)
    if cell is None:
        raise Unclear(node, "this is not a variable or an element")
    if cell.root.storage is tree.Storage.FUNCTION:
        raise Unclear(node, "the address of a function is taken here")
    for part in cell.expressions():
        yield from touched(part, rows, must=must)
    is_whole = isinstance(unqualified(node.type), ArrayType)
    yield Touched(
        cell,
        is_write=False,
        must=must and not cell.is_elsewhere,
        node=node,
        anywhere=cell.is_elsewhere or is_whole,
    )


def _target(node: tree.Expression, rows: Rows, *, must: bool, is_read: bool) -> Iterator[Touched]:
    cell = cell_of(node, rows)
    if cell is None:
        raise Unclear(node, "what this assigns to is not a variable or an element")
    for part in cell.expressions():
        yield from touched(part, rows, must=must)
    if is_read:
        yield Touched(
            cell, is_write=False, must=must and not cell.is_elsewhere, node=node, anywhere=cell.is_elsewhere
        )
    certain = must and not cell.is_elsewhere and not cell.is_part
    yield Touched(cell, is_write=True, must=certain, node=node, anywhere=cell.is_elsewhere)


def _argument(node: tree.Expression, rows: Rows, *, must: bool) -> Iterator[Touched]:
    """The accesses of an argument: a function may read everything at an address it is given."""
    core = tree.without_casts(node)
    is_taken = isinstance(core, tree.Unary) and core.operator == "&"
    if not is_taken and not isinstance(unqualified(core.type), Pointer | ArrayType):
        yield from touched(node, rows, must=must)
        return
    if isinstance(core, tree.Text):
        return
    target = core.operand if isinstance(core, tree.Unary) and is_taken else core
    found = (cell_of(target, rows), ()) if is_taken else pointed(target, rows)
    cell = None if found is None else found[0]
    if cell is None or found is None:
        raise Unclear(node, "this pointer cannot be followed")
    for part in (*cell.expressions(), *(term for term, _ in found[1])):
        yield from touched(part, rows, must=must)
    yield Touched(cell, is_write=False, must=False, node=node, anywhere=True)


def touched_by_statement(
    node: tree.Statement | tree.Declarator, rows: Rows, *, must: bool = True
) -> Iterator[Touched]:
    """The possible accesses of a statement that is kept whole, including the variables it declares."""
    match node:
        case tree.Evaluate(value=value):
            yield from touched(value, rows, must=must)
        case tree.CompoundStatement(statements=statements):
            for one in statements:
                yield from touched_by_statement(one, rows, must=must)
        case tree.IfStatement(test=test, then=then, otherwise=otherwise):
            yield from touched(test, rows, must=must)
            for branch in (then, otherwise) if otherwise is not None else (then,):
                yield from touched_by_statement(branch, rows, must=False)
        case tree.Labelled(statement=statement):
            yield from touched_by_statement(statement, rows, must=must)
        case tree.Declare(variables=variables):
            for variable in variables:
                yield from touched_by_statement(variable, rows, must=must)
        case tree.Declarator(initial=initial, sizes=sizes):
            for part in sizes:
                yield from touched(part, rows, must=must)
            if initial is not None:
                yield from touched(initial, rows, must=must)
        case tree.Return(value=value):
            if value is not None:
                yield from touched(value, rows, must=must)
        case tree.OtherStatement(kind="NULL_STMT"):
            pass
        case _:
            raise Unclear(node, "this kind of statement is not supported")


Term = tuple[tree.Expression, int]
"""A term of a subscript, and its sign."""


@dataclass(frozen=True)
class NamedCell:
    """`base[subscripts]`; each subscript is the sum of its terms, 0 if there are none."""

    base: str
    root: tree.Declaration
    subscripts: tuple[tuple[Term, ...], ...] = ()
    is_part: bool = False
    """Whether it is only a member of the element."""
    is_elsewhere: bool = False
    """Whether it is reached through a pointer in the element."""
    inner: tuple[tree.Expression, ...] = ()
    """Subscripts inside the element, which are evaluated too."""

    def expressions(self) -> tuple[tree.Expression, ...]:
        """All expressions that are evaluated to find the cell."""
        return (*(term for subscript in self.subscripts for term, _ in subscript), *self.inner)


Rows = Mapping[int, tuple[NamedCell, tuple[Term, ...]]]
"""Local pointers to rows, by their declaration: the cell they point into, and the offset."""


def cell_of(node: tree.Expression, rows: Rows) -> NamedCell | None:
    """The storage that `node` names; None if it is not an lvalue of this kind."""
    match tree.without_casts(node):
        case tree.Name(declaration=declared):
            return NamedCell(declared.name, declared)
        case tree.Subscript(base=base, index=index):
            return _element(base, ((index, 1),), rows)
        case tree.Unary(operator="*", operand=operand):
            return _element(operand, (), rows)
        case tree.MemberAccess(object=inner, name=name, is_arrow=is_arrow):
            return _member(cell_of(inner, rows), name, is_arrow=is_arrow)
    return None


def _member(inner: NamedCell | None, name: str, *, is_arrow: bool) -> NamedCell | None:
    if inner is None:
        return None
    if inner.subscripts:
        return replace(inner, is_part=True, is_elsewhere=inner.is_elsewhere or is_arrow)
    return replace(inner, base=f"{inner.base}__{name}")


def _element(pointer: tree.Expression, terms: tuple[Term, ...], rows: Rows) -> NamedCell | None:
    """The cell `pointer[terms]`: the sums in the pointer belong to the subscript."""
    found = pointed(pointer, rows)
    if found is None:
        return None
    cell, ahead = found
    if cell.is_part:
        inner = (*cell.inner, *(term for term, _ in (*ahead, *terms)))
        return replace(cell, inner=inner, is_elsewhere=True)
    return replace(cell, subscripts=(*cell.subscripts, (*ahead, *terms)))


def pointed(pointer: tree.Expression, rows: Rows) -> tuple[NamedCell, tuple[Term, ...]] | None:
    """The array or pointer that a value points into, and the terms that are added to it."""
    node = tree.without_casts(pointer)
    match node:
        case tree.Binary(operator="+" | "-" as op, left=left, right=right) if _is_address(left):
            inner = pointed(left, rows)
            return None if inner is None else (inner[0], (*inner[1], (right, 1 if op == "+" else -1)))
        case tree.Unary(operator="&", operand=operand):
            target = cell_of(operand, rows)
            if target is None or target.is_part or not target.subscripts:
                return None
            *outer, last = target.subscripts
            return replace(target, subscripts=tuple(outer)), last
        case tree.Name(declaration=declared) if declared.offset in rows:
            return rows[declared.offset]
    cell = cell_of(node, rows)
    return None if cell is None else (cell, ())


def _is_address(node: tree.Expression) -> bool:
    kind = unqualified(node.type)
    return isinstance(kind, Pointer | ArrayType | Unknown)
