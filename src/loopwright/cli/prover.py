"""`--prover isl|cvc5|coq`: who else has to agree before an answer is given."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any

from loopwright.cli.options import seconds
from loopwright.errors import BadInput, Code
from loopwright.rewrite.request import ProverRequest
from loopwright.source import Span

PROVERS = ("isl", "cvc5", "coq")


def add_prover_options(add: Callable[..., Any]) -> None:
    """`--prover` and its time limit."""
    add("--prover", choices=PROVERS, default="isl", help="who proves; with coq, -o names the proof")
    add("--prover-timeout", type=seconds, metavar="SECONDS", help="for coqc, or each obligation")


def proof_path(arguments: argparse.Namespace) -> str | None:
    """Where the proof goes, for Coq."""
    return arguments.output if arguments.prover == "coq" else None


def code_path(arguments: argparse.Namespace) -> str | None:
    """Where the program goes: with Coq, `-o` is the proof's; None and `-` are standard output."""
    return None if arguments.prover == "coq" or arguments.output == "-" else arguments.output


def prover_request(arguments: argparse.Namespace) -> ProverRequest:
    """What the command line asks for; to ask for a proof and for none is a mistake."""
    if arguments.no_prove and arguments.prover != "isl":
        raise BadInput(
            Code.OPTION, "--no-prove and --prover exclude each other", span=Span.start_of(arguments.file)
        )
    return ProverRequest(arguments.prover, proof_path(arguments), arguments.prover_timeout)


def report(remarks: Iterable[str]) -> None:
    """What the other provers said, to standard error."""
    for remark in remarks:
        print(f"proof: {remark}", file=sys.stderr)


def answers(prover: str, remarks: Iterable[str]) -> list[dict[str, str]]:
    """The same for machines: what a prover other than isl was asked and said."""
    return [{"prover": prover, "answer": remark} for remark in remarks]
