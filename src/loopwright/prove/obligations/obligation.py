"""An obligation: a formula that has no integer solution, for any prover.

It has a name, a sentence of what it means, and the place in the source it is about, where there is
one.  Nothing in it depends on a prover; `prove/backends` has those.
"""

from __future__ import annotations

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Not, Test
from loopwright.prove.obligations.formulas import conjunction, names_in
from loopwright.source import Span


@dataclass(frozen=True)
class Obligation:
    """Wherever `given` holds, `wanted` does: given ∧ ¬wanted has no integer solution."""

    name: str
    meaning: str
    given: Test
    wanted: Test
    span: Span | None = None

    @property
    def violated(self) -> Test:
        return conjunction([self.given, Not(self.wanted)])

    @property
    def variables(self) -> tuple[str, ...]:
        return names_in(self.violated)
