"""`--prover isl|cvc5|coq`: who else has to agree before an answer is given.

isl always proves first, in milliseconds.  cvc5 then decides the same obligations again; for Coq a
file is written and, where `coqc` is there, checked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.cli.options import seconds
from loopwright.errors import BadInput, GaveUp, InternalError, Span

if TYPE_CHECKING:
    from loopwright.loops.nodes import Node
    from loopwright.prove.obligations.scanning import Obligation
    from loopwright.transform import Plan

PROVERS = ("isl", "cvc5", "coq")
BATCH = 20
"""Obligations between two words of progress."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class ProverRequest:
    """Which prover, where its proof goes, and how long it may take."""

    prover: str = "isl"
    path: str | None = None
    seconds: float | None = None


def add_prover_options(add: Callable[..., Any]) -> None:
    """`--prover` and its time limit."""
    add("--prover", choices=PROVERS, default="isl", help="who proves; with coq, -o names the proof")
    add("--prover-timeout", type=seconds, metavar="SECONDS", help="for coqc, or each obligation")


def proof_path(arguments: argparse.Namespace) -> str | None:
    """Where the proof goes, for Coq."""
    return arguments.output if arguments.prover == "coq" else None


def code_path(arguments: argparse.Namespace) -> str | None:
    """Where the program goes: with Coq, `-o` is the proof's."""
    return None if arguments.prover == "coq" else arguments.output


def prover_request(arguments: argparse.Namespace) -> ProverRequest:
    """What the command line asks for; to ask for a proof and for none is a mistake."""
    if arguments.no_prove and arguments.prover != "isl":
        raise BadInput("--no-prove and --prover exclude each other", span=Span(arguments.file, 1, 1))
    return ProverRequest(arguments.prover, proof_path(arguments), arguments.prover_timeout)


def second_opinion(obligations: Iterable[Obligation], limit: float | None, say: Say) -> str:
    """cvc5 on obligations that isl has proved; in words what came of it."""
    try:
        from loopwright.prove.backends.cvc5 import Cvc5
    except ImportError:
        raise GaveUp("cvc5 is not installed", hint="install it with 'pip install cvc5'") from None
    from loopwright.prove.backends.interface import Fails, Unknown

    prover = Cvc5() if limit is None else Cvc5(limit)
    left = iter(obligations)
    count = 0
    while batch := list(islice(left, BATCH)):
        say(f"asking cvc5: {count} obligations so far")
        for one, answer in zip(batch, prover.decide(batch), strict=True):
            match answer:
                case Fails(values):
                    shown = ", ".join(f"{name} = {value}" for name, value in values.items())
                    raise InternalError(
                        f"isl proved, and cvc5 refutes, {one.name}: {one.meaning}: {shown}", span=one.span
                    )
                case Unknown(reason):
                    raise GaveUp(f"could not decide {one.name}, {one.meaning}: {reason}", span=one.span)
        count += len(batch)
    return f"cvc5 agrees ({count} obligations)"


def coq_proof(texts: Sequence[str], path: str | None, limit: float | None, say: Say) -> tuple[str, ...]:
    """Write the file, or one for each region, and check it; in words what came of each."""
    return tuple(
        _coq_proof(text, _numbered(path, k, len(texts)), limit, say) for k, text in enumerate(texts)
    )


def _numbered(path: str | None, number: int, count: int) -> str | None:
    if path is None or count == 1:
        return path
    plain = Path(path)
    return str(plain.with_name(f"{plain.stem}_{number + 1}{plain.suffix}"))


def _coq_proof(text: str, path: str | None, limit: float | None, say: Say) -> str:
    from loopwright.prove.coq import check as coq

    if path is not None:
        say(f"writing {path}")
        _write(text, path)
    if coq.coqc() is None:
        if path is None:
            raise GaveUp("coqc is not installed", hint=f"{coq.INSTALL}, or write the proof with -o proof.v")
        return f"{path} is written, and not checked: coqc is not installed; {coq.INSTALL}, then: {_how(path)}"
    where = f"{path}: " if path is not None else ""
    match coq.check(text, coq.ENOUGH if limit is None else limit, say):
        case coq.Accepted():
            return f"{where}checked by coqc, no axioms"
        case coq.Refused(line, lemma, message):
            raise GaveUp(
                f"Coq does not accept the proof: {lemma}, line {line}: {' '.join(message.split())[:200]}",
                span=None if path is None else Span(path, max(line, 1), 1),
                hint="isl proves it; the steps of this proof were not found, and nothing was printed",
            )
        case coq.OutOfTime(spent):
            raise GaveUp(
                f"could not decide: coqc was not done after {spent:g} s",
                hint="allow more time with --prover-timeout" + (f"; {_how(path)}" if path else ""),
            )


def _how(path: str) -> str:
    from loopwright.prove.coq.check import how_to_check

    return how_to_check(path)


def _write(text: str, path: str) -> None:
    try:
        Path(path).write_text(text)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", span=Span(path, 1, 1)) from None


def transformation_remarks(
    regions: Sequence[tuple[Plan, Node]], request: ProverRequest, file: str, say: Say
) -> tuple[str, ...]:
    """What the prover that was asked for says of the regions of a C file."""
    match request.prover:
        case "cvc5":
            from loopwright.prove.obligations.legality import transformation_obligations
            from loopwright.prove.obligations.sides import both_sides

            return tuple(
                second_opinion(
                    transformation_obligations(
                        plan.original, *both_sides(plan.original, plan.program, node)
                    ),
                    request.seconds,
                    say,
                )
                for plan, node in regions
            )
        case "coq":
            from loopwright.prove.coq.transformation_file import transformation_file

            say("writing the proof")
            texts = [
                transformation_file(plan.original, plan.program, node, _title(file, plan))
                for plan, node in regions
            ]
            return coq_proof(texts, request.path, request.seconds, say)
        case _:
            return ()


def _title(file: str, plan: Plan) -> str:
    return f"{Path(file).name}: {'; '.join(step.text for step in plan.history) or 'as it is'}"


def report(remarks: Iterable[str]) -> None:
    """What the other provers said, to standard error."""
    for remark in remarks:
        print(f"proof: {remark}", file=sys.stderr)
