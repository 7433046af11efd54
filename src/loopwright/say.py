"""How work that takes long tells what it is doing; who listens is the caller's affair."""

from __future__ import annotations

from typing import Protocol


class Say(Protocol):
    """Told what is being done and, where it can be counted, how much of how much is done."""

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None: ...


def silent(doing: str, done: int = 0, total: int = 0) -> None:
    """Nobody listens."""
