"""The verified checker, built once for the tests that ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.certificates import checker


@pytest.fixture(scope="session")
def program() -> Path:
    """In the user's cache, where it is named after its sources."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LOOPWRIGHT_CHECKER")
        return checker.checker() or checker.build()


@pytest.fixture
def built(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CHECKER", str(program))
