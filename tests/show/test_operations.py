"""The pictures on the pages of the operations are what their examples look like now.

To draw them again: LOOPWRIGHT_UPDATE_DOCS=1 pytest tests/show/test_operations.py
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from loopwright.model.dependences import memory_based
from loopwright.prove.legality.plans import prove_plan
from loopwright.report.summary import pictures_of
from loopwright.show.draw import standalone_svg
from loopwright.show.small import shrunk
from loopwright.transform import parse_script, plan_of
from tests.c.support import region

PAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "operations"
EXAMPLE = re.compile(r"```c\n(?P<before>.*?)```\n.*?```lw\n(?P<script>.*?)```\n", re.DOTALL)

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'loopwright[show]'")


WITHOUT = {"README", "split_sum", "stream"}
"""Pages without a picture: what runs when in the registers of a warp is a table on its page, and the two
statements that add the parts of a sum run where the one did."""


def pages() -> list[Path]:
    return [page for page in sorted(PAGES.glob("*.md")) if page.stem not in WITHOUT]


def drawn(page: Path) -> str:
    """The first picture of the first example, its tiles small."""
    example = EXAMPLE.search(page.read_text())
    assert example is not None
    plan = plan_of(region(example["before"]))
    for step in parse_script(example["script"], "s.lw"):
        plan = plan.perform(shrunk(step, plan)[0])
    dependences = tuple(memory_based(plan.original))
    pictures = pictures_of(plan, dependences, prove_plan(plan, dependences=dependences))
    first = next((one for one in pictures if one.scene.changed or one.scene.tiles), pictures[0])
    return standalone_svg(first.svg)


def words(svg: str) -> list[str]:
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()).strip() for element in texts]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_pictures_are_current(page: Path) -> None:
    picture = PAGES / "pictures" / f"{page.stem}.svg"
    now = drawn(page)
    if os.environ.get("LOOPWRIGHT_UPDATE_DOCS"):
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(now)
    assert words(now) == words(picture.read_text())


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_page_shows_its_picture(page: Path) -> None:
    assert f"](pictures/{page.stem}.svg)" in page.read_text()
