"""Files as they were at an earlier revision, with the headers of that time, by git."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopwright.errors import BadInput, Code, Diagnostic, GaveUp, Note
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

READ = ("*.c", "*.h", "*.inc", "*.scop", "*.mlir")
"""What is taken from the revision."""


@dataclass(frozen=True)
class Revision:
    """The files of `name` in `folder`, which stands for `top`, the repository's working tree."""

    name: str
    top: Path
    folder: Path
    commit: str = ""

    def path(self, file: str) -> Path | None:
        """Where the file of that time is, which may have had another name; None where there was none."""
        own = Path(os.path.realpath(file)).relative_to(self.top)
        old = self.folder / own
        if not old.is_file() and self.commit:
            old = self.folder / _renamed(self.commit, str(self.top), file).get(str(own), str(own))
        return old if old.is_file() else None

    def options(self, words: Sequence[str]) -> tuple[str, ...]:
        """Options of the compiler, in which folders of the working tree are those of the revision."""
        return tuple(self._moved(word) for word in words)

    def _moved(self, word: str) -> str:
        real = Path(os.path.realpath(word))
        if word.startswith("-") or not real.exists() or not real.is_relative_to(self.top):
            return word
        moved = self.folder / real.relative_to(self.top)
        return str(moved) if moved.exists() else word

    def renamed(self, value: Any) -> Any:
        """A diagnostic in which the files of the revision are called REV:path."""
        match value:
            case str():
                return value.replace(f"{self.folder}/", f"{self.name}:")
            case Span(source, start, end):
                return Span(Source(self.renamed(source.path), source.text, source.chosen), start, end)
            case tuple():
                return tuple(map(self.renamed, value))
            case Diagnostic() | Note():
                names = ("text", "label", "message", "span", "hint", "witness", "notes", "others", "excerpt")
                parts = {name: self.renamed(getattr(value, name)) for name in names if hasattr(value, name)}
                return replace(value, **parts)
            case _:
                return value


@contextmanager
def revision(name: str, file: str) -> Iterator[Revision]:
    """The revision `name` of the repository that `file` is in; before its first commit, HEAD has no files."""
    folder = os.path.dirname(os.path.realpath(file))
    top = Path(_git(["rev-parse", "--show-toplevel"], folder, file).decode().rstrip("\n"))
    has_commits = bool(_git(["rev-list", "-n", "1", "--all"], folder, file).strip())
    commit = "" if name == "HEAD" and not has_commits else _commit(name, str(top), file)
    data = _files_at(commit, str(top), file) if commit else b""
    with tempfile.TemporaryDirectory(prefix="loopwright-git-") as made:
        if data:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                # Python before 3.11.4 has no filter; a tree of git's has no path that leaves it
                archive.extraction_filter = vars(tarfile).get("data_filter")
                archive.extractall(made)
        yield Revision(name, Path(os.path.realpath(top)), Path(os.path.realpath(made)), commit)


def _commit(name: str, top: str, file: str) -> str:
    wanted = f"{name}^{{commit}}"
    found = _git(["rev-parse", "--verify", "--quiet", "--end-of-options", wanted], top, file, name)
    return found.decode().strip()


def _renamed(commit: str, top: str, file: str) -> dict[str, str]:
    """The files of the working tree that git says had another name, and which."""
    words = ["diff", "--no-ext-diff", "--no-textconv", "--find-renames=40%", "--diff-filter=R"]
    said = _git([*words, "--name-status", "-z", commit, "--"], top, file)
    listed = said.decode("utf-8", "surrogateescape").split("\0")
    return dict(zip(listed[2::3], listed[1::3], strict=False))


def _files_at(commit: str, top: str, file: str) -> bytes:
    """The files of a revision that are read, as an archive; nothing where there are none."""
    listed = _git(["ls-tree", "-r", "-z", "--name-only", commit], top, file)
    forms = [form for form in READ if _is_there(form, listed)]
    words = ["archive", "--format=tar", commit, "--", *(f":(glob)**/{form}" for form in forms)]
    return _git(words, top, file) if forms else b""


def _is_there(form: str, listed: bytes) -> bool:
    """Whether some file matches: git refuses a pattern that none does."""
    names = listed.decode("utf-8", "surrogateescape").split("\0")
    return any(Path(one).match(form) for one in names)


def _git(words: Sequence[str], folder: str, file: str, name: str = "") -> bytes:
    place = Span.start_of(file)
    try:
        done = subprocess.run(["git", "-C", folder or ".", *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise GaveUp(Code.MISSING_PROGRAM, "git is not installed", span=place, hint="install git") from None
    if done.returncode == 0:
        return done.stdout
    if name:
        raise BadInput(Code.OPTION, f"--git {name}: there is no such revision", span=place)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    raise BadInput(Code.FILE, f"git: {said[-1] if said else 'failed'}", span=place)
