"""The contents of the report on a region: its steps, pictures and proofs, as values."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from loopwright.errors import Diagnostic, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence
from loopwright.presburger.points import values_text
from loopwright.prove.legality.explain import headline
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.plans import prove_plan
from loopwright.rewrite.scripts import text_of_plan
from loopwright.show.draw import MANY, svg
from loopwright.show.groups import groups
from loopwright.show.scene import Scene, scene_of
from loopwright.transform import Plan


@dataclass(frozen=True)
class StepSummary:
    """One operation: its changes of the source, and the verdict on the order after it."""

    text: str
    diff: tuple[str, ...]
    status: Status
    remark: str


@dataclass(frozen=True)
class Picture:
    """A drawing and its caption."""

    scene: Scene
    svg: str
    caption: str


@dataclass(frozen=True)
class ProofSummary:
    """One theorem; `status` is "proved", "refused", "could not decide" or "not tried"."""

    what: str
    status: str
    remark: str = ""


@dataclass(frozen=True)
class RegionSummary:
    """The contents of the report on one region."""

    title: str
    line: int
    source: str
    result: str | None
    steps: tuple[StepSummary, ...]
    pictures: tuple[Picture, ...]
    proofs: tuple[ProofSummary, ...]
    trusted: tuple[str, ...]
    status: Status
    moving: str = ""
    """The moving picture, as JSON; empty where nothing runs."""
    failure: Diagnostic | None = None
    blamed: tuple[int, ...] = ()
    """Lines of the file that the failure is about."""
    written: str = "as written"
    """What `source` is called beside the generated text."""


def steps_of(
    plans: Sequence[tuple[str, Plan]], start: Plan, dependences: Sequence[Dependence], *, reassociate: bool
) -> tuple[StepSummary, ...]:
    """The operations one after the other; the first difference is to the region as it would be written."""
    found: list[StepSummary] = []
    before = text_of_plan(start, openmp=True)
    for text, plan in plans:
        verdict = prove_plan(plan, allow_reassociation=reassociate, dependences=dependences)
        after, failure = _written(plan, verdict, before)
        remark = failure or _remark(verdict)
        found.append(StepSummary(text, _difference(before, after), verdict.status, remark))
        before = after
    return tuple(found)


def _written(plan: Plan, verdict: LegalityVerdict, otherwise: str) -> tuple[str, str]:
    """The source, or the reason why there is none."""
    try:
        return text_of_plan(plan, verdict, openmp=True), ""
    except LoopwrightError as error:
        return otherwise, f"no code for this step: {error.message}"


def _remark(verdict: LegalityVerdict) -> str:
    if verdict.status is Status.PROVED:
        return "every dependence is preserved"
    return headline(verdict.failures[0])


def _difference(before: str, after: str) -> tuple[str, ...]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return tuple(line for line in lines if not line.startswith(("---", "+++")))


def pictures_of(
    plan: Plan, dependences: Sequence[Dependence], verdict: LegalityVerdict, note: str = ""
) -> tuple[Picture, ...]:
    """A picture of each nest; `plan` is the one to draw, with small tiles."""
    notes = (note,) if note else ()
    found: list[Picture] = []
    first = verdict.violations[0] if verdict.violations else None
    broken = None if first is None else (first.first.statement, first.second.statement)
    for group in groups(plan.original, plan.program, broken):
        scene = scene_of(plan, group, dependences, verdict)
        if scene is not None and scene.dots:
            about = notes if scene.tiles else ()
            found.append(Picture(scene, svg(scene), caption(scene, about)))
    return tuple(found)


def caption(scene: Scene, notes: Sequence[str] = ()) -> str:
    """What the picture is of; `notes` are about its tiles."""
    values = values_text(scene.parameters)
    text = f"{' and '.join(scene.statements)}: each dot is one execution"
    text += f", for {values}" if values else ""
    if scene.arrows:
        text += "; arrows that follow from others are left out"
    if len(scene.arrows) > MANY:
        text += ", and those of one execution of each statement are strong"
    return "; ".join([text, *notes, *scene.notes]) + "."
