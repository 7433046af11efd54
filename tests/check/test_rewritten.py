"""Correct programs pass, whatever made them: scripts, tiles of any size, recursion, unrolling.

A kernel is checked as it is, by its script, unrolled or tiled, or, in test_mutants, with a mistake in it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.check.original.writers import Writers, writers
from loopwright.check.program.reachable import reached
from loopwright.check.program.segment import Input, parse_input
from loopwright.check.run.judged import Job
from loopwright.check.run.report import Answer, as_text
from loopwright.check.verify import prepared, verdict
from loopwright.errors import BadInput
from loopwright.source import Source
from tests.check.handwritten import VERSIONS, Version
from tests.check.mutation import mutants
from tests.check.oracle import Expected, expected, is_valid, traced
from tests.check.support import NAMES, everywhere, kernel, quick, rewritten, shipped_script, small
from tests.check.tiled import tiling
from tests.conftest import ALL, share

MUTANTS = 4 if ALL else 1
TITLES = [f"{version.kernel}, {version.title}" for version in VERSIONS]


def _input(text: str, name: str) -> Input:
    return parse_input(Source(str(kernel(name)), text), kernel(name))


@pytest.mark.parametrize("name", share(NAMES, 5, 0))
def test_kernels_are_reorderings_of_themselves(name: str) -> None:
    """Operation by operation; test_bulk has them as wholes."""
    for options in (quick(small(name, first=4), "a"), replace(quick(small(name, first=4)), one_by_one=True)):
        job = prepared(_input(kernel(name).read_text(), name), options)
        assert verdict(job, writers(job.spec), options).answer is Answer.VALID


@pytest.mark.parametrize("name", [name for name in share(NAMES, 5, 1) if shipped_script(name) is not None])
def test_scripts_that_are_proved_pass(name: str) -> None:
    options = quick(small(name, first=9))
    script = shipped_script(name)
    assert script is not None
    job = prepared(_input(rewritten(name, script), name), options)
    report = verdict(job, writers(job.spec), options)
    assert report.answer is Answer.VALID, as_text(report)


@pytest.mark.parametrize("name", share(NAMES, 5, 2))
def test_every_kernel_unrolled(name: str) -> None:
    """Every innermost loop that can be, three iterations at a time."""
    text, count = everywhere(name, "unroll", 3)
    assert count >= 1
    _passes(name, text)


@pytest.mark.parametrize("name", share(NAMES, 5, 3))
def test_every_kernel_tiled(name: str) -> None:
    """Tiles of different sizes in every direction, skewed where they have to be."""
    text = rewritten(name, tiling(name, (4, 3, 5, 2)))
    assert text.count("for (") > kernel(name).read_text().count("for (")
    _passes(name, text)


def _passes(name: str, text: str) -> None:
    options = quick(small(name, first=7))
    job = prepared(_input(text, name), options)
    report = verdict(job, writers(job.spec), options)
    assert report.answer is Answer.VALID, as_text(report)


@pytest.mark.parametrize("version", VERSIONS, ids=TITLES)
def test_handwritten_programs(version: Version) -> None:
    """The program passes, and its mutants get the verdict of brute force [Bao2016, tables 7 and 10]."""
    options = quick(small(version.kernel, first=6))
    original = prepared(_input(kernel(version.kernel).read_text(), version.kernel), options)
    found, wanted = writers(original.spec), expected(original)
    given = _input(version.text, version.kernel)
    job = prepared(given, options)
    for algorithm in share(("a", "codes"), 2, VERSIONS.index(version)):
        report = verdict(job, found, quick(small(version.kernel, first=6), algorithm))
        assert report.answer is Answer.VALID, as_text(report)
    assert is_valid(wanted, traced(job))
    ranks = {array.name: array.rank for array in given.original.arrays}
    bodies = tuple(function.body.span for function in reached(given.segment, ranks).functions)
    tried = 0
    for mutant in mutants(given.segment, seed=7, count=2 * MUTANTS, places=(given.segment.place, *bodies)):
        tried += _agrees(mutant.text, version.kernel, found, wanted)
        if tried == MUTANTS:
            break
    assert tried == MUTANTS


def _agrees(text: str, name: str, found: Writers, wanted: Expected) -> bool:
    options = quick(small(name, first=6))
    try:
        job: Job = prepared(_input(text, name), options)
        trace = traced(job)
    except BadInput:
        return False
    report = verdict(job, found, options)
    assert (report.answer is Answer.VALID) == is_valid(wanted, trace), (as_text(report), text)
    return True
