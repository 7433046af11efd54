"""Applies the directives of a region, innermost first: each becomes operations on the plan.

    tile     [i, j] --> [iT, jT, i, j],    iT = [number of i / size]
    stripe   [i, j] --> [iO, jO, i, j],    iO = number of i % size
    reverse  [i] --> [-i]
    split    the iterations with numbers below the sums of the counts, one group after the other
    fuse     the iterations of equal numbers of several loops together

A directive applies to the loops that inner directives generate, outermost first [OpenMP2024, section 11.1].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from loopwright.c.selection.chosen import DirectedFile
from loopwright.c.syntax import Node, field, named_children, refuse
from loopwright.errors import Code
from loopwright.read.formula import Formula, Negative, Symbol
from loopwright.source import Span
from loopwright.transform.openmp.directives import obeyed
from loopwright.transform.openmp.generated import DirectedPlan, Generated, LoopNest, LoopSequence
from loopwright.transform.openmp.loops import CANONICAL, CountedLoop, canonical
from loopwright.transform.plan import Component, Plan
from loopwright.transform.vectors import pieces


def after_directives(plans: Iterable[Plan], file: DirectedFile) -> tuple[DirectedPlan, ...]:
    """The plans after the directives in their regions; raises unless each directive was applied once.

    Regions that were rewritten before reading have their loops at other places.
    """
    readers = [_DirectiveReader(file, plan) for plan in plans]
    made = tuple(one.statements(one.program.syntax, ()) for one in readers)
    obeyed_once = [place for one in readers for place in one.obeyed]
    for directive, _ in file.directives:
        if obeyed_once.count(directive.place) != 1:
            message = "this is about loops that can be read in other words only"
            raise refuse(directive.place, message, CANONICAL, Code.DIRECTIVE)
    return made


class _DirectiveReader:
    """Walks the statements of a region, and applies the directives of each loop after the inner ones."""

    def __init__(self, file: DirectedFile, plan: Plan) -> None:
        self.file = file
        self.program = plan.program
        self.state = DirectedPlan(plan)
        self.names = frozenset(plan.program.params)
        self.obeyed: list[Span] = []

    def statements(self, node: Node, around: tuple[Node, ...]) -> DirectedPlan:
        """All directives below a node that is not a loop."""
        for child in named_children(node):
            self.generated(child, around)
        return self.state

    def generated(self, node: Node, around: tuple[Node, ...]) -> Generated | None:
        """The result of directives on a statement; None if it is neither a loop nor a block of loops."""
        own = self.file.at(node) if node.type in ("for_statement", "compound_statement") else ()
        match node.type:
            case "labeled_statement":
                return self.generated(named_children(node)[-1], around)
            case "compound_statement" if own:
                found: Generated | None = self._sequence(node, around)
            case "for_statement":
                found = self._nest(node, around)
            case _:
                inside = list(named_children(node))
                if len(inside) == 1 and node.type == "compound_statement":
                    return self.generated(inside[0], around)
                self.statements(node, around)
                return None
        for directive in reversed(own):
            if found is None:
                message = "the loop after this directive was not read as a loop"
                raise refuse(directive.place, message, CANONICAL, Code.DIRECTIVE)
            self.state, found = obeyed(self.state, directive, found)
            self.obeyed.append(directive.place)
        return found

    def _sequence(self, node: Node, around: tuple[Node, ...]) -> LoopSequence:
        nests: list[LoopNest] = []
        for child in named_children(node):
            match self.generated(child, around):
                case LoopNest() as nest if nest.loops:
                    nests.append(nest)
                case LoopSequence(more):
                    nests += more
                case _:
                    raise refuse(child, "only loops can be fused", "move it out of the block", Code.DIRECTIVE)
        return LoopSequence(tuple(nests))

    def _nest(self, node: Node, around: tuple[Node, ...]) -> LoopNest | None:
        """The loops from `node` inwards; None if it was not read as a canonical loop."""
        inner = self.generated(field(node, "body"), (*around, node))
        names = [one.name for one in self.program.statements if node.span.contains(one.body.place)]
        known = self.names | {one.dimension for one in self._canonical(around)}
        loop = canonical(node, known) if names else None
        if loop is None:
            return None
        values = {one.dimension: _value(one) for one in (*self._canonical(around), loop)}
        nest = LoopNest(self._handle(node, names), len(around), (loop,), values)
        if isinstance(inner, LoopNest) and self._is_alone(node):
            nest = replace(nest, loops=(loop, *inner.loops), values={**inner.values, **values})
        return nest

    def _canonical(self, around: tuple[Node, ...]) -> list[CountedLoop]:
        found = [canonical(node, frozenset()) for node in around]
        return [one for one in found if one is not None]

    def _is_alone(self, node: Node) -> bool:
        """Whether the loop contains only the inner nest."""
        body = field(node, "body")
        while body.type in ("compound_statement", "labeled_statement"):
            parts = named_children(body)
            if body.type == "compound_statement" and len(parts) != 1:
                return bool(self.file.at(body))
            body = parts[-1]
        return True

    def _handle(self, node: Node, names: list[str]) -> str:
        """The name of the loop's component: that of its line if it names the same."""
        plan = self.state.plan
        statements = [one for one in plan.program.statements if one.name in names]
        places = Component.of(position for one in statements for position, _ in pieces(one.schedule))
        by_line = f"@{node.span.line}"
        if plan.components.get(by_line) == places:
            return by_line
        handle = self.state.fresh(f"L{node.span.line}_")
        self.state = replace(self.state, plan=plan.named(handle, places))
        return handle


def _value(loop: CountedLoop) -> Formula:
    """The plan's value of a source iterator: the negative for a decreasing loop."""
    name = Symbol(loop.dimension)
    return Negative(name) if isinstance(loop.value, Negative) else name
