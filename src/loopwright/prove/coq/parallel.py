"""Parallel loops: which of them have iterations that touch no cell in common, for Coq to check.

Two iterations of the loop at depth d are apart if no p and q with p[:d] = q[:d], p[d] < q[d] execute
instances that conflict.  Such a loop says so in the program of a proof, and `proofs/Parallel.v` has its
theorem.  A loop that gives its iterations storage of their own, or combines what they compute, does not:
this is a statement about the memory as it is.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from itertools import count, product

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import with_children
from loopwright.model.annotations import Parallel
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import equal_in, first
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.obligations.cells import whole_arrays
from loopwright.prove.scanning.executed import Repeat, Run, executed, loops, runs


@dataclass(frozen=True)
class Marked:
    """A program in which the loops whose iterations are apart say so, and no others."""

    program: Node
    independent: tuple[str, ...]
    """The iterators of these loops."""
    others: tuple[str, ...]
    """Those of loops that are to be parallel, or vector loops, in another sense."""
    positions: tuple[int, ...]
    """Of the loops that say so, counted in the order of the text."""


def marked(node: Node, accesses: Program, context: isl.Set) -> Marked:
    """`node`, whose annotations say which loops are to be parallel; `accesses` are its statements'."""
    found = loops(executed(node, context))
    wanted = {k for k, loop in enumerate(found) if loop.said}
    tables = {statement.name: _cells(statement, accesses) for statement in accesses.statements}
    apart = {k for k in wanted if _apart(found[k], tables)}
    names = {k: found[k].iterator for k in sorted(wanted)}
    return Marked(
        with_independent(node, apart),
        tuple(name for k, name in names.items() if k in apart),
        tuple(name for k, name in names.items() if k not in apart),
        tuple(sorted(apart)),
    )


def with_independent(node: Node, which: Container[int]) -> Node:
    """The loops at these positions said to be parallel, and nothing said of others."""
    seen = count()

    def visit(part: Node) -> Node:
        if isinstance(part, For):
            part = replace(part, annotations=(Parallel(),) if next(seen) in which else ())
        return with_children(part, visit)

    return visit(node)


@dataclass(frozen=True, eq=False)
class _Cells:
    """{ instance -> cell } that is read, and that is written."""

    reads: isl.UnionMap
    writes: isl.UnionMap


def _cells(statement: Statement, program: Program) -> _Cells:
    """As in `obligations/cells.py`: an array of which the part is not known is one cell."""
    whole = whole_arrays(program)
    empty = isl.UnionMap.empty(program.context.get_space())
    reads, writes = empty, empty
    for access in statement.accesses:
        relation = access.relation.intersect_domain(statement.domain)
        if access.array in whole:
            relation = first(relation, OUT, 0).set_tuple_name(OUT, access.array)
        if access.is_write:
            writes = writes.union(relation)
        if not access.is_write or access.array in whole:
            reads = reads.union(relation)
    return _Cells(reads, writes)


def _apart(loop: Repeat, tables: dict[str, _Cells]) -> bool:
    calls = [(_instances(run), tables[run.name], run.depth) for run in runs(loop.body)]
    for (one, here, depth), (other, there, width) in product(calls, repeat=2):
        later = _later(one.get_space().params(), loop.depth, depth, width)
        for mine, theirs in (
            (here.writes, there.writes),
            (here.writes, there.reads),
            (here.reads, there.writes),
        ):
            met = one.apply_range(mine).apply_range(other.apply_range(theirs).reverse())
            if not met.intersect(later).is_empty():
                return False
    return True


def _instances(run: Run) -> isl.UnionMap:
    """[p] -> the instance that is executed."""
    found = run.arguments.as_map().intersect_domain(run.domain)
    return isl.UnionMap.from_map(found.set_tuple_name(OUT, run.name))


def _later(parameters: isl.Space, depth: int, here: int, there: int) -> isl.UnionMap:
    """{ p -> q : p[:depth] = q[:depth] and p[depth] < q[depth] }"""
    found = equal_in(isl.Map.universe(parameters.add_dims(IN, here).add_dims(OUT, there)), range(depth))
    return isl.UnionMap.from_map(found.order_lt(IN, depth, OUT, depth))
