"""The example in the documentation is what the command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loopwright.report.program_text import extracted
from tests.conftest import ROOT


def test_the_example_of_reading_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "reading-c.md").read_text()
    blocks = re.findall(r"```(c|text)\n(.*?)```", page, re.DOTALL)
    (_, code), (_, expected) = blocks[:2]
    monkeypatch.chdir(tmp_path)
    Path("example.c").write_text(code)
    assert extracted("example.c", "text") == expected
