"""Calls whose stores are all found where they are made: the callees see memory by its own types.

void set(struct S *s, double **d) { s->p = malloc(n); *d = q; }    ..    set(&x.s, &x.d);

sets `.s.p` and `.d` of x, and nothing else in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.members import path_inside
from loopwright.c.typed.pointer_values import (
    is_followed,
    is_no_address,
    is_pointer,
    target_of,
    uncast,
)
from loopwright.c.typed.unfollowed import called_by, calls_of, holds, is_called_blindly, stores_nothing
from loopwright.c.types import FunctionType, Integer, Pointer, unqualified


def is_typed(called: TypedFunction, file: TypedFile) -> bool:
    """Whether a function, and all that it calls, store pointers only through pointers of the right type, and
    give none to functions that are not seen, except those that keep nothing.

    What it returns leads to no pointers: those are not followed to where they are stored."""
    kind = unqualified(called.declaration.type)
    if isinstance(kind, FunctionType) and holds(target_of(kind.result)):
        return False
    key = ("typed", called.declaration.offset)
    return file.once(key, lambda: all(_is_typed(one, file) for one in (called, *called_by(called, file))))


def _is_typed(function: TypedFunction, file: TypedFile) -> bool:
    if function.problems or function.errors or function.jumps_anywhere:
        return False
    seen = set[int]()
    for node in function.nodes:
        if isinstance(node, tree.CallExpression) and not (node.callee and file.definition(node.callee)):
            if not stores_nothing(node.callee, node.arguments, file):
                return False
            seen |= {id(cast) for one in node.arguments for cast in _casts(one)}
        if isinstance(node, tree.Binary) and node.operator in _COMPARING:
            seen |= {id(cast) for one in (node.left, node.right) for cast in _casts(one)}
    return not any(id(node) not in seen and _is_untyped(node, file) for node in function.nodes)


_COMPARING = ("==", "!=", "<", ">", "<=", ">=")


def _casts(value: tree.Expression) -> Iterator[tree.Cast]:
    """The conversions of a value, the last one first."""
    while isinstance(value, tree.Cast):
        yield value
        value = value.operand


def _is_untyped(node: tree.Node, file: TypedFile) -> bool:
    """Whether a node sees memory by another type, or is not modelled."""
    match node:
        case tree.OtherExpression():
            return not is_followed(node)
        case tree.MemberAccess(in_union=True):
            return True
        case tree.Cast(type=kind, operand=operand):
            core = uncast(operand)
            callee = core.callee if isinstance(core, tree.CallExpression) else None
            is_made = callee is not None and file.definition(callee) is None
            is_number = isinstance(unqualified(kind), Integer) and is_pointer(operand)
            inner = [target_of(one) for one in (kind, operand.type)]
            is_view = (
                isinstance(unqualified(kind), Pointer) and inner[0] != inner[1] and any(map(holds, inner))
            )
            is_view = is_view and not isinstance(unqualified(core.type), FunctionType)
            return is_number or (is_view and not is_made and not is_no_address(operand))
    return False


def paths_stored(lvalue: tree.Expression, function: TypedFunction, file: TypedFile) -> tuple[str, ...]:
    """The ends of the paths by which an lvalue may be reached in the objects that contain it: `.d` for `*q`
    where all calls of the function pass `&x.d` for q."""
    inside = path_inside(lvalue)
    core = tree.without_casts(lvalue)
    while isinstance(core, tree.MemberAccess) and not core.is_arrow:
        core = tree.without_casts(core.object)
    match core:
        case tree.Unary(operator="*", operand=pointer) | tree.MemberAccess(object=pointer, is_arrow=True):
            ahead = _paths_given(tree.without_casts(pointer), function, file, frozenset())
            return (inside,) if ahead is None else tuple(sorted({one + inside for one in ahead}))
    return (inside,)


def _paths_given(
    pointer: tree.Expression, function: TypedFunction, file: TypedFile, active: frozenset[int]
) -> set[str] | None:
    """The paths of the members whose addresses are passed for a parameter; None if that is not known."""
    declared = pointer.declaration if isinstance(pointer, tree.Name) else None
    if declared not in function.parameters or declared is None or declared.offset in active:
        return None
    changed = file.once(("changed", function.declaration.offset), lambda: _changed(function))
    if not function.keeps(declared) or declared in changed or is_called_blindly(function, file):
        return None
    place, found = function.parameters.index(declared), set[str]()
    for caller, call in calls_of(file, function):
        for argument in call.arguments[place : place + 1]:
            given = _path_of(tree.without_casts(argument), caller, file, active | {declared.offset})
            if given is None:
                return None
            found |= given
    return found or None


def _path_of(
    argument: tree.Expression, caller: TypedFunction, file: TypedFile, active: frozenset[int]
) -> set[str] | None:
    if not isinstance(argument, tree.Unary) or argument.operator != "&":
        return _paths_given(argument, caller, file, active)
    member = tree.without_casts(argument.operand)
    is_plain = isinstance(member, tree.MemberAccess)
    while isinstance(member, tree.MemberAccess):
        if member.in_union:
            return None
        member = tree.without_casts(member.object)
    return {path_inside(argument.operand)} if is_plain else None


def _changed(function: TypedFunction) -> frozenset[tree.Declaration]:
    """The variables that the assignments of a function change as a whole."""
    written = (node.target for node in function.nodes if isinstance(node, tree.Assign | tree.Update))
    cores = map(tree.without_casts, written)
    return frozenset(one.declaration for one in cores if isinstance(one, tree.Name))
