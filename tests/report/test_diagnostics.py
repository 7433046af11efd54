"""A diagnostic as text, in colour, as JSON and as HTML; the caret under the place."""

from __future__ import annotations

import io
import json
import pickle

import pytest

from loopwright.cli.frame import progress_line
from loopwright.cli.output import write_error
from loopwright.errors import (
    BadInput,
    Code,
    Crashed,
    Diagnostic,
    GaveUp,
    Illegal,
    InternalError,
    LoopwrightError,
    Note,
)
from loopwright.report.diagnostics import as_html, as_json, as_text
from loopwright.source import Source


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(error: LoopwrightError) -> str:
    return as_text(error.diagnostic, "file.poly", more=True)


FOO = BadInput(Code.GRAMMAR, "unknown name foo", span=Source("f", "\n\n\ti foo\n").at(5, 3), hint="try bar")


def test_the_caret_is_under_the_place() -> None:
    text = "f:3:4: error: unknown name foo\n    \ti foo\n    \t  ^~~\nhint: try bar\n"
    assert shown(FOO) == f"{text}more: loopwright explain LW210\n"


def test_long_lines_are_shown_around_the_place() -> None:
    source = Source("f", "a" * 5000 + "X" + "b" * 5000)
    error = BadInput(Code.GRAMMAR, "here", span=source.at(5000, 1))
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


STORY = Diagnostic(
    Code.READ_TOO_EARLY,
    "too early",
    span=Source("s.lw", "reverse(S)\n").at(0, 10),
    hint="distribute first",
    witness="n = 1",
    notes=(
        Note("flow dependence on a[1]"),
        Note("S(1) writes a[1]", span=Source("k.c", "x;\n  a[i] = 0;\n").at(5, 4), excerpt=""),
        Note("S(1) reads a[1]", span=Source("gone.c", "").at(0), excerpt="b = a[i];"),
        Note("S(1), then S(2)", "as written"),
        Note("S(2), then S(1)", "transformed"),
    ),
    more=1,
    others=(Note("another", "also", notes=(Note("R(0)", span=Source("k.c", "x;").at(0)),)),),
)


def test_notes() -> None:
    """They take the place of the witness; inner notes are indented, and labels aligned."""
    assert as_text(STORY) == (
        "s.lw:1:1: error: too early\n"
        "    reverse(S)\n"
        "    ^~~~~~~~~~\n"
        "flow dependence on a[1]\n"
        "k.c:2:3: S(1) writes a[1]\n"
        "      a[i] = 0;\n"
        "      ^~~~\n"
        "gone.c:1:1: S(1) reads a[1]\n"
        "    b = a[i];\n"
        "as written:  S(1), then S(2)\n"
        "transformed: S(2), then S(1)\n"
        "hint: distribute first\n"
        "\n"
        "also: another\n"
        "    k.c:1:1: R(0)\n"
    )


def test_json() -> None:
    data = json.loads(json.dumps(as_json(STORY)))
    assert data["kind"] == "wrong" and data["code"] == "LW101" and data["message"] == "too early (and 1 more)"
    assert (data["file"], data["line"], data["column"], data["excerpt"]) == ("s.lw", 1, 1, "reverse(S)")
    assert (data["witness"], data["hint"]) == ("n = 1", "distribute first")
    assert data["notes"][1] | {"notes": None} == {
        "label": "", "text": "S(1) writes a[1]", "file": "k.c", "line": 2, "column": 3, "notes": None,
    }  # fmt: skip
    assert data["notes"][-1]["notes"][0]["text"] == "R(0)"
    assert "witness" not in as_json(FOO.diagnostic)
    assert as_json(GaveUp(Code.TIME, "late").diagnostic, "f.c")["file"] == "f.c"


def test_html() -> None:
    page = as_html(BadInput(Code.GRAMMAR, "<b> is unknown", span=Source("f", "i <b>").at(2, 3)).diagnostic)
    assert "&lt;b&gt; is unknown\n" in page and "<b>" not in page
    assert '<span style="color: var(--lw-broken); font-weight: bold">error: </span>' in page
    assert page.startswith("<pre>") and page.endswith("</pre>")


def test_colours_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    error = BadInput(Code.GRAMMAR, "what [bold]is[/bold] this", span=Source("f", "x").at(0, 1))

    def written(stream: io.StringIO) -> str:
        monkeypatch.setattr("sys.stderr", stream)
        write_error(error, None)
        return stream.getvalue()

    assert written(io.StringIO()) == shown(error)
    coloured = written(Terminal())
    assert "\x1b[1;31merror: " in coloured
    assert "what [bold]is[/bold] this" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in written(Terminal())


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
    ("error", "status", "verdict"),
    [
        (Illegal(Code.NOT_PARALLEL, "", witness=""), 1, "wrong"),
        (BadInput(Code.GRAMMAR, ""), 2, "bad input"),
        (GaveUp(Code.TIME, ""), 3, "gave up"),
        (GaveUp(Code.INTERRUPTED, ""), 130, "gave up"),
        (InternalError(Code.INTERNAL, ""), 4, "internal error"),
        (Crashed(Code.CRASHED, ""), 4, "crashed"),
    ],
)
def test_exit_codes(error: LoopwrightError, status: int, verdict: str) -> None:
    assert (error.code.exit_code, error.code.verdict) == (status, verdict)


def test_an_error_survives_a_pickle() -> None:
    """The work under a time limit is another process's."""
    for error in (Illegal.of(STORY), FOO, Illegal(Code.NOT_PARALLEL, "no", witness="n = 1")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.diagnostic == error.diagnostic
        assert str(again) == again.message == error.message
