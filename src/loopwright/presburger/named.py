"""Sets and affine expressions over names.

While a program is being read, iterators and parameters are all names: a set is a set of
assignments to names (isl's parameters), an expression a piecewise quasi-affine function of
them.  `tuple_set` and `tuple_map` turn some names into the dimensions of a tuple at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

PARAM = isl.dim_type.param
DIM = isl.dim_type.set
IN = isl.dim_type.in_
OUT = isl.dim_type.out


def _space(*names: str) -> isl.Space:
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(names))
    for position, name in enumerate(names):
        space = space.set_dim_name(PARAM, position, name)
    return space


def everywhere() -> isl.Set:
    """The set of all assignments."""
    return isl.Set.universe(_space())


def whole(value: int) -> isl.Val:
    """An integer of any size, which isl takes as text."""
    return isl.Val(str(value))


def number(value: int) -> isl.PwAff:
    return isl.PwAff.from_aff(isl.Aff.val_on_domain_space(_space(), whole(value)))


def variable(name: str) -> isl.PwAff:
    local = isl.LocalSpace.from_space(_space(name))
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, PARAM, 0))


def constant_value(expression: isl.PwAff) -> int | None:
    """The value of an expression that is the same integer everywhere, else None."""
    pieces = expression.get_pieces()
    if len(pieces) != 1:
        return None
    domain, function = pieces[0]
    if not domain.plain_is_universe() or not function.is_cst():
        return None
    value = function.get_constant_val()
    return int(value.to_python()) if value.is_int() else None


def select(test: isl.Set, then: isl.PwAff, orelse: isl.PwAff) -> isl.PwAff:
    """`test ? then : orelse`."""
    return then.intersect_params(test).union_add(orelse.intersect_params(test.complement())).coalesce()


def names_of(domain: isl.Set) -> list[str]:
    """The names `domain` really constrains, in isl's order."""
    return [
        str(domain.get_dim_name(PARAM, position))
        for position in range(domain.dim(PARAM))
        if domain.involves_dims(PARAM, position, 1)
    ]


def tuple_set(domain: isl.Set, name: str, dimensions: Sequence[str]) -> isl.Set:
    """{ name[dimensions] : domain }, the other names staying parameters."""
    result = isl.Set.from_params(domain)
    for position, dimension in enumerate(dimensions):
        found = result.find_dim_by_name(PARAM, dimension)
        if found < 0:
            result = result.insert_dims(DIM, position, 1)
        else:
            result = result.move_dims(DIM, position, PARAM, found, 1)
        result = result.set_dim_name(DIM, position, dimension)
    return result.set_tuple_name(name)


def tuple_map(
    relation: isl.Set, source: str, dimensions: Sequence[str], target: str | None, values: Sequence[str]
) -> isl.Map:
    """{ source[dimensions] -> target[values] : relation }, the names `values` losing their names."""
    result = isl.Map.from_domain(tuple_set(relation, source, dimensions))
    result = result.add_dims(OUT, len(values))
    for position, value in enumerate(values):
        found = result.find_dim_by_name(PARAM, value)
        if found >= 0:
            result = result.equate(PARAM, found, OUT, position).project_out(PARAM, found, 1)
    return result if target is None else result.set_tuple_name(OUT, target)


def parameter_space(names: Sequence[str]) -> isl.Space:
    """The space with exactly these parameters, in this order."""
    return _space(*names)
