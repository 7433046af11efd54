"""Strides: values of a schedule dimension that are equal modulo a constant.

A loop counts by its stride [Grosser2015, section 5.3].

Scaled iterators.  A schedule gives a relative order, so the iterator need not be the schedule dimension
itself [section 4.2].  Where every statement has an equality t = s·(its own iterators and parameters) + o,
substituting t = s·c + o removes the division from the body and the step from the loop:

    for (c = 0; c <= 2 * n; c += 2) S(c / 2);   -->   for (c = 0; c <= n; c += 1) S(c);

Shifted strides [section 5.8].  Where the values t of the current dimension are t ≡ rᵢ (mod m) for statement
i, the transformation  (…, t, …) -> (…, t − rᵢ, rᵢ, …)  gives all statements the common stride m.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import gcd

import islpy as isl

from loopwright.generate.context import Executed, GenerationContext
from loopwright.lazy_dataclass import dataclass
from loopwright.model.schedule import AnyOrder, Band, Extension, Leaf, LoopType, Sequence, Tree
from loopwright.presburger.equalities import affine_hull
from loopwright.presburger.named import whole
from loopwright.presburger.sets import DIM, DIV, IN, OUT, PARAM, eliminate_inner, substitution


@dataclass(frozen=True)
class Stride:
    """The current dimension i satisfies i = offset + step·x for an integer x, and step > 1."""

    step: int
    offset: isl.Aff
    level: int

    def constraint(self) -> isl.Set:
        """{ i : (i − offset) mod step = 0 }."""
        variable = isl.Aff.var_on_domain(self.offset.get_domain_local_space(), DIM, self.level)
        return variable.sub(self.offset).mod_val(self._step()).zero_basic_set().to_set()

    def align_up(self, bound: isl.Aff) -> isl.Aff:
        """offset + step·⌈(bound − offset)/step⌉, the first value from `bound` on."""
        steps = bound.sub(self.offset).scale_down_val(self._step()).ceil()
        return steps.scale_val(self._step()).add(self.offset)

    def _step(self) -> isl.Val:
        return whole(self.step)


def detect_stride(domain: isl.Set, level: int) -> Stride | None:
    """The stride of `domain` at `level`, merged over all its equalities (15-17).

    isl merges two strides wrongly when an offset contains a division of its own: a stride that
    `domain` does not satisfy is not used, and the condition is tested inside the loop.
    """
    values = eliminate_inner(domain, level)
    info = values.get_stride_info(level)
    step = info.get_stride().to_python()
    if step <= 1:
        return None
    stride = Stride(step, info.get_offset(), level)
    return stride if values.is_subset(stride.constraint()) else None


def scaled_iterator(executed: Executed, stride: Stride) -> isl.MultiAff | None:
    """The substitution t = s·c + o, if it simplifies every statement."""
    if not stride.offset.is_cst():
        return None
    offsets = [_step_offset(relation, stride) for relation in executed]
    if offsets[0] is None or None in offsets:
        return None
    space = stride.offset.get_domain_space()
    variable = isl.MultiAff.identity_on_domain_space(space).get_aff(stride.level)
    step = whole(stride.step)
    # the first statement's own offset makes the iterator its own as well
    offset = whole(offsets[0])
    return substitution(space, stride.level, variable.scale_val(step).add_constant_val(offset))


def _step_offset(relation: isl.Map, stride: Stride) -> int | None:
    """o if t appears as s·(...) + o with the statement's iterators, and nowhere else."""
    offset: int | None = None
    for constraint in affine_hull(relation).get_constraints():
        own = constraint.get_coefficient_val(IN, stride.level).to_python()
        if own == 0 or not constraint.involves_dims(OUT, 0, constraint.dim(OUT)):
            continue
        if abs(own) != 1 or not _others_divisible(constraint, stride):
            return None
        offset = -own * constraint.get_constant_val().to_python()
    return offset


def _others_divisible(constraint: isl.Constraint, stride: Stride) -> bool:
    """Whether all coefficients but that of t are multiples of the step."""
    return all(
        constraint.get_coefficient_val(kind, k).to_python() % stride.step == 0
        for kind in (PARAM, IN, OUT, DIV)
        for k in range(constraint.dim(kind))
        if (kind, k) != (IN, stride.level)
    )


def align_shifts(context: GenerationContext, executed: Executed) -> tuple[GenerationContext, Executed]:
    """Insert the dimension of the rᵢ, if the statements have such strides."""
    if len(executed) == 1 or refers_to_dimensions(context.site.band):
        return context, executed
    domains = [relation.domain() for relation in executed]
    if context.loop_type is LoopType.SEPARATE and any(_is_fixed(d, context.level) for d in domains):
        return context, executed  # separation separates a fixed statement anyway
    shifts = _common_stride(domains, context.level)
    if shifts is None:
        return context, executed
    moved = tuple(_move(r, context.level, shift) for r, shift in zip(executed, shifts, strict=True))
    return context.split_level(), moved


def refers_to_dimensions(tree: Tree) -> bool:
    """Whether options or extensions in the tree refer to the original schedule dimensions."""
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

    The residues come from comparing all statements with one; if that one has no instance, the rest are
    compared pairwise.
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
    amount = whole(shift)
    moved = identity.set_aff(level, identity.get_aff(level).add_constant_val(amount))
    return opened.preimage_domain_multi_aff(moved).fix_val(IN, level + 1, amount)
