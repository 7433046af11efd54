"""The assignments to be checked, in the segment and in all code it reaches [Bao2016, section 4.1.2]."""

from __future__ import annotations

import re
from dataclasses import replace

from loopwright.c.macros import assigns, definitions, hidden_names, reachable_macros
from loopwright.c.references import reference_of
from loopwright.c.syntax import Node, assigned_target, field, refuse, walk
from loopwright.check.original.specification import Specification, Stated
from loopwright.check.original.structure import (
    ArrayReference,
    Assignment,
    Observed,
    Side,
    assignment_of,
    match_assignments,
    reads,
)
from loopwright.check.program.escapes import refuse_escapes
from loopwright.check.program.pointers import pointers
from loopwright.check.program.reachable import Function, ReachedCode
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.purity import INDEX_HELPERS, LIBRARY

_WORD = re.compile(r"[A-Za-z_]\w*")
_BARRIER = re.compile(r"\(\s*\"\s*\"\s*:\s*:\s*:")
"""Assembler code that is empty and has no operands."""


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
    write: ArrayReference
    reads: tuple[ArrayReference, ...]
    candidates: tuple[Candidate, ...]

    @property
    def observed(self) -> tuple[Observed, ...]:
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
    known: ReachedCode
    side: Side
    sites: tuple[Site, ...]
    jumps: bool = True
    """Whether the program may have a `goto`, wherever a macro or a header hides it."""


def find_sites(spec: Specification, known: ReachedCode) -> Sites:
    """Every assignment that writes an array of the original by one of its names."""
    followed = pointers(known)
    side = Side(known.source, known.array_of, lambda array: known.ranks[array], followed.array_of)
    found: list[Site] = []
    for body in known.bodies:
        for node in walk(body):
            assignment = assignment_of(node)
            target = None if assignment is None else side.cell(assignment.target)
            if assignment is not None and target is not None:
                found.append(_site(spec, known, side, len(found), assignment, target))
        refuse_escapes(spec, followed, side, body)
    _refuse_macros(spec, known)
    if not found:
        names = ", ".join(spec.written)
        hint = "the operations of the original must be recognisable assignments to the same arrays"
        raise refuse(known.segment.place, f"nothing here assigns to {names}", hint, code=Code.SEGMENT)
    return Sites(known, side, tuple(found))


def _site(
    spec: Specification,
    known: ReachedCode,
    side: Side,
    number: int,
    assignment: Assignment,
    target: ArrayReference,
) -> Site:
    meant, candidates = assignment, _candidates(spec, side, assignment)
    while not candidates and (inner := _same_value(known, meant)) is not None:
        meant = replace(assignment, value=inner)
        candidates = _candidates(spec, side, meant)
    if not candidates:
        meant = assignment
    site = Site(number, meant, target, reads(side, meant), candidates)
    terms = [term for cell in (target, *site.reads) for term in cell.terms]
    for part in (*terms, *(node for candidate in candidates for _, node in candidate.holes)):
        _refuse_effects(known, part)
    return site


def _candidates(spec: Specification, side: Side, assignment: Assignment) -> tuple[Candidate, ...]:
    found = []
    for statement in spec.statements:
        holes = match_assignments(spec.side, statement.assignment, statement.symbols, side, assignment)
        if holes is not None:
            found.append(Candidate(statement, holes))
    return tuple(found)


def _same_value(known: ReachedCode, assignment: Assignment) -> Node | None:
    """b of `a = c = b` where a and c are of one type: what c holds then is what a would get from b."""
    inner = assignment.inner
    if inner is None or inner.operator != "=" or inner.value is None:
        return None
    cells = [reference_of(one) for one in (assignment.target, inner.target)]
    found = [None if one is None else known.declarations.visible(one.base, one.root.span) for one in cells]
    types = {None if one is None else known.declarations.resolved(one.type) for one in found}
    return inner.value if len(types) == 1 and None not in types else None


def _refuse_effects(known: ReachedCode, node: Node) -> None:
    hint = "do this in a statement of its own: subscripts are evaluated once more to be checked"
    changed = changed_in(node)
    if changed is not None:
        raise refuse(changed, "a subscript changes a variable", hint)
    call = call_with_effects(known, node)
    if call is not None:
        name = field(call, "function").text
        message = f"'{name}' in a subscript is not known to be free of side effects"
        raise refuse(call, message, f"{hint}; or say --pure {name}")


def _refuse_macros(spec: Specification, known: ReachedCode) -> None:
    """Assignments and assembler code inside macros would not be seen."""
    text = " ".join(body.text for body in known.bodies)
    names = {one for word in set(_WORD.findall(text)) for one in reachable_macros(known.macros, word)}
    hint = "write the assignment out, or make the macro a function"
    for macro in known.macros:
        words = set(_WORD.findall(macro.body))
        if macro in names and assigns(macro) and words & set(spec.arrays):
            raise refuse(macro.place, f"macro {macro.name} hides an assignment", hint)
        is_assembler = not words.isdisjoint(("asm", "__asm", "__asm__"))
        if macro in names and is_assembler and not _BARRIER.search(macro.place.text):
            raise refuse(macro.place, f"macro {macro.name} hides assembler code", hint)


def depends_on_values(spec: Specification, sites: Sites) -> bool:
    """Whether reachable code uses a written array elsewhere than in the operations themselves."""
    own = [site.assignment.node.span for site in sites.sites]
    for body in sites.known.bodies:
        for node in walk(body):
            cell = sites.side.cell(node)
            used = cell is not None and cell.array in spec.written and node.type != "field_identifier"
            if used and not any(one.contains(node.span) for one in own):
                return True
    return False


def changed_in(node: Node) -> Node | None:
    """The first assignment in an expression; subscripts are evaluated once more, to be checked."""
    return next((part for part in walk(node) if assigned_target(part) is not None), None)


def call_with_effects(known: ReachedCode, node: Node) -> Node | None:
    """The first call in an expression that is not known to be a value and nothing else."""
    for part in walk(node):
        if part.type == "call_expression" and not _is_value(known, field(part, "function"), ()):
            return part
    return None


def _is_value(known: ReachedCode, function: Node, around: tuple[str, ...]) -> bool:
    name = function.text
    if function.type == "parenthesized_expression":
        return True  # a cast
    if definitions(known.macros, name):
        called = [word for _, word, is_call in hidden_names(known.macros, name) if is_call]
        return all(_is_named_value(known, word, around) for word in called)
    return function.type == "identifier" and _is_named_value(known, name, around)


def _is_named_value(known: ReachedCode, name: str, around: tuple[str, ...]) -> bool:
    is_pure = name in known.pure or name in known.declarations.pure_functions
    if name in around or name in LIBRARY or name in INDEX_HELPERS or is_pure:
        return True
    found = [one for one in known.functions if one.name == name]
    return bool(found) and all(_is_function_of_arguments(known, one, (*around, name)) for one in found)


def _is_function_of_arguments(known: ReachedCode, function: Function, around: tuple[str, ...]) -> bool:
    """Whether a function assigns only variables of its own that do not outlive it."""
    for part in walk(function.body):
        if part.type == "storage_class_specifier" and part.text == "static":
            return False
        if part.type == "call_expression" and not _is_value(known, field(part, "function"), around):
            return False
        if (target := assigned_target(part)) is not None:
            reference = reference_of(target)
            here = None if reference is None else known.declarations.visible(reference.base, target.span)
            if here is None or here.rank > 0 or not function.node.span.contains(here.place):
                return False
    return True
