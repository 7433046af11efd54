"""`loopwright mcp`: the verbs as tools of the Model Context Protocol, for agents that rewrite loops.

Tools take texts, and each is answered in a process of its own that sees these texts, the files that the user
opened, and the compiler's own headers (`confinement`).  Nothing that is sent is run, unless that is allowed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from mcp.server import MCPServer
from pydantic import Field
from pydantic_core import from_json

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.reader import load_c
from loopwright.report.diagnostics import as_json
from loopwright.serve.confinement import refuse_reading
from loopwright.serve.questions import LARGEST
from loopwright.serve.tools import NAMES
from loopwright.serve.workers import Workers
from loopwright.source import Span

INSTRUCTIONS = (
    "Loopwright proves that a rewritten loop computes what the original did, for every problem size, or "
    "gives the smallest example where it does not. Call prove after every rewrite. The member 'verdict' is "
    "'proved', 'wrong' (with a witness in 'diagnostics'), or no answer ('gave up', 'bad input'). C is given "
    "as text; only headers of the C library and files that the user opened can be included."
)

_TEXT = "A C file as text, or the name of a file that the user opened"
_FUNCTION = "Only the loops of this function; empty: what pragmas mark, or what differs"
_SCRIPT = "Operations, one a line, such as 'tile(@12, 32, 32)'; @12 is what is on line 12"

CText = Annotated[str, Field(description=_TEXT, max_length=LARGEST)]
Function = Annotated[str, Field(description=_FUNCTION)]
Script = Annotated[str, Field(description=_SCRIPT, max_length=LARGEST)]
Reassociation = Annotated[bool, Field(description="Let sums and products be computed in any order")]
Contraction = Annotated[bool, Field(description="Let vectors' fused products and sums be rounded twice")]
Directives = Annotated[bool, Field(description="Obey the OpenMP loop directives in the file instead")]
Pragmas = Annotated[bool, Field(description="Write OpenMP pragmas at parallel loops")]
Assume = Annotated[list[str], Field(description="What holds of the sizes: ['n >= 4', 'pitch >= w']")]
Pure = Annotated[list[str], Field(description="Functions that have no side effects")]
Sizes = Annotated[dict[str, int], Field(description="Problem sizes, such as {'N': 50}")]
_NONE: list[str] = []


def opened_files(paths: Sequence[str]) -> dict[str, str]:
    """The texts of files that questions may include, by the names they are included by."""
    found: dict[str, str] = {}
    for path in paths:
        source = load_c(path)
        name = Path(path).as_posix().removeprefix("./")
        if Path(name).is_absolute() or ".." in Path(name).parts:
            name = Path(name).name
        if name in found or name in NAMES.values():
            raise BadInput(Code.OPTION, f"two files are called {name}", span=Span.start_of(path))
        found[name] = source.encode().decode("utf-8", "replace")
    for path, name in zip(paths, found, strict=True):
        refuse_reading(load_c(path), set(found) - {name})
    return found


def server(
    opened: Mapping[str, str], *, version: str, allow_run: bool = False, workers: Workers | None = None
) -> MCPServer:
    """The server with its tools; `check` only where running is allowed."""
    asked = workers or Workers()

    @contextlib.asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        await asked.start()
        try:
            yield
        finally:
            asked.stop()

    made: MCPServer = MCPServer("loopwright", instructions=INSTRUCTIONS, version=version, lifespan=lifespan)

    ask = _Asking(asked, opened)
    _add_tools(made, ask)
    if allow_run:
        _add_check(made, ask)
    return made


@dataclass(frozen=True)
class _Asking:
    """Puts the questions of the tools about the opened files to the workers."""

    workers: Workers
    opened: Mapping[str, str]

    async def __call__(
        self, tool: str, texts: Mapping[str, str], function: str, **more: Any
    ) -> dict[str, Any]:
        flags = [name for name, value in more.items() if value is True]
        question = {"kind": "tool", "tool": tool, "texts": dict(texts), "function": function, "flags": flags}
        question |= {"sizes": more.get("sizes", {}), "opened": dict(self.opened)}
        question |= {name: list(more.get(name, ())) for name in ("pure", "assume")}
        return await _answer(self.workers, question)


def _add_tools(made: MCPServer, ask: _Asking) -> None:
    """The tools that run nothing."""

    @made.tool()
    async def prove(
        old: CText, new: CText = "", function: Function = "", *,
        reassociation: Reassociation = False, contraction: Contraction = False,
        assume: Assume = _NONE, pure: Pure = _NONE,
    ) -> dict[str, Any]:
        """Prove that NEW computes what OLD does, for every problem size, or say where it does not.

        Without NEW: prove that the OpenMP loop directives in OLD (tile, interchange, fuse, ...) are legal.
        """
        texts = {"old": old, "new": new} if new else {"c": old}
        allowed = {"reassociation": reassociation, "contraction": contraction}
        return await ask("prove", texts, function, **allowed, assume=assume, pure=pure)

    @made.tool()
    async def transform(
        c: CText, script: Script = "", function: Function = "", *,
        directives: Directives = False, openmp: Pragmas = False, reassociation: Reassociation = False,
        assume: Assume = _NONE, pure: Pure = _NONE,
    ) -> dict[str, Any]:
        """Rewrite the loops of a C file by a script, proved: "code" is the new file."""
        more = {"directives": directives, "openmp": openmp, "reassociation": reassociation}
        return await ask("transform", {"c": c, "script": script}, function, **more, assume=assume, pure=pure)

    @made.tool()
    async def suggest(
        c: CText, function: Function = "", *, assume: Assume = _NONE, pure: Pure = _NONE
    ) -> dict[str, Any]:
        """Interchanges, tilings, fusions and parallel loops as lines of a script, and which are "legal"."""
        return await ask("suggest", {"c": c}, function, assume=assume, pure=pure)

    @made.tool()
    async def extract(
        c: CText, function: Function = "", *, assume: Assume = _NONE, pure: Pure = _NONE
    ) -> dict[str, Any]:
        """What is understood of the loops of a C file: statements, domains, accesses, dependences."""
        return await ask("extract", {"c": c}, function, assume=assume, pure=pure)


def _add_check(made: MCPServer, ask: _Asking) -> None:
    @made.tool()
    async def check(old: CText, new: CText, sizes: Sizes, function: Function = "") -> dict[str, Any]:
        """Compile and run NEW, a whole program, with checks that it reorders OLD."""
        return await ask("check", {"old": old, "new": new}, function, sizes=sizes)


class _RequestLines(io.RawIOBase):
    def __init__(self, wire: BinaryIO) -> None:
        self._wire = wire
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._rest:
            self._rest = _answerable(self._wire.readline())
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def request_stream(wire: BinaryIO) -> io.BufferedReader:
    """Lines with requests; half of a surrogate pair, which the SDK would leave unanswered, is replaced."""
    return io.BufferedReader(_RequestLines(wire))


def _answerable(line: bytes) -> bytes:
    """The request with texts that have an encoding, where it is JSON at all."""
    try:
        from_json(line)
    except ValueError:
        try:
            found = json.loads(line.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            return line
        return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    return line


def serve_streams(made: MCPServer) -> None:
    """Answer what comes over standard input, of which no process that is started sees anything."""
    wire = os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdin = io.TextIOWrapper(request_stream(wire), "utf-8", "replace")
    made.run("stdio")


async def _answer(workers: Workers, question: Mapping[str, Any]) -> dict[str, Any]:
    """The last message of the process that answers."""
    found: dict[str, Any] = {}
    try:
        async with contextlib.aclosing(workers.ask(dict(question))) as lines:
            async for line in lines:
                found = json.loads(line)
    except GaveUp as error:
        return {"verdict": error.code.verdict, "diagnostics": [as_json(error.diagnostic)]}
    if found.get("stage") == "tool":
        answer: dict[str, Any] = found["answer"]
        return answer
    return {"verdict": found.get("verdict", "internal error"), "diagnostics": [found["diagnostic"]]}
