"""Strides [Grosser2015, section 5.3]: values of a schedule dimension that are equal modulo a constant."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopwright.presburger.sets import DIM, eliminate_inner


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
        return isl.Val.int_from_si(self.offset.get_ctx(), self.step)


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
