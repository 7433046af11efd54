"""Generates the whole program for a schedule.

Schedule trees [Grosser2015, section 6]: a depth-first walk that generates each band by its algorithm 1.

At a leaf there is one call for each statement, or loops over what is left unordered [section 5.1].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, count
from typing import assert_never

import islpy as isl

from loopwright.errors import BadInput, Code
from loopwright.generate.components import expand, extend_by_band, passing
from loopwright.generate.conditions import piecewise_expression
from loopwright.generate.context import (
    BandSite,
    Executed,
    GenerationContext,
    GenerationOptions,
    GenerationRun,
)
from loopwright.generate.expressions import EvaluationPlace, expression
from loopwright.generate.grafts import Graft, hoistable_guard, most_copies, nest, shared_enforced
from loopwright.generate.levels import generate_band
from loopwright.generate.pieces import options_by_name
from loopwright.loops import nodes
from loopwright.loops.expressions import Expr
from loopwright.loops.nodes import EMPTY, Call, Node
from loopwright.model import schedule as trees
from loopwright.presburger.sets import IN, OUT, isl_failures, sets_of, sorted_maps, union


@isl_failures("isl failed while generating loops")
def generate(schedule: trees.Schedule, options: GenerationOptions | None = None) -> Node:
    """Return the loops that execute the instances of `schedule` in its order."""
    known, tree = _outer_context(schedule)
    run = GenerationRun(
        options or GenerationOptions(), schedule.arguments, runs_again(tree), _prefix(schedule), count()
    )
    context = GenerationContext.initial(run, known.align_params(_parameters(schedule)))
    grafts = generate_tree(tree, context, _executed(schedule, context))
    return nest(grafts, EvaluationPlace((), context.generated)) if grafts else EMPTY


def _prefix(schedule: trees.Schedule) -> str:
    """The prefix of iterator names: c0, c1, ... unless a parameter has such a name."""
    names = isl.Set.universe(_parameters(schedule)).get_var_names_not_none(isl.dim_type.param)
    taken = {match[1] for name in names if (match := re.fullmatch(r"(.*?)\d+", name))}
    candidates = chain("ctx", (f"c{'_' * k}" for k in count(1)))
    return next(prefix for prefix in candidates if prefix not in taken)


def _parameters(schedule: trees.Schedule) -> isl.Space:
    """The space of all parameters, including those that only an inner node names."""
    space = schedule.domain.get_space().params().align_params(schedule.context.get_space().params())
    for part in _presburger_parts(schedule.tree):
        space = space.align_params(part.get_space().params())
    return space


def _presburger_parts(tree: trees.Tree) -> Iterator[isl.Set | isl.Map | isl.UnionSet | isl.UnionMap]:
    """Everything in the tree that may name parameters."""
    match tree:
        case trees.Leaf():
            return
        case trees.Sequence(children) | trees.AnyOrder(children):
            for child in children:
                yield from _presburger_parts(child)
            return
        case trees.Band():
            yield tree.schedule
            yield from (part for part in (tree.isolate, tree.options) if part is not None)
        case trees.Filter():
            yield tree.filter
        case trees.Context():
            yield tree.context
        case trees.Guard():
            yield tree.guard
        case trees.Extension():
            yield tree.extension
        case trees.Expansion():
            yield tree.expansion
        case trees.Mark() | trees.Annotated():
            pass
        case _:
            assert_never(tree)
    yield from _presburger_parts(tree.child)


def _outer_context(schedule: trees.Schedule) -> tuple[isl.Set, trees.Tree]:
    """The known conditions on parameters, including context nodes at the root."""
    context, tree = schedule.context, schedule.tree
    if not context.is_params():
        context = context.params()
    while isinstance(tree, trees.Context):
        own = tree.context if tree.context.is_params() else tree.context.params()
        context, tree = context.intersect(own), tree.child
    return context, tree


def _executed(schedule: trees.Schedule, context: GenerationContext) -> Executed:
    """{ [] -> s : s in the domain }, one map per statement [Grosser2015, section 4.1]."""
    domain = schedule.domain.align_params(context.space).intersect_params(context.known.params())
    sets = sorted(sets_of(domain), key=lambda s: (s.get_tuple_name() or "", s.n_dim()))
    return tuple(isl.Map.from_range(s.coalesce()).add_dims(isl.dim_type.in_, 0) for s in sets)


def generate_tree(tree: trees.Tree, context: GenerationContext, executed: Executed) -> list[Graft]:
    """The program for `executed` in the order of `tree`."""
    if not executed:
        return []
    match tree:
        case trees.Leaf():
            return _leaf(context, executed)
        case trees.Band():
            return _band(tree, context, executed)
        case trees.Filter():
            return generate_tree(tree.child, context, passing(executed, tree.filter))
        case trees.Sequence(children) | trees.AnyOrder(children):
            return [graft for child in children for graft in generate_tree(child, context, executed)]
        case trees.Mark():
            return _together(generate_tree(tree.child, context, executed), context, tree.name)
        case trees.Annotated():
            _check_scanned(tree, context.times.dim(OUT))
            return _together(generate_tree(tree.child, context.annotated(tree), executed), context)
        case trees.Context():
            known = in_iterators(tree.context, context)
            grafts = generate_tree(tree.child, context.assume(known, None), executed)
            return [replace(graft, guard=graft.guard.gist(known)) for graft in grafts]
        case trees.Guard():
            guard = in_iterators(tree.guard, context)
            restricted = _nonempty(relation.intersect_domain(guard) for relation in executed)
            grafts = generate_tree(tree.child, context.assume(guard, None), restricted)
            return [graft.guarded(guard) for graft in grafts]
        case trees.Extension():
            reached = union(relation.domain() for relation in executed)
            added = sorted_maps(tree.extension.preimage_domain_multi_aff(context.times))
            extended = (*executed, *(m.intersect_domain(reached) for m in added))
            return generate_tree(tree.child, context, _merged(_nonempty(extended)))
        case trees.Expansion():
            expanded = [m for relation in executed for m in expand(relation, tree.expansion)]
            return generate_tree(tree.child, context, _merged(expanded))
        case _:
            assert_never(tree)


def runs_again(tree: trees.Tree) -> bool:
    """Whether an instance may execute at several times, so that its calls must name the time."""
    match tree:
        case trees.Leaf():
            return False
        case trees.Sequence(children) | trees.AnyOrder(children):
            return any(runs_again(child) for child in children)
        case trees.Extension():
            return True
        case trees.Band():
            return not tree.schedule.is_single_valued() or runs_again(tree.child)
        case trees.Expansion():
            return not tree.expansion.reverse().is_single_valued() or runs_again(tree.child)
        case trees.Filter() | trees.Mark() | trees.Annotated() | trees.Context() | trees.Guard():
            return runs_again(tree.child)
        case _:
            assert_never(tree)


def in_iterators(condition: isl.Set, context: GenerationContext) -> isl.Set:
    """A condition on the schedule's dimensions as one on the iterators.

    A set without dimensions has only parameters, anywhere in the tree.
    """
    if condition.is_params() or condition.n_dim() == 0:
        params = condition if condition.is_params() else condition.params()
        return isl.Set.universe(context.space).intersect_params(params)
    return condition.preimage_multi_aff(context.times)


def _nonempty(relations: Iterable[isl.Map]) -> Executed:
    return tuple(relation for relation in relations if not relation.is_empty())


def _merged(relations: list[isl.Map] | Executed) -> Executed:
    """One relation per statement, in order of first appearance."""
    found: dict[str, isl.Map] = {}
    for relation in relations:
        key = str(relation.get_space().range())
        found[key] = found[key].union(relation) if key in found else relation
    return tuple(found.values())


def _band(band: trees.Band, context: GenerationContext, executed: Executed) -> list[Graft]:
    count = len(band.members)
    if count == 0:
        return generate_tree(band.child, context, executed)
    first = context.times.dim(OUT)
    site = BandSite(band, first, lambda c, e: generate_tree(band.child, c, e), options_by_name(band.options))
    names = tuple(f"{context.run.prefix}{first + k}" for k in range(count))
    inside = context.widen(site, names, tuple(range(first, first + count)))
    extended = _nonempty(extend_by_band(relation, band) for relation in executed)
    return _narrow(generate_band(inside, extended), context, inside)


def _narrow(grafts: list[Graft], outer: GenerationContext, inner: GenerationContext) -> list[Graft]:
    """Conditions back in the space outside the band: its dimensions no longer occur in them."""
    first = len(outer.names)
    return [graft.without_dimension(first, len(inner.names) - first) for graft in grafts]


def _check_scanned(annotated: trees.Annotated, outer: int) -> None:
    """Refuse an annotation of a dimension that is in no band below it; bands above have `outer` dimensions.

    Such a dimension becomes loops, which get the annotation, or has single values, which need none.
    """
    if not _scans(annotated.child, annotated.dimension, outer):
        raise BadInput(
            Code.LOOPS_DO_NOT_FIT,
            f"no loop has the annotation of schedule dimension {annotated.dimension}, "
            f"{type(annotated.annotation).__name__}: no band below has this dimension",
            hint=f"the dimensions below count from {outer}; annotate one of them, or move the annotation",
        )


def _scans(tree: trees.Tree, dimension: int, first: int) -> bool:
    """Whether a band of `tree` has the schedule dimension; its outermost dimension is `first`."""
    match tree:
        case trees.Leaf():
            return False
        case trees.Band():
            inside = first + len(tree.members)
            return first <= dimension < inside or _scans(tree.child, dimension, inside)
        case trees.Sequence(children) | trees.AnyOrder(children):
            return any(_scans(child, dimension, first) for child in children)
        case _:
            return _scans(tree.child, dimension, first)


def _together(grafts: list[Graft], context: GenerationContext, remark: str | None = None) -> list[Graft]:
    """The subtree below a mark or an annotation as one node, with the author's remark, if any."""
    if not grafts:
        return []
    guard = hoistable_guard(grafts, context.known, None)
    body = nest(grafts, EvaluationPlace(context.names, context.generated.intersect(guard)))
    node = body if remark is None else nodes.Remarked(remark, body)
    return [Graft(node, guard, shared_enforced(grafts, None), most_copies(grafts))]


def _leaf(context: GenerationContext, executed: Executed) -> list[Graft]:
    """Calls in the statements' order, or loops over a statement with many instances at one point."""
    result: list[Graft] = []
    for relation in executed:
        here = relation.intersect_domain(context.known)
        if here.is_empty():
            continue
        here = here.coalesce()
        if here.is_single_valued():
            result.append(_call(context, here))
        else:
            result.extend(_unordered(context, relation))
    return result


def _call(context: GenerationContext, relation: isl.Map) -> Graft:
    """The call at each point of the relation's domain, guarded by what is not yet enforced."""
    context.run.count_copy()
    guard = relation.domain().compute_divs().coalesce()
    place = EvaluationPlace(context.names, context.known.intersect(guard))
    name = relation.get_tuple_name(OUT) or ""
    transformation = context.run.arguments.get(name)
    values = relation if transformation is None else relation.apply_range(transformation)
    arguments = _arguments(values, context, place)
    time = _time(context, place) if context.run.hints else None
    universe = isl.Set.universe(context.space)
    return Graft(Call(name, arguments, time), guard.gist(context.generated).coalesce(), universe)


def _arguments(relation: isl.Map, context: GenerationContext, place: EvaluationPlace) -> tuple[Expr, ...]:
    """The instance as a function of the iterators, simplified by the context."""
    function = relation.as_pw_multi_aff().gist(context.known).coalesce()
    return tuple(piecewise_expression(function.get_at(k), place) for k in range(relation.dim(OUT)))


def _time(context: GenerationContext, place: EvaluationPlace) -> tuple[Expr, ...]:
    """The schedule point of the call (see `Call.time`)."""
    return tuple(expression(context.times.get_aff(k), place) for k in range(context.times.dim(OUT)))


def _unordered(context: GenerationContext, relation: isl.Map) -> list[Graft]:
    """Many instances at one schedule point, in any order: with one new dimension per dimension of the
    instances.

    These are the parallel loops of [Quillere2000, section 6.3].
    """
    count = relation.dim(OUT)
    copied = relation.flat_domain_product(_identity(relation)).coalesce()
    band = trees.Band(isl.UnionMap.from_map(_identity(relation)), (trees.Member(),) * count, trees.LEAF)
    site = BandSite(band, 0, _leaf, unordered=True)
    names = tuple(f"{context.run.prefix}{len(context.names) + k}" for k in range(count))
    inside = context.widen(site, names, (None,) * count)
    return _narrow(generate_band(inside, (copied,)), context, inside)


def _identity(relation: isl.Map) -> isl.Map:
    """{ [i] -> s : s = S(i) } for the relation's statement."""
    instances = isl.Map.identity(relation.get_space().range().map_from_set())
    return instances.set_tuple_name(IN, "").reset_tuple_id(IN)
