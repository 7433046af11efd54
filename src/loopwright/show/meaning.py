"""Obligations in words, for readers who do not know the model."""

from __future__ import annotations

from loopwright.prove.legality.legality import Status

MEANING = {
    "the model is what the text says": "The loops were read correctly: the model has the executions of the "
    "source, each of them once and in the order of the source, however large the parameters are.",
    "every dependence is kept": "Wherever two executions touch the same memory cell and one of them writes "
    "it, the one that came first still comes first. So every read finds the value it found before.",
    "the loops run the schedule": "The generated loops run every execution the schedule has, none twice, "
    "none that it does not have, and in its order.",
    "the new text runs the schedule, statement by statement": "The C text was read again from the start and "
    "compared with the schedule, so a mistake in printing would be found here.",
    "marked loops have independent iterations": "No iteration of a loop that is marked parallel touches what "
    "another one writes.",
    "Inv, Rank1 and Rank2 hold of the text, by cvc5": "A second, independent prover agrees that the loops of "
    "the source run what the model says, in its order, and end.",
}

IN_A_WORD = {Status.PROVED: "Proved", Status.ILLEGAL: "Refused", Status.UNDECIDED: "Could not decide"}

VERDICT = {
    Status.PROVED: "The new program computes what the old one does, for every problem size.",
    Status.ILLEGAL: "The script changes what the program computes, and nothing was generated. "
    "The smallest example is below.",
    Status.UNDECIDED: "Whether the new program computes the same could not be decided, and nothing was "
    "generated. The reason is below.",
}


def meaning(what: str) -> str:
    """What it is good for that this holds."""
    return MEANING.get(what, "")
