"""What the user reads when something is wrong: on a terminal in colour, in a pipe plain.

file:line:column: error: message
    the source line
         ^~~~
hint: what to do
more: loopwright explain CODE
"""

from __future__ import annotations

import re
from typing import Any, TextIO

from loopwright.errors import BadInput, Crashed, GaveUp, Illegal, InternalError, LoopwrightError
from loopwright.source import Span

WIDEST = 160
"""Columns of a source line that are shown; of a longer one, the part around the caret."""


CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters of somebody's file that would play tricks with the terminal."""

Piece = tuple[str, str]
"""Text and its style."""

PLAIN, PLACE, ERROR, CARET, LABEL = "", "bold", "bold red", "bold green", "bold blue"


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
    if isinstance(error, Crashed):
        return "crashed"
    return {1: "wrong", 2: "bad input", 3: "gave up"}.get(exit_code(error), "internal error")


def show(error: LoopwrightError, stream: TextIO, file: str | None = None) -> None:
    """Print the error; `file` is what it is about where it does not say so itself."""
    _print(_pieces(error, file), stream)


def show_explanation(error: LoopwrightError, stream: TextIO) -> None:
    """Print the whole story an error has to tell, and where to read on."""
    lines = str(getattr(error, "explanation", "")).splitlines(keepends=True)
    pieces = [piece for line in lines for piece in _painted(line)]
    _print([*pieces, *_more(error)], stream)


def _painted(line: str) -> list[Piece]:
    """A line of an explanation: the error itself, a caret, a label, or plain."""
    found = re.fullmatch(r"(?P<place>(?:\S+:\d+:\d+: )?)(?P<kind>error: )(?P<rest>.*\n?)", line)
    if found:
        return [(found["place"], PLACE), (found["kind"], ERROR), (found["rest"], PLAIN)]
    if re.fullmatch(r"\s*\^~*\s*", line):
        return [(line, CARET)]
    label = re.match(r"(hint|as written|transformed|also): ", line)
    if label:
        return [(label.group(), LABEL), (line[label.end() :], PLAIN)]
    return [(line, PLAIN)]


def _more(error: LoopwrightError) -> list[Piece]:
    return [("more: ", LABEL), (f"loopwright explain {error.code.value}\n", PLAIN)]


def _print(pieces: list[Piece], stream: TextIO) -> None:
    if stream.isatty():
        from rich.console import Console
        from rich.text import Text

        Console(file=stream, soft_wrap=True).print(Text.assemble(*pieces), end="")
    else:
        stream.write("".join(text for text, _ in pieces))
    stream.flush()


def _pieces(error: LoopwrightError, file: str | None) -> list[Piece]:
    place = _place(error.span) if error.span else (file or "loopwright")
    kind = "internal error" if isinstance(error, InternalError) else "error"
    pieces = [(f"{place}:", PLACE), (f" {kind}: ", ERROR), (f"{error.message}\n", PLAIN)]
    if error.span and error.span.excerpt.strip():
        pieces += _excerpt(error.span)
    if isinstance(error, Illegal):
        pieces += [("witness: ", LABEL), (f"{error.witness}\n", PLAIN)]
    if error.hint:
        pieces += [("hint: ", LABEL), (f"{error.hint}\n", PLAIN)]
    return [*pieces, *_more(error)]


def as_json(error: LoopwrightError, file: str | None) -> dict[str, Any]:
    """The same for machines."""
    span = error.span
    found: dict[str, Any] = {
        "severity": "error",
        "kind": verdict_word(error),
        "code": error.code.value,
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


def _excerpt(span: Span) -> list[Piece]:
    """The source line and a caret under the place; tabs stay, so that both line up."""
    first = max(0, span.column - 1 - WIDEST // 2) if len(span.excerpt) > WIDEST else 0
    line = CONTROL.sub("?", span.excerpt[first : first + WIDEST])
    before = "".join("\t" if c == "\t" else " " for c in line[: span.column - 1 - first])
    under = "^" + "~" * (min(span.length, len(line) - len(before)) - 1)
    return [(f"    {line}\n    {before}", PLAIN), (f"{under}\n", CARET)]
