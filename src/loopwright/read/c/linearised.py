"""Delinearises arrays of several dimensions written as one: `A[i * n + j]` is read as A[i][j].

The strides of a base are the products of parameters that its subscripts multiply iterators by, each a
multiple of the next: 1, m, n * m for `A[(i * n + j) * m + k]`, and 1, 3 * n for `A[(i * n + j) * 3 + k]`.
Dividing a subscript by them in turn gives one index per dimension, and

    0 <= index < size        for every dimension but the outermost

guarantees that different indices are different cells, whatever the strides are.  If no strides of products
do, rows of sums are tried: for `A[i * (m + 1) + j]`, which is i * m + i + j, the name m denotes m + 1, whose
rows then contain only i and j.  The condition is proved from the loop bounds if possible.  Otherwise, an
array that is only read is kept as it is; for one that is written, the condition on the sizes is assumed and
listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise, product
from math import gcd

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Assumption, AssumptionKind
from loopwright.presburger.named import (
    everywhere,
    number,
    rename_parameters,
    variable,
    whole,
    without_parameters,
)
from loopwright.presburger.polynomials import ZERO, Monomial, Polynomial, as_affine, replaced
from loopwright.read.c.accesses import Touch, affine_subscript
from loopwright.read.c.frames import Frame, NotAffine
from loopwright.read.c.row_elements import Split, split_terms, subscript_polynomial

Offsets = tuple[tuple[str, Polynomial], ...]
MOST_OFFSETS = 8
"""The maximum number of sums tried as the row length of an array."""


@dataclass(frozen=True)
class RowShape:
    """The dimensions that a base is read in: `sizes` are those of all but the outermost."""

    strides: tuple[Monomial, ...]
    """The strides from the outermost to the innermost, which is 1."""
    factors: tuple[int, ...]
    """The constant factor of each stride, a multiple of the next."""
    more: Offsets = ()
    """By how much each of these parameters is greater in a stride, for example m + 1 for m."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in the sizes."""
        others = (name for _, offset in self.more for monomial in offset.terms for name in monomial)
        return tuple(dict.fromkeys((*self._names(), *others)))

    @property
    def sizes(self) -> tuple[str, ...]:
        """The sizes as they are written."""
        texts = [self._text(name) for name in self._names()]
        return tuple(
            text if multiple == 1 else f"{multiple} * ({text})" if " " in text else f"{multiple} * {text}"
            for multiple, text in zip(self._multiples(), texts, strict=True)
        )

    @property
    def extents(self) -> tuple[isl.PwAff, ...]:
        """The sizes as expressions."""
        values = [variable(name).add(self._offset(name)) for name in self._names()]
        texts = zip(self._multiples(), values, strict=True)
        return tuple(value.scale_val(whole(multiple)) for multiple, value in texts)

    def _names(self) -> list[str]:
        return [_quotient(outer, inner)[0] for outer, inner in pairwise(self.strides)]

    def _offset(self, name: str) -> isl.PwAff:
        return as_affine(dict(self.more).get(name, ZERO)) or number(0)

    def _text(self, name: str) -> str:
        offset = sorted(dict(self.more).get(name, ZERO).terms.items(), reverse=True)
        for monomial, factor in offset:
            size = " * ".join((*([str(abs(factor))] if abs(factor) != 1 or not monomial else []), *monomial))
            name += f" {'+' if factor > 0 else '-'} {size}"
        return name

    def _multiples(self) -> list[int]:
        return [outer // inner for outer, inner in pairwise(self.factors)]


FramedTouch = tuple[Touch, Frame]


def shapes_of(
    places: Sequence[FramedTouch], *, in_rows: bool = False, numbers: frozenset[str] = frozenset()
) -> tuple[dict[str, RowShape], tuple[Assumption, ...]]:
    """The bases to read in several dimensions, and the assumptions about them; `in_rows` includes those that
    are only read.  Rows whose length is one of `numbers` need no assumption.
    """
    shapes: dict[str, RowShape] = {}
    assumed: list[Assumption] = []
    for base in dict.fromkeys(touch.base for touch, _ in places):
        own = [(touch, frame) for touch, frame in places if touch.base == base]
        if all(_is_affine(touch, frame) for touch, frame in own):
            continue
        is_wanted = in_rows or any(touch.is_write for touch, _ in own)
        best: tuple[RowShape, isl.Set] | None = None
        for shape in filter(None, (_shape(own, more) for more in ((), *_offsets(own)))):
            needed = _needed(own, shape)
            is_believed = is_wanted and numbers.isdisjoint(shape.names) and _leaves_all(own, needed)
            if shape.more:  # it must be a condition on the length of the rows, not on their number
                is_believed = is_believed and without_parameters(needed, shape.names).plain_is_universe()
            is_known = needed.plain_is_universe()
            if (is_known or is_believed) and (best is None or best[1].is_strict_subset(needed)):
                best = shape, needed
            if is_known:
                break
        if best is not None:
            shapes[base] = best[0]
            is_known = best[1].plain_is_universe()
            assumed += [] if is_known else [_assumption(base, own, *best)]
    return shapes, tuple(assumed)


def _offsets(own: Sequence[FramedTouch]) -> list[Offsets]:
    """For m in a stride S * m, the sum added to m if an iterator is multiplied by S as well.

    `i * m + i + j` gives ((m, 1),), `i * w + i * pad + j` gives ((w, pad),) and ((pad, w),).
    """
    found: dict[str, dict[str, Polynomial]] = {}
    for touch, frame in own:
        value = _polynomial(touch, frame)
        terms = () if value is None else split_terms(value, frame.iterators) or ()
        for one in terms:
            for name in dict.fromkeys(one.stride if one.iterator is not None else ()):
                offset = _added(name, one, terms)
                if offset.terms:
                    found.setdefault(name, {})[str(sorted(offset.terms.items()))] = offset
    choices = [[None, *((name, offset) for offset in sums.values())] for name, sums in sorted(found.items())]
    combined = (tuple(one for one in several if one is not None) for several in product(*choices))
    return [one for one in islice(combined, 1, 1 + MOST_OFFSETS) if one]


def _added(name: str, one: Split, terms: Sequence[Split]) -> Polynomial:
    """The sum added to a name: for i * S * name, the factor of each i * S and i * S * other."""
    outer = list(one.stride)
    outer.remove(name)
    sums: dict[Monomial, int] = {}
    for other in terms:
        rest = _quotient(other.stride, tuple(outer)) if tuple(outer) != other.stride else ()
        is_beside = other.iterator == one.iterator and name not in rest and len(rest) <= 1
        if is_beside and (rest or tuple(outer) == other.stride) and other.factor % one.factor == 0:
            sums[rest] = other.factor // one.factor
    return Polynomial(sums, {})


def indices(touch: Touch, frame: Frame, shape: RowShape) -> tuple[isl.PwAff, ...] | None:
    """One index per dimension, each but the first in its range if that can be shown."""
    value = _polynomial(touch, frame, shape.more)
    found = None if value is None else _divided(value, frame, shape)
    if found is None:
        return None
    for position in reversed(range(1, len(found))):
        size = shape.extents[position - 1]
        carry = _carry(found[position], size, frame.known())
        found[position] = found[position].add(size.scale_val(isl.Val(carry)))
        found[position - 1] = found[position - 1].sub(number(carry))
    return tuple(found)


def _carry(index: isl.PwAff, size: isl.PwAff, known: isl.Set) -> int:
    """How many rows to add to an index to bring it in range: `n - 1` is found as -1 in the next row."""
    ranges = {carry: _in_range(index.add(size.scale_val(isl.Val(carry))), size) for carry in (0, 1, -1)}
    always = [carry for carry, inside in ranges.items() if known.is_subset(inside)]
    sometimes = [carry for carry, inside in ranges.items() if not known.is_disjoint(inside)]
    return (*always, *sometimes, 0)[0]


def _shape(own: Sequence[FramedTouch], more: Offsets) -> RowShape | None:
    """The strides that all subscripts of a base share; None if it is not a linearised array."""
    strides: set[Monomial] = {()}
    for touch, frame in own:
        if frame.setting.names.ranks[touch.base] != 1:
            return None
        value = _polynomial(touch, frame, more)
        terms = () if value is None else split_terms(value, frame.iterators)
        if terms is None or (value is not None and _has_computed_strides(value, frame)):
            return None
        strides |= {term.stride for term in terms if term.iterator is not None}
    chain = tuple(sorted(strides, key=lambda stride: (-len(stride), stride)))
    steps = [_quotient(outer, inner) for outer, inner in pairwise(chain)]
    if len(chain) < 2 or any(len(step) != 1 for step in steps):
        return None
    shape = _with_factors(own, chain, more)
    readable = [_polynomial(*place) is None or indices(*place, shape) is not None for place in own]
    return shape if all(readable) else None


def _has_computed_strides(value: Polynomial, frame: Frame) -> bool:
    """Whether an iterator is multiplied by a quotient or a minimum of sizes, which has no name."""
    terms = split_terms(value, frame.iterators) or ()
    return any(not name.isidentifier() for term in terms if term.iterator for name in term.stride)


def _with_factors(own: Sequence[FramedTouch], chain: tuple[Monomial, ...], more: Offsets) -> RowShape:
    """The shape with the constant factors common to all terms of each stride."""
    plain = RowShape(chain, (1,) * len(chain), more)
    found = [0] * (len(chain) - 1)
    for place in own:
        value = _polynomial(*place, more)
        parts = None if value is None else _parts(value, place[1], plain)
        for position, part in enumerate((parts or [])[:-1]):
            found[position] = gcd(found[position], *part.values())
    factors = (*(factor or 1 for factor in found), 1)
    are_multiples = all(outer % inner == 0 for outer, inner in pairwise(factors))
    return RowShape(chain, factors, more) if are_multiples else plain


def _is_affine(touch: Touch, frame: Frame) -> bool:
    try:
        return not touch.subscripts or affine_subscript(touch.subscripts[0], frame) is not None
    except NotAffine:
        return False


def _polynomial(touch: Touch, frame: Frame, more: Offsets = ()) -> Polynomial | None:
    """The subscript, with (m - 1) for m if m in a stride denotes m + 1."""
    try:
        value = subscript_polynomial(touch.subscripts[0], frame) if touch.subscripts else None
    except NotAffine:
        return None
    for name, offset in more:
        smaller = Polynomial({(name,): 1}, {}).plus(offset, -1)
        value = None if value is None else replaced(value, name, smaller)
    return value


def _quotient(outer: Monomial, inner: Monomial) -> Monomial:
    """outer / inner; empty if it does not divide."""
    left = Counter(outer)
    left.subtract(Counter(inner))
    return tuple(left.elements()) if min(left.values(), default=0) >= 0 else ()


def _divided(value: Polynomial, frame: Frame, shape: RowShape) -> list[isl.PwAff] | None:
    """The subscript divided by each stride in turn."""
    parts = _parts(value, frame, shape)
    if parts is None:
        return None
    found: list[isl.PwAff] = []
    for part, factor in zip(parts, shape.factors, strict=True):
        whole_part = Polynomial({key: number // factor for key, number in part.items()}, value.atoms)
        for name, offset in reversed(shape.more):
            whole_part = replaced(whole_part, name, Polynomial({(name,): 1}, {}).plus(offset))
        index = as_affine(whole_part)
        if index is None:
            return None
        found.append(index)
    return found


def _parts(value: Polynomial, frame: Frame, shape: RowShape) -> list[dict[Monomial, int]] | None:
    """Each monomial divided by the greatest stride that leaves an affine rest; factors are kept."""
    parts: list[dict[Monomial, int]] = [{} for _ in shape.strides]
    for term in split_terms(value, frame.iterators) or ():
        for position, stride in enumerate(shape.strides):
            rest = _quotient(term.stride, stride) if stride != term.stride else ()
            divides = stride == term.stride or bool(rest) or stride == ()
            if divides and len(rest) + (term.iterator is not None) <= 1:
                monomial = (term.iterator,) if term.iterator is not None else rest
                parts[position][monomial] = parts[position].get(monomial, 0) + term.factor
                break
        else:
            return None
    return parts


def _in_range(index: isl.PwAff, size: isl.PwAff) -> isl.Set:
    return index.ge_set(number(0)).intersect(index.lt_set(size))


def _needed(own: Sequence[FramedTouch], shape: RowShape) -> isl.Set:
    """The parameters for which every index is in range, given the known constraints; all if proved."""
    needed = everywhere()
    for touch, frame in own:
        found = indices(touch, frame, shape) if touch.subscripts else None
        for index, size in zip((found or ())[1:], shape.extents, strict=False):
            outside = frame.known().subtract(_in_range(index, size))
            needed = needed.subtract(without_parameters(outside, frame.iterators))
    context = own[0][1].setting.context
    needed = needed.coalesce().gist(context)
    return everywhere() if context.is_subset(needed) else needed


def _leaves_all(own: Sequence[FramedTouch], needed: isl.Set) -> bool:
    """Whether each access can happen under a condition, and each loop around it that can run twice without it
    still can: assuming what rules that out, such as n = 1, would be absurd."""
    for frame in {id(frame): frame for _, frame in own}.values():
        known = frame.known()
        believed = known.intersect(needed)
        if not known.is_empty() and believed.is_empty():
            return False
        for name in frame.iterators:
            if _runs_twice(known, name, frame.iterators) and not _runs_twice(believed, name, frame.iterators):
                return False
    return True


def _runs_twice(points: isl.Set, iterator: str, iterators: Sequence[str]) -> bool:
    """Whether an iterator has two values for some values of the parameters."""
    mine = without_parameters(points, [one for one in iterators if one != iterator])
    later = f"{iterator} later"
    theirs = rename_parameters(mine, {iterator: later})
    return not mine.intersect(theirs).intersect(variable(iterator).lt_set(variable(later))).is_empty()


def _assumption(base: str, own: Sequence[FramedTouch], shape: RowShape, needed: isl.Set) -> Assumption:
    happens = everywhere().subtract(everywhere())
    for _, frame in own:
        happens = happens.union(without_parameters(frame.known(), frame.iterators))
    text = str(needed.gist(happens.coalesce()).coalesce())
    condition = text[text.index(":") + 1 : text.rindex("}")].strip()
    rows = " by ".join(shape.sizes)
    what = f"'{base}' has rows of {rows}, which do not reach into each other: {condition}"
    place = own[0][0].place
    return Assumption(
        AssumptionKind.ROWS, what, place, about=shape.names, holds_for=needed, condition=condition
    )
