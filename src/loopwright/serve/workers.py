"""Schedules questions on the processes that answer them, with limits on number, time and queue.

The newest question goes first, since it is what the reader waits for; where too many wait, the oldest is
sent away.  A question whose asker is gone is killed with everything it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from loopwright.errors import Code, GaveUp
from loopwright.progress import silent
from loopwright.prove.coq.check import coqc, library

WAITING = 32
"""Questions that may wait."""

SECONDS = 30.0
"""How long one may take by the clock, once it has its process, on a machine with nothing else to do."""

LONGER = 4.0
"""How many times that on a machine whose processors are shared: processor time is limited in any case."""

ROUNDS = 20
"""So often processes are looked for that a question has left."""

LONGEST = 16 << 20
"""Bytes of a message."""

BUSY = "too many questions at once"
SLOW = "this took longer than a question may take here"
ENDED = "the process that answered ended: its processor time or its memory ran out"
INSTEAD = "ask for less, or use 'loopwright transform', which has no limits"


class Workers:
    """A template process, and its forks."""

    def __init__(self, together: int | None = None) -> None:
        self._free = together or max(2, os.cpu_count() or 2)
        self._waiting: list[asyncio.Future[None]] = []
        self._folder = Path(tempfile.mkdtemp(prefix="loopwright-serve-"))
        self._template: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        self._starting = asyncio.Lock()
        self._library: asyncio.Task[Path] | None = None

    async def start(self) -> None:
        """Load everything, so that the first question is answered as fast as the others."""
        async with self._starting:
            if self._template is None or self._template[0].poll() is not None:
                self._template = await asyncio.to_thread(_template)

    def stop(self) -> None:
        if self._template is not None:
            process, control = self._template
            control.close()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def library(self) -> None:
        """Have the Coq library compiled, once, where there is a Coq: it takes longer than a question may.

        A reader who goes away does not end it.
        """
        if coqc() is None:
            return  # what asks for a proof says so
        if self._library is None or (self._library.done() and self._library.exception() is not None):
            self._library = asyncio.create_task(asyncio.to_thread(library, silent))
        await asyncio.shield(self._library)

    async def ask(self, question: Any) -> AsyncGenerator[bytes, None]:
        """The messages, as lines; raises `GaveUp` where there is no process for it."""
        await self._turn()
        try:
            async for line in self._asked(question):
                yield line
        finally:
            self._done()

    async def _turn(self) -> None:
        if self._free > 0:
            self._free -= 1
            return
        if len(self._waiting) >= WAITING:
            oldest = self._waiting.pop(0)
            oldest.set_exception(GaveUp(Code.TIME, BUSY, hint="ask again"))
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine in self._waiting:
                self._waiting.remove(mine)
            elif mine.done() and not mine.cancelled() and mine.exception() is None:
                self._done()
            raise

    def _done(self) -> None:
        """The place goes to the newest that waits."""
        while self._waiting:
            next_one = self._waiting.pop()
            if not next_one.done():
                next_one.set_result(None)
                return
        self._free += 1

    async def _asked(self, question: Any) -> AsyncGenerator[bytes, None]:
        await self.start()
        assert self._template is not None
        folder = tempfile.mkdtemp(dir=self._folder)
        ours, theirs = socket.socketpair()
        process, writer = 0, None
        try:
            with theirs:
                socket.send_fds(self._template[1], [b"+"], [theirs.fileno()])
            reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST)
            async with asyncio.timeout(SECONDS * share_of_others()):
                process = int(json.loads(await reader.readline())["process"])
                writer.write(json.dumps({"folder": folder, "question": question}).encode() + b"\n")
                answered = 0
                while line := await reader.readline():
                    answered += 1
                    yield line
            if not answered:
                raise GaveUp(Code.SIZE, ENDED, hint=INSTEAD)
        except TimeoutError:
            raise GaveUp(Code.TIME, SLOW, hint=INSTEAD) from None
        finally:
            if writer is None:
                ours.close()
            else:  # a socket that is closed under its transport stays registered
                writer.transport.abort()
            _kill(process, folder)
            shutil.rmtree(folder, ignore_errors=True)


def share_of_others() -> float:
    """How many processes wait for each processor, from 1 to `LONGER`: so much longer takes the same work."""
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), LONGER)


def _template() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A new template that is ready."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "loopwright.serve.template", str(theirs.fileno())]
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
        )
    if not ours.recv(1):
        ours.close()
        raise RuntimeError(f"the process that answers did not start: status {process.wait()}")
    return process, ours


def _kill(process: int, folder: str) -> None:
    """End a fork, which leads a group of processes, with everything it started.

    A program that is checked leads a group of its own, and may start others: all of them have the question's
    folder in their environment.  Those that start while others are ended are found the next time.
    """
    if process > 0:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
    for _ in range(ROUNDS):
        started = with_variable(f"TMPDIR={folder}".encode())
        for one in started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        if not started:
            return


def with_variable(setting: bytes) -> list[int]:
    """The processes of this user that were started with this setting in their environment."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if setting in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
    return found
