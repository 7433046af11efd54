"""By values: every live-out cell ends up equal, and NEW computes nothing undefined that OLD does not.

The cells read after the region are claimed to be equal (`induction`); then every operation that may be
undefined in C must be one that OLD computes too (`definedness`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import count

import islpy as isl

from loopwright.errors import GaveUp
from loopwright.model.program import Program
from loopwright.prove.equivalence.claims import Claims, Mismatch, TermPoint
from loopwright.prove.equivalence.counterexample import variable_text
from loopwright.prove.equivalence.definedness import (
    Needed,
    Operation,
    memory_of,
    needed,
    writes_for_certain,
    writes_more,
)
from loopwright.prove.equivalence.flow import Flow, ValueDefinition, after_region, flow_of
from loopwright.prove.equivalence.induction import Induction
from loopwright.prove.equivalence.terms import Apply, CellTerm, Constant, Index, shown
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.verdict import Proved, Undecided

_DEEPEST = 20_000
"""Python stack frames."""


def by_values(
    old: Program, new: Program, outputs: tuple[str, ...], *, reassociate: bool = False
) -> tuple[Proved | Undecided, tuple[str, ...]]:
    """Proves that the cells of `outputs` are equal after both programs; returns the assumptions, too."""
    try:
        flows = flow_of(old, old.context), flow_of(new, old.context)
    except Unreadable as failure:
        return Undecided(str(failure), unread=True), ()
    more = writes_more(old, new, flows)
    if more is not None:
        return Undecided(more), ()
    paths = old.source.path, new.source.path
    memory = memory_of(old, new, flows)
    verdict, trusted = by_flows(flows, needed(memory, flows), outputs, paths, reassociate=reassociate)
    return verdict, (*trusted, *writes_for_certain(memory))


def by_flows(
    flows: tuple[Flow, Flow],
    operations: Needed,
    outputs: tuple[str, ...],
    paths: tuple[str, str],
    *,
    reassociate: bool = False,
) -> tuple[Proved | Undecided, tuple[str, ...]]:
    """The same for programs with known data flow; `operations` of NEW must occur in OLD."""
    proof = Induction(*flows, operations, reassociate, count())
    try:
        with _deep_recursion():
            return _by_induction(proof, outputs, paths)
    except RecursionError:
        return Undecided("by values: the proof is nested too deeply"), ()
    except GaveUp as failure:
        return Undecided(str(failure)), ()


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raises the recursion limit: each statement of an unrolled body is a step inside the previous one."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


def _by_induction(
    proof: Induction, outputs: tuple[str, ...], paths: tuple[str, str]
) -> tuple[Proved | Undecided, tuple[str, ...]]:
    claims = Claims()
    for array in outputs:
        ends = _end(array, proof.old, proof.new)
        if ends is None:
            continue
        try:
            claims = proof.equal(ends, ends, _identity(ends), claims)
        except Mismatch as wrong:
            return Undecided(_reason(wrong, array, paths), hints=wrong.sizes), ()
    left = proof.needed.left(_answers(proof, claims))
    if left:
        claims = _with_unused(proof, claims, dict.fromkeys(name for name, _ in left))
        left = proof.needed.left(_answers(proof, claims))
    refused = proof.needed.refused(left)
    verdict = Proved(len(claims.made)) if refused is None else Undecided(refused)
    return verdict, (*proof.needed.assumed(left), *claims.assumed)


def _answers(proof: Induction, claims: Claims) -> dict[Operation, isl.Set]:
    """The points at which OLD is known to compute the operations of NEW too."""
    found: dict[Operation, list[isl.Set]] = {}
    for (mine, theirs), pairs in claims.answered.items():
        computed = proof.needed.allowed[mine].domain
        found.setdefault(theirs, []).append(pairs.intersect_domain(computed).range())
    for theirs, points in claims.reordered.items():
        found.setdefault(theirs, []).append(points)
    return {key: reduce(isl.Set.union, parts).coalesce() for key, parts in found.items()}


def _with_unused(proof: Induction, claims: Claims, names: Iterable[str]) -> Claims:
    """Adds claims for values that reach no output: definitions of both programs with the same cells."""
    for name in names:
        theirs = proof.new.definitions[name]
        for mine in proof.old.definitions.values():
            pairs = _same_leaves(mine, theirs)
            if pairs is None or pairs.is_empty():
                continue
            try:
                claims = proof.equal(
                    TermPoint(mine, mine.value), TermPoint(theirs, theirs.value), pairs, claims
                )
            except Mismatch:
                continue
    return claims


def _same_leaves(old: ValueDefinition, new: ValueDefinition) -> isl.Map | None:
    """The instances at which two values of the same form have the same cells and integers."""
    found = isl.Map.from_domain_and_range(old.domain, new.domain)
    pending = [(old.value, new.value)]
    while pending:
        match pending.pop():
            case Apply(operator, first), Apply(same, second) if (operator, len(first)) == (same, len(second)):
                pending += zip(first, second, strict=True)
            case CellTerm(array, mine), CellTerm(same, theirs) if array == same and mine:
                found = found.intersect(old.relation(mine).apply_range(new.relation(theirs).reverse()))
            case Index(mine), Index(theirs):
                found = found.intersect(old.relation((mine,)).apply_range(new.relation((theirs,)).reverse()))
            case CellTerm(), CellTerm():
                continue
            case Constant() as one, Constant() as other if one == other:
                continue
            case _:
                return None
    return found


def _end(array: str, old: Flow, new: Flow) -> TermPoint | None:
    written = [cells for cells in (old.written(array), new.written(array)) if cells is not None]
    if not written:
        return None
    cells = written[0] if len(written) == 1 else written[0].union(written[1])
    end = after_region(array, cells.coalesce(), (old if array in old.types else new).types[array])
    return TermPoint(end, end.value)


def _identity(end: TermPoint) -> isl.Map:
    space = end.definition.domain.get_space().map_from_set()
    return isl.Map.identity(space).intersect_domain(end.definition.domain)


def _reason(wrong: Mismatch, array: str, paths: tuple[str, str]) -> str:
    places = [
        f"{shown(point.term)} in line {point.definition.line} of {path}"
        if point.definition.line is not None
        else shown(point.term)
        for point, path in zip((wrong.old, wrong.new), paths, strict=True)
    ]
    name = variable_text(array)
    return f"{name} was not shown to end up the same: {wrong.reason}, {places[0]} and {places[1]}"
