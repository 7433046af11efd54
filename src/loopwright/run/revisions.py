"""Reads files of an earlier revision, with the headers of that time, by git."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopwright.errors import BadInput, Code, Diagnostic, GaveUp, Note
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

READ = (".c", ".h", ".inc", ".def", ".scop", ".mlir")
"""The suffixes of files taken from the revision."""

OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""Variables that name a repository to a hook; here it is found by the place of the files instead."""


@dataclass(frozen=True)
class Revision:
    """The files of `name` in `folder`, a copy of `top`, the repository's working tree."""

    name: str
    top: Path
    folder: Path
    commit: str = ""

    def path(self, file: str) -> Path | None:
        """The path of the file at that time, possibly under another name; None if there was none."""
        folder, place = _folder(file), Span.start_of(file)
        if not file.endswith(READ):
            hint = f"files whose names end with {', '.join(READ)} are"
            raise BadInput(Code.FILE, "this kind of file is not read", span=place, hint=hint)
        if _top(folder, file) != self.top:
            raise BadInput(Code.FILE, f"this file is not in the repository {self.top}", span=place)
        own = (folder / os.path.basename(file)).relative_to(self.top)
        old = self.folder / own
        if not os.path.lexists(old) and self.commit:
            old = self.folder / _renamed(self.commit, self.top, file).get(str(own), str(own))
        if os.path.lexists(old) and not old.is_file():
            message = f"at {self.name} this was not a file, or was a link to another kind of file"
            raise GaveUp(Code.UNDECIDED, message, span=place)
        return old if old.is_file() else None

    def options(self, words: Sequence[str]) -> tuple[str, ...]:
        """Compiler options with folders of the working tree replaced by those of the revision."""
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
    folder = _folder(file)
    top = _top(folder, file)
    has_commits = bool(_git(["rev-list", "-n", "1", "--all"], folder, file).strip())
    commit = "" if name == "HEAD" and not has_commits else _commit(name, top, file)
    with tempfile.TemporaryDirectory(prefix="loopwright-git-") as made:
        files = Path(os.path.realpath(made), "files")
        files.mkdir()
        if commit:
            _write_files(commit, top, file, files)
        yield Revision(name, top, files, commit)


def _folder(file: str) -> Path:
    """The folder of a file, which may itself be a link that the revision has too."""
    return Path(os.path.realpath(os.path.dirname(file) or "."))


def _top(folder: Path, file: str) -> Path:
    found = _git(["rev-parse", "--show-toplevel"], folder, file).removesuffix(b"\n")
    return Path(os.path.realpath(os.fsdecode(found)))


def _commit(name: str, top: Path, file: str) -> str:
    wanted = f"{name}^{{commit}}"
    found = _git(["rev-parse", "--verify", "--quiet", "--end-of-options", wanted], top, file, name)
    return found.decode().strip()


def _renamed(commit: str, top: Path, file: str) -> dict[str, str]:
    """The files of the working tree that git says had another name, and which."""
    words = ["diff", "--no-ext-diff", "--no-textconv", "--find-renames=40%", "-l0", "--diff-filter=R"]
    said = _git([*words, "--name-status", "-z", commit, "--"], top, file)
    listed = said.decode("utf-8", "surrogateescape").split("\0")
    return dict(zip(listed[2::3], listed[1::3], strict=False))


def _write_files(commit: str, top: Path, file: str, folder: Path) -> None:
    """The files of a revision that are read, as a checkout has them, whatever is left out of an archive."""
    listed = _git(["ls-tree", "-r", "-z", "--name-only", commit], top, file).split(b"\0")
    wanted = b"".join(one + b"\0" for one in listed if one.endswith(tuple(map(os.fsencode, READ))))
    index = str(folder.parent / "index")
    _git(["read-tree", commit], top, file, index=index)
    words = ["checkout-index", "--quiet", "-z", "--stdin", f"--prefix={folder}/"]
    _git(words, top, file, index=index, given=wanted)


_FETCH = "run 'git fetch'; in CI, check out the full history (fetch-depth: 0)"


def _git(
    words: Sequence[str], folder: Path, file: str, name: str = "", index: str = "", given: bytes = b""
) -> bytes:
    place = Span.start_of(file)
    environment = {key: value for key, value in os.environ.items() if key not in OTHERS}
    environment |= {"GIT_INDEX_FILE": index} if index else {}
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, input=given, env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise GaveUp(Code.MISSING_PROGRAM, "git is not installed", span=place, hint="install git") from None
    if done.returncode == 0:
        return done.stdout
    if name:
        raise BadInput(Code.OPTION, f"--git {name}: there is no such revision", span=place, hint=_FETCH)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    hint = "two files are compared without git: loopwright prove OLD NEW"
    raise BadInput(Code.FILE, f"git: {said[-1] if said else 'failed'}", span=place, hint=hint)
