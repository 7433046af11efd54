"""Checks a Coq file: compiles the library once, then runs `coqc` on the file."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from loopwright.ending import ending_in_order
from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress, silent

INSTALL = "install it with 'apt install coq' (8.16)"
CLOSED = "Closed under the global context"
ENOUGH = 120.0
"""The default time limit of `coqc` for one file, in seconds."""


@dataclass(frozen=True)
class Accepted:
    """Coq has checked every step, and the theorem depends on no axiom."""


@dataclass(frozen=True)
class Refused:
    """Coq rejects the proof; `line` is where it stops, in the lemma `lemma`."""

    line: int
    lemma: str
    message: str


@dataclass(frozen=True)
class OutOfTime:
    seconds: float


Answer: TypeAlias = Accepted | Refused | OutOfTime


def coqc() -> str | None:
    """The path of `coqc`, or None if it is not installed."""
    return shutil.which(os.environ.get("COQC", "coqc"))


def library_source() -> Path:
    """The folder named by LOOPWRIGHT_PROOFS, or `proofs/`, which is part of the package."""
    given = os.environ.get("LOOPWRIGHT_PROOFS")
    return Path(given or str(resources.files("loopwright") / "data" / "proofs"))


def how_to_check(path: str) -> str:
    """How to check the file elsewhere."""
    return f"make -C proofs library && coqc -Q proofs Loopwright {path}"


APART = ("Axioms.v", "semantics.v")
"""Files that are not part of the library: questions about it."""


def library(progress: Progress) -> Path:
    """A folder with the compiled library, which is cached.

    Its name is a hash of the library's source, so a changed library is compiled again.
    """
    source = library_source()
    if not (source / "Library.v").is_file():
        raise GaveUp(
            Code.MISSING_PROGRAM,
            f"there is no Coq library in {source}",
            hint="LOOPWRIGHT_PROOFS names its folder",
        )
    texts = [file for file in sorted(source.glob("*.v")) if file.name not in APART]
    files = [*texts, source / "Makefile"]
    digest = hashlib.sha256(b"\0".join(file.name.encode() + file.read_bytes() for file in files))
    folder = made_folder(cache_folder() / "coq") / f"library-{digest.hexdigest()[:16]}"
    if not folder.is_dir():
        progress("compiling the Coq library, once")
        _compile(files, folder)
    return folder


def cache_folder() -> Path:
    """The user's cache for compiled files."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loopwright"


def made_folder(folder: Path) -> Path:
    """Creates a folder of the user's cache if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GaveUp(
            Code.MISSING_PROGRAM,
            f"what is compiled cannot be kept in {folder}: {error.strerror}",
            hint="XDG_CACHE_HOME names another place",
        ) from None
    return folder


def _compile(files: list[Path], folder: Path) -> None:
    """Compiles the library completely or not at all: the folder appears when it is complete."""
    if shutil.which("make") is None:
        raise GaveUp(
            Code.MISSING_PROGRAM,
            "make is not installed",
            hint="the Coq library is compiled with it, once: apt install make",
        )
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        for file in files:
            shutil.copy(file, made)
        command = ["make", "-j", "2", "library"]
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InternalError(
                Code.INTERNAL, f"the Coq library does not compile: {done.stderr.strip()[-400:]}"
            )
        try:
            os.rename(made, folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was faster
                raise
        else:
            os.mkdir(made)  # for the context manager to remove


def the_coqc() -> str:
    program = coqc()
    if program is None:
        raise GaveUp(Code.MISSING_PROGRAM, "coqc is not installed", hint=INSTALL)
    return program


def check(text: str, seconds: float = ENOUGH, progress: Progress = silent, *, axioms: bool = True) -> Answer:
    """Runs `coqc` on a file with this text, as `compiled` does."""
    program = the_coqc()
    folder = library(progress)
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "proof.v").write_text(text)
        command = [program, "-q", "-noglob", "-Q", str(folder), "Loopwright"]
        return compiled(command, made, "proof.v", text, seconds, progress, axioms=axioms)


def compiled(
    command: list[str],
    folder: str,
    file: str,
    text: str,
    seconds: float,
    progress: Progress,
    *,
    axioms: bool = True,
) -> Answer:
    """Runs `command` on the file in `folder` with this text.

    Without `axioms` a yes says nothing about them: looking for them takes most of the time.
    """
    done = _followed([*command, "-time", file], folder, seconds, _lemmas(text), progress)
    return OutOfTime(seconds) if done is None else _answer(text, *done, axioms=axioms)


SENTENCE = re.compile(r"Chars \d+ - \d+ \[(.*)\] \S+ secs ")
"""What `coqc -time` prints after each sentence."""


def _followed(
    command: list[str], folder: str, seconds: float, total: int, progress: Progress
) -> tuple[int, str, str] | None:
    """The exit status and output of `coqc`, counting theorems as they are proved; None if it takes too long.

    The limit is on processor time, so a busy machine does not matter.
    """
    doing = "checking the proof with coqc"
    progress(doing, 0, total)
    errors = Path(folder) / "errors"
    late = threading.Event()
    with (
        ending_in_order(),
        errors.open("w") as log,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):

        def watch() -> None:
            while process.poll() is None:
                if processor_time(process.pid, started) > seconds:
                    late.set()
                    process.kill()
                ended.wait(WATCHED)

        started, ended = time.monotonic(), threading.Event()
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        said: list[str] = []
        proved = 0
        assert process.stdout is not None
        try:
            for line in process.stdout:
                sentence = SENTENCE.match(line)
                if sentence is None:
                    said.append(line)
                elif sentence.group(1) == "Qed.":
                    proved += 1
                    progress(doing, proved, total)
        except BaseException:
            process.kill()
            raise
        finally:
            status = process.wait()
            ended.set()
            watcher.join()
    return None if late.is_set() else (status, "".join(said), errors.read_text())


WATCHED = 0.02
"""Seconds between two checks of a process."""


def processor_time(pid: int, started: float) -> float:
    """Processor time of a process in seconds, or the time since its start if that is not available."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic() - started
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _lemmas(text: str) -> int:
    return len(re.findall(r"^(?:Theorem|Example) ", text, re.MULTILINE))


def _answer(text: str, status: int, output: str, errors: str, *, axioms: bool = True) -> Answer:
    """Accepts only if coqc succeeded and Print Assumptions found no axiom."""
    if status == 0 and not axioms:
        return Accepted()
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
    named = re.findall(r"^(?:Theorem|Example|Definition) (\w+)", before, re.MULTILINE)
    return Refused(line, named[-1] if named else "", errors[found.end() :].split("\n", 1)[-1].strip())


if __name__ == "__main__":
    print(library(silent))
