"""The cells of an access as relations, compared with those of the model; the ranges of parameters' types.

A subscript of an array in elements, `w[i].z[j]`, is a cell of `w` in the model, whatever j is.  One that is
past the declared length whenever it is evaluated leaves the element, and may be in another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import islpy as isl

from loopwright.c.typed import tree
from loopwright.c.typed.members import is_at_the_end, root_and_path
from loopwright.c.types import ArrayType, CType, unqualified
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.functions import coefficient
from loopwright.presburger.named import (
    everywhere,
    fixed_parameters,
    names_of,
    number,
    parameter_names,
    row_length,
    tuple_map,
    tuple_set,
    variable,
)
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.polynomials import (
    ZERO,
    Monomial,
    Polynomial,
    as_affine,
    at_values,
    in_pieces,
    of_affine,
    replaced,
)
from loopwright.presburger.sets import OUT
from loopwright.read.c.second.accesses import Touched, cell_of
from loopwright.read.c.second.integers import affine, parameter_of, polynomial
from loopwright.read.c.second.leaves import Found
from loopwright.read.c.second.scope import Facts, Scope, Unclear, integer_of


@dataclass(frozen=True)
class AccessCells:
    """The cells of an access at each instance, whether the instance runs or not."""

    relation: isl.Map
    is_function: bool
    """Whether it accesses one cell per instance."""
    is_exact: bool
    """Whether all cells are accessed: no subscript is unknown.  A write is to one cell."""

    def equals(self, access: Access, statement: Statement, domain: isl.Set) -> bool:
        """Whether it equals the access where the statement runs; the access is then certain."""
        if not self.is_exact:
            return False
        if self._is_same_function(access, statement):
            return True
        return bool(access.relation.intersect_domain(domain).is_equal(self.relation.intersect_domain(domain)))

    def is_covered(self, accesses: Sequence[Access], statement: Statement, domain: isl.Set) -> bool:
        """Whether the accesses include it where the statement runs."""
        if any(self._is_same_function(access, statement) for access in accesses):
            return True
        union: isl.Map | None = None
        for access in accesses:
            union = access.relation if union is None else union.union(access.relation)
        own = self.relation.intersect_domain(domain)
        return union is not None and bool(own.is_subset(union.intersect_domain(domain)))

    def _is_same_function(self, access: Access, statement: Statement) -> bool:
        """Whether an access is part of a function that is defined wherever the statement runs.

        Tested first, to avoid intersecting domains of many pieces.
        """
        if not self.is_function or not statement.domain.is_subset(access.relation.domain()):
            return False
        return bool(access.relation.is_subset(self.relation))


def cells_of(
    one: Touched, found: Found, statement: Statement, program: Program, domain: isl.Set
) -> AccessCells:
    """The cells of an access, as far as they are known."""
    array = next((array for array in program.arrays if array.name == one.cell.base), None)
    if array is None:
        raise Unclear(one.node, f"'{one.cell.base}' is not storage of the model")
    rank = array.dimensions
    known = everywhere()
    values = [f"{one.cell.base} {k}" for k in range(rank)]
    fixed = 0
    if array.rows:
        mapped = _in_rows(one, found, statement, array.rows, domain)
        if mapped is not None:
            return AccessCells(mapped, is_function=False, is_exact=True)
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
    is_whole = fixed == rank or (not one.is_write and not one.anywhere and fixed == len(one.cell.subscripts))
    return AccessCells(cells, is_function=fixed == rank, is_exact=is_whole and not array.rows)


def _in_rows(
    one: Touched, found: Found, statement: Statement, rows: tuple[str, ...], domain: isl.Set
) -> isl.Map | None:
    """The access of the model whose indices, flattened again, equal the subscript as written."""
    if one.anywhere or len(one.cell.subscripts) != 1:
        return None
    wanted: Polynomial | None = None
    try:
        wanted = ZERO
        for term, sign in one.cell.subscripts[0]:
            wanted = wanted.plus(polynomial(term, found.place.scope), sign)
    except Unclear:
        return None
    for access in statement.accesses:
        if access.array != one.cell.base or access.is_write != one.is_write:
            continue
        if _is_flattened(access, rows, wanted, found, domain):
            return access.relation.intersect_domain(domain)
    return None


def _is_flattened(
    access: Access, rows: tuple[str, ...], wanted: Polynomial, found: Found, domain: isl.Set
) -> bool:
    """Whether x * n + y, for the cells [x, y] of an array read in rows of n, equals the subscript as written.

    The difference of both is 0 as a sum of products, or as a sum where the statement runs: in each piece,
    with the values that equations of the domain give the names.
    """
    relation = access.relation.intersect_domain(domain)
    if not relation.is_single_valued() or not domain.is_subset(relation.domain()):
        return False
    names = [str(relation.get_dim_name(isl.dim_type.in_, k)) for k in range(relation.dim(isl.dim_type.in_))]
    sizes = frozenset(name for row in rows for name in names_of(row_length(row)))
    for where, functions in _pieces(isl.PwMultiAff.from_map(relation)):
        value: Polynomial | None = None
        for k, function in enumerate(functions):
            index = _as_named(function, names)
            value = index if value is None else value.times(of_affine(row_length(rows[k - 1]))).plus(index)
        if value is None:
            return False
        if not value.plus(wanted, -1).terms:
            continue
        parts = in_pieces(value.plus(wanted, -1)) or [(everywhere(), value.plus(wanted, -1))]
        runs = where.intersect(domain)
        tested = ((part, _by_names(runs, names).intersect(test)) for test, part in parts)
        if not all(_vanishes(part, here, sizes, found) for part, here in tested):
            return False
    return True


def _pieces(indices: isl.PwMultiAff) -> list[tuple[isl.Set, list[isl.Aff]]]:
    """The indices of each piece of a relation."""
    found: list[tuple[isl.Set, list[isl.Aff]]] = []
    indices.foreach_piece(
        lambda where, several: found.append((where, [several.get_at(k) for k in range(several.dim(OUT))]))
    )
    return found


def _vanishes(value: Polynomial, here: isl.Set, sizes: frozenset[str], found: Found) -> bool:
    """Whether a sum of products is 0 at all of `here`: as a sum, or each factor of a product of sizes is."""
    if here.is_empty():
        return True
    hull = here.affine_hull()
    fixed = fixed_parameters(hull.to_set())
    value = at_values(_with_equal_atoms(value, here), {**found.place.scope.facts.values, **fixed})
    function = as_affine(value) or as_affine(_with_equations(value, hull))
    functions = [as_affine(one) for one in _factors(value, sizes)] if function is None else [function]
    return all(one is not None and here.is_subset(one.eq_set(number(0))) for one in functions)


def _factors(value: Polynomial, sizes: frozenset[str]) -> list[Polynomial]:
    """[a, b, c], where the sum is a * n * m + b * n + c for the sizes n and m."""
    found: dict[Monomial, Polynomial] = {}
    for monomial, factor in value.terms.items():
        product = tuple(name for name in monomial if name in sizes)
        rest = Polynomial({tuple(name for name in monomial if name not in sizes): factor}, value.atoms)
        found[product] = found.get(product, ZERO).plus(rest)
    return [*found.values()]


def _with_equal_atoms(value: Polynomial, here: isl.Set) -> Polynomial:
    """The sum with one name for all atoms that are equal `here`: what is not a sum has a name for each of its
    texts, and one reading writes floor(j / 2) where another one rounds towards 0."""
    atoms = value.atoms
    for first, second in combinations(atoms, 2):
        if here.is_subset(atoms[first].eq_set(atoms[second])):
            value = replaced(value, second, Polynomial({(first,): 1}, {first: atoms[first]}))
    return value


def _with_equations(value: Polynomial, hull: isl.BasicSet) -> Polynomial:
    """The sum rewritten with the equations of `hull`: with h - 1 in place of y, if y = h - 1."""
    for constraint in hull.get_constraints():
        if not constraint.is_equality() or hull.dim(isl.dim_type.div):
            continue
        factors = {
            name: coefficient(constraint, isl.dim_type.param, k)
            for k, name in enumerate(parameter_names(hull))
        }
        name = next((name for name, factor in factors.items() if factor in (1, -1)), None)
        if name is not None:
            sign = -factors.pop(name)
            terms: dict[Monomial, int] = {(other,): sign * factor for other, factor in factors.items()}
            terms[()] = sign * int(constraint.get_constant_val().to_python())
            value = replaced(value, name, Polynomial({k: v for k, v in terms.items() if v}, {}))
    return value


def _by_names(instances: isl.Set, names: Sequence[str]) -> isl.Set:
    """Instances as values of the iterators' names."""
    count = instances.dim(isl.dim_type.param)
    result = instances.reset_tuple_id().move_dims(
        isl.dim_type.param, count, isl.dim_type.set, 0, instances.dim(isl.dim_type.set)
    )
    for place, name in enumerate(names):
        result = result.set_dim_name(isl.dim_type.param, count + place, name)
    return result.params()


def _as_named(function: isl.Aff, names: Sequence[str]) -> Polynomial:
    """A function of dimensions as a function of names."""
    count = function.dim(isl.dim_type.param)
    moved = function.move_dims(isl.dim_type.param, count, isl.dim_type.in_, 0, len(names))
    for place, name in enumerate(names):
        moved = moved.set_dim_name(isl.dim_type.param, count + place, name)
    return of_affine(isl.PwAff.from_aff(moved.project_domain_on_params()))


def ranges_of_types(nodes: Sequence[tree.Node], facts: Facts) -> isl.Set:
    """The set where all variables and members that are parameters are in the ranges of their types."""
    declared = {node.declaration.name: node.declaration for node in nodes if isinstance(node, tree.Name)}
    variables = [(name, declared[name].type) for name in sorted(facts.parameters & declared.keys())]
    return _within((*variables, *_members(nodes, facts)))


def _members(nodes: Sequence[tree.Node], facts: Facts) -> Iterator[tuple[str, CType]]:
    """The members that are parameters, such as `m->rows`, by name; except of local variables."""
    scope = Scope(facts, everywhere(), {}, {})
    for node in nodes:
        if isinstance(node, tree.MemberAccess) and (name := parameter_of(node, scope)) is not None:
            root, _ = root_and_path(node)
            if root is not None and facts.meaning.get(root.name) == root.offset:
                yield name, node.type


def _within(types: Iterable[tuple[str, CType]]) -> isl.Set:
    """The set where the values of parameters are in the ranges of their types."""
    found = everywhere()
    for name, declared in dict.fromkeys(types):
        kind = integer_of(declared)
        if kind is not None:
            value = variable(name)
            found = found.intersect(value.ge_set(number(kind.least)))
            found = found.intersect(value.le_set(number(kind.greatest)))
    return found


def refuse_outside_members(program: Program, found: Found, statement: Statement) -> None:
    """Raise if an access to an array in an element is outside of it whenever it happens."""
    scope = found.place.scope
    runs = scope.domain.intersect(scope.facts.known()).intersect(program.context)
    for node, length in _subscripts(found.node):
        try:
            index = affine(node.index, scope)
        except Unclear:
            continue
        wrong = runs.intersect(index.lt_set(number(0)).union(index.ge_set(number(length))))
        happens, outside = (tuple_set(one, statement.name, statement.iterators) for one in (runs, wrong))
        if outside.is_empty() or not happens.params().is_subset(outside.params()):
            continue
        point = smallest_point(outside)
        assert point is not None
        values = {**point.parameters, **dict(zip(statement.iterators, point.coordinates, strict=True))}
        at = f": {values_text(values)}" if values else ""
        message = f"'{node.place.span.text}' is outside its array, according to the declaration{at}"
        hint = "give the array its size, or the loop its bound"
        raise BadInput(Code.REGION_TEXT, message, span=node.place.span, hint=hint)


def _subscripts(node: tree.Node) -> Iterator[tuple[tree.Subscript, int]]:
    """The subscripts of arrays in elements that are evaluated for certain, and the lengths of the arrays."""
    match node:
        case tree.Conditional(test=test) | tree.IfStatement(test=test):
            yield from _subscripts(test)
            return
        case tree.Binary(operator="&&" | "||", left=left):
            yield from _subscripts(left)
            return
        case tree.SizeOf() | tree.OtherExpression() | tree.OtherStatement() | tree.Unary(operator="&"):
            return
        case tree.Subscript(base=base):
            length = _length(tree.without_casts(base))
            if length is not None:
                yield node, length
    for part in tree.children(node):
        yield from _subscripts(part)


def _length(array: tree.Expression) -> int | None:
    """The length of an array in an element; None if it is not known.

    The last member of what a pointer leads to may be longer than declared, if that is 0 or 1.
    """
    kind = unqualified(array.type)
    inner = array
    while isinstance(inner, tree.Subscript):
        inner = tree.without_casts(inner.base)
    cell = cell_of(inner, {}) if isinstance(inner, tree.MemberAccess) else None
    length = kind.length if isinstance(kind, ArrayType) and cell is not None and cell.is_part else None
    if not isinstance(length, int) or (length < 2 and _may_be_longer(inner)):
        return None
    return length


def _may_be_longer(node: tree.Expression) -> bool:
    """Whether an array may be the last member of a pointer's target."""
    if not isinstance(node, tree.MemberAccess):
        return False
    outer = tree.without_casts(node.object)
    match outer:
        case tree.Subscript(base=base):
            is_target = not isinstance(unqualified(tree.without_casts(base).type), ArrayType)
        case tree.Unary(operator="*"):
            is_target = True
        case _:
            is_target = is_at_the_end(node)
    return is_target
