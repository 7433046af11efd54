"""The examples of docs/python.md give what the page shows."""

from __future__ import annotations

import doctest

import pytest

from tests.conftest import ROOT

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'loopwright[show]'")


def test_the_page_on_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False, encoding="utf-8")
    assert found.attempted > 15 and not found.failed
