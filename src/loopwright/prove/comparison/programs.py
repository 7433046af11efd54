"""Decides whether two affine programs compute the same, in one of four ways.

    along its loops   the statement instances of OLD in an equivalent order, part by part: a proof
    by instances   the same statement instances in an equivalent order: a proof
    by values      every live-out cell ends up with the same value: a proof
    by running     a cell that ends up with another value, for given sizes and inputs: a refutation

If none of them decides, the answer is undecided, with the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import islpy as isl

from loopwright.c.liveness import may_be_replaced
from loopwright.c.macros import constant_macro
from loopwright.c.syntax import Node, operator, walk
from loopwright.c.tokens import decimal, names_in, spelled
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, Program
from loopwright.presburger.sets import isl_failures, within_effort
from loopwright.progress import Progress, silent
from loopwright.prove.comparison.acceptable import comparable
from loopwright.prove.comparison.values_in_types import (
    ARITHMETIC,
    overflow_at,
    overflow_of_new,
    overflow_of_text,
)
from loopwright.prove.descent.instances import NotOfOld, claims_of
from loopwright.prove.descent.outside import decided_inside
from loopwright.prove.descent.proof import by_descent, read_new, recognised, shared_counters
from loopwright.prove.descent.reading import LoopText
from loopwright.prove.descent.refutation import (
    FEW_SUMS,
    FULL,
    MORE,
    NEAR,
    QUICK,
    SUMS,
    Effort,
    ProgramPair,
    sizes_reaching,
    trial_of,
)
from loopwright.prove.equivalence.answer import REASSOCIATION, Equivalence
from loopwright.prove.equivalence.definitions import (
    Differences,
    constants,
    differences,
    disguised,
    several_meanings,
)
from loopwright.prove.equivalence.instances import Matched, NotMatched, by_instances
from loopwright.prove.equivalence.running import FEW_STEPS, MOST_STEPS, by_running
from loopwright.prove.equivalence.shared import (
    declared_in,
    other_rows,
    outputs,
    with_common_parameters,
    with_known_constants,
    with_statics_seen,
)
from loopwright.prove.equivalence.traces import Sizes
from loopwright.prove.equivalence.unset import prove_lifetimes
from loopwright.prove.equivalence.values import by_values
from loopwright.prove.reading.c_expressions import Unreadable, Words, expression
from loopwright.prove.reading.loops import sides
from loopwright.prove.reading.operation import StatementSyntax, is_in_subscript
from loopwright.prove.text.annotations import prove_annotations
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.read.c.gate.numbers import with_known_sizes
from loopwright.read.c.written_numbers import other_definitions
from loopwright.source import Span

OVERFLOW = "integers computed from iterators and sizes do not overflow in values either"
LARGEST_TILE, MOST_TILES = 128, 3
"""The largest number in a source that is taken for a tile size, and how many of them are tried."""
SHORT_PROOF, LONG_PROOF = 1_000_000, 10_000_000
"""isl operations allowed for a proof along the loops before further runs look for a difference: about one and
ten seconds; a source is long if it has `LONG_TEXT` statements."""
LONG_TEXT = 300
_FAILED = "isl could not compare two programs"


@isl_failures(_FAILED)
def prove_equivalent(
    old: Program,
    new: Program,
    *,
    allow_reassociation: bool = False,
    from_text: bool = False,
    progress: Progress = silent,
) -> Equivalence:
    """Decides whether `new` leaves in memory what `old` does, for every size or the defined sizes.

    `from_text`: the model of `new` was read from its source alone (`read_text`) and needs no proof.
    """
    asked = _ProgramsToCompare(old, new, allow_reassociation, progress, from_text)
    found = _equivalent(asked)
    given: dict[str, set[tuple[int, ...]]] = {}
    for program in (old, new):
        for one in program.parameters:
            if one.numbers or one.text in names_in(program.region.text):
                given.setdefault(one.name, set()).add(one.numbers)
    if isinstance(found.verdict, Proved) or not any(map(any, given.values())):
        return found
    sizes = found.verdict.parameters if isinstance(found.verdict, Refuted) else {}
    others = any(sizes[name] not in own for name in sizes.keys() & given for own in given[name] if own)
    if isinstance(found.verdict, Refuted) and not others:
        return found
    progress("comparing for the numbers of the files")
    known = {name for name, numbers in given.items() if len(numbers) == 1}  # no other number in either file
    programs = [replace(one, context=_at_numbers(one, known)) for one in (old, new)]
    again = _equivalent(replace(asked, old=programs[0], new=programs[1], is_brief=True))
    names = [one.text for one in old.parameters if one.numbers]
    told = dict.fromkeys(text for one in (old, new) for text in other_definitions(one.source, names))
    again = replace(again, trusted=(*again.trusted, *told))
    return again if others or isinstance(again.verdict, Proved) else found


def _at_numbers(program: Program, known: Container[str]) -> isl.Set:
    """The context restricted to the known numbers of variables; a macro remains a size."""
    own = tuple(one for one in program.parameters if one.numbers and one.name in known)
    return with_known_sizes(replace(program, parameters=own))


def _equivalent(asked: _ProgramsToCompare) -> Equivalence:
    try:
        old, new = with_common_parameters(asked.old, asked.new)
        asked.progress("proving that the loops are those of the text")
        models = [prove_model(old)] if asked.from_text else [prove_model(old), prove_model(new)]
        found = _told(replace(asked, old=old, new=new).proved(models), old, new)
        computes = _computes_integers(sides(new).values()) or _declares_integers(new)
        if isinstance(found.verdict, Proved):
            trusted = (*found.trusted, *((OVERFLOW,) if computes else ()))
            return replace(found, verdict=overflow_of_new(old, new) or found.verdict, trusted=trusted)
        return found
    except Unreadable as failure:
        return Equivalence(Undecided(f"the loops could not be read a second time: {failure}"))


@isl_failures(_FAILED)
def prove_along(
    old: Program, region: Span, *, allow_reassociation: bool = False, progress: Progress = silent
) -> Equivalence | None:
    """Decides whether the region executes `old` in an equivalent order, for every size (`prove.descent`).

    Returns None if its loops or statements cannot be followed.
    """
    progress("reading the loops")
    try:
        new = declared_in(old, region)
        old = with_known_constants(old, new)
        text = read_new(old, region)
    except (Unreadable, RecursionError):  # deep recursion is reported later
        return None
    try:
        different = differences(with_statics_seen(old), new)
        unclear = (*different.fatal, *different.textual)
        if old.context.is_empty() or unclear:
            return Equivalence(Undecided(f"the files define differently: {', '.join(unclear)}"))
        progress("looking for a difference in small runs")
        counted = outputs(old, new)
        known = not any(array.name == ELSEWHERE for array in old.arrays)
        trial = trial_of(old, new, text, counted.arrays, reassociate=allow_reassociation) if known else None
        outside = _untried if trial is None else trial.outside
        verdict = decided_inside(lambda: _followed(old, text, trial, progress), outside)
        if not isinstance(verdict, Proved):
            trusted = counted.trusted if isinstance(verdict, Refuted) else ()
            return _told(Equivalence(verdict, trusted=trusted), old, new)
        model = prove_model(old)
    except Unreadable as failure:
        return Equivalence(Undecided(str(failure)))
    except RecursionError:
        return None
    if not isinstance(model, Proved):
        return Equivalence(model)
    computed = _computes_integers({leaf.meaning: leaf.syntax for leaf in text.leaves.values()}.values())
    trusted = (OVERFLOW,) if computed else ()
    wrong = overflow_of_text(old, text)
    proved = Proved(verdict.obligations + model.obligations)
    return Equivalence(wrong or proved, trusted=trusted, way="along its loops")


def _told(found: Equivalence, old: Program, new: Program) -> Equivalence:
    """Withdraws a refutation that depends on two names for one variable (a macro), on constants whose values
    were not examined, or on cells that the function may overwrite after the region."""
    if not isinstance(found.verdict, Refuted):
        return found
    name = disguised(old, new)
    reason = "" if name is None else f"'{name}' is a macro for another variable of the regions"
    fixed = sorted(found.verdict.parameters.keys() & (constants(old.source) | constants(new.source)))
    reason = reason or (f"the value of the constant '{fixed[0]}' was not determined" if fixed else "")
    cell = found.verdict.cell
    again = cell is not None and all(may_be_replaced(one.file, one.region, *cell) for one in (old, new))
    if cell is not None and again and not reason:
        reason = f"'{cell[0]}' may be written again after the region, or not read"
    reason = reason or overflow_at(old, found.verdict.parameters) or ""
    return replace(found, verdict=Undecided(reason), notes=()) if reason else found


def _untried(effort: Effort | int = 0, near: Sizes | None = None) -> None:
    """A stand-in for trial runs that finds no difference."""


def _followed(old: Program, text: LoopText, trial: ProgramPair | None, progress: Progress) -> Verdict:
    """Tries a few runs, then a short proof, then more runs, then the proof without an effort limit.

    If the source is long, all runs come before any proof, and sums over the executions at more sizes.
    Nothing is run if the effect of a call is unknown.
    """
    tried = _untried if trial is None else trial.difference
    summed = _untried if trial is None else trial.difference_of_instances
    is_long = len(text.leaves) > LONG_TEXT
    wrong = shared_counters(text) or tried(QUICK) or (summed(SUMS) if is_long else None)
    if wrong is not None:
        return wrong
    try:
        claims = claims_of(old, text)
    except Unreadable as failure:
        near = sizes_reaching(text, failure.leaf.name, old.context) if isinstance(failure, NotOfOld) else {}
        wrong = (tried(NEAR, near) if near else None) or tried(FULL)
        if wrong is None:
            raise
        return wrong
    wrong = tried(FULL) if is_long else None
    if wrong is not None:
        return wrong
    progress("proving along the loops")
    known = recognised(old, text, claims)
    effort = LONG_PROOF if is_long else SHORT_PROOF
    verdict = _briefly(effort, lambda: by_descent(old, known))
    if isinstance(verdict, Proved | Refuted):
        return verdict
    progress("looking for a difference in more runs")
    near = {} if verdict is None else verdict.sizes
    wrong = (tried(NEAR, near) if near else None) or tried(FULL if is_long else MORE)
    wrong = wrong or (None if is_long else summed(FEW_SUMS))
    if wrong is not None:
        return wrong
    if verdict is not None:
        return verdict
    progress("proving along the loops, with more effort")
    verdict = by_descent(old, known)
    if isinstance(verdict, Undecided) and verdict.sizes:
        return tried(NEAR, verdict.sizes) or verdict
    return verdict


def _briefly(effort: int, work: Callable[[], Verdict]) -> Verdict | None:
    """Returns the result of `work` within an effort limit, or None if the limit is reached or isl fails."""
    try:
        return within_effort(effort, work)
    except isl.Error:
        return None


@dataclass(frozen=True)
class _ProgramsToCompare:
    """Two programs to compare, and the methods that compare them one after the other."""

    old: Program
    new: Program
    allow_reassociation: bool
    progress: Progress
    from_text: bool = False
    is_brief: bool = False
    """Compare by instances only."""

    def proved(self, models: Sequence[Verdict]) -> Equivalence:
        found = self._compared(models)
        is_proved = isinstance(found.verdict, Proved)
        return replace(found, trusted=(*found.trusted, *comparable(self.new))) if is_proved else found

    def _compared(self, models: Sequence[Verdict]) -> Equivalence:
        if self.old.context.is_empty():
            return Equivalence(Undecided("there are no sizes that both files allow"))
        different = differences(self.old, self.new)
        if different.fatal:
            return Equivalence(Undecided(f"the files define differently: {', '.join(different.fatal)}"))
        obligations = 0
        promised = prove_annotations(self.new, allow_reassociation=False)
        reorders = self.allow_reassociation and not isinstance(promised, Proved)
        if reorders:
            promised = prove_annotations(self.new, allow_reassociation=True)
        for verdict in (*models, promised, prove_lifetimes(self.new, self.old.context)):
            if not isinstance(verdict, Proved):
                return Equivalence(verdict)
            obligations += verdict.obligations
        self.progress("proving by instances")
        matched = self._by_instances(different)
        if isinstance(matched, Matched):
            proved = Proved(obligations + matched.proved.obligations)
            assumed = (*matched.assumed, REASSOCIATION) if reorders or matched.assumed else ()
            return Equivalence(proved, trusted=assumed, way="by instances", texts=matched.texts)
        unclear = several_meanings(self.old) or several_meanings(self.new)
        if unclear:
            return Equivalence(Undecided(f"the meaning of {', '.join(unclear)} depends on the preprocessor"))
        if self.is_brief:
            return Equivalence(Undecided(f"for the numbers of the files, by instances: {matched.reason}"))
        return self._without_instances(matched, obligations)

    def _by_instances(self, different: Differences) -> Matched | NotMatched:
        if different.textual:
            return NotMatched(f"the files define differently: {', '.join(different.textual)}")
        return by_instances(self.old, self.new, allow_reassociation=self.allow_reassociation)

    def _without_instances(self, matched: NotMatched, obligations: int) -> Equivalence:
        """Compares by values or by running; a few runs come first, because they find most mistakes."""
        uneven = other_rows(self.old, self.new)
        if uneven is not None:
            return Equivalence(Undecided(f"'{uneven}' differs in its rows; by instances: {matched.reason}"))
        counted = outputs(self.old, self.new)
        unread, hints = False, matched.sizes
        reasons = [f"by instances: {matched.reason}"]
        if any(array.name == ELSEWHERE for program in (self.old, self.new) for array in program.arrays):
            calls = any(any(program.syntax.of_type("call_expression")) for program in (self.old, self.new))
            what = "the calls do" if calls else "pointers lead to that are not followed"
            return Equivalence(Undecided(f"what {what} is not known; {reasons[0]}"))
        for budget in (FEW_STEPS, MOST_STEPS):
            self.progress("looking for a difference in small runs")
            found = by_running(
                self.old,
                self.new,
                counted.arrays,
                budget=budget,
                hints=hints,
                reassociate=self.allow_reassociation,
            )
            if isinstance(found, Refuted):
                return Equivalence(found, matched.order, counted.trusted)
            if budget == MOST_STEPS:
                reasons.append(f"by running: {found.reason}")
                break
            self.progress("proving by values")
            proof, believed = self._by_values(counted.arrays)
            if isinstance(proof, Proved):
                proved = Proved(obligations + proof.obligations)
                assumed = (REASSOCIATION,) if self.allow_reassociation else ()
                return Equivalence(proved, trusted=(*counted.trusted, *believed, *assumed), way="by values")
            reasons.append(f"by values: {proof.reason}")
            unread, hints = proof.unread, (*proof.hints, *hints, *self._past_tiles())
        return Equivalence(Undecided("; ".join(reasons), unread=unread), trusted=counted.trusted)

    def _past_tiles(self) -> Iterator[Sizes]:
        """Yields sizes of which one exceeds a number in NEW by one, and all others are small."""
        words = dict.fromkeys(spelled(self.new.region.text))
        numbers = (constant_macro(self.new.file.macros, one) or decimal(one) for one in words)
        tiles = sorted({one + 1 for one in numbers if one is not None and 8 <= one <= LARGEST_TILE})
        for size, large in product(tiles[:MOST_TILES], self.old.params):
            yield {name: size if name == large else 2 for name in self.old.params}

    def _by_values(self, arrays: tuple[str, ...]) -> tuple[Proved | Undecided, tuple[str, ...]]:
        """Compares by values; if isl fails, runs may still find a difference."""
        try:
            return by_values(self.old, self.new, arrays, reassociate=self.allow_reassociation)
        except isl.Error as failure:
            return Undecided(f"isl failed: {failure}"), ()


def _computes_integers(statements: Iterable[StatementSyntax]) -> bool:
    """Whether a statement computes an integer from iterators and sizes as a value, not as a subscript.

    Such integers are compared as mathematical integers: `i * 1000 / 1000` is i as long as i * 1000 fits into
    an int, and the other program need not overflow where this one does.
    """
    return any(
        node.type in ("binary_expression", "unary_expression")
        and operator(node) in ARITHMETIC
        and not is_in_subscript(node)
        and _is_integer_expression(node, side.words)
        for side in statements
        for node in walk(side.node)
    )


def _declares_integers(program: Program) -> bool:
    """Whether a local of the region is initialised by arithmetic, which executes even if it is unused."""
    values = (
        node.child_by_field_name("value") for node in walk(program.syntax) if node.type == "init_declarator"
    )
    parts = (part for value in values if value is not None for part in walk(value))
    return any(
        part.type in ("binary_expression", "unary_expression") and operator(part) in ARITHMETIC
        for part in parts
    )


def _is_integer_expression(node: Node, words: Words) -> bool:
    try:
        expression(node, words)
    except Unreadable:
        return False
    return True
