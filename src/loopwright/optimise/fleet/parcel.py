"""Everything another machine needs to try scripts for a file: its source, headers and compiler options.

The files are unpacked under a folder of the other machine, each at its path; options that name a folder or a
file are changed to the unpacked one.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from loopwright.c.selection.choice import BY_PRAGMAS
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.timing.runner import TrialRunner
from loopwright.optimise.timing.workshop import Workshop
from loopwright.read.c.reader import read_source
from loopwright.rewrite.request import ProverRequest, Request
from loopwright.run.compiler import find_compiler
from loopwright.source import STANDARD, Source, Span
from loopwright.transform import plan_of

UNHURRIED = 600.0
"""The wall-clock limit in seconds of a worker for a source."""

LINKED = (".c", ".o", ".a", ".so")
"""The suffixes of files that compiler options may name."""


@dataclass(frozen=True)
class Parcel:
    """A file that scripts are tried for; `files` are texts by their absolute paths, headers included."""

    source: Source
    request: Request
    runner: TrialRunner
    compiler: str
    """The name of the compiler, which each machine looks up itself."""
    files: tuple[tuple[str, bytes], ...]

    @property
    def digest(self) -> str:
        """The digest of everything that affects timings, including the code that generates programs."""
        asked, runner = self.request, self.runner
        read = asked.reading
        options = (read.pure, read.assume, asked.openmp, asked.allow_reassociation, read.compiled.arguments)
        timing = (runner.flags, runner.prints_time, runner.threads, runner.driver, self.compiler)
        content = (own_code(), self.files, self.source.text, self.source.chosen, options, timing)
        return hashlib.sha256(repr(content).encode("utf-8", "surrogateescape")).hexdigest()


def packed(source: Source, request: Request, runner: TrialRunner) -> Parcel:
    """The file with the headers and files that the compiler also reads, except system files."""
    compiled = request.reading.compiled.for_file(source.path)
    compiled = replace(compiled, arguments=tuple(map(_absolute, compiled.arguments)))
    runner = replace(runner, flags=tuple(map(_absolute, runner.flags)))
    path = _absolute(request.file) if request.file != STANDARD else str(Path("stdin.c").absolute())
    linked = [one for one in runner.flags if one.endswith(LINKED) and Path(one).is_file()]
    others = sorted({*_headers(runner, source, compiled.arguments), *linked} - {path})
    return Parcel(
        replace(source, path=path),
        replace(request, file=path, reading=replace(request.reading, choice=BY_PRAGMAS, compiled=compiled)),
        runner,
        runner.compiler.name,
        ((path, source.encode()), *((one, Path(one).read_bytes()) for one in others)),
    )


_OPTION = re.compile(r"(?P<option>-[IL])?(?P<path>.*)", re.DOTALL)
"""An argument of a command line that may name a file or a folder: `-Iinclude`, `include`, `main.c`."""


def _absolute(word: str) -> str:
    parts = _OPTION.fullmatch(word)
    if parts is None or not parts["path"] or not os.path.exists(parts["path"]):
        return word
    return (parts["option"] or "") + os.path.abspath(parts["path"])


def _headers(runner: TrialRunner, source: Source, arguments: Sequence[str]) -> list[str]:
    """The files that the source includes, by the compiler's list of dependencies."""
    file = runner.folder / "packed.c"
    file.write_bytes(source.encode())
    words = [one for one in (*arguments, *runner.flags) if not one.endswith((".o", ".a", ".so"))]
    beside = ("-iquote", str(runner.source.resolve().parent))
    command = [runner.compiler.path, *words, *beside, "-MM", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        first = (done.stderr.strip().splitlines() or ["no message"])[0]
        message = f"the compiler does not tell what the file includes: {first}"
        raise BadInput(Code.DOES_NOT_COMPILE, message, span=Span.start_of(source.path))
    names = re.split(r"(?<!\\)\s+", done.stdout.replace("\\\n", " "))
    paths = [os.path.abspath(one.replace("\\ ", " ")) for one in names if one and not one.endswith(":")]
    return [one for one in paths if one != str(file)]


def unpacked(parcel: Parcel, root: Path) -> Workshop:
    """The workshop for a parcel on this machine, in a folder of its own.

    It uses no external prover, and writes no proofs: those are for the result.  The sender checks the
    wall-clock time; here only processor time counts, so that a busy worker answers like an idle one.
    """
    for path, content in parcel.files:
        file = _under(root, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    folder = root / "programs"
    folder.mkdir(exist_ok=True)
    places = {path for path, _ in parcel.files}
    places |= {str(parent) for path in places for parent in Path(path).parents if parent != Path("/")}
    source = replace(parcel.source, path=str(_under(root, parcel.source.path)))
    reading = parcel.request.reading
    arguments = tuple(_moved(one, places, root) for one in reading.compiled.arguments)
    request = replace(
        parcel.request,
        file=source.path,
        reading=replace(reading, compiled=replace(reading.compiled, arguments=arguments)),
        prover=ProverRequest(),
    )
    runner = replace(
        parcel.runner,
        source=Path(source.path),
        folder=folder,
        compiler=find_compiler(parcel.compiler),
        flags=tuple(_moved(one, places, root) for one in parcel.runner.flags),
    )
    programs = read_source(source, request.reading)
    return Workshop(tuple(plan_of(one) for one in programs), request, runner, wall=UNHURRIED)


def _under(root: Path, path: str) -> Path:
    """The path at which a file is unpacked; its own path is absolute and has no `..`."""
    return root / "files" / os.path.normpath(path).lstrip("/")


def _moved(word: str, places: set[str], root: Path) -> str:
    """The option with the unpacked path, if it names one."""
    parts = _OPTION.fullmatch(word)
    if parts is None or parts["path"] not in places:
        return word
    return f"{parts['option'] or ''}{_under(root, parts['path'])}"


@cache
def own_code() -> str:
    """A digest of the code of Loopwright: another version may make other programs of the same script."""
    package = Path(__file__).parent.parent.parent
    found = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        found.update(f"{file.relative_to(package)}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()
