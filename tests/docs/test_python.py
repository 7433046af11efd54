"""The examples of docs/python.md give what the page shows.

To write what they give now into it: LOOPWRIGHT_UPDATE_DOCS=1 pytest tests/docs
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os

import pytest

from tests.conftest import ROOT

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'loopwright[show]'")

PAGE = ROOT / "docs" / "python.md"


def test_the_page_on_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    if os.environ.get("LOOPWRIGHT_UPDATE_DOCS"):
        PAGE.write_text(replayed(PAGE.read_text()))
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted > 15 and not found.failed


def replayed(page: str) -> str:
    """The page with the output of its examples as it is now."""
    known: dict[str, object] = {}
    pieces: list[str] = []
    for piece in doctest.DocTestParser().parse(page):
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(piece.source, "<example>", "single"), known)
        first, *others = piece.source.splitlines()
        pieces.append("".join([f">>> {first}\n", *(f"... {line}\n" for line in others), printed.getvalue()]))
    return "".join(pieces)
