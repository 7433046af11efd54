"""Which loops OpenMP can share out (OpenMP 5.0, canonical loop form)."""

from __future__ import annotations

from loopwright.loops.expressions import Compare, Relation, Var
from loopwright.loops.nodes import For
from loopwright.loops.traverse import variables

ORDERED = (Relation.LT, Relation.LE)


def can_be_annotated(loop: For) -> bool:
    """Whether the test is `iterator < bound` or `iterator <= bound`, the bound fixed on entry."""
    match loop.test:
        case Compare(relation, Var(name), bound):
            return relation in ORDERED and name == loop.iterator and name not in variables(bound)
        case _:
            return False
