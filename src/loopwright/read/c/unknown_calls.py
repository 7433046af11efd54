"""Calls whose effects are not known: such a statement may read and write all the region touches, and more.

What is not in the region is one more array of no dimensions, `ELSEWHERE`, so that these statements keep
their order among each other, and with everything that has a value to lose or to give.  That what decides
which instances run, parameters and iterators, is out of their reach is for `gate.calls` to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopwright.c.references import reference_of
from loopwright.c.syntax import Node, field, refuse, walk
from loopwright.errors import BadInput
from loopwright.read.c.names import Setting
from loopwright.read.c.purity import why_unknown
from loopwright.source import Span

_RETURNS_TWICE = frozenset(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext"))


def refuse_returning_twice(block: Node, spots: Iterable[Span]) -> None:
    """Raise where a call may return twice; `spots` are the places of what may touch anything."""
    places = frozenset(spots)
    for node in walk(block) if places else ():
        if node.type == "call_expression" and node.span in places:
            name = field(node, "function").text
            if name in _RETURNS_TWICE:
                raise refuse(node, f"'{name}' may return twice", "move this call out of the region")


def unfollowed(setting: Setting, block: Node, spots: Iterable[Span]) -> Iterator[BadInput]:
    """Why the calls and lvalues at these places may touch anything, in the order of the text."""
    places = frozenset(spots)
    found = [node for node in walk(block) if node.span in places] if places else []
    for node in found:
        reference = reference_of(node)
        if node.type == "call_expression":
            yield why_unknown(setting, node)
        elif reference is None and node.type not in ("expression_statement", "argument_list"):
            message = "this is not a variable or an array element"
            yield refuse(node, message, "accepted: x, A[i][j], *p, *(p + i), s.f, p->A[i]")
