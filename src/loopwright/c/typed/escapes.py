"""Escape analysis: calls of functions that do not keep an address, so that no pointer is left afterwards.

scanf("%d", &n);                                        nothing points to n any more
void clear(T *p) { p->x = 0; }   ..   clear(&t);        nothing points to t any more
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.linker_names import may_be_replaced
from loopwright.c.typed.pointer_values import addressed
from loopwright.c.types import ArrayType, Record, unqualified

_LIBRARY = """
scanf fscanf sscanf fread time gettimeofday clock_gettime frexp frexpf modf modff sincos sincosf
MPI_Init MPI_Comm_rank MPI_Comm_size getline strtol strtoul strtoll strtod strtof
"""
FORGETTING = frozenset((*_LIBRARY.split(), *(f"__isoc99_{name}" for name in ("scanf", "fscanf", "sscanf"))))
"""Library functions that neither keep the addresses they are given, nor return them."""
_DEEPEST = 3


def is_led_to(file: TypedFile, region: TypedRegion, declared: tree.Declaration) -> bool:
    """Whether a pointer may point to a variable of the function while the region runs."""
    function = region.function
    if declared.offset not in function.addressed:
        return False
    gone = {
        id(part)
        for node in function.nodes
        if isinstance(node, tree.CallExpression) and not region.first <= node.place.first < region.end
        for part in _forgotten(node, file, _DEEPEST)
    }
    return declared.offset in addressed(node for node in function.nodes if id(node) not in gone)


def _forgotten(call: tree.CallExpression, file: TypedFile, depth: int) -> Iterator[tree.Expression]:
    """The arguments of a call that the callee does not keep, and the operands of their conversions."""
    for number, argument in enumerate(call.arguments):
        if _forgets(call, number, file, depth):
            part = argument
            while isinstance(part, tree.Cast):
                yield part
                part = part.operand
            yield part


def _forgets(call: tree.CallExpression, number: int, file: TypedFile, depth: int) -> bool:
    """Whether a function keeps no pointer that it is given as this argument."""
    callee = call.callee
    if callee is None or callee.storage not in (tree.Storage.FUNCTION, tree.Storage.UNDECLARED):
        return False
    function = file.definition(callee)
    if function is None:
        return callee.name in FORGETTING
    is_known = depth > 0 and number < len(function.parameters) and not function.problems
    if not is_known or function.jumps_anywhere or may_be_replaced(callee, function, file):
        return False
    given = function.parameters[number]
    around = tree.parents(function.nodes)
    uses = [node for node in function.nodes if isinstance(node, tree.Name) and node.declaration == given]
    return given.offset not in function.addressed and all(
        _is_followed(use, around) or _is_given_on(use, around, function, file, depth) for use in uses
    )


def _is_given_on(
    use: tree.Name, around: Mapping[int, tree.Node], function: TypedFunction, file: TypedFile, depth: int
) -> bool:
    part, outer = tree.with_conversions(use, around)
    if not isinstance(outer, tree.CallExpression):
        return False
    places = [number for number, one in enumerate(outer.arguments) if one is part]
    return len(places) == 1 and _forgets(outer, places[0], file, depth - 1)


def _is_followed(use: tree.Name, around: Mapping[int, tree.Node]) -> bool:
    """Whether a pointer is only compared, or dereferenced to a number or pointer that is read or set."""
    part, outer = tree.with_conversions(use, around)
    match outer:
        case tree.Binary(operator="==" | "!="):
            return True
        case tree.Unary(operator="*") | tree.MemberAccess(is_arrow=True):
            reached: tree.Expression = outer
        case tree.Subscript(base=base) if base is part:
            reached = outer
        case _:
            return False
    while True:
        kind = unqualified(reached.type)
        part, outer = tree.with_conversions(reached, around)
        if isinstance(kind, ArrayType):
            is_element = isinstance(outer, tree.Subscript) and outer.base is part
        elif isinstance(kind, Record):
            is_element = isinstance(outer, tree.MemberAccess) and not outer.is_arrow
        else:
            return not (isinstance(outer, tree.Unary) and outer.operator == "&")
        if not is_element or not isinstance(outer, tree.Expression):
            return False
        reached = outer
