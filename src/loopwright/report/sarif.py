"""Diagnostics as SARIF 2.1.0, which code-scanning services show at the lines of a change.

An error is a result of the rule that its code is; the places of its witness are related locations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from loopwright.errors import Code, Diagnostic, Note
from loopwright.report.manual import code_pages
from loopwright.source import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

LEVELS = {1: "error", 2: "error", 3: "warning", 4: "error"}
"""By the exit status of a code: what could not be decided is a warning."""


def sarif_log(
    diagnostics: Sequence[Diagnostic], file: str, version: str, revision: str = ""
) -> dict[str, Any]:
    """The log of one run of this `version`; `file` is what an error without a place is about.

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
        "level": LEVELS[one.code.exit_code],
        "message": {"text": one.summary + witness},
        "locations": [_location(one.span or Span.start_of(file), revision)],
        "relatedLocations": [{"id": k, **place} for k, place in enumerate(related)],
    }


def _related(one: Diagnostic, revision: str) -> Iterator[dict[str, Any]]:
    for note in _notes((*one.notes, *one.others)):
        if note.span is not None:
            text = f"{note.label}: {note.text}" if note.label else note.text
            yield _location(note.span, revision) | {"message": {"text": text}}


def _notes(notes: Sequence[Note]) -> Iterator[Note]:
    for note in notes:
        yield note
        yield from _notes(note.notes)


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
    return quote(path.replace(os.sep, "/").removeprefix("./"))
