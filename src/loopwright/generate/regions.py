"""The options of a flat schedule: regions of schedule points that are treated in their own ways.

`[t0, ..] -> separate[d]` names the points at which dimension d is to be separated, and so do `atomic` and
`unroll`; `separation_class[[d] -> [k]]` is the older way to isolate a part of it [Grosser2015, sections 5.4
to 5.6].
"""

from __future__ import annotations

import islpy as isl

from loopwright.generate.site import Site
from loopwright.generate.stock import Stock
from loopwright.presburger.sets import local_domain


def options_by_name(options: isl.UnionMap | None) -> dict[str, isl.UnionMap]:
    """The options with the same target together: `separate`, `atomic`, `unroll`, `separation_class`."""
    maps: list[isl.Map] = []
    if options is not None:
        options.foreach_map(maps.append)
    found: dict[str, isl.UnionMap] = {}
    for one in maps:
        name = one.get_tuple_name(isl.dim_type.out)
        found[name] = found[name].union(one) if name in found else isl.UnionMap.from_map(one)
    return found


def option_region(site: Site, stock: Stock, kind: str) -> isl.Set | None:
    """The schedule points that carry option `kind` for the current dimension."""
    return _region(site, stock, kind, f"{kind}[{stock.origins[stock.level]}]")


def class_region(site: Site, stock: Stock) -> isl.Set | None:
    """The schedule points that are in a separation class of the current dimension."""
    name = "separation_class"
    return _region(site, stock, name, f"{name}[[{stock.origins[stock.level]}] -> [k]]")


def _region(site: Site, stock: Stock, name: str, target: str) -> isl.Set | None:
    """What the options map to `target`, as a set over the iterators, inner dimensions forgotten."""
    options = site.options.get(name)
    if options is None or stock.origins[stock.level] is None:
        return None
    points = options.intersect_range(isl.UnionSet(f"{{ {target} }}", context=options.get_ctx())).domain()
    if points.is_empty():
        return None
    space = stock.times.get_space().range().align_params(points.get_space())
    region = points.extract_set(space).preimage_multi_aff(stock.times)
    return None if region.is_empty() else local_domain(region, stock.level)
