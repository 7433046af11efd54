"""The cells that an access touches, as relations, and whether they are those of the model."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.named import everywhere, number, tuple_map, variable
from loopwright.presburger.sets import OUT
from loopwright.read.c.second.accesses import Touched
from loopwright.read.c.second.integers import affine, polynomial
from loopwright.read.c.second.leaves import Found
from loopwright.read.c.second.polynomials import Monomial, SumOfProducts, of_affine, product, total
from loopwright.read.c.second.scope import Unclear


@dataclass(frozen=True)
class AccessCells:
    """The cells an access touches at each instance, whether the instance runs or not."""

    relation: isl.Map
    is_function: bool
    """One cell an instance."""

    def equals(self, access: Access, statement: Statement, domain: isl.Set) -> bool:
        """Whether it is the access where the statement runs."""
        if self._is_same_function(access, statement):
            return True
        return bool(access.relation.intersect_domain(domain).is_equal(self.relation.intersect_domain(domain)))

    def is_covered(self, accesses: Sequence[Access], statement: Statement, domain: isl.Set) -> bool:
        """Whether it is among the accesses where the statement runs."""
        if any(self._is_same_function(access, statement) for access in accesses):
            return True
        union: isl.Map | None = None
        for access in accesses:
            union = access.relation if union is None else union.union(access.relation)
        own = self.relation.intersect_domain(domain)
        return union is not None and bool(own.is_subset(union.intersect_domain(domain)))

    def _is_same_function(self, access: Access, statement: Statement) -> bool:
        """Of a part of a function that is defined wherever the statement runs.

        Asked first, since a domain of many pieces is intersected with none of as many.
        """
        if not self.is_function or not statement.domain.is_subset(access.relation.domain()):
            return False
        return bool(access.relation.is_subset(self.relation))


def cells_of(
    one: Touched, found: Found, statement: Statement, program: Program, domain: isl.Set
) -> AccessCells:
    """The cells an access touches, as far as they are known."""
    array = next((array for array in program.arrays if array.name == one.cell.base), None)
    if array is None:
        raise Unclear(one.node, f"'{one.cell.base}' is no storage of the model")
    rank = len(array.rows) + 1 if array.rows else array.rank
    known = everywhere()
    values = [f"{one.cell.base} {k}" for k in range(rank)]
    fixed = 0
    if array.rows:
        mapped = _in_rows(one, found, statement, array.rows, domain)
        if mapped is not None:
            return AccessCells(mapped, is_function=False)
    elif not one.anywhere:
        for value, subscript in zip(values, one.cell.subscripts, strict=False):
            try:
                index = number(0)
                for term, sign in subscript:
                    part = affine(term, found.place.scope)
                    index = index.add(part) if sign > 0 else index.sub(part)
                known = known.intersect(variable(value).eq_set(index))
                fixed += 1
            except Unclear:
                continue
    cells = tuple_map(known, statement.name, statement.iterators, one.cell.base, values)
    return AccessCells(cells, is_function=fixed == rank)


def _in_rows(
    one: Touched, found: Found, statement: Statement, rows: tuple[str, ...], domain: isl.Set
) -> isl.Map | None:
    """The access of the model whose indices, put together again, are the subscript that is written."""
    if one.anywhere or len(one.cell.subscripts) != 1:
        return None
    wanted: SumOfProducts | None = None
    try:
        wanted = of_affine(number(0))
        for term, sign in one.cell.subscripts[0]:
            wanted = total(wanted, polynomial(term, found.place.scope), sign)
    except Unclear:
        return None
    for access in statement.accesses:
        if access.array != one.cell.base or access.is_write != one.is_write:
            continue
        value = _flattened(access, rows)
        if value is not None and not total(value, wanted, -1).terms:
            return access.relation.intersect_domain(domain)
    return None


def _flattened(access: Access, rows: tuple[str, ...]) -> SumOfProducts | None:
    """x * n + y for the cell [x, y] of an array read in rows of n."""
    relation = access.relation
    if not relation.is_single_valued():
        return None
    indices = isl.PwMultiAff.from_map(relation)
    names = [str(relation.get_dim_name(isl.dim_type.in_, k)) for k in range(relation.dim(isl.dim_type.in_))]
    result: SumOfProducts | None = None
    for k in range(relation.dim(OUT)):
        value = _as_named(indices.get_pw_aff(k), names)
        if value is None:
            return None
        result = value if result is None else total(product(result, _size(rows[k - 1])), value)
    return result


def _as_named(value: isl.PwAff, names: Sequence[str]) -> SumOfProducts | None:
    """A function of dimensions as one of names."""
    pieces = value.get_pieces()
    if len(pieces) != 1:
        return None
    function = pieces[0][1]
    if function.dim(isl.dim_type.div) or not function.get_denominator_val().is_one():
        return None
    terms: dict[Monomial, int] = {(): int(function.get_constant_val().to_python())}
    for place, name in enumerate(names):
        terms[(name,)] = int(function.get_coefficient_val(isl.dim_type.in_, place).to_python())
    for place in range(function.dim(isl.dim_type.param)):
        name = str(function.get_dim_name(isl.dim_type.param, place))
        terms[(name,)] = int(function.get_coefficient_val(isl.dim_type.param, place).to_python())
    return SumOfProducts({key: factor for key, factor in terms.items() if factor}, {})


def _size(text: str) -> SumOfProducts:
    """`n`, or `3 * n`."""
    multiple, _, name = text.rpartition(" * ")
    return SumOfProducts({(name,): int(multiple or "1")}, {})
