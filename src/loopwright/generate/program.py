"""The whole program for a schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, count
from typing import assert_never

import islpy as isl

from loopwright.generate.context import Executed, GenerationContext, GenerationOptions, GenerationRun
from loopwright.generate.expressions import EvaluationPlace
from loopwright.generate.grafts import nest
from loopwright.generate.tree import generate_tree, runs_again
from loopwright.loops.nodes import EMPTY, Node
from loopwright.model.schedule import (
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
    Schedule,
    Sequence,
    Tree,
)
from loopwright.presburger.sets import isl_failures
from loopwright.presburger.unions import sets_of


@isl_failures("isl failed while generating loops")
def generate(schedule: Schedule, options: GenerationOptions | None = None) -> Node:
    """The loops that run the instances of `schedule` in its order."""
    known, tree = _outer_context(schedule)
    run = GenerationRun(
        options or GenerationOptions(), schedule.arguments, runs_again(tree), _prefix(schedule), count()
    )
    context = GenerationContext.initial(run, known.align_params(_parameters(schedule)))
    grafts = generate_tree(tree, context, _executed(schedule, context))
    return nest(grafts, EvaluationPlace((), context.generated)) if grafts else EMPTY


def _prefix(schedule: Schedule) -> str:
    """What iterators are called: c0, c1, ... unless a parameter has such a name."""
    names = isl.Set.universe(_parameters(schedule)).get_var_names_not_none(isl.dim_type.param)
    taken = {match[1] for name in names if (match := re.fullmatch(r"(.*?)\d+", name))}
    candidates = chain("ctx", (f"c{'_' * k}" for k in count(1)))
    return next(prefix for prefix in candidates if prefix not in taken)


def _parameters(schedule: Schedule) -> isl.Space:
    """The space of all parameters, those that only an inner node names included."""
    space = schedule.domain.get_space().params().align_params(schedule.context.get_space().params())
    for part in _presburger_parts(schedule.tree):
        space = space.align_params(part.get_space().params())
    return space


def _presburger_parts(tree: Tree) -> Iterator[isl.Set | isl.Map | isl.UnionSet | isl.UnionMap]:
    """Everything in the tree that may name parameters."""
    match tree:
        case Leaf():
            return
        case Sequence(children) | AnyOrder(children):
            for child in children:
                yield from _presburger_parts(child)
            return
        case Band():
            yield tree.schedule
            yield from (part for part in (tree.isolate, tree.options) if part is not None)
        case Filter():
            yield tree.filter
        case Context():
            yield tree.context
        case Guard():
            yield tree.guard
        case Extension():
            yield tree.extension
        case Expansion():
            yield tree.expansion
        case Mark() | Annotated():
            pass
        case _:
            assert_never(tree)
    yield from _presburger_parts(tree.child)


def _outer_context(schedule: Schedule) -> tuple[isl.Set, Tree]:
    """What is known of the parameters everywhere: context nodes at the root included."""
    context, tree = schedule.context, schedule.tree
    if not context.is_params():
        context = context.params()
    while isinstance(tree, Context):
        own = tree.context if tree.context.is_params() else tree.context.params()
        context, tree = context.intersect(own), tree.child
    return context, tree


def _executed(schedule: Schedule, context: GenerationContext) -> Executed:
    """{ [] -> s : s in the domain }, one map a statement [Grosser2015, section 4.1]."""
    domain = schedule.domain.align_params(context.space).intersect_params(context.known.params())
    sets = sorted(sets_of(domain), key=lambda s: (s.get_tuple_name() or "", s.n_dim()))
    return tuple(isl.Map.from_range(s.coalesce()).add_dims(isl.dim_type.in_, 0) for s in sets)
