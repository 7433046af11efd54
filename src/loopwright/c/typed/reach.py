"""What code may change besides the variables it names: what the functions it calls change, and pointers.

    changed     variables that are assigned by their names, in the code or in a function that it calls
    written     the types of what is assigned through pointers
    unknown     a function that is called, and of which neither is known

A pointer leads to no variable whose address is not taken, and an assignment to an object of another type
than the assigned one is not defined (C17 6.5, paragraph 7), characters excepted.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.c import types
from loopwright.c.typed import tree
from loopwright.c.typed.effects import EXPRESSIONS, STATEMENTS, may_be_replaced
from loopwright.c.typed.file import TypedFile
from loopwright.lazy_dataclass import dataclass

_LIBRARY = """
printf fprintf puts fputs putchar fputc putc fflush perror malloc calloc realloc free abort exit rand srand
random srandom drand48 srand48 time clock omp_get_wtime omp_get_thread_num omp_get_num_threads __assert_fail
"""
_KEEPS_ALL = frozenset(_LIBRARY.split())
"""Functions of libraries that change no variable but through what they are given, nor call the program's."""
_FUNCTIONS = (tree.Storage.FUNCTION, tree.Storage.UNDECLARED)
_WRITES_BYTES = ("memcpy", "memmove", "memset", "strcpy", "strncpy", "strcat", "sprintf", "snprintf")
_CHARACTER = 8


@dataclass(frozen=True)
class Reach:
    changed: frozenset[int] = frozenset()
    written: frozenset[types.CType] = frozenset()
    unknown: str = ""


def reach_of(file: TypedFile, nodes: Iterable[tree.Node], pure: frozenset[str]) -> Reach:
    """What evaluating `nodes` may change; `pure` functions are believed to change nothing."""
    changed: set[int] = set()
    written: set[types.CType] = set()
    unknown = ""
    seen: set[str] = set()
    pending = list(nodes)
    while pending and not unknown:
        node = pending.pop()
        unknown = _unknown_effect(node, file, pure)
        match node:
            case tree.Assign(target=target) | tree.Update(target=target):
                root = tree.owner(target)
                if root is None:
                    written.add(_assigned_type(target))
                else:
                    changed.add(root.offset)
            case tree.CallExpression(callee=tree.Declaration(name=name) as callee, arguments=arguments):
                function = file.definition(callee)
                if function is None:
                    written |= _written_by_library(_plain(name), arguments)
                elif name not in seen:
                    pending += function.nodes
                seen.add(name)
    return Reach(frozenset(changed), frozenset(written), unknown)


def _unknown_effect(node: tree.Node, file: TypedFile, pure: frozenset[str]) -> str:
    """What a node does that is not known; "" where all of it is."""
    match node:
        case tree.CallExpression(callee=None):
            return "a function through a pointer"
        case tree.CallExpression(callee=tree.Declaration(name=name, storage=storage) as callee):
            function = file.definition(callee)
            if storage not in _FUNCTIONS:
                is_known = False
            elif function is not None:
                is_known = not function.problems and not may_be_replaced(callee, function)
            else:
                is_known = _plain(name) in (*_WRITES_BYTES, *_KEEPS_ALL) or bool({name, _plain(name)} & pure)
            return "" if is_known else f"'{name}'"
        case tree.OtherStatement(kind=kind) if kind not in STATEMENTS:
            return "this"
        case tree.OtherExpression(kind=kind) if kind not in EXPRESSIONS:
            return "this"
    return ""


def _plain(name: str) -> str:
    return name.removeprefix("__builtin_")


def _assigned_type(target: tree.Expression) -> types.CType:
    if in_union(target):
        return types.Unknown("what a union holds may be of any of its types")
    return types.unqualified(target.type)


def _written_by_library(name: str, arguments: Iterable[tree.Expression]) -> set[types.CType]:
    if name in _WRITES_BYTES:
        return {types.Unknown("bytes")}
    return _targets(arguments) if name in _KEEPS_ALL else set()


def in_union(target: tree.Expression) -> bool:
    """Whether an lvalue is in a union, on the way from the pointer that leads there."""
    return any(isinstance(part, tree.MemberAccess) and part.in_union for part in tree.walk(target))


def _targets(arguments: Iterable[tree.Expression]) -> set[types.CType]:
    """The types of what arguments point to, where it may be assigned: `%n` of printf, or `time(&t)`."""
    pointers = [
        types.unqualified(one.type) for one in arguments if not isinstance(tree.without_casts(one), tree.Text)
    ]
    targets = [one.target for one in pointers if isinstance(one, types.Pointer)]
    changing = [one for one in targets if not (isinstance(one, types.Qualified) and one.is_const)]
    return {
        kind for kind in map(types.unqualified, changing) if not isinstance(kind, types.Record | types.Void)
    }


def may_be_written(kind: types.CType, written: Iterable[types.CType]) -> bool:
    """Whether assignments through pointers, to objects of these types, may change one of type `kind`."""
    return any(_may_be_same(types.unqualified(kind), types.unqualified(one)) for one in written)


def _may_be_same(one: types.CType, other: types.CType) -> bool:
    match (_number(one), _number(other)):
        case (types.Integer(), types.Floating()) | (types.Floating(), types.Integer()):
            return _CHARACTER in {kind.bits for kind in (one, other) if isinstance(kind, types.Integer)}
        case (types.Integer(bits=bits), types.Integer(bits=others)):
            return bits == others or _CHARACTER in (bits, others)
        case (types.Pointer(), types.Integer(bits=bits)) | (types.Integer(bits=bits), types.Pointer()):
            return bits == _CHARACTER
        case (types.Pointer(), types.Floating()) | (types.Floating(), types.Pointer()):
            return False
    return True


def _number(kind: types.CType) -> types.CType:
    return kind.integer if isinstance(kind, types.Enumeration) else kind
