"""Shifted strides [Grosser2015, section 5.8]: statements with the same stride at different offsets.

Where the values t of the current dimension are t ≡ rᵢ (mod m) for statement i, the transformation
(…, t, …) -> (…, t − rᵢ, rᵢ, …) gives all statements the common stride m.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import gcd

import islpy as isl

from loopwright.generate.site import Executed, Site
from loopwright.generate.stock import Stock
from loopwright.model.schedule import AnyOrder, Band, Extension, Leaf, LoopType, Sequence, Tree
from loopwright.presburger.sets import DIM, IN, OUT


def align_shifts(site: Site, stock: Stock, executed: Executed) -> tuple[Stock, Executed]:
    """Insert the dimension of the rᵢ, if the statements have such strides."""
    if len(executed) == 1 or refers_to_dimensions(site.band):
        return stock, executed
    domains = [relation.domain() for relation in executed]
    if site.loop_type(stock) is LoopType.SEPARATE and any(_is_fixed(d, stock.level) for d in domains):
        return stock, executed  # separation gives a fixed statement a place of its own anyway
    shifts = _common_stride(domains, stock.level)
    if shifts is None:
        return stock, executed
    moved = tuple(_move(r, stock.level, shift) for r, shift in zip(executed, shifts, strict=True))
    return stock.split_level(), moved


def refers_to_dimensions(tree: Tree) -> bool:
    """Whether options or extensions in the tree name schedule dimensions as they are."""
    match tree:
        case Extension():
            return True
        case Band() if tree.isolate is not None:
            return True
        case Sequence(children) | AnyOrder(children):
            return any(refers_to_dimensions(child) for child in children)
        case Leaf():
            return False
        case _:
            return refers_to_dimensions(tree.child)


def _is_fixed(domain: isl.Set, level: int) -> bool:
    return bool(domain.plain_get_val_if_fixed(DIM, level).is_int())


def _common_stride(domains: list[isl.Set], level: int) -> list[int] | None:
    """The residues rᵢ modulo the common stride; None if there is none or all are equal."""
    moving = [k for k, domain in enumerate(domains) if not _is_fixed(domain, level)]
    if not moving:
        return None
    modulus = 0
    residues: list[int] = []
    for domain in domains:
        found = _differences(domains[moving[0]], domain, level)
        if found is None or found[0] <= 1:
            return None
        modulus = gcd(modulus, found[0])
        residues.append(found[1])
    modulus = _agreed_by_all(domains, residues, modulus, level)
    if modulus == 1:
        return None
    base = residues[_first_to_start(domains, moving, level)]
    reduced = [(residue - base) % modulus for residue in residues]
    return None if len(set(reduced)) == 1 else reduced


def _agreed_by_all(domains: list[isl.Set], residues: list[int], modulus: int, level: int) -> int:
    """The greatest divisor m of `modulus` with tⱼ − tᵢ ≡ rⱼ − rᵢ (mod m) for every two statements.

    The residues come from comparing all statements with one; where that one has no instance, the
    others are compared with each other.
    """
    for (one, first), (two, second) in combinations_with_replacement(enumerate(domains), 2):
        found = _differences(first, second, level) if modulus > 1 else None
        if found is not None:
            step, residue = found
            modulus = gcd(modulus, step, residue - (residues[two] - residues[one]))
    return modulus


def _first_to_start(domains: list[isl.Set], moving: list[int], level: int) -> int:
    """Of the statements whose value is not fixed, the one that starts first if that is a constant.

    Then the others, moved back by their residues, start no earlier than it does.
    """
    starts = [(domains[k].dim_min_val(level), k) for k in moving]
    constant = [(start.to_python(), k) for start, k in starts if start.is_int()]
    return min(constant)[1] if constant else moving[0]


def _differences(first: isl.Set, second: isl.Set, level: int) -> tuple[int, int] | None:
    """(m, r) with second[level] − first[level] = m·x + r where the outer dimensions are equal.

    None if they are nowhere equal.
    """
    pairs = isl.Map.from_domain_and_range(first, second)
    for outer in range(level):
        pairs = pairs.equate(IN, outer, OUT, outer)
    delta = pairs.deltas()
    if delta.is_empty():
        return None
    step, residue = delta.dim_residue_class_val(level)
    return step.to_python(), residue.to_python()


def _move(relation: isl.Map, level: int, shift: int) -> isl.Map:
    """{ [.., t − r, r, ..] -> s : [.., t, ..] -> s in relation }."""
    opened = relation.insert_dims(IN, level + 1, 1)
    space = opened.get_space().domain()
    identity = isl.MultiAff.identity_on_domain_space(space)
    amount = isl.Val.int_from_si(relation.get_ctx(), shift)
    moved = identity.set_aff(level, identity.get_aff(level).add_constant_val(amount))
    return opened.preimage_domain_multi_aff(moved).fix_val(IN, level + 1, amount)
