"""The pictures of the tutorial are what `loopwright show` draws now.

To draw them again: LOOPWRIGHT_UPDATE_DOCS=1 pytest tests/show
"""

from __future__ import annotations

import os
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from loopwright.cli.main import main

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "tutorial"

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'loopwright[show]'")


def words(picture: Path) -> list[str]:
    """Everything that is written in a picture; how it is drawn may change with the library."""
    found = ElementTree.fromstring(picture.read_text())
    texts = ["".join(element.itertext()).strip() for element in found.iter("{http://www.w3.org/2000/svg}text")]
    assert texts
    return texts


@pytest.mark.parametrize(("script", "status"), [("wrong", 1), ("sums", 0)])
def test_pictures_are_current(tmp_path: Path, script: str, status: int) -> None:
    command = ["show", str(FOLDER / "sums.c"), str(FOLDER / f"{script}.lw"), "-o", str(tmp_path / "r.html")]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--pictures", str(tmp_path)])
    assert ended.value.code == status
    if os.environ.get("LOOPWRIGHT_UPDATE_DOCS"):
        shutil.copy(tmp_path / "sums-1.svg", FOLDER / f"{script}-1.svg")
    assert words(tmp_path / "sums-1.svg") == words(FOLDER / f"{script}-1.svg")
