"""What is being done, how far it is and how long it takes: on a terminal, while it lasts; else silence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from loopwright.say import Say, silent

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@contextmanager
def progress(stream: TextIO) -> Iterator[Say]:
    """A function that shows what it is told, until the block ends."""
    if not stream.isatty():
        yield silent
        return
    shown = _Shown(stream)
    try:
        yield shown
    finally:
        shown.end()


@dataclass
class _Shown:
    """A line that goes away: started by the first thing said, so that a fork before it finds no threads."""

    stream: TextIO
    line: Progress | None = None
    task: TaskID | None = field(default=None)

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None:
        if self.line is None:
            self.line = _line(self.stream)
            self.task = self.line.add_task(doing, total=None, count="")
            self.line.start()
        assert self.task is not None
        count = f"{done} of {total}" if total else ""
        self.line.update(self.task, description=doing, completed=done, total=total or None, count=count)

    def end(self) -> None:
        if self.line is not None:
            self.line.stop()


def _line(stream: TextIO) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    doing = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1))
    return Progress(
        BarColumn(bar_width=16),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        doing,
        console=Console(file=stream),
        transient=True,
        expand=True,
    )
