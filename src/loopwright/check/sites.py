"""The assignments to be checked, in the segment and in all code it reaches (004, 4.1.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from loopwright.check.reachable import Reached, passed_array
from loopwright.check.specification import Specification, Stated
from loopwright.check.structure import (
    Assignment,
    Cell,
    Side,
    assignment_of,
    match_assignments,
    reads,
)
from loopwright.errors import Code
from loopwright.read.c.macros import assigns
from loopwright.read.c.references import Reference, Subscript
from loopwright.read.c.syntax import named_children, place, refuse, text_of, walk


@dataclass(frozen=True)
class Candidate:
    """A statement of the original a site may be, and what stands for its iterators there."""

    statement: Stated
    holes: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Site:
    """An assignment of the program to an array of the original.

    What is observed when it runs: the subscripts of the cell written, those of the cells read in
    order, then the expressions that stand for iterators, candidate by candidate.
    """

    number: int
    assignment: Assignment
    write: Cell
    reads: tuple[Cell, ...]
    candidates: tuple[Candidate, ...]

    @property
    def observed(self) -> tuple[Subscript, ...]:
        subscripts = [part for cell in (self.write, *self.reads) for part in cell.subscripts]
        return (*subscripts, *((node,) for one in self.candidates for _, node in one.holes))

    def first_hole(self, candidate: Candidate) -> int:
        """Where in `observed` the holes of `candidate` start."""
        position = sum(len(cell.subscripts) for cell in (self.write, *self.reads))
        for one in self.candidates:
            if one is candidate:
                return position
            position += len(one.holes)
        raise KeyError(candidate.statement.name)


@dataclass(frozen=True)
class Sites:
    known: Reached
    side: Side
    sites: tuple[Site, ...]


def find_sites(spec: Specification, known: Reached) -> Sites:
    """Every assignment that writes an array of the original by one of its names."""
    side = Side(known.source, known.array_of, lambda array: known.ranks[array])
    found: list[Site] = []
    for body in known.bodies:
        for node in walk(body):
            assignment = assignment_of(node)
            target = None if assignment is None else side.cell(assignment.target)
            if assignment is not None and target is not None:
                found.append(_site(spec, side, len(found), assignment, target))
        _refuse_escapes(spec, known, side, body)
    _refuse_macros(spec, known)
    if not found:
        names = ", ".join(spec.written)
        hint = "the operations of the original must be recognisable assignments to the same arrays"
        raise refuse(
            known.source, known.segment.place, f"nothing here assigns to {names}", hint, code=Code.SEGMENT
        )
    return Sites(known, side, tuple(found))


def _site(spec: Specification, side: Side, number: int, assignment: Assignment, target: Cell) -> Site:
    candidates = []
    for statement in spec.statements:
        holes = match_assignments(spec.side, statement.assignment, statement.iterators, side, assignment)
        if holes is not None:
            candidates.append(Candidate(statement, holes))
    site = Site(number, assignment, target, reads(side, assignment), tuple(candidates))
    for part in (node for subscript in site.observed for node in subscript):
        for inner in walk(part):
            if inner.type in ("update_expression", "assignment_expression"):
                hint = "do this in a statement of its own: subscripts are evaluated once more to be checked"
                raise refuse(side.source, inner, "a subscript changes a variable", hint)
    return site


_HARMLESS = ("sizeof_expression", "declaration", "parameter_declaration")


def _refuse_escapes(spec: Specification, known: Reached, side: Side, body: Node) -> None:
    """A written array must not get a name that is not followed: aliases make the answer worthless."""
    for node in walk(body):
        if node.type != "identifier":
            continue
        array = known.array_of(Reference(text_of(known.source, node), (), False, node, node))
        if array is None or array not in spec.written:
            continue
        whole, parent = _reference_around(side, node)
        if parent is None or parent.type in _HARMLESS or _is_declared(parent, node):
            continue
        is_address = parent.type == "pointer_expression" and text_of(known.source, parent).startswith("&")
        if whole and not is_address:
            continue
        if parent.type == "argument_list" and not whole and _is_followed(known, parent, node):
            continue
        hint = "use the array by its name, or pass the whole array to a function of this file"
        raise refuse(known.source, node, f"'{array}' gets another name here, which is not followed", hint)


def _is_declared(parent: Node, node: Node) -> bool:
    """Whether `node` is the name in a declarator, not a value in it."""
    return parent.type.endswith("declarator") and parent.child_by_field_name("declarator") == node


def _reference_around(side: Side, node: Node) -> tuple[bool, Node | None]:
    """Whether the reference that starts at `node` is a whole cell, and what it is used in."""
    current = node
    while True:
        whole = side.cell(current) is not None
        parent = current.parent
        steps = ("subscript_expression", "parenthesized_expression", "field_expression", "pointer_expression")
        if whole or parent is None or parent.type not in steps or _is_index(parent, current):
            return whole, parent
        current = parent


def _is_index(parent: Node, node: Node) -> bool:
    return parent.type == "subscript_expression" and parent.child_by_field_name("index") == node


def _is_followed(known: Reached, arguments: Node, node: Node) -> bool:
    call = arguments.parent
    callee = None if call is None else call.child_by_field_name("function")
    if callee is None or passed_array(known, node) is None:
        return False
    index = [place(part) for part in named_children(arguments)].index(place(node))
    name = text_of(known.source, callee)
    functions = [function for function in known.functions if function.name == name]
    outside = known.declarations.visible(name, place(callee)) is None and not functions
    if outside and callee.type == "identifier":
        return False
    return all(index < len(function.parameters) for function in functions)


def _refuse_macros(spec: Specification, known: Reached) -> None:
    """An assignment inside a macro would not be seen."""
    text = " ".join(text_of(known.source, body) for body in known.bodies)
    used = set(re.findall(r"[A-Za-z_]\w*", text))
    for macro in known.macros:
        words = set(re.findall(r"[A-Za-z_]\w*", macro.body))
        if macro.name in used and assigns(macro) and words & set(spec.arrays):
            hint = "write the assignment out, or make the macro a function"
            raise refuse(known.source, macro.place, f"macro {macro.name} hides an assignment", hint)


def depends_on_values(spec: Specification, sites: Sites) -> bool:
    """Whether reachable code uses a written array elsewhere than in the operations themselves."""
    own = [place(site.assignment.node) for site in sites.sites]
    for body in sites.known.bodies:
        for node in walk(body):
            cell = sites.side.cell(node)
            used = cell is not None and cell.array in spec.written and node.type != "field_identifier"
            if used and not any(one.contains(place(node)) for one in own):
                return True
    return False
