"""The proof on programs that another generator made: all of isl's output for the corpus is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.peer import peer_generate
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read.schedules import read_schedule


@pytest.mark.parametrize("suffix", [".in", ".st"])
def test_what_isl_generates_is_proved(corpus: Path, suffix: str) -> None:
    files = sorted((corpus / "isl").rglob(f"*{suffix}"))  # on an input of `found`, isl's generator fails
    assert files
    verdicts = {path.name: prove_scan(read_schedule(path), peer_generate(path)[0]) for path in files}
    assert {name: one for name, one in verdicts.items() if not isinstance(one, Proved)} == {}
