"""The kernels through the whole pipeline: as they are, distributed, in skewed tiles."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from loopwright.progress import silent
from loopwright.prove.comparison.programs import prove_equivalent
from loopwright.prove.verdict import Proved
from loopwright.read.c.reader import parse_c, read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.source import Source
from tests.conftest import ROOT, share
from tests.pipeline.support import output, small_sizes

SUITE = sorted((Path(__file__).parents[1] / "c" / "kernels").glob("*.c"))
KERNELS = sorted((ROOT / "kernels").glob("*.c"))


def ident(path: Path) -> str:
    return f"{path.parent.parent.name}-{path.stem}"


@cache
def rewritten(path: Path, script: str | None = None) -> Source:
    """The new text, every proof done."""
    outcome = transformed(Request(str(path), script), silent)
    for region in outcome.regions:
        assert len(region.proofs) >= 4
    return outcome.source


@cache
def printed(path: Path) -> str:
    """What a kernel prints as it was written."""
    text = path.read_text()
    with TemporaryDirectory() as folder:
        return output(text, Path(folder), *small_sizes(text))


def assert_prints_the_same(path: Path, new: Source, folder: Path) -> None:
    assert output(new.text, folder, *small_sizes(path.read_text())) == printed(path)


@pytest.mark.parametrize("path", SUITE + share(KERNELS, 3, 0), ids=ident)
def test_as_it_is(path: Path, tmp_path: Path) -> None:
    source = rewritten(path)
    new, old = source.text, path.read_text()
    begin = old.index("#pragma scop") + len("#pragma scop\n")
    assert new.endswith(old[old.index("#pragma endscop") :])
    if "int main(" in old:
        assert old[:begin] == new[:begin]
        assert_prints_the_same(path, source, tmp_path)


@pytest.mark.parametrize("path", share(SUITE + KERNELS, 3, 1), ids=ident)
def test_distributed(path: Path, tmp_path: Path) -> None:
    new = rewritten(path, "distribute()")
    if "int main(" in path.read_text():
        assert_prints_the_same(path, new, tmp_path)


@pytest.mark.parametrize("path", SUITE, ids=ident)
def test_proved_again_as_two_files(path: Path) -> None:
    """`prove` does not know how the second file was made."""
    (old,), (new,) = read_c(path), parse_c(rewritten(path))
    assert isinstance(prove_equivalent(old, new).verdict, Proved)


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("jacobi-1d", "L = lift(LoopB, 1)\ntile(L, 8, 32, skew)\n"),
        ("jacobi-2d", "L = lift(LoopB, 1)\ntile(L, 8, 16, 16, skew)\n"),
        ("heat-3d", "L = lift(LoopB, 1)\ntile(L, 4, 8, 8, 32, skew)\n"),
    ],
)
def test_skewed_tiles_are_proved(name: str, script: str, tmp_path: Path) -> None:
    """Bounds of three and four maxima and minima in every loop."""
    path = ROOT / "kernels" / f"{name}.c"
    assert_prints_the_same(path, rewritten(path, script), tmp_path)
