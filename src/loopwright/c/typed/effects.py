"""The side effects of a function: whether its result depends only on its arguments, and what else it reads.

This is an allow-list: a function with anything in its body that is not known to be harmless is impure.

`reach_of` finds what code may change besides the variables that it names, through calls and pointers.

    changed     variables that are assigned by name, in the code or in a function that it calls
    written     the types of objects that are assigned through pointers
    unknown     a called function whose effects are unknown

A pointer points to no variable whose address is not taken, and an assignment to an object of another type
than the assigned one is undefined behaviour (C17 6.5, paragraph 7), except for characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from loopwright.c import types
from loopwright.c.tokens import ASSIGNING, KEYWORDS
from loopwright.c.typed import tree
from loopwright.c.typed.expansion import ExpandedToken
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.linker_names import is_renamed, may_be_replaced
from loopwright.c.types import ArrayType, CType, FunctionType, Pointer, Record, is_observed, unqualified
from loopwright.lazy_dataclass import dataclass

STATEMENTS = (
    *("WHILE_STMT", "DO_STMT", "SWITCH_STMT", "CASE_STMT", "DEFAULT_STMT"),
    *("BREAK_STMT", "CONTINUE_STMT", "NULL_STMT", "GOTO_STMT"),
)
EXPRESSIONS = ("INIT_LIST_EXPR", "COMPOUND_LITERAL_EXPR", "GENERIC_SELECTION_EXPR")


@dataclass(frozen=True)
class Effects:
    """`impure` names a side effect of the function; "" if it has none."""

    impure: str
    reads: frozenset[tree.Declaration]
    """The variables that it reads and that are not local to it."""
    calls: tuple[tree.Declaration, ...]
    follows: bool = False
    """Whether it loads pointers from memory or structs, and so accesses more than its arguments point to."""


def effects_of(function: TypedFunction) -> Effects:
    """The effects of a function's own body, without those of its callees."""
    own = {one.offset for one in function.parameters}
    nodes = function.nodes
    for node in nodes:
        if isinstance(node, tree.Declarator) and node.declaration.storage is tree.Storage.AUTOMATIC:
            own.add(node.declaration.offset)
    if function.problems:
        return Effects(f"its body is not understood: {function.problems[0].reason}", frozenset(), ())
    impure = next((reason for node in nodes if (reason := _impure(node, own)) is not None), "")
    if (done := effect_in_a_type(function)) is not None:
        impure = f"'{done.text}' in it has a side effect in the length of an array"
    elif any(_THREADS.search(words) for _, words in function.directives):
        impure = "it has OpenMP directives"
    elif (seen := _foreign_length(function, own)) is not None:
        impure = f"'{seen}', which is not its own, is in the length of an array in it"
    names = [node.declaration for node in nodes if isinstance(node, tree.Name)]
    called = tuple(
        node.callee for node in nodes if isinstance(node, tree.CallExpression) and node.callee is not None
    )
    silent = (tree.Storage.FUNCTION, tree.Storage.ENUMERATOR)
    reads = frozenset(one for one in names if one.offset not in own and one.storage not in silent)
    return Effects(impure, reads, called, any(map(_is_loaded_pointer, nodes)))


_THREADS = re.compile(r"\bomp\b(?!\s+simd\b)")


def _foreign_length(function: TypedFunction, own: set[int]) -> str | None:
    """A name in the length of an array in a function that is not local to it."""
    inner = (node.declaration for node in function.nodes if isinstance(node, tree.Declarator))
    known = {one.name for one in (*function.parameters, *inner) if one.offset in own} | KEYWORDS
    names = (one.text for one in map(function.tokens.__getitem__, in_lengths(function)) if one.is_name)
    return next((name for name in names if name not in known), None)


def _is_loaded_pointer(node: tree.Node) -> bool:
    is_lvalue = isinstance(node, tree.MemberAccess | tree.Subscript) or (
        isinstance(node, tree.Unary) and node.operator == "*"
    )
    kind = unqualified(node.type) if is_lvalue and isinstance(node, tree.Expression) else None
    return isinstance(kind, Pointer | types.Unknown)


def _impure(node: tree.Node, own: set[int]) -> str | None:
    match node:
        case tree.Assign(target=target) | tree.Update(target=target):
            root = tree.owner(target)
            if root is None or root.offset not in own:
                return "it assigns to something other than its own variables"
        case tree.Declarator(declaration=declared) if declared.storage is tree.Storage.STATIC:
            return f"its variable '{declared.name}' is static"
        case tree.Declarator(declaration=declared) if any("cleanup" in one for one in declared.attributes):
            return f"a function is called when the lifetime of '{declared.name}' ends"
        case tree.Name(declaration=declared) if declared.is_thread_local:
            return f"each thread has its own '{declared.name}'"
        case tree.OtherStatement(kind=kind) if kind not in STATEMENTS:
            return "it has a statement that is not understood"
        case tree.OtherExpression(kind=kind) if kind not in EXPRESSIONS:
            return "it has an expression that is not understood"
        case tree.CallExpression(callee=None):
            return "it calls a function through a pointer"
        case tree.Name(declaration=declared, type=kind):
            if is_observed(kind):
                return f"'{declared.name}' is volatile"
            is_known = declared.offset in own or declared.storage is tree.Storage.FUNCTION
            if _leads_elsewhere(kind) and not is_known:
                return f"it follows the pointer '{declared.name}'"
        case tree.Cast(type=kind, operand=operand) if isinstance(unqualified(kind), Pointer):
            if not isinstance(unqualified(operand.type), Pointer | ArrayType | FunctionType):
                return "it converts a number to a pointer"
        case tree.Cast(type=kind, operand=operand) if isinstance(
            unqualified(operand.type), Pointer | ArrayType
        ):
            if not isinstance(unqualified(kind), Pointer | ArrayType | FunctionType):
                return "it converts a pointer to a number"
        case tree.MemberAccess(in_union=True, type=kind) if _leads_elsewhere(kind):
            return "it reads a pointer from a union"
    return None


def _leads_elsewhere(kind: CType) -> bool:
    """Whether a value of this type is a pointer, or may contain one."""
    match unqualified(kind):
        case ArrayType(element=inner):
            return _leads_elsewhere(inner)
        case Record(fields=fields):
            return fields is None or any(_leads_elsewhere(one.type) for one in fields)
        case Pointer():
            return True
    return False


@dataclass(frozen=True)
class Purity:
    """Why a call is impure, or what its result depends on besides its arguments."""

    reason: str
    reads: frozenset[tree.Declaration] = frozenset()
    sees_memory: bool = False
    """Whether it is declared `pure`, or loads pointers from memory: it may read anything that is visible
    elsewhere, or pointed to."""


def purity(
    file: TypedFile, callee: tree.Declaration, believed: frozenset[str], seen: tuple[int, ...] = ()
) -> Purity:
    """Whether a function and all its callees are pure; those in `believed` are assumed to be, by name.

    A name of the C library counts only if the program does not define it.  A function that is called
    before the file defines it, because its header is missing, is the one that the file defines.
    """
    function = file.definition(callee)
    is_recursive = callee.offset in seen
    if is_recursive:
        return Purity("")
    if is_renamed(callee, file):
        return Purity(f"'{callee.name}' has another name for the linker, and may be another function")
    if function is None or may_be_replaced(callee, function, file):
        words = {word.strip("_") for word in callee.attributes}
        known = callee.name in believed or words & {"pure", "const"}
        reason = "" if known else f"what '{callee.name}' does is not known"
        return Purity(reason, sees_memory=callee.name not in believed and "const" not in words)
    found = effects_of(function)
    if found.impure:
        return Purity(f"'{callee.name}' is not pure: {found.impure}")
    reads, sees_memory = found.reads, found.follows
    for one in found.calls:
        inner = purity(file, one, believed, (*seen, callee.offset))
        if inner.reason:
            return Purity(f"in '{callee.name}', {inner.reason}")
        reads |= inner.reads
        sees_memory = sees_memory or inner.sees_memory
    return Purity("", reads, sees_memory)


_LIBRARY = """
printf fprintf puts fputs putchar fputc putc fflush perror malloc calloc realloc free abort exit rand srand
random srandom drand48 srand48 time clock omp_get_wtime omp_get_thread_num omp_get_num_threads __assert_fail
"""
_KEEPS_ALL = frozenset(_LIBRARY.split())
"""Library functions that change variables only through their arguments, and call none of the program's."""
_BLOCK = "StmtExpr"
"""`({ .. })`, as libraries write `assert`: its effects are those of its statements."""
_FUNCTIONS = (tree.Storage.FUNCTION, tree.Storage.UNDECLARED)
_WRITES_BYTES = ("memcpy", "memmove", "memset", "strcpy", "strncpy", "strcat", "sprintf", "snprintf")
_CHARACTER = 8


@dataclass(frozen=True)
class Reach:
    changed: frozenset[int] = frozenset()
    written: frozenset[types.CType] = frozenset()
    unknown: str = ""


def reach_of(file: TypedFile, nodes: Iterable[tree.Node], pure: frozenset[str]) -> Reach:
    """What evaluating `nodes` may change; functions in `pure` are assumed to change nothing."""
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
    """An unknown effect of a node; "" if all its effects are known."""
    match node:
        case tree.CallExpression(callee=None):
            return "a function through a pointer"
        case tree.CallExpression(callee=tree.Declaration(name=name, storage=storage) as callee):
            function = file.definition(callee)
            if storage not in _FUNCTIONS or is_renamed(callee, file):
                is_known = False
            elif function is not None:
                is_known = not function.problems and not may_be_replaced(callee, function, file)
                is_known = is_known and effect_in_a_type(function) is None
            else:
                is_known = _plain(name) in (*_WRITES_BYTES, *_KEEPS_ALL) or bool({name, _plain(name)} & pure)
            return "" if is_known else f"'{name}'"
        case tree.OtherStatement(kind=kind) if kind not in STATEMENTS:
            return "this"
        case tree.OtherExpression(kind=kind) if kind not in (*EXPRESSIONS, _BLOCK):
            return "this"
    return ""


def _plain(name: str) -> str:
    return name.removeprefix("__builtin_")


def _assigned_type(target: tree.Expression) -> types.CType:
    if in_union(target):
        return types.Unknown("a union may hold a value of any of its types")
    return types.unqualified(target.type)


def _written_by_library(name: str, arguments: Iterable[tree.Expression]) -> set[types.CType]:
    if name in _WRITES_BYTES:
        return {types.Unknown("bytes")}
    return _targets(arguments) if name in _KEEPS_ALL else set()


def in_union(target: tree.Expression) -> bool:
    """Whether an lvalue, or anything on the way to it, is a member of a union."""
    return any(isinstance(part, tree.MemberAccess) and part.in_union for part in tree.walk(target))


def _targets(arguments: Iterable[tree.Expression]) -> set[types.CType]:
    """The types of the objects that arguments point to and may be assigned: `%n` of printf, or `time(&t)`."""
    pointers = [
        types.unqualified(one.type) for one in arguments if not isinstance(tree.without_casts(one), tree.Text)
    ]
    targets = [one.target for one in pointers if isinstance(one, types.Pointer)]
    changing = [one for one in targets if not (isinstance(one, types.Qualified) and one.is_const)]
    return {
        kind for kind in map(types.unqualified, changing) if not isinstance(kind, types.Record | types.Void)
    }


def may_be_written(kind: types.CType, written: Iterable[types.CType]) -> bool:
    """Whether assignments through pointers to objects of these types may change one of type `kind`."""
    return any(_may_be_same(types.unqualified(kind), types.unqualified(one)) for one in written)


def _may_be_same(one: types.CType, other: types.CType) -> bool:
    """Whether objects of two types may overlap; a struct contains objects of its members' types."""
    match (_number(one), _number(other)):
        case (inner, types.Record(fields=tuple(fields))) if not isinstance(inner, types.Record):
            return any(_may_be_same(inner, types.unqualified(member.type)) for member in fields)
        case (inner, types.ArrayType(element=element)) if not isinstance(inner, types.Record):
            return _may_be_same(inner, types.unqualified(element))
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


def effect_in_a_type(part: TypedFunction | TypedRegion) -> ExpandedToken | None:
    """The first token of a side effect in an array length in a type: `int (*p)[k++]`, `(int (*)[f()])p`."""
    tokens = _function(part).tokens
    done = (at for at in in_lengths(part) if tokens[at].text in ASSIGNING or _is_called(tokens, at))
    return next((tokens[at] for at in done), None)


def in_lengths(part: TypedFunction | TypedRegion) -> Iterator[int]:
    """The tokens in the lengths of arrays in types, which are not in the tree of a function.

    Brackets belong to a type unless they hold a subscript.
    """
    function = _function(part)
    tokens = function.tokens
    places = range(part.first, part.end) if isinstance(part, TypedRegion) else range(len(tokens))
    if not any(tokens[at].text == "[" for at in places):
        return
    subscripts = {node.index.place.first for node in function.nodes if isinstance(node, tree.Subscript)}
    opened: list[bool] = []
    for at in places:
        match tokens[at].text:
            case "[":
                first = at + 1
                while first not in subscripts and first < len(tokens) and tokens[first].text == "(":
                    first += 1
                beside = (*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2])
                is_attribute = any(one.text == "[" for one in beside)
                opened.append(first not in subscripts and not is_attribute)
            case "]" if opened:
                opened.pop()
            case _ if any(opened):
                yield at


def _function(part: TypedFunction | TypedRegion) -> TypedFunction:
    return part.function if isinstance(part, TypedRegion) else part


def _is_called(tokens: Sequence[ExpandedToken], at: int) -> bool:
    """Whether a token starts the arguments of a call, or a block in an expression."""
    before, after = tokens[at - 1].text, tokens[at + 1].text if at + 1 < len(tokens) else ""
    is_function = tokens[at - 1].is_name and before not in KEYWORDS and before not in _OF_TYPES
    return tokens[at].text == "(" and (is_function or before in (")", "]") or after == "{")


_OF_TYPES = ("__typeof__", "__typeof", "__alignof__", "__alignof", "__attribute__", "__extension__")
