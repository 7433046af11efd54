"""The verified checker, built once for the tests that ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.certificates import checker


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checker.build(tmp_path_factory.mktemp("checker") / "checker")


@pytest.fixture
def built(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CHECKER", str(program))
