"""What the tests share: where the corpus is, and how hypothesis runs."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("LOOPWRIGHT_CORPUS", ROOT.parent / "shared" / "corpus"))
SUFFIXES = (".in", ".st", ".cloog")

os.environ["LOOPWRIGHT_CHECKER"] = ""
"""What is printed does not depend on whether the verified checker is built here; its own tests build it."""

gc.set_threshold(1_000_000, 20, 100)
"""As in the command: hardly anything is in cycles, and looking for them often takes time."""

settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("LOOPWRIGHT_HYPOTHESIS", "fixed"))


ALL = os.environ.get("LOOPWRIGHT_TESTS") == "all"
"""Whether tests that do the same with many programs do it with all of them, as `make test-all` asks."""

Case = TypeVar("Case")


def share(cases: Sequence[Case], of: int, number: int = 0) -> list[Case]:
    """Share `number` of `of` of the cases: tests with the same programs divide them among themselves."""
    return list(cases) if ALL else list(cases[number % of :: of])


def examples(count: int) -> int:
    """How many random examples a property is tested with: a third of `count`, unless all are asked for."""
    return count if ALL else -(-count // 3)


def corpus_files() -> list[Path]:
    """The files of the corpus, in a fixed order; none where the corpus is absent."""
    return sorted(path for path in CORPUS.rglob("*") if path.suffix in SUFFIXES)


LONG = ("cuda", "kernels", "optimise", "fuzz")
"""Folders with tests that take long: these begin first, so that no processor waits for one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda one: one.path.parent.name not in LONG)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of the corpus; the test is skipped if there is none."""
    if not CORPUS.is_dir():
        pytest.skip(f"no corpus at {CORPUS}: set LOOPWRIGHT_CORPUS to run this test")
    return CORPUS


def pytest_report_header() -> str:
    if not CORPUS.is_dir():
        return f"corpus: ABSENT ({CORPUS}), the tests that need it are skipped"
    return f"corpus: {len(corpus_files())} files at {CORPUS}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `corpus_file` runs on each file; one skipped test says there are none."""
    if "corpus_file" not in metafunc.fixturenames:
        return
    files = corpus_files()
    absent = pytest.param(None, marks=pytest.mark.skip(reason=f"no corpus at {CORPUS}"), id="absent")
    shown = [pytest.param(path, id=str(path.relative_to(CORPUS))) for path in files]
    metafunc.parametrize("corpus_file", shown or [absent])
