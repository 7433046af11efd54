"""`loopwright show`: the files it writes, its exit status, and how the page looks in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from loopwright.cli.main import main
from loopwright.errors import Code, GaveUp
from loopwright.report import regions
from loopwright.show.palette import DARK, LIGHT, STANDING_IN
from tests.show.support import DIAGONAL, PRODUCT, written

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'loopwright[show]'")

BROWSER = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium: apt-get install chromium")


def shown(folder: Path, text: str, script: str | None, *options: str) -> tuple[int, str]:
    """The exit status and the page."""
    file = written(folder, text)
    words = ["show", str(file), "-o", str(folder / "r.html"), *options]
    if script is not None:
        words.append(str(written(folder, script, "s.lw")))
    with pytest.raises(SystemExit) as ended:
        main(words)
    page = folder / "r.html"
    return int(ended.value.code or 0), page.read_text() if page.exists() else ""


def test_a_legal_script(tmp_path: Path) -> None:
    status, page = shown(tmp_path, PRODUCT, "distribute(Init, Mult)\ntile(Mult, 32, 32, 32)\n")
    assert status == 0
    assert "Proved" in page and "Refused" not in page
    assert page.count("legal so far") == 2
    assert "the new source executes the schedule, statement by statement" in page
    assert "tiles and strips are drawn with size 2" in page
    assert "<svg" in page


def test_an_illegal_script_is_explained(tmp_path: Path) -> None:
    status, page = shown(tmp_path, DIAGONAL, "interchange(S, i, j)\n")
    assert status == 1
    assert "Refused" in page and "not tried" in page
    assert "a value is read before it is written" in page
    assert "S(1, 1) writes A[1][1]" in page


def test_a_proof_that_is_given_up_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_: object) -> None:
        raise GaveUp(Code.UNDECIDED, "could not decide that the loops execute the schedule: too hard")

    monkeypatch.setattr(regions, "transformed", gives_up)
    status, page = shown(tmp_path, PRODUCT, "distribute(Init, Mult)\n")
    assert status == 3
    assert "Could not decide" in page and "too hard" in page and ">Proved<" not in page


def test_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(regions, "can_draw", lambda: False)
    status, page = shown(tmp_path, DIAGONAL, None)
    assert status == 0
    assert "<svg" not in page and "No pictures: pictures need matplotlib" in page
    assert "pip install 'loopwright[show]'" in capsys.readouterr().err
    assert shown(tmp_path, DIAGONAL, None, "--pictures", str(tmp_path / "p"))[0] == 2


def test_without_a_script(tmp_path: Path) -> None:
    status, page = shown(tmp_path, DIAGONAL, None)
    assert status == 0
    text = page.partition("<script>")[0]
    assert "No script was given" in text and "Order after the script" not in text


def test_nothing_is_fetched(tmp_path: Path) -> None:
    _, page = shown(tmp_path, DIAGONAL, None)
    data = r'<script type="application/json" class="lw-moving" id="moving">'
    page = re.sub(data, "", page)
    assert not re.search(r"<script[^>]|<link|fetch\(|@import|url\((?!#)|(src|href)=\"https?:", page)


def test_the_contents_lead_to_every_part(tmp_path: Path) -> None:
    _, page = shown(tmp_path, DIAGONAL, "reverse(S, j)\n")
    links = re.findall(r'<a href="#([^"]+)">', page)
    assert links == re.findall(r'<section id="([^"]+)">', page)
    assert links == ["script", "order", "code", "steps", "proofs", "trust"]


@needs_browser
def test_keys(tmp_path: Path) -> None:
    """o closes the steps when all are open, and j goes to the first part."""
    _, page = shown(tmp_path, DIAGONAL, "reverse(S, j)\n")
    assert "<details open>" in page
    pressed = "".join(f'dispatchEvent(new KeyboardEvent("keydown", {{key: "{key}"}}));' for key in "oj")
    told = "document.title = document.activeElement.textContent"
    (tmp_path / "r.html").write_text(page.replace("</body>", f"<script>{pressed}{told}</script></body>"))
    assert BROWSER is not None
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--dump-dom", (tmp_path / "r.html").as_uri()],
        check=True, capture_output=True, timeout=120, text=True,
    )  # fmt: skip
    assert "<details>" in done.stdout and "<details open" not in done.stdout
    assert "<title>The script</title>" in done.stdout


def test_the_same_input_gives_the_same_page(tmp_path: Path) -> None:
    assert shown(tmp_path, DIAGONAL, "reverse(S, j)\n") == shown(tmp_path, DIAGONAL, "reverse(S, j)\n")


def test_text_is_escaped(tmp_path: Path) -> None:
    _, page = shown(tmp_path, DIAGONAL.replace("S: A", "S: /* <b>x</b> */ A"), None)
    assert "<b>x</b>" not in page


def test_pictures(tmp_path: Path) -> None:
    shown(tmp_path, DIAGONAL, "interchange(S, i, j)\n", "--pictures", str(tmp_path / "p"))
    names = sorted(path.name for path in (tmp_path / "p").iterdir())
    assert names == ["k-1-dark.png", "k-1.png", "k-1.svg"]
    drawn = (tmp_path / "p" / "k-1.svg").read_text()
    ElementTree.fromstring(drawn)
    assert "var(--lw-broken)" in drawn and STANDING_IN.broken not in drawn
    assert "number 2" in drawn or "and number" in drawn
    assert (tmp_path / "p" / "k-1.png").read_bytes().startswith(b"\x89PNG")


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(tmp_path, DIAGONAL, "interchange(S, i, j)\n", "--json")
    assert json.loads(capsys.readouterr().out)["verdict"] == "illegal"


def test_a_wrong_script_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, page = shown(tmp_path, DIAGONAL, "interchnge(S, i, j)\n")
    assert status == 2 and page == ""
    assert "did you mean interchange?" in capsys.readouterr().err


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(tmp_path: Path, scheme: str) -> None:
    """The page as a browser shows it: its colours are the palette's, the red of what is broken included."""
    from matplotlib.image import imread

    shown(tmp_path, DIAGONAL, "interchange(S, i, j)\n")
    picture = tmp_path / "page.png"
    assert BROWSER is not None
    wanted = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *wanted,
         f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1300,2600",
         f"--screenshot={picture}", (tmp_path / "r.html").as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    pixels = imread(picture)[:, :, :3]
    palette = DARK if scheme == "dark" else LIGHT
    assert tuple(round(255 * float(part)) for part in pixels[-1, -1]) == _rgb(palette.paper)
    for name in ("ink", "fill0", "edge0", "broken"):
        wanted_pixel = [part / 255 for part in _rgb(getattr(palette, name))]
        near = abs(pixels - wanted_pixel).sum(axis=2) < 0.05
        assert near.sum() > 20, f"{name} is not to be seen"


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))
