"""From a C file and a script to a new C file, every step proved (the design's first picture).

    read -> model proved -> script -> legality proved -> loops -> scanning proved -> text
         -> read back -> text proved
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from loopwright.cli.diagnostics import REPORT
from loopwright.cli.prover import ProverRequest, transformation_remarks
from loopwright.emit.helpers import DEFINITIONS
from loopwright.emit.region import Accumulation, Loops, claims, file_text
from loopwright.errors import BadInput, GaveUp, Illegal, InternalError, Span
from loopwright.generate import Options, generate
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.model.source import Source
from loopwright.prove.legality.explain import explain_all, refusal
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.plans import prove_plan, stages
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.text.annotations import promises, prove_annotations
from loopwright.prove.text.c_expressions import Unreadable
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.text.outline import outlined, unfolded
from loopwright.prove.text.ranking import prove_ranking
from loopwright.prove.text.readback import modelled, prove_text
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.read.c.reader import parse_c, read_c
from loopwright.read.script import Items, Operation, Script, Value, Word, parse_script
from loopwright.transform import Plan, flat_schedule, plan_of, to_schedule
from loopwright.transform.interpret import performed

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What the user asked for; without a script, the identity."""

    file: str
    script: str | None = None
    script_file: str = "<script>"
    pure: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    openmp: bool = False
    allow_reassociation: bool = False
    prove: bool = True
    steps: bool = False
    prover: ProverRequest = field(default_factory=ProverRequest)
    cvc5: bool | None = None
    """Ask cvc5 too; None: where it is installed."""


@dataclass(frozen=True)
class Proof:
    """One thing that was proved, for all parameters."""

    what: str
    obligations: int


@dataclass(frozen=True)
class RegionReport:
    line: int
    statements: int
    proofs: tuple[Proof, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The new text, and what is known about it; `steps` are the regions after each operation."""

    source: Source
    regions: tuple[RegionReport, ...]
    steps: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    """What provers other than isl said."""


class NotLegal(Illegal):
    """The script breaks something; `explanation` is the whole story, `details` the same as data."""

    def __init__(self, cause: Illegal, explanation: str, details: dict[str, Any]) -> None:
        super().__init__(cause.message, witness=cause.witness, span=cause.span, hint=cause.hint)
        self.explanation = explanation
        self.details = details


class NotDecided(GaveUp):
    """Whether the script breaks something depends on what is not known here."""

    def __init__(self, cause: GaveUp, explanation: str, details: dict[str, Any]) -> None:
        super().__init__(cause.message, span=cause.span, hint=cause.hint)
        self.explanation = explanation
        self.details = details


def transformed(request: Request, say: Say) -> Outcome:
    """The file with the script applied; raises where an answer is not yes."""
    say(f"reading {request.file}")
    programs = read_c(request.file, pure=request.pure, assume=request.assume)
    say("applying the script")
    plans = [plan_of(program) for program in programs]
    steps: list[tuple[str, str]] = []
    if request.script is not None:
        plans = _apply(parse_script(request.script, request.script_file), plans, request.steps, steps)
    regions = [_Work(plan, request, say) for plan in plans]
    loops = [region.loops() for region in regions]
    say("printing")
    new = Source(request.file, file_text(loops, openmp=request.openmp))
    remarks: tuple[str, ...] = ()
    if request.prove:
        say("reading the new text")
        again = _read_again(new, request, programs)
        if len(again) != len(regions) or _outside(programs) != _outside(again):
            raise InternalError("the new text differs outside its regions")
        for region, one, read in zip(regions, loops, again, strict=True):
            region.read_back(one, read)
        made = [(region.plan, one.node) for region, one in zip(regions, loops, strict=True)]
        remarks = transformation_remarks(made, request.prover, request.file, say)
    return Outcome(new, tuple(region.report() for region in regions), tuple(steps), remarks)


def _outside(programs: Sequence[Program]) -> list[str]:
    """The lines of a file that are in no region, but for the helpers' definitions."""
    text, position = "", 0
    for program in programs:
        text += program.source.text[position : program.region.start]
        position = program.region.end
    lines = (text + programs[0].source.text[position:]).splitlines(keepends=True)
    return [line for line in lines if line.strip() not in DEFINITIONS.values()]


def _read_again(new: Source, request: Request, originals: tuple[Program, ...]) -> tuple[Program, ...]:
    """The statements of the new text; what its loops mean is read by whoever proves it."""
    try:
        outlines = parse_c(outlined(new, originals), pure=request.pure, assume=request.assume)
    except BadInput as failure:
        line = failure.span.excerpt.strip() if failure.span else ""
        raise InternalError(f"the new text cannot be read back: {failure.message}: {line}") from failure
    except Unreadable as failure:
        raise InternalError(f"the new text cannot be read back: {failure}") from failure
    return tuple(unfolded(one, new, old) for one, old in zip(outlines, originals, strict=True))


def _apply(
    script: Script, plans: list[Plan], shown: bool, steps: list[tuple[str, str]]
) -> list[Plan]:
    """Each operation is done in the region its handles belong to."""
    for operation in script.operations:
        index = region_of(operation, plans, script)
        plans[index] = performed(plans[index], operation, script.source)
        if shown:
            text = plans[index].history[-1].text
            steps.append((text, _region_text(plans[index])))
    return plans


def _region_text(plan: Plan) -> str:
    """The region as it is now, nothing proved."""
    program = plan.original
    text = file_text([Loops(program, generate(flat_schedule(plan.program), Options()))])
    return text[program.region.start : len(text) - (len(program.source.text) - program.region.end)]


def _words(value: Value) -> list[Word]:
    match value:
        case Word():
            return [value]
        case Items(_, values):
            return [word for item in values for word in _words(item)]
        case _:
            return []


def region_of(operation: Operation, plans: Sequence[Plan], script: Script) -> int:
    """The only region that knows the operation's handles; a single region needs no asking."""
    if len(plans) == 1:
        return 0
    words = [word for argument in operation.arguments for word in _words(argument.value)]
    handles = [word for word in words if any(word.text in plan.components for plan in plans)]
    fitting = [
        k for k, plan in enumerate(plans) if handles and all(word.text in plan.components for word in handles)
    ]
    if len(fitting) == 1:
        return fitting[0]
    place = operation.place
    span: Span = script.source.span(place.start, place.end - place.start)
    if not handles:
        names = ", ".join(dict.fromkeys(tag.name for plan in plans for tag in plan.program.tags))
        hint = f"the labels are {names}" if names else "label the loops in the C file"
        raise BadInput("no region has a loop component with this name", span=span, hint=hint)
    what = "belongs to several regions" if fitting else "names loops of different regions"
    raise BadInput(f"this operation {what}", span=span, hint="use labels, each region's its own")


class _Work:
    """One region on its way through the pipeline, collecting what was proved."""

    def __init__(self, plan: Plan, request: Request, say: Say) -> None:
        self.plan, self.request, self.say = plan, request, say
        self.proofs: list[Proof] = []
        self.trusted: list[str] = [entry.text for entry in plan.original.assumptions]

    def loops(self) -> Loops:
        """The new loops, legal and proved to run the schedule."""
        accumulations: tuple[Accumulation, ...] = ()
        if self.request.prove:
            self._model()
            accumulations = self._legality()
        self.say("generating loops")
        node = generate(to_schedule(self.plan), Options())
        if self.request.prove:
            self._scanning(node)
        return Loops(self.plan.original, node, accumulations)

    def _model(self) -> None:
        self.say("proving the model")
        match prove_model(self.plan.original):
            case Proved(obligations):
                self.proofs.append(Proof("the model is what the text says", obligations))
            case Refuted() as wrong:
                raise InternalError(f"the text was misread: {wrong.message} ({wrong.witness})", hint=REPORT)
            case Undecided(reason):
                self.trusted.append(f"the loops of the region mean what was read: {reason}")
        if self.request.cvc5 or (self.request.cvc5 is None and find_spec("cvc5") is not None):
            self._second_opinion()

    def _second_opinion(self) -> None:
        """Inv, Rank1 and Rank2 by cvc5; where it cannot say, that is a reason to stop if it was asked for."""
        self.say("asking cvc5")
        match prove_ranking(self.plan.original):
            case Proved(obligations):
                self.proofs.append(Proof("Inv, Rank1 and Rank2 hold of the text, by cvc5", obligations))
            case Undecided(reason) if self.request.cvc5:
                raise GaveUp(f"could not decide that the model is what the text says: {reason}")
            case Undecided(reason):
                self.trusted.append(f"the loops of the region mean what was read: {reason}")
            case Refuted() as wrong:
                raise InternalError(f"the text was misread: {wrong.message}", hint=REPORT)

    def _legality(self) -> tuple[Accumulation, ...]:
        self.say("proving the script legal")
        verdict = prove_plan(self.plan, allow_reassociation=self.request.allow_reassociation)
        if verdict.status is not Status.PROVED:
            raise _refused(self.plan, verdict)
        self.proofs.append(Proof("every dependence is kept", verdict.obligations))
        self.trusted += [one.assumption for one in verdict.reassociations]
        racing = [one for one in verdict.reassociations if one.loops]
        return tuple(Accumulation(one.statement, one.operator, one.array) for one in racing)

    def _scanning(self, node: Node) -> None:
        self.say("proving the loops")
        verdict = prove_scan(flat_schedule(self.plan.program), node)
        self._demand("the loops run the schedule", verdict)

    def read_back(self, loops: Loops, new: Program) -> None:
        """The new text runs the schedule, and its pragmas promise the truth."""
        self.say("proving the new text")
        verdict = prove_text(self.plan.program, new, claims(loops))
        self._demand("the new text runs the schedule, statement by statement", verdict)
        if any(promises(new)):
            annotated = prove_annotations(modelled(self.plan.original, new, claims(loops)))
            self._demand("marked loops have independent iterations", annotated)

    def _demand(self, what: str, verdict: Verdict) -> None:
        match verdict:
            case Proved(obligations):
                self.proofs.append(Proof(what, obligations))
            case Refuted():
                raise InternalError(
                    f"this should hold, and does not: {what}: {verdict.message} ({verdict.witness})",
                    hint=f"nothing was written; {REPORT}",
                )
            case Undecided(reason):
                raise GaveUp(
                    f"could not decide that {what}: {reason}",
                    hint="nothing was written; --no-prove writes the file without a proof",
                )

    def report(self) -> RegionReport:
        program = self.plan.original
        line = program.source.line_of(program.region.start)
        return RegionReport(line, len(program.statements), tuple(self.proofs), tuple(self.trusted))


def _refused(plan: Plan, verdict: LegalityVerdict) -> Illegal | GaveUp:
    known = stages(plan)
    explanation, details = explain_all(verdict, known), verdict.as_json()
    match refusal(verdict, known):
        case Illegal() as error:
            return NotLegal(error, explanation, details)
        case GaveUp() as error:
            return NotDecided(error, explanation, details)
        case _:
            raise InternalError("a plan was refused without a reason")
