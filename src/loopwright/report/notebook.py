"""Displays values in a notebook, as self-contained pieces of HTML."""

from __future__ import annotations

from functools import singledispatch
from html import escape

from loopwright.emit.c import to_c
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.model.dependences import memory_based
from loopwright.model.program import Program
from loopwright.model.schedule import Schedule
from loopwright.prove.legality.explain import explain, explain_all, headline
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.violation import Violation
from loopwright.report.diagnostics import as_html
from loopwright.report.page import IN_A_WORD
from loopwright.report.summary import pictures_of
from loopwright.rewrite.scripts import text_of_plan
from loopwright.show.palette import STYLE
from loopwright.transform import Plan, plan_of
from loopwright.transform.handle import Handle

BOX = "background: var(--lw-paper); color: var(--lw-ink); padding: .5rem; overflow-x: auto"


@singledispatch
def html(value: object) -> str:
    """The HTML of a value."""
    raise TypeError(f"a notebook does not know how to show a {type(value).__name__}")


@html.register
def program_html(program: Program) -> str:
    """The source of a program, and a picture of its instances."""
    return _boxed(_code(program.region.text) + _pictures(plan_of(program)))


@html.register
def plan_html(plan: Plan) -> str:
    """The verdict on a plan, its current loops, and both orders."""
    verdict = prove_plan(plan)
    text = f"<p><strong>{IN_A_WORD[verdict.status]}</strong>"
    if verdict.status is not Status.PROVED:
        text += f": {escape(headline(verdict.failures[0]))}"
    return _boxed(f"{text}</p>{_code(text_of_plan(plan, openmp=True))}{_pictures(plan)}")


@html.register
def handle_html(handle: Handle) -> str:
    """The plan it is of."""
    return plan_html(handle.plan)


@html.register
def schedule_html(schedule: Schedule) -> str:
    """The loops that run it."""
    return _boxed(_code(to_c(generate(schedule, GenerationOptions()))))


@html.register
def verdict_html(verdict: LegalityVerdict) -> str:
    """Yes, or all errors."""
    text = f"<p><strong>{IN_A_WORD[verdict.status]}</strong>, {verdict.obligations} obligations</p>"
    failure = explain_all(verdict)
    return _boxed(text + (as_html(failure) if failure else ""))


@html.register
def violation_html(violation: Violation) -> str:
    """The error and its explanation."""
    head = f'<p style="color: var(--lw-broken)"><strong>{escape(headline(violation))}</strong></p>'
    return _boxed(head + as_html(explain(violation)))


def _pictures(plan: Plan) -> str:
    dependences = tuple(memory_based(plan.original))
    verdict = prove_plan(plan, dependences=dependences)
    return "".join(
        f"<figure>{one.svg}<figcaption>{escape(one.caption)}</figcaption></figure>"
        for one in pictures_of(plan, dependences, verdict)
    )


def _code(text: str) -> str:
    return f"<pre>{escape(text.rstrip())}</pre>"


def _boxed(inside: str) -> str:
    return f'<style>{STYLE}</style><div style="{BOX}">{inside}</div>'
