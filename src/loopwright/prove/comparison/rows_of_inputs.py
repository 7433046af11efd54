"""Compares programs once more with arrays that are only read in rows, where subscripts multiply a size.

    y[i] += A[i * lda + j] * x[j];

A[i * lda + j] is the cell (i, j) of rows of `lda`.  If neither program writes A, the same (i, j) is the same
element also where rows reach into each other, so a proof needs no condition on `lda`.  Two cells are
different elements only if the rows are apart, so a refutation is one for sizes that satisfy `lda >= n`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.errors import BadInput, GaveUp
from loopwright.prove.comparison.excluded_sizes import rows_apart
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.verdict import Refuted, Undecided
from loopwright.source import Source


def with_rows_of_inputs(
    found: Comparison,
    old: Source,
    options: ComparisonOptions,
    compared: Callable[[ComparisonOptions], Comparison],
) -> Comparison:
    """The answer with inputs read in rows, if the answer without is undecided and there are such inputs."""
    if not isinstance(found.verdict, Undecided):
        return found
    conditions = tuple(dict.fromkeys(one.condition for one in rows_apart(old, options, inputs=True)))
    if not conditions:
        return found
    try:
        again = compared(replace(options, inputs_in_rows=True))
        if again.proved:
            return again
        stated = replace(options.reading, assume=(*options.reading.assume, *conditions))
        again = compared(replace(options, reading=stated))
    except (BadInput, GaveUp):
        return found
    return again if isinstance(again.verdict, Refuted) else found
