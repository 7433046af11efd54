"""Operations whose operands may be reordered: sums, products, maxima and minima.

A value that such operations compute is the bag of its parts, in any order:

    x + y, x - y, -x           x and y, with their signs
    x * y                      x and y
    x < y ? y : x, fmax(x, y)  x and y, of which the larger counts; a part may occur twice
    i < n ? x : y              x or y, depending on iterators and sizes
    c ? s + x : s              s and (c ? x : 0), for a condition on data

Neutral parts (0 in a sum, 1 in a product) are omitted.  For floating point this is the arithmetic of real
numbers, which must be allowed; for unsigned integers that wrap around it is exact, and so are the maximum and
minimum of integers of any type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

import islpy as isl

from loopwright.c.types import CType, Integer
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int
from loopwright.presburger.sets import OUT
from loopwright.prove.equivalence.flow import ValueDefinition
from loopwright.prove.equivalence.laws import chosen
from loopwright.prove.equivalence.terms import CHOICE, Apply, Constant, Index, Term


class CombinationKind(Enum):
    """The kind of combination."""

    SUM = "sum"
    PRODUCT = "product"
    LARGER = "larger"
    SMALLER = "smaller"


COMPARABLE = "no operand of a minimum or maximum is a NaN, and the sign of a zero does not matter there"
PARTIAL = "sums and products of signed integers do not overflow in another order either"
_SELECTING = (CombinationKind.LARGER, CombinationKind.SMALLER)
_CALLS = {
    **dict.fromkeys(("fmax()", "fmaxf()", "fmaxl()"), CombinationKind.LARGER),
    **dict.fromkeys(("fmin()", "fminf()", "fminl()"), CombinationKind.SMALLER),
}


@dataclass(frozen=True)
class CombinedPart:
    """An operand with its sign, at the instances where iterators and sizes satisfy the tests."""

    sign: int
    term: Term
    tests: tuple[tuple[Index, bool], ...] = ()

    def domain(self, definition: ValueDefinition) -> isl.Set:
        """The instances at which this is an operand."""
        found = definition.domain
        for test, passed in self.tests:
            zero = definition.relation((test.value,)).fix_val(OUT, 0, isl.Val(0)).domain()
            found = found.subtract(zero) if passed else found.intersect(zero)
        return found


@dataclass(frozen=True)
class Combination:
    """An operation on values of one type."""

    kind: CombinationKind
    type: CType

    @property
    def is_exact(self) -> bool:
        """Whether every order gives bit-identical results."""
        if not isinstance(self.type, Integer):
            return False
        return self.kind in _SELECTING or not self.type.signed

    @property
    def may_repeat(self) -> bool:
        """Whether a repeated part counts once."""
        return self.kind in _SELECTING

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumptions under which every order gives the same result."""
        if self.kind in _SELECTING:
            return () if self.is_exact else (COMPARABLE,)
        return (PARTIAL,) if isinstance(self.type, Integer) and self.type.signed else ()

    def operations(self, term: Term) -> tuple[Term, ...]:
        """The operations of this kind that `term` consists of."""
        if not isinstance(term, Apply) or term.type != self.type:
            return ()
        inner = tuple(each for one in term.arguments for each in self.operations(one))
        is_one = term.operator == CHOICE or combination_of(term) == self
        return (term, *inner) if is_one else ()

    def is_neutral(self, term: Term) -> bool:
        """Whether a part is the neutral element."""
        wanted = {CombinationKind.SUM: 0, CombinationKind.PRODUCT: 1}.get(self.kind)
        match term:
            case Index(Int(value)):
                return value == wanted
            case Constant(text):
                return wanted is not None and float(text) == wanted
            case _:
                return False

    def parts(self, term: Term) -> tuple[CombinedPart, ...]:
        """The operands of `term`, or `term` itself."""
        return tuple(one for one in self._parts(term, 1, ()) if not self.is_neutral(one.term))

    def _parts(self, term: Term, sign: int, tests: tuple[tuple[Index, bool], ...]) -> Iterator[CombinedPart]:
        if not isinstance(term, Apply) or term.type != self.type:
            yield CombinedPart(sign, term, tests)
            return
        match term:
            case Apply("?:", (Index() as test, then, orelse)):
                yield from self._parts(then, sign, (*tests, (test, True)))
                yield from self._parts(orelse, sign, (*tests, (test, False)))
            case Apply("+" | "-" as name, (left, right)) if self.kind is CombinationKind.SUM:
                yield from self._parts(left, sign, tests)
                yield from self._parts(right, -sign if name == "-" else sign, tests)
            case Apply("-x", (inner,)) if self.kind is CombinationKind.SUM:
                yield from self._parts(inner, -sign, tests)
            case Apply("*", operands) if self.kind is CombinationKind.PRODUCT:
                for one in operands:
                    yield from self._parts(one, sign, tests)
            case _ if (selected := _selected(term)) is not None and selected[0] is self.kind:
                for one in selected[1]:
                    yield from self._parts(one, sign, tests)
            case Apply("?:", (test, then, orelse)) if self.kind not in _SELECTING:
                yield from self._conditional(term, sign, tests)
            case _:
                yield CombinedPart(sign, term, tests)

    def _conditional(
        self, term: Apply, sign: int, tests: tuple[tuple[Index, bool], ...]
    ) -> Iterator[CombinedPart]:
        """Yields the parts that both branches share, and the choice between the rest."""
        test, then, orelse = term.arguments
        first, second = list(self._parts(then, 1, ())), list(self._parts(orelse, 1, ()))
        common: list[CombinedPart] = []
        for one in tuple(first):
            if one in second:
                common.append(one)
                first.remove(one)
                second.remove(one)
        if not common or any(one.tests for one in (*first, *second, *common)):
            yield CombinedPart(sign, term, tests)
            return
        yield from (CombinedPart(sign * one.sign, one.term, tests) for one in common)
        if first or second:
            rest = chosen(test, self._together(first), self._together(second), self.type)
            yield CombinedPart(sign, rest, tests)

    def _together(self, parts: Sequence[CombinedPart]) -> Term:
        """Combines the parts into one term."""
        kept = [one for one in parts if not self.is_neutral(one.term)]
        found: Term = Index(Int(0 if self.kind is CombinationKind.SUM else 1), self.type)
        for place, one in enumerate(kept):
            if place == 0 and one.sign > 0:
                found = one.term
            elif place == 0:
                found = Apply("-x", (one.term,), self.type)
            elif self.kind is CombinationKind.PRODUCT:
                found = Apply("*", (found, one.term), self.type)
            else:
                found = Apply("+" if one.sign > 0 else "-", (found, one.term), self.type)
        return found


def combination_of(term: Term) -> Combination | None:
    """The reorderable operation that a term is, or None."""
    match term:
        case Apply("+" | "-", (_, _), kind) | Apply("-x", (_,), kind):
            return Combination(CombinationKind.SUM, kind)
        case Apply("*", (_, _), kind):
            return Combination(CombinationKind.PRODUCT, kind)
        case Apply("?:", (test, then, orelse), kind) if not isinstance(test, Index):
            selected = _selected(term)
            if selected is not None:
                return Combination(selected[0], kind)
            inner = [one for one in map(combination_of, (then, orelse)) if one is not None]
            found = next((one for one in inner if one.type == kind), None)
            return found if found is not None and len(found.parts(term)) > 1 else None
        case Apply() if (selected := _selected(term)) is not None:
            return Combination(selected[0], term.type)
        case _:
            return None


def _selected(term: Apply) -> tuple[CombinationKind, tuple[Term, ...]] | None:
    """The operands of which a term is the maximum or minimum."""
    match term:
        case Apply("?:", (Apply("<" | "<=", (low, high)), then, orelse), kind):
            if low.type != kind or high.type != kind:
                return None
            if (then, orelse) == (high, low):
                return CombinationKind.LARGER, (low, high)
            return (CombinationKind.SMALLER, (low, high)) if (then, orelse) == (low, high) else None
        case Apply(operator, (left, right)) if operator in _CALLS:
            return _CALLS[operator], (left, right)
        case _:
            return None
