"""Matches two bags of contributions one to one.

Terms of the same form are aligned, leaf by leaf.  Cells that nothing writes, and integers, determine which
contribution of OLD may be which one of NEW; cells that are written are assumed to correspond if they have the
same name.  That is a guess.  What counts is that the matching is one to one and leaves nothing out, which is
proved here for all sizes, and that matched terms are equal, which the caller must prove.

For maxima and minima, each contribution of OLD must be one of NEW, and each one of NEW one of OLD.

The form of a value: its operations down to input cells, integers, and accumulated values.  Variables are
replaced by their values if a single assignment reaches them: `t = x * y; s += t * z` and `s += x * y * z`
have one form.  Forms indicate which values may be equal; they prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations, product
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int
from loopwright.presburger.points import smallest_point
from loopwright.prove.equivalence.accumulation import Contribution, ContributionBag, TooMany
from loopwright.prove.equivalence.combinations import Combination, CombinationKind, combination_of
from loopwright.prove.equivalence.flow import Flow, ValueDefinition
from loopwright.prove.equivalence.terms import (
    Apply,
    CellTerm,
    Constant,
    Index,
    InputTerm,
    Term,
    shown,
    subterms,
)

MOST_ALIGNMENTS = 24
MOST_EQUAL = 8
"""How many times equal contributions are matched one by one."""


@dataclass(frozen=True, eq=False)
class MatchedTerms:
    """A contribution of OLD and one of NEW, matched at the points { E[e] -> E'[e'] }."""

    old: Contribution
    new: Contribution
    points: isl.Map


@dataclass(frozen=True, eq=False)
class LeftOver:
    """A contribution for which no counterpart was found, for these sizes."""

    one: Contribution
    sizes: dict[str, int]
    is_old: bool


class Unbalanced(Exception):
    """Some contributions have no counterpart."""

    def __init__(self, left: tuple[LeftOver, ...]) -> None:
        super().__init__()
        self.left = left


def matched(
    old: ContributionBag, new: ContributionBag, pairs: isl.Map, combination: Combination
) -> list[MatchedTerms]:
    """Matches the contributions to the values at `pairs`; raises `Unbalanced` if some are left over."""
    olds, news, may_repeat = old.contributions, new.contributions, combination.may_repeat
    left_old = [pairs.domain_map().apply_range(one.where) for one in olds]
    left_new = [pairs.range_map().apply_range(one.where) for one in news]
    every_old, every_new = list(left_old), list(left_new)
    found: list[MatchedTerms] = []
    for i, one in enumerate(olds):
        for j, other in enumerate(news):
            if one.sign != other.sign:
                continue
            for relation in _alike(one, other, (old.flow, new.flow)):
                for _ in range(MOST_EQUAL):
                    if may_repeat:
                        both = _both(every_old[i], every_new[j], relation)
                    else:
                        both = _one_to_one(left_old[i], left_new[j], relation)
                    if both.is_empty():
                        break
                    found.append(MatchedTerms(one, other, both.range().unwrap().coalesce()))
                    left_old[i] = left_old[i].subtract(both.range_factor_domain()).coalesce()
                    left_new[j] = left_new[j].subtract(both.range_factor_range()).coalesce()
                    if may_repeat:
                        break
    left = tuple(
        LeftOver(one, _sizes(points), is_old)
        for rest, sides, is_old in ((left_old, olds, True), (left_new, news, False))
        for points, one in zip(rest, sides, strict=True)
        if not points.is_empty()
    )
    if left:
        raise Unbalanced(left)
    return found


def _sizes(points: isl.Map) -> dict[str, int]:
    point = smallest_point(points.domain().params())
    return {} if point is None else point.parameters


def _both(old: isl.Map, new: isl.Map, relation: isl.Map) -> isl.Map:
    """{ [p -> p'] -> [e -> e'] } of the contributions that the relation matches."""
    return old.range_product(new).intersect_range(relation.wrap())


def _one_to_one(old: isl.Map, new: isl.Map, relation: isl.Map) -> isl.Map:
    """The same, made one to one; if there is a choice, the first of each."""
    both = _both(old, new, relation)
    if both.is_empty():
        return both
    found = both
    if not found.uncurry().is_single_valued():
        found = found.uncurry().lexmin().curry()
    if not found.range_reverse().uncurry().is_single_valued():
        found = found.range_reverse().uncurry().lexmin().curry().range_reverse()
    is_one_to_one = found.uncurry().is_single_valued() and found.range_reverse().uncurry().is_single_valued()
    is_part = found is both or found.is_subset(both)  # isl's minimum is not always one
    return found.coalesce() if is_part and is_one_to_one else both.subtract(both)


def _alike(one: Contribution, other: Contribution, flows: tuple[Flow, Flow]) -> list[isl.Map]:
    """{ E -> E' }: where the leaves of two terms of the same form are equal.

    Among several orders of the operands, the one with the most informative leaves comes first.
    """
    everything = isl.Map.from_domain_and_range(one.where.range(), other.where.range())
    mine = form_of(one.definition, one.term, flows[0])
    theirs = form_of(other.definition, other.term, flows[1])
    found: list[tuple[int, isl.Map]] = []
    for leaves in islice(_aligned(mine, theirs), MOST_ALIGNMENTS):
        relation, telling = everything, 0
        for first, second in leaves:
            if first.key == second.key:
                telling += 1
                relation = relation.intersect(first.values.apply_range(second.values.reverse()))
        if not relation.is_empty():
            # isl may end the process where it coalesces a relation some of whose equalities it has not found
            found.append((telling, relation.detect_equalities().coalesce()))
    return [relation for _, relation in sorted(found, key=lambda each: -each[0])]


def _aligned(one: Form, other: Form) -> Iterator[list[tuple[FormLeaf, FormLeaf]]]:
    """Yields the leaves of two terms of the same form in pairs, for each equivalent order of operands."""
    match one, other:
        case FormLeaf(), FormLeaf():
            if one.key == other.key or not (one.is_input and other.is_input):
                yield [(one, other)]
        case FormNode(), FormNode() if one.name == other.name and len(one.parts) == len(other.parts):
            orders = permutations(other.parts) if one.in_any_order else iter((other.parts,))
            for order in islice(orders, MOST_ALIGNMENTS):
                inner = [list(_aligned(*each)) for each in zip(one.parts, order, strict=True)]
                for chosen in islice(product(*inner), MOST_ALIGNMENTS):
                    yield [leaf for leaves in chosen for leaf in leaves]
        case (FormLeaf(is_input=False), FormNode()) | (FormNode(), FormLeaf(is_input=False)):
            yield _held(one, other)
        case FormNode(held=FormLeaf()), FormNode(held=FormLeaf()):
            yield _held(one, other)
        case _:
            return


def _held(one: Form, other: Form) -> list[tuple[FormLeaf, FormLeaf]]:
    """The variables that hold two values, if they may correspond."""
    first, second = (each if isinstance(each, FormLeaf) else each.held for each in (one, other))
    return [(first, second)] if first is not None and second is not None else []


def unbalanced_text(wrong: Unbalanced | TooMany, combination: Combination) -> str:
    """Explains why two bags were not shown to be equal."""
    if isinstance(wrong, TooMany):
        return "a value with too many kinds of contributions"
    first = wrong.left[0]
    line = "" if first.one.definition.line is None else f" in line {first.one.definition.line}"
    side, other = ("OLD", "NEW") if first.is_old else ("NEW", "OLD")
    example = ", ".join(f"{name} = {value}" for name, value in first.sizes.items())
    text = f"{_WORDS[combination.kind]} {shown(first.one.term)}{line} of {side}, {other} has none to match"
    return f"{text}, for example for {example}" if example else text


_WORDS = {
    CombinationKind.SUM: "a sum has the term",
    CombinationKind.PRODUCT: "a product has the factor",
    CombinationKind.LARGER: "the larger is taken of",
    CombinationKind.SMALLER: "the smaller is taken of",
}


DEEPEST = 6
"""Maximum depth at which variables are replaced inside each other."""


@dataclass(frozen=True, eq=False)
class FormLeaf:
    """A cell or an integer: `values` { E[e] -> which }; leaves that may be equal have the same key."""

    key: str
    values: isl.Map
    is_input: bool = False


@dataclass(frozen=True, eq=False)
class FormNode:
    name: str
    parts: tuple[Form, ...]
    in_any_order: bool = False
    held: FormLeaf | None = None
    """The variable that holds the value."""


Form: TypeAlias = FormLeaf | FormNode


def form_of(definition: ValueDefinition, term: Term, flow: Flow) -> Form:
    """The form of a term at the points of a definition."""
    domain = definition.domain
    identity = isl.Map.identity(domain.get_space().map_from_set())
    return _Forms(flow).of(definition, term, identity, DEEPEST)


@dataclass(frozen=True, eq=False)
class _Forms:
    flow: Flow

    def of(self, definition: ValueDefinition, term: Term, where: isl.Map, depth: int) -> Form:
        """The form at the points that `where` { E[e] -> definition } leads to."""
        match term:
            case Constant(text, kind):
                return FormNode(f"{text} {kind}", ())
            case Index(Int(value), kind):
                return FormNode(f"{value} {kind}", ())
            case Index(value):
                return FormLeaf("integer", where.apply_range(definition.relation((value,))))
            case InputTerm(array):
                return FormLeaf(f"input {array}", where.apply_range(definition.values), is_input=True)
            case CellTerm():
                return self._of_cell(definition, term, where, depth)
            case Apply():
                return self._of_operation(definition, term, where, depth)

    def _of_cell(self, definition: ValueDefinition, cell: CellTerm, where: isl.Map, depth: int) -> Form:
        read = definition.relation(cell.subscripts, cell.array)
        leaf = FormLeaf(f"cell {cell.array}", where.apply_range(read))
        sources = self.flow.sources(definition, cell)
        if len(sources) == 1 and depth:
            source = sources[0]
            one = source.definition
            if isinstance(one.value, InputTerm) or not self._is_accumulated(one):
                form = self.of(one, one.value, where.apply_range(source.relation), depth - 1)
                return replace(form, held=leaf) if isinstance(form, FormNode) else form
        return leaf

    def _is_accumulated(self, one: ValueDefinition) -> bool:
        """Whether a value may depend on an earlier value of the same variable."""
        written = [array for array, writes in self.flow.writes.items() if _writes(writes, one)]
        read = {part.array for part in subterms(one.value) if isinstance(part, CellTerm)}
        return not read.isdisjoint(written)

    def _of_operation(self, definition: ValueDefinition, term: Apply, where: isl.Map, depth: int) -> Form:
        name = f"{term.operator} {term.type}"
        combination = combination_of(term)
        parts = () if combination is None else combination.parts(term)
        if combination is None or any(one.tests or one.sign < 0 for one in parts) or len(parts) < 2:
            return FormNode(name, tuple(self.of(definition, one, where, depth) for one in term.arguments))
        found: list[Form] = []
        for part in parts:
            form = self.of(definition, part.term, where, depth)
            is_same = isinstance(form, FormNode) and form.name == f"{combination.kind.value} {term.type}"
            found += form.parts if isinstance(form, FormNode) and is_same else [form]
        return FormNode(f"{combination.kind.value} {term.type}", tuple(found), in_any_order=True)


def _writes(writes: isl.UnionMap, one: ValueDefinition) -> bool:
    return not writes.intersect_domain(isl.UnionSet.from_set(one.domain)).is_empty()
