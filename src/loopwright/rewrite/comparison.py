"""Two files that compute the same, and what other provers say of that.

isl proves it.  Where every region of the new file runs the instances of the old one, what `transform`
proves of a new text can be proved of these two as well: by the verified checker, by cvc5, by Coq.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress
from loopwright.prove.equivalence.answer import Agreement
from loopwright.prove.verdict import NOT_CHECKED, ProofStatus
from loopwright.rewrite.opinions import PrintedRegion, compared_region, demand, opinions_on
from loopwright.rewrite.request import ProverRequest


@dataclass(frozen=True)
class Confirmed:
    """The agreement of two files, what other provers said of it, and who answers for each region."""

    agreement: Agreement
    remarks: tuple[str, ...]
    statuses: tuple[ProofStatus, ...]


def confirmed(found: Agreement, file: str, request: ProverRequest, progress: Progress) -> Confirmed:
    """Raises where a prover that was asked for does not confirm the agreement."""
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
            raise GaveUp(Code.NO_PROOF, f"what isl proved {way} cannot be written for it yet")
        regions.append(compared_region(texts, title))
    return regions
