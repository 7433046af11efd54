"""Where addresses go that are not followed, and where pointers come from that are not.

An address that is stored, passed or returned as a pointer is followed (`points_to.py`).  Whatever else is
done with one may put it anywhere: it is made a number, a part of a union or bytes, it is given to a function
that is not named, to a variable argument, to a cleanup, or it is part of an expression or of a text that is
not modelled, such as gcc's atomic operations, assembler and nested functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import permutations

from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.pointer_values import (
    addressed,
    given,
    is_followed,
    is_named_pointer,
    is_no_address,
    is_pointer,
    is_returned_alone,
    root_and_path,
    takes,
    uncast,
)
from loopwright.c.types import ArrayType, CType, FunctionType, Integer, Pointer, Record, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Object:
    declaration: tree.Declaration


@dataclass(frozen=True)
class Memory:
    key: tuple[object, ...]


Target = Object | Memory
UNSEEN = Memory(("unseen",))
"""Wherever an address leads that was put where it is not followed."""


def escaping(function: TypedFunction, file: TypedFile) -> Iterator[tree.Expression]:
    """The addresses in a function that are put where they are not followed."""
    unread = _unread(function)
    is_blind = _has_refused_atomics(function)
    around = tree.parents(function.nodes)
    for node in function.nodes:
        match node:
            case tree.OtherExpression() if not is_followed(node):
                yield from _addresses(node)
            case tree.Cast(operand=operand) if _hides(node, around):
                yield operand
            case tree.CallExpression(callee=callee, arguments=arguments):
                yield from _given_blindly(callee, arguments, file)
            case tree.Assign(target=target, value=value) if _is_in_union(target) and is_pointer(value):
                yield value
            case tree.Name(declaration=declared):
                if is_blind or declared.name in unread or _has_cleanup(declared):
                    yield node


def is_written_blindly(declared: tree.Declaration, functions: Iterable[TypedFunction]) -> bool:
    """Whether text of these functions that is not understood names a variable."""
    return any(_has_refused_atomics(one) or declared.name in _unread(one) for one in functions)


def _unread(function: TypedFunction) -> set[str]:
    """The words of text that is not understood; without `=` and calls nothing is stored."""
    texts = [one.words for one in function.problems]
    return {word for words in texts if {*words} & {"=", "("} for word in words}


def _has_refused_atomics(function: TypedFunction) -> bool:
    """Whether the front end left out operations on `_Atomic` pointers as a compiler's header writes them."""
    return any("atomic operation" in one for one in function.errors)


def renamed_symbols(file: TypedFile) -> frozenset[str]:
    """The words of pragmas and of assembler that may make two names one symbol: `.set bb, aa`."""
    pragmas = [words for words in file.text.directives if _RENAMING.search(words)]
    texts = [text for one in _ASSEMBLER.finditer(file.text.text) for text in _STRING.findall(one.group())]
    return frozenset(word for text in (*pragmas, *texts) for word in names_in(text))


_RENAMING = re.compile(r"\bpragma\s+(redefine_extname|weak)\b")
_ASSEMBLER = re.compile(r"(?<!\w)_*asm_*(?!\w)[^;]*")
_STRING = re.compile(r'"([^"]*)"')


def is_called_blindly(function: TypedFunction, file: TypedFile) -> bool:
    """Whether a function is named where it is not called: what it is given then is not seen."""
    name = re.escape(function.declaration.name)
    return re.search(rf"\b{name}\b(?!\s*\()", file.text.text) is not None


def _addresses(value: tree.OtherExpression) -> Iterator[tree.Expression]:
    for part in tree.walk(value):
        is_address = isinstance(part, tree.Unary) and part.operator == "&"
        if isinstance(part, tree.Expression) and part is not value and (is_address or is_named_pointer(part)):
            yield part


def _hides(cast: tree.Cast, around: dict[int, tree.Node]) -> bool:
    """Whether a conversion makes an address a number, or one of pointers an address of something else.

    A call is followed by what it is given, whatever that is cast to.
    """
    if not is_pointer(cast.operand):
        return False
    kind = unqualified(cast.type)
    if isinstance(kind, Integer):
        return kind.rank > 0
    if not isinstance(kind, Pointer) or cast.is_implicit or uncast(cast.operand) is not cast.operand:
        return False
    is_given = isinstance(tree.with_conversions(cast, around)[1], tree.CallExpression)
    inner = _target(cast.operand.type)
    return not is_given and isinstance(inner, Pointer | Record) and inner != unqualified(kind.target)


def _target(kind: CType) -> CType:
    pointer = unqualified(kind)
    if isinstance(pointer, Pointer):
        return unqualified(pointer.target)
    return unqualified(pointer.element) if isinstance(pointer, ArrayType) else Unknown("no pointer")


def _given_blindly(
    callee: tree.Declaration | None, arguments: tuple[tree.Expression, ...], file: TypedFile
) -> Iterator[tree.Expression]:
    """What a call hands to a function that is not named, to one that is not seen with a function to hand it
    on to, or to one of the file after its parameters."""
    called = None if callee is None else file.definition(callee)
    is_named = callee is not None and callee.storage is tree.Storage.FUNCTION
    kinds = (unqualified(uncast(one).type) for one in arguments)
    if is_named and called is None and not any(_is_function(kind) for kind in kinds):
        return
    yield from filter(is_pointer, arguments[len(called.parameters) if called is not None else 0 :])


def _is_function(kind: CType) -> bool:
    inner = unqualified(kind.target) if isinstance(kind, Pointer) else kind
    return isinstance(inner, FunctionType)


def _is_in_union(lvalue: tree.Expression) -> bool:
    core = tree.without_casts(lvalue)
    while isinstance(core, tree.MemberAccess | tree.Subscript):
        if isinstance(core, tree.MemberAccess) and core.in_union:
            return True
        core = tree.without_casts(core.object if isinstance(core, tree.MemberAccess) else core.base)
    return False


def is_from_union(value: tree.Expression) -> bool:
    """Whether a pointer is read from a member of a union, which may have been written as another one."""
    return _is_in_union(value)


def _has_cleanup(declared: tree.Declaration) -> bool:
    return any("cleanup" in one for one in declared.attributes)


def calls_of(file: TypedFile, function: TypedFunction) -> Iterator[tuple[TypedFunction, tree.CallExpression]]:
    """The calls of a function in its file, with the functions they are in."""
    for caller in file.functions_with(function.declaration.name):
        for node in caller.giving:
            callee = node.callee if isinstance(node, tree.CallExpression) else None
            if (
                isinstance(node, tree.CallExpression)
                and callee is not None
                and callee.name == function.declaration.name
            ):
                yield caller, node


def with_pointers_to(
    declared: tree.Declaration, function: TypedFunction, file: TypedFile
) -> tuple[TypedFunction, ...]:
    """Where there may be pointers to a variable: nowhere, where its address is not taken."""
    if not (declared.is_file_scope or declared.storage is tree.Storage.STATIC):
        if declared.offset not in function.addressed:
            return ()
        called = [
            file.definition(node.callee)
            for node in function.giving
            if isinstance(node, tree.CallExpression) and node.callee is not None
        ]
        return (function, *(one for one in called if one is not None and one is not function))
    functions = file.functions_with(declared.name)
    is_taken = any(declared.offset in one.addressed for one in functions) or any(
        declared.offset in addressed(tree.walk(one)) for one, _ in file.variables
    )
    return file.functions if is_taken else ()


_Store = tuple[tree.Expression, tree.Expression]
"""Where something is stored, and what."""


def stores(function: TypedFunction, file: TypedFile) -> Iterator[_Store]:
    """The pointers and structs that a function stores where pointers lead."""
    for node in function.giving:
        if isinstance(node, tree.Assign) and not tree.owner(target := node.target):
            is_stored = is_pointer(target) or isinstance(unqualified(target.type), Record)
            yield from [(target, node.value)] if is_stored else ()
        yield from copied(node, file)


def copied(node: tree.Node, file: TypedFile) -> Iterator[_Store]:
    """What a function that is not seen may copy: what one argument leads to, to where another does."""
    if not isinstance(node, tree.CallExpression) or (node.callee and file.definition(node.callee)):
        return
    leading = [one for one in map(uncast, node.arguments) if isinstance(_target(one.type), Pointer | Record)]
    for one, other in permutations(leading, 2):
        kind = _target(one.type)
        yield tree.Unary(one.place, kind, "*", one), tree.Unary(other.place, kind, "*", other)


def set_by(
    call: tree.CallExpression, declared: tree.Declaration, file: TypedFile
) -> Iterator[tuple[TypedFunction, tree.Expression, bool]]:
    """What a function of the file that is given the address of a pointer stores there."""
    places = [place for place, one in enumerate(call.arguments) if takes(one, declared)]
    function = file.definition(call.callee) if places and call.callee is not None else None
    if function is None:
        return
    given_on = [one for place in places for one in function.parameters[place : place + 1]]
    for node in function.giving:
        if isinstance(node, tree.Assign) and root_and_path(node.target) in [(one, "*") for one in given_on]:
            yield function, node.value, False


_FRESH = re.compile("(?<!re)alloc(?!ated)")
"""What functions that return new memory are called, where they are given no pointer."""


def is_allocated(value: tree.Expression, function: TypedFunction, file: TypedFile, path: str = "") -> bool:
    """Whether a function returns memory that this very call of it allocates: `double *p = malloc(n);
    return p;`, or a struct with such a pointer at `path`.  A variable that keeps its value between calls,
    or that a pointer leads to, may be of an earlier call, and what is put elsewhere is found there too.
    """
    if is_no_address(value):
        return True  # and leads nowhere
    core = uncast(value)
    if path and (record := record_of(core.type)) is not None:
        is_own = is_allocated(value, function, file) and path.count(".") == 1
        return is_own and is_always_new(record, path[1:], file)
    if isinstance(core, tree.CallExpression):
        return not path and is_new(core, file)
    if any(
        not is_itself
        for ahead in _prefixes(path)
        for node in function.giving
        if isinstance(core, tree.Name)
        for _, is_itself in given(node, core.declaration, ahead)
    ):
        return False
    if not isinstance(core, tree.Name) or core.declaration.storage is not tree.Storage.AUTOMATIC:
        return False
    found = [one for node in function.giving for one in given(node, core.declaration, path)]
    parts = [(one, path if is_itself else "") for one, is_itself in found]
    return (
        core.declaration.offset not in function.addressed
        and not core.declaration.attributes
        and is_returned_alone(function.nodes, core.declaration, lambda one: file.definition(one) is None)
        and not is_written_blindly(core.declaration, (function,))
        and any(not is_no_address(one) for one, _ in parts)
        and all(is_allocated(one, function, file, rest) for one, rest in parts)
    )


def is_new(call: tree.Expression, file: TypedFile) -> bool:
    """Whether a call returns memory that nothing else has."""
    callee = call.callee if isinstance(call, tree.CallExpression) else None
    if callee is None or not isinstance(call, tree.CallExpression) or file.definition(callee) is not None:
        return False
    if callee.storage not in (tree.Storage.FUNCTION, tree.Storage.UNDECLARED):
        return False  # a pointer to a function
    return _FRESH.search(callee.name) is not None and not any(map(is_pointer, call.arguments))


def _prefixes(path: str) -> list[str]:
    """`.a` and `.a.b` of `.a.b.c`: pointers there may lead to what others have."""
    return [path[:place] for place in range(1, len(path)) if path[place] == "."]


def record_of(kind: CType) -> Record | None:
    """The struct that a pointer leads to."""
    pointer = unqualified(kind)
    inner = unqualified(pointer.target) if isinstance(pointer, Pointer) else None
    return inner if isinstance(inner, Record) and not inner.is_union else None


_LEAVING_ALONE = ("free", "memset")


def is_always_new(record: Record, member: str, file: TypedFile, known: frozenset[int] = frozenset()) -> bool:
    """Whether the file stores in this member, of whatever struct, nothing but new memory and null pointers,
    and copies no such struct to where a pointer leads: two of them that were allocated have two memories.
    What is `known` is left out."""
    if not member or any(one.problems for one in file.functions):
        return False
    nodes = [node for one in file.functions for node in one.nodes]
    calls = [(node.callee, node.arguments) for node in nodes if isinstance(node, tree.CallExpression)]
    left = {id(x) for callee, given in calls if callee and callee.name in _LEAVING_ALONE for x in given}
    return not any(id(node) not in left | known and _may_share(node, record, member, file) for node in nodes)


def _may_share(node: tree.Node, record: Record, member: str, file: TypedFile) -> bool:
    match node:
        case tree.MemberAccess(name=name, in_union=True):
            return name == member
        case tree.Unary(operator="&", operand=operand) | tree.Update(target=operand):
            return _is_member(operand, member)
        case tree.Assign(operator=operator, target=target, value=value):
            if isinstance(unqualified(target.type), Record):
                return not isinstance(tree.without_casts(target), tree.Name)
            is_fresh = operator == "=" and (is_no_address(value) or is_new(uncast(value), file))
            return _is_member(target, member) and not is_fresh
        case tree.Cast(operand=operand, type=kind):
            is_made = is_new(uncast(operand), file) or is_no_address(operand)
            is_other = _same(operand.type, record) != _same(kind, record)
            return is_other and not is_made
        case tree.CallExpression(callee=callee, arguments=arguments):
            is_left = callee is not None and (
                callee.name in _LEAVING_ALONE or file.definition(callee) is not None
            )
            return not is_left and any(_same(uncast(one).type, record) for one in arguments)
    return False


def _is_member(lvalue: tree.Expression, member: str) -> bool:
    core = tree.without_casts(lvalue)
    return isinstance(core, tree.MemberAccess) and core.name == member


def _same(kind: CType, record: Record) -> bool:
    """Whether a pointer leads to such a struct; where one is not spelled out, the tag says it."""
    found = record_of(kind)
    if found is None:
        return False
    return found == record or (bool(found.tag) and found.tag == record.tag)
