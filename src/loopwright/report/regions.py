"""The report on a C file and a script: every region, with any verdict.

Also the report on a description of a schedule: its loops, the proof, and their execution order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from html import escape
from importlib.util import find_spec

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Program
from loopwright.progress import Progress, silent
from loopwright.prove.legality.explain import explain_all, headline, witness
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.plans import prove_plan, stages
from loopwright.prove.legality.violation import Violation
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.text import load
from loopwright.report.page import moving_json, page
from loopwright.report.results import obligations_text, size_text
from loopwright.report.summary import Picture, ProofSummary, RegionSummary, pictures_of, steps_of
from loopwright.rewrite.generation import GenerationRequest, generated
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import KEPT, LOOPS, MODEL, TEXT, Outcome, RegionReport, Request
from loopwright.rewrite.scripts import regions_of, text_of_plan
from loopwright.show.described import DescribedLoops, described_picture
from loopwright.show.draw import HOW, MISSING, png, standalone_svg
from loopwright.show.moving import moving_picture
from loopwright.show.small import shrunk
from loopwright.source import called
from loopwright.transform import Plan, plan_of
from loopwright.transform.perform import performed
from loopwright.transform.script.steps import Step, parse_script


@dataclass(frozen=True, repr=False)
class HtmlReport:
    """`html` is a page that needs nothing else; `statuses` are the verdicts on the regions."""

    html: str
    drawn: tuple[Picture, ...]
    statuses: tuple[Status, ...]
    missing: str = ""
    """The reason why there are no pictures."""

    def __repr__(self) -> str:
        return f"<HtmlReport {self.status.value}, {len(self.drawn)} pictures, {len(self.html)} characters>"

    @property
    def status(self) -> Status:
        """The worst verdict on a region."""
        order = (Status.PROVED, Status.UNDECIDED, Status.ILLEGAL)
        return max(self.statuses, key=order.index, default=Status.PROVED)

    def pictures(self) -> Iterator[tuple[str, bytes]]:
        """Each picture in three forms, with the end of its file's name."""
        for number, one in enumerate(self.drawn, 1):
            yield f"-{number}.svg", standalone_svg(one.svg).encode()
            yield f"-{number}.png", png(one.scene)
            yield f"-{number}-dark.png", png(one.scene, dark=True)

    def _repr_html_(self) -> str:
        """In a notebook, the page in a frame: its style stays inside."""
        frame = "width: 100%; height: 40rem; border: 0"
        return f'<iframe style="{frame}" srcdoc="{escape(self.html)}"></iframe>'


@dataclass(frozen=True)
class DrawnRegion:
    """One region, its plan after each operation, and the same for the picture, with small tiles."""

    program: Program
    plans: tuple[tuple[str, Plan], ...]
    small: Plan
    note: str

    @property
    def plan(self) -> Plan:
        return self.plans[-1][1] if self.plans else plan_of(self.program)

    def shown(self, verdict: LegalityVerdict, *, reassociate: bool) -> tuple[Plan, LegalityVerdict, str]:
        """The plan to draw, the verdict on it, and a note on its tiles.

        It has small tiles, unless the script is legal with its own sizes only, or with small ones only:
        a picture shows nothing that the proof denies.
        """
        if not self.note:
            return self.plan, verdict, ""
        small = prove_plan(self.small, allow_reassociation=reassociate, dependences=self.dependences)
        same = small.status is verdict.status
        return (self.small, small, self.note) if same else (self.plan, verdict, "")

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        return tuple(memory_based(self.program))


def report_on(request: Request, progress: Progress = silent) -> HtmlReport:
    """Read, apply, prove as far as it goes, draw, and put it all on one page."""
    progress(f"reading {request.file}")
    programs = request.programs()
    regions = drawn_regions(parse_script(request.script or "", request.script_file), programs)
    progress("proving the script legal")
    verdicts = [
        prove_plan(one.plan, allow_reassociation=request.allow_reassociation, dependences=one.dependences)
        for one in regions
    ]
    found: Outcome | GaveUp | None = None
    if all(verdict.proved for verdict in verdicts):
        found = _outcome(request, progress)
    summaries = tuple(
        _summary(k, region, verdict, request, found, progress)
        for k, (region, verdict) in enumerate(zip(regions, verdicts, strict=True))
    )
    file = called(request.file)
    title = file if request.script is None else f"{file}, by {request.script_file}"
    drawn = tuple(picture for one in summaries for picture in one.pictures)
    missing = "" if can_draw() else f"{MISSING}: {HOW}"
    html = page(title, summaries, request.script, missing)
    return HtmlReport(html, drawn, tuple(one.status for one in summaries), missing)


def _outcome(request: Request, progress: Progress) -> Outcome | GaveUp:
    """All proofs of the pipeline, or the reason why it gave up, which the report includes."""
    try:
        return transformed(request, progress)
    except GaveUp as stopped:
        return stopped


def can_draw() -> bool:
    """Whether the optional libraries are installed."""
    return find_spec("matplotlib") is not None and find_spec("networkx") is not None


def drawn_regions(script: Sequence[Step], programs: Sequence[Program]) -> list[DrawnRegion]:
    """The regions with the script applied, each operation in the region that it names."""
    plans = [Plan.of(program) for program in programs]
    small = list(plans)
    notes = [""] * len(plans)
    histories: list[list[tuple[str, Plan]]] = [[] for _ in plans]
    for step in script:
        for k in regions_of(step, plans):
            plans[k] = performed(plans[k], step)
            small[k], notes[k] = _drawn(small[k], notes[k], step)
            histories[k].append((str(step), plans[k]))
    return [
        DrawnRegion(program, tuple(history), drawn, note)
        for program, history, drawn, note in zip(programs, histories, small, notes, strict=True)
    ]


def _drawn(plan: Plan, note: str, step: Step) -> tuple[Plan, str]:
    """The plan after the step as it is drawn, with small tiles, as the caption says."""
    smaller, changed = shrunk(step, plan)
    return performed(plan, smaller), changed or note


def _summary(
    number: int,
    region: DrawnRegion,
    verdict: LegalityVerdict,
    request: Request,
    found: Outcome | GaveUp | None,
    progress: Progress,
) -> RegionSummary:
    program = region.program
    line = program.region.line
    progress("listing the steps")
    steps = steps_of(
        region.plans, plan_of(program), region.dependences, reassociate=request.allow_reassociation
    )
    progress("drawing")
    done = found.regions[number] if isinstance(found, Outcome) else None
    stopped = found if isinstance(found, GaveUp) else None
    return RegionSummary(
        title=f"The region at line {line}",
        line=line,
        source=program.region.text,
        result=_result(region, verdict, request) if done is not None else None,
        steps=steps,
        pictures=_pictures(region, verdict, reassociate=request.allow_reassociation),
        moving=_moving(region, verdict, reassociate=request.allow_reassociation),
        proofs=_proofs(region, verdict, done, stopped),
        trusted=done.assumptions if done else tuple(entry.text for entry in program.trusted),
        status=Status.UNDECIDED if stopped else verdict.status,
        failure=stopped.diagnostic if stopped else explain_all(verdict, stages(region.plan)),
        blamed=_blamed(verdict, program),
    )


def _result(region: DrawnRegion, verdict: LegalityVerdict, request: Request) -> str | None:
    """The source that `loopwright transform` writes into the region."""
    return None if request.script is None else text_of_plan(region.plan, verdict, openmp=request.openmp)


def _pictures(region: DrawnRegion, verdict: LegalityVerdict, *, reassociate: bool) -> tuple[Picture, ...]:
    if not can_draw():
        return ()
    plan, shown, note = region.shown(verdict, reassociate=reassociate)
    return pictures_of(plan, region.dependences, shown, note)


def _moving(region: DrawnRegion, verdict: LegalityVerdict, *, reassociate: bool) -> str:
    plan, shown, note = region.shown(verdict, reassociate=reassociate)
    return moving_json(lambda sizes: moving_picture(plan, shown, sizes, note))


def _blamed(verdict: LegalityVerdict, program: Program) -> tuple[int, ...]:
    first = verdict.failures[0] if verdict.failures else None
    if not isinstance(first, Violation):
        return ()
    spans = (first.first_access.span, first.second_access.span)
    return tuple(span.line for span in spans if span.file == program.source.path)


def _proofs(
    region: DrawnRegion, verdict: LegalityVerdict, done: RegionReport | None, stopped: GaveUp | None
) -> tuple[ProofSummary, ...]:
    """All proofs of the pipeline, or how far it came."""
    if done is not None:
        return tuple(
            ProofSummary(one.what, "proved", f"{one.obligations} obligations") for one in done.proofs
        )
    status = "could not decide" if stopped else "not tried"
    remark = stopped.message if stopped else "nothing is generated from a script that is not proved legal"
    rest = [ProofSummary(what, status, remark) for what in (LOOPS, TEXT)]
    return (_model(region.program), _legality(verdict), *rest)


def _model(program: Program) -> ProofSummary:
    match prove_model(program):
        case Proved(count):
            return ProofSummary(MODEL, "proved", f"{count} obligations")
        case Refuted(message=message):
            raise InternalError(Code.OWN_MISTAKE, f"the text was misread: {message}")
        case Undecided(reason):
            return ProofSummary(MODEL, "could not decide", reason)


def _legality(verdict: LegalityVerdict) -> ProofSummary:
    if verdict.status is Status.PROVED:
        return ProofSummary(KEPT, "proved", f"{verdict.obligations} obligations")
    found = verdict.failures[0]
    status = "refused" if verdict.status is Status.ILLEGAL else "could not decide"
    return ProofSummary(KEPT, status, f"{headline(found)}: {witness(found)}")


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
