"""The options of a band in a schedule tree are isl's own, and fit the band.

They are `atomic[d]`, `separate[d]`, `unroll[d]`, the same after `isolate[] ->`, and
`isolate[[outer dimensions] -> [the band's]]`.  isl passes over any other in silence.
"""

from __future__ import annotations

import islpy as isl

from loopwright.read.isl_flat import is_loop_option, tuple_name
from loopwright.read.isl_tree_text import option_error
from loopwright.source import Source

HINT = "options are atomic[d], separate[d], unroll[d], isolate[] -> unroll[d] and isolate[[outer] -> [inner]]"


def check_band_options(source: Source, node: isl.ScheduleNode) -> None:
    """Refuse options of the band `node` that mean nothing."""
    found: list[isl.Set] = []
    node.band_get_ast_build_options().foreach_set(found.append)
    for option in found:
        _check(source, node, option.get_space())


def _check(source: Source, node: isl.ScheduleNode, space: isl.Space) -> None:
    name = tuple_name(space)
    if not space.is_wrapping():
        if not is_loop_option(space):
            raise option_error(source, name, f"unknown option {space}", HINT)
        return
    inner = space.unwrap()
    if name == "isolate":
        wanted = node.get_schedule_depth(), node.band_n_member()
        if (inner.dim(isl.dim_type.in_), inner.dim(isl.dim_type.out)) != wanted:
            message = f"isolate is about {_counted(inner)} here, not {wanted[0]} outer and {wanted[1]} inner"
            raise option_error(source, name, message, HINT)
    elif tuple_name(inner.domain()) != "isolate" or not is_loop_option(inner.range()):
        raise option_error(source, name or tuple_name(inner.range()), f"unknown option {space}", HINT)


def _counted(space: isl.Space) -> str:
    return f"{space.dim(isl.dim_type.in_)} outer and {space.dim(isl.dim_type.out)} inner dimensions"
