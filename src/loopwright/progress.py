"""How work that takes long reports what it is doing; the caller decides what becomes of the reports."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with what is being done and, where it can be counted, how much of how much is done."""

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None: ...


def silent(doing: str, done: int = 0, total: int = 0) -> None:
    """No-op progress callback."""
