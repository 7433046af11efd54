"""The assumptions that a user can state: they exclude the sizes of a witness, or keep rows apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from loopwright.c.selection.choice import BY_PRAGMAS
from loopwright.c.tokens import names_in
from loopwright.errors import BadInput
from loopwright.model.program import Assumption, AssumptionKind
from loopwright.presburger.named import at_parameters
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Refuted
from loopwright.read.c.find import resolved
from loopwright.read.c.reader import parse_c
from loopwright.source import Source


def excluding(found: Refuted, new: Source, old: Source, options: ComparisonOptions) -> str | None:
    """The hint that names options which exclude the example; None if its sizes are ordinary ones."""
    conditions = _small(found, new) or _rows(found, old, options)
    return f"if these sizes never occur, exclude them: {_stated(conditions)}" if conditions else None


def _small(found: Refuted, new: Source) -> tuple[str, ...]:
    """The sizes below 1, as far as the file names them."""
    names = names_in(new.text)
    small = {name: value for name, value in found.parameters.items() if value < 1 and name in names}
    return tuple(f"{name} >= {0 if value < 0 else 1}" for name, value in sorted(small.items()))


def _rows(found: Refuted, old: Source, options: ComparisonOptions) -> tuple[str, ...]:
    """What keeps the rows of written arrays apart that reach into each other in the example.

    The rows of `C[i * ldc + j]` do if `ldc < N`.
    """
    written = rows_apart(old, options, inputs=False)
    return tuple(dict.fromkeys(one.condition for one in written if _is_violated(one, found)))


def rows_apart(old: Source, options: ComparisonOptions, *, inputs: bool) -> tuple[Assumption, ...]:
    """The assumptions needed to read written arrays in rows; with `inputs`, those that are only read too."""
    try:
        reading = replace(options.of_old, choice=BY_PRAGMAS, rows=inputs)
        programs = parse_c(resolved(old, options.of_old), reading)
    except BadInput:
        return ()
    assumptions = (one for program in programs for one in program.assumptions)
    return tuple(one for one in assumptions if one.kind is AssumptionKind.ROWS and one.condition)


def _stated(conditions: Iterable[str]) -> str:
    return " ".join(f"--assume '{condition}'" for condition in conditions)


def _is_violated(one: Assumption, found: Refuted) -> bool:
    return one.holds_for is not None and at_parameters(one.holds_for, found.parameters).is_empty()
