"""The whole program for a schedule."""

from __future__ import annotations

from itertools import count

import islpy as isl

from loopwright.errors import InternalError
from loopwright.generate.expressions import Place
from loopwright.generate.grafts import nest
from loopwright.generate.options import Options
from loopwright.generate.site import Executed, Run
from loopwright.generate.stock import Stock, initial_stock
from loopwright.generate.tree import generate_tree
from loopwright.loops.nodes import EMPTY, Node
from loopwright.model.schedule import Schedule


def generate(schedule: Schedule, options: Options | None = None) -> Node:
    """The loops that run the instances of `schedule` in its order."""
    options = options or Options()
    run = Run(options, schedule.arguments, False, "c", count())
    stock = initial_stock(schedule.context)
    try:
        grafts = generate_tree(run, schedule.tree, stock, _executed(schedule, stock))
        return nest(grafts, Place((), stock.generated)) if grafts else EMPTY
    except isl.Error as error:
        raise InternalError(f"isl failed while generating loops: {error}") from error


def _executed(schedule: Schedule, stock: Stock) -> Executed:
    """{ [] -> s : s in the domain }, one map a statement (4.1)."""
    domain = schedule.domain.intersect_params(stock.known.params())
    sets: list[isl.Set] = []
    domain.foreach_set(sets.append)
    sets.sort(key=lambda s: (s.get_tuple_name() or "", s.n_dim()))
    return tuple(isl.Map.from_range(s.coalesce()).add_dims(isl.dim_type.in_, 0) for s in sets)
