"""What the tests of Coq files share."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence

import pytest

from loopwright.generate.program import generate
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.model.schedule import Schedule
from loopwright.prove.certificates.specification import NO_DIFFERENCES, AllowedDifferences
from loopwright.prove.certificates.split_sums import split_tries
from loopwright.prove.certificates.status import (
    PrintedLoops,
    about_nothing,
    certified,
    change_tries,
    scan_tries,
    tried,
)
from loopwright.prove.coq.check import INSTALL, Accepted, check, coqc
from loopwright.prove.coq.meanings import REQUIRED, theorem_text
from loopwright.prove.coq.problem_terms import certificate_terms, problem_terms
from loopwright.prove.verdict import ProofStatus
from loopwright.transform import Plan, to_schedule

needs_coqc = pytest.mark.skipif(
    coqc() is None or shutil.which("ocamlopt") is None,
    reason=f"coqc or ocamlopt is not installed: {INSTALL}, apt install ocaml",
)

SECONDS = 240.0
"""The tests may run on a machine that does other things."""


def scan_status(
    schedule: Schedule, program: Node, seconds: float | None = None, printed: PrintedLoops | None = None
) -> ProofStatus:
    """What the checker says of loops that run a schedule."""
    return about_nothing(schedule) or tried(scan_tries(schedule, program, printed), seconds)


def change_status(
    original: Program,
    new: Program,
    loops: Node,
    allowed: AllowedDifferences = NO_DIFFERENCES,
    *,
    seconds: float | None = None,
    text: Program | None = None,
    written: str | None = None,
) -> ProofStatus:
    """What it says of loops that leave the memory as the original does."""
    return tried(change_tries(original, new, loops, allowed, written), seconds, text)


def storage_status(plan: Plan) -> ProofStatus:
    """What it says of the loops of a plan with other storage."""
    return tried(split_tries(plan.storage, plan.program, generate(to_schedule(plan))), 20)


def proof_file(problem: str, certificates: str) -> str:
    """A file whose theorem is what a yes to these certificates says."""
    terms = problem_terms(problem)
    parts = (terms.defined(), certificate_terms(certificates), theorem_text(terms.meaning))
    return f"{REQUIRED}.\n{''.join(parts)}"


def answers_file(problem: str, several: Sequence[str]) -> str:
    """A file that computes, in Coq, the checker's answer to each of several certificates of a problem."""
    defined, answers = _answers(problem, several)
    return f"{REQUIRED}.\n{defined}Eval vm_compute in {answers}.\n"


def agreement_file(problem: str, several: Sequence[str], answers: Sequence[bool]) -> str:
    """A file that Coq accepts if these are the checker's answers to several certificates of a problem."""
    defined, computed = _answers(problem, several)
    expected = "; ".join(str(one).lower() for one in answers)
    proof = "Proof. vm_compute. reflexivity. Qed."
    return (
        f"{REQUIRED}.\n{defined}Theorem agreement : {computed} = [{expected}].\n{proof}\n"
        "Print Assumptions agreement.\n"
    )


def _answers(problem: str, several: Sequence[str]) -> tuple[str, str]:
    """Definitions, and a term that is the list of the answers."""
    terms = problem_terms(problem)
    names = [f"certificates_{k}" for k in range(len(several))]
    modules = [
        f"Module M{k}.\n{certificate_terms(one, name)}End M{k}.\n"
        for k, (name, one) in enumerate(zip(names, several, strict=True))
    ]
    listed = "; ".join(f"M{k}.{name}" for k, name in enumerate(names))
    applied = f"{terms.meaning.function} {terms.meaning.arguments}"
    return f"{terms.defined()}{''.join(modules)}", f"(map ({applied}) [{listed}])"


def loops_file(schedule: Schedule, program: Node) -> str:
    """The proof that `program` runs `schedule`."""
    found = certified(scan_tries(schedule, program), SECONDS)
    return proof_file(found.problem, found.certificates)


def plan_file(plan: Plan) -> str:
    """The proof that the loops of a plan leave the memory that the original leaves."""
    node = generate(to_schedule(plan))
    found = certified(change_tries(plan.original, plan.program, node), SECONDS)
    return proof_file(found.problem, found.certificates)


def together(texts: Sequence[str]) -> str:
    """Several files as one, each a module, so that Coq starts once.  It is not asked for axioms.

    All files have theorems of the library, of which `make -C proofs axioms` asks; a test of each way to make
    files asks about one.
    """
    required = f"{REQUIRED}.\n"
    plain = [re.sub(r"^Print Assumptions \w+\.\n", "", text, flags=re.MULTILINE) for text in texts]
    parts = [f"Module File{k}.\n\n{one.replace(required, '')}\nEnd File{k}.\n" for k, one in enumerate(plain)]
    return "\n".join([required, *parts])


def assert_accepted(texts: Sequence[str]) -> None:
    found = check(together(texts), SECONDS, axioms=False)
    assert found == Accepted(), found
