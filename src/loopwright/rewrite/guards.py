"""Generates the guard of a region: conditions under which the assumptions of its proof hold.

Parameters are limited by B, the largest tried bound for which nothing overflows; sets of parameters for which
assumptions hold become conditions; storage that may overlap is compared by addresses.  The guard need not be
trusted: it is read back from the new source (`prove.text.guards`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from loopwright.c.guard import NotInside, redefined
from loopwright.emit.expressions import condition_to_c, expression_to_c, literal
from loopwright.emit.region import Loops
from loopwright.loops.expressions import And, Test
from loopwright.loops.traverse import rename, rename_test
from loopwright.model.program import Array, Assumption, AssumptionKind, Program, Standing
from loopwright.presburger.named import everywhere, parameter_ranges
from loopwright.prove.obligations.formulas import expr_of, formula_of
from loopwright.prove.text.guards import NotAGuard, established, scalars, shown_by, touched_rows
from loopwright.rewrite.evidence import tried
from loopwright.transform import Plan

_LIMITS = (None, *(1 << bits for bits in (30, 28, 24, 20, 15, 10)))
"""The limits on parameters to try: none, or the largest that leaves the fewest assumptions."""


def guard_for(plan: Plan, loops: Loops, new: Program) -> tuple[str, ...]:
    """The conditions that leave the fewest assumptions; none if none are left, or none can be removed."""
    best: tuple[str, ...] = ()
    fewest = 0 if redefined(plan.written.source) else _left(plan, loops, new, best)
    for limit in _LIMITS:
        if not fewest:
            break
        conditions = _conditions(plan, loops, new, limit)
        try:
            left = _left(plan, loops, new, conditions)
        except NotAGuard:
            continue
        if left < fewest:
            fewest, best = left, conditions
    return best


def untested(program: Program, assumptions: Sequence[Assumption]) -> Iterator[str]:
    """A hint how to change the file so that a guard can test the remaining assumptions about storage."""
    left = [one for one in assumptions if one.standing is Standing.ASSUMED]
    of_storage = [one for one in left if one.kind is AssumptionKind.ALIASING]
    names = {name for one in of_storage for pair in one.pairs for name in pair}
    is_member = any(program.file.declarations.visible(one, program.region) is None for one in names)
    if left and (hidden := redefined(program.source)):
        yield f"no guard is written in a file that gives '{hidden[0]}' a meaning of its own; rename it"
    if left and (is_member or not all(one.text.isidentifier() for one in program.parameters)):
        yield (
            "no guard tests what is not a variable; give members of structs, and elements, names of their own"
            " before the region: 'double *x = s->x; int n = s->n;'"
        )
    if any(not one.pairs for one in of_storage):
        yield (
            "no guard compares the rows that pointers lead to, each of which may be anywhere; declare them as"
            " one array: 'double (*a)[m]'"
        )


def _left(plan: Plan, loops: Loops, new: Program, conditions: tuple[str, ...]) -> int:
    """The number of assumptions that a guard leaves."""
    holds = established(plan.written, conditions)
    known = tried(plan, loops, new, holds.parameters.intersect(plan.written.context))
    left = shown_by(plan.written, known, holds)
    return sum(one.standing is Standing.ASSUMED for one in left)


def _conditions(plan: Plan, loops: Loops, new: Program, limit: int | None) -> tuple[str, ...]:
    """The conditions for all remaining assumptions, with parameters within a limit."""
    program = plan.written
    left = [one for one in tried(plan, loops, new, program.facts) if one.standing is Standing.ASSUMED]
    runs = _runs(program)
    known = program.possible
    conditions: list[str] = []
    if limit is not None:
        conditions += _limits(program, runs, limit)
        known = established(program, conditions).parameters
    for one in left:
        if one.holds_for is not None:
            conditions += _conjuncts(program, one.holds_for, known, runs)
            known = known.intersect(one.holds_for)
    for one in left:
        starts = _from_start(program, one.pairs, known.intersect(program.context))
        own = known.intersect(starts).intersect(program.context)
        if own.intersect(runs).is_empty():
            continue  # a guard that never holds
        tests = [*_conjuncts(program, starts, known, runs), *_apart(program, one.pairs, own)]
        if tests and _is_shown(program, one, (*conditions, *tests)):
            conditions += tests
            known = known.intersect(starts)
    return tuple(dict.fromkeys(conditions))


def _runs(program: Program) -> isl.Set:
    """The parameters for which the region executes anything."""
    found = everywhere().subtract(everywhere())
    for statement in program.statements:
        found = found.union(statement.domain.params())
    return found.intersect(program.facts).coalesce()


def _is_shown(program: Program, one: Assumption, conditions: tuple[str, ...]) -> bool:
    """Whether conditions establish an assumption; others would only cost time."""
    try:
        (found,) = shown_by(program, [one], established(program, conditions))
    except NotAGuard:
        return False
    return found.standing is Standing.GUARDED


def _limits(program: Program, runs: isl.Set, limit: int) -> Iterator[str]:
    """The comparisons that keep parameters within a limit, unless their types do.

    The lower limit is the least value for which the region executes anything, if there is one.
    """
    least = parameter_ranges(runs)
    for one in program.parameters:
        if one.values is None or not one.text.isidentifier():
            continue
        low = max(-limit, least.get(one.name, one.values)[0])
        if one.values[0] < low:
            yield f"{one.text} >= {literal(low)}"
        if one.values[1] > limit:
            yield f"{one.text} <= {literal(limit)}"


def _conjuncts(program: Program, points: isl.Set, known: isl.Set, runs: isl.Set) -> list[str]:
    """Conditions that hold for no parameters outside `points`, given the context.

    For parameters in `points` with which nothing executes, a shorter condition may have any value.
    """
    if not all(size.text.isidentifier() for size in program.parameters) or known.is_subset(points):
        return []
    short = points.gist(known.intersect(runs)).coalesce()
    found = short if known.intersect(short).is_subset(points) else points.gist(known).coalesce()
    formula = rename_test(formula_of(isl.Set.from_params(found.params()), ()), _texts(program))
    parts: Sequence[Test] = formula.arguments if isinstance(formula, And) else (formula,)
    texts = [condition_to_c(one) for one in parts]
    return [f"({text})" if "||" in text else text for text in texts if text != "1"]


def _from_start(program: Program, pairs: Sequence[tuple[str, str]], holds: isl.Set) -> isl.Set:
    """The parameters with which no pointer is accessed before its first element."""
    names = {name for pair in pairs for name in pair}
    found = everywhere()
    for array in program.arrays:
        if array.name in names and array.layout is not None and array.layout.is_pointer:
            before = touched_rows(program, array).intersect(isl.Set("{ [s] : s < 0 }"))
            found = found.subtract(before.intersect_params(holds).params())
    return found.coalesce()


def _texts(program: Program) -> dict[str, str]:
    return {one.name: one.text for one in program.parameters}


def _apart(program: Program, pairs: Sequence[tuple[str, str]], holds: isl.Set) -> Iterator[str]:
    """The comparisons of addresses, for storage with known addresses."""
    arrays = {one.name: one for one in program.arrays if one.layout is not None}
    sizes = {one.text for one in program.parameters if one.values is not None and one.text.isidentifier()}
    for pair in pairs:
        if not set(pair) <= {*arrays, *sizes}:
            continue
        for x, y in (pair, (pair[1], pair[0])):
            for one in _tests(program, x, y, arrays.get(x), holds):
                yield one.text(scalars(program))


def _tests(program: Program, x: str, y: str, array: Array | None, holds: isl.Set) -> Iterator[NotInside]:
    if array is None or array.layout is None or not array.layout.is_pointer:
        yield NotInside(x, y)
        return
    touched = touched_rows(program, array).intersect_params(holds)
    for count in _counts(program, touched):
        yield NotInside(x, y, (count, *array.rows))


def _counts(program: Program, touched: isl.Set) -> Iterator[str]:
    """1 + the greatest row that is accessed, in each case.

    With strides the greatest row is a quotient, which guards do not compute: then all rows count.
    """
    if not touched.dim_is_bounded(isl.dim_type.set, 0):
        return
    for rows in filter(touched.is_subset, (touched, touched.remove_divs())):
        last = rows.coalesce().dim_max(0)
        found = [expr_of(one.add_constant_val(isl.Val(1)), ()) for _, one in last.get_pieces()]
        texts = [expression_to_c(rename(one, _texts(program))) for one in dict.fromkeys(found)]
        if not any("(" in text for text in texts):
            yield from texts
            return
