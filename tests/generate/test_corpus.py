"""Every file of the corpus is read, generates, is proved, and its code compiles alone without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import islpy as isl
import pytest

from loopwright.emit.c import to_c
from loopwright.errors import BadInput
from loopwright.generate.program import generate
from loopwright.loops.nodes import Node
from loopwright.loops.traverse import size
from loopwright.model.schedule import Band, Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read.schedules import read_schedule

UNBOUNDED = {"ard.cloog", "infinite.cloog", "infinite3.cloog"}
"""These have no first iteration: the right answer is an error [Grosser2015, section 5.3]."""
STRICT = ("-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror")


def test_file_is_generated_proved_and_compiled(corpus_file: Path) -> None:
    schedule = read_schedule(corpus_file)
    assert_consistent(schedule)
    if corpus_file.name in UNBOUNDED:
        with pytest.raises(BadInput, match="no lower bound"):
            generate(schedule)
        return
    program = generate(schedule)
    verdict = prove_scan(schedule, program)
    assert isinstance(verdict, Proved), verdict
    nothing_to_do = schedule.domain.intersect_params(schedule.context.params()).is_empty()
    assert (size(program).calls == 0) == nothing_to_do
    assert_compiles(program)


def assert_consistent(schedule: Schedule) -> None:
    """Every statement has a time, and as many numbers in it as the band has members."""
    assert schedule.context.is_params()
    if isinstance(schedule.tree, Band):
        vectors = schedule.tree.schedule.intersect_domain(schedule.domain)
        sizes: set[int] = set()
        vectors.foreach_map(lambda one: sizes.add(one.dim(isl.dim_type.out)))
        assert sizes <= {len(schedule.tree.members)}
        assert schedule.domain.is_subset(vectors.domain())


def assert_compiles(program: Node) -> None:
    if shutil.which("gcc") is None:
        return
    command = ["gcc", *STRICT, "-fsyntax-only", "-x", "c", "-"]
    text = to_c(program, standalone=True)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
