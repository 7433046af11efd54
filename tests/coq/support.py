"""What the tests of Coq files share."""

from __future__ import annotations

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
    """Several files as one, each a module, so that Coq starts once."""
    required = "From Loopwright Require Import Tactics.\n"
    plain = [text.replace(required, "") for text in texts]
    parts = [f"Module File{k}.\n\n{text}\nEnd File{k}.\n" for k, text in enumerate(plain)]
    return required + "\n" + "\n".join(parts)


def assert_accepted(texts: Sequence[str]) -> None:
    found = check(together(texts), SECONDS)
    assert found == Accepted(), found
