"""Progress reports of long-running work; the caller decides how to show them."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback with a description of the current work and, if countable, the amount done and the total."""

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None: ...


def silent(doing: str, done: int = 0, total: int = 0) -> None:
    """No-op progress callback."""
