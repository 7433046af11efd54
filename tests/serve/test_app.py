"""The server without a browser: who is answered, what is refused, and how questions end."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from loopwright.serve.app import LARGEST, application, examples
from loopwright.serve.workers import Workers, share_of_others
from tests.serve.support import run_in_thread

PORT = 8642
HOME = f"http://127.0.0.1:{PORT}"
MENU = examples()
SUMS = MENU["tutorial/sums"]
WRONG = MENU["tutorial/wrong"]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(application(PORT, Workers(2), MENU, first="tutorial/sums"), base_url=HOME) as found:
        yield found


def ask(client: TestClient, **question: Any) -> list[dict[str, Any]]:
    body, headers = json.dumps(question).encode(), {"Content-Type": "application/json"}
    response = client.post("/ask", content=body, headers=headers)
    assert response.status_code == 200
    return [json.loads(line) for line in response.text.splitlines()]


REFUSED: dict[str, dict[str, str]] = {
    "another name for this machine": {"Host": f"playground.example:{PORT}"},
    "another port": {"Host": "127.0.0.1:1"},
    "no port": {"Host": "localhost"},
    "a name that begins like ours": {"Host": f"localhost:{PORT}.example"},
    "another page": {"Origin": "http://evil.example"},
    "another page here": {"Origin": "http://127.0.0.1:1"},
    "a page without an origin": {"Origin": "null"},
    "a page that is encrypted": {"Origin": f"https://127.0.0.1:{PORT}"},
    "a request from another site": {"Sec-Fetch-Site": "cross-site"},
    "a form": {"Content-Type": "text/plain"},
    "a form, as JSON": {"Content-Type": "text/plain; application/json"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused(client: TestClient, name: str) -> None:
    headers = {"Content-Type": "application/json", **REFUSED[name]}
    response = client.post("/ask", content=b'{"kind": "transform"}', headers=headers)
    assert response.status_code == 403 and "kernel" not in response.text
    if "Content-Type" not in REFUSED[name]:
        assert client.get("/menu", headers=REFUSED[name]).status_code == 403


def test_the_own_page_is_answered(client: TestClient) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        own = f"{host}:{PORT}"
        headers = {"Host": own, "Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"}
        assert client.get("/menu", headers=headers).status_code == 200
    page = client.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("http-equiv", "")  # nothing from elsewhere
    for name in ("playground.js", "playground.css", "palette.css", "icon.svg"):
        assert client.get(f"/{name}").status_code == 200


def test_only_listed_files_are_served(client: TestClient) -> None:
    beyond = ("/example/../../etc/passwd", "/example//etc/passwd")
    for path in ("/app.py", "/../app.py", "/static/index.html", *beyond):
        assert client.get(path).status_code == 404
    assert client.get("/example/tutorial/sums").json()["c"] == SUMS.c


def test_a_script_is_proved_in_stages(client: TestClient) -> None:
    order, pictures, code = ask(client, kind="transform", c=SUMS.c, script=SUMS.script)
    (region,), (drawn,) = order["regions"], pictures["regions"]
    assert (order["stage"], region["status"], region["marks"]) == ("order", "proved", [])
    assert pictures["stage"] == "pictures" and len(drawn["picture"]["instances"]) == 72
    assert (code["stage"], code["verdict"]) == ("code", "proved") and "Add: x[i] +=" in code["code"]
    assert {proof["what"] for proof in code["regions"][0]["proofs"]} >= {"every dependence is preserved"}


def test_a_witness_is_in_both_texts_and_in_the_picture(client: TestClient) -> None:
    order, pictures = ask(client, kind="transform", c=WRONG.c, script=WRONG.script)
    (region,), (drawn,) = order["regions"], pictures["regions"]
    assert region["status"] == "illegal" and region["diagnostic"]["code"] == "LW101"
    sides = {(mark["side"], mark["kind"]) for mark in region["marks"]}
    assert sides == {("script", "error"), ("c", "witness")}
    (error,) = [mark for mark in region["marks"] if mark["side"] == "script"]
    assert WRONG.script[error["start"] : error["end"]] == "interchange(Add, i, j)"
    first, second = drawn["picture"]["witness"]
    broken = {(arrow[0], arrow[1]) for arrow in drawn["picture"]["arrows"] if arrow[4]}
    assert (first, second) in broken


def test_offsets_are_those_of_a_browser(client: TestClient) -> None:
    text = SUMS.c.replace("#pragma scop", "/* \U0001f600 */\n#pragma scop", 1)
    order, _ = ask(client, kind="transform", c=text, script="interchange(Add, i, j)")
    marks = [mark for mark in order["regions"][0]["marks"] if mark["side"] == "c"]
    units = text.encode("utf-16-le")
    assert {units[2 * one["start"] : 2 * one["end"]].decode("utf-16-le") for one in marks} == {"x[i]"}


def test_sizes_can_be_chosen(client: TestClient) -> None:
    _, pictures = ask(client, kind="transform", c=SUMS.c, script=SUMS.script, sizes={"N": 3}, order_only=True)
    assert len(pictures["regions"][0]["picture"]["instances"]) == 12


def test_suggestions_and_loops(client: TestClient) -> None:
    *_, found = ask(client, kind="suggest", c=SUMS.c, script=SUMS.script)
    scripts = [one["script"] for region in found["regions"] for one in region["suggestions"] if one["legal"]]
    assert "parallel(Add, i)" in scripts
    overlap = MENU["loops/overlap.poly"]
    (loops,) = ask(client, kind="generate", text=overlap.text, form=overlap.form, sizes={"n": 13})
    assert loops["verdict"] == "proved" and "for (" in loops["code"]
    assert [(one["name"], one["value"]) for one in loops["picture"]["sizes"]] == [("n", 13)]


BAD: dict[str, dict[str, Any]] = {
    "no kind": {},
    "another kind": {"kind": "read", "c": "/etc/passwd"},
    "a number for a text": {"kind": "transform", "c": 1},
    "a text for a flag": {"kind": "transform", "c": "", "openmp": "yes"},
    "sizes without end": {"kind": "transform", "c": "", "sizes": {"N": 10**9}},
    "another form": {"kind": "generate", "text": "", "form": "../../etc/passwd"},
    "a long text": {"kind": "transform", "c": "x" * 300_000},
    "half of a character": {"kind": "transform", "c": "\ud800"},
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_question_is_refused(client: TestClient, name: str) -> None:
    (message,) = ask(client, **BAD[name])
    assert (message["stage"], message["verdict"]) == ("failed", "bad input")


def test_bodies_that_are_no_json_or_too_long(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (b"{", b"\xff", b"[" * 100_000, b"x" * (LARGEST + 1)):
        assert client.post("/ask", content=body, headers=headers).status_code == 400


def test_nothing_leaks_through_a_message(client: TestClient) -> None:
    hostile = '#include "/etc/passwd"\n' + SUMS.c
    missing = hostile.replace("/etc/passwd", "/etc/absent")
    there, gone = (ask(client, kind="transform", c=text, script="") for text in (hostile, missing))
    assert "root:" not in json.dumps(there)
    assert json.dumps(there).replace("passwd", "absent") == json.dumps(gone)


def test_nothing_is_run_unless_allowed(client: TestClient) -> None:
    assert client.post("/ask", json={"kind": "run", "c": SUMS.c, "script": ""}).status_code == 403


LOOPS = "".join(f"  for (int i{k} = 0; i{k} < n; i{k}++)\n" for k in range(7))
BODY = "    a[i0 + i6] += a[i1 + i3] * a[i2 + i5 + i4];\n"
SLOW = f"void f(int n, double *a)\n{{\n#pragma scop\n{LOOPS}{BODY}#pragma endscop\n}}\n"


def test_a_question_that_takes_too_long_ends(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwright.serve.workers.SECONDS", 2.0)
    start = time.monotonic()
    message = ask(client, kind="suggest", c=SLOW, script="")[-1]
    assert (message["stage"], message["diagnostic"]["code"]) == ("failed", "LW301")
    assert time.monotonic() - start < 30
    assert ask(client, kind="transform", c=SUMS.c, script="")[0]["stage"] == "order"


def test_a_question_may_take_longer_where_others_use_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = {}
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for load in (0.1, 2.0, 5.0, 100.0):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0.0, 0.0))
        shares[load] = share_of_others()
    assert shares == {0.1: 1.0, 2.0: 1.0, 5.0: 2.5, 100.0: 4.0}


def test_the_folder_of_a_question_is_removed() -> None:
    workers = Workers(1)
    folder = workers._folder
    with TestClient(application(PORT, workers, MENU), base_url=HOME) as client:
        ask(client, kind="transform", c=SUMS.c, script="", order_only=True)
        assert list(folder.iterdir()) == []
    assert not folder.exists()


def test_the_coq_library_is_compiled_outside_of_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question ends before a library of this size is compiled, and would begin again the next time."""
    proofs, cache = tmp_path / "proofs", tmp_path / "cache"
    proofs.mkdir()
    (proofs / "Library.v").write_text("")
    (proofs / "Makefile").write_text("library:\n\tsleep 0.5 && touch $@\n")
    monkeypatch.setenv("LOOPWRIGHT_PROOFS", str(proofs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("COQC", "true")

    async def twice() -> None:
        workers = Workers(1)
        with pytest.raises(TimeoutError):  # a reader who goes away
            await asyncio.wait_for(workers.library(), 0.1)
        await workers.library()
        workers.stop()

    run_in_thread(twice())
    (made,) = (cache / "loopwright" / "coq").iterdir()
    assert (made / "library").exists()
