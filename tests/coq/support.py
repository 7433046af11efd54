"""What the tests of Coq files share."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from loopwright.loops.nodes import Node
from loopwright.model.schedule import Schedule
from loopwright.prove.coq.check import INSTALL, Accepted, Answer, check, coqc
from loopwright.prove.coq.program_file import program_file

needs_coqc = pytest.mark.skipif(coqc() is None, reason=f"coqc is not installed: {INSTALL}")

SECONDS = 240.0
"""The tests may run on a machine that does other things."""


def answer(schedule: Schedule, program: Node) -> Answer:
    """What Coq says of the file about `program`."""
    return check(program_file(schedule, program, "A test"), SECONDS)


def together(texts: Sequence[str]) -> str:
    """Several files as one, each a module, so that Coq starts once and looks for axioms once."""
    required = "From Loopwright Require Import Tactics.\n"
    parts = [required]
    theorems: list[str] = []
    for k, text in enumerate(texts):
        last = re.fullmatch(r"(.*)Print Assumptions (\w+)\.\n", text, re.DOTALL)
        assert last is not None
        plain, theorem = last.groups()
        parts.append(f"Module File{k}.\n\n{plain.replace(required, '')}\nEnd File{k}.\n")
        theorems.append(f"File{k}.{theorem}")
    parts.append(f"Definition everything := ({', '.join(theorems)}).\nPrint Assumptions everything.\n")
    return "\n".join(parts)


def assert_accepted(texts: Sequence[str]) -> None:
    found = check(together(texts), SECONDS)
    assert found == Accepted(), found
