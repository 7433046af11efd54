"""Finds which instance of OLD each instance of NEW is, from operations and the values in them.

For statements N of NEW and O of OLD with the same operation and the equations e_new = e_old,

    { N[n] -> O[o] : e_new(n) = e_old(o) for every equation }

relates the instances that do the same to the same cells.  If that leaves a choice, because the source does
not mention some iterator of O (the time loop of a stencil), the rest is fitted from small runs (`fitted`); or
guessed, if they do not fit: each such iterator is assumed to be an iterator of NEW, counted from the same
value or from its first one.  A guess is kept if it gives every n exactly one o, and no two the same.  Guesses
are never trusted: a proof that uses them is a proof, a refutation that uses them is undecided.

Iterators that the text of a statement does not mention are fitted from small runs.  Instances that are the
same operation on the same cells write the same cells, so no equivalent order can exchange them: the k-th of
them in NEW is the k-th in OLD.  Runs for a few sizes give pairs of instances, and their affine hull gives the
iterators of OLD as functions of those of NEW and of the sizes.  It is a guess: what follows from it must be
proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import islice, product

import islpy as isl

from loopwright.errors import GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import nodes as loops
from loopwright.loops.expressions import Expr, Var
from loopwright.loops.interpreter import execute
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import at, only, selection
from loopwright.presburger.named import at_parameters, parameter_names
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.equivalence.traces import Sizes, is_possible
from loopwright.prove.reading.c_expressions import Words
from loopwright.prove.reading.loops import sides, text_loops, values_at
from loopwright.prove.reading.operation import Different, Equation, aligned, same_operation

LARGEST_RUN = 5000
"""Maximum number of loop iterations."""
ENOUGH_RUNS = 8
MOST_POINTS = 60
"""Maximum number of instance pairs that a function is fitted to, for each pair of statements."""

Edge = tuple[str, str]
"""A statement of NEW and one of OLD with the same text."""
Instance = tuple[str, tuple[int, ...]]


def fitted(old: Program, new: Program, edges: Sequence[Edge]) -> dict[Edge, isl.Map]:
    """For statements (n, o), { N[n] -> O[o] } fitted to the runs; statements that do not fit are left out."""
    samples: dict[Edge, list[tuple[Sizes, tuple[int, ...], tuple[int, ...]]]] = {}
    runs = _runs(old, new, edges)
    for sizes in islice(_sizes(old.context), ENOUGH_RUNS):
        for (o, before), (n, after) in _paired(runs, sizes):
            samples.setdefault((n, o), []).append((sizes, after, before))
    return {
        edge: _hull(points, new.statement(edge[0]), old.statement(edge[1]))
        for edge, points in samples.items()
    }


@dataclass(frozen=True)
class _Runs:
    """The loops around the statements in question, with the values at which these execute."""

    old: loops.Node
    new: loops.Node
    groups: Mapping[Edge, int]
    """By side, "old" or "new", and statement: statements with the same number do the same."""
    depths: Mapping[Edge, int]
    """How many of the values are iterators."""


def _runs(old: Program, new: Program, edges: Sequence[Edge]) -> _Runs:
    known = {"old": sides(old), "new": sides(new)}
    values: dict[Edge, tuple[Expr, ...]] = {}
    groups: dict[Edge, int] = {}
    for number, members in enumerate(_components(edges)):
        first = known["old"][min(name for side, name in members if side == "old")]
        try:
            own = {(s, name): tuple(one.new for one in aligned(first, known[s][name])) for s, name in members}
        except Different:
            continue
        values |= own
        groups |= dict.fromkeys(own, number)
    depths = {(side, name): (old if side == "old" else new).statement(name).depth for side, name in values}
    return _Runs(_only(old, "old", values), _only(new, "new", values), groups, depths)


def _components(edges: Sequence[Edge]) -> list[set[Edge]]:
    """The statements ("new", n) and ("old", o) connected by edges."""
    found: list[set[Edge]] = []
    for n, o in edges:
        touched = [one for one in found if ("new", n) in one or ("old", o) in one]
        merged = set().union({("new", n), ("old", o)}, *touched)
        found = [one for one in found if one not in touched] + [merged]
    return found


def _only(program: Program, side: str, values: Mapping[Edge, tuple[Expr, ...]]) -> loops.Node:
    """The loops with the statements in question in them."""

    def call(statement: Statement, words: Words) -> loops.Node:
        key = (side, statement.name)
        if key not in values:
            return loops.EMPTY
        return loops.Call(statement.name, (*(Var(name) for name in statement.iterators), *values[key]))

    return text_loops(program, call)


def _sizes(context: isl.Set) -> Iterator[Sizes]:
    """Yields small sizes that differ from each other in varying ways."""
    names = parameter_names(context)
    for size in (4, 5, 6, 3, 7, 8, 9):
        for turn in (0, 1):
            values = {name: size + ((place + turn) * (size + 1)) % 4 for place, name in enumerate(names)}
            if is_possible(context, values):
                yield values


def _paired(runs: _Runs, sizes: Sizes) -> Iterator[tuple[Instance, Instance]]:
    """Yields the k-th instances of OLD and NEW that do the same, if both have equally many."""
    before, after = _seen(runs.old, "old", runs, sizes), _seen(runs.new, "new", runs, sizes)
    unlike = {key[0] for key in {*before, *after} if len(before.get(key, ())) != len(after.get(key, ()))}
    for key, instances in before.items():
        if key[0] not in unlike:
            yield from zip(instances, after[key], strict=True)


def _seen(
    loop: loops.Node, side: str, runs: _Runs, sizes: Sizes
) -> dict[tuple[int, tuple[int, ...]], list[Instance]]:
    """The instances in order, by group and values; none if there are too many."""
    found: dict[tuple[int, tuple[int, ...]], list[Instance]] = {}
    try:
        for name, values in execute(loop, sizes, LARGEST_RUN):
            depth = runs.depths[side, name]
            key = (runs.groups[side, name], values[depth:])
            found.setdefault(key, []).append((name, values[:depth]))
    except GaveUp:
        return {}
    return found


def _hull(
    points: list[tuple[Sizes, tuple[int, ...], tuple[int, ...]]], new: Statement, old: Statement
) -> isl.Map:
    """All pairs that satisfy the equations of these pairs."""
    space = new.domain.get_space().map_from_domain_and_range(old.domain.get_space())
    step = max(1, len(points) // MOST_POINTS)
    hull = isl.BasicMap.empty(space)
    for sizes, after, before in points[::step]:
        point = at(at(isl.BasicMap.universe(space), IN, after), OUT, before)
        point = at_parameters(point, sizes)
        if not point.is_subset(hull):
            hull = hull.union(point).affine_hull()
    return isl.Map.from_basic_map(hull)


MOST_GUESSES = 2000


@dataclass(frozen=True, eq=False)
class Partners:
    """{ N[n] -> O[o] } of one pair of statements."""

    new: str
    old: str
    relation: isl.Map


@dataclass(frozen=True, eq=False)
class Match:
    """A partner for every instance of NEW; `forced` if there was no choice."""

    partners: tuple[Partners, ...]
    forced: bool


@dataclass(frozen=True)
class Unmatched:
    """A statement of NEW with no counterpart in OLD, at least at some instance."""

    statement: str
    reason: str
    instances: isl.Set | None = None


def candidates(old: Program, new: Program, context: isl.Set) -> dict[str, tuple[Partners, ...]]:
    """For every statement of NEW, the instances of OLD that do the same.

    Raises `Unreadable` if the loops of a source cannot be read; a statement without a counterpart has no
    partners.
    """
    equations = _equations(old, new)
    columns_old = _columns(((o, e.old) for (_, o), found in equations.items() for e in found))
    columns_new = _columns(((n, e.new) for (n, _), found in equations.items() for e in found))
    before = values_at(old, {name: tuple(own) for name, own in columns_old.items()}, context)
    after = values_at(new, {name: tuple(own) for name, own in columns_new.items()}, context)
    partners: dict[str, list[Partners]] = {statement.name: [] for statement in new.statements}
    for (n, o), found in equations.items():
        mine = _chosen(after[n], [columns_new[n][e.new] for e in found])
        theirs = _chosen(before[o], [columns_old[o][e.old] for e in found])
        relation = mine.apply_range(theirs.reverse())
        if not relation.is_empty():
            partners[n].append(Partners(n, o, relation.coalesce()))
    return {name: tuple(found) for name, found in partners.items()}


def _equations(old: Program, new: Program) -> dict[tuple[str, str], tuple[Equation, ...]]:
    before, after = sides(old), sides(new)
    found: dict[tuple[str, str], tuple[Equation, ...]] = {}
    for n, new_side in after.items():
        for o, old_side in before.items():
            try:
                found[n, o] = same_operation(old_side, new_side)
            except Different:
                continue
    return found


def _columns(items: Iterator[tuple[str, Expr]]) -> Mapping[str, dict[Expr, int]]:
    columns: dict[str, dict[Expr, int]] = {}
    for name, expr in items:
        own = columns.setdefault(name, {})
        own.setdefault(expr, len(own))
    return columns


def _chosen(values: isl.Map, wanted: list[int]) -> isl.Map:
    """The selected values, in this order."""
    return values.apply_range(selection(values.get_space().range(), wanted))


class Preference(Enum):
    """Which of several statements of OLD with the same text, and which instance, to choose for one of NEW."""

    UNUSED = "an instance without a partner so far"
    FITTED = "the instance that small runs show"


def match(
    old: Program,
    new: Program,
    found: Mapping[str, tuple[Partners, ...]],
    context: isl.Set,
    preference: Preference,
) -> Match | Unmatched:
    """Chooses one partner for every instance of NEW."""
    for statement in new.statements:
        left = _uncovered(statement.domain.intersect_params(context), found[statement.name])
        if not left.is_empty():
            return Unmatched(statement.name, "no statement of OLD does the same", left)
    chosen = {name: own for name, own in found.items() if _is_decided(own)}
    forced = len(chosen) == len(found)
    if preference is Preference.FITTED and not forced:
        chosen |= _as_fitted(old, new, {name: own for name, own in found.items() if name not in chosen})
    order = {statement.name: k for k, statement in enumerate(old.statements)}
    used: dict[str, int] = {}
    taken: dict[str, isl.Set] = {}
    for partners in (one for own in chosen.values() for one in own):
        _take(taken, partners)
    for statement in new.statements:
        if statement.name in chosen:
            continue
        ranked = sorted(found[statement.name], key=lambda one: (used.get(one.old, 0), order[one.old]))
        guess = _guess(statement, ranked, old, taken)
        if guess is None:
            return Unmatched(statement.name, "which instance of OLD it is cannot be determined from its text")
        used[guess.old] = used.get(guess.old, 0) + 1
        _take(taken, guess)
        chosen[statement.name] = (guess,)
    return Match(tuple(one for s in new.statements for one in chosen[s.name]), forced)


def _as_fitted(
    old: Program, new: Program, found: Mapping[str, tuple[Partners, ...]]
) -> dict[str, tuple[Partners, ...]]:
    """The statements for which the runs determine one partner for every instance."""
    hulls = fitted(old, new, [(one.new, one.old) for own in found.values() for one in own])
    chosen: dict[str, tuple[Partners, ...]] = {}
    for name, own in found.items():
        narrowed = tuple(
            Partners(one.new, one.old, one.relation.intersect(hulls[one.new, one.old]).coalesce())
            for one in own
            if (one.new, one.old) in hulls
        )
        instances = new.statement(name).domain
        if narrowed and _is_decided(narrowed) and _uncovered(instances, narrowed).is_empty():
            chosen[name] = narrowed
    return chosen


def _uncovered(instances: isl.Set, own: tuple[Partners, ...]) -> isl.Set:
    for partners in own:
        instances = instances.subtract(partners.relation.domain())
    return instances


def _is_decided(own: tuple[Partners, ...]) -> bool:
    """Whether every instance has exactly one partner."""
    if not all(partners.relation.is_single_valued() for partners in own):
        return False
    return all(
        one.relation.domain().is_disjoint(other.relation.domain())
        for k, one in enumerate(own)
        for other in own[:k]
    )


def _take(taken: dict[str, isl.Set], partners: Partners) -> None:
    """Records the instances of OLD that now have a partner."""
    own = partners.relation.range()
    taken[partners.old] = taken[partners.old].union(own) if partners.old in taken else own


def _guess(
    statement: Statement, ranked: Sequence[Partners], old: Program, taken: Mapping[str, isl.Set]
) -> Partners | None:
    """The first total, one-to-one choice of instances that have no partner yet."""
    for partners in ranked:
        if not statement.domain.is_subset(partners.relation.domain()):
            continue
        for relation in _refined(partners, statement, old.statement(partners.old)):
            total = partners.relation.domain().is_subset(relation.domain())
            free = partners.old not in taken or relation.range().is_disjoint(taken[partners.old])
            if total and free and relation.is_single_valued() and relation.is_injective():
                return Partners(partners.new, partners.old, relation)
    return None


def _refined(partners: Partners, new: Statement, old: Statement) -> Iterator[isl.Map]:
    """Yields the relation with each undetermined iterator of O tied to one of N, likely ones first."""
    relation = partners.relation
    yield relation
    free = [k for k in range(old.depth) if not only(relation, OUT, k).is_single_valued()]
    choices: list[list[isl.Map | None]] = [list(_ties(relation, k, new, old)) for k in free]
    if len(free) > 1:
        choices = [[*ties, None] for ties in choices]
    for count, ties in enumerate(product(*choices)):
        if count >= MOST_GUESSES:
            return
        tied = relation
        for tie in ties:
            tied = tied if tie is None else tied.intersect(tie)
        yield tied


def _ties(relation: isl.Map, dimension: int, new: Statement, old: Statement) -> Iterator[isl.Map]:
    """Yields o = n, o = -n, then first value to first, first to last; an iterator of the same name first."""
    wanted = old.iterators[dimension]
    places = sorted(range(new.depth), key=lambda k: (new.iterators[k] != wanted, -k))
    values = _coordinate(relation.range(), dimension)
    own = [_coordinate(relation.domain(), place) for place in places]
    for sign in (SAME, OPPOSITE):
        for mine in own:
            yield mine.apply_range(sign).apply_range(values.reverse())
    if not values.range().is_bounded():
        return
    for sign in (SAME, OPPOSITE):
        for mine in own:
            signed = mine.apply_range(sign)
            if signed.range().is_bounded():
                yield _counted(signed).apply_range(_counted(values).reverse())


SAME = isl.Map("{ [x] -> [x] }")
OPPOSITE = isl.Map("{ [x] -> [-x] }")


def _coordinate(instances: isl.Set, place: int) -> isl.Map:
    """{ n -> [n[place]] }."""
    return selection(instances.get_space(), [place]).intersect_domain(instances)


def _counted(values: isl.Map) -> isl.Map:
    """{ n -> [x - the minimum of x for these parameters] }."""
    least = values.range().lexmin()
    anything = isl.Set("{ [d] }")
    differences = isl.Map("{ [x] -> [[m] -> [d]] : d = x - m }")
    known = isl.Map.from_domain_and_range(least, anything).wrap()
    return values.apply_range(differences.intersect_range(known).range_factor_range())
