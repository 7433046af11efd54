"""Rewrites a C file by a script to a new C file, and proves every step.

read -> model proved -> script -> legality proved -> loops -> scanning proved -> text
     -> read back -> text proved
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loopwright.c.regions import marked_places
from loopwright.emit.region import Loops, openmp_notes
from loopwright.errors import BadInput, Code, GaveUp, Illegal, InternalError, about
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import children, subprograms
from loopwright.model.annotations import Unrolled
from loopwright.model.program import Assumption, Program, Standing
from loopwright.progress import Progress
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.scanning.scan import ScannedLoops
from loopwright.prove.verdict import REORDERED, ProofStatus, rounding
from loopwright.rewrite.directives import (
    asks_for_sums,
    directed_plans,
    is_openmp,
    refuse_directives_of,
    with_pragmas_tried,
)
from loopwright.rewrite.evidence import Evidence, of_assumptions, of_legality, of_model, of_scanning
from loopwright.rewrite.guards import guard_for, untested
from loopwright.rewrite.opinions import opinions_on, printed_region
from loopwright.rewrite.request import (
    AssumptionReport,
    LoopReport,
    Outcome,
    ProverRequest,
    RegionReport,
    Request,
    RewriteOptions,
    StatementReport,
    TargetName,
    for_all_or_known_sizes,
)
from loopwright.rewrite.rereading import read_again, refuse_other_meaning
from loopwright.rewrite.scripts import AppliedScript, applied, loops_of
from loopwright.rewrite.targets import CTarget, RewriteTarget, TargetText
from loopwright.rewrite.teams import Divided, divided, not_divided, with_divided_loops
from loopwright.source import Edit, Source
from loopwright.transform import Plan, plan_of
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.perform import performed
from loopwright.transform.script.steps import parse_script

if TYPE_CHECKING:
    from loopwright.prove.legality.suggest import Suggestion


def transformed(request: Request, progress: Progress) -> Outcome:
    """The file with the script applied, or its own directives; raises unless every proof succeeds."""
    found = _transformed(request, progress)
    if not request.guard or not found.left:
        return found
    in_rows = replace(request, reading=replace(request.reading, rows=True))
    try:
        other = _transformed(in_rows, progress)
    except (BadInput, GaveUp):
        return found  # which is a result as well, with more assumptions
    return other if other.left < found.left else found


def _transformed(request: Request, progress: Progress) -> Outcome:
    return for_all_or_known_sizes(request, _for_all_sizes, progress)


def _for_all_sizes(request: Request, progress: Progress) -> Outcome:
    progress(f"reading {request.file}")
    if request.directives:
        found = directed_plans(request)
        sums = request.allow_reassociation or asks_for_sums(found.file)
        wanted = replace(request, openmp=request.openmp or found.shared, allow_reassociation=sums)
        return rewritten(found.plans, wanted, progress)
    programs = request.programs()
    if any(is_openmp(one) for program in programs for one in program.assumptions):
        refuse_directives_of(programs[0].source, request.reading.compiled)
    plans = tuple(plan_of(with_pragmas_tried(program)) for program in programs)
    if request.script is None:
        return rewritten(plans, request, progress, keep_untouched=False)
    progress("applying the script")
    script = parse_script(request.script, request.script_file)
    result: AppliedScript = applied(script, plans, steps=request.steps)
    return replace(rewritten(result.plans, request, progress), steps=result.steps)


def _target(options: RewriteOptions) -> RewriteTarget:
    match options.target:
        case TargetName.C:
            return CTarget(options.openmp)
        case TargetName.CUDA:
            from loopwright.rewrite.cuda import CudaTarget  # the kernel generator takes time to load

            return CudaTarget()


def rewritten(
    plans: Sequence[Plan], options: RewriteOptions, progress: Progress, *, keep_untouched: bool = True
) -> Outcome:
    """The file of the plans' regions, with new loops; there is at least one plan.

    A region whose plan has no operations keeps its text, unless all are to be regenerated.
    """
    target = _target(options)
    for plan in plans:
        _refuse_unknown_annotations(plan, target)
    made = [k for k, plan in enumerate(plans) if plan.history or not keep_untouched]
    known = {k: _divided_or_made(plans[k], target, options, progress) for k in made}
    regions = [*known.values()]
    teams = tuple(region.team for region in regions)
    if any(teams):
        _refuse_guarded_teams(regions[0], options)
        openmp = options.openmp or any(one is not None and not one.is_kept for one in teams)
        target = CTarget(openmp, teams)
    if options.guard:
        regions = _guarded(regions, target, options, progress)
    source = plans[0].written.source
    text = TargetText(source, None, source)
    remarks: tuple[str, ...] = ()
    if regions:
        progress("printing")
        loops, mine = [region.loops for region in regions], [region.plan for region in regions]
        text = target.printed(loops, mine, prove=options.prove)
    if regions and options.prove:
        regions, remarks = _with_text_proved(regions, text, target, options, progress)
    known = dict(zip(made, regions, strict=True))
    notes = [
        note
        for region in regions
        for note in (openmp_notes(region.loops) if options.openmp else _unsaid(region.plan))
    ]
    if options.guard:
        notes += [note for one in regions for note in untested(one.plan.written, one.assumptions)]
    reports = tuple(_report(plan, known.get(k)) for k, plan in enumerate(plans))
    silence = (text for region in regions for text in region.evidence.silence)
    remarks = (*remarks, *dict.fromkeys(silence))
    written = _as_written(text.source, [(plan.written, k in known) for k, plan in enumerate(plans)])
    return Outcome(written, reports, remarks=remarks, notes=tuple(notes), kernels=text.kernels)


def _as_written(source: Source, regions: Sequence[tuple[Program, bool]]) -> Source:
    """The new source with all branches of `#if` in the unchanged regions.

    Inactive branches are blank in the source as read, at the same offsets.
    """
    edits: list[Edit] = []
    for k, (program, made) in enumerate(regions):
        texts = {one.place.source.text for one in program.assumptions if one.place is not None and not made}
        for text in texts - {program.source.text}:
            read, place = (marked_places(one)[k] for one in (program.source, source))
            if len(text) != len(program.source.text) or place.text != read.text:
                message = "the branches of '#if' in a region that stays cannot be put back"
                raise InternalError(Code.INTERNAL, message, span=program.region)
            edits.append((place.start, place.end, text[read.start : read.end]))
    return source.edited(edits)


def _with_text_proved(
    regions: Sequence[_Region],
    text: TargetText,
    target: RewriteTarget,
    options: RewriteOptions,
    progress: Progress,
) -> tuple[list[_Region], tuple[str, ...]]:
    """The regions with the proofs of their new source, read again, and the opinions of other provers."""
    progress("reading the new source")
    plans = [region.plan for region in regions]
    originals, written = [plan.original for plan in plans], [plan.written for plan in plans]
    guarded = [k for k, region in enumerate(regions) if region.loops.guard]
    again, guards = read_again(text.meant, originals, written, guarded)
    believed = refuse_other_meaning(text.source, written) if target.on_host else ()
    regions = [
        replace(
            region,
            evidence=region.evidence
            + text.evidence
            + target.of_text(region.plan, region.loops, new, progress, region.scanned),
            assumptions=_assumed(
                region, (*of_assumptions(region.plan, region.loops, new, guards.get(k)), *believed)
            ),
        )
        for k, (region, new) in enumerate(zip(regions, again, strict=True))
    ]
    _refuse_storage(regions, options)
    asked = [
        printed_region(region.plan, region.loops, new, region.temporaries, region.combining)
        for region, new in zip(regions, again, strict=True)
    ]
    found = opinions_on(asked, options.prover, progress)
    proved = [replace(region, proof=one) for region, one in zip(regions, found.statuses, strict=True)]
    return proved, found.remarks


def confirmed_suggestion(
    found: Suggestion, plans: Sequence[Plan], number: int, request: ProverRequest, progress: Progress
) -> Suggestion:
    """A suggestion for the plan of this number, with another prover's opinion of its new source."""
    if not found.legal or found.reassociation:
        return found
    after = [performed(plan, *found.steps) if k == number else plan for k, plan in enumerate(plans)]
    try:
        outcome = rewritten(after, RewriteOptions(prover=request), progress)
    except GaveUp as failure:
        return replace(found, legal=False, reason=f"{request.prover} does not confirm it: {failure.message}")
    return replace(found, reason=f"{found.reason}; {', '.join(outcome.remarks)}")


def _refuse_unknown_annotations(plan: Plan, target: RewriteTarget) -> None:
    """Refuse an annotation of a loop that the target cannot express, rather than ignore it."""
    for directive in plan.directives:
        if directive.kind in target.refused:
            message = f"'{directive.kind.value}' means nothing for the target {target.name}"
            place = directive.span or plan.original.region
            raise BadInput(Code.OPTION, message, span=place, hint=target.hint)


def _unsaid(plan: Plan) -> tuple[str, ...]:
    """Loops that were marked and proved, but that source without OpenMP cannot annotate."""
    marked = [one for one in plan.directives if one.kind in (DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE)]
    names = dict.fromkeys(plan.leaf(one.positions[0]).loops[one.loop] for one in marked)
    what = f"the loop{'s' if len(names) > 1 else ''} over {', '.join(names)}"
    note = f"independent iterations of {what} are proved; --openmp writes a pragma that tells the compiler"
    return (note,) if names else ()


@dataclass(frozen=True)
class _Region:
    """A region with its new loops, and the results so far."""

    plan: Plan
    loops: Loops
    evidence: Evidence
    assumptions: tuple[Assumption, ...]
    temporaries: tuple[str, ...] = ()
    combining: tuple[str, ...] = ()
    proof: ProofStatus | None = None
    scanned: ScannedLoops | None = None
    """The loops that were proved to execute the schedule, before printing."""
    team: Divided | None = None
    reordered: bool = False
    """Whether the steps of a reduction are reordered."""


def _guarded(
    regions: Sequence[_Region], target: RewriteTarget, options: RewriteOptions, progress: Progress
) -> list[_Region]:
    """The regions with the guards that they need, determined from their source without guards."""
    if not target.on_host or not options.prove:
        hint = "a guard stands for what a proof needs, in the C file itself"
        raise BadInput(Code.OPTION, "--guard is for C that is proved", hint=hint)
    if not regions:
        return []
    progress("finding guards")
    plans = [region.plan for region in regions]
    text = target.printed([region.loops for region in regions], plans, prove=True)
    again, _ = read_again(text.meant, [plan.original for plan in plans], [plan.written for plan in plans])
    return [
        replace(region, loops=replace(region.loops, guard=guard_for(region.plan, region.loops, new)))
        for region, new in zip(regions, again, strict=True)
    ]


def _refuse_storage(regions: Sequence[_Region], options: RewriteOptions) -> None:
    """Refuse changed storage: cvc5's obligations refer to the storage as written."""
    if options.prover.prover == "cvc5" and any(region.plan.storage for region in regions):
        hint = "only isl proves that every read sees the same value: leave out --prover"
        raise GaveUp(Code.NO_PROOF, "cvc5 is not asked: storage has changed", hint=hint)


def _assumed(region: _Region, listed: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    return listed if region.team is None else region.team.settled(listed)


def _refuse_guarded_teams(region: _Region, options: RewriteOptions) -> None:
    if options.guard or options.target is not TargetName.C or not options.prove:
        message = "loops that threads divide are rewritten as C that is proved, without guards"
        raise BadInput(Code.OPTION, message, span=region.plan.written.region)


def _divided_or_made(
    plan: Plan, target: RewriteTarget, options: RewriteOptions, progress: Progress
) -> _Region:
    """The new loops; worksharing loops keep their division, or are divided where they are independent."""
    team = divided(plan.written)
    if team is None or not target.on_host:
        return _made(plan, None, target, options, progress)
    if team.may_keep(plan):
        made = _made(plan, None, target, options, progress)
        kept = team.kept(plan, made.loops, made.temporaries)
        if kept is not None:
            return replace(made, team=kept)
    is_asked = any(one.kind is DirectiveKind.PARALLEL for one in plan.directives)
    try:
        return _made(with_divided_loops(plan), team, target, options, progress)
    except Illegal as failure:
        if is_asked or failure.diagnostic.code is not Code.NOT_PARALLEL:
            raise
        raise not_divided(plan.written, failure.diagnostic.message) from failure


def _made(
    plan: Plan, team: Divided | None, target: RewriteTarget, options: RewriteOptions, progress: Progress
) -> _Region:
    """The new loops, legal and proved to execute the schedule; a team may combine the same sums as before."""
    if team is not None and team.sums:
        options = replace(options, allow_reassociation=True)
    evidence = Evidence()
    verdict: LegalityVerdict | None = None
    scanned: ScannedLoops | None = None
    if options.prove:
        evidence += of_model(plan.written, options, progress)
        legal, verdict = of_legality(plan, options, progress, host=target.on_host)
        evidence += legal
    progress("generating loops")
    with about(lambda: plan.written.region):
        node = target.generated(plan)
    if target.on_host and options.prove:
        proof, scanned = of_scanning(plan, node, progress)
        evidence += proof
    lost = () if verdict is None else verdict.temporaries
    steps = () if verdict is None else (*(one.statement for one in verdict.reassociations), *verdict.exact)
    combining = tuple(dict.fromkeys(steps))
    assumptions = plan.written.assumptions
    loops = loops_of(plan, node, verdict)
    if team is not None:
        team.refuse_unlike(loops, verdict)
    reordered = verdict is not None and bool(verdict.reassociations)
    return _Region(
        plan, loops, evidence, assumptions, lost, combining, scanned=scanned, team=team, reordered=reordered
    )


def _report(plan: Plan, made: _Region | None) -> RegionReport:
    program = plan.written
    line = program.region.line
    if made is None:
        return RegionReport(line, _statements(program, None), (), (), (), kept=True)
    statements, loops = _statements(program, made.loops.node), tuple(_loops(made.loops.named))
    left = tuple(one.text for one in made.assumptions if one.standing is Standing.ASSUMED)
    reports = [
        AssumptionReport(one.kind.name.lower(), one.text, one.standing.value) for one in made.assumptions
    ]
    return RegionReport(
        line,
        statements,
        loops,
        made.evidence.proofs,
        (*left, *made.evidence.trusted),
        proof=made.proof,
        tried=tuple(reports),
        contract=_contract(program, reordered=made.reordered),
    )


def _contract(program: Program, *, reordered: bool) -> str:
    """The floating-point contract, if there are floating-point numbers."""
    if not program.rounds:
        return ""
    return REORDERED if reordered else rounding(program.compiled.loose(program.source))


def _statements(program: Program, node: Node | None) -> tuple[StatementReport, ...]:
    """The statements with their copies in `node`; without it, one each."""
    calls = [part.name for part in subprograms(node) if isinstance(part, Call)] if node is not None else []
    return tuple(
        StatementReport(
            statement.name,
            next(iter(program.labels_on(statement)), None),
            statement.body.place.line,
            " ".join(statement.body.place.text.split()) + statement.body.terminator,
            statement.iterators,
            1 if node is None else calls.count(statement.name),
        )
        for statement in program.statements
    )


def _loops(node: Node, depth: int = 0) -> Iterator[LoopReport]:
    """The loops in source order, outer ones first."""
    inner = depth
    if isinstance(node, For):
        names = dict.fromkeys(part.name for part in subprograms(node) if isinstance(part, Call))
        parallel, vector = node.parallel is not None, node.vector is not None
        unrolled = node.annotation(Unrolled)
        factor = 1 if unrolled is None else unrolled.factor
        yield LoopReport(node.iterator, depth, parallel, vector, factor, tuple(names))
        inner = depth + 1
    for child in children(node):
        yield from _loops(child, inner)
