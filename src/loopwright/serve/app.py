"""The server: files of the page, examples, questions.  It answers this machine, and its own page, only.

The server, started: a socket on the loopback, uvicorn, and the browser where that is wanted.

What the menu offers: the tutorial, the demonstration, the kernels, descriptions, and an opened file.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import webbrowser
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loopwright.errors import BadInput, Code, InternalError, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.reader import load_c
from loopwright.read.text import load
from loopwright.report.diagnostics import as_html, as_json
from loopwright.serve.workers import Workers
from loopwright.show.palette import DARK, LIGHT, rules

LARGEST = 1 << 20
"""Bytes of a request."""

PATIENCE = 10.0
"""Seconds that a request may take to arrive."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Nothing is loaded from elsewhere, and no other page may show or load this."""

THEMES = (
    f":root {{ color-scheme: light dark; {rules(LIGHT)} }}\n"
    f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {rules(DARK)} }} }}\n'
    f':root[data-theme="dark"] {{ color-scheme: dark; {rules(DARK)} }}\n'
    ':root[data-theme="light"] { color-scheme: light }\n'
)
"""The colours of the pictures, light and dark: as the reader chose, or as the browser prefers."""

TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def application(
    port: int, workers: Workers, examples: Mapping[str, Example], *, first: str = "", allow_run: bool = False
) -> ASGIApp:
    """The server for a page at this port; `first` is the example that it opens with."""
    routes = [Route("/", _static("index.html"))]
    routes += [Route(f"/{name}", _static(name)) for name in ("playground.js", "playground.css", "icon.svg")]
    catalogue = [{"id": key, "group": one.group, "title": one.title} for key, one in examples.items()]
    start = {"examples": catalogue, "first": first, "allow_run": allow_run}

    async def menu(request: Request) -> Response:
        return JSONResponse(start)

    async def example(request: Request) -> Response:
        found = examples.get(request.path_params["name"])
        return JSONResponse(found.data()) if found else JSONResponse({"error": "no such example"}, 404)

    async def ask(request: Request) -> Response:
        return await _answer(request, workers, allow_run=allow_run)

    async def palette(request: Request) -> Response:
        return Response(THEMES, media_type="text/css")

    routes += [Route("/menu", menu), Route("/palette.css", palette), Route("/example/{name:path}", example)]
    routes += [Route("/ask", ask, methods=["POST"])]
    return OwnPageOnly(Starlette(routes=routes, lifespan=_lifespan(workers)), port)


def _lifespan(workers: Workers) -> Any:
    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await workers.start()
        try:
            yield
        finally:
            workers.stop()

    return lifespan


def _static(name: str) -> Any:
    path = Path(str(resources.files("loopwright.serve") / "static" / name))

    async def file(_: Request) -> Response:
        return Response(path.read_bytes(), media_type=TYPES[path.suffix])

    return file


async def _answer(request: Request, workers: Workers, *, allow_run: bool) -> Response:
    """The messages on a question, one a line, as they come."""
    try:
        async with asyncio.timeout(PATIENCE):
            question = json.loads(await _body(request))
    except (TimeoutError, ClientDisconnect):
        return Response(status_code=408)
    except (ValueError, RecursionError):
        return _refused(400, "a question must be JSON, in UTF-8")
    if isinstance(question, dict) and question.get("kind") == "run" and not allow_run:
        return _refused(403, "nothing is compiled or run here unless 'loopwright serve --allow-run' says so")
    if isinstance(question, dict) and question.get("kind") == "tool":
        return _refused(403, "tools are for agents: 'loopwright mcp'")
    return _Stream(_messages(workers, question), media_type="application/x-ndjson")


class _Stream(StreamingResponse):
    """A response that is given up, and what it waits for, as soon as its reader is gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        tasks = [asyncio.create_task(self.stream_response(send)), asyncio.create_task(gone())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _messages(workers: Workers, question: Any) -> AsyncGenerator[bytes, None]:
    """The lines of a worker; a failure of its own, or of the server, is one more."""
    try:
        if isinstance(question, dict) and question.get("kind") == "proof":
            await workers.library()
        async with contextlib.aclosing(workers.ask(question)) as lines:
            async for line in lines:
                yield line
    except LoopwrightError as error:
        yield _failed(error)
    except Exception as error:
        yield _failed(InternalError(Code.INTERNAL, f"{type(error).__name__}: the question was not answered"))


def _failed(error: LoopwrightError) -> bytes:
    diagnostic = error.diagnostic
    said = {"diagnostic": as_json(diagnostic), "html": as_html(diagnostic), "marks": []}
    return json.dumps({"stage": "failed", "verdict": error.code.verdict, **said}).encode() + b"\n"


async def _body(request: Request) -> bytes:
    """The body, if it is not too long; one that is stops being read."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > LARGEST:
            raise ValueError("too long")
    return bytes(found)


def _refused(status: int, message: str) -> Response:
    return Response(_failed(BadInput(Code.OPTION, message)), status, media_type="application/x-ndjson")


class OwnPageOnly:
    """Refuse requests that are not to this server by its own names, or come from another page.

    A page elsewhere can make a browser send requests here, under a name that leads here; it cannot choose
    the headers Host, Origin and Sec-Fetch-Site, nor send JSON without being asked first.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and self._is_own(scope):
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "http":
            await Response("refused: not the page's own request", 403)(scope, receive, _with_headers(send))

    def _is_own(self, scope: Scope) -> bool:
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]

        def values(wanted: bytes) -> list[str]:
            return [value for name, value in headers if name == wanted]

        hosts, origins = values(b"host"), values(b"origin")
        is_json = scope["method"] != "POST" or values(b"content-type") == ["application/json"]
        return (
            len(hosts) == 1
            and hosts[0].lower() in self._hosts
            and all(origin.lower().removeprefix("http://") in self._hosts for origin in origins)
            and all(site in ("same-origin", "none") for site in values(b"sec-fetch-site"))
            and is_json
        )


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sender


HOST = "127.0.0.1"
AT_ONCE = 400
"""Connections; more are answered 503."""


def run(
    file: str | None, port: int, *, browser: bool, allow_run: bool, announce: Callable[[str], None]
) -> None:
    """Serve until interrupted."""
    menu = examples(file)
    listening = _listening(port)
    port = listening.getsockname()[1]
    address = f"http://{HOST}:{port}/"
    app = application(port, Workers(), menu, first="opened" if file else FIRST, allow_run=allow_run)
    config = uvicorn.Config(
        app, log_level="warning", limit_concurrency=AT_ONCE, timeout_keep_alive=5, server_header=False,
        ws="none", timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = _Announced(config, lambda: _ready(address, announce, browser=browser))
    server.run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError as failure:
        found.close()
        message = f"port {port} cannot be used: {failure.strerror}"
        raise BadInput(Code.OPTION, message, hint="--port 0 takes any that is free") from None
    return found


class _Announced(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def _ready(address: str, announce: Callable[[str], None], *, browser: bool) -> None:
    announce(address)
    if browser:
        webbrowser.open(address)


FIRST = "tutorial/sums"

TUTORIAL = {
    "sums": ("sums.c", "sums.lw", "1. A sum along columns"),
    "wrong": ("sums.c", "wrong.lw", "2. The same, refused"),
    "heat": ("heat.c", "heat.lw", "3. A stencil in skewed tiles"),
    "heat-wrong": ("heat.c", "heat-wrong.lw", "4. In square tiles, refused"),
    "heat-waves": ("heat.c", "heat-waves.lw", "5. Diagonals that run at once"),
}

FORMS = {".poly": "poly", ".in": "in", ".st": "st", ".cloog": "cloog", ".scop": "scop"}


@dataclass(frozen=True)
class Example:
    """C with a script, or a description in one of the forms."""

    group: str
    title: str
    c: str = ""
    script: str = ""
    text: str = ""
    form: str = ""

    def data(self) -> dict[str, Any]:
        return asdict(self)


def examples(file: str | None = None) -> dict[str, Example]:
    """By their names; the file that was opened is the first."""
    found: dict[str, Example] = {}
    if file is not None:
        found["opened"] = _opened(file)
    data = Path(str(resources.files("loopwright") / "data"))
    for name, (c, script, title) in TUTORIAL.items():
        folder = data / "tutorial"
        found[f"tutorial/{name}"] = Example("Tutorial", title, _read(folder / c), _read(folder / script))
    demo = Path(str(resources.files("loopwright.cli") / "demo_files"))
    found["demo/matmul"] = _with_script(demo / "matmul.c", "Tutorial", "6. A product of matrices")
    found["demo/seidel"] = _with_script(demo / "seidel.c", "Tutorial", "7. A stencil of two dimensions")
    for path in sorted((data / "kernels").glob("*.c")):
        found[f"kernel/{path.stem}"] = _with_script(path, "Kernels", path.stem)
    for path in sorted((data / "examples").iterdir()):
        if path.suffix in FORMS:
            text, form = _read(path), FORMS[path.suffix]
            found[f"loops/{path.name}"] = Example("Loops from a description", path.name, text=text, form=form)
    return found


def _opened(file: str) -> Example:
    """The file of the command line, with the script beside it."""
    path = Path(file)
    if path.suffix in FORMS:
        return Example("Opened", path.name, text=load(path).text, form=FORMS[path.suffix])
    script = path.with_suffix(".lw")
    text = load(script).text if script.is_file() else ""
    return Example("Opened", path.name, load_c(path).encode().decode("utf-8", "replace"), text)


def _with_script(path: Path, group: str, title: str) -> Example:
    script = path.with_suffix(".lw")
    return Example(group, title, _read(path), _read(script) if script.is_file() else "")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
