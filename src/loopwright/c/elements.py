"""Macros that stand for an element of an array: `#define A(i, j) a[(i) * n + (j)]`.

A call of one is the access its expansion is, read in a text of its own; `A(i, j) = 0` assigns to a.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.c.casts import Ambiguous, Kinds, expression_of
from loopwright.c.macros import Macro, definitions, with_arguments
from loopwright.c.references import Reference, reference_of
from loopwright.c.syntax import Node, field, named_children, walk, without_parentheses
from loopwright.c.tokens import names_in
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Element:
    """`node` is an array element in a text of its own, which a call of `macro` expands to."""

    node: Node
    macro: Macro
    reference: Reference


def element_of(kinds: Kinds, call: Node) -> Element | None:
    """What a call expands to, where that is an element of an array; nothing else is expanded.

    Nor is a call in its own arguments: the preprocessor expands both, a text without the macro one.
    """
    call = without_parentheses(call)
    function = call.child_by_field_name("function") if call.type == "call_expression" else None
    found = () if function is None else definitions(kinds.macros, function.text)
    if len(found) != 1 or found[0].conditional or found[0].parameters is None:
        return None
    (macro,) = found
    arguments = [part.text for part in named_children(field(call, "arguments"))]
    if len(macro.parameters or ()) != len(arguments) or "[" not in macro.body:
        return None
    if any(macro.name in names_in(argument) for argument in arguments):
        return None
    try:
        value = expression_of(with_arguments(macro, arguments), kinds, arguments, call.source.path)
    except Ambiguous:
        return None
    core = None if value is None else without_parentheses(value)
    if core is None or core.type != "subscript_expression":
        return None
    reference = reference_of(core)
    is_plain = reference is not None and reference.root.text == reference.base
    if reference is None or not is_plain or reference.partial:
        return None
    return Element(core, macro, replace(reference, node=call))


def elements_in(kinds: Kinds, node: Node) -> Iterator[tuple[Node, Element]]:
    """All calls in `node` that stand for elements, those in their expansions too."""
    for part in walk(node):
        element = element_of(kinds, part) if part.type == "call_expression" else None
        if element is not None:
            yield part, element
            inner = inside(element, kinds)
            yield from ((part, one) for _, one in elements_in(inner, element.node))


def inside(element: Element, kinds: Kinds) -> Kinds:
    """What names are in the expansion, where the macro is none."""
    return replace(kinds, macros=tuple(macro for macro in kinds.macros if macro != element.macro))
