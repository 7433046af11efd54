"""Variables of the region declared where their author would: in the loop that needs them.

A variable no value of which leaves an iteration of a loop is declared in the body of that loop, if
all statements that touch it are in such loops; otherwise in front of all loops.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from loopwright.loops.nodes import Call, For, Let, Mark, Node
from loopwright.loops.traverse import children, subprograms, with_children
from loopwright.model.program import Array, Program

_DECLARE = "declare "


def with_declarations(node: Node, program: Program, scopes: Mapping[str, int]) -> Node:
    """`node`, its loops named by their dimensions, with marks where variables are declared."""
    for name, depth in scopes.items():
        touching = {s.name for s in program.statements if any(a.array == name for a in s.accesses)}
        if _is_inside(node, touching, depth):
            node = _marked(node, touching, depth, f"{_DECLARE}{name}")
    return node


def declared_by(mark: str) -> str | None:
    """The variable a mark declares."""
    return mark.removeprefix(_DECLARE) if mark.startswith(_DECLARE) else None


def declared_inside(node: Node) -> frozenset[str]:
    """The variables that are declared somewhere in `node`."""
    names = (declared_by(part.text) for part in subprograms(node) if isinstance(part, Mark))
    return frozenset(name for name in names if name is not None)


def declaration(array: Array) -> str:
    return f"{array.element_type} {array.name}{''.join(f'[{extent}]' for extent in array.extents)};"


def declaring(program: Program, name: str, body: Node, lines: list[str]) -> list[str]:
    """The lines of `body` behind the declaration of a variable, which its first value may be part of."""
    array = next(one for one in program.arrays if one.name == name)
    if isinstance(body, Call) and _initialises(program, body, array):
        return [f"{array.element_type} {lines[0]}", *lines[1:]]
    return [declaration(array), *lines]


def _initialises(program: Program, call: Call, array: Array) -> bool:
    """Whether this is the text of an initialiser, which may stand behind the type again."""
    statement = program.statement(call.name)
    is_own = any(access.array == array.name for access in statement.writes)
    is_commented = any(place.start < place.end for place in statement.body.leading)
    return bool(statement.body.terminator) and is_own and not is_commented and not array.rank


def _scans(node: Node, depth: int) -> bool:
    """Whether `node` is the loop of this dimension, or its only iteration."""
    match node:
        case For(iterator=name) | Let(name=name):
            number = re.search(r"\d+$", name)
            return number is not None and int(number[0]) == depth
        case _:
            return False


def _is_inside(node: Node, touching: set[str], depth: int) -> bool:
    """Whether each of the statements is in a loop of this dimension."""
    if _scans(node, depth):
        return True
    if isinstance(node, Call):
        return node.name not in touching
    return all(_is_inside(child, touching, depth) for child in children(node))


def _marked(node: Node, touching: set[str], depth: int, text: str) -> Node:
    calls = {part.name for part in subprograms(node) if isinstance(part, Call)}
    if isinstance(node, For | Let) and _scans(node, depth):
        return replace(node, body=Mark(text, node.body)) if calls & touching else node
    return with_children(node, lambda child: _marked(child, touching, depth, text))
