"""200 hostile requests at once, after which the server answers as before, and nothing of theirs runs."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from loopwright.serve.app import examples
from tests.serve.test_app import SLOW, SUMS

SLOWEST = examples()["kernel/adi"]


def ask(port: int, question: object, seconds: float, **headers: str) -> tuple[int, bytes]:
    """The status and the body, as far as it is there in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        body = question if isinstance(question, bytes) else json.dumps(question).encode()
        connection.request("POST", "/ask", body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def gone_at_once(port: int) -> None:
    """A question that takes long, whose asker does not wait."""
    ask(port, {"kind": "suggest", "c": SLOW, "script": ""}, 0.5)


def gone_later(port: int) -> None:
    ask(port, {"kind": "transform", "c": SLOWEST.c, "script": SLOWEST.script}, 2.0)


def too_long(port: int) -> None:
    assert ask(port, b"[" + b" " * (2 << 20), 20.0)[0] in (0, 400, 503)


def too_deep(port: int) -> None:
    assert ask(port, b'{"a":' * 50_000, 20.0)[0] in (0, 400, 503)


def of_another_page(port: int) -> None:
    assert ask(port, {"kind": "suggest", "c": SLOW}, 20.0, Origin="http://evil.example")[0] in (0, 403, 503)


def no_http(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"\x16\x03\x01\x00\xff" * 100)


def half_a_request(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"POST /ask HTTP/1.1\r\nHost: 127.0.0.1")
        time.sleep(1.0)


HOSTILE: tuple[Callable[[int], None], ...] = (
    gone_at_once, gone_later, too_long, too_deep, of_another_page, no_http, half_a_request, gone_at_once,
)  # fmt: skip


def test_200_hostile_requests_at_once(address: str) -> None:
    port = int(address.rsplit(":", 1)[1].strip("/"))
    with ThreadPoolExecutor(200) as pool:
        for done in [pool.submit(HOSTILE[k % len(HOSTILE)], port) for k in range(200)]:
            done.result()
    status, body = ask(port, {"kind": "transform", "c": SUMS.c, "script": SUMS.script}, 60.0)
    stages = [json.loads(line)["stage"] for line in body.splitlines()]
    assert (status, stages) == (200, ["order", "pictures", "code"])
    end = time.monotonic() + 20
    while (left := forks()) and time.monotonic() < end:
        time.sleep(0.1)
    assert left == []


def forks() -> list[int]:
    """Processes that answer questions: children of a template, which is a child of the server."""
    parents: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            command = (path.parent / "cmdline").read_bytes().decode("utf-8", "replace")
            parents[int(path.parent.name)] = int(path.read_text().rsplit(")", 1)[1].split()[1]), command
        except OSError:
            continue
    templates = {one for one, (_, command) in parents.items() if "loopwright.serve.template" in command}
    own = {one for one in templates if parents[one][0] not in templates}
    return [one for one in templates - own if parents[one][0] in own]
