"""The kernels rewritten by their scripts, proved equivalent from the texts alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loopwright.c.allocation import HEADER
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Proved, Refuted
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.conftest import ROOT, share
from tests.equivalence.support import compared

KERNELS = sorted((ROOT / "kernels").glob("*.c"))
LONG = ("cholesky", "ludcmp", "symm")
"""With the arrays that their scripts allocate, these take longer than `prove` has; others keep theirs."""


def rewritten(path: Path, script: str) -> str:
    """The new text as the generator made it, nothing of it proved."""
    return transformed(Request(str(path), script, prove=False), silent).source.text


@pytest.mark.parametrize("path", share(KERNELS, 6), ids=lambda path: path.stem)
def test_shipped_scripts(path: Path, tmp_path: Path) -> None:
    folder = ROOT / "kernels" / ("kept" if path.stem in LONG else "")
    new = rewritten(path, (folder / f"{path.stem}.lw").read_text())
    if HEADER in new:  # with the arrays that it allocates, and without
        (tmp_path / "new.c").write_text(new)
        assert compare_files(path, tmp_path / "new.c").proved
        return
    found = compared(tmp_path, path.read_text(), new)
    assert isinstance(found.verdict, Proved), found.verdict


TILED = {
    "seidel-2d": "tile(Loop, 8, 16, 16, skew)",
    "jacobi-2d": "L = lift(LoopA, 1)\ntile(L, t=8, i=16, j=16, skew)",
    "heat-3d": "L = lift(LoopA, 1)\ntile(L, t=8, i=16, j=16, k=16, skew)",
}


@pytest.mark.parametrize("name", TILED)
def test_skewed_tiles(name: str, tmp_path: Path) -> None:
    path = ROOT / "kernels" / f"{name}.c"
    found = compared(tmp_path, path.read_text(), rewritten(path, TILED[name]))
    assert isinstance(found.verdict, Proved), found.verdict


@pytest.mark.parametrize("name", ["seidel-2d", "jacobi-1d"])
def test_a_mistake_in_a_generated_file_is_found(name: str, tmp_path: Path) -> None:
    """The last minus one of the text becomes a minus two."""
    path = ROOT / "kernels" / f"{name}.c"
    new = rewritten(path, path.with_suffix(".lw").read_text())
    begin, end = new.index("#pragma scop"), new.index("#pragma endscop")
    places = [match.start() for match in re.finditer(r"- 1\]", new[begin:end])]
    wrong = new[: begin + places[-1]] + "- 2]" + new[begin + places[-1] + 4 :]
    found = compared(tmp_path, path.read_text(), wrong)
    assert isinstance(found.verdict, Refuted), found.verdict
