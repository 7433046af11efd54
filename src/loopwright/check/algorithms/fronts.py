"""Checks before whole nests instead of before every operation.

A nest that is affine and executes only operations can be checked before it runs: its control flow does not
depend on what it computes. Its own loops are then left as they are, for the compiler to optimise. If the nest
can be checked as a whole, the checks of its single operations, in loops of their own, run only if that check
fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from loopwright.c.liveness import refuse_live_iterators
from loopwright.c.loops import loop_iterator
from loopwright.c.syntax import Node, named_children, walk
from loopwright.c.tokens import on_one_line
from loopwright.check.algorithms.bulk import Bulk, Original, in_bulk, original
from loopwright.check.algorithms.codes import CodeScheme
from loopwright.check.algorithms.scheme import Scheme
from loopwright.check.program.instrument import CallOf, Insertion, observed_text
from loopwright.check.program.nests import CheckedNest, read_nest
from loopwright.check.program.sites import Site, Sites
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import within_effort
from loopwright.source import Edit

EFFORT = 400_000
"""isl's steps for one nest, after which it is split into parts; a second at most."""
LEAST_EFFORT = 150_000
"""The least number of steps: inside a nest that took too many, each loop further in gets half of its
steps."""
MOST_PIECES = 40
"""Pieces of sets to scan for one nest; beyond that it is split into parts."""


@dataclass(frozen=True)
class Front:
    """A nest that is checked before it runs; `bulk` if it can be checked as a whole."""

    node: Node
    number: int
    bulk: Bulk | None
    sites: tuple[Site, ...]


def fronts(sites: Sites, scheme: Scheme, sizes: Mapping[str, int], *, only_checks: bool) -> tuple[Front, ...]:
    """Return the nests of the program that are checked before they run, in source order."""
    known = original(scheme) if isinstance(scheme, CodeScheme) else None
    finder = _NestFinder(sites, known, sizes, only_checks)
    found = [pair for body in sites.known.bodies for pair in finder.nests(body, EFFORT)]
    found.sort(key=lambda pair: pair[0].node.start)
    return tuple(
        Front(nest.node, number, bulk, tuple(one.site for one in nest.operations))
        for number, (nest, bulk) in enumerate(found)
    )


_Found = tuple[CheckedNest, Bulk | None]
"""A nest, and how to check it as a whole."""


@dataclass(frozen=True)
class _NestFinder:
    sites: Sites
    known: Original | None
    sizes: Mapping[str, int]
    only_checks: bool

    def nests(self, node: Node, effort: int) -> Iterator[_Found]:
        """The largest nests in `node` that can be checked as wholes, and other affine innermost loops."""
        nest, bulk = None, None
        if node.type == "for_statement":
            try:
                nest = within_effort(effort, lambda: self._read(node))
                bulk = None if nest is None else within_effort(effort, lambda: self._whole(nest))
            except isl.Error:  # too much, or a failure of isl: the loops inside are smaller
                effort = max(effort // 2, LEAST_EFFORT)
        if nest is not None and bulk is not None:
            yield nest, bulk
            return
        inner = [found for child in node.named_children for found in self.nests(child, effort)]
        if nest is not None and not any(part.type == "for_statement" for part in walk(node) if part != node):
            yield nest, None
        yield from inner

    def _read(self, node: Node) -> CheckedNest | None:
        nest = read_nest(self.sites, node, self.sizes)
        if nest is None or not all(_is_statement(one.site) for one in nest.operations):
            return None
        return None if self.only_checks and self._leaves_values(node) else nest

    def _leaves_values(self, node: Node) -> bool:
        """Whether the last value of an iterator is live after the loops: without them it would not be
        computed."""
        loops = node.of_type("for_statement")
        names = frozenset(name for loop in loops if (name := loop_iterator(loop)) is not None)
        try:
            refuse_live_iterators(self.sites.known.file, node.span, names)
        except BadInput:
            return True
        return False

    def _whole(self, nest: CheckedNest) -> Bulk | None:
        """How to check the nest as a whole."""
        bulk = None if self.known is None else in_bulk(self.known, nest)
        if bulk is None:
            return None
        pieces = [bulk.wrong, *bulk.before, *bulk.after]
        return bulk if sum(one.n_basic_set() for one in pieces) <= MOST_PIECES else None


def _is_statement(site: Site) -> bool:
    parent = site.assignment.node.parent
    return parent is not None and parent.type == "expression_statement"


def front_macro(front: Front, call: CallOf, whole: str | None) -> str:
    """The text before the nest; `whole` is the C condition that it is correct as a whole."""
    single = _single_checks(front, call)
    checks = single if whole is None else f"if (!({whole})) {{ {single} }}"
    return f"#define LW_FRONT_{front.number} {checks}\n"


def insertions(front: Front, *, only_checks: bool) -> list[Insertion]:
    """The nest with its checks in front, or, with `only_checks`, in its place."""
    node, name = front.node, f"LW_FRONT_{front.number}"
    if only_checks:
        return [Insertion(node.start, 0, f"{{ {name} }}", node.end - node.start)]
    return [Insertion(node.start, 0, f"{{ {name} "), Insertion(node.end, -2, " }")]


def _single_checks(front: Front, call: CallOf) -> str:
    """The nest with its operations replaced by their checks, on one line and without labels."""
    changes: list[Edit] = []
    for site in front.sites:
        node = site.assignment.node
        text = call(site, [observed_text(one) for one in site.observed])
        changes.append((node.start, node.end, text))
    for node in walk(front.node):
        if node.type == "labeled_statement":
            changes.append((node.start, _labelled(node).start, ""))
    return on_one_line(front.node.span.edited(sorted(changes)))


def _labelled(node: Node) -> Node:
    """The statement that a label labels."""
    statements: Sequence[Node] = named_children(node)
    return statements[-1]
