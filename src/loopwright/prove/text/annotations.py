"""Pragmas in a text that promise independent iterations: each promise is proved for its loop.

`#pragma omp parallel for` and `#pragma GCC ivdep` stand in front of a loop.  Nothing is taken from
whoever wrote them: the loop is the one that follows in the text, and its iterations are compared
by the accesses of the text.  A `reduction` clause lets steps of that reduction change their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from loopwright.model.program import Program
from loopwright.prove.legality.explain import headline, witness
from loopwright.prove.legality.legality import LegalityVerdict, Status, prove_legal
from loopwright.prove.legality.parallel import ParallelLoop
from loopwright.prove.text.loops import region_syntax
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.read.c.regions import Directive, find_regions
from loopwright.read.c.syntax import place, walk

_PROMISE = re.compile(r"\s*(omp\s+parallel\s+for\b|GCC\s+ivdep\b)")
_CLAUSE = re.compile(r"reduction\s*\(\s*([^:()]+?)\s*:\s*([^()]*)\)")


@dataclass(frozen=True)
class Promise:
    """The loop a pragma stands at, and the accumulators it names."""

    pragma: Directive
    loop: Node
    depth: int
    reductions: frozenset[tuple[str, str]]


def prove_annotations(program: Program) -> Verdict:
    """Whether the iterations of every loop with such a pragma are independent."""
    count = 0
    for promise in promises(program):
        verdict = _kept(program, promise)
        line = program.source.line_of(promise.pragma.place.start)
        if verdict.status is Status.PROVED:
            undeclared = [
                one.assumption
                for one in verdict.reassociations
                if (one.operator, one.array) not in promise.reductions
            ]
            if undeclared:
                return Undecided(f"the pragma in line {line} has no clause for a reduction")
            count += verdict.obligations
            continue
        found = verdict.failures[0]
        message = f"the iterations of the loop at line {line} are not independent: {headline(found)}"
        if verdict.status is Status.UNDECIDED:
            return Undecided(message)
        return Refuted("parallel", message, witness(found), found.parameters)
    return Proved(count)


def promises(program: Program) -> Iterator[Promise]:
    """The pragmas of the region with their loops."""
    (region,) = [one for one in find_regions(program.source) if one.place == program.region]
    loops = [node for node in walk(region_syntax(program)) if node.type == "for_statement"]
    for pragma in region.pragmas:
        if _PROMISE.match(pragma.argument) is None:
            continue
        following = [loop for loop in loops if loop.start_byte >= pragma.place.end]
        if following:
            loop = min(following, key=lambda node: node.start_byte)
            depth = sum(place(outer).contains(place(loop)) for outer in loops) - 1
            yield Promise(pragma, loop, depth, _reductions(pragma.argument))


def _reductions(argument: str) -> frozenset[tuple[str, str]]:
    return frozenset(
        (operator, name.strip()) for operator, names in _CLAUSE.findall(argument) for name in names.split(",")
    )


def _kept(program: Program, promise: Promise) -> LegalityVerdict:
    inside = tuple(s for s in program.statements if place(promise.loop).contains(s.body.place))
    part = replace(program, statements=inside)
    loop = ParallelLoop(2 * promise.depth + 1, tuple(s.name for s in inside), "the loop")
    return prove_legal(part, part, parallel=[loop], allow_reassociation=bool(promise.reductions))
