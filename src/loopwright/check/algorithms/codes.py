"""Encodes the last writer of a cell as one number: a shadow of our own, without counting and without vectors.

Among the writers of one cell, an instance S[x] is identified by S and the iterators that the cell does not
determine.  At a fixed problem size those are bounded, so the time stamp of a writer of a cell has a code in a
fixed range:

    code(S[x]) = base(S) + Σ (x_k − low_k) · stride_k       over the kept iterators k of S,

where the ranges of the statements that write an array are consecutive, in source order, from 1 on; 0 is NIL.
The scheme applies if the codes of every array are below 2^63; a cell's shadow takes 1 byte where they stay
below 2^8, 2 below 2^16, 4 below 2^31, and 8 otherwise.

Statements that cannot be distinguished by their text and subscripts and never touch the same
iteration share their codes: they form a group.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright import errors
from loopwright.check.algorithms.scheme import Group, groups_of
from loopwright.check.original.c_text import value
from loopwright.check.original.solving import fits_int, solve
from loopwright.check.original.specification import Specification, Stated, anonymous, box, unnamed
from loopwright.check.original.writers import Writers
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import IN, OUT, union

LARGEST = 1 << 63
BELOW = {1: 1 << 8, 2: 1 << 16, 4: 1 << 31}
"""The exclusive upper bound of the codes in a shadow of so many bytes."""


@dataclass(frozen=True)
class Kept:
    """An iterator that is part of the code."""

    iterator: int
    low: int
    stride: int


@dataclass(frozen=True)
class StatementCode:
    base: int
    kept: tuple[Kept, ...]


@dataclass(frozen=True)
class Codes:
    """The codes of a specification; `size` is the number of bytes of a shadow cell by array."""

    groups: tuple[Group, ...]
    codes: dict[str, StatementCode]
    """By statement."""
    bounds: dict[str, int]
    """An exclusive upper bound of the codes of each array."""

    @property
    def size(self) -> dict[str, int]:
        return {array: _bytes(bound) for array, bound in self.bounds.items()}


def _bytes(bound: int) -> int:
    return next((size for size, limit in BELOW.items() if bound < limit), 8)


def codes(spec: Specification) -> Codes:
    """Return the codes at this problem size; raises GaveUp if they do not fit."""
    groups = groups_of(spec)
    found: dict[str, StatementCode] = {}
    bounds: dict[str, int] = {}
    for array in spec.written:
        base = 1
        for group in groups:
            if group.first.write.array == array:
                code, count = _code(group, base)
                found.update({member.name: code for member in group.members})
                base += count
        if base >= LARGEST:
            message = f"the numbers of the writers of {array} do not fit into 64 bits"
            raise errors.GaveUp(errors.Code.ALGORITHM, message, hint="use --algorithm a")
        bounds[array] = base
    return Codes(groups, found, bounds)


def _code(group: Group, base: int) -> tuple[StatementCode, int]:
    """Return the code of a group's instances, and the size of its range."""
    if group.domain.is_empty():
        return StatementCode(base, ()), 0
    free = solve(group.first.write.subscripts, group.depth).free
    stride = 1
    kept: list[Kept] = []
    for iterator in reversed(free):
        low = group.domain.dim_min_val(iterator).to_python()
        high = group.domain.dim_max_val(iterator).to_python()
        kept.append(Kept(iterator, low, stride))
        stride *= high - low + 1
    return StatementCode(base, tuple(reversed(kept))), stride


def code_map(codes: Codes, statement: Stated) -> isl.Map:
    """{ S[x] -> [code(S[x])] }."""
    space = statement.domain.get_space()
    code = codes.codes[statement.name]
    function = isl.Aff.val_on_domain_space(space, isl.Val(code.base))
    for kept in code.kept:
        difference = coordinate(space, kept.iterator).add_constant_val(isl.Val(-kept.low))
        function = function.add(difference.scale_val(isl.Val(kept.stride)))
    return isl.Map.from_aff(function).intersect_domain(statement.domain)


def coded(spec: Specification, codes: Codes, parts: tuple[isl.Map, ...], domain: isl.Set) -> isl.PwAff:
    """The code of a writer function's value on `domain`, 0 where it is undefined; a function of [x]."""
    by_name = {statement.name: statement for statement in spec.statements}
    zero = isl.Map.from_aff(isl.Aff.zero_on_domain_space(unnamed(domain).get_space()))
    total = isl.Map.empty(zero.get_space())
    for part in parts:
        target = by_name[part.get_tuple_name(OUT)]
        image = part.apply_range(code_map(codes, target))
        total = total.union(image.reset_tuple_id(IN) if image.has_tuple_id(IN) else image)
    total = total.union(zero.intersect_domain(unnamed(domain).subtract(total.domain())))
    return total.as_pw_multi_aff().get_pw_aff(0)


def previous_code(spec: Specification, found: Writers, codes: Codes, group: Group) -> isl.PwAff:
    """The value that the shadow of the written cell must have before an instance of the group."""
    return _joined([coded(spec, codes, found.previous(one), one.domain) for one in group.members])


def source_code(spec: Specification, found: Writers, codes: Codes, group: Group, read: int) -> isl.PwAff:
    """The value that the shadow of the cell of the `read`-th read must have at an instance."""
    parts = [coded(spec, codes, found.before[one.name][read], one.domain) for one in group.members]
    return _joined(parts)


def own_code(codes: Codes, group: Group) -> isl.PwAff:
    maps = [code_map(codes, one).as_pw_multi_aff().get_pw_aff(0) for one in group.members]
    return _joined([anonymous(one) for one in maps])


def _joined(functions: list[isl.PwAff]) -> isl.PwAff:
    """One function on the union of disjoint domains."""
    result = functions[0]
    for function in functions[1:]:
        result = result.union_add(function)
    return result.coalesce()


def guesses(
    spec: Specification, found: Writers, codes: Codes, group: Group, wanted: tuple[int, ...]
) -> tuple[isl.PwAff, ...]:
    """The iterators `wanted` of the next writer, as functions of [code in the shadow, cell].

    NextWriter and FirstWriter in terms of codes; correct if the next writer is in the group.
    """
    writers: list[isl.Map] = []
    for member in group.members:
        before = coded(spec, codes, found.previous(member), member.domain)
        code = isl.Map.from_pw_aff(before)
        cell = member.write.relation.reset_tuple_id(IN).reset_tuple_id(OUT)
        writers.append(code.flat_range_product(cell).intersect_domain(unnamed(member.domain)).reverse())
    whole = union(writers)
    parts = [only(whole, OUT, iterator) for iterator in wanted]
    return tuple(one.as_pw_multi_aff().get_pw_aff(0).coalesce() for one in parts)


@dataclass(frozen=True)
class CodeScheme:
    """Shadows that hold codes."""

    spec: Specification
    found: Writers
    codes: Codes
    name: str = "codes"

    @property
    def groups(self) -> tuple[Group, ...]:
        return self.codes.groups

    @property
    def size(self) -> dict[str, int]:
        return self.codes.size

    def fits_int(self, group: Group) -> bool:
        functions = [previous_code(self.spec, self.found, self.codes, group), own_code(self.codes, group)]
        for read in range(len(group.first.reads)):
            functions.append(source_code(self.spec, self.found, self.codes, group, read))
        return all(fits_int(one, box(group.domain)) for one in functions)

    def before(self, group: Group, names: Sequence[str]) -> str:
        code = previous_code(self.spec, self.found, self.codes, group)
        return value(code, names, group.domain, branches=False)

    def source(self, group: Group, read: int, names: Sequence[str]) -> str:
        code = source_code(self.spec, self.found, self.codes, group, read)
        return value(code, names, group.domain, branches=False)

    def after(self, group: Group, names: Sequence[str]) -> str:
        return value(own_code(self.codes, group), names, group.domain, branches=False)

    def last(self, array: str, names: Sequence[str]) -> str:
        writer = self.found.arrays[array]
        return value(coded(self.spec, self.codes, writer.last, writer.write_set), names, writer.write_set)

    def linear_before(self, group: Group) -> isl.PwAff | None:
        return None

    def linear_source(self, group: Group, read: int) -> isl.PwAff | None:
        return None

    def guess(self, group: Group, free: tuple[int, ...], names: Sequence[str]) -> tuple[str, ...]:
        parts = guesses(self.spec, self.found, self.codes, group, free)
        return tuple(value(one, names, one.domain(), branches=False) for one in parts)
