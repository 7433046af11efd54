"""Sizes for which a statement of a text is run at all: a fault in it shows there, or for larger ones."""

from __future__ import annotations

import islpy as isl

from loopwright.loops.nodes import Block, Call, For, If, Node
from loopwright.loops.traverse import calls_in
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import within_effort
from loopwright.prove.descent.reading import LoopText
from loopwright.prove.equivalence.traces import Sizes
from loopwright.prove.scanning.conditions import IteratorScope, negation, region
from loopwright.prove.scanning.executed import iterations_of

EFFORT = 500_000
"""isl's steps, less than half a second."""


def sizes_reaching(text: LoopText, name: str, context: isl.Set) -> Sizes:
    """The smallest sizes for which the statement is run; none where it never is, or isl needs long."""
    try:
        return within_effort(EFFORT, lambda: _sizes(text, name, context))
    except isl.Error:
        return {}


def _sizes(text: LoopText, name: str, context: isl.Set) -> Sizes:
    domain = _reached(text.loops, name, IteratorScope(isl.Set.from_params(context), {}))
    point = None if domain is None else smallest_point(domain.params())
    return {} if point is None else dict(point.parameters)


def _reached(node: Node, name: str, scope: IteratorScope) -> isl.Set | None:
    """The iterators for which a statement in `node` is run."""
    match node:
        case Call():
            return scope.domain if node.name == name else None
        case Block(children):
            found = (_reached(child, name, scope) for child in children)
            return next((one for one in found if one is not None), None)
        case If(test, then, orelse):
            if name in calls_in(then):
                return _reached(then, name, scope.within(region(test, scope)))
            if orelse is not None and name in calls_in(orelse):
                return _reached(orelse, name, scope.within(region(negation(test), scope)))
        case For(step=step, body=body) if step > 0 and name in calls_in(body):
            return _reached(body, name, iterations_of(node, scope))
    return None
