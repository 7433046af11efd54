"""The findings of random attacks."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What is wrong, and the input that shows it."""

    kind: str
    seed: int
    what: str
    texts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        shown = "\n".join(f"--- {name}\n{text}" for name, text in self.texts)
        return f"WRONG, {self.kind}:{self.seed}: {self.what}\n{shown}"


def symptom(finding: Finding) -> str:
    """What stays of a message when the program is smaller."""
    words = re.sub(r"n = [-\d].*?: |.*hostile.*?: ", "", finding.what)
    return re.sub(r"[-\d]+|'[^']*'|0x\w+", "", words)[:60]
