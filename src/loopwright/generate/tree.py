"""Schedule trees [Grosser2015, section 6]: a depth-first walk that generates each band by its algorithm 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

import islpy as isl

from loopwright.errors import BadInput, Code
from loopwright.generate import levels
from loopwright.generate.branches import nest
from loopwright.generate.components import expand, extend_by_band, maps_of, passing
from loopwright.generate.expressions import Place
from loopwright.generate.grafts import Graft, hoistable_guard, most_copies, shared_enforced
from loopwright.generate.leaf import terminate
from loopwright.generate.regions import options_by_name
from loopwright.generate.site import Executed, Run, Site
from loopwright.generate.stock import Stock
from loopwright.loops import nodes
from loopwright.model.schedule import (
    LEAF,
    Annotated,
    AnyOrder,
    Band,
    Context,
    Expansion,
    Extension,
    Filter,
    Guard,
    Leaf,
    Mark,
    Member,
    Sequence,
    Tree,
)
from loopwright.presburger.sets import IN, OUT, union


def generate_tree(run: Run, tree: Tree, stock: Stock, executed: Executed) -> list[Graft]:
    """The program for `executed` in the order of `tree`."""
    if not executed:
        return []
    match tree:
        case Leaf():
            return terminate(run, stock, executed, lambda s, r: _unordered(run, s, r))
        case Band():
            return _band(run, tree, stock, executed)
        case Filter():
            return generate_tree(run, tree.child, stock, passing(executed, tree.filter))
        case Sequence(children) | AnyOrder(children):
            return [graft for child in children for graft in generate_tree(run, child, stock, executed)]
        case Mark():
            return _together(generate_tree(run, tree.child, stock, executed), stock, tree.name)
        case Annotated():
            _check_scanned(tree, stock.times.dim(OUT))
            inside = replace(stock, annotations=(*stock.annotations, tree))
            return _together(generate_tree(run, tree.child, inside, executed), stock)
        case Context():
            return _context(run, tree, stock, executed)
        case Guard():
            guard = in_iterators(tree.guard, stock)
            inside = stock.assume(guard, None)
            restricted = _nonempty(relation.intersect_domain(guard) for relation in executed)
            grafts = generate_tree(run, tree.child, inside, restricted)
            return [graft.guarded(guard) for graft in grafts]
        case Extension():
            reached = union(relation.domain() for relation in executed)
            added = maps_of(tree.extension.preimage_domain_multi_aff(stock.times))
            extended = (*executed, *(m.intersect_domain(reached) for m in added))
            return generate_tree(run, tree.child, stock, _merged(_nonempty(extended)))
        case Expansion():
            expanded = [m for relation in executed for m in expand(relation, tree.expansion)]
            return generate_tree(run, tree.child, stock, _merged(expanded))
        case _:
            assert_never(tree)


def runs_again(tree: Tree) -> bool:
    """Whether an instance may run at several times, so that its calls have to say at which."""
    match tree:
        case Leaf():
            return False
        case Sequence(children) | AnyOrder(children):
            return any(runs_again(child) for child in children)
        case Extension():
            return True
        case Band():
            return not tree.schedule.is_single_valued() or runs_again(tree.child)
        case Expansion():
            return not tree.expansion.reverse().is_single_valued() or runs_again(tree.child)
        case Filter() | Mark() | Annotated() | Context() | Guard():
            return runs_again(tree.child)
        case _:
            assert_never(tree)


def in_iterators(condition: isl.Set, stock: Stock) -> isl.Set:
    """A condition on the schedule's dimensions as one on the iterators.

    A set without dimensions speaks of the parameters alone, wherever it stands.
    """
    if condition.is_params() or condition.n_dim() == 0:
        params = condition if condition.is_params() else condition.params()
        return isl.Set.universe(stock.space).intersect_params(params)
    return condition.preimage_multi_aff(stock.times)


def _nonempty(relations: Iterable[isl.Map]) -> Executed:
    return tuple(relation for relation in relations if not relation.is_empty())


def _merged(relations: list[isl.Map] | Executed) -> Executed:
    """One relation a statement, in order of first appearance."""
    found: dict[str, isl.Map] = {}
    for relation in relations:
        key = str(relation.get_space().range())
        found[key] = found[key].union(relation) if key in found else relation
    return tuple(found.values())


def _band(run: Run, band: Band, stock: Stock, executed: Executed) -> list[Graft]:
    count = len(band.members)
    if count == 0:
        return generate_tree(run, band.child, stock, executed)
    first_time = stock.times.dim(OUT)
    names = tuple(f"{run.prefix}{first_time + k}" for k in range(count))
    inside = stock.widen(names, tuple(range(first_time, first_time + count)))
    options = options_by_name(band.options)
    site = Site(run, band, first_time, lambda r, s, e: generate_tree(r, band.child, s, e), options)
    extended = _nonempty(extend_by_band(relation, band) for relation in executed)
    return _narrow(levels.generate_band(site, inside, extended), stock, inside)


def _narrow(grafts: list[Graft], outer: Stock, inner: Stock) -> list[Graft]:
    """Conditions back in the space outside the band: its dimensions no longer occur in them."""
    first = len(outer.names)
    return [graft.without_dimension(first, len(inner.names) - first) for graft in grafts]


def _unordered(run: Run, stock: Stock, relation: isl.Map) -> list[Graft]:
    """Many instances at one schedule point, in any order: a dimension for each of theirs.

    These are the parallel loops of [Quillere2000, section 6.3].
    """
    count = relation.dim(OUT)
    copied = relation.flat_domain_product(_identity(relation)).coalesce()
    base = len(stock.names)
    names = tuple(f"{run.prefix}{base + k}" for k in range(count))
    inside = stock.widen(names, (None,) * count)
    band = Band(isl.UnionMap.from_map(_identity(relation)), (Member(),) * count, LEAF)
    site = Site(run, band, 0, lambda r, s, e: generate_tree(r, LEAF, s, e), unordered=True)
    return _narrow(levels.generate_band(site, inside, (copied,)), stock, inside)


def _identity(relation: isl.Map) -> isl.Map:
    """{ [i] -> s : s = S(i) } for the relation's statement."""
    instances = isl.Map.identity(relation.get_space().range().map_from_set())
    return instances.set_tuple_name(IN, "").reset_tuple_id(IN)


def _check_scanned(annotated: Annotated, outer: int) -> None:
    """Refuse an annotation of a dimension that no band below it has; `outer` bands' dimensions are above.

    Of a dimension that is there, the generator decides what becomes of it: loops that have the annotation,
    or single values, of which there is nothing to say.
    """
    if not _scans(annotated.child, annotated.dimension, outer):
        raise BadInput(
            Code.LOOPS_DO_NOT_FIT,
            f"no loop takes up what the schedule says of dimension {annotated.dimension}, "
            f"{type(annotated.annotation).__name__}: no band below has this dimension",
            hint=f"the dimensions below count from {outer}; annotate one of them, or move the annotation",
        )


def _scans(tree: Tree, dimension: int, first: int) -> bool:
    """Whether a band of `tree` has the schedule dimension; its outermost dimension is `first`."""
    match tree:
        case Leaf():
            return False
        case Band():
            inside = first + len(tree.members)
            return first <= dimension < inside or _scans(tree.child, dimension, inside)
        case Sequence(children) | AnyOrder(children):
            return any(_scans(child, dimension, first) for child in children)
        case _:
            return _scans(tree.child, dimension, first)


def _together(grafts: list[Graft], stock: Stock, remark: str | None = None) -> list[Graft]:
    """What is below a mark or an annotation as one node, with the author's remark on it if there is one."""
    if not grafts:
        return []
    guard = hoistable_guard(grafts, stock.known, None)
    body = nest(grafts, Place(stock.names, stock.generated.intersect(guard)))
    node = body if remark is None else nodes.Mark(remark, body)
    return [Graft(node, guard, shared_enforced(grafts, None), most_copies(grafts))]


def _context(run: Run, context: Context, stock: Stock, executed: Executed) -> list[Graft]:
    """What the context node says is known below it; its new parameters stay below it."""
    known = in_iterators(context.context, stock)
    grafts = generate_tree(run, context.child, stock.assume(known, None), executed)
    return [replace(graft, guard=graft.guard.gist(known)) for graft in grafts]
