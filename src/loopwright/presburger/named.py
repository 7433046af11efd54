"""Sets and affine expressions over names, and the parameters of any set or map, which are names.

While a program is being read, iterators and parameters are all names: a set is a set of
assignments to names (isl's parameters), an expression a piecewise quasi-affine function of
them.  `tuple_set` and `tuple_map` turn some names into the dimensions of a tuple at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

import islpy as isl

from loopwright.presburger.sets import DIM, IN, OUT, PARAM

Item = TypeVar("Item", isl.Set, isl.Map, isl.BasicMap)
Named: TypeAlias = isl.Space | isl.Set | isl.BasicSet | isl.Map | isl.BasicMap | isl.Aff | isl.PwAff

COMPARED: Mapping[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set, "<=": isl.PwAff.le_set, ">": isl.PwAff.gt_set, ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set, "!=": isl.PwAff.ne_set,
}  # fmt: skip
"""Where a comparison holds, by the operator of C."""


def space_of(parameters: Sequence[str], dimensions: Sequence[str] = ()) -> isl.Space:
    """The space of sets with exactly these parameters and dimensions, in this order."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(parameters), len(dimensions))
    for kind, names in ((PARAM, parameters), (DIM, dimensions)):
        for k, name in enumerate(names):
            space = space.set_dim_name(kind, k, name)
    return space


def parameter_space(names: Sequence[str]) -> isl.Space:
    """The space of conditions on exactly these parameters, in this order."""
    return space_of(names).params()


def row_length(text: str) -> isl.PwAff:
    """`n`, `3 * n` or `2 * (n + 1)`: the length of an array's rows, as a program names it."""
    names = tuple(dict.fromkeys(_NAME.findall(text)))
    found = isl.PwAff(f"[{', '.join(_aliases(names))}] -> {{ [({aliased(text, names)})] }}")
    for k, name in enumerate(names):
        found = found.set_dim_id(PARAM, k, isl.Id(name))
    return found


def points_where(parameters: Sequence[str], tuple_: str, names: Sequence[str], condition: str) -> isl.Set:
    """{ tuple_[names] : condition }, where isl would read some names as words of its own, such as `min`.

    The condition is in the words of C: a name may be called `and`, `or` or `not`.
    """
    return values_where(parameters, tuple_, names, ("", ()), condition).domain()


def values_where(
    parameters: Sequence[str],
    tuple_: str,
    names: Sequence[str],
    value: tuple[str, Sequence[str]],
    condition: str,
) -> isl.Map:
    """{ tuple_[names] -> value : condition }, in the same words; the value is a tuple of expressions."""
    every = (*parameters, *names)
    listed = _aliases(every)
    own, point = ", ".join(listed[: len(parameters)]), ", ".join(listed[len(parameters) :])
    target, written = value[0], aliased(", ".join(value[1]), every)
    tested = f" : {aliased(condition, every)}" if condition else ""
    found = isl.Map(f"[{own}] -> {{ [{point}] -> [{written}]{tested} }}")
    for kind, these in ((PARAM, parameters), (IN, names)):
        for k, name in enumerate(these):
            found = found.set_dim_name(kind, k, name)
    for kind, name in ((IN, tuple_), (OUT, target)):
        found = found.set_tuple_name(kind, name) if name else found
    return found


_NAME = re.compile(r"[A-Za-z_]\w*")


def _aliases(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"_{k}_" for k, _ in enumerate(names))


def aliased(text: str, names: Sequence[str]) -> str:
    """A text with other words for the names."""
    words = dict(zip(names, _aliases(names), strict=True))
    return _NAME.sub(lambda found: words.get(found[0], found[0]), text)


def everywhere() -> isl.Set:
    """The set of all assignments."""
    return isl.Set.universe(parameter_space(()))


def whole(value: int) -> isl.Val:
    """An integer of any size, which isl takes as text."""
    return isl.Val(str(value))


@lru_cache(maxsize=1024)
def number(value: int) -> isl.PwAff:
    return isl.PwAff.from_aff(isl.Aff.val_on_domain_space(parameter_space(()), whole(value)))


@lru_cache(maxsize=1024)
def variable(name: str) -> isl.PwAff:
    local = isl.LocalSpace.from_space(parameter_space((name,)))
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


def parameter_names(item: Named) -> tuple[str, ...]:
    """All parameters, in isl's order."""
    return tuple(str(item.get_dim_name(PARAM, k)) for k in range(item.dim(PARAM)))


def names_of(item: isl.Set | isl.Map | isl.PwAff) -> list[str]:
    """The parameters that `item` depends on, in isl's order."""
    return [name for k, name in enumerate(parameter_names(item)) if item.involves_dims(PARAM, k, 1)]


def at_parameters(item: Item, values: Mapping[str, int]) -> Item:
    """The part of `item` for these values of its parameters; names that it does not have do not count."""
    for name, value in values.items():
        found = item.find_dim_by_name(PARAM, name)
        if found >= 0:
            item = item.fix_val(PARAM, found, whole(value))
    return item


def parameter_values(point: isl.Point) -> dict[str, int]:
    """The values that the parameters have at a point."""
    names = parameter_names(point.get_space())
    return {name: int(point.get_coordinate_val(PARAM, k).to_python()) for k, name in enumerate(names)}


def fixed_parameters(item: isl.Set) -> dict[str, int]:
    """The parameters that have one value only, where isl sees it in the constraints."""
    values = ((name, item.plain_get_val_if_fixed(PARAM, k)) for k, name in enumerate(parameter_names(item)))
    return {name: int(value.to_python()) for name, value in values if value.is_int()}


def without_parameters(item: Item, names: Iterable[str] | None = None) -> Item:
    """{ item : for some value of the parameters `names` }, or of all parameters."""
    if names is None:
        return item.project_out(PARAM, 0, item.dim(PARAM))
    for name in names:
        found = item.find_dim_by_name(PARAM, name)
        if found >= 0:
            item = item.project_out(PARAM, found, 1)
    return item


def onwards(values: isl.Set, name: str, *, up: bool) -> isl.Set:
    """{ x : for some x' <= x (x' >= x, if not up) as the value of `name` }, the other names fixed."""
    line = isl.Set.from_params(values).move_dims(DIM, 0, PARAM, values.find_dim_by_name(PARAM, name), 1)
    order = isl.Map.universe(line.get_space().map_from_set())
    order = order.order_le(IN, 0, OUT, 0) if up else order.order_ge(IN, 0, OUT, 0)
    result = line.apply(order).set_dim_name(DIM, 0, name)
    return result.move_dims(PARAM, result.dim(PARAM), DIM, 0, 1).params()


def rename_parameters(item: Item, names: Mapping[str, str]) -> Item:
    """`item` with new names for those of its parameters that are in `names`."""
    for old, new in names.items():
        found = item.find_dim_by_name(PARAM, old)
        if found >= 0:
            item = item.set_dim_name(PARAM, found, new)
    return item


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


def tuple_function(
    domain: isl.Set, dimensions: Sequence[str], target: str, values: Sequence[isl.PwAff | None]
) -> isl.Map:
    """{ x -> target[values at x] : x in `domain` }, with anything for a value that is None.

    The values name the `dimensions` of the domain, as its parameters.  What ties each of them is put
    together first, while it has few constraints.
    """
    names = [f"{target} {position}" for position in range(len(values))]
    relation = everywhere()
    for name, value in zip(names, values, strict=True):
        if value is not None:
            relation = relation.intersect(variable(name).eq_set(value))
    found = tuple_map(relation, domain.get_tuple_name(), dimensions, target, names)
    return found.intersect_domain(domain)


def parameter_ranges(points: isl.Set) -> dict[str, tuple[int, int]]:
    """The least and the greatest value of each parameter of a set, where it has both."""
    if not points.is_params():
        points = points.params()
    names = parameter_names(points)
    flat = isl.Set.from_params(points).move_dims(DIM, 0, PARAM, 0, len(names))
    found: dict[str, tuple[int, int]] = {}
    for k, name in enumerate(names):
        ends = (flat.dim_min_val(k), flat.dim_max_val(k))
        if all(end.is_int() for end in ends):
            found[name] = (int(ends[0].to_python()), int(ends[1].to_python()))
    return found
