"""Lvalues: the storage that an expression names, and the subscripts.

`A[i][j]`, `(A)[i][j]`, `*p`, `*(p + i - 1)`, `(p + i)[j]`, `grid->u[i]` and `particle[i].x` are all a base
and a list of subscripts.  Fields before the subscripts belong to the base; what follows a field of an
element is left out: the whole element represents its parts.

Macros may denote an element of an array: `#define A(i, j) a[(i) * n + (j)]`.

A call of one is the access in its expansion, parsed as a source of its own; `A(i, j) = 0` assigns to a.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from loopwright.c.casts import Ambiguous, Kinds, expression_of
from loopwright.c.macros import Macro, definitions, with_arguments
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import names_in
from loopwright.lazy_dataclass import dataclass

Subscript = tuple[Node, ...]
"""The terms whose sum is the subscript, negated if `is_subtracted`; empty for 0."""


@dataclass(frozen=True, slots=True)
class Reference:
    """`base[subscripts]`; `partial` if it is only a field of the element."""

    base: str
    subscripts: tuple[Subscript, ...]
    partial: bool
    node: Node
    root: Node
    """The identifier at the start."""
    inside: tuple[Node, ...] = ()
    """Subscripts inside the element: j of `particle[i].x[j]`."""
    elsewhere: bool = False
    """Whether the element is a pointer with an unknown target: `particle[i]->x`."""


@lru_cache(maxsize=16384)
def reference_of(node: Node) -> Reference | None:
    """`node` as a reference to storage, or None if it is not of that form; cached for all passes."""
    core = without_parentheses(node)
    match core.type:
        case "identifier":
            return Reference(core.text, (), partial=False, node=node, root=core)
        case "subscript_expression":
            target, terms = pointer_sum(field(core, "argument"))
            subscript = (*terms, field(core, "index"))
            element = _addressed(target)
            if element is not None:
                return replace(element, subscripts=((*element.subscripts[0], *subscript),), node=node)
            return _extended(reference_of(target), subscript, node)
        case "field_expression":
            inner = reference_of(field(core, "argument"))
            if inner is None:
                return None
            if inner.subscripts:
                follows = inner.elsewhere or operator(core) == "->"
                return replace(inner, partial=True, node=node, elsewhere=follows)
            name = f"{inner.base}__{field(core, 'field').text}"
            return replace(inner, base=name, node=node)
        case "pointer_expression" if operator(core) == "*":
            target, terms = pointer_sum(field(core, "argument"))
            element = _addressed(target)
            if element is not None:
                return replace(element, subscripts=((*element.subscripts[0], *terms),), node=node)
            return _extended(reference_of(target), terms, node)
        case _:
            return None


def _addressed(target: Node) -> Reference | None:
    """The a[e] of `&a[e]`, with one subscript: `(&a[e])[j]` is `a[e + j]`, for any element type."""
    if target.type != "pointer_expression" or operator(target) != "&":
        return None
    inner = reference_of(field(target, "argument"))
    return inner if inner is not None and not inner.partial and len(inner.subscripts) == 1 else None


def pointer_sum(node: Node) -> tuple[Node, tuple[Node, ...]]:
    """`p + i - 1` as p and its terms."""
    target = without_parentheses(node)
    terms: tuple[Node, ...] = ()
    while target.type == "binary_expression" and operator(target) in ("+", "-"):
        terms = (field(target, "right"), *terms)
        target = without_parentheses(field(target, "left"))
    return target, terms


def is_subtracted(term: Node) -> bool:
    """Whether a term of a subscript is the y of `x - y`."""
    outer = term.parent
    is_difference = outer is not None and outer.type == "binary_expression" and operator(outer) == "-"
    return is_difference and outer is not None and field(outer, "right") == term


def _extended(inner: Reference | None, subscript: Subscript, node: Node) -> Reference | None:
    if inner is None:
        return None
    if inner.partial:
        return replace(inner, node=node, inside=(*inner.inside, *subscript), elsewhere=True)
    return replace(inner, subscripts=(*inner.subscripts, subscript), node=node)


def parameter_name(text: str) -> str:
    """An identifier for a parameter written as an expression: `f(4, n)` is `f_4_n`."""
    found = re.sub(r"\W+", "_", text).strip("_")
    return f"_{found}" if found[:1].isdigit() else found


_WORDS = {"+": "plus", "-": "minus", "*": "times", "/": "over", "%": "mod", "<<": "left", ">>": "right"}
_WORDS |= {"&": "and", "|": "or", "^": "xor"}


def expression_name(text: str) -> str:
    """An identifier for a computed parameter: `h * w` is `h_times_w`, `*n` is `at_n`."""
    plain = re.sub(r"(^|[-+*/%&|^(])(\s*)\*", r"\1\2at_", re.sub(r"->", "_", text))
    return parameter_name(re.sub(r"<<|>>|[-+*/%&|^]", lambda sign: f"_{_WORDS[sign[0]]}_", plain))


@dataclass(frozen=True)
class Element:
    """`node` is an array element in a source of its own, the expansion of a call of `macro`."""

    node: Node
    macro: Macro
    reference: Reference


def element_of(kinds: Kinds, call: Node) -> Element | None:
    """The element of an array that a call expands to; nothing else is expanded.

    A call in its own arguments is not either: the preprocessor expands both, but `inside` drops the macro.
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
    """All calls in `node` that expand to elements, including those in their expansions."""
    for part in walk(node):
        element = element_of(kinds, part) if part.type == "call_expression" else None
        if element is not None:
            yield part, element
            inner = inside(element, kinds)
            yield from ((part, one) for _, one in elements_in(inner, element.node))


def inside(element: Element, kinds: Kinds) -> Kinds:
    """The kinds of names in the expansion, where the macro itself is undefined."""
    return replace(kinds, macros=tuple(macro for macro in kinds.macros if macro != element.macro))
