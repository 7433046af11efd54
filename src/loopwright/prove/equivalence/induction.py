"""By values: proves that every live-out cell ends up equal, by unfolding definitions and by induction.

Temporaries may be added and removed, statements merged and split, values copied and substituted.

A claim is a set of pairs of points (o, n): the value at o in OLD equals the value at n in NEW.  Values of the
same operator are equal if their operands are; a cell that is read has the value its last write computed.
Decomposing a claim gives further claims, and a claim may be used in its own proof: each step goes to an
earlier time, or to an operand, in OLD or in NEW, so that for given sizes there is no infinite descent
[Verdoolaege2012].

A recurrence makes claims about one pair of terms repeatedly, each time for one more iteration. Then the claim
is widened, to all pairs that satisfy the equations common to those seen.  Widening is a guess that must be
proved like everything else; if it fails, the claim is kept as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from functools import partial

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int
from loopwright.presburger.sets import OUT, within_effort
from loopwright.prove.equivalence.accumulation import Accumulation, CombiningStep, TooMany
from loopwright.prove.equivalence.claims import Bag, Claims, Key, Mismatch, PairClaim, TermPoint, widened
from loopwright.prove.equivalence.combinations import Combination, combination_of
from loopwright.prove.equivalence.contributions import MatchedTerms, Unbalanced, matched, unbalanced_text
from loopwright.prove.equivalence.definedness import Needed
from loopwright.prove.equivalence.flow import Flow, ValueSource
from loopwright.prove.equivalence.laws import doubled
from loopwright.prove.equivalence.terms import COMMUTATIVE, Apply, CellTerm, Constant, Index, InputTerm, Term

MOST_STEPS = 3000
BAG_EFFORT = 10_000_000
"""Maximum number of isl operations for one accumulated value: about ten seconds."""


@dataclass(frozen=True, eq=False)
class Induction:
    """A proof about two programs, with a count of its steps."""

    old: Flow
    new: Flow
    needed: Needed
    reassociate: bool
    """Whether the terms of a sum and the factors of a product may be reordered."""
    steps: Iterator[int]
    failed: dict[Key, isl.Map] = field(default_factory=dict)
    """Pairs of values whose contributions differ."""
    accumulations: dict[Combination, tuple[Accumulation, Accumulation]] = field(default_factory=dict)

    def equal(self, old: TermPoint, new: TermPoint, pairs: isl.Map, claims: Claims) -> Claims:
        """`claims` and those that follow from old = new at `pairs`; raises `Mismatch` if it fails."""
        claims = self.derived(old, new, pairs, claims)
        for term in _computed_with(new.term) if self.reassociate else (new.term,):
            mine, theirs = (old.definition.name, old.term), (new.definition.name, term)
            if self.needed.is_answered(mine, theirs) and isinstance(old.term, type(term)):
                claims = claims.with_answer(mine, theirs, _same_cells(old, new, pairs))
        return claims

    def derived(self, old: TermPoint, new: TermPoint, pairs: isl.Map, claims: Claims) -> Claims:
        match old.term, new.term:
            case (Apply(operator="?:", arguments=(Index(), _, _)), _):
                for chosen, where in _branches(old):
                    claims = self.equal(chosen, new, pairs.intersect_domain(where), claims)
                return claims
            case (_, Apply(operator="?:", arguments=(Index(), _, _))):
                for chosen, where in _branches(new):
                    claims = self.equal(old, chosen, pairs.intersect_range(where), claims)
                return claims
            case _ if pairs.is_empty():
                return claims
            case (CellTerm(), _) | (_, CellTerm()):
                return self.unfolded(old, new, pairs, claims)
            case Index(Int(one), kind), Index(Int(other), same) if (one, kind) == (other, same):
                return claims
            case Index(one, kind), Index(other, same) if kind == same:
                left, right = old.definition.relation((one,)), new.definition.relation((other,))
                return _holds(old, new, pairs, left.apply_range(right.reverse()), claims)
            case InputTerm(array), InputTerm(same) if array == same:
                return _holds(old, new, pairs, isl.Map.identity(pairs.get_space()), claims)
            case Constant(text, kind), Constant(same, other) if text == same and kind == other:
                return claims
            case _ if (combination := self._combined(old.term, new.term)) is not None:
                return self.combined(combination, (old, new), pairs, claims)
            case _:
                return self.by_operands(old, new, pairs, claims)

    def by_operands(self, old: TermPoint, new: TermPoint, pairs: isl.Map, claims: Claims) -> Claims:
        """Proves values of the same operation equal by their operands."""
        match old.term, new.term:
            case Apply() as one, Apply() as other if self.reassociate and chain(one) == chain(other) != "":
                return self.bags(_bag(one), _bag(other), (old, new), pairs, claims)
            case Apply(), Apply() if (halves := _halves(old.term, new.term)) is not None:
                for mine, theirs in halves:
                    points = TermPoint(old.definition, mine), TermPoint(new.definition, theirs)
                    claims = self.equal(*points, pairs, claims)
                return claims
            case Apply(operator, first), Apply(same, second) if (operator, len(first)) == (same, len(second)):
                return self.arguments(old, new, pairs, claims)
            case _:
                raise Mismatch(old, new, pairs, "different operations")

    def _combined(self, old: Term, new: Term) -> Combination | None:
        """The reorderable operation that computes one of two values, or None."""
        found = combination_of(new) or combination_of(old)
        others = (one for one in (old, new) if not isinstance(one, InputTerm))
        if found is None or any(one.type != found.type for one in others):
            return None
        return found if self.reassociate or found.is_exact else None

    def combined(
        self, combination: Combination, points: tuple[TermPoint, TermPoint], pairs: isl.Map, claims: Claims
    ) -> Claims:
        """Proves values operand by operand if the operands look alike, otherwise as bags of contributions."""
        old, new = points
        ways: list[Callable[[TermPoint, TermPoint, isl.Map, Claims], Claims]]
        ways = [self.by_operands, partial(self.as_bags, combination)]
        alike = _heads(combination, old.term) == _heads(combination, new.term)
        failure: Mismatch | None = None
        for way in ways if alike else reversed(ways):
            try:
                return way(old, new, pairs, claims)
            except Mismatch as wrong:
                failure = failure or wrong
        assert failure is not None
        raise failure

    def as_bags(
        self, combination: Combination, old: TermPoint, new: TermPoint, pairs: isl.Map, claims: Claims
    ) -> Claims:
        """Proves two accumulated values equal, contribution by contribution."""
        key = (old.definition.name, old.term, new.definition.name, new.term)
        if key in self.failed and pairs.is_subset(self.failed[key]):
            raise Mismatch(old, new, pairs, "different contributions")
        both = Accumulation(self.old, combination), Accumulation(self.new, combination)
        both = self.accumulations.setdefault(combination, both)
        try:
            found, steps = within_effort(BAG_EFFORT, partial(_matched_bags, both, (old, new), pairs))
        except isl.Error as failure:
            self.failed[key] = pairs
            raise Mismatch(old, new, pairs, "matching what accumulates takes too long") from failure
        except (Unbalanced, TooMany) as wrong:
            self.failed[key] = pairs
            left = wrong.left if isinstance(wrong, Unbalanced) else ()
            sizes = tuple(one.sizes for one in left)
            raise Mismatch(old, new, pairs, unbalanced_text(wrong, combination), sizes) from wrong
        for one in found:
            first, second = (TermPoint(each.definition, each.term) for each in (one.old, one.new))
            claims = self.equal(first, second, one.points, claims)
        return claims.with_reordered(steps, combination.assumed)

    def arguments(self, old: TermPoint, new: TermPoint, pairs: isl.Map, claims: Claims) -> Claims:
        """Proves the operands equal one by one; those of + and * in either order."""
        assert isinstance(old.term, Apply) and isinstance(new.term, Apply)
        failure: Mismatch | None = None
        for second in _orders(old.term, new.term):
            try:
                found = claims
                for one, other in zip(old.term.arguments, second, strict=True):
                    mine, theirs = TermPoint(old.definition, one), TermPoint(new.definition, other)
                    found = self.equal(mine, theirs, pairs, found)
                return found
            except Mismatch as wrong:
                failure = failure or wrong
        assert failure is not None
        raise failure

    def bags(
        self, mine: Bag, theirs: Bag, points: tuple[TermPoint, TermPoint], pairs: isl.Map, claims: Claims
    ) -> Claims:
        """Matches each of `mine` with one of `theirs`."""
        old, new = points
        if len(mine) != len(theirs):
            raise Mismatch(old, new, pairs, "different numbers of terms")
        if not mine:
            return claims
        failure: Mismatch | None = None
        (sign, one), *rest = mine
        for place, (other_sign, other) in enumerate(theirs):
            if sign != other_sign:
                continue
            try:
                found = self.equal(
                    TermPoint(old.definition, one), TermPoint(new.definition, other), pairs, claims
                )
                left = [*theirs[:place], *theirs[place + 1 :]]
                return self.bags(rest, left, points, pairs, found)
            except Mismatch as wrong:
                failure = failure or wrong
        raise failure or Mismatch(old, new, pairs, "terms of different signs")

    def unfolded(self, old: TermPoint, new: TermPoint, pairs: isl.Map, claims: Claims) -> Claims:
        """Replaces a cell by its last write; a claim that is already made is not repeated."""
        key = (old.definition.name, old.term, new.definition.name, new.term)
        known = claims.made.get(key)
        if known is not None and pairs.is_subset(known.pairs):
            return claims
        if next(self.steps) > MOST_STEPS:
            raise Mismatch(old, new, pairs, "the proof takes too many steps")
        failure: Mismatch | None = None
        for wider in widened(old, new, known, pairs):
            rest = wider if known is None else wider.subtract(known.pairs)
            visits = 1 if known is None else known.visits + 1
            try:
                made = replace(claims, made={**claims.made, key: PairClaim(wider, visits)})
                return self.expanded(old, new, rest, made)
            except Mismatch as wrong:
                failure = wrong
        if failure is None:
            raise Mismatch(old, new, pairs, "a recurrence for which no invariant was found")
        raise failure

    def expanded(self, old: TermPoint, new: TermPoint, pairs: isl.Map, claims: Claims) -> Claims:
        olds, news = _sources(self.old, old), _sources(self.new, new)
        for one in olds:
            mine = pairs.apply_domain(one.relation)
            if mine.is_empty():
                continue
            for other in news:
                both = mine.apply_range(other.relation)
                if both.is_empty():
                    continue
                left = TermPoint(
                    one.definition, one.definition.value if isinstance(old.term, CellTerm) else old.term
                )
                right = TermPoint(
                    other.definition, other.definition.value if isinstance(new.term, CellTerm) else new.term
                )
                claims = self.equal(left, right, both.coalesce(), claims)
        return claims


def _matched_bags(
    both: tuple[Accumulation, Accumulation], points: tuple[TermPoint, TermPoint], pairs: isl.Map
) -> tuple[list[MatchedTerms], tuple[CombiningStep, ...]]:
    """The matched contributions to two values, and the operations of NEW that combine them."""
    old, new = points
    mine = both[0].bag(old.definition, old.term, pairs.domain())
    theirs = both[1].bag(new.definition, new.term, pairs.range())
    return matched(mine, theirs, pairs, both[0].combination), theirs.steps


def _branches(point: TermPoint) -> Iterator[tuple[TermPoint, isl.Set]]:
    """Yields both values of a choice by iterators and parameters, and where each is chosen."""
    match point.term:
        case Apply(arguments=(Index(condition), then, orelse)):
            value = point.definition.relation((condition,))
            no = value.fix_val(OUT, 0, isl.Val(0)).domain()
            yield TermPoint(point.definition, then), point.definition.domain.subtract(no)
            yield TermPoint(point.definition, orelse), no


def _sources(flow: Flow, point: TermPoint) -> tuple[ValueSource, ...]:
    """The definitions that reach a cell; any other term is its own source."""
    if isinstance(point.term, CellTerm):
        return flow.sources(point.definition, point.term)
    space = point.definition.domain.get_space()
    return (ValueSource(point.definition, isl.Map.identity(space.map_from_set())),)


def _holds(old: TermPoint, new: TermPoint, pairs: isl.Map, wanted: isl.Map, claims: Claims) -> Claims:
    wrong = pairs.subtract(wanted)
    if not wrong.is_empty():
        raise Mismatch(old, new, wrong, "different values")
    return claims


def _computed_with(term: Term) -> Iterator[Term]:
    """Yields the sums in a decomposed sum, or the products in a product."""
    yield term
    if isinstance(term, Apply) and chain(term):
        for part in term.arguments:
            if isinstance(part, Apply) and chain(part) == chain(term):
                yield from _computed_with(part)


def _same_cells(old: TermPoint, new: TermPoint, pairs: isl.Map) -> isl.Map:
    """For two reads, the pairs that read the same cell; for two operations, all pairs."""
    if not isinstance(old.term, CellTerm) or not isinstance(new.term, CellTerm):
        return pairs
    left, right = (
        point.definition.relation(point.term.subscripts, point.term.array)
        for point in (old, new)
        if isinstance(point.term, CellTerm)
    )
    is_same = old.term.array == new.term.array
    return pairs.intersect(left.apply_range(right.reverse())) if is_same else pairs.subtract(pairs)


def chain(term: Apply) -> str:
    """Returns "sum" or "product" for a binary sum or product, otherwise ""."""
    if len(term.arguments) != 2:
        return ""
    return {"+": "sum", "-": "sum", "*": "product"}.get(term.operator, "")


def _heads(combination: Combination, term: Term) -> list[str]:
    return sorted(_head(part.term) for part in combination.parts(term))


def _bag(term: Apply) -> Bag:
    """The terms of a sum with their signs, or the factors of a product."""
    found: Bag = []

    def collect(part: Term, sign: int) -> None:
        if isinstance(part, Apply) and chain(part) == chain(term) and part.type == term.type:
            collect(part.arguments[0], sign)
            collect(part.arguments[1], -sign if part.operator == "-" else sign)
        else:
            found.append((sign, part))

    collect(term, 1)
    return found


def _halves(old: Term, new: Term) -> list[tuple[Term, Term]] | None:
    """The equalities that imply x + y = 2 * z: x = z and y = z."""
    match old, new:
        case Apply("+", (one, other), kind), _ if (half := doubled(new)) is not None and half.type == kind:
            return [(one, half), (other, half)]
        case _, Apply("+", (one, other), kind) if (half := doubled(old)) is not None and half.type == kind:
            return [(half, one), (half, other)]
        case _:
            return None


def _orders(old: Apply, new: Apply) -> list[tuple[Term, ...]]:
    """The equivalent orders of the operands of `new`, the most likely one first."""
    orders = [new.arguments]
    if old.operator in COMMUTATIVE and len(new.arguments) == 2:
        orders.append((new.arguments[1], new.arguments[0]))
    return sorted(orders, key=lambda order: -_likeness(old.arguments, order))


def _likeness(olds: Iterable[Term], news: Iterable[Term]) -> int:
    return sum(_head(one) == _head(other) for one, other in zip(olds, news, strict=True))


def _head(term: Term) -> str:
    match term:
        case Apply(operator):
            return operator
        case CellTerm(array) | InputTerm(array):
            return f"[{array}]"
        case Constant(text):
            return text
        case Index():
            return "#"
