"""The pages of docs/operations show what happens: each example is run.

An example is three fenced blocks: `c`, the region before; `lw`, the script; `c`, the loops after
it.  To write what comes out now into the pages: LOOPWRIGHT_UPDATE_DOCS=1 pytest tests/transform
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from loopwright.emit.region import region_text
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import prove_plan
from loopwright.rewrite.scripts import loops_of
from loopwright.transform import Plan
from loopwright.transform.script.steps import NAMES
from tests.transform.support import check, planned

PAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "operations"
EXAMPLE = re.compile(
    r"```c\n(?P<before>.*?)```\n(?P<gap>.*?)```lw\n(?P<script>.*?)```\n(?P<arrow>.*?)```c\n(?P<after>.*?)```",
    re.DOTALL,
)


def written(plan: Plan, verdict: LegalityVerdict) -> str:
    """The new region, with OpenMP's pragmas; whatever runs is checked by enumeration too."""
    return region_text(loops_of(plan, check(plan), verdict), openmp=True)


def pages() -> list[Path]:
    return sorted(PAGES.glob("*.md"))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_examples_come_out_as_shown(page: Path) -> None:
    text = page.read_text()
    for example in EXAMPLE.finditer(text):
        plan = planned(example["before"], example["script"])
        verdict = prove_plan(plan)
        assert not verdict.violations, f"{page.name} shows an illegal script"
        after = written(plan, verdict)
        if os.environ.get("LOOPWRIGHT_UPDATE_DOCS"):
            shown = example.group()
            kept = shown[: -len(example["after"]) - 3]
            page.write_text(page.read_text().replace(shown, f"{kept}{after}```"))
        else:
            assert example["after"] == after


def test_every_operation_has_its_page() -> None:
    assert {page.stem for page in pages()} == {*NAMES, "README"}
    for name in NAMES:
        text = (PAGES / f"{name}.md").read_text()
        assert f"{name}(" in text and EXAMPLE.search(text), f"{name}.md has no example"
