"""The page in a real browser: typing, the witness, suggestions, undo, links, downloads, themes, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import loopwright as lw
from tests.conftest import ROOT

WRONG = "interchange(Add, i, j)"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page with the tutorial's first example, proved; an error in the page fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    found = context.new_page()
    problems: list[str] = []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    found.on("request", lambda request: problems.append(request.url) if address not in request.url else None)
    found.goto(address)
    expect(found.locator("#verdict .badge")).to_have_text("Proved", timeout=20_000)
    yield found
    context.close()
    assert [one for one in problems if not one.startswith(("blob:", "data:"))] == []


def write(page: Page, editor: str, text: str) -> None:
    page.click(f"#{editor} .cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def verdict(page: Page, word: str) -> None:
    expect(page.locator("#verdict .badge")).to_have_text(word, timeout=20_000)


def test_the_answer_follows_what_is_typed(page: Page) -> None:
    assert "Add: x[i] += A[j][i] * y[j];" in page.inner_text("#result")
    write(page, "script", WRONG)
    verdict(page, "Refused")
    assert "a value is read before it is written" in page.inner_text("#why")
    expect(page.locator("#c .line-witness")).to_have_count(2)
    expect(page.locator("#script .line-error")).to_have_count(1)
    expect(page.locator(".lwm-column").nth(1).locator(".lwm-ring")).to_have_count(2)
    expect(page.locator(".lwm-arrow.broken.head")).not_to_have_count(0)
    assert page.locator("#save-result").is_disabled()
    page.click("#undo")
    verdict(page, "Proved")
    write(page, "script", "nonsense(Add)")
    verdict(page, "Bad input")
    expect(page.locator("#why")).to_contain_text("nonsense")


def test_a_suggestion_is_shown_before_it_is_taken(page: Page) -> None:
    button = page.locator(".suggestion", has_text="parallel(Add, i)")
    expect(button).to_be_visible(timeout=20_000)
    button.hover()
    expect(page.locator("#pictures.preview .lwm-tile")).not_to_have_count(0, timeout=20_000)
    page.hover("#verdict")
    expect(page.locator("#pictures.preview")).to_have_count(0)
    expect(page.locator(".lwm-tile")).to_have_count(0)
    button.click()
    expect(page.locator("#script")).to_contain_text("parallel(Add, i)")
    verdict(page, "Proved")
    expect(page.locator(".lwm-tile")).not_to_have_count(0)


def test_a_link_holds_everything(page: Page, browser: Browser) -> None:
    write(page, "script", WRONG)
    verdict(page, "Refused")
    page.wait_for_function("location.hash.length > 100")
    other = browser.new_page()
    other.goto(page.url)
    verdict(other, "Refused")
    assert WRONG in other.inner_text("#script")
    other.close()


def test_downloads(page: Page) -> None:
    for button, name, text in (
        ("save-c", "kernel.c", "#pragma scop"),
        ("save-script", "script.lw", "distribute(Clear, Add)"),
        ("save-result", "kernel-new.c", "Add: x[i] +="),
        ("save-proof", "proof.v", "From Loopwright Require"),
    ):
        with page.expect_download(timeout=180_000) as found:  # the first proof compiles Coq's library
            page.click(f"#{button}")
        assert found.value.suggested_filename == name
        assert text in Path(found.value.path()).read_text()


def test_a_picture_moves(page: Page) -> None:
    assert page.locator(".lwm-column").count() == 2
    page.click("text=›")
    page.click("text=›")
    now = page.locator(".lwm-dot.now")
    assert [now.nth(k).get_attribute("data-instance") for k in range(2)] == ["1", "9"]
    assert page.locator(".lwm-array rect.written").count() == 2
    page.click(".lwm-play")
    expect(page.locator(".lwm-count")).not_to_have_text("step 2 of 72")
    page.click(".lwm-play")
    page.click(".lwm-bar button:has-text(\"All\")")
    page.locator(".lwm-dot").nth(3).hover()
    assert "depends on" in page.inner_text(".lwm-says")
    expect(page.locator(".lwm-arrow.kept.head")).not_to_have_count(0)
    slider = page.locator(".lwm-sizes input[type=range]").first
    slider.fill("3")
    expect(page.locator(".lwm-column").first.locator(".lwm-dot")).to_have_count(12)


def test_three_dimensions_turn(page: Page) -> None:
    """The editor shows the region, whatever was open before."""
    page.select_option("#menu", "kernel/gemm")
    expect(page.locator("#c .cm-line", has_text="Mult: C[i][j]")).to_be_in_viewport(timeout=20_000)
    view = page.locator(".lwm-view").first
    expect(view.locator(".lwm-axis")).to_have_count(3, timeout=20_000)
    before = view.locator(".lwm-dot").nth(5).get_attribute("transform")
    box = view.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 50)
    page.mouse.up()
    assert view.locator(".lwm-dot").nth(5).get_attribute("transform") != before


def test_the_report_moves_too(browser: Browser, tmp_path: Path) -> None:
    """The page that `loopwright show` writes, from a file, without a server."""
    report = lw.report(ROOT / "docs/tutorial/sums.c", "distribute(Clear, Add)\ninterchange(Add, i, j)\n")
    (tmp_path / "report.html").write_text(report.html)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(f"file://{tmp_path}/report.html")
    expect(page.locator(".lwm-column")).to_have_count(2)
    assert page.locator("figure[data-still]").first.is_hidden()
    page.set_viewport_size({"width": 390, "height": 850})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click(".lwm-play")
    expect(page.locator(".lwm-dot.now")).not_to_have_count(0)
    page.click(".lwm-play")
    page.locator(".lwm-sizes input").first.fill("5")
    expect(page.locator(".lwm-column").first.locator(".lwm-dot")).to_have_count(30)
    page.close()


def test_arrows_go_from_one_nest_to_another(page: Page) -> None:
    """Each nest has a panel of its own; what the second one waits for is in the first."""
    loop = "for (int i = 1; i < n - 1; i++)"
    body = f"{loop} b[i] = a[i];\n{loop} c[i] = b[i - 1] + b[i + 1];"
    head = "void f(int n, double *restrict a, double *restrict b, double *restrict c)"
    write(page, "c", f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    write(page, "script", "")
    expect(page.locator(".lwm-panel")).to_have_count(2, timeout=20_000)
    expect(page.locator(".lwm-between .lwm-arrow.head")).to_have_count(2)


def test_loops_from_a_description(page: Page) -> None:
    page.select_option("#menu", "loops/triangle.cloog")
    expect(page.locator("#generated")).to_contain_text("for (", timeout=20_000)
    verdict(page, "Proved")
    write(page, "loops", "nothing")
    verdict(page, "Bad input")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_windows_and_themes(browser: Browser, address: str, scheme: str, width: int) -> None:
    """Nothing is wider than the window, and the theme is the reader's."""
    page = browser.new_page(viewport={"width": width, "height": 850}, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address)
    verdict(page, "Proved")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)")
    page.select_option("#theme", "light" if scheme == "dark" else "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    page.close()


def test_a_widget_of_a_notebook(browser: Browser) -> None:
    """The script that a notebook loads, with a model as a notebook has; other sizes are asked of Python."""
    moving = lw.widget(lw.read(ROOT / "docs/tutorial/heat.c"))
    page = browser.new_page()
    page.evaluate(
        """async ([code, picture]) => {
          const heard = {}, asked = window.asked = [];
          const model = { get: () => model.picture, picture, set: (_, sizes) => asked.push(sizes),
                          save_changes: () => {}, on: (name, act) => { heard[name] = act; }, off: () => {} };
          window.give = other => { model.picture = other; heard["change:picture"](); };
          const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
          (await import(url)).default.render({ model, el: document.body });
        }""",
        [moving._esm, moving.picture],
    )
    dots = page.locator(".lwm-column .lwm-dot")
    assert dots.count() == 64
    page.locator(".lwm-sizes input").first.fill("3")
    moving.sizes = page.evaluate("window.asked.at(-1)")
    page.evaluate("other => window.give(other)", moving.picture)
    assert dots.count() == 24
    page.close()
