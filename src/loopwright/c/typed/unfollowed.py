"""Where addresses escape to untracked places, and where untracked pointers come from.

An address that is stored, passed or returned as a pointer is tracked (`points_to.py`).  Any other use may
put it anywhere: it is converted to a number, it is part of a union or of bytes, it is passed to an unnamed
function, as a variable argument, or to a cleanup, or it is part of an expression or of source that is not
modelled, such as gcc's atomic operations, inline assembly and nested functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.escapes import FORGETTING
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.pointer_values import (
    addressed,
    is_followed,
    is_named_pointer,
    is_pointer,
    may_hold_pointers,
    parts_of,
    target_of,
    uncast,
)
from loopwright.c.types import (
    CType,
    Floating,
    FunctionType,
    Integer,
    Pointer,
    Record,
    Void,
    unqualified,
)
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Object:
    declaration: tree.Declaration


@dataclass(frozen=True)
class Memory:
    key: tuple[object, ...]


Target = Object | Memory
UNSEEN = Memory(("unseen",))
"""The target of a pointer that was read from an untracked place."""
_LIBRARY = """
free memset memcpy memmove memcmp malloc calloc realloc aligned_alloc posix_memalign exit abort rand srand
clock fopen fclose fflush puts fputs fgets strlen strcmp strncmp strcpy strcat atoi atof getenv qsort bsearch
__builtin_prefetch __builtin_assume_aligned
"""
_SORTING = ("qsort", "bsearch")
"""Those that pass what they are given to a function that is called before they return."""
_KEEPING_NOTHING = FORGETTING | {*_LIBRARY.split()}
"""Library functions that neither keep the addresses they are given nor store them."""
_PRINTING = (
    "printf",
    "fprintf",
    "sprintf",
    "snprintf",
    "fwrite",
    "fputc",
    "putchar",
    "perror",
    "fseek",
    "ftell",
)
"""Others that store none of them in what the others lead to."""


def is_from_outside(target: Target) -> bool:
    return isinstance(target, Memory) and target.key[0] == "outside"


def has_other_names(targets: Iterable[Target], file: TypedFile) -> bool:
    """Whether a variable may have an alias for the linker."""
    declared = [one.declaration for one in targets if isinstance(one, Object)]
    return any(one.is_file_scope and one.name in file.text.renamed_or_aliases for one in declared)


def with_other_names(file: TypedFile) -> Iterator[tree.Expression]:
    """The initialisers of such variables of the file."""
    for variable, _ in file.variables:
        if variable.initial is not None and has_other_names([Object(variable.declaration)], file):
            yield from parts_of(variable.initial)


def escaping(function: TypedFunction, file: TypedFile, *, outside: bool) -> Iterator[tree.Expression]:
    """The addresses in a function that escape to untracked places, such as variables with aliases for the
    linker; `outside`: or are passed to a function without a definition here."""
    unread = _unread(function) | file.text.renamed_or_aliases
    is_blind = _has_refused_atomics(function)
    around = tree.parents(function.nodes)
    for node in function.nodes:
        match node:
            case tree.OtherExpression() if not is_followed(node):
                yield from _addresses(node)
            case tree.Cast(operand=operand) if _hides(node, around):
                yield operand
            case tree.CallExpression(callee=callee, arguments=arguments):
                yield from _given_blindly(callee, arguments, file, outside=outside)
            case tree.Assign(target=target, value=value) if _is_in_union(target) and is_pointer(value):
                yield value
            case tree.Declarator(declaration=declared) if _has_cleanup(declared):
                yield tree.Name(node.place, declared.type, declared)
            case tree.Name(declaration=declared):
                if is_blind or declared.name in unread or _has_cleanup(declared):
                    yield node


def is_written_blindly(declared: tree.Declaration, functions: Iterable[TypedFunction]) -> bool:
    """Whether source of these functions that could not be parsed names a variable."""
    return any(_has_refused_atomics(one) or declared.name in _unread(one) for one in functions)


def _unread(function: TypedFunction) -> set[str]:
    """The words of source that could not be parsed; without `=` and calls it stores nothing."""
    texts = [one.words for one in function.problems]
    return {word for words in texts if {*words} & {"=", "("} for word in words}


def _has_refused_atomics(function: TypedFunction) -> bool:
    """Whether the front end dropped operations on `_Atomic` pointers as a compiler's header writes them."""
    return any("atomic operation" in one for one in function.errors)


def is_called_blindly(function: TypedFunction, file: TypedFile) -> bool:
    """Whether a function is named without being called: its arguments are then unknown."""
    return function.declaration.name in _named_uncalled(file.text.text)


@lru_cache(maxsize=8)
def _named_uncalled(text: str) -> frozenset[str]:
    """The words of a text that an opening parenthesis does not follow, once at least."""
    return frozenset(_UNCALLED.findall(text))


_UNCALLED = re.compile(r"[\w$]+(?![\w$])(?!\s*\()")


def _addresses(value: tree.OtherExpression) -> Iterator[tree.Expression]:
    for part in tree.walk(value):
        is_address = isinstance(part, tree.Unary) and part.operator == "&"
        if isinstance(part, tree.Expression) and part is not value and (is_address or is_named_pointer(part)):
            yield part


def _hides(cast: tree.Cast, around: dict[int, tree.Node]) -> bool:
    """Whether a conversion makes an address a number, or a pointer to pointers or structs another one.

    An argument of a call is tracked, whatever type it is cast to.
    """
    if not is_pointer(cast.operand):
        return False
    kind = unqualified(cast.type)
    if isinstance(kind, Integer):
        return kind.rank > 0
    if not isinstance(kind, Pointer) or cast.is_implicit or uncast(cast.operand) is not cast.operand:
        return False
    is_given = isinstance(tree.with_conversions(cast, around)[1], tree.CallExpression)
    inner = target_of(cast.operand.type)
    return not is_given and isinstance(inner, Pointer | Record) and inner != unqualified(kind.target)


def _given_blindly(
    callee: tree.Declaration | None, arguments: tuple[tree.Expression, ...], file: TypedFile, *, outside: bool
) -> Iterator[tree.Expression]:
    """The pointers that a call passes to an unnamed function, to one without a definition together with a
    function to call back, or as variable arguments."""
    called = None if callee is None else file.definition(callee)
    is_named = callee is not None and callee.storage is tree.Storage.FUNCTION
    kinds = (unqualified(uncast(one).type) for one in arguments)
    is_kept = outside and callee is not None and callee.name not in _KEEPING_NOTHING
    is_sorting = callee is not None and callee.name in _SORTING and stores_nothing(callee, arguments, file)
    if is_named and called is None and not is_kept and (is_sorting or not any(map(_is_function, kinds))):
        return
    yield from filter(is_pointer, arguments[len(called.parameters) if called is not None else 0 :])


def stores_nothing(
    callee: tree.Declaration | None, arguments: tuple[tree.Expression, ...], file: TypedFile
) -> bool:
    """Whether a function without a definition here stores none of the pointers that it is given."""
    if callee is None or callee.storage not in (tree.Storage.FUNCTION, tree.Storage.UNDECLARED):
        return False
    kinds = [target_of(uncast(one).type) for one in arguments]
    if callee.name in _SORTING:
        named = [one.declaration for one in map(uncast, arguments) if isinstance(one, tree.Name)]
        compared = [found for one in named if (found := file.definition(one)) is not None]
        return len(compared) == 1 and _only_compares(compared[0], file)
    holding = [one for one in kinds if holds(one)]
    is_known = callee.name in {*_KEEPING_NOTHING, *_PRINTING} - {"posix_memalign"}
    return not holding or (is_known and len(holding) < 2)


def _only_compares(function: TypedFunction, file: TypedFile) -> bool:
    """Whether a function stores no pointers, and calls only functions that do not either."""
    for node in function.nodes:
        stored = node.type if isinstance(node, tree.Assign | tree.Update | tree.OtherExpression) else None
        if stored is not None and not isinstance(unqualified(stored), Integer | Floating):
            return False
        if isinstance(node, tree.CallExpression):
            is_own = node.callee is not None and file.definition(node.callee) is not None
            if is_own or not stores_nothing(node.callee, node.arguments, file):
                return False
    return not function.problems and not function.errors


def holds(kind: CType) -> bool:
    """Whether the target of a pointer may hold pointers, or is not known."""
    return may_hold_pointers(kind) or isinstance(kind, Void | FunctionType)


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
    """Whether a pointer is read from a member of a union, which may have been written as another member."""
    return _is_in_union(value)


def _has_cleanup(declared: tree.Declaration) -> bool:
    return any("cleanup" in one for one in declared.attributes)


_Call = tuple[TypedFunction, tree.CallExpression]


def calls_of(file: TypedFile, function: TypedFunction) -> tuple[_Call, ...]:
    """The calls of a function in its file, with the functions that contain them.

    A function that is named without being called may be called through any pointer, and by functions without
    a definition here that are passed it.
    """
    key = ("calls", function.declaration.offset)
    return file.once(key, lambda: tuple(_calls_of(file, function)))


def _calls_of(file: TypedFile, function: TypedFunction) -> Iterator[_Call]:
    name, is_blind = function.declaration.name, is_called_blindly(function, file)
    for caller in file.functions if is_blind else file.functions_with(name):
        for node in caller.giving:
            if isinstance(node, tree.Declarator):
                yield from ((caller, call) for call in _at_the_end_of(node, function))
            if not isinstance(node, tree.CallExpression):
                continue
            named = [one.declaration for one in map(uncast, node.arguments) if isinstance(one, tree.Name)]
            is_through = _is_through_a_pointer(node) and len(node.arguments) == len(function.parameters)
            is_handed_on = function.declaration.name in [one.name for one in named]
            if (node.callee and node.callee.name == name) or (is_blind and (is_through or is_handed_on)):
                yield caller, node


def _at_the_end_of(node: tree.Declarator, function: TypedFunction) -> Iterator[tree.CallExpression]:
    """The call of a cleanup function with the address of a variable at the end of its lifetime."""
    declared = node.declaration
    words = (names_in(one) for one in declared.attributes if "cleanup" in one)
    if any(function.declaration.name in names for names in words):
        kind, own = Pointer(declared.type), tree.Name(node.place, declared.type, declared)
        address = tree.Unary(node.place, kind, "&", own)
        callee = tree.Name(node.place, function.declaration.type, function.declaration)
        yield tree.CallExpression(node.place, Void(), function.declaration, callee, (address,))


def _is_through_a_pointer(call: tree.CallExpression) -> bool:
    return call.callee is None or call.callee.storage not in (tree.Storage.FUNCTION, tree.Storage.UNDECLARED)


def given_to(call: tree.CallExpression, function: TypedFunction, place: int) -> tuple[tree.Expression, ...]:
    """The arguments for a parameter; of a call that only passes the function on, all other pointers."""
    is_called = call.callee is not None and call.callee.name == function.declaration.name
    if is_called or _is_through_a_pointer(call):
        return call.arguments[place : place + 1]
    pointers = [one for one in call.arguments if is_pointer(one)]
    return tuple(one for one in pointers if not _is_function(unqualified(uncast(one).type)))


def parameter_of(target: Target) -> int:
    """The declaration's offset of the variable that a target is reached from, if nothing else is known."""
    name = target.key[1] if isinstance(target, Memory) and is_reached(target) else None
    return name if isinstance(name, int) else -1


def is_reached(target: Target) -> bool:
    """Whether a target is only known as what a name points to."""
    return isinstance(target, Memory) and target.key[0] == "reached"


def with_pointers_to(
    declared: tree.Declaration, function: TypedFunction, file: TypedFile
) -> tuple[TypedFunction, ...]:
    """The functions that may have pointers to a variable: none if its address is not taken."""
    key = ("pointers to", declared.offset, function.declaration.offset)
    return file.once(key, lambda: _with_pointers_to(declared, function, file))


def _with_pointers_to(
    declared: tree.Declaration, function: TypedFunction, file: TypedFile
) -> tuple[TypedFunction, ...]:
    if not (declared.is_file_scope or declared.storage is tree.Storage.STATIC):
        if declared.offset not in function.addressed:
            return ()
        return (function, *called_by(function, file))
    functions = file.functions_with(declared.name)
    is_taken = any(declared.offset in one.addressed for one in functions) or any(
        declared.offset in addressed(tree.walk(one)) for one, _ in file.variables
    )
    return file.functions if is_taken else ()


def called_by(function: TypedFunction, file: TypedFile) -> tuple[TypedFunction, ...]:
    """The functions of the file that a function calls, transitively."""
    found: dict[int, TypedFunction] = {}
    pending = [function]
    while pending:
        for node in pending.pop().giving:
            callee = node.callee if isinstance(node, tree.CallExpression) else None
            called = None if callee is None else file.definition(callee)
            if called is not None and called is not function and id(called) not in found:
                found[id(called)] = called
                pending.append(called)
    return tuple(found.values())
