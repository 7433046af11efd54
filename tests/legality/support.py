"""Schedules in isl's notation, and verdicts at a glance."""

from __future__ import annotations

import islpy as isl

from loopwright.prove.legality.legality import LegalityVerdict


def schedule(*texts: str) -> dict[str, isl.Map]:
    """`S1[i] -> [0, i, 0]` and so on, by the statement's name."""
    return {text.split("[")[0].strip(): isl.Map(f"{{ {text} }}") for text in texts}


def broken(verdict: LegalityVerdict) -> list[tuple[str, str, str, str]]:
    """(kind, earlier statement, later statement, array) of each violation, in the order reported."""
    return [
        (item.kind, item.first.statement, item.second.statement, item.array) for item in verdict.violations
    ]
