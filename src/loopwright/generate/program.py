"""The whole program for a schedule."""

from __future__ import annotations

import re
from itertools import chain, count

import islpy as isl

from loopwright.errors import InternalError
from loopwright.generate.expressions import Place
from loopwright.generate.grafts import nest
from loopwright.generate.options import Options
from loopwright.generate.site import Executed, Run
from loopwright.generate.stock import Stock, initial_stock
from loopwright.generate.tree import generate_tree
from loopwright.loops.nodes import EMPTY, Node
from loopwright.model.schedule import Context, Schedule, Tree


def generate(schedule: Schedule, options: Options | None = None) -> Node:
    """The loops that run the instances of `schedule` in its order."""
    options = options or Options()
    context, tree = _outer_context(schedule)
    stock = initial_stock(context)
    run = Run(options, schedule.arguments, False, _prefix(schedule), count())
    try:
        grafts = generate_tree(run, tree, stock, _executed(schedule, stock))
        return nest(grafts, Place((), stock.generated)) if grafts else EMPTY
    except isl.Error as error:
        raise InternalError(f"isl failed while generating loops: {error}") from error


def _prefix(schedule: Schedule) -> str:
    """What iterators are called: c0, c1, ... unless a parameter has such a name."""
    names = schedule.domain.get_space().get_var_names(isl.dim_type.param)
    names += schedule.context.get_space().get_var_names(isl.dim_type.param)
    taken = {match[1] for name in names if (match := re.fullmatch(r"(.*?)\d+", name))}
    candidates = chain("ctx", (f"c{'_' * k}" for k in count(1)))
    return next(prefix for prefix in candidates if prefix not in taken)


def _outer_context(schedule: Schedule) -> tuple[isl.Set, Tree]:
    """What is known of the parameters everywhere: context nodes at the root included."""
    context, tree = schedule.context, schedule.tree
    if not context.is_params():
        context = context.params()
    while isinstance(tree, Context):
        own = tree.context if tree.context.is_params() else tree.context.params()
        context, tree = context.intersect(own), tree.child
    return context, tree


def _executed(schedule: Schedule, stock: Stock) -> Executed:
    """{ [] -> s : s in the domain }, one map a statement (4.1)."""
    domain = schedule.domain.intersect_params(stock.known.params())
    sets: list[isl.Set] = []
    domain.foreach_set(sets.append)
    sets.sort(key=lambda s: (s.get_tuple_name() or "", s.n_dim()))
    return tuple(isl.Map.from_range(s.coalesce()).add_dims(isl.dim_type.in_, 0) for s in sets)
