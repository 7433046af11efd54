"""Confirms isl's proofs by other provers: cvc5 decides the same obligations again, Coq checks a file.

isl always proves first, in milliseconds.  If no other prover is requested, the verified checker runs, if it
is built.

The equivalence of two files can be confirmed too.

isl proves it.  If every region of the new file executes the instances of the old one, the theorem that
`transform` proves of a new source can be proved of these two as well: by the verified checker, cvc5 or Coq.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import subprograms, with_children
from loopwright.presburger.points import values_text
from loopwright.progress import Progress
from loopwright.prove.certificates.specification import AllowedDifferences, Owned
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, ProofStatus
from loopwright.rewrite.request import ProverRequest
from loopwright.source import Source, Span

if TYPE_CHECKING:
    from loopwright.emit.region import Loops
    from loopwright.model.annotations import Annotation
    from loopwright.model.program import Program
    from loopwright.prove.certificates.status import Tries
    from loopwright.prove.equivalence.answer import Agreement
    from loopwright.prove.equivalence.instances import ComparedTexts
    from loopwright.prove.obligations.formulas import Obligation
    from loopwright.transform import Plan
    from loopwright.transform.storage import StorageChange


BATCH = 20
"""The number of obligations between two progress messages."""


@dataclass(frozen=True)
class PrintedRegion:
    """A region as read from its new source: the loops, around the instances of its statements, each loop with
    the facts proved about it.
    """

    original: Program
    scheduled: Program
    """The original in the order of the new source."""
    new: Program
    calls: tuple[Call, ...]
    node: Node
    temporaries: tuple[str, ...]
    title: str
    storage: tuple[StorageChange, ...] = ()
    """The changes of storage; `original` is then their result."""
    combining: tuple[str, ...] = ()
    """The statements that are steps of reductions whose order the user allows to change."""
    private: tuple[Owned, ...] = ()
    """The private storage of iterations of parallel loops that is not live-out."""
    reworded: bool = False
    """Whether a source differs in spelling from its file."""


def printed_region(
    plan: Plan, loops: Loops, new: Program, temporaries: tuple[str, ...], combining: tuple[str, ...]
) -> PrintedRegion:
    """The region of `loops`, whose source was read back as `new` and proved equal."""
    from loopwright.emit.region import claims

    calls = claims(loops)
    said = [one.annotations for one in subprograms(loops.named) if isinstance(one, For)]
    node = _annotated(new, calls, said)
    title = _title(plan)
    private = tuple(Owned(one.array, one.statements, one.last) for one in loops.private)
    return PrintedRegion(
        plan.original, plan.program, new, calls, node, temporaries, title, plan.storage, combining, private
    )


def compared_region(texts: ComparedTexts, title: str) -> PrintedRegion:
    """Two sources that were compared by instances; raises GaveUp if no proof can be written for them."""
    from loopwright.prove.text.annotations import said_of_loops

    if texts.calls is None:
        raise GaveUp(Code.NO_PROOF, "which instance a statement of the new text is, is not one formula")
    said = [tuple(one) for one in said_of_loops(texts.new)]
    node = _annotated(texts.new, texts.calls, said)
    return PrintedRegion(
        *(texts.original, texts.scheduled, texts.new, texts.calls, node, texts.temporaries, title),
        reworded=texts.reworded,
    )


def _annotated(new: Program, calls: Sequence[Call], said: Iterable[tuple[Annotation, ...]]) -> Node:
    """The source loops around these calls with their annotations, in source order."""
    from loopwright.prove.obligations.legality import opened
    from loopwright.prove.text.correspondence import claimed_loops

    left = iter(said)

    def annotated(node: Node) -> Node:
        here = replace(node, annotations=next(left)) if isinstance(node, For) else node
        return with_children(here, annotated)

    return annotated(opened(claimed_loops(new, calls)))


@dataclass(frozen=True)
class Opinions:
    """The messages of the requested prover about regions, and the prover responsible for each."""

    remarks: tuple[str, ...]
    statuses: tuple[ProofStatus, ...]


def opinions_on(regions: Sequence[PrintedRegion], request: ProverRequest, progress: Progress) -> Opinions:
    """Opinions on rewritten regions, by the requested prover or by the verified checker."""
    match request.prover:
        case "cvc5":
            if any(region.combining for region in regions):
                what = "that the steps of a reduction may be taken in another order"
                raise GaveUp(Code.NO_PROOF, f"cvc5 is not told {what}", hint="leave --prover out")
            remarks = tuple(_cvc5_on(region, request.seconds, progress) for region in regions)
            return Opinions(remarks, tuple(_nothing(one, "cvc5") or CVC5_AGREES for one in regions))
        case "coq":
            return _coq_on(regions, request, progress)
        case _:
            progress("asking the verified checker")
            return Opinions((), tuple(_checked(region, request.seconds) for region in regions))


CVC5_AGREES = ProofStatus("cvc5", CHECKED)


def _nothing(region: PrintedRegion, by: str) -> ProofStatus | None:
    from loopwright.prove.certificates.status import about_nothing
    from loopwright.transform.scheduling import flat_schedule

    return about_nothing(flat_schedule(region.original), by)


def _checked(region: PrintedRegion, seconds: float | None) -> ProofStatus:
    """The result of the verified checker."""
    from loopwright.prove.certificates.status import tried

    tries = _split_tries(region) if region.storage else _change_tries(region, reworded=region.reworded)
    return _nothing(region, "isl") or tried(tries, seconds, region.new)


def _split_tries(region: PrintedRegion) -> Tries:
    from loopwright.prove.certificates.split_sums import split_tries

    return split_tries(region.storage, region.scheduled, region.node)


def _change_tries(region: PrintedRegion, *, reworded: bool = False) -> Tries:
    from loopwright.prove.certificates.status import change_tries

    allowed = AllowedDifferences(region.combining, region.private, region.temporaries)
    written = region.new.region.text
    return change_tries(region.original, region.scheduled, region.node, allowed, written, reworded=reworded)


def _coq_on(regions: Sequence[PrintedRegion], request: ProverRequest, progress: Progress) -> Opinions:
    """A proof file for each region, checked by Coq."""
    from loopwright.prove.certificates.files import transformation_file
    from loopwright.prove.certificates.status import certified, stored_tries

    texts: list[str] = []
    statuses: list[ProofStatus] = []
    for one in regions:
        progress("writing the proof")
        tries = stored_tries(one.storage, one.scheduled, one.node) if one.storage else _change_tries(one)
        found = certified(tries, FINDING if request.seconds is None else request.seconds)
        original = one.storage[0].original if one.storage else one.original
        texts.append(
            transformation_file(found, original, one.new, one.node, one.calls, one.title, one.storage)
        )
        statuses.append(_nothing(one, "coq") or found.status)
    return Opinions(coq_proof(texts, request.path, request.seconds, progress), tuple(statuses))


FINDING = 30.0
"""The default limit in seconds of processor time to find certificates for a file."""


def _cvc5_on(region: PrintedRegion, limit: float | None, progress: Progress) -> str:
    from loopwright.prove.obligations.legality import both_sides, transformation_obligations

    sides = both_sides(region.original, region.scheduled, region.node)
    obligations = transformation_obligations(region.original, *sides, region.temporaries)
    return second_opinion(obligations, limit, progress)


def demand(request: ProverRequest) -> None:
    """Raise GaveUp, before anything is done, if the requested prover is not installed."""
    match request.prover:
        case "cvc5":
            from loopwright.prove.obligations.cvc5 import demand_cvc5

            demand_cvc5()
        case "coq":
            from loopwright.prove.coq.check import the_coqc

            the_coqc()


def _title(plan: Plan) -> str:
    """The file on the first line, then the script."""
    steps = [str(one.step) for one in plan.history]
    what = "after a script" if steps else "as it is"
    return "\n".join([f"{Path(plan.original.source.path).name}, {what}", *steps])


def second_opinion(obligations: Iterable[Obligation], limit: float | None, progress: Progress) -> str:
    """Run cvc5 on obligations that isl has proved; return the result as text."""
    from loopwright.prove.obligations.cvc5 import Cvc5
    from loopwright.prove.obligations.formulas import Fails, NotDecided

    prover = Cvc5() if limit is None else Cvc5(limit)
    left = iter(obligations)
    count = 0
    while batch := list(islice(left, BATCH)):
        progress(f"asking cvc5: {count} obligations so far")
        for one, answer in zip(batch, prover.decide(batch), strict=True):
            match answer:
                case Fails(values):
                    shown = values_text(values)
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
    """Write the file, or one for each region, and check it; return the results as text."""
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


@dataclass(frozen=True)
class Confirmed:
    """The agreement of two files, the messages of other provers, and the prover responsible for each
    region."""

    agreement: Agreement
    remarks: tuple[str, ...]
    statuses: tuple[ProofStatus, ...]


def confirmed(found: Agreement, file: str, request: ProverRequest, progress: Progress) -> Confirmed:
    """Raise if a requested prover does not confirm the agreement."""
    demand(request)
    plain = replace(found, texts=())
    title = f"{Path(file).name}, by another hand"
    try:
        opinions = opinions_on(_regions(found, title), request, progress)
    except GaveUp as failure:
        if request.prover != "isl":
            raise
        status = ProofStatus("isl", NOT_CHECKED, failure.message)
        return Confirmed(plain, (), (status,) * len(found.ways))
    return Confirmed(plain, opinions.remarks, opinions.statuses)


def _regions(found: Agreement, title: str) -> list[PrintedRegion]:
    regions: list[PrintedRegion] = []
    for texts, way in zip(found.texts or (None,) * len(found.ways), found.ways, strict=True):
        if texts is None:
            raise GaveUp(Code.NO_PROOF, f"it cannot check proofs made {way} yet")
        regions.append(compared_region(texts, title))
    return regions
