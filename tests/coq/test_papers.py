"""The numbered examples of the publications, each with the options its test gives, accepted by Coq.

Two of the scripts of [Namjoshi2016, appendix B]; `python -m benchmarks.proofs loopy` checks all of them.  The
affine programs of [Bao2016] are among the transformations.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Verdict
from loopwright.transform import transform
from tests.coq.support import assert_accepted, loops_file, needs_coqc, plan_file
from tests.generate import support, test_courant2021, test_grosser2015, test_quillere2000
from tests.kernel_programs import kernel_program

pytestmark = pytest.mark.usefixtures("built")
KERNELS = Path(__file__).resolve().parents[2] / "kernels"
PAPERS = {"Courant2021": test_courant2021, "Grosser2015": test_grosser2015, "Quillere2000": test_quillere2000}


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
def test_examples_of_a_publication_are_accepted(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        loops_file(schedule, program)
        for _, schedule, program in examples(PAPERS[paper], monkeypatch)
        if not endless(program)
    ]
    assert len(texts) >= 8
    for start in range(0, len(texts), 8):
        assert_accepted(texts[start : start + 8])


@needs_coqc
def test_scripts_of_namjoshi2016_are_accepted() -> None:
    texts: list[str] = []
    for name in ("mvt", "gemver"):
        program = kernel_program(name)
        plan = transform(program, (KERNELS / "loopy" / f"{name}.lw").read_text(), f"{name}.lw")
        texts.append(plan_file(plan))
    assert_accepted(texts)
