"""The report of `loopwright show`: every region's story, whatever the verdict on it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Program
from loopwright.progress import Progress
from loopwright.prove.legality.explain import explain_all, headline, witness
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.plans import prove_plan, stages
from loopwright.prove.legality.violation import Violation
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.reader import read_c
from loopwright.read.script import Operation, Script, parse_script
from loopwright.rewrite.outcome import Outcome, RegionReport
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.rewrite.scripts import regions_of
from loopwright.show.draw import HOW, MISSING
from loopwright.show.meaning import MEANING
from loopwright.show.page import page
from loopwright.show.scene import Scene
from loopwright.show.shrunk import shrunk, size_for, sizes
from loopwright.show.story import Obligation, Picture, Story, pictures_of, region_text, steps_of
from loopwright.transform import Plan, plan_of
from loopwright.transform.interpret import performed

EXITS = {Status.PROVED: 0, Status.ILLEGAL: 1, Status.UNDECIDED: 3}


@dataclass(frozen=True)
class Report:
    html: str
    scenes: tuple[Scene, ...]
    statuses: tuple[Status, ...]
    remark: str = ""

    @property
    def worst(self) -> Status:
        order = (Status.PROVED, Status.UNDECIDED, Status.ILLEGAL)
        return max(self.statuses, key=order.index, default=Status.PROVED)

    @property
    def verdict(self) -> str:
        return self.worst.value

    @property
    def exit_code(self) -> int:
        return EXITS[self.worst]


@dataclass(frozen=True)
class Region:
    """One region, its plan after each operation, and the same for the picture, with small tiles."""

    program: Program
    plans: tuple[tuple[str, Plan], ...]
    small: Plan
    note: str

    @property
    def plan(self) -> Plan:
        return self.plans[-1][1] if self.plans else plan_of(self.program)

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        return tuple(memory_based(self.program))


def report(request: Request, progress: Progress) -> Report:
    """Read, apply, prove as far as it goes, draw, and put it all on one page."""
    progress(f"reading {request.file}")
    programs = read_c(request.file, pure=request.pure, assume=request.assume)
    regions = _applied(request, programs)
    progress("proving the script legal")
    verdicts = [
        prove_plan(one.plan, allow_reassociation=request.allow_reassociation, dependences=one.dependences)
        for one in regions
    ]
    found: Outcome | GaveUp | None = None
    if all(verdict.proved for verdict in verdicts):
        found = _outcome(request, progress)
    stories = tuple(
        _story(k, region, verdict, request, found, progress)
        for k, (region, verdict) in enumerate(zip(regions, verdicts, strict=True))
    )
    title = request.file if request.script is None else f"{request.file}, by {request.script_file}"
    scenes = tuple(picture.scene for story in stories for picture in story.pictures)
    missing = "" if can_draw() else f" ({MISSING}: {HOW})"
    html = page(title, stories, request.script, missing.strip(" ()"))
    return Report(html, scenes, tuple(story.status for story in stories), missing)


def _outcome(request: Request, progress: Progress) -> Outcome | GaveUp:
    """All proofs of the pipeline, or where it gave up, which the report tells."""
    try:
        return transformed(request, progress)
    except GaveUp as stopped:
        return stopped


def can_draw() -> bool:
    """Whether the optional libraries are there."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None and find_spec("networkx") is not None


def _applied(request: Request, programs: tuple[Program, ...]) -> list[Region]:
    script = parse_script(request.script or "", request.script_file)
    plans = [plan_of(program) for program in programs]
    small = list(plans)
    notes = [""] * len(plans)
    histories: list[list[tuple[str, Plan]]] = [[] for _ in plans]
    for operation in script.operations:
        for k in regions_of(operation, plans, script):
            plans[k] = performed(plans[k], operation, script.source)
            small[k], notes[k] = _drawn(small[k], notes[k], operation, script)
            histories[k].append((plans[k].history[-1].text, plans[k]))
    return [
        Region(program, tuple(history), drawn, note)
        for program, history, drawn, note in zip(programs, histories, small, notes, strict=True)
    ]


def _drawn(plan: Plan, note: str, operation: Operation, script: Script) -> tuple[Plan, str]:
    """The operation as it is drawn: with small tiles, which the caption admits."""
    size = size_for(plan)
    smaller = shrunk(operation, size)
    if smaller is operation or sizes(smaller) == sizes(operation):
        return performed(plan, operation, script.source), note
    return performed(plan, smaller, script.source), f"tiles and strips are drawn with size {size}"


def _story(
    number: int,
    region: Region,
    verdict: LegalityVerdict,
    request: Request,
    found: Outcome | GaveUp | None,
    progress: Progress,
) -> Story:
    program = region.program
    source = program.source
    line = source.line_of(program.region.start)
    progress("writing down the steps")
    steps = steps_of(
        region.plans, plan_of(program), region.dependences, reassociate=request.allow_reassociation
    )
    progress("drawing")
    done = found.regions[number] if isinstance(found, Outcome) else None
    stopped = found.message if isinstance(found, GaveUp) else ""
    return Story(
        title=f"The region at line {line}",
        line=line,
        source=program.region.text,
        result=_result(region, verdict, request) if done is not None else None,
        steps=steps,
        pictures=_pictures(region, verdict, request.allow_reassociation),
        obligations=_obligations(region, verdict, done, stopped),
        trusted=done.assumptions if done else tuple(entry.text for entry in program.assumptions),
        status=Status.UNDECIDED if stopped else verdict.status,
        explanation=stopped or explain_all(verdict, stages(region.plan)),
        blamed=_blamed(verdict, program),
    )


def _result(region: Region, verdict: LegalityVerdict, request: Request) -> str | None:
    """What `loopwright transform` writes into the region."""
    return None if request.script is None else region_text(region.plan, verdict, openmp=request.openmp)


def _pictures(region: Region, verdict: LegalityVerdict, reassociate: bool) -> tuple[Picture, ...]:
    """Drawn from the plan with small tiles, whose own violations are as good an example as any."""
    if not can_draw():
        return ()
    shown = verdict
    if region.note and not verdict.proved:
        shown = prove_plan(region.small, allow_reassociation=reassociate, dependences=region.dependences)
    return pictures_of(region.small, region.dependences, shown, region.note)


def _blamed(verdict: LegalityVerdict, program: Program) -> tuple[int, ...]:
    first = verdict.failures[0] if verdict.failures else None
    if not isinstance(first, Violation):
        return ()
    spans = (first.first_access.span, first.second_access.span)
    return tuple(span.line for span in spans if span.file == program.source.path)


def _obligations(
    region: Region, verdict: LegalityVerdict, done: RegionReport | None, stopped: str
) -> tuple[Obligation, ...]:
    """All of them as the pipeline proved them, or how far it came."""
    if done is not None:
        return tuple(Obligation(one.what, "proved", f"{one.obligations} obligations") for one in done.proofs)
    names = list(MEANING)
    status = "could not decide" if stopped else "not tried"
    remark = stopped or "nothing is generated from a script that is not proved legal"
    rest = [Obligation(what, status, remark) for what in names[2:4]]
    return (_model(region.program, names[0]), _legality(verdict, names[1]), *rest)


def _model(program: Program, what: str) -> Obligation:
    match prove_model(program):
        case Proved(count):
            return Obligation(what, "proved", f"{count} obligations")
        case Refuted(message=message):
            raise InternalError(Code.OWN_MISTAKE, f"the text was misread: {message}")
        case Undecided(reason):
            return Obligation(what, "could not decide", reason)


def _legality(verdict: LegalityVerdict, what: str) -> Obligation:
    if verdict.status is Status.PROVED:
        return Obligation(what, "proved", f"{verdict.obligations} obligations")
    found = verdict.failures[0]
    status = "refused" if verdict.status is Status.ILLEGAL else "could not decide"
    return Obligation(what, status, f"{headline(found)}: {witness(found)}")
