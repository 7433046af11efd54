"""Which names an affine expression may use, and what they stand for."""

from __future__ import annotations

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import first
from loopwright.presburger.named import space_of


@dataclass(frozen=True)
class FormulaScope:
    """Parameters and the dimensions of an unnamed tuple, by name."""

    parameters: tuple[str, ...]
    dimensions: tuple[str, ...] = ()

    @property
    def space(self) -> isl.Space:
        return space_of(self.parameters, self.dimensions)

    def knows(self, name: str) -> bool:
        return name in self.dimensions or name in self.parameters

    def variable(self, name: str) -> isl.PwAff:
        """The value of a name this scope knows."""
        local = isl.LocalSpace.from_space(self.space)
        if name in self.dimensions:
            aff = isl.Aff.var_on_domain(local, isl.dim_type.set, self.dimensions.index(name))
        else:
            aff = isl.Aff.var_on_domain(local, isl.dim_type.param, self.parameters.index(name))
        return isl.PwAff.from_aff(aff)

    def constant(self, value: int) -> isl.PwAff:
        number = isl.Val.read_from_str(isl.DEFAULT_CONTEXT, str(value))
        return isl.PwAff.from_aff(isl.Aff.val_on_domain(isl.LocalSpace.from_space(self.space), number))

    def truth(self, value: bool) -> isl.Set:
        return isl.Set.universe(self.space) if value else isl.Set.empty(self.space)

    def with_dimensions(self, names: tuple[str, ...]) -> FormulaScope:
        return FormulaScope(self.parameters, self.dimensions + names)

    def without(self, inner: isl.Set) -> isl.Set:
        """`exists` of all dimensions that `inner` has beyond this scope's."""
        return first(inner, isl.dim_type.set, len(self.dimensions))
