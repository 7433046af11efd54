"""isl and Coq as provers of obligations, to compare cvc5 with; they answer as `prove.obligations` says.

isl: the set of solutions is empty, or has a smallest point.  Coq: each obligation is a lemma, closed by `lia`
after eliminating division; Coq answers yes or gives no answer, it finds no counterexamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import isl_failures
from loopwright.prove.coq.arithmetic import proposition
from loopwright.prove.coq.check import Accepted, OutOfTime, Refused, check
from loopwright.prove.coq.names import comment, variables
from loopwright.prove.obligations.answers import Answer, Fails, Holds, NotDecided
from loopwright.prove.obligations.formulas import Obligation
from loopwright.prove.scanning.conditions import IteratorScope, negation, region


@dataclass(frozen=True)
class Isl:
    name: str = "isl"

    def decide(self, obligations: Sequence[Obligation]) -> tuple[Answer, ...]:
        return tuple(_decide(one) for one in obligations)


def _decide(obligation: Obligation) -> Answer:
    names = obligation.variables
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(names))
    everywhere = IteratorScope(isl.Set.universe(space), {name: k for k, name in enumerate(names)})
    with isl_failures(f"isl failed on the obligation {obligation.name}"):
        given = everywhere.within(region(obligation.given, everywhere))
        wrong = given.within(region(negation(obligation.wanted), given)).domain
        point = None if wrong.is_empty() else smallest_point(wrong)
    return Holds() if point is None else Fails(dict(zip(names, point.coordinates, strict=True)))


@dataclass(frozen=True)
class Coq:
    seconds: float = 120.0
    """For each run of `coqc`."""
    name: str = "coq"

    def decide(self, obligations: Sequence[Obligation]) -> tuple[Answer, ...]:
        """All in one file; where that is refused, those before the refusal hold, and the rest go on."""
        found: list[Answer] = []
        while len(found) < len(obligations):
            left = obligations[len(found) :]
            match check(lemma_file(left), self.seconds):
                case Accepted():
                    found += [Holds()] * len(left)
                case Refused(_, lemma, message):
                    first = _number(lemma, len(left))
                    found += [Holds()] * first
                    found.append(NotDecided(f"Coq does not accept it: {message}"))
                case OutOfTime(seconds):
                    found += [NotDecided(f"coqc was not done after {seconds:g} s")] * len(left)
        return tuple(found)


def _number(lemma: str, count: int) -> int:
    plain = lemma.removeprefix("obligation_")
    if not plain.isdigit() or int(plain) >= count:
        raise GaveUp(Code.NO_PROOF, f"coqc stopped outside of the obligations, at {lemma or 'the beginning'}")
    return int(plain)


def lemma_file(obligations: Sequence[Obligation]) -> str:
    """The obligations as lemmas, each with what it means; axioms are looked for once, in all of them."""
    parts = ["From Loopwright Require Import Tactics."]
    for k, one in enumerate(obligations):
        names = variables(one.variables)
        every = f"forall {' '.join(names.values())} : Z, " if names else ""
        given, wanted = proposition(one.given, names), proposition(one.wanted, names)
        parts.append(
            f"(** {comment(one.name)}: {comment(one.meaning)}. *)\n"
            f"Lemma obligation_{k} : {every}\n  {given} ->\n  {wanted}.\n"
            "Proof. intros. formula_holds. Qed."
        )
    together = ", ".join(f"obligation_{k}" for k in range(len(obligations)))
    parts.append(f"Definition together := ({together}).\nPrint Assumptions together.")
    return "\n\n".join(parts) + "\n"
