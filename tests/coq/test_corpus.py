"""Coq accepts files made for the corpus; `python -m benchmarks.proofs corpus` looks at all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.generate.program import generate
from loopwright.loops.traverse import size
from loopwright.read.schedules import read_schedule
from tests.conftest import corpus_files
from tests.coq.support import assert_accepted, loops_file, needs_coqc

EVERY = 30
MOST_CALLS = 12
"""Larger programs take Coq long; the benchmark has them."""


@needs_coqc
@pytest.mark.usefixtures("built")
def test_each_thirtieth_file_is_accepted(corpus: Path) -> None:
    texts = []
    for path in corpus_files()[5::EVERY]:
        schedule = read_schedule(path)
        program = generate(schedule)
        if size(program).calls <= MOST_CALLS:
            texts.append(loops_file(schedule, program))
    assert len(texts) >= 6
    assert_accepted(texts)
