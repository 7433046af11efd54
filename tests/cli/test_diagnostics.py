"""Diagnostics: plain in a pipe, coloured on a terminal, the caret under the place."""

from __future__ import annotations

import io

import pytest

from loopwright.cli.diagnostics import exit_code, show
from loopwright.cli.progress import progress_line
from loopwright.errors import BadInput, Code, GaveUp, Illegal, InternalError, LoopwrightError
from loopwright.source import Source


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(error: LoopwrightError, stream: io.StringIO | None = None) -> str:
    stream = stream or io.StringIO()
    show(error, stream, "file.poly")
    return stream.getvalue()


def test_the_caret_stands_under_the_place() -> None:
    error = BadInput(
        Code.GRAMMAR, "unknown name foo", span=Source("f", "\n\n\ti foo").at(5, 3), hint="try bar"
    )
    text = "f:3:4: error: unknown name foo\n    \ti foo\n    \t  ^~~\nhint: try bar\n"
    assert shown(error) == f"{text}more: loopwright explain LW210\n"


def test_long_lines_are_shown_around_the_place() -> None:
    error = BadInput(Code.GRAMMAR, "here", span=Source("f", "a" * 5000 + "X" + "b" * 5000).at(5000))
    _, line, caret, *_ = shown(error).splitlines()
    assert len(line) < 200
    assert line[caret.index("^")] == "X"


def test_an_error_without_a_place_names_the_file() -> None:
    more = "more: loopwright explain"
    assert shown(GaveUp(Code.TIME, "too long")) == f"file.poly: error: too long\n{more} LW301\n"
    assert (
        shown(InternalError(Code.ISL, "isl failed"))
        == f"file.poly: internal error: isl failed\n{more} LW402\n"
    )


def test_a_witness_is_shown() -> None:
    assert shown(Illegal(Code.NOT_PARALLEL, "no", witness="n = 1")) == (
        "file.poly: error: no\nwitness: n = 1\nmore: loopwright explain LW104\n"
    )


def test_colours_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    error = BadInput(Code.GRAMMAR, "what [bold]is[/bold] this", span=Source("f", "x").at(0))
    assert "\x1b[" not in shown(error)
    coloured = shown(error, Terminal())
    assert "\x1b[1;31m" in coloured
    assert "what [bold]is[/bold] this" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in shown(error, Terminal())


def test_progress_is_a_line_that_goes_away_and_silence_in_a_pipe() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        with progress_line(stream) as progress:
            progress("reading")
            progress("proving", 3, 7)
    assert pipe.getvalue() == ""
    assert "reading" in terminal.getvalue() and "3 of 7" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Illegal(Code.NOT_PARALLEL, "", witness=""), 1),
        (BadInput(Code.GRAMMAR, ""), 2),
        (GaveUp(Code.TIME, ""), 3),
        (InternalError(Code.INTERNAL, ""), 4),
    ],
)
def test_exit_codes(error: LoopwrightError, code: int) -> None:
    assert exit_code(error) == code
