"""Prints a diagnostic as plain text, in colour, as HTML and as JSON.

file:line:column: error: message
    the source line
         ^~~~
witness: the smallest example
hint: what to do

Diagnostics as SARIF 2.1.0, which code-scanning services show at the lines of a change.

An error is a result whose rule is its code; the places of its witness are related locations.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from loopwright.errors import Code, Diagnostic, Note
from loopwright.report.manual import code_pages
from loopwright.source import Span

if TYPE_CHECKING:
    from rich.text import Text


MOST_OTHERS = 3
"""The number of failures shown after the first one in text."""

WIDEST = 160
"""Columns of a source line that are shown; of a longer one, the part around the caret."""

CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters of a source line that would change the state of a terminal."""


class TextStyle(Enum):
    """The role of a part of the text, which determines its style on a terminal and in HTML."""

    PLAIN = ("", "")
    PLACE = ("bold", "font-weight: bold")
    SEVERITY = ("bold red", "color: var(--lw-broken); font-weight: bold")
    CARET = ("bold green", "color: var(--lw-edge2); font-weight: bold")
    EXCERPT = ("", "display: block; overflow-x: auto; white-space: pre")
    LABEL = ("bold blue", "color: var(--lw-edge0); font-weight: bold")


Styled = tuple[str, TextStyle]
"""A part of the text."""


def as_text(diagnostic: Diagnostic, file: str | None = None, *, more: bool = False) -> str:
    """Plain text; `file` is the file of an error without a place.

    With `more` the last line is the command that explains the code.
    """
    return "".join(text for text, _ in styled(diagnostic, file, more=more))


def as_rich(diagnostic: Diagnostic, file: str | None = None, *, more: bool = False) -> Text:
    """The same in colour, for a terminal."""
    from rich.text import Text

    return Text.assemble(*((text, style.value[0]) for text, style in styled(diagnostic, file, more=more)))


def as_html(diagnostic: Diagnostic) -> str:
    """The same for a page that has the colours of `show.palette`; long source lines scroll."""
    parts: list[str] = []
    for text, style in styled(diagnostic, flush=True):
        opened = f'<span style="{style.value[1]}">{escape(text)}'
        match style:
            case TextStyle.PLAIN:
                parts.append(escape(text))
            case TextStyle.EXCERPT:
                parts.append(opened)  # ends after its caret
            case TextStyle.CARET:
                parts.append(f"{opened}</span></span>")
            case _:
                parts.append(f"{opened}</span>")
    return f"<pre>{''.join(parts).rstrip()}</pre>"


def as_json(diagnostic: Diagnostic, file: str | None = None) -> dict[str, Any]:
    """The same as JSON."""
    found: dict[str, Any] = {
        "severity": "error",
        "kind": diagnostic.code.verdict,
        "code": diagnostic.code.value,
        "message": diagnostic.summary,
        **_place_data(diagnostic.span, file),
        "excerpt": diagnostic.span.excerpt if diagnostic.span else None,
        "hint": diagnostic.hint,
    }
    if diagnostic.witness is not None:
        found["witness"] = diagnostic.witness
    found["notes"] = [_note_data(one) for one in (*diagnostic.notes, *diagnostic.others)]
    found["details"] = diagnostic.details
    return found


def _place_data(span: Span | None, file: str | None = None) -> dict[str, Any]:
    if span is None:
        return {"file": file, "line": None, "column": None}
    return {"file": span.file, "line": span.line, "column": span.column}


def _note_data(note: Note) -> dict[str, Any]:
    notes = [_note_data(one) for one in note.notes]
    return {"label": note.label, "text": note.text, **_place_data(note.span), "notes": notes}


def styled(
    diagnostic: Diagnostic, file: str | None = None, *, more: bool = False, flush: bool = False
) -> Iterator[Styled]:
    """The text in parts, each with its style; with `flush` source lines are shown without their indentation.

    After an EXCERPT comes its CARET.
    """
    place = diagnostic.span.place if diagnostic.span else file
    if place:
        yield f"{place}: ", TextStyle.PLACE
    yield f"{diagnostic.code.severity.value}: ", TextStyle.SEVERITY
    yield f"{diagnostic.message}\n", TextStyle.PLAIN
    yield from _excerpt(diagnostic.span, diagnostic.excerpt, "", flush=flush)
    yield from _notes(diagnostic.notes, "", flush=flush)
    if diagnostic.witness is not None and not diagnostic.notes:
        yield from _labelled("witness: ", diagnostic.witness)
    if diagnostic.hint:
        yield from _labelled("hint: ", diagnostic.hint)
    for one in diagnostic.others[:MOST_OTHERS]:
        yield "\n", TextStyle.PLAIN
        yield from _notes((one,), "", flush=flush)
    if len(diagnostic.others) > MOST_OTHERS:
        left = len(diagnostic.others) - MOST_OTHERS
        yield "\n", TextStyle.PLAIN
        yield from _labelled("also: ", f"{left} more; --json has all of them")
    if more:
        yield from _labelled("more: ", f"loopwright explain {diagnostic.code.value}")


def _labelled(label: str, text: str) -> Iterator[Styled]:
    yield label, TextStyle.LABEL
    yield f"{text}\n", TextStyle.PLAIN


def _notes(notes: Sequence[Note], margin: str, *, flush: bool) -> Iterator[Styled]:
    """The notes below each other, their texts aligned where they have labels; inner notes are indented."""
    width = max((len(one.label) + 2 for one in notes if one.label), default=0)
    for one in notes:
        yield margin, TextStyle.PLAIN
        if one.label:
            yield f"{one.label}: ".ljust(width), TextStyle.LABEL
        if one.span is not None:
            yield f"{one.span.place}: ", TextStyle.PLACE
        yield f"{one.text}\n", TextStyle.PLAIN
        if one.excerpt is not None:
            yield from _excerpt(one.span, one.excerpt, margin, flush=flush)
        yield from _notes(one.notes, f"{margin}    ", flush=flush)


def _excerpt(span: Span | None, otherwise: str, margin: str, *, flush: bool) -> Iterator[Styled]:
    """The source line and a caret under the place; tabs stay, so that both line up."""
    if span is None or not span.excerpt.strip():
        if otherwise:
            yield f"{margin}    {otherwise}\n", TextStyle.PLAIN
        return
    first = max(0, span.column - 1 - WIDEST // 2) if len(span.excerpt) > WIDEST else 0
    if flush and first == 0:
        first = min(len(span.excerpt) - len(span.excerpt.lstrip()), span.column - 1)
    line = CONTROL.sub("?", span.excerpt[first : first + WIDEST])
    before = "".join("\t" if c == "\t" else " " for c in line[: span.column - 1 - first])
    yield f"{margin}    {line}\n{margin}    {before}", TextStyle.EXCERPT
    yield "^" + "~" * (min(span.length, len(line) - len(before)) - 1) + "\n", TextStyle.CARET


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

LEVELS = {1: "error", 2: "error", 3: "warning", 4: "error"}
"""Levels by the hundreds of a code: undecided results are warnings."""


def sarif_log(
    diagnostics: Sequence[Diagnostic], file: str, version: str, revision: str = ""
) -> dict[str, Any]:
    """The log of one run of this `version`; `file` is the file of errors without a place.

    Files called `REV:path` are those of an earlier `revision`.
    """
    codes = sorted({one.code for one in diagnostics}, key=lambda code: code.value)
    driver = {"name": "loopwright", "version": version, "rules": [_rule(code) for code in codes]}
    results = [_result(one, codes.index(one.code), file, revision) for one in diagnostics]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: Code) -> dict[str, Any]:
    page = code_pages()[code]
    return {
        "id": code.value,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.meaning},
        "help": {"text": page.remedy},
    }


def _result(one: Diagnostic, rule: int, file: str, revision: str) -> dict[str, Any]:
    witness = f"\nwitness: {one.witness}" if one.witness else ""
    related = list(_related(one, revision))
    return {
        "ruleId": one.code.value,
        "ruleIndex": rule,
        "level": LEVELS[one.code.hundred],
        "message": {"text": one.summary + witness},
        "locations": [_location(one.span or Span.start_of(file), revision)],
        "relatedLocations": [{"id": k, **place} for k, place in enumerate(related)],
    }


def _related(one: Diagnostic, revision: str) -> Iterator[dict[str, Any]]:
    for note in _located_notes((*one.notes, *one.others)):
        if note.span is not None:
            text = f"{note.label}: {note.text}" if note.label else note.text
            yield _location(note.span, revision) | {"message": {"text": text}}


def _located_notes(notes: Sequence[Note]) -> Iterator[Note]:
    for note in notes:
        yield note
        yield from _located_notes(note.notes)


def _location(span: Span, revision: str) -> dict[str, Any]:
    """A place; columns count from 1, and the end is exclusive."""
    path = span.file
    found: dict[str, Any] = {}
    if revision and path.startswith(f"{revision}:"):
        path = path.removeprefix(f"{revision}:")
        found["properties"] = {"revision": revision}
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if span.source.text:
        region: dict[str, Any] = {"startLine": span.line, "startColumn": span.column}
        region |= {"endLine": span.line, "endColumn": span.column + span.length}
        place["region"] = region | {"snippet": {"text": span.excerpt}}
    return {"physicalLocation": place, **found}


def _uri(path: str) -> str:
    """A relative path stays one, so that a service finds it in the repository."""
    if os.path.isabs(path):
        return Path(path).as_uri()
    return quote(os.fsencode(path.replace(os.sep, "/").removeprefix("./")))
