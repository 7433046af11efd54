"""Answers a question with messages, each as soon as it is known.

    order     the verdict on the script, the witness in both sources;
    pictures  the moving picture of each region;
    code      the new source, and all proofs about it;
    failed    a diagnostic instead.

The process this runs in belongs to one question: its working folder holds the texts and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from loopwright.errors import Diagnostic, LoopwrightError, Note
from loopwright.model.program import Program
from loopwright.optimise.pricing import priced_suggestions
from loopwright.progress import silent
from loopwright.prove.legality.explain import explain_all
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import prove_plan, stages
from loopwright.prove.legality.suggest import Suggestion
from loopwright.read.c.reader import read_c
from loopwright.report.diagnostics import as_html, as_json
from loopwright.report.manual import operation_pages
from loopwright.report.page import IN_A_WORD, MEANING, VERDICT
from loopwright.report.regions import DrawnRegion, drawn_regions
from loopwright.report.results import (
    Suggestions,
    outcome_data,
    proof_lines,
    ranked,
    stats_text,
    suggestions_data,
)
from loopwright.rewrite.generation import GenerationRequest, generated
from loopwright.rewrite.pipeline import rewritten
from loopwright.rewrite.request import ProverRequest, RewriteOptions
from loopwright.serve.confinement import refuse_reading
from loopwright.serve.questions import (
    GenerateQuestion,
    ProofQuestion,
    Question,
    RunQuestion,
    SuggestQuestion,
    ToolQuestion,
    TransformQuestion,
)
from loopwright.serve.tools import tool_answer
from loopwright.show.described import DescribedLoops, described_picture
from loopwright.show.moving import moving_picture
from loopwright.source import Source, Span
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.plan import Plan
from loopwright.transform.script.steps import Step, parse_script

Message: TypeAlias = dict[str, Any]

C_FILE, SCRIPT_FILE, PROOF_FILE = "kernel.c", "script.lw", "proof.v"
"""What the texts of the page are called, in messages too."""

FOR_OPENMP = (DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE)
"""What the new C says of a loop only where OpenMP is allowed."""

OFTEN = 0.7
"""Seconds between two messages with the suggestions found so far."""


def answers(question: Question) -> Iterator[Message]:
    """The messages on a question; a failure is one of them."""
    try:
        match question:
            case TransformQuestion():
                yield from _transform(question)
            case SuggestQuestion():
                yield from _suggest(question)
            case GenerateQuestion():
                yield _generate(question)
            case ProofQuestion():
                yield _proof(question)
            case RunQuestion():
                yield _run(question)
            case ToolQuestion():
                yield {"stage": "tool", "answer": tool_answer(question)}
    except LoopwrightError as error:
        yield failure(error)


def failure(error: LoopwrightError) -> Message:
    """The diagnostic that the page shows instead of an answer."""
    return {"stage": "failed", "verdict": error.code.verdict, **_diagnostic(error.diagnostic)}


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {"diagnostic": as_json(diagnostic), "html": as_html(diagnostic), "marks": list(_marks(diagnostic))}


def _marks(diagnostic: Diagnostic) -> Iterator[dict[str, Any]]:
    """The places in the texts that a diagnostic names."""
    if diagnostic.span is not None:
        yield from _mark(diagnostic.span, diagnostic.summary, "error")
    for note in diagnostic.notes:
        yield from _note_marks(note)


def _note_marks(note: Note) -> Iterator[dict[str, Any]]:
    if note.span is not None:
        yield from _mark(note.span, note.text, "witness")
    for inner in note.notes:
        yield from _note_marks(inner)


def _mark(span: Span, text: str, kind: str) -> Iterator[dict[str, Any]]:
    """Offsets as a browser counts them, in units of UTF-16."""
    side = {C_FILE: "c", SCRIPT_FILE: "script"}.get(span.file, "text")
    if span.source.text:
        start, end = (len(span.source.text[:at].encode("utf-16-le")) // 2 for at in (span.start, span.end))
        yield {"side": side, "start": start, "end": max(end, start), "text": text, "kind": kind}


def _transform(question: TransformQuestion) -> Iterator[Message]:
    plans, regions = _read(question.c, question.script)
    reassociate = question.reassociation
    verdicts = [
        prove_plan(one.plan, allow_reassociation=reassociate, dependences=one.dependences) for one in regions
    ]
    yield {
        "stage": "order",
        "regions": [_region(region, verdict) for region, verdict in zip(regions, verdicts, strict=True)],
    }
    yield {
        "stage": "pictures",
        "regions": [
            _picture(question, region, verdict) for region, verdict in zip(regions, verdicts, strict=True)
        ],
    }
    if question.order_only or not all(verdict.proved for verdict in verdicts):
        return
    options = RewriteOptions(openmp=question.openmp, allow_reassociation=reassociate)
    outcome = rewritten(plans, options, silent)
    data = outcome_data(outcome, C_FILE, proved=True, prover="isl")
    checked = list(dict.fromkeys(proof_lines(region.proof for region in outcome.regions)))
    yield {"stage": "code", "meaning": MEANING, "checked": checked, **data}


def _read(c: str, script: str) -> tuple[list[Plan], list[DrawnRegion]]:
    refuse_reading(Source(C_FILE, c))
    Path(C_FILE).write_text(c, encoding="utf-8", newline="")
    steps = parse_script(script, SCRIPT_FILE)
    regions = drawn_regions(steps, read_c(C_FILE))
    return [region.plan for region in regions], regions


def _region(region: DrawnRegion, verdict: LegalityVerdict) -> Message:
    why = explain_all(verdict, stages(region.plan))
    return {
        "line": region.program.region.line,
        "status": verdict.status.value,
        "word": IN_A_WORD[verdict.status],
        "says": VERDICT[verdict.status],
        "obligations": verdict.obligations,
        "trusted": [entry.text for entry in region.program.trusted],
        "steps": [_step(one.step) for one in region.plan.history],
        "for_openmp": any(one.kind in FOR_OPENMP for one in region.plan.directives),
        **(_diagnostic(why) if why else {"diagnostic": None, "html": "", "marks": []}),
    }


def _picture(question: TransformQuestion, region: DrawnRegion, verdict: LegalityVerdict) -> Message:
    plan, shown, note = region.shown(verdict, reassociate=question.reassociation)
    picture = moving_picture(plan, shown, question.sizes or None, note)
    return {"line": region.program.region.line, "picture": None if picture is None else picture.data()}


def _step(step: Step) -> dict[str, str]:
    page = operation_pages()[step.operation.name]
    return {"text": str(step), "summary": page.summary, "page": page.text}


def _suggest(question: SuggestQuestion) -> Iterator[Message]:
    """All that is known so far, again and again: the last message has everything."""
    plans, _ = _read(question.c, question.script)
    found: list[tuple[Program, list[Suggestion]]] = []
    said = time.monotonic()
    for plan in plans:
        found.append((plan.original, []))
        for one in priced_suggestions(plan):
            found[-1][1].append(one)
            if time.monotonic() > said + OFTEN and one.legal:
                yield _suggested(found, whole=False)
                said = time.monotonic()
    yield _suggested(found, whole=True)


def _suggested(found: Sequence[tuple[Program, list[Suggestion]]], *, whole: bool) -> Message:
    ordered = [Suggestions(one, ranked([each for each in own if each.legal])) for one, own in found]
    return {"stage": "suggestions", "whole": whole, **suggestions_data(C_FILE, ordered)}


def _generate(question: GenerateQuestion) -> Message:
    file = f"loops.{question.form}"
    Path(file).write_text(question.text, encoding="utf-8", newline="")
    found = generated(GenerationRequest(file), silent)
    picture = described_picture(DescribedLoops(found.schedule, found.loops), question.sizes)
    return {
        "stage": "loops",
        "verdict": "proved",
        "code": found.code,
        "stats": stats_text(found.stats),
        "picture": None if picture is None else picture.data(),
    }


def _proof(question: ProofQuestion) -> Message:
    """The proof as a file for each region, which Coq has checked."""
    plans, _ = _read(question.c, question.script)
    changed = [plan for plan in plans if plan.history]
    options = RewriteOptions(prover=ProverRequest("coq", PROOF_FILE))
    rewritten(changed or plans, options, silent, keep_untouched=False)
    files = sorted(Path().glob("proof*.v"))
    return {"stage": "proof", "files": {path.name: path.read_text(encoding="utf-8") for path in files}}


def _run(question: RunQuestion) -> Message:
    """Both programs compiled, compared bit by bit, and timed; the server asks only if that was allowed."""
    from loopwright.report.results import BENCH_HEAD, bench_line
    from loopwright.run.benchmark import Kernel, TimingOptions, benchmarked
    from loopwright.run.compiler import find_compiler

    Path(C_FILE).write_text(question.c, encoding="utf-8", newline="")
    Path(SCRIPT_FILE).write_text(question.script, encoding="utf-8", newline="")
    folder = Path("new")
    folder.mkdir()
    kernel = Kernel("kernel", Path(C_FILE), Path(SCRIPT_FILE))
    options = TimingOptions(find_compiler("gcc"), rounds=3, timeout=8.0)
    found = benchmarked(kernel, folder, options, prove=True, progress=silent)
    return {"stage": "timed", "ratio": found.ratio, "text": BENCH_HEAD + bench_line(found)}
