"""Names that C accepts, one for each name of the program.

A valid name is kept.  In others, invalid characters become underscores, and underscores are appended
until all names differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import assert_never

from loopwright.c.macros import HELPERS
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import free_variables, rename, rename_test, subprograms, variables

# fmt: off
KEYWORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic",
    "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local", "asm", "typeof", "alignas",
    "alignof", "bool", "constexpr", "false", "nullptr", "static_assert", "thread_local", "true",
    "typeof_unqual",
))
# fmt: on


@dataclass(frozen=True)
class CNames:
    """The C names of a program's variables, and of its statements by name and arity."""

    variables: Mapping[str, str]
    statements: Mapping[tuple[str, int], str]

    def all(self) -> frozenset[str]:
        return frozenset((*self.variables.values(), *self.statements.values()))


def readable_names(node: Node, parameters: Iterable[str] = ()) -> CNames:
    """Names for code that is pasted into another program, as isl prints it.

    A statement may share its name with a variable or with a statement of another arity, and
    may have none: the other program decides what a call means.
    """
    named = _distinct([*_variables(node, parameters), *(name for name, _ in called_statements(node) if name)])
    statements = {(name, arity): named.get(name, "") for name, arity in called_statements(node)}
    return CNames(named, statements)


def standalone_names(node: Node, parameters: Iterable[str] = ()) -> CNames:
    """Names for code that is compiled alone: statements and variables all have different names."""
    named = _distinct(_variables(node, parameters))
    used = set(named.values())
    statements: dict[tuple[str, int], str] = {}
    for name, arity in sorted(called_statements(node), key=lambda called: not _is_identifier(called[0])):
        statements[name, arity] = fresh(name or "S", used)
        used.add(statements[name, arity])
    return CNames(named, statements)


def with_names(node: Node, names: CNames) -> Node:
    """`node` with its variables and statements called by their C names.

    In LOOP the scope of a declaration begins after its initial value, in C before it: in `int i = i + 1;`
    the second `i` would be the first.  There the declared name is changed.
    """
    return _with_names(node, names, names.variables)


def _with_names(node: Node, names: CNames, scope: Mapping[str, str]) -> Node:
    match node:
        case Call(name, arguments, time):
            renamed = tuple(rename(argument, scope) for argument in arguments)
            times = None if time is None else tuple(rename(place, scope) for place in time)
            return Call(names.statements[name, len(arguments)], renamed, times)
        case Block(nodes):
            return Block(tuple(_with_names(child, names, scope) for child in nodes))
        case If(test, then, orelse):
            other = None if orelse is None else _with_names(orelse, names, scope)
            return If(rename_test(test, scope), _with_names(then, names, scope), other)
        case For(iterator, start, test):
            start = rename(start, scope)
            declared, inner = _declare(iterator, variables(start), names, scope)
            body = _with_names(node.body, names, inner)
            return replace(node, iterator=declared, start=start, test=rename_test(test, inner), body=body)
        case Let(name, value, body):
            value = rename(value, scope)
            declared, inner = _declare(name, variables(value), names, scope)
            return replace(node, name=declared, value=value, body=_with_names(body, names, inner))
        case Remarked(remark, body):
            return Remarked(remark, _with_names(body, names, scope))
        case _:
            assert_never(node)


def _declare(
    name: str, mentioned: frozenset[str], names: CNames, scope: Mapping[str, str]
) -> tuple[str, Mapping[str, str]]:
    declared = names.variables[name]
    if declared in mentioned:
        declared = fresh(declared, names.all().union(scope.values()))
    return declared, {**scope, name: declared}


def _distinct(names: Iterable[str]) -> dict[str, str]:
    """A C name for each name; valid ones are kept, so they are chosen first."""
    wanted = sorted(set(names), key=lambda name: (not _is_identifier(name), name))
    used: set[str] = set()
    result: dict[str, str] = {}
    for name in wanted:
        result[name] = fresh(name, used)
        used.add(result[name])
    return result


def fresh(name: str, used: AbstractSet[str]) -> str:
    """A C name for `name` that is not in use."""
    candidate = name if _is_identifier(name) else _sanitised(name)
    while candidate in used or not _is_identifier(candidate):
        candidate += "_"
    return candidate


def _sanitised(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return text if re.match(r"[A-Za-z_]", text) else f"_{text}"


def _is_identifier(name: str) -> bool:
    return (
        re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
        and name not in KEYWORDS
        and name not in HELPERS
    )


def _variables(node: Node, parameters: Iterable[str]) -> list[str]:
    declared = (
        part.iterator if isinstance(part, For) else part.name
        for part in subprograms(node)
        if isinstance(part, For | Let)
    )
    return sorted({*parameters, *free_variables(node), *declared})


def called_statements(node: Node) -> list[tuple[str, int]]:
    """The names and arities of the statements that `node` calls."""
    return sorted({(part.name, len(part.arguments)) for part in subprograms(node) if isinstance(part, Call)})
