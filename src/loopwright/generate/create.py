"""Algorithm 3 of paper 002: one for loop, or the single value it would have (5.3)."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from loopwright.generate.bounds import loop_header
from loopwright.generate.expressions import Place, piecewise_expression
from loopwright.generate.grafts import Graft, hoistable_guard, nest, shared_enforced
from loopwright.generate.scaling import scaled_iterator
from loopwright.generate.site import Executed, Site, restrict
from loopwright.generate.stock import Stock
from loopwright.generate.strides import Stride, detect_stride
from loopwright.loops.nodes import For, Let, Node
from loopwright.presburger.sets import (
    DIM,
    eliminate_inner,
    involves,
    local_domain,
    shared_constraints,
    substitution,
    union,
    value_map,
)

Next = Callable[[Site, Stock, Executed], list[Graft]]


def create(
    site: Site, stock: Stock, executed: Executed, bounds: isl.BasicSet, next_level: Next
) -> list[Graft]:
    """The part of the program that scans `bounds` at the current level."""
    executed = restrict(executed, bounds.to_set())
    if not executed:
        return []
    domain = eliminate_inner(union(relation.domain() for relation in executed), stock.level)
    bounds = bounds.intersect(shared_constraints(local_domain(domain.detect_equalities(), stock.level)))
    stride = detect_stride(domain, stock.level)
    value = _single_value(bounds, stride, stock)
    if stride is not None and value is None:
        scale = scaled_iterator(executed, stride)
        if scale is not None:
            return _scaled(site, stock, executed, bounds, scale, next_level)
    if value is not None and value.n_piece() == 1:
        return _eliminated(site, stock, executed, bounds, value.get_pieces()[0][1], next_level)
    simpler = bounds.to_set().gist(stock.known).get_basic_sets()
    tight = simpler[0] if len(simpler) == 1 else bounds
    return _loop(site, stock, executed, tight, domain, stride, value, next_level)


def _scaled(
    site: Site,
    stock: Stock,
    executed: Executed,
    bounds: isl.BasicSet,
    scale: isl.MultiAff,
    next_level: Next,
) -> list[Graft]:
    """The same piece with an iterator that counts the steps of the stride."""
    counted = tuple(relation.preimage_domain_multi_aff(scale) for relation in executed)
    steps = bounds.preimage_multi_aff(scale)
    return create(site, stock.substitute(scale), counted, steps, next_level)


def _single_value(bounds: isl.BasicSet, stride: Stride | None, stock: Stock) -> isl.PwAff | None:
    """The value of the current dimension as a function of the outer ones, if there is only one."""
    here = stock.known.intersect(bounds.to_set())
    if stride is not None:
        here = here.intersect(stride.constraint())
    values = value_map(here, stock.level)
    if not values.is_single_valued():
        return None
    # of the bounds that meet in one value the upper one leaves less to be tested
    value = values.as_pw_multi_aff() if values.plain_is_single_valued() else values.lexmax_pw_multi_aff()
    return value.gist(stock.known).coalesce().get_at(0)


def _eliminated(
    site: Site,
    stock: Stock,
    executed: Executed,
    bounds: isl.BasicSet,
    value: isl.Aff,
    next_level: Next,
) -> list[Graft]:
    """No loop: the value is put for the dimension in everything below."""
    plug = substitution(stock.space, stock.level, value)
    pending = bounds.to_set().preimage_multi_aff(plug)
    inside = stock.assume(None, pending).eliminate(value)
    executed = tuple(relation.preimage_domain_multi_aff(plug) for relation in executed)
    children = next_level(site, inside.enter(), executed)
    if not children:
        return []
    guard = _pending_guard(site, inside, shared_enforced(children, stock.level))
    return [child.guarded(guard) for child in children] if not guard.plain_is_universe() else children


def _pending_guard(site: Site, stock: Stock, enforced: isl.Set) -> isl.Set:
    """The pending conditions that neither outer nor, if the user wants so, inner nodes enforce."""
    guard = stock.pending
    if guard.plain_is_universe():
        return guard
    guard = guard.gist(stock.generated)
    if site.run.options.nested_bounds:
        guard = guard.gist(enforced)
    return guard


def _loop(
    site: Site,
    stock: Stock,
    executed: Executed,
    bounds: isl.BasicSet,
    domain: isl.Set,
    stride: Stride | None,
    value: isl.PwAff | None,
    next_level: Next,
) -> list[Graft]:
    """A for node, or for a single but piecewise value a `Let`."""
    level = stock.level
    on_level = bounds.drop_constraints_not_involving_dims(DIM, level, 1).to_set()
    generated = on_level.intersect(stride.constraint()) if stride else on_level
    pending = bounds.drop_constraints_involving_dims(DIM, level, 1).to_set()
    inside = stock.assume(generated, pending)
    children = next_level(site, inside.enter(), executed)
    if not children:
        return []
    enforced = shared_enforced(children, level)
    guard = _pending_guard(site, inside, enforced)
    guard = guard.intersect(hoistable_guard(children, inside.known, level))
    if stride or value:
        guard = guard.intersect(_implied(generated, value is not None, stride, level))
    if involves(guard, level):
        guard = guard.remove_divs_involving_dims(DIM, level, 1).drop_constraints_involving_dims(
            DIM, level, 1
        )
    guard = guard.gist(stock.generated).coalesce()

    here = stock.generated.intersect(guard)
    body = nest(children, Place(stock.names, here.intersect(generated)))
    place = Place(stock.names, here)
    node: Node
    if value is not None:
        node = Let(stock.names[level], piecewise_expression(value, place), body)
    else:
        header = loop_header(
            bounds, domain, stride, place, level, site.run.options.single_upper_bound
        )
        step = stride.step if stride else 1
        node = For(stock.names[level], header.start, header.test, step, body, site.parallel)
    scanned = generated.eliminate(DIM, level, 1).remove_unknown_divs()
    return [Graft(node, guard, enforced.intersect(scanned))]


def _implied(generated: isl.Set, degenerate: bool, stride: Stride | None, level: int) -> isl.Set:
    """Conditions the generated constraints imply but their loop does not test (example 5.6)."""
    source = generated if degenerate or stride is None else stride.constraint()
    return source.eliminate(DIM, level, 1).compute_divs()
