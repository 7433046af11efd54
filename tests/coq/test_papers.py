"""The numbered examples of the papers, each with the options its test gives, accepted by Coq.

Of the scripts of paper 001 two; `python -m benchmarks.proofs paper` has all of them.  The affine ones of
paper 004 are among the transformations.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from loopwright.generate.program import generate
from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.schedule import Schedule
from loopwright.prove.coq.program_file import program_file
from loopwright.prove.coq.transformation_file import transformation_file
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Verdict
from loopwright.read.c.reader import read_c
from loopwright.transform import to_schedule, transform
from tests.coq.support import assert_accepted, needs_coqc
from tests.generate import support, test_paper_000, test_paper_002, test_paper_003

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
PAPERS = {"000": test_paper_000, "002": test_paper_002, "003": test_paper_003}


def examples(paper: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Schedule, Node]]:
    """What the tests of `paper` generate and prove."""
    made: list[tuple[Schedule, Node]] = []

    def recorded(schedule: Schedule, program: Node) -> Verdict:
        made.append((schedule, program))
        return prove_scan(schedule, program)

    monkeypatch.setattr(support, "prove_scan", recorded)
    for name, test in sorted(vars(paper).items()):
        if name.startswith("test_") and not test.__code__.co_argcount:
            made.clear()
            test()
            yield from ((name, schedule, program) for schedule, program in made)


def endless(program: Node) -> bool:
    """Such a program has no trace, and no proof here."""
    return any(isinstance(node, For) and node.test == TRUE for node in subprograms(program))


@needs_coqc
@pytest.mark.parametrize("paper", PAPERS)
def test_examples_of_a_paper_are_accepted(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        program_file(schedule, program, f"{name} of paper {paper}")
        for name, schedule, program in examples(PAPERS[paper], monkeypatch)
        if not endless(program)
    ]
    assert len(texts) >= 8
    for start in range(0, len(texts), 8):
        assert_accepted(texts[start : start + 8])


@needs_coqc
def test_scripts_of_paper_001_are_accepted() -> None:
    texts: list[str] = []
    for name in ("mvt", "gemver"):
        (program,) = read_c(KERNELS / f"{name}.c")
        plan = transform(program, (KERNELS / "paper" / f"{name}.lw").read_text(), f"{name}.lw")
        texts.append(transformation_file(plan.original, plan.program, generate(to_schedule(plan)), name))
    assert_accepted(texts)
