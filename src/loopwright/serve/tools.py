"""The answers of the tools of `loopwright mcp`: the output of the commands of the same names with --json.

Runs in a process of its own, in a folder that holds the texts of the question and the opened files only.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopwright.c.selection.choice import BY_PRAGMAS, Choice
from loopwright.errors import BadInput, Code, LoopwrightError
from loopwright.progress import silent
from loopwright.read.c.options import ReadOptions
from loopwright.report.diagnostics import as_json
from loopwright.serve.confinement import refuse_reading
from loopwright.serve.questions import ToolQuestion
from loopwright.source import Source, Span, plain_data

NAMES = {"c": "kernel.c", "old": "old.c", "new": "new.c", "script": "script.lw"}
"""What the texts of a question are called, in messages too."""

SECONDS = 15.0
"""For a check, with the programs it runs."""


def tool_answer(question: ToolQuestion) -> dict[str, Any]:
    """The answer as JSON; a no, or what could not be read, is one too."""
    texts = {name: _text(question, name) for name in question.texts}
    about = {"old": NAMES["old"], "new": NAMES["new"]} if "old" in texts else {"file": NAMES["c"]}
    if question.tool == "check":
        about = {"file": NAMES["new"]}
    try:
        _write(question, texts)
        return _answer(question, texts, about)
    except LoopwrightError as error:
        if isinstance(error, BadInput):
            error.at(Span.start_of(NAMES["new" if "new" in texts else "c"]))
        failed: dict[str, Any] = {**about, "verdict": error.code.verdict}
        if question.tool in ("transform", "suggest"):
            failed["regions"] = []
        if question.tool == "transform":
            failed["code"] = None
        return failed | {"diagnostics": [as_json(error.diagnostic)]}


def _text(question: ToolQuestion, name: str) -> str:
    """The text, or that of the opened file that it names."""
    text = question.texts[name]
    return question.opened.get(text.strip(), text)


def _write(question: ToolQuestion, texts: dict[str, str]) -> None:
    """The files of the question into its folder, after a look at what they would make a compiler read."""
    for name, text in question.opened.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    for name, text in texts.items():
        if name != "script":
            refuse_reading(Source(NAMES[name], text), question.opened)
        Path(NAMES[name]).write_text(text, encoding="utf-8", newline="")


def _answer(question: ToolQuestion, texts: dict[str, str], about: dict[str, Any]) -> dict[str, Any]:
    choice = Choice((question.function,)) if question.function else BY_PRAGMAS
    reading = ReadOptions(question.pure, question.assume, choice)
    match question.tool:
        case "prove" if "old" in texts:
            return about | _compared(question, reading)
        case "prove":
            return about | _directives(question, reading)
        case "transform":
            return _transformed(question, texts.get("script"), reading)
        case "suggest":
            return _suggested(reading)
        case "extract":
            return _extracted(reading)
        case _:
            return _checked(question, reading)


def _compared(question: ToolQuestion, reading: ReadOptions) -> dict[str, Any]:
    from loopwright.prove.comparison.files import agreement
    from loopwright.prove.comparison.texts import ComparisonOptions

    reassociation = "reassociation" in question.flags
    contraction = "contraction" in question.flags
    options = ComparisonOptions(reading, allow_reassociation=reassociation, allow_contraction=contraction)
    found = agreement(NAMES["old"], NAMES["new"], options)
    return {
        "verdict": "proved",
        "obligations": found.obligations,
        "ways": list(found.ways),
        "assumptions": list(found.assumptions),
        "only_for": None if found.only_for is None else plain_data(found.only_for),
        "diagnostics": [],
    }


def _directives(question: ToolQuestion, reading: ReadOptions) -> dict[str, Any]:
    from loopwright.rewrite.directives import prove_directives
    from loopwright.rewrite.request import Request

    reassociation = "reassociation" in question.flags
    found = prove_directives(Request(NAMES["c"], reading=reading, allow_reassociation=reassociation))
    return {
        "verdict": "proved",
        "directives": found.directives,
        "obligations": found.obligations,
        "assumptions": list(found.assumptions),
        "diagnostics": [],
    }


def _transformed(question: ToolQuestion, script: str | None, reading: ReadOptions) -> dict[str, Any]:
    from loopwright.report.results import outcome_data
    from loopwright.rewrite.pipeline import transformed
    from loopwright.rewrite.request import Request

    directives = "directives" in question.flags
    if directives and script:
        raise BadInput(Code.OPTION, "there are a script and directives: only one of them is obeyed")
    request = Request(
        NAMES["c"],
        None if directives else script,
        NAMES["script"],
        reading=reading,
        directives=directives,
        openmp="openmp" in question.flags,
        allow_reassociation="reassociation" in question.flags,
    )
    return outcome_data(transformed(request, silent), NAMES["c"], proved=True, prover="isl")


def _suggested(reading: ReadOptions) -> dict[str, Any]:
    from loopwright.optimise.pricing import priced_suggestions
    from loopwright.read.c.reader import read_c
    from loopwright.report.results import Suggestions, suggestions_data
    from loopwright.transform import plan_of

    plans = [plan_of(program) for program in read_c(NAMES["c"], reading)]
    found = [Suggestions(plan.original, list(priced_suggestions(plan))) for plan in plans]
    return suggestions_data(NAMES["c"], found)


def _extracted(reading: ReadOptions) -> dict[str, Any]:
    from loopwright.report.program_text import extracted

    found: dict[str, Any] = json.loads(extracted(NAMES["c"], "json", reading))
    return found


def _checked(question: ToolQuestion, reading: ReadOptions) -> dict[str, Any]:
    """Compiles and runs; the server asks only if that was allowed."""
    from loopwright.c.typed.options import CompilerOptions
    from loopwright.check.run.execute import Toolchain, time_used
    from loopwright.check.run.report import as_data
    from loopwright.check.verify import CheckOptions, check_file

    sizes = dict(question.sizes)
    compiled = CompilerOptions(tuple(f"-D{name}={value}" for name, value in sizes.items()), "gcc")
    tools = Toolchain("gcc", (), (), SECONDS, time_used() + SECONDS)
    options = CheckOptions(sizes, "auto", tools, reading=replace(reading, compiled=compiled))
    return as_data(check_file(NAMES["new"], NAMES["old"], options))
