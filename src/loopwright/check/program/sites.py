"""Finds the assignments to check, in the segment and in all code it reaches [Bao2016, section 4.1.2].

It refuses programs in which the address of an array escapes.

An array, or a pointer into it, may only be used to access an element, be passed to a variable or function
that is followed or only reads it, or be compared.  The addresses of scalars are not followed.
"""

from __future__ import annotations

import re
from dataclasses import replace

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.index_helpers import INDEX_HELPERS
from loopwright.c.macros import assigns, definitions, hidden_names, reachable_macros
from loopwright.c.references import Reference, reference_of
from loopwright.c.syntax import (
    Node,
    assigned_target,
    field,
    is_address,
    named_children,
    operator,
    refuse,
    walk,
)
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
from loopwright.check.program.pointers import Pointers, declared_identifier, pointers
from loopwright.check.program.reachable import Function, ReachedCode
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.purity import LIBRARY

_HARMLESS = ("sizeof_expression", "declaration", "parameter_declaration")
_STEPS = ("subscript_expression", "parenthesized_expression", "field_expression", "pointer_expression")
_COMPARISONS = (*COMPARISONS, "&&", "||")
_LOOKERS = {
    "memcpy": (1,),
    "memmove": (1,),
    "memcmp": (0, 1),
    "fwrite": (0,),
    "__builtin_prefetch": (0,),
    "_mm_prefetch": (0,),
}
"""Library functions, with the arguments whose cells they do not modify."""
_ALONE = ("expression_statement", "comma_expression", "for_statement")


def refuse_escapes(spec: Specification, pointers: Pointers, side: Side, body: Node) -> None:
    """Raise if an array of the original gets an alias that is not followed, and for assembler code."""
    for node in walk(body):
        if node.type == "gnu_asm_expression" and not _is_barrier(node):
            hint = "write it in C, or leave it out for the check"
            raise refuse(node, "what assembler code changes is not known", hint)
        if node.type != "identifier" or not _means_array(spec, pointers, node):
            continue
        whole, current = _reference_around(side, node)
        parent = current.parent
        if parent is None or parent.type in _HARMLESS or _is_declared(parent, node):
            continue
        is_scalar = whole and current == node
        if (whole and not is_address(parent)) or (not is_scalar and _is_followed(pointers, current)):
            continue
        name = node.text
        hint = "use the array by its name, or by pointers that are given to functions of this file"
        raise refuse(node, f"'{name}' gets another name here, which cannot be followed", hint)


def _is_barrier(node: Node) -> bool:
    """Whether this is `asm volatile ("" ::: "memory")`, a compiler barrier without effect."""
    code = field(node, "assembly_code").text.strip('"').strip()
    operands = [node.child_by_field_name(name) for name in ("output_operands", "input_operands")]
    return not code and not any(one is not None and named_children(one) for one in operands)


def _means_array(spec: Specification, pointers: Pointers, node: Node) -> bool:
    """Whether an identifier denotes an array of the original, a pointer into one, or a scalar it writes."""
    variable = pointers.variable(node)
    if variable is not None:
        return not pointers.pointees[variable].isdisjoint(spec.arrays)
    known = pointers.known
    array = known.array_of(Reference(node.text, (), partial=False, node=node, root=node))
    return array is not None and (spec.ranks[array] > 0 or array in spec.written)


def _is_declared(parent: Node, node: Node) -> bool:
    """Whether `node` is the name in a declarator, not part of its initialiser."""
    return parent.type.endswith("declarator") and parent.child_by_field_name("declarator") == node


def _reference_around(side: Side, node: Node) -> tuple[bool, Node]:
    """The reference that starts at `node`, and whether it is a whole cell."""
    outer: Node | None = node
    while outer is not None and (outer == node or outer.type in _STEPS or _is_sum(outer)):
        reference = reference_of(outer)
        if side.cell(outer) is not None and reference is not None and reference.root == node:
            return True, outer
        outer = outer.parent
    current = node
    while True:
        whole = side.cell(current) is not None
        parent = current.parent
        is_step = parent is not None and parent.type in _STEPS and not _is_index(parent, current)
        if whole or parent is None or not is_step or is_address(parent):
            return whole, current
        current = parent


def _is_sum(node: Node) -> bool:
    return node.type == "binary_expression" and operator(node) in ("+", "-")


def _is_index(parent: Node, node: Node) -> bool:
    return parent.type == "subscript_expression" and parent.child_by_field_name("index") == node


def _is_followed(pointers: Pointers, node: Node) -> bool:
    """Whether the pointer that `node` is part of flows to where it is followed, or is only read."""
    parent = node.parent
    while parent is not None and _passes_on(parent, node):
        node, parent = parent, parent.parent
    if parent is None:
        return False
    match parent.type:
        case "init_declarator":
            return _is_pointer(pointers, field(parent, "declarator"), node)
        case "assignment_expression":
            if field(parent, "left") == node:
                return node.type == "identifier" and _is_alone(parent)
            return _is_pointer(pointers, field(parent, "left"), node)
        case "update_expression":
            return node.type == "identifier" and _is_alone(parent)
        case "binary_expression":
            return operator(parent) in _COMPARISONS
        case "argument_list":
            return _is_known_call(pointers, parent, node)
        case _:
            return parent.type in _ALONE


def _passes_on(parent: Node, node: Node) -> bool:
    """Whether the value of `parent` is a pointer because that of `node` is."""
    match parent.type:
        case "parenthesized_expression" | "cast_expression":
            return True
        case "conditional_expression":
            return field(parent, "condition") != node
        case "binary_expression":
            return _is_sum(parent)
        case _:
            return is_address(parent)


def _is_alone(node: Node) -> bool:
    """Whether the value of an assignment is not used."""
    return node.parent is not None and node.parent.type in _ALONE


def _is_pointer(pointers: Pointers, target: Node, value: Node) -> bool:
    """Whether `target` is a variable that is followed."""
    name = declared_identifier(target)
    known = pointers.known
    at = value if target.type.endswith("declarator") else name
    if name is None or at is None:
        return False
    found = known.declarations.visible(name.text, at.span)
    return found is not None and found.rank > 0


def _is_known_call(pointers: Pointers, arguments: Node, node: Node) -> bool:
    known = pointers.known
    call = arguments.parent
    callee = None if call is None else call.child_by_field_name("function")
    if callee is None:
        return False
    index = [part.span for part in named_children(arguments)].index(node.span)
    name = callee.text
    functions = [function for function in known.functions if function.name == name]
    outside = known.declarations.visible(name, callee.span) is None and not functions
    if outside and callee.type == "identifier":
        return index in _LOOKERS.get(name, ())
    return all(index < len(function.parameters) for function in functions)


_WORD = re.compile(r"[A-Za-z_]\w*")
_BARRIER = re.compile(r"\(\s*\"\s*\"\s*:\s*:\s*:")
"""Assembler code that is empty and has no operands."""


@dataclass(frozen=True)
class Candidate:
    """A statement of the original that a site may be, with the expressions for its iterators."""

    statement: Stated
    holes: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Site:
    """An assignment of the program to an array of the original.

    Observed at run time: the subscripts of the cell written, those of the cells read in order, then the
    expressions for the iterators, candidate by candidate.
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
        """The index in `observed` of the first hole of `candidate`."""
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
    """Whether the program may have a `goto`, even one hidden in a macro or header."""


def find_sites(spec: Specification, known: ReachedCode) -> Sites:
    """Return every assignment that writes an array of the original by one of its names."""
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
    """Return b of `a = c = b` if a and c have one type: then c has the value that a would get from b."""
    inner = assignment.inner
    if inner is None or inner.operator != "=" or inner.value is None:
        return None
    cells = [reference_of(one) for one in (assignment.target, inner.target)]
    found = [None if one is None else known.declarations.visible(one.base, one.root.span) for one in cells]
    types = {None if one is None else known.declarations.resolved(one.type) for one in found}
    return inner.value if len(types) == 1 and None not in types else None


def _refuse_effects(known: ReachedCode, node: Node) -> None:
    hint = "do this in a statement of its own: the check evaluates subscripts a second time"
    changed = changed_in(node)
    if changed is not None:
        raise refuse(changed, "a subscript changes a variable", hint)
    call = call_with_effects(known, node)
    if call is not None:
        name = field(call, "function").text
        message = f"'{name}' in a subscript is not known to be free of side effects"
        raise refuse(call, message, f"{hint}; or say --pure {name}")


def _refuse_macros(spec: Specification, known: ReachedCode) -> None:
    """Refuse assignments and assembler code inside macros, which would be missed."""
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
    """Whether reachable code uses a written array outside the operations."""
    own = [site.assignment.node.span for site in sites.sites]
    for body in sites.known.bodies:
        for node in walk(body):
            cell = sites.side.cell(node)
            used = cell is not None and cell.array in spec.written and node.type != "field_identifier"
            if used and not any(one.contains(node.span) for one in own):
                return True
    return False


def changed_in(node: Node) -> Node | None:
    """The first assignment in an expression; subscripts are evaluated a second time, for the check."""
    return next((part for part in walk(node) if assigned_target(part) is not None), None)


def call_with_effects(known: ReachedCode, node: Node) -> Node | None:
    """The first call in an expression that is not known to be free of side effects."""
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
    """Whether a function assigns only its own variables of automatic storage duration."""
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
