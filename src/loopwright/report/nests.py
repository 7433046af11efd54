"""What `loopwright find` prints: the loops of a C file, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from loopwright.errors import Diagnostic
from loopwright.model.program import Program
from loopwright.read.c.find import Nest
from loopwright.report.diagnostics import as_json

_WIDEST = 72
"""Characters of a statement that are shown."""


def nests_text(file: str, nests: Sequence[Nest]) -> str:
    """The loops that can be read with their statements, and the others with the reason."""
    if not nests:
        return f"{file}: no function of this file has a loop\n"
    readable = sum(nest.program is not None for nest in nests)
    lines = [f"{file}: {readable} of {len(nests)} can be read"]
    for nest in nests:
        first, last = nest.lines
        where = f"line {first}" if first == last else f"lines {first}-{last}"
        what = f"{nest.function}, {where}" if nest.function else where
        how = nest.option or "between the pragmas"
        lines += ["", f"{what}: {how}" if nest.program is not None else f"{what}: cannot be read"]
        lines += _statements(nest.program) if nest.program is not None else _reason(nest.why_not)
    return "\n".join(lines) + "\n"


def _statements(program: Program) -> Iterator[str]:
    for one in program.statements:
        yield f"    {one.name}[{', '.join(one.iterators)}]  {_line(one.body.place.text)}{one.body.terminator}"


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 3]}..."


def _reason(why: Diagnostic | None) -> Iterator[str]:
    if why is None:
        return
    at = f"line {why.span.line}: " if why.span is not None else ""
    yield f"    {at}{why.summary} [{why.code.value}]"
    if why.hint:
        yield f"    {why.hint}"


def nests_data(file: str, nests: Sequence[Nest]) -> dict[str, Any]:
    """The same for machines."""
    return {"file": file, "verdict": "done", "nests": [_nest_data(file, nest) for nest in nests]}


def _nest_data(file: str, nest: Nest) -> dict[str, Any]:
    first, last = nest.lines
    statements = () if nest.program is None else nest.program.statements
    return {
        "function": nest.function or None,
        "line": first,
        "last_line": last,
        "option": nest.option or None,
        "readable": nest.program is not None,
        "statements": [
            {
                "name": one.name,
                "line": one.body.place.line,
                "text": " ".join(one.body.place.text.split()) + one.body.terminator,
                "iterators": list(one.iterators),
            }
            for one in statements
        ],
        "diagnostics": [] if nest.why_not is None else [as_json(nest.why_not, file)],
    }
