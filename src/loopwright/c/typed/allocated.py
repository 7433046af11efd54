"""Freshly allocated memory: what functions allocate, and nothing else points to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.pointer_values import given, is_no_address, is_pointer, is_returned_alone, uncast
from loopwright.c.typed.unfollowed import Memory, is_written_blindly
from loopwright.c.types import CType, Pointer, Record, unqualified

_FRESH = re.compile("(?<!re)alloc(?!ated)")
"""Names of functions that return new memory if no argument is a pointer."""


def is_allocated(value: tree.Expression, function: TypedFunction, file: TypedFile, path: str = "") -> bool:
    """Whether a function returns memory that this very call allocates: `double *p = malloc(n); return p;`, or
    a struct with such a pointer at `path`.  A variable that keeps its value between calls, or that a pointer
    points to, may hold memory of an earlier call, and what is stored elsewhere can be reached there too.
    """
    if is_no_address(value):
        return True  # and points nowhere
    core = uncast(value)
    if path and (record := record_of(core.type)) is not None:
        is_own = is_allocated(value, function, file) and path.count(".") == 1
        return is_own and is_always_new(record, path[1:], file)
    if isinstance(core, tree.CallExpression):
        return not path and is_new(core, file)
    if any(
        rest != ahead
        for ahead in _prefixes(path)
        for node in function.giving
        if isinstance(core, tree.Name)
        for _, rest in given(node, core.declaration, ahead)
    ):
        return False
    if not isinstance(core, tree.Name) or core.declaration.storage is not tree.Storage.AUTOMATIC:
        return False
    parts = [one for node in function.giving for one in given(node, core.declaration, path)]
    return (
        core.declaration.offset not in function.addressed
        and not core.declaration.attributes
        and is_returned_alone(function.nodes, core.declaration, lambda one: file.definition(one) is None)
        and not is_written_blindly(core.declaration, (function,))
        and any(not is_no_address(one) for one, _ in parts)
        and all(is_allocated(one, function, file, rest) for one, rest in parts)
    )


def is_new(call: tree.Expression, file: TypedFile) -> bool:
    """Whether a call returns memory that nothing else points to."""
    callee = call.callee if isinstance(call, tree.CallExpression) else None
    if callee is None or not isinstance(call, tree.CallExpression) or file.definition(callee) is not None:
        return False
    if callee.storage not in (tree.Storage.FUNCTION, tree.Storage.UNDECLARED):
        return False  # a pointer to a function
    return _FRESH.search(callee.name) is not None and not any(map(is_pointer, call.arguments))


def _prefixes(path: str) -> list[str]:
    """The proper prefixes `.a` and `.a.b` of `.a.b.c`: pointers there may lead to shared objects."""
    return [path[:place] for place in range(1, len(path)) if path[place] == "."]


def record_of(kind: CType) -> Record | None:
    """The struct that a pointer points to."""
    pointer = unqualified(kind)
    inner = unqualified(pointer.target) if isinstance(pointer, Pointer) else None
    return inner if isinstance(inner, Record) and not inner.is_union else None


_LEAVING_ALONE = ("free", "memset")


def is_always_new(record: Record, member: str, file: TypedFile, known: frozenset[int] = frozenset()) -> bool:
    """Whether the file stores in this member, of any struct, only new memory and null pointers, and copies
    no such struct through a pointer: two allocated structs then own two memories. Nodes in `known` are
    ignored."""
    if not member or any(one.problems for one in file.functions):
        return False
    given = file.once(("sharing",), lambda: tuple(_sharing(file)))
    return not any(id(one) not in known and _may_share(one, record, member) for one in given)


def _sharing(file: TypedFile) -> Iterator[tree.Node]:
    """The nodes that may store something else than new memory in a member of a struct, or copy structs."""
    calls = [(node.callee, node.arguments) for node in file.nodes if isinstance(node, tree.CallExpression)]
    kept = (given for callee, given in calls if callee and callee.name in _LEAVING_ALONE)
    left = {id(one) for given in kept for one in given}
    return (one for one in file.nodes if id(one) not in left and _is_sharing(one, file))


def _is_sharing(node: tree.Node, file: TypedFile) -> bool:
    match node:
        case tree.MemberAccess(in_union=True):
            return True
        case tree.Unary(operator="&", operand=operand) | tree.Update(target=operand):
            return isinstance(tree.without_casts(operand), tree.MemberAccess)
        case tree.Assign(operator=operator, target=target, value=value):
            core = tree.without_casts(target)
            if isinstance(unqualified(target.type), Record):
                return not isinstance(core, tree.Name)
            is_fresh = operator == "=" and (is_no_address(value) or is_new(uncast(value), file))
            return isinstance(core, tree.MemberAccess) and not is_fresh
        case tree.Cast(operand=operand, type=kind):
            is_other = record_of(operand.type) is not None or record_of(kind) is not None
            return is_other and not is_new(uncast(operand), file) and not is_no_address(operand)
        case tree.CallExpression(callee=callee):
            return callee is None or (callee.name not in _LEAVING_ALONE and file.definition(callee) is None)
    return False


def _may_share(node: tree.Node, record: Record, member: str) -> bool:
    """Whether such a node is about this member, or about structs of this kind."""
    match node:
        case tree.MemberAccess(name=name):
            return name == member
        case tree.Unary(operand=operand) | tree.Update(target=operand):
            return _is_member(operand, member)
        case tree.Assign(target=target):
            return isinstance(unqualified(target.type), Record) or _is_member(target, member)
        case tree.Cast(operand=operand, type=kind):
            return _same(operand.type, record) != _same(kind, record)
        case tree.CallExpression(arguments=arguments):
            return any(_same(uncast(one).type, record) for one in arguments)
    return False


def _is_member(lvalue: tree.Expression, member: str) -> bool:
    core = tree.without_casts(lvalue)
    return isinstance(core, tree.MemberAccess) and core.name == member


def _same(kind: CType, record: Record) -> bool:
    """Whether a pointer points to such a struct; an incomplete type is compared by its tag."""
    found = record_of(kind)
    if found is None:
        return False
    return found == record or (bool(found.tag) and found.tag == record.tag)


def from_outside(call: tree.CallExpression, file: TypedFile, *where: object) -> Memory:
    """The memory that a function without a definition returns, or stores in a pointer: new memory, if its
    name says so, otherwise whatever such functions were given.  It is assumed that two of these differ."""
    is_fresh = call.callee is not None and (is_new(call, file) or call.callee.name == "posix_memalign")
    return Memory(("call" if is_fresh else "outside", call.place.span, call.place.first, *where))


def others_returned(function: TypedFunction, file: TypedFile, path: str = "") -> list[tree.Expression]:
    """The values that a function returns, without freshly allocated memory."""
    return file.once(
        ("others returned", function.declaration.offset, path),
        lambda: [one for one in returned_values(function) if not is_allocated(one, function, file, path)],
    )


def returned_values(function: TypedFunction) -> list[tree.Expression]:
    """The values of the return statements of a function."""
    return [one.value for one in function.nodes if isinstance(one, tree.Return) and one.value is not None]
