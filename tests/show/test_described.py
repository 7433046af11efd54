"""Pictures of descriptions: the order is that of the schedule, and what cannot be drawn is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.cli.main import main
from loopwright.progress import silent
from loopwright.rewrite.generation import GenerationRequest, generated
from loopwright.show.described import DescribedLoops, described_picture
from loopwright.show.moving import MOST, MovingPicture
from tests.conftest import ROOT

EXAMPLES = ROOT / "src/loopwright/data/examples"


def drawn(path: Path, **sizes: int) -> MovingPicture | None:
    found = generated(GenerationRequest(str(path)), silent)
    return described_picture(DescribedLoops(found.schedule, found.loops), sizes or None)


def test_the_order_is_that_of_the_schedule() -> None:
    """The waves of grid_waves.scop: by i + j, then by j."""
    picture = drawn(EXAMPLES / "grid_waves.scop", n=6)
    assert picture is not None
    (panel,) = picture.panels
    assert panel.axes == ("i", "j")
    ran = [one.at for one in sorted(picture.instances, key=lambda one: one.after)]
    assert ran == sorted(((i, j) for i in range(1, 6) for j in range(1, 6)), key=lambda at: (sum(at), at[1]))
    assert [one.before for one in picture.instances] == [one.after for one in picture.instances]
    assert (picture.arrows, picture.notes) == ((), ())


def test_statements_of_one_loop_share_a_panel() -> None:
    picture = drawn(EXAMPLES / "shifted_fusion.poly")
    assert picture is not None
    assert len(picture.statements) == 2
    assert {one.panel for one in picture.statements} == {0}


def test_sizes_that_the_context_excludes_are_not_drawn() -> None:
    picture = drawn(EXAMPLES / "triangle_tiles.poly", n=-3)
    assert picture is not None
    assert [one.value > 0 for one in picture.sizes] == [True]


HUGE = {
    "for ever": "statement S(i)\n  domain 0 <= i\n  schedule i\n",
    "many": "statement S(i, j)\n  domain 0 <= i <= 9999 and 0 <= j <= 9999\n  schedule j, i\n",
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_of_loops_too_large_a_corner_is_drawn(text: str, tmp_path: Path) -> None:
    path = tmp_path / "huge.poly"
    path.write_text(text)
    picture = drawn(path)
    assert picture is not None
    assert 0 < len(picture.instances) <= MOST
    assert picture.notes == ("only a corner of the loops is drawn",)


def test_nothing_to_draw(tmp_path: Path) -> None:
    path = tmp_path / "none.poly"
    path.write_text("param n\ncontext n >= 1\nstatement S(i)\n  domain 1 <= i <= 0\n  schedule i\n")
    assert drawn(path) is None


def _status(words: list[str]) -> object:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return ended.value.code


def test_show_writes_a_page_and_refuses_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, file = tmp_path / "page.html", str(EXAMPLES / "two_ranges.poly")
    statuses = [_status(["show", file, *more]) for more in (["-o", str(page)], ["-e", "distribute()"])]
    assert statuses == [0, 2]
    assert 'class="lw-moving"' in page.read_text()
    assert "a script needs a C file" in capsys.readouterr().err
