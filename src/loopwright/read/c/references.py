"""Lvalues: which storage an expression names, and with which subscripts.

`A[i][j]`, `(A)[i][j]`, `*p`, `*(p + i)`, `grid->u[i]` and `particle[i].x` are all a base and a
list of subscripts.  Fields in front of the subscripts belong to the base; fields behind them are
left out: the whole element stands for its field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from loopwright.model.source import Source
from loopwright.read.c.syntax import field, operator, place, text_of, without_parentheses

Subscript = tuple[Node, ...]
"""The terms whose sum is the subscript; none for 0."""


@dataclass(frozen=True, slots=True)
class Reference:
    """`base[subscripts]`; `partial` when only a field of the element is meant."""

    base: str
    subscripts: tuple[Subscript, ...]
    partial: bool
    node: Node
    root: Node
    """The identifier it starts with."""


def reference_of(source: Source, node: Node) -> Reference | None:
    """`node` as a reference to storage, or None if it is not of that form."""
    core = without_parentheses(node)
    match core.type:
        case "identifier":
            return Reference(text_of(source, core), (), False, node, core)
        case "subscript_expression":
            inner = reference_of(source, field(core, "argument"))
            return _extended(inner, (field(core, "index"),), node)
        case "field_expression":
            inner = reference_of(source, field(core, "argument"))
            if inner is None or inner.partial:
                return inner
            if inner.subscripts:
                return Reference(inner.base, inner.subscripts, True, node, inner.root)
            name = f"{inner.base}__{text_of(source, field(core, 'field'))}"
            return Reference(name, (), False, node, inner.root)
        case "pointer_expression" if operator(core) == "*":
            target = without_parentheses(field(core, "argument"))
            terms: tuple[Node, ...] = ()
            while target.type == "binary_expression" and operator(target) == "+":
                terms = (field(target, "right"), *terms)
                target = without_parentheses(field(target, "left"))
            return _extended(reference_of(source, target), terms, node)
        case _:
            return None


def _extended(inner: Reference | None, subscript: Subscript, node: Node) -> Reference | None:
    if inner is None or inner.partial:
        return None
    return Reference(inner.base, (*inner.subscripts, subscript), False, node, inner.root)


def parameter_name(text: str) -> str:
    """An identifier for a parameter written as an expression: `f(4, n)` is `f_4_n`."""
    return re.sub(r"\W+", "_", text).strip("_")


def is_inside(node: Node, outer: Node) -> bool:
    return place(outer).contains(place(node))
