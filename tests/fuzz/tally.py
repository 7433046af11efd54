"""Records answers and findings as they come, so that a stopped attack loses little."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.findings import Finding, symptom

EVERY = 10.0
"""Seconds between two tables."""
NO_CASES = ("late", "lost", "unfinished")
"""Answers that did not come in time."""
YES_RUN, NO_CONFIRMED, NOT_RUN = JUDGED = ("yes run", "no confirmed", "not run")
"""How answers were judged, which is counted beside them: what is none of these is judged at once, or not."""
ANSWERS = (
    "accepted", "Proved", "VALID", "Refuted", "Illegal", "INVALID", "Undecided", "GaveUp", "BadInput",
)  # fmt: skip
"""Columns of the table, in this order; others follow them."""


@dataclass
class Tally:
    """Counts of answers, `KIND: ANSWER`, and symptoms that were seen; files in a folder, if one is given."""

    folder: Path | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    seen: dict[str, str] = field(default_factory=dict)
    """The first finding of each symptom."""
    repeated: int = 0
    _written: float = 0.0

    def add(self, found: list[Finding], told: Counter[str]) -> None:
        """Adds what a batch shows; a symptom that is new is printed."""
        self.outcomes += told
        for one in found:
            if self.folder is not None:
                with (self.folder / "finds.txt").open("a") as file:
                    print(one, file=file)
            if symptom(one) in self.seen:
                self.repeated += 1
            else:
                self.seen[symptom(one)] = f"{one.kind}:{one.seed}: {one.what}"
                print(one, flush=True)
        if self.folder is not None and (found or time.monotonic() - self._written > EVERY):
            (self.folder / "counts.txt").write_text(self.table + "\n")
            self._written = time.monotonic()

    @property
    def cases(self) -> int:
        aside = (*NO_CASES, *JUDGED)
        return sum(count for what, count in self.outcomes.items() if what.split(": ")[1] not in aside)

    @property
    def table(self) -> str:
        """One line for each kind, one column for each answer; then what was found."""
        rows: dict[str, Counter[str]] = {}
        for what, count in self.outcomes.items():
            kind, answer = what.split(": ")
            rows.setdefault(kind, Counter())[answer] += count
        aside = (*NO_CASES, *JUDGED)
        others = sorted({answer for row in rows.values() for answer in row} - {*ANSWERS, *aside})
        lines = []
        for kind, row in sorted(rows.items()):
            told = [f"{row[one]} {one}" for one in (*ANSWERS, *others, *aside) if row[one]]
            count = sum(row.values()) - sum(row[one] for one in aside)
            lines.append(f"{kind:<10} {count:>7}  {', '.join(told)}")
        lines.append(
            f"{'all':<10} {self.cases:>7}  {len(self.seen)} symptoms, {self.repeated} more finds of them"
        )
        return "\n".join([*lines, *(f"WRONG {what[:160]}" for what in self.seen.values())])
