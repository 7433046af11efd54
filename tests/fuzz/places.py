"""One folder for the files of a process, so that cached results of reading a file are reused."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import get_ident


def old_path(text: str) -> Path:
    """The file of a program."""
    return written("k.c", text)


def new_path(text: str) -> Path:
    """The file of what it is compared with."""
    return written("new.c", text)


def written(name: str, text: str) -> Path:
    path = Path(_folder(os.getpid(), get_ident()).name, name)
    path.write_text(text)
    return path


@lru_cache(maxsize=8)
def _folder(process: int, thread: int) -> TemporaryDirectory[str]:
    """The folder of a thread; a process that is forked has its own."""
    return TemporaryDirectory(prefix=f"fuzz-{process}-")
