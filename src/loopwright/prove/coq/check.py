"""Checking a Coq file: the library compiled once, then `coqc` on the file."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from loopwright.errors import Code, GaveUp, InternalError

INSTALL = "install it with 'apt install coq' (8.16)"
CLOSED = "Closed under the global context"
ENOUGH = 120.0
"""Seconds that `coqc` gets for one file, unless told otherwise."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Accepted:
    """Coq has checked every step, and the theorem rests on no axiom."""


@dataclass(frozen=True)
class Refused:
    """Coq does not accept the proof; `line` is where it stops, in the lemma `lemma`."""

    line: int
    lemma: str
    message: str


@dataclass(frozen=True)
class OutOfTime:
    seconds: float


Answer: TypeAlias = Accepted | Refused | OutOfTime


def coqc() -> str | None:
    """The program `coqc`, or None where it is not installed."""
    return shutil.which(os.environ.get("COQC", "coqc"))


def library_source() -> Path | None:
    """The folder `proofs/` of this project, or the one LOOPWRIGHT_PROOFS names."""
    given = os.environ.get("LOOPWRIGHT_PROOFS")
    folders = [Path(given)] if given else [parent / "proofs" for parent in Path(__file__).parents]
    return next((folder for folder in folders if (folder / "Tactics.v").is_file()), None)


def how_to_check(path: str) -> str:
    """For whoever wants to check the file elsewhere."""
    return f"make -C proofs library && coqc -Q proofs Loopwright {path}"


def library(say: Say) -> Path:
    """A folder with the compiled library, kept for the next time.

    Its name is made from the library's text, so that a library that changed is another one.
    """
    source = library_source()
    if source is None:
        raise GaveUp(
            Code.MISSING_PROGRAM, "the Coq library is not here", hint="LOOPWRIGHT_PROOFS names its folder"
        )
    texts = [file for file in sorted(source.glob("*.v")) if file.name != "semantics.v"]
    files = [*texts, source / "Makefile"]
    digest = hashlib.sha256(b"\0".join(file.name.encode() + file.read_bytes() for file in files))
    folder = _cache() / f"library-{digest.hexdigest()[:16]}"
    if not folder.is_dir():
        say("compiling the Coq library, once")
        _compile(files, folder)
    return folder


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "loopwright" / "coq"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _compile(files: list[Path], folder: Path) -> None:
    """All of it or nothing: the folder appears when the library is complete."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        for file in files:
            shutil.copy(file, made)
        done = subprocess.run(["make", "library"], cwd=made, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InternalError(
                Code.INTERNAL, f"the Coq library does not compile: {done.stderr.strip()[-400:]}"
            )
        try:
            os.rename(made, folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
        else:
            os.mkdir(made)  # for the context manager to remove


def check(text: str, seconds: float = ENOUGH, say: Say = lambda doing: None) -> Answer:
    """What `coqc` says of a file with this text."""
    program = coqc()
    if program is None:
        raise GaveUp(Code.MISSING_PROGRAM, "coqc is not installed", hint=INSTALL)
    folder = library(say)
    say(f"checking {_lemmas(text)} lemmas with coqc")
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "proof.v"
        file.write_text(text)
        command = [program, "-q", "-Q", str(folder), "Loopwright", file.name]
        try:
            done = subprocess.run(
                command, cwd=made, capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return OutOfTime(seconds)
    return _answer(text, done.returncode, done.stdout, done.stderr)


def _lemmas(text: str) -> int:
    return len(re.findall(r"^(?:Lemma|Theorem) ", text, re.MULTILINE))


def _answer(text: str, status: int, output: str, errors: str) -> Answer:
    """Yes only where coqc ended well and Print Assumptions found no axiom."""
    if status == 0:
        said = output.strip().splitlines()
        asked = len(re.findall(r"^Print Assumptions ", text, re.MULTILINE))
        if asked > 0 and said == [CLOSED] * asked:
            return Accepted()
        return Refused(0, "Print Assumptions", output.strip() or "nothing was asked")
    found = re.search(r'^File ".*", line (\d+), characters', errors, re.MULTILINE)
    if found is None:
        raise InternalError(Code.INTERNAL, f"coqc failed: {errors.strip()[-400:] or output.strip()[-400:]}")
    line = int(found.group(1))
    before = "\n".join(text.splitlines()[:line])
    named = re.findall(r"^(?:Lemma|Theorem|Definition) (\w+)", before, re.MULTILINE)
    return Refused(line, named[-1] if named else "", errors[found.end() :].split("\n", 1)[-1].strip())
