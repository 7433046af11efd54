"""Other provers' word on what isl has proved: cvc5 decides the same obligations again, Coq checks a file.

isl always proves first, in milliseconds.  Where no other prover is asked for, the verified checker is,
if it is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.progress import Progress
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, ProofStatus
from loopwright.rewrite.request import ProverRequest
from loopwright.source import Source, Span

if TYPE_CHECKING:
    from loopwright.loops.nodes import Node
    from loopwright.prove.obligations.obligation import Obligation
    from loopwright.transform import Plan

BATCH = 20
"""Obligations between two words of progress."""


def remarks_on(
    regions: Sequence[tuple[Plan, Node, Sequence[str]]], request: ProverRequest, progress: Progress
) -> tuple[str, ...]:
    """What the prover that was asked for says of rewritten regions, each with its temporaries."""
    match request.prover:
        case "cvc5":
            return tuple(_cvc5_on(*region, request.seconds, progress) for region in regions)
        case "coq":
            from loopwright.prove.coq.transformation_file import transformation_file

            progress("writing the proof")
            texts = [
                transformation_file(plan.original, plan.program, node, _title(plan))
                for plan, node, _ in regions
            ]
            return coq_proof(texts, request.path, request.seconds, progress)
        case _:
            return ()


def status_of(plan: Plan, node: Node, temporaries: Sequence[str], request: ProverRequest) -> ProofStatus:
    """Who answers for the proof of a region: the prover that was asked for, or the verified checker."""
    if request.prover != "isl":
        return ProofStatus(request.prover, CHECKED)
    if temporaries:
        detail = f"{', '.join(temporaries)} may hold other values in between"
        return ProofStatus("isl", NOT_CHECKED, detail)
    from loopwright.prove.certificates.status import change_status

    return change_status(plan.original, plan.program, node)


def _cvc5_on(
    plan: Plan, node: Node, temporaries: Sequence[str], limit: float | None, progress: Progress
) -> str:
    from loopwright.prove.obligations.legality import transformation_obligations
    from loopwright.prove.obligations.sides import both_sides

    sides = both_sides(plan.original, plan.program, node)
    obligations = transformation_obligations(plan.original, *sides, temporaries)
    return second_opinion(obligations, limit, progress)


def _title(plan: Plan) -> str:
    """The file on the first line, then the script."""
    steps = [str(one.step) for one in plan.history]
    what = "after a script" if steps else "as it is"
    return "\n".join([f"{Path(plan.original.source.path).name}, {what}", *steps])


def second_opinion(obligations: Iterable[Obligation], limit: float | None, progress: Progress) -> str:
    """cvc5 on obligations that isl has proved; in words what came of it."""
    from loopwright.prove.backends.cvc5 import Cvc5
    from loopwright.prove.backends.interface import Fails, NotDecided

    prover = Cvc5() if limit is None else Cvc5(limit)
    left = iter(obligations)
    count = 0
    while batch := list(islice(left, BATCH)):
        progress(f"asking cvc5: {count} obligations so far")
        for one, answer in zip(batch, prover.decide(batch), strict=True):
            match answer:
                case Fails(values):
                    shown = ", ".join(f"{name} = {value}" for name, value in values.items())
                    raise InternalError(
                        Code.OWN_MISTAKE,
                        f"isl proved, and cvc5 refutes, {one.name}: {one.meaning}: {shown}",
                        span=one.span,
                    )
                case NotDecided(reason):
                    raise GaveUp(
                        Code.UNDECIDED, f"could not decide {one.name}, {one.meaning}: {reason}", span=one.span
                    )
        count += len(batch)
    return f"cvc5 agrees ({count} obligations)"


def coq_proof(
    texts: Sequence[str], path: str | None, limit: float | None, progress: Progress
) -> tuple[str, ...]:
    """Write the file, or one for each region, and check it; in words what came of each."""
    return tuple(
        _coq_proof(text, _numbered(path, k, len(texts)), limit, progress) for k, text in enumerate(texts)
    )


def _numbered(path: str | None, number: int, count: int) -> str | None:
    if path is None or count == 1:
        return path
    plain = Path(path)
    return str(plain.with_name(f"{plain.stem}_{number + 1}{plain.suffix}"))


def _coq_proof(text: str, path: str | None, limit: float | None, progress: Progress) -> str:
    from loopwright.prove.coq import check as coq

    if path is not None:
        progress(f"writing {path}")
        _write(text, path)
    if coq.coqc() is None:
        written = "" if path is None else f"{path} is written; to check it: {_how(path)}; "
        raise GaveUp(Code.MISSING_PROGRAM, "coqc is not installed", hint=f"{written}{coq.INSTALL}")
    where = f"{path}: " if path is not None else ""
    match coq.check(text, coq.ENOUGH if limit is None else limit, progress):
        case coq.Accepted():
            return f"{where}checked by coqc, no axioms"
        case coq.Refused(line, lemma, said):
            raise GaveUp(
                Code.NO_PROOF,
                f"Coq does not accept the proof: {lemma}, line {line}: {' '.join(said.split())[:200]}",
                span=None if path is None else _line(Source(path, text), line),
                hint="isl proves it; the steps of this proof were not found, and nothing was printed",
            )
        case coq.OutOfTime(spent):
            raise GaveUp(
                Code.TIME,
                f"could not decide: coqc was not done after {spent:g} s",
                hint="allow more time with --prover-timeout" + (f"; {_how(path)}" if path else ""),
            )


def _line(source: Source, line: int) -> Span:
    return source.at(source.offset(line, 1))


def _how(path: str) -> str:
    from loopwright.prove.coq.check import how_to_check

    return how_to_check(path)


def _write(text: str, path: str) -> None:
    try:
        Path(path).write_text(text)
    except OSError as error:
        raise BadInput(Code.FILE, f"cannot be written: {error.strerror}", span=Span.start_of(path)) from None
