"""[Grosser2015, algorithm 3]: one for loop, or the single value it would have (section 5.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import islpy as isl

from loopwright.generate.bounds import loop_header
from loopwright.generate.branches import nest
from loopwright.generate.expressions import Place
from loopwright.generate.grafts import Graft, hoistable_guard, independent, most_copies, shared_enforced
from loopwright.generate.piecewise import piecewise_expression
from loopwright.generate.scaling import scaled_iterator
from loopwright.generate.site import Executed, Site, restrict
from loopwright.generate.stock import Stock
from loopwright.generate.strides import Stride, detect_stride
from loopwright.loops.nodes import For, Let, Node
from loopwright.model.annotations import Parallel, Unrolled
from loopwright.presburger.sets import (
    DIM,
    eliminate_inner,
    has_upper_bound,
    local_domain,
    shared_constraints,
    substitution,
    union,
    value_map,
)

Next = Callable[[Site, Stock, Executed], list[Graft]]


@dataclass(frozen=True)
class Piece:
    """One piece of the current dimension, with all that decides what becomes of it.

    `bounds`  the constraints loop bounds are made of, an over-approximation of
    `domain`  what is executed, inner dimensions projected out;
    `value`   the only value the dimension has, where there is only one.
    """

    site: Site
    stock: Stock
    executed: Executed
    bounds: isl.BasicSet
    domain: isl.Set
    stride: Stride | None
    value: isl.PwAff | None
    next_level: Next


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
    piece = Piece(site, stock, executed, bounds, domain, stride, value, next_level)
    if value is not None and value.n_piece() == 1:
        return _eliminated(piece, value.get_pieces()[0][1])
    scale = scaled_iterator(executed, stride) if stride is not None and value is None else None
    return _loop(piece) if scale is None else _scaled(piece, scale)


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


def _scaled(piece: Piece, scale: isl.MultiAff) -> list[Graft]:
    """The same piece with an iterator that counts the steps of the stride."""
    counted = tuple(relation.preimage_domain_multi_aff(scale) for relation in piece.executed)
    steps = piece.bounds.preimage_multi_aff(scale)
    return create(piece.site, piece.stock.substitute(scale), counted, steps, piece.next_level)


def _eliminated(piece: Piece, value: isl.Aff) -> list[Graft]:
    """No loop: the value is put for the dimension in everything below."""
    stock = piece.stock
    plug = substitution(stock.space, stock.level, value)
    pending = piece.bounds.to_set().preimage_multi_aff(plug)
    inside = stock.assume(None, pending).eliminate(value)
    executed = tuple(relation.preimage_domain_multi_aff(plug) for relation in piece.executed)
    children = piece.next_level(piece.site, inside.enter(), executed)
    if not children:
        return []
    guard = _pending_guard(piece.site, inside, shared_enforced(children, stock.level))
    return children if guard.plain_is_universe() else [child.guarded(guard) for child in children]


def _loop(piece: Piece) -> list[Graft]:
    """A for node, or for a single but piecewise value a `Let`.

    Of the constraints in `bounds` those on the current dimension are enforced by the loop, and so
    is the stride; the others are pending until the body shows which of them it enforces itself.
    """
    stock, level, stride = piece.stock, piece.stock.level, piece.stride
    simpler = piece.bounds.to_set().gist(stock.known).get_basic_sets()
    bounds = simpler[0] if len(simpler) == 1 else piece.bounds
    generated = bounds.drop_constraints_not_involving_dims(DIM, level, 1).to_set()
    if stride is not None:
        generated = generated.intersect(stride.constraint())
    pending = bounds.drop_constraints_involving_dims(DIM, level, 1).to_set()
    inside = stock.assume(generated, pending)
    children = piece.next_level(piece.site, inside.enter(), piece.executed)
    if not children:
        return []
    enforced = shared_enforced(children, level)
    guard = _loop_guard(piece, children, inside, generated, enforced)
    place = Place(stock.names, stock.generated.intersect(guard))
    body = nest(children, place.where(generated))
    node = _node(piece, bounds, body, place, most_copies(children))
    scanned = generated.eliminate(DIM, level, 1).remove_unknown_divs()
    copies = 1 if isinstance(node, For) else most_copies(children)
    return [Graft(node, guard, enforced.intersect(scanned), copies)]


def _loop_guard(
    piece: Piece, children: list[Graft], inside: Stock, generated: isl.Set, enforced: isl.Set
) -> isl.Set:
    """What has to hold around the loop: pending, hoisted and implied conditions together."""
    level = piece.stock.level
    guard = _pending_guard(piece.site, inside, enforced)
    guard = guard.intersect(hoistable_guard(children, inside.known, level))
    if not has_upper_bound(piece.domain, level):
        # an endless loop is not left where inner ones are empty: there must be something to execute
        guard = guard.intersect(_implied(piece.domain, level))
    if piece.value is not None:
        guard = guard.intersect(_implied(generated, level))
    elif piece.stride is not None:
        guard = guard.intersect(_implied(piece.stride.constraint(), level))
    return independent(guard, level).gist(piece.stock.generated).coalesce()


def _pending_guard(site: Site, stock: Stock, enforced: isl.Set) -> isl.Set:
    """The pending conditions that neither outer nor, if the user wants so, inner nodes enforce."""
    guard = stock.pending
    if guard.plain_is_universe():
        return guard
    guard = guard.gist(stock.generated)
    return guard.gist(enforced) if site.run.options.nested_bounds else guard


def _implied(condition: isl.Set, level: int) -> isl.Set:
    """What a condition on the current dimension implies for outer ones, and no loop tests.

    [Grosser2015, example 5.6]
    """
    return condition.eliminate(DIM, level, 1).compute_divs()


def _node(piece: Piece, bounds: isl.BasicSet, body: Node, place: Place, copies: int) -> Node:
    """The loop around `body`, evaluated at `place`, with what is said of it."""
    name, dimension = place.names[piece.stock.level], piece.stock.dimension
    if piece.value is not None:
        return Let(name, piecewise_expression(piece.value, place), body, dimension)
    single = piece.site.run.options.single_upper_bound
    header = loop_header(bounds, piece.domain, piece.stride, place, piece.stock.level, single)
    step = piece.stride.step if piece.stride else 1
    said = (Parallel(),) if piece.site.unordered else piece.stock.said()
    unrolled = (Unrolled(copies),) if copies > 1 else ()
    return For(name, header.start, header.test, step, body, dimension, said + unrolled)
