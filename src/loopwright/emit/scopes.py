"""Variables of the region declared where their author would: in the loop that needs them.

A variable whose values do not leave an iteration of a loop is declared in the body of that loop, if
all statements that access it are in such loops; otherwise before all loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Let, Node, Remark, Remarked
from loopwright.loops.traverse import children, subprograms, with_children

if TYPE_CHECKING:  # generating loops from a description needs nothing of C
    from loopwright.model.program import Array, Program


@dataclass(frozen=True, slots=True)
class DeclarationNote(Remark):
    """A variable of the region, declared before the statement."""

    name: str


def with_declarations(node: Node, program: Program, scopes: Mapping[str, int]) -> Node:
    """`node` with marks where variables are declared."""
    for name, depth in scopes.items():
        touching = {s.name for s in program.statements if any(a.array == name for a in s.accesses)}
        if _is_inside(node, touching, depth):
            node = _marked(node, touching, depth, DeclarationNote(name))
    return node


def declared_inside(node: Node) -> frozenset[str]:
    """The variables that are declared somewhere in `node`."""
    remarks = (part.remark for part in subprograms(node) if isinstance(part, Remarked))
    return frozenset(remark.name for remark in remarks if isinstance(remark, DeclarationNote))


def declaring(program: Program, name: str, body: Node, lines: list[str]) -> list[str]:
    """The lines of `body` after the declaration of a variable, which its first value may be part of."""
    array = program.array(name)
    if isinstance(body, Call) and _initialises(program, body, array):
        return [f"{array.element_type} {lines[0]}", *lines[1:]]
    return [array.declaration, *lines]


def _initialises(program: Program, call: Call, array: Array) -> bool:
    """Whether this is the text of an initialiser, which may follow the type again."""
    statement = program.statement(call.name)
    is_own = any(access.array == array.name for access in statement.writes)
    is_commented = any(place.start < place.end for place in statement.body.leading)
    return bool(statement.body.terminator) and is_own and not is_commented and not array.rank


def _encloses(node: Node, depth: int) -> bool:
    """Whether `node` is a loop down to this dimension, or its only iteration."""
    return isinstance(node, For | Let) and node.dimension is not None and node.dimension <= depth


def _is_inside(node: Node, touching: set[str], depth: int) -> bool:
    """Whether each of the statements is in a loop down to this dimension.

    Where the loop of the dimension itself has one iteration, nothing may be written for it.
    """
    if _encloses(node, depth):
        return True
    if isinstance(node, Call):
        return node.name not in touching
    return all(_is_inside(child, touching, depth) for child in children(node))


def _marked(node: Node, touching: set[str], depth: int, note: Remark) -> Node:
    """The bodies of the innermost of these loops are marked."""
    calls = {part.name for part in subprograms(node) if isinstance(part, Call)}
    if not calls & touching:
        return node
    if isinstance(node, For | Let) and _encloses(node, depth) and not _is_inside(node.body, touching, depth):
        return replace(node, body=Remarked(note, node.body))
    return with_children(node, lambda child: _marked(child, touching, depth, note))
