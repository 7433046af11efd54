"""Components (002, 5.7): groups of statements whose instances need not be interleaved."""

from __future__ import annotations

import islpy as isl

from loopwright.generate.ordering import sorted_components
from loopwright.generate.site import Executed, Site
from loopwright.generate.stock import Stock
from loopwright.model.schedule import (
    AnyOrder,
    Band,
    Context,
    Expansion,
    Extension,
    Filter,
    Guard,
    Leaf,
    Mark,
    Sequence,
    Tree,
)
from loopwright.presburger.sets import DIM


def components(site: Site, stock: Stock, executed: Executed) -> list[Executed]:
    """The statements in groups, in an order that the schedule from the current level on allows.

    There is an edge from statement a to statement b if some instance of b is scheduled after some
    instance of a with the same values of the outer dimensions; the groups are the strongly
    connected components.
    """
    if len(executed) == 1:
        return [executed]
    domains = [relation.domain() for relation in executed]
    fixed = [_fixed_values(domain, stock.level) for domain in domains]
    edges = {
        (a, b)
        for a in range(len(executed))
        for b in range(len(executed))
        if a != b and _scheduled_after(site, stock, executed, domains, fixed, a, b)
    }
    return [
        tuple(executed[k] for k in component)
        for component in sorted_components(len(executed), edges)
    ]


def _fixed_values(domain: isl.Set, level: int) -> list[int | None]:
    """The dimensions from `level` on that obviously have one constant value."""
    values = (domain.plain_get_val_if_fixed(DIM, k) for k in range(level, domain.dim(DIM)))
    return [value.to_python() if value.is_int() else None for value in values]


def _scheduled_after(
    site: Site,
    stock: Stock,
    executed: Executed,
    domains: list[isl.Set],
    fixed: list[list[int | None]],
    a: int,
    b: int,
) -> bool:
    """Whether some instance of b comes after some instance of a."""
    for position in range(stock.level, len(stock.names)):
        value_a, value_b = fixed[a][position - stock.level], fixed[b][position - stock.level]
        if value_a is not None and value_b is not None and value_a != value_b:
            return value_b > value_a
        follows = domains[b].follows_at(domains[a], position)
        if follows > 0:
            return True
        if follows < 0:
            return False
    return follows_in_tree(site.child, executed[a], executed[b])


def follows_in_tree(tree: Tree, a: isl.Map, b: isl.Map) -> bool:
    """Whether `tree` may order an instance of b after one of a at the same schedule point."""
    match tree:
        case Band():
            before, later = extend_by_band(a, tree), extend_by_band(b, tree)
            first = a.dim(isl.dim_type.in_)
            domain_a, domain_b = before.domain(), later.domain()
            for position in range(first, first + len(tree.members)):
                follows = domain_b.follows_at(domain_a, position)
                if follows != 0:
                    return follows > 0
            return follows_in_tree(tree.child, before, later)
        case Sequence(children):
            return _follows_among(children, a, b, ordered=True)
        case AnyOrder(children):
            return _follows_among(children, a, b, ordered=False)
        case Filter():
            return follows_in_tree(tree.child, in_filter(a, tree.filter), in_filter(b, tree.filter))
        case Expansion():
            return any(
                follows_in_tree(tree.child, first, second)
                for first in expand(a, tree.expansion)
                for second in expand(b, tree.expansion)
            )
        case Context() | Guard() | Mark() | Extension():
            return follows_in_tree(tree.child, a, b)
        case Leaf():
            return False


def _follows_among(children: tuple[Filter, ...], a: isl.Map, b: isl.Map, *, ordered: bool) -> bool:
    parts_a = [in_filter(a, child.filter) for child in children]
    parts_b = [in_filter(b, child.filter) for child in children]
    for index_b, part_b in enumerate(parts_b):
        for index_a, part_a in enumerate(parts_a[: index_b + 1]):
            if index_a < index_b and not ordered:
                continue
            if part_a.domain().is_disjoint(part_b.domain()):
                continue
            if index_a < index_b or follows_in_tree(children[index_b].child, part_a, part_b):
                return True
    return False


def extend_by_band(relation: isl.Map, band: Band) -> isl.Map:
    """{ [outer, t] -> s : [outer] -> s in relation, s -> t in the band's schedule }."""
    schedule = _part(band.schedule, relation.get_space().range(), len(band.members))
    return relation.flat_domain_product(schedule.reverse())


def _part(schedule: isl.UnionMap, instances: isl.Space, count: int) -> isl.Map:
    """The map of `schedule` on one statement; empty if it has none."""
    target = instances.align_params(schedule.get_space()).from_domain().add_dims(isl.dim_type.out, count)
    return schedule.extract_map(target)


def in_filter(relation: isl.Map, instances: isl.UnionSet) -> isl.Map:
    """The instances of `relation` that pass a filter."""
    space = relation.get_space().range().align_params(instances.get_space())
    return relation.intersect_range(instances.extract_set(space))


def expand(relation: isl.Map, expansion: isl.UnionMap) -> list[isl.Map]:
    """The relation with its instances replaced by those `expansion` maps them to."""
    image = isl.UnionMap.from_map(relation).apply_range(expansion)
    return [m for m in maps_of(image) if not m.is_empty()]


def maps_of(relation: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union map in an order that does not depend on hashing."""
    maps: list[isl.Map] = []
    relation.foreach_map(maps.append)
    return sorted(maps, key=lambda m: str(m.get_space()))
