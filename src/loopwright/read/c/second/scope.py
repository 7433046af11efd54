"""The context of an expression in a region, with what is known there; types as integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeGuard

import islpy as isl

from loopwright.c.typed import tree
from loopwright.c.typed.expansion import ExpandedToken
from loopwright.c.typed.file import TypedFunction
from loopwright.c.types import CType, Enumeration, Integer, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import everywhere, number, variable
from loopwright.presburger.polynomials import Polynomial
from loopwright.presburger.sets import PARAM
from loopwright.source import Span


class Unclear(Exception):
    """Raised if `node` is not understood as a function of iterators and parameters."""

    def __init__(self, node: tree.Node, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True)
class Facts:
    """Facts that hold in all of a region."""

    parameters: frozenset[str]
    written: frozenset[int]
    """The declarations (by offset) that the region assigns to."""
    functions: Mapping[int, TypedFunction]
    """The functions of the file that the region calls, by the offset of their declaration."""
    calls: Mapping[tuple[int, int], str]
    """The macro calls of the region: the tokens that each expanded to, and the name of the macro."""
    meaning: Mapping[str, int]
    """The declaration of each name in the region, except names declared in it."""
    inner: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """The same for macros without parameters in arguments of macros."""
    constants: frozenset[str] = frozenset()
    """Macros that contain no names."""
    changed: frozenset[tuple[int, str]] = frozenset()
    """The lvalues that the region assigns to: the declaration at the start, and the path of members."""
    ranges: isl.Set = field(default_factory=everywhere)
    """The parameter values that their types allow."""
    values: Mapping[str, int] = field(default_factory=dict)
    """Names with known values: macros, and `const` integers that the file initialises."""

    listed: isl.Set = field(default_factory=everywhere)
    """The sizes for which the reader's listed assumptions on unsigned numbers hold."""

    def known(self) -> isl.Set:
        """The constraints that give parameters their known values."""
        found = everywhere()
        for name, value in self.values.items():
            found = found.intersect(variable(name).eq_set(number(value)))
        return found

    def is_macro(self, place: tree.TokenRange) -> bool:
        """Whether these tokens are the entire expansion of a macro call."""
        return (place.first, place.end) in self.calls or (place.first, place.end) in self.inner

    tokens: tuple[ExpandedToken, ...] = ()
    """The tokens of the function."""

    def text_of(self, place: tree.TokenRange) -> str:
        """The source that became these tokens; in an argument of a macro, the argument as written."""
        first, end = place.first, place.end
        while first + 2 < end and self.tokens[first].written is None and self.tokens[end - 1].text == ")":
            first, end = first + 1, end - 1
        inside = self.tokens[first:end]
        if (place.first, place.end) not in self.inner and place.macro is not None and inside:
            start, last = inside[0].written, inside[-1].written
            if start is not None and last is not None and start.start < last.end:
                return Span(start.source, start.start, last.end).text
        return self.inner.get((place.first, place.end), place.span.text)


@dataclass(frozen=True)
class Scope:
    """The context of an expression: the values that reach it, and the names known there."""

    facts: Facts
    domain: isl.Set
    iterators: Mapping[int, str]
    bound: Mapping[int, Polynomial]
    """The values of local integers and parameters of functions, by their declaration."""
    depth: int = 0
    in_head: bool = False
    """Whether this is the head of a loop, where any invariant expression is a parameter."""

    def where(self, test: isl.Set) -> Scope:
        return replace(self, domain=self.domain.intersect(test).coalesce())


def mentions_iterator(value: isl.PwAff, scope: Scope) -> bool:
    places = [value.find_dim_by_name(PARAM, name) for name in scope.iterators.values()]
    return any(place >= 0 and value.involves_dims(PARAM, place, 1) for place in places)


def integer_of(kind: CType) -> Integer | None:
    """The integer type of a value of this type; None if it is not an integer or unknown."""
    match unqualified(kind):
        case Integer() as found:
            return found
        case Enumeration(_, integer):
            return integer
    return None


def is_value(node: tree.Node) -> bool:
    """Whether evaluating an expression has no side effects, so that 0 times it is 0 and nothing else."""
    return not any(
        isinstance(part, tree.Assign | tree.Update | tree.CallExpression) for part in tree.walk(node)
    )


def is_element(node: tree.Node) -> TypeGuard[tree.Subscript | tree.Unary]:
    """Whether a node dereferences a pointer: `p[e]`, `*p`."""
    return isinstance(node, tree.Subscript) or (isinstance(node, tree.Unary) and node.operator == "*")
