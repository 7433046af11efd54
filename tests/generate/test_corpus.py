"""Every file of the corpus generates and proves."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.generate.program import generate
from loopwright.loops.measure import size
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read.schedules import read_schedule

UNBOUNDED = {"ard.cloog", "infinite.cloog", "infinite3.cloog"}
"""These have no first iteration: the right answer is an error [Grosser2015, section 5.3]."""


def test_file_is_generated_and_proved(corpus_file: Path) -> None:
    schedule = read_schedule(corpus_file)
    if corpus_file.name in UNBOUNDED:
        with pytest.raises(BadInput, match="no lower bound"):
            generate(schedule)
        return
    program = generate(schedule)
    verdict = prove_scan(schedule, program)
    assert isinstance(verdict, Proved), verdict
    nothing_to_do = schedule.domain.intersect_params(schedule.context.params()).is_empty()
    assert (size(program).calls == 0) == nothing_to_do
