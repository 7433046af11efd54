"""What a function does besides returning a value: whether it is a value of its arguments, and of what else.

Allow-list: a function whose body has anything in it that is not known to be harmless is not pure.
"""

from __future__ import annotations

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.types import (
    ArrayType,
    CType,
    FunctionType,
    Pointer,
    Qualified,
    Record,
    unqualified,
)
from loopwright.lazy_dataclass import dataclass

STATEMENTS = (
    *("WHILE_STMT", "DO_STMT", "SWITCH_STMT", "CASE_STMT", "DEFAULT_STMT"),
    *("BREAK_STMT", "CONTINUE_STMT", "NULL_STMT", "GOTO_STMT"),
)
EXPRESSIONS = ("INIT_LIST_EXPR", "COMPOUND_LITERAL_EXPR", "GENERIC_SELECTION_EXPR")


@dataclass(frozen=True)
class Effects:
    """`impure` says what a function does that a value does not; "" where there is nothing."""

    impure: str
    reads: frozenset[tree.Declaration]
    """The variables it reads that are not its own."""
    calls: tuple[tree.Declaration, ...]


def effects_of(function: TypedFunction) -> Effects:
    """The effects of a function's own body; those of what it calls are not in it."""
    own = {one.offset for one in function.parameters}
    nodes = function.nodes
    for node in nodes:
        if isinstance(node, tree.Declarator) and node.declaration.storage is tree.Storage.AUTOMATIC:
            own.add(node.declaration.offset)
    if function.problems:
        return Effects(f"its body is not understood: {function.problems[0].reason}", frozenset(), ())
    impure = next((reason for node in nodes if (reason := _impure(node, own)) is not None), "")
    names = [node.declaration for node in nodes if isinstance(node, tree.Name)]
    called = tuple(
        node.callee for node in nodes if isinstance(node, tree.CallExpression) and node.callee is not None
    )
    silent = (tree.Storage.FUNCTION, tree.Storage.ENUMERATOR)
    reads = frozenset(one for one in names if one.offset not in own and one.storage not in silent)
    return Effects(impure, reads, called)


def _impure(node: tree.Node, own: set[int]) -> str | None:
    match node:
        case tree.Assign(target=target) | tree.Update(target=target):
            root = tree.owner(target)
            if root is None or root.offset not in own:
                return "it assigns to what is not its own"
        case tree.Declarator(declaration=declared) if declared.storage is tree.Storage.STATIC:
            return f"its variable '{declared.name}' is static"
        case tree.Declarator(declaration=declared) if any("cleanup" in one for one in declared.attributes):
            return f"a function is called at the end of the life of '{declared.name}'"
        case tree.Name(declaration=declared) if declared.is_thread_local:
            return f"each thread has its own '{declared.name}'"
        case tree.OtherStatement(kind=kind) if kind not in STATEMENTS:
            return "it has a statement that is not understood"
        case tree.OtherExpression(kind=kind) if kind not in EXPRESSIONS:
            return "it has an expression that is not understood"
        case tree.CallExpression(callee=None):
            return "it calls a function through a pointer"
        case tree.Name(declaration=declared, type=kind):
            if isinstance(kind, Qualified) and (kind.is_volatile or kind.is_atomic):
                return f"'{declared.name}' is volatile"
            is_known = declared.offset in own or declared.storage is tree.Storage.FUNCTION
            if _leads_elsewhere(kind) and not is_known:
                return f"it follows the pointer '{declared.name}'"
        case tree.Cast(type=kind, operand=operand) if isinstance(unqualified(kind), Pointer):
            if not isinstance(unqualified(operand.type), Pointer | ArrayType | FunctionType):
                return "it makes a pointer of a number"
        case tree.Cast(type=kind, operand=operand) if isinstance(
            unqualified(operand.type), Pointer | ArrayType
        ):
            if not isinstance(unqualified(kind), Pointer | ArrayType | FunctionType):
                return "it makes a number of a pointer"
        case tree.MemberAccess(in_union=True, type=kind) if _leads_elsewhere(kind):
            return "it makes a pointer of what is in a union"
    return None


def _leads_elsewhere(kind: CType) -> bool:
    """Whether a value of this type is a pointer, or may have one in it."""
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
    """Why a call is not a value, or what it depends on besides its arguments."""

    reason: str
    reads: frozenset[tree.Declaration] = frozenset()
    sees_memory: bool = False
    """It is declared `pure`, and may read whatever can be named elsewhere, or pointed to."""


def purity(
    file: TypedFile, callee: tree.Declaration, believed: frozenset[str], seen: tuple[int, ...] = ()
) -> Purity:
    """Whether a function and all it calls are pure; `believed` are taken to be by their names.

    A name of the C library counts only where the program does not define it itself.  A function that is
    called before the file defines it, its header being missing, is the one that the file defines.
    """
    function = file.definition(callee)
    is_recursive = callee.offset in seen
    if is_recursive:
        return Purity("")
    if function is None or may_be_replaced(callee, function):
        words = {word.strip("_") for word in callee.attributes}
        known = callee.name in believed or words & {"pure", "const"}
        reason = "" if known else f"what '{callee.name}' does is not known"
        return Purity(reason, sees_memory=callee.name not in believed and "const" not in words)
    found = effects_of(function)
    if found.impure:
        return Purity(f"'{callee.name}' is not pure: {found.impure}")
    reads, sees_memory = found.reads, False
    for one in found.calls:
        inner = purity(file, one, believed, (*seen, callee.offset))
        if inner.reason:
            return Purity(f"in '{callee.name}', {inner.reason}")
        reads |= inner.reads
        sees_memory = sees_memory or inner.sees_memory
    return Purity("", reads, sees_memory)


def may_be_replaced(callee: tree.Declaration, function: TypedFunction) -> bool:
    """Whether the linker may choose another body than the one in the file."""
    written = (*callee.attributes, *function.declaration.attributes)
    words = (word.split("(")[0].strip("_ ") for word in written)
    return any(word in ("weak", "weakref", "ifunc", "alias") for word in words)
