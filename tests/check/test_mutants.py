"""Mutants of every fifth kernel, as written and as rewritten by script: the verdict is the oracle's.

That the programs they are made from pass is tested in test_rewritten.
"""

from __future__ import annotations

import os

import pytest

from loopwright.check.original.writers import Writers, writers
from loopwright.check.program.segment import Input, parse_input
from loopwright.check.run.judged import Job
from loopwright.check.run.report import Answer
from loopwright.check.verify import prepared, verdict
from loopwright.errors import BadInput
from loopwright.source import Source
from tests.check.mutation import mutants
from tests.check.oracle import Expected, expected, is_valid, traced
from tests.check.support import NAMES, kernel, quick, rewritten, shipped_script, small
from tests.conftest import share

PER_KERNEL = int(os.environ.get("LOOPWRIGHT_MUTANTS", "3"))
"""Each is compiled and run twice: 3 in every test run, 18 of all kernels (540) by `make test-mutants`."""


def _input(text: str, name: str) -> Input:
    return parse_input(Source(str(kernel(name)), text), kernel(name))


@pytest.mark.parametrize("name", share(NAMES, 5, 4))
def test_no_mutant_escapes(name: str) -> None:
    options = quick(small(name))
    original = kernel(name).read_text()
    job = prepared(_input(original, name), options)
    found, wanted = writers(job.spec), expected(job)
    script = shipped_script(name)
    programs = [original] if script is None else [original, rewritten(name, script)]
    tried = 0
    for number, text in enumerate(programs):
        given = _input(text, name)
        for mutant in mutants(given.segment, seed=number, count=2 * PER_KERNEL):
            tried += _agrees(mutant.text, mutant.kind, name, found, wanted)
            if tried >= PER_KERNEL * (number + 1) // len(programs):
                break
    assert tried == PER_KERNEL


def _agrees(text: str, kind: str, name: str, found: Writers, wanted: Expected) -> bool:
    """Whether the mutant is a program at all; if so, verdict and oracle must agree on it."""
    options = quick(small(name))
    try:
        job: Job = prepared(_input(text, name), options)
        trace = traced(job)
    except BadInput:
        return False
    report = verdict(job, found, options)
    assert (report.answer is Answer.VALID) == is_valid(wanted, trace), (kind, name, report.answer, text)
    if report.answer is Answer.VIOLATION:
        assert report.findings
    assert report.answer is not Answer.GAVE_UP
    return True
