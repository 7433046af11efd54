"""What comes of a request: the new text with what is known of it, or a refusal with its story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loopwright.errors import Code, GaveUp, Illegal, InternalError
from loopwright.prove.legality.explain import as_data, explain_all, refusal
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import stages
from loopwright.rewrite.contents import LoopReport, StatementReport
from loopwright.source import Source
from loopwright.transform.plan import Plan

MODEL = "the model is what the text says"
RANKING = "Inv, Rank1 and Rank2 hold of the text, by cvc5"
KEPT = "every dependence is kept"
LOOPS = "the loops run the schedule"
TEXT = "the new text runs the schedule, statement by statement"
SCOPES = "variables are declared where their values are needed"
MARKED = "marked loops have independent iterations"
"""What is proved of every region, as far as it applies."""


@dataclass(frozen=True)
class Proof:
    """One thing that was proved, for all parameters."""

    what: str
    obligations: int


@dataclass(frozen=True)
class RegionReport:
    """What is known of one region; a `kept` one has its old text."""

    line: int
    statements: tuple[StatementReport, ...]
    loops: tuple[LoopReport, ...]
    proofs: tuple[Proof, ...]
    assumptions: tuple[str, ...]
    kept: bool = False


@dataclass(frozen=True)
class Outcome:
    """The new text, and what is known about it; `steps` are the regions after each operation."""

    source: Source
    regions: tuple[RegionReport, ...]
    steps: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    """What provers other than isl said."""
    notes: tuple[str, ...] = ()
    """What was asked for and could not be said in the text."""


class NotLegal(Illegal):
    """The script breaks something; `explanation` is the whole story, `details` the same as data."""

    def __init__(self, cause: Illegal, explanation: str, details: dict[str, Any]) -> None:
        super().__init__(cause.code, cause.message, witness=cause.witness, span=cause.span, hint=cause.hint)
        self.explanation = explanation
        self.details = details


class NotDecided(GaveUp):
    """Whether the script breaks something depends on what is not known here."""

    def __init__(self, cause: GaveUp, explanation: str, details: dict[str, Any]) -> None:
        super().__init__(cause.code, cause.message, span=cause.span, hint=cause.hint)
        self.explanation = explanation
        self.details = details


def refused(plan: Plan, verdict: LegalityVerdict) -> Illegal | GaveUp:
    """Why a plan that is not proved legal is not carried out."""
    known = stages(plan)
    explanation, details = explain_all(verdict, known), as_data(verdict, known)
    match refusal(verdict, known):
        case Illegal() as error:
            return NotLegal(error, explanation, details)
        case GaveUp() as error:
            return NotDecided(error, explanation, details)
        case _:
            raise InternalError(Code.INTERNAL, "a plan was refused without a reason")
