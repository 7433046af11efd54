"""Subscripts of arrays in elements: `w[i].z[j]` is a cell of `w` in the model, whatever j is.

One that is past the declared length whenever it is evaluated leaves the element, and may be in another one.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.typed import tree
from loopwright.c.typed.members import is_at_the_end
from loopwright.c.types import ArrayType, unqualified
from loopwright.errors import BadInput, Code
from loopwright.model.program import Program, Statement
from loopwright.presburger.named import number, tuple_set
from loopwright.presburger.points import smallest_point, values_text
from loopwright.read.c.second.accesses import cell_of
from loopwright.read.c.second.integers import affine
from loopwright.read.c.second.leaves import Found
from loopwright.read.c.second.scope import Unclear


def refuse_outside_members(program: Program, found: Found, statement: Statement) -> None:
    """Raise if an access to an array in an element is outside of it whenever it happens."""
    scope = found.place.scope
    runs = scope.domain.intersect(scope.facts.known()).intersect(program.context)
    for node, length in _subscripts(found.node):
        try:
            index = affine(node.index, scope)
        except Unclear:
            continue
        wrong = runs.intersect(index.lt_set(number(0)).union(index.ge_set(number(length))))
        happens, outside = (tuple_set(one, statement.name, statement.iterators) for one in (runs, wrong))
        if outside.is_empty() or not happens.params().is_subset(outside.params()):
            continue
        point = smallest_point(outside)
        assert point is not None
        values = {**point.parameters, **dict(zip(statement.iterators, point.coordinates, strict=True))}
        at = f": {values_text(values)}" if values else ""
        message = f"'{node.place.span.text}' is outside its array, according to the declaration{at}"
        hint = "give the array its size, or the loop its bound"
        raise BadInput(Code.REGION_TEXT, message, span=node.place.span, hint=hint)


def _subscripts(node: tree.Node) -> Iterator[tuple[tree.Subscript, int]]:
    """The subscripts of arrays in elements that are evaluated for certain, and the lengths of the arrays."""
    match node:
        case tree.Conditional(test=test) | tree.IfStatement(test=test):
            yield from _subscripts(test)
            return
        case tree.Binary(operator="&&" | "||", left=left):
            yield from _subscripts(left)
            return
        case tree.SizeOf() | tree.OtherExpression() | tree.OtherStatement() | tree.Unary(operator="&"):
            return
        case tree.Subscript(base=base):
            length = _length(tree.without_casts(base))
            if length is not None:
                yield node, length
    for part in tree.children(node):
        yield from _subscripts(part)


def _length(array: tree.Expression) -> int | None:
    """The length of an array in an element; None if it is not known.

    The last member of what a pointer leads to may be longer than declared, if that is 0 or 1.
    """
    kind = unqualified(array.type)
    inner = array
    while isinstance(inner, tree.Subscript):
        inner = tree.without_casts(inner.base)
    cell = cell_of(inner, {}) if isinstance(inner, tree.MemberAccess) else None
    length = kind.length if isinstance(kind, ArrayType) and cell is not None and cell.is_part else None
    if not isinstance(length, int) or (length < 2 and _may_be_longer(inner)):
        return None
    return length


def _may_be_longer(node: tree.Expression) -> bool:
    """Whether an array may be the last member of a pointer's target."""
    if not isinstance(node, tree.MemberAccess):
        return False
    outer = tree.without_casts(node.object)
    match outer:
        case tree.Subscript(base=base):
            is_target = not isinstance(unqualified(tree.without_casts(base).type), ArrayType)
        case tree.Unary(operator="*"):
            is_target = True
        case _:
            is_target = is_at_the_end(node)
    return is_target
