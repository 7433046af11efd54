"""Loops over sets of cells, written by the project's own generator."""

from __future__ import annotations

import islpy as isl

from loopwright.emit.c import Style, program_text
from loopwright.emit.expressions import expression_to_c
from loopwright.generate.program import generate
from loopwright.loops.nodes import Call
from loopwright.model.schedule import Band, Leaf, Member, Schedule
from loopwright.presburger.sets import DIM, OUT


def scan(cells: isl.Set, macro: str) -> list[str]:
    """Lines of C that call `macro` with every point of a set once, in lexicographic order."""
    named = cells.set_tuple_name(macro)
    order = isl.Map.identity(named.get_space().map_from_set()).reset_tuple_id(OUT)
    band = Band(isl.UnionMap.from_map(order), (Member(),) * cells.dim(DIM), Leaf())
    schedule = Schedule(isl.UnionSet.from_set(named), isl.Set("{ : }"), band)
    return program_text(generate(schedule), Style("long", call=_called)).splitlines()


def _called(call: Call) -> list[str]:
    return [f"{call.name}({', '.join(f'({expression_to_c(argument)})' for argument in call.arguments)});"]
