"""The report on a description of a schedule: its loops, the proof, and the order they run in."""

from __future__ import annotations

from loopwright.progress import Progress, silent
from loopwright.prove.legality.legality import Status
from loopwright.read.text import load
from loopwright.report.motion import moving_json
from loopwright.report.page import page
from loopwright.report.regions import HtmlReport
from loopwright.report.results import obligations_text, size_text
from loopwright.report.summary import ProofSummary, RegionSummary
from loopwright.rewrite.generation import GenerationRequest, generated
from loopwright.rewrite.request import LOOPS
from loopwright.show.described import DescribedLoops, described_picture
from loopwright.source import called


def report_on_description(file: str, progress: Progress = silent) -> HtmlReport:
    """Generate the loops, prove them, and put them on one page; raises where they are not proved."""
    found = generated(GenerationRequest(file), progress)
    progress("drawing")
    loops = DescribedLoops(found.schedule, found.loops)
    count = found.stats.obligations or 0
    summary = RegionSummary(
        title=called(file),
        line=1,
        source=load(file).text,
        result=found.code,
        steps=(),
        pictures=(),
        proofs=(ProofSummary(LOOPS, "proved", obligations_text(count)),),
        trusted=(),
        status=Status.PROVED,
        moving=moving_json(lambda sizes: described_picture(loops, sizes)),
        written="as described",
    )
    says = f"The loops run every instance of the schedule once, in its order: {size_text(found.stats)}."
    return HtmlReport(page(called(file), (summary,), None, says=says), (), (Status.PROVED,))
