"""Algorithm B: the shadow of a cell counts the writes it has seen [Bao2016, section 4.2].

    VersionNumber(S)(x) = #{ writes of the same cell before S[x] }        ([Bao2016] adds 1 on writing)
    RAWv(S, r)(x)       = #{ writes of the cell that read r reads, before S[x] }
    NumWrites(w)        = #{ writes of w }

are counted by barvinok [Verdoolaege2007], which the optional package islpy-barvinok provides.  The iterators
are computed by solving LIN(S) · x = RHS(S): the subscripts, and the counts that are affine.  It applies if
the matrix of LIN(S) has full rank for every statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import islpy as isl

from loopwright.check.algorithms.scheme import Group, alone
from loopwright.check.original.c_text import test, value
from loopwright.check.original.solving import fits_int, linear_row, solve
from loopwright.check.original.specification import FixedAccess, Specification, Stated, box, unnamed
from loopwright.check.original.structure import match_assignments
from loopwright.check.original.writers import Writers, subscripts
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import DIM, DIV, isl_failures

SMALL = 1 << 31
LARGEST = 1 << 63


def can_count() -> bool:
    """Whether this islpy includes barvinok."""
    return hasattr(isl.Map, "card")


CountPiece = tuple[isl.Set, isl.QPolynomial]


@dataclass(frozen=True)
class Count:
    """A piecewise quasi-polynomial on `domain`, 0 outside its pieces."""

    domain: isl.Set
    pieces: tuple[CountPiece, ...]

    def to_c(self, names: Sequence[str]) -> str:
        """The count of a point of the domain."""
        affine = self.affine()
        if affine is not None:
            return value(affine, names, self.domain, branches=False)
        text = "0"
        for where, polynomial in reversed(self.pieces):
            inside = polynomial_to_c(polynomial, names)
            covers = self.domain.is_subset(where)
            text = inside if covers else f"({test(where, names, self.domain)} ? {inside} : {text})"
        return text

    def affine(self) -> isl.PwAff | None:
        """The count as a piecewise affine function, if it is one."""
        space = self.domain.get_space()
        rest = self.domain
        parts = []
        for where, polynomial in self.pieces:
            one = _affine(polynomial, space)
            if one is None:
                return None
            parts.append(isl.PwAff.from_aff(one).intersect_domain(where))
            rest = rest.subtract(where)
        total = isl.PwAff.from_aff(isl.Aff.zero_on_domain_space(space)).intersect_domain(rest)
        for part in parts:
            total = total.union_add(part)
        return total.coalesce()


def _affine(polynomial: isl.QPolynomial, space: isl.Space) -> isl.Aff | None:
    function = isl.Aff.zero_on_domain_space(space)
    for coefficient, powers, divisions in _terms(polynomial):
        if divisions or sum(powers) > 1 or coefficient.denominator != 1:
            return None
        if sum(powers) == 0:
            function = function.add_constant_val(isl.Val(coefficient.numerator))
        else:
            one = coordinate(space, powers.index(1))
            function = function.add(one.scale_val(isl.Val(coefficient.numerator)))
    return function


def _terms(polynomial: isl.QPolynomial) -> list[tuple[Fraction, tuple[int, ...], bool]]:
    """Coefficient and powers of each term, and whether it contains integer divisions."""
    found: list[isl.Term] = []
    polynomial.foreach_term(found.append)
    terms = []
    for term in found:
        powers = tuple(term.get_exp(DIM, k) for k in range(term.dim(DIM)))
        divisions = any(term.get_exp(DIV, k) for k in range(term.dim(DIV)))
        terms.append((Fraction(str(term.get_coefficient_val())), powers, divisions))
    return terms


def polynomial_to_c(polynomial: isl.QPolynomial, names: Sequence[str]) -> str:
    """A polynomial with integer values, over its common denominator."""
    terms = _terms(polynomial)
    scale = 1
    for coefficient, _, divisions in terms:
        if divisions:
            raise GaveUp(
                Code.ALGORITHM, "a version number has integer divisions in it", hint="use --algorithm codes"
            )
        scale = lcm(scale, coefficient.denominator)
    products = []
    for coefficient, powers, _ in terms:
        factors = [str(int(coefficient * scale))]
        factors += [name for name, power in zip(names, powers, strict=True) for _ in range(power)]
        products.append(" * ".join(factors))
    text = " + ".join(products) or "0"
    return f"({text})" if scale == 1 else f"(({text}) / {scale})"


def counted(relations: Iterable[isl.Map], domain: isl.Set) -> Count:
    """How many images the points of `domain` have under all relations, which are disjoint."""
    total = None
    for relation in relations:
        with_barvinok: Any = relation.reset_tuple_id(isl.dim_type.in_)
        cardinality = with_barvinok.card()
        total = cardinality if total is None else total.add(cardinality)
    pieces: list[CountPiece] = []
    if total is not None:
        total.intersect_domain(unnamed(domain)).foreach_piece(lambda where, one: pieces.append((where, one)))
    return Count(unnamed(domain), tuple(pieces))


@dataclass(frozen=True)
class VersionScheme:
    """Shadows that hold version numbers."""

    spec: Specification
    found: Writers
    groups: tuple[Group, ...]
    versions: dict[str, Count]
    sources: dict[tuple[str, int], Count]
    writes: dict[str, Count]
    size: dict[str, int]
    name: str = "algorithm B"

    def fits_int(self, group: Group) -> bool:
        first = group.first
        counts = [self.versions[first.name]]
        counts += [self.sources[first.name, k] for k in range(len(first.reads))]
        affine = [one.affine() for one in counts]
        return all(one is not None and fits_int(one, box(group.domain)) for one in affine)

    def before(self, group: Group, names: Sequence[str]) -> str:
        return self.versions[group.first.name].to_c(names)

    def source(self, group: Group, read: int, names: Sequence[str]) -> str:
        return self.sources[group.first.name, read].to_c(names)

    def after(self, group: Group, names: Sequence[str]) -> str:
        return "c + 1"

    def last(self, array: str, names: Sequence[str]) -> str:
        return self.writes[array].to_c(names)

    def linear_before(self, group: Group) -> isl.PwAff | None:
        return _linear(self.versions[group.first.name], group)

    def linear_source(self, group: Group, read: int) -> isl.PwAff | None:
        return _linear(self.sources[group.first.name, read], group)

    def guess(self, group: Group, free: tuple[int, ...], names: Sequence[str]) -> tuple[str, ...]:
        raise _undetermined(group)


def _undetermined(group: Group) -> GaveUp:
    message = f"the subscripts and version numbers of {group.first.name} do not determine its iterators"
    return GaveUp(Code.ALGORITHM, message, hint="use --algorithm codes")


def _linear(count: Count, group: Group) -> isl.PwAff | None:
    affine = count.affine()
    is_linear = affine is not None and linear_row(affine, group.depth) is not None
    return affine if is_linear else None


def versions(spec: Specification, found: Writers) -> VersionScheme:
    """Return Algorithm B for a specification; raises GaveUp if it does not apply."""
    if not can_count():
        raise GaveUp(
            Code.MISSING_PROGRAM, "algorithm B counts with barvinok", hint="pip install islpy-barvinok"
        )
    with isl_failures("barvinok could not count the writers"):
        numbers = {s.name: _before(spec, s, s.write) for s in spec.statements}
        sources = {
            (s.name, k): _before(spec, s, read) for s in spec.statements for k, read in enumerate(s.reads)
        }
        writes = {
            array: counted([_cells(s) for s in spec.writers(array)], found.arrays[array].write_set)
            for array in spec.written
        }
        size = {array: _bytes(array, _instances(spec, array)) for array in spec.written}
    scheme = VersionScheme(spec, found, alone(spec), numbers, sources, writes, size)
    for group in scheme.groups:
        if solve(_shown(scheme, group), group.depth).free:
            raise _undetermined(group)
    return scheme


def _bytes(array: str, writes: int) -> int:
    if writes >= LARGEST:
        message = f"the writes of {array} do not fit into 64 bits"
        raise GaveUp(Code.ALGORITHM, message, hint="use --algorithm a")
    return 4 if writes < SMALL else 8


def _shown(scheme: VersionScheme, group: Group) -> list[isl.PwAff]:
    """The functions of its iterators that an operation reveals, to which the rank condition of 4.2
    applies."""
    first, side = group.first, scheme.spec.side
    holes = match_assignments(side, first.assignment, first.iterators, side, first.assignment) or ()
    reads = [k for k, read in enumerate(first.reads) if read.array in scheme.writes]
    linear = [scheme.linear_before(group), *(scheme.linear_source(group, k) for k in reads)]
    return [
        *subscripts(first),
        *(first.symbol(name) for name, _ in holes),
        *(one for one in linear if one is not None),
    ]


def _cells(statement: Stated) -> isl.Map:
    return statement.write.relation.reverse()


def _instances(spec: Specification, array: str) -> int:
    """An upper bound of the number of writes."""
    total = 0
    for statement in spec.writers(array):
        if statement.domain.is_empty():
            continue
        product = 1
        for k in range(statement.depth):
            low, high = (statement.domain.dim_min_val(k), statement.domain.dim_max_val(k))
            product *= high.to_python() - low.to_python() + 1
        total += product
    return total


def _before(spec: Specification, statement: Stated, touched: FixedAccess) -> Count:
    """The number of writes of the cell given by `touched` before an instance."""
    pairs = []
    for writer in spec.writers(touched.array):
        later = isl.Map.lex_gt(statement.schedule.get_space().range())
        order = statement.schedule.apply_range(later).apply_range(writer.schedule.reverse())
        same = touched.relation.apply_range(writer.write.relation.reverse())
        both = same.intersect(order).intersect_domain(statement.domain).intersect_range(writer.domain)
        pairs.append(both)
    return counted(pairs, statement.domain)
