"""What arrays of rows leave unsaid of the one-dimensional arrays that they replace (`read.c.tables`).

In `C[i][j]` nothing is computed.  In `C[i * m + j]` a product and a sum are, which overflow or wrap around in
their types for large sizes, in one of the files only where the other computes in a wider type.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.model.program import AssumptionKind
from loopwright.prove.comparison.acceptable import unstated, with_settled
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.verdict import Undecided
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.reader import parse_c
from loopwright.source import Source


def with_flat_subscripts(
    found: Comparison, flat: tuple[Source, Source], asked: ComparisonOptions
) -> Comparison:
    """A proof about rows, with what it takes on trust of the subscripts of the sources without rows.

    Raises `BadInput` if a file shows that a subscript leaves its type.
    """
    told: list[str] = []
    ways = asked.of_old, asked.reading
    read = [gated(parse_c(text, way), way) for text, way in zip(flat, ways, strict=True)]
    for one, other in zip(*read, strict=True):
        old, new = with_settled(one, other, None, from_text=False)
        reason = unstated(old, new, frozenset())
        if reason is not None:
            return replace(found, answers=(replace(found.answers[0], verdict=Undecided(reason)),))
        trusted = (*old.trusted, *new.trusted)
        told += [entry.text for entry in trusted if entry.kind is AssumptionKind.ARITHMETIC]
    return replace(found, trusted=tuple(dict.fromkeys((*told, *found.trusted))))
