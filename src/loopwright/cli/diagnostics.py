"""What the user reads when something is wrong: on a terminal in colour, in a pipe plain.

    file:line:column: error: message
        the source line
             ^~~~
    hint: what to do
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, TextIO

from loopwright.errors import BadInput, GaveUp, Illegal, InternalError, LoopwrightError, Span

REPORT = "please report it, with the input and the command line, at the project's issue tracker"

WIDEST = 160
"""Columns of a source line that are shown; of a longer one, the part around the caret."""


@dataclass(frozen=True)
class Paint:
    """Terminal colours, or none."""

    on: bool

    def __call__(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text


RED, GREEN, BOLD, BLUE = "1;31", "1;32", "1", "1;34"


def paint_for(stream: TextIO) -> Paint:
    """Colours where the stream is a terminal that has them and the user did not say no."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Paint(stream.isatty() and not plain)


def exit_code(error: LoopwrightError) -> int:
    match error:
        case Illegal():
            return 1
        case BadInput():
            return 2
        case GaveUp():
            return 3
        case _:
            return 4


def verdict_word(error: LoopwrightError) -> str:
    """The outcome in one word, for machines."""
    return {1: "wrong", 2: "bad input", 3: "gave up"}.get(exit_code(error), "internal error")


def show(error: LoopwrightError, stream: TextIO, file: str | None = None) -> None:
    """Print the error; `file` is what it is about where it does not say so itself."""
    paint = paint_for(stream)
    place = _place(error.span) if error.span else (file or "loopwright")
    kind = "internal error" if isinstance(error, InternalError) else "error"
    lines = [f"{paint(place + ':', BOLD)} {paint(kind + ':', RED)} {error.message}"]
    if error.span and error.span.excerpt.strip():
        lines += _excerpt(error.span, paint)
    if isinstance(error, Illegal):
        lines.append(f"{paint('witness:', BLUE)} {error.witness}")
    if error.hint:
        lines.append(f"{paint('hint:', BLUE)} {error.hint}")
    stream.write("\n".join(lines) + "\n")
    stream.flush()


def as_json(error: LoopwrightError, file: str | None) -> dict[str, Any]:
    """The same for machines."""
    span = error.span
    found: dict[str, Any] = {
        "severity": "error",
        "kind": verdict_word(error),
        "message": error.message,
        "file": span.file if span else file,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "excerpt": span.excerpt if span else None,
        "hint": error.hint,
    }
    if isinstance(error, Illegal):
        found["witness"] = error.witness
    return found


def _place(span: Span) -> str:
    return f"{span.file}:{span.line}:{span.column}"


def _excerpt(span: Span, paint: Paint) -> list[str]:
    """The source line and a caret under the place; tabs stay, so that both line up."""
    first = max(0, span.column - 1 - WIDEST // 2) if len(span.excerpt) > WIDEST else 0
    line = span.excerpt[first : first + WIDEST]
    before = "".join("\t" if c == "\t" else " " for c in line[: span.column - 1 - first])
    under = "^" + "~" * (min(span.length, len(line) - len(before)) - 1)
    return [f"    {line}", f"    {before}{paint(under, GREEN)}"]
