"""Finds which instance of OLD a statement of the source is, as a function of the iterators around it.

Its integer expressions show that: `A[-t4 + t5][t6]` is A[i][j] for i = -t4 + t5 and j = t6.  An iterator of
OLD that its statement does not mention, the time of a stencil, may be any integer: the operation is the same.
It is guessed, from small runs, in which the k-th execution of an operation in NEW is the k-th in OLD; or from
other copies of the same statement in the source, where the iterators of NEW are functions of the instance: if
t7 = 2 t + j, and j is known, so is t.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Var
from loopwright.loops.nodes import EMPTY, Call, Node
from loopwright.loops.traverse import subprograms, substituted_expr, variables, with_calls
from loopwright.model.program import Program, Statement
from loopwright.presburger.named import parameter_names
from loopwright.prove.descent.encoding import NotNative
from loopwright.prove.descent.linear import (
    ONE,
    Form,
    combined,
    difference,
    expr_of,
    fitted,
    form_of,
    solved,
    substituted,
)
from loopwright.prove.descent.native import TooLong, native_pair
from loopwright.prove.descent.reading import LoopText, TextLeaf
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.pairs import Pair
from loopwright.prove.equivalence.traces import Runnable, Sizes, StatementRun, is_possible
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.reading.loops import sides, text_loops
from loopwright.prove.reading.operation import Different, Equation, StatementSyntax, same_operation

LONGEST_RUN, LONGEST_LIST = 20_000, 400_000
"""Maximum number of loop iterations, and of argument values of statements."""
MOST_SAMPLES = 24
"""Samples of a statement in one run."""

ENOUGH_SAMPLES = 8
"""Samples needed to trust a function that was fitted to them."""
FEW_SAMPLES = 20
NEIGHBOURS = 6
OF_OLD = " of OLD"
NOT_AFFINE = "a subscript that is not affine"
Samples: TypeAlias = dict[str, list[tuple[Sizes, tuple[int, ...]]]]


@dataclass(frozen=True)
class Claim:
    """The claim that a statement is `statement` of OLD; `known` are the iterators its text determines.

    In their forms, the names in `quotients` stand for expressions of sizes alone: m / 8 in 8 * (m / 8) + 1.
    """

    statement: Statement
    known: Mapping[str, Form]
    quotients: Mapping[str, Expr]

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in self.statement.iterators if name not in self.known)


Claims: TypeAlias = tuple[Claim, ...]
"""The statements of OLD that one of the source may be: several if their text is the same."""


class NotOfOld(Unreadable):
    """A statement of the source does what no statement of OLD does."""

    def __init__(self, leaf: TextLeaf) -> None:
        super().__init__(f"line {leaf.place.line}: no statement of OLD does the same")
        self.leaf = leaf


def claims_of(old: Program, text: LoopText) -> dict[str, Claims]:
    """The statements of OLD that each statement of the source may be; raises Unreadable if there is none."""
    before = sides(old)
    seen: dict[tuple[str, tuple[tuple[str, Expr], ...]], Claims] = {}
    found: dict[str, Claims] = {}
    for leaf in text.leaves.values():
        if leaf.meaning not in seen:
            seen[leaf.meaning] = tuple(_claims(old, leaf, before))
        found[leaf.name] = seen[leaf.meaning]
        if not found[leaf.name]:
            raise NotOfOld(leaf)
        if len(found[leaf.name]) > 1 and any(claim.missing for claim in found[leaf.name]):
            raise Unreadable(f"line {leaf.place.line}: several statements of OLD do the same")
    return found


def _claims(old: Program, leaf: TextLeaf, before: Mapping[str, StatementSyntax]) -> Iterator[Claim]:
    for statement in old.statements:
        quotients: dict[str, Expr] = {}

        def named(part: Expr, quotients: dict[str, Expr] = quotients) -> Form | None:
            if not variables(part) <= {*old.params}:
                return None
            quotients[repr(part)] = part
            return {repr(part): Fraction(1)}

        try:
            known = _solved(statement, same_operation(before[statement.name], leaf.syntax), named)
        except Different:
            continue
        if known is not None:
            claim = Claim(statement, known, quotients)
            if quotients and claim.missing:
                raise Unreadable(NOT_AFFINE)
            yield claim


def _old(name: str) -> str:
    return f"{name}{OF_OLD}"


def _solved(
    statement: Statement, equations: Sequence[Equation], named: Callable[[Expr], Form | None]
) -> dict[str, Form] | None:
    rows: list[Form] = []
    renamed = {name: {_old(name): Fraction(1)} for name in statement.iterators}
    for equation in equations:
        before, after = form_of(equation.old), form_of(equation.new, named)
        if before is None or after is None:
            raise Unreadable(NOT_AFFINE)
        rows.append(difference(substituted(before, renamed), after))
    known, left = solved(rows, [_old(name) for name in statement.iterators])
    if left:
        return None
    if any(value.denominator != 1 for form in known.values() for value in form.values()):
        raise Unreadable("a subscript that is a multiple")
    tied = {name for row in rows for name in row} & {*map(_old, statement.iterators)} - {*known}
    if tied:
        raise Unreadable("subscripts that determine iterators only together")
    return {name: known[_old(name)] for name in statement.iterators if _old(name) in known}


Instances: TypeAlias = tuple[tuple[str, tuple[Expr, ...]], ...]
"""Statements of OLD, and their iterators as functions of those around a statement of the source."""


def functions(old: Program, text: LoopText, claims: Mapping[str, Claims]) -> dict[str, Instances]:
    """The instances that each statement of the source may be; if several, the one that OLD has."""
    guessed = _guesses(old, text, {name: own[0] for name, own in claims.items() if own[0].missing})
    return {
        name: tuple((claim.statement.name, _values(claim, guessed.get(name, {}))) for claim in own)
        for name, own in claims.items()
    }


def _values(claim: Claim, guess: Guess) -> tuple[Expr, ...]:
    own = (expr_of({**claim.known, **guess}[name]) for name in claim.statement.iterators)
    return tuple(substituted_expr(one, claim.quotients) for one in own)


Guess: TypeAlias = dict[str, Form]
"""Iterators of OLD that a statement does not mention, as functions of the iterators around it."""


def _guesses(old: Program, text: LoopText, claims: Mapping[str, Claim]) -> dict[str, Guess]:
    """The first guesses that the runs do not contradict."""
    if not claims:
        return {}
    samples = _samples(old, text, claims)
    fits = {name: _fits(text.leaves[name], claim, samples[name], old) for name, claim in claims.items()}
    meanings = _meanings(text, claims, fits, samples)
    same: dict[tuple[tuple[str, ...], int], Guess] = {}
    sure: dict[str, Guess] = {}
    for name, claim in claims.items():
        key = text.leaves[name].iterators, id(claim)  # equal statements have the same claim
        if key not in same:
            same[key] = _derived(text.leaves[name], claim, meanings.get(claim.statement.name, {}))
        sure[name] = same[key]
    order = list(claims)
    found: dict[str, Guess] = {}
    for place, name in enumerate(order):
        claim = claims[name]
        around = range(max(0, place - NEIGHBOURS), min(len(order), place + NEIGHBOURS + 1))
        nearest = sorted(around, key=lambda other: abs(other - place))[1 : NEIGHBOURS + 1]
        near = [order[other] for other in nearest]
        found[name] = {
            missing: next(
                (
                    form
                    for form in _candidates(text, name, missing, near, sure, fits)
                    if all(_at(form, point) == seen[k] for point, seen in samples[name])
                ),
                {},
            )
            for k, missing in enumerate(claim.missing)
        }
    return found


def _candidates(
    text: LoopText,
    name: str,
    missing: str,
    near: Sequence[str],
    sure: Mapping[str, Guess],
    fits: Mapping[str, Guess],
) -> Iterator[Form]:
    """Yields guesses: from the iterators around, from near statements, a step off those, fitted."""
    if missing in sure[name]:
        yield sure[name][missing]
    own = {*text.leaves[name].iterators}
    forms = [sure[other][missing] for other in near if missing in sure[other]]
    usable = [form for form in forms if not {*form} & ({*_iterators(text)} - own)]
    yield from usable
    for form in usable:
        for step in (1, -1):
            yield combined([(Fraction(1), form), (Fraction(step), {ONE: Fraction(1)})])
    if missing in fits[name]:
        yield fits[name][missing]


def _iterators(text: LoopText) -> Iterator[str]:
    return (iterator for leaf in text.leaves.values() for iterator in leaf.iterators)


def _fits(
    leaf: TextLeaf, claim: Claim, samples: Sequence[tuple[Sizes, tuple[int, ...]]], old: Program
) -> Guess:
    names = [*reversed(leaf.iterators), *old.params]
    found: Guess = {}
    for place, missing in enumerate(claim.missing):
        form = _fit([(point, seen[place]) for point, seen in samples], names)
        if form is not None:
            found[missing] = form
    return found


def _fit(points: Sequence[tuple[Sizes, int]], names: Sequence[str]) -> Form | None:
    """An affine function with these values: fitted to a few, and then to more that contradict it."""
    chosen = list(points[:: len(points) // FEW_SAMPLES + 1])
    while chosen:
        form = fitted(chosen, names)
        if form is None:
            return None
        wrong = next((one for one in points if _at(form, one[0]) != one[1]), None)
        if wrong is None:
            return form
        chosen.append(wrong)
    return None


def _at(form: Form, point: Sizes) -> Fraction:
    return sum((value * (point[name] if name else 1) for name, value in form.items()), Fraction(0))


def _meanings(
    text: LoopText, claims: Mapping[str, Claim], fits: Mapping[str, Guess], samples: Samples
) -> dict[str, dict[str, Form]]:
    """By statement of OLD, the iterators of the source as functions of its iterators, from the runs."""
    seen: dict[tuple[str, str], Counter[tuple[tuple[str, Fraction], ...]]] = {}
    for name, claim in claims.items():
        if not {*claim.missing} <= {*fits[name]} or len(samples[name]) < ENOUGH_SAMPLES:
            continue
        own = {**claim.known, **fits[name]}
        rows = [difference({_old(one): Fraction(1)}, form) for one, form in own.items()]
        known, _ = solved(rows, [*reversed(text.leaves[name].iterators)])
        for iterator, form in known.items():
            if all(value.denominator == 1 for value in form.values()):
                forms = seen.setdefault((claim.statement.name, iterator), Counter())
                forms[tuple(sorted(form.items()))] += 1
    found: dict[str, dict[str, Form]] = {}
    for (statement, iterator), forms in seen.items():
        found.setdefault(statement, {})[iterator] = dict(forms.most_common(1)[0][0])
    return found


def _derived(leaf: TextLeaf, claim: Claim, table: Mapping[str, Form]) -> Guess:
    """Derives missing iterators from iterators around the statement whose meaning is known."""
    known = {_old(one): form for one, form in claim.known.items()}
    found: Guess = {}
    for missing in claim.missing:
        for iterator in reversed(leaf.iterators):
            row = difference(substituted(table.get(iterator, {}), known), {iterator: Fraction(1)})
            one, _ = solved([row], [_old(missing)])
            if one and not any(part.endswith(OF_OLD) for part in one[_old(missing)]):
                found.setdefault(missing, one[_old(missing)])
    return found


def _samples(old: Program, text: LoopText, claims: Mapping[str, Claim]) -> Samples:
    """For statements of the source, values of parameters and iterators, and of the missing iterators of OLD.

    The k-th of equal operations in a run of the source is the k-th in one of OLD.
    """
    found: Samples = {name: [] for name in claims}
    stated = {claim.statement.name: claim for claim in claims.values()}

    def with_known(call: Call) -> Node:
        """A call with the iterators, and the known iterators of OLD, as arguments."""
        if call.name not in claims:
            return EMPTY
        claim = claims[call.name]
        iterators = tuple(Var(one) for one in text.leaves[call.name].iterators)
        known = (expr_of(claim.known[one]) for one in claim.statement.iterators if one in claim.known)
        return Call(call.name, (*iterators, *known))

    run = executions(
        with_calls(text_loops(old), lambda call: call if call.name in stated else EMPTY),
        with_calls(text.loops, with_known),
    )
    for sizes in _sizes(old):
        before, after = run(sizes)
        others: dict[tuple[str, tuple[int, ...]], list[tuple[int, ...]]] = {}
        for name, values in before:
            own = dict(zip(stated[name].statement.iterators, values, strict=True))
            missing = tuple(own.pop(one) for one in stated[name].missing)
            others.setdefault((name, tuple(own.values())), []).append(missing)
        partners = {key: iter(own) for key, own in others.items()}
        taken: Counter[str] = Counter()
        for name, values in after:
            iterators = text.leaves[name].iterators
            key = claims[name].statement.name, values[len(iterators) :]
            partner = next(partners.get(key, iter(())), None)
            if partner is not None and taken[name] < MOST_SAMPLES:
                taken[name] += 1
                found[name].append(({**sizes, **dict(zip(iterators, values, strict=False))}, partner))
    return found


Executed: TypeAlias = list[tuple[str, tuple[int, ...]]]


def executions(old: Node, new: Node) -> Callable[[Sizes], tuple[Executed, Executed]]:
    """Returns a function from sizes to the calls of both programs with their arguments; none if too many."""
    runs, places = zip(*map(_with_columns, (old, new)), strict=True)

    def told(side: int, steps: tuple[StatementRun, ...]) -> Executed:
        own = places[side]
        return [(one.name, tuple([values[k] for k in own[one.name]])) for one, values in steps]

    def interpreted(sizes: Sizes) -> tuple[Executed, Executed]:
        return told(0, runs[0].run(sizes) or ()), told(1, runs[1].run(sizes) or ())

    def executed(sizes: Sizes) -> tuple[Executed, Executed]:
        try:
            native.run(sizes, LONGEST_RUN)
        except TooLong:
            return [], []
        steps = native.leading_to(most=LONGEST_LIST) or ((), ())
        return told(0, steps[0]), told(1, steps[1])

    try:
        pair = Pair(("", ""), (runs[0], runs[1]), (), reassociate=False, opaque=frozenset())
        native = native_pair(pair)
    except NotNative:
        return interpreted
    return executed


def _with_columns(loops: Node) -> tuple[Runnable, Mapping[str, list[int]]]:
    """Loops whose calls compute nothing, and the columns of each call's arguments."""
    calls = [one for one in subprograms(loops) if isinstance(one, Call)]
    columns = {one.name: {value: k for k, value in enumerate(dict.fromkeys(one.arguments))} for one in calls}
    nothing = {name: Computation(name, 0, (), own) for name, own in columns.items()}
    places = {one.name: [columns[one.name][value] for value in one.arguments] for one in calls}
    return Runnable(with_calls(loops, lambda call: nothing[call.name].call()), nothing, {}), places


def _sizes(old: Program) -> Iterator[Sizes]:
    names = parameter_names(old.context)
    small = [
        {name: size + (k * 2 + turn) % 3 for k, name in enumerate(names)}
        for size in (3, 4, 5)
        for turn in (0, 1)
    ]
    large = [{name: 37 if name == one else size for name in names} for one in names for size in (4, 5, 6, 7)]
    for values in (*small, *large):
        if is_possible(old.context, values):
            yield values
