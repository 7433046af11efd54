"""The server, started: a socket on the loopback, uvicorn, and the browser where that is wanted."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable

import uvicorn

from loopwright.errors import BadInput, Code
from loopwright.serve.app import application
from loopwright.serve.examples import FIRST, examples
from loopwright.serve.workers import Workers

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
